//! One run: its limits, who watches it, and the grids of processes that it starts.

use crate::machine::{Machine, internal};
use crate::program::Program;
use crate::scheduler::Scheduler;
use crate::{Observer, Progress};
use numerics::budget::Budget;
use program::{EvalError, EvalResult, FunctionId, Grid, MAX_PROCESSES, Origin, RuntimeValue};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Number of ops between notifications of the observer.
const OPS_BETWEEN_PROGRESS: u64 = 1024;

/// Number of ops between checks of the clock.
const OPS_BETWEEN_CLOCK: u64 = 64;

pub(crate) struct Session<'r> {
    pub program: &'r Program,
    observer: Mutex<&'r mut dyn Observer>,
    /// True if the observer receives all values.
    pub traces: bool,
    start: Instant,
    ops: AtomicU64,
    /// Number of executed ops of the entry function, and their total number.
    position: [AtomicUsize; 2],
    processes: AtomicUsize,
    budget: Option<Arc<Budget>>,
    /// RNG counters: units of random numbers taken by each op with its own generator.
    random: Mutex<HashMap<Origin, u128>>,
}

/// The work of a process.
pub(crate) enum Job {
    Call { function: FunctionId, arguments: Vec<RuntimeValue> },
    Instruction { origin: Origin, operands: Vec<RuntimeValue> },
}

impl<'r> Session<'r> {
    pub fn new(program: &'r Program, observer: &'r mut dyn Observer) -> Session<'r> {
        Session {
            traces: observer.traces(),
            observer: Mutex::new(observer),
            start: Instant::now(),
            ops: AtomicU64::new(0),
            position: [AtomicUsize::new(0), AtomicUsize::new(0)],
            processes: AtomicUsize::new(0),
            budget: program.options().limits.memory.map(|limit| Arc::new(Budget::new(limit))),
            program,
            random: Mutex::default(),
        }
    }

    /// As [`program::World::advance_random`].
    pub fn advance_random(&self, origin: Origin, units: u64) -> u128 {
        let mut counters = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = counters.entry(origin).or_default();
        let before = *counter;
        *counter = before.wrapping_add(u128::from(units));
        before
    }

    /// Calls the observer.
    ///
    /// # Errors
    /// Its own.
    pub fn observe<T>(
        &self,
        tell: impl FnOnce(&mut dyn Observer) -> Result<T, String>,
    ) -> Result<T, EvalError> {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        tell(&mut **observer).map_err(|message| EvalError::new("observer", message))
    }

    /// Counts an op that is about to be executed; `position` is its number in the entry function,
    /// and their total.
    ///
    /// # Errors
    /// If a limit is reached, or the observer aborts the run.
    pub fn tick(&self, position: Option<(usize, usize)>) -> Result<(), EvalError> {
        // Only one process runs at a time, so that no count is lost.
        let ops = self.ops.load(Ordering::Relaxed) + 1;
        self.ops.store(ops, Ordering::Relaxed);
        let limits = &self.program.options().limits;
        if let Some(steps) = limits.steps.filter(|&steps| ops > steps) {
            return Err(EvalError::new(
                "limit",
                format!("the run takes more than {steps} steps, which is its limit"),
            ));
        }
        if let Some(time) =
            limits.time.filter(|_| ops.is_multiple_of(OPS_BETWEEN_CLOCK) || position.is_some())
            && self.start.elapsed() > time
        {
            return Err(EvalError::new(
                "limit",
                format!("the run takes longer than {time:?}, which is its limit"),
            ));
        }
        let at = &self.position;
        if let Some((position, length)) = position {
            at[0].store(position, Ordering::Relaxed);
            at[1].store(length, Ordering::Relaxed);
        } else if !ops.is_multiple_of(OPS_BETWEEN_PROGRESS) {
            return Ok(());
        }
        let [position, length] = [0, 1].map(|i| at[i].load(Ordering::Relaxed));
        match self.observe(|observer| Ok(observer.progress(Progress { ops, position, length })))? {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(EvalError::new("interrupted", "the run was broken off")),
        }
    }

    /// Checks that `growth` more bytes are available for results that exceed their operands, and
    /// that live tensors are within the limit.
    ///
    /// # Errors
    /// If not.
    pub fn check_memory(&self, growth: usize) -> Result<(), EvalError> {
        let Some(budget) = &self.budget else { return Ok(()) };
        budget.check(growth).map_err(|e| EvalError::new("limit", e.to_string()))
    }

    /// Runs the processes of a grid, one for each job. `depth` counts the blocks that run around
    /// it.
    ///
    /// # Errors
    /// Whatever stops the first of the processes that fails, and a grid that is too large.
    pub fn run_grid(
        &self,
        grid: Grid,
        jobs: Vec<Job>,
        infeed: Vec<FunctionId>,
        depth: usize,
    ) -> Result<Vec<Vec<RuntimeValue>>, EvalError> {
        let count = jobs.len();
        let _alive = self.claim(count, grid)?;
        let scheduler = Scheduler::new(grid, count, infeed);
        let run = |process: usize, job: Job| -> EvalResult {
            let _entered = self.budget.as_ref().map(|budget| budget.enter());
            let mut turn = Turn {
                scheduler: &scheduler,
                process,
                error: Some(internal("a process panicked")),
            };
            let results = scheduler
                .start(process)
                .and_then(|()| Machine::new(self, &scheduler, process, depth).run(job));
            turn.error = results.as_ref().err().cloned();
            results
        };
        let run = &run;
        let results = std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(count);
            for (process, job) in jobs.into_iter().enumerate() {
                let builder = std::thread::Builder::new()
                    .stack_size(self.program.options().limits.stack_bytes);
                match builder.spawn_scoped(scope, move || run(process, job)) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        let message = format!(
                            "cannot start a thread for process {process} of {count}: {error}"
                        );
                        // Threads that could not be started never arrive.
                        (process..count).for_each(|p| {
                            scheduler.finish(p, Some(EvalError::new("run", message.clone())))
                        });
                        break;
                    }
                }
            }
            let join = |thread: std::thread::ScopedJoinHandle<'_, EvalResult>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect::<Vec<_>>()
        });
        match scheduler.failure() {
            Some(error) => Err(error),
            None => results.into_iter().collect(),
        }
    }

    /// Counts processes that start.
    fn claim(&self, count: usize, grid: Grid) -> Result<Alive<'_>, EvalError> {
        let before = self.processes.fetch_add(count, Ordering::Relaxed);
        let alive = Alive { all: &self.processes, count };
        if count == 0 || grid.size() != Some(count) || before.saturating_add(count) > MAX_PROCESSES
        {
            let message = format!(
                "a grid of {grid} cannot run: at most {MAX_PROCESSES} processes can run at a time"
            );
            return Err(EvalError::new("run", message));
        }
        Ok(alive)
    }
}

/// Processes that live as long as this.
struct Alive<'s> {
    all: &'s AtomicUsize,
    count: usize,
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// The turns of a process, which end even if it panics.
struct Turn<'s> {
    scheduler: &'s Scheduler,
    process: usize,
    error: Option<EvalError>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.scheduler.finish(self.process, self.error.take());
    }
}
