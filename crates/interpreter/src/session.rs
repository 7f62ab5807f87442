//! One run: its limits, who watches it, and the grids of processes that it starts.

use crate::machine::{Machine, internal};
use crate::order::compile_order;
use crate::scheduler::Scheduler;
use crate::{Interpreter, Observer, Progress};
use mlir::eval::{EvalError, EvalResult, RuntimeValue};
use mlir::process::{Grid, MAX_PROCESSES};
use mlir::types::DYNAMIC;
use mlir::{OpId, OpRef};
use numerics::budget::Budget;
use numerics::shape::num_elements;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Progress is told each time after so many ops.
const OPS_BETWEEN_PROGRESS: u64 = 1024;

/// The clock is looked at each time after so many ops.
const OPS_BETWEEN_CLOCK: u64 = 64;

pub(crate) struct Session<'r> {
    pub interpreter: &'r Interpreter<'r>,
    observer: Mutex<&'r mut dyn Observer>,
    /// Whether the observer wants to see all values.
    pub traces: bool,
    start: Instant,
    ops: AtomicU64,
    /// How many ops of the entry function are done, and how many there are.
    position: [AtomicUsize; 2],
    processes: AtomicUsize,
    budget: Option<Arc<Budget>>,
    /// The function that the run starts with.
    entry: OpId,
    /// Ops with a state of their own: their numbers, and how many units they took.
    random: Mutex<HashMap<OpId, (usize, u128)>>,
}

/// What a process does.
pub(crate) enum Job {
    Call { function: OpId, arguments: Vec<RuntimeValue> },
    Eval { op: OpId, operands: Vec<RuntimeValue> },
}

impl<'r> Session<'r> {
    pub fn new(
        interpreter: &'r Interpreter<'r>,
        entry: OpId,
        observer: &'r mut dyn Observer,
    ) -> Session<'r> {
        Session {
            traces: observer.traces(),
            observer: Mutex::new(observer),
            start: Instant::now(),
            ops: AtomicU64::new(0),
            position: [AtomicUsize::new(0), AtomicUsize::new(0)],
            processes: AtomicUsize::new(0),
            budget: interpreter.options.limits.memory.map(|limit| Arc::new(Budget::new(limit))),
            interpreter,
            entry,
            random: Mutex::default(),
        }
    }

    /// As [`mlir::process::World::random`].
    pub fn random(&self, op: OpRef<'_>, units: u64) -> (usize, u128) {
        let mut states = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        if !states.contains_key(&op.id()) {
            let (module, plan) = (self.interpreter.module, &self.interpreter.plan);
            let ops = compile_order(module, plan, self.entry, op.name());
            states.extend(ops.into_iter().enumerate().map(|(number, op)| (op, (number, 0))));
        }
        let (number, taken) = states.entry(op.id()).or_default();
        let before = *taken;
        *taken = before.wrapping_add(u128::from(units));
        (*number, before)
    }

    /// Tells the observer something.
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

    /// Counts an op that is about to run; `position` says which of how many it is in the entry
    /// function.
    ///
    /// # Errors
    /// If a limit is reached, or the observer breaks off.
    pub fn tick(&self, position: Option<(usize, usize)>) -> Result<(), EvalError> {
        let ops = self.ops.fetch_add(1, Ordering::Relaxed) + 1;
        let limits = &self.interpreter.options.limits;
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

    /// Whether there is memory for the results of an op, as far as their types tell, and whether
    /// what was made before is within the limit.
    ///
    /// # Errors
    /// If not.
    pub fn check_memory(&self, op: OpRef<'_>) -> Result<(), EvalError> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let bytes = |ty: &mlir::Type| {
            let tensor = ty.as_tensor()?;
            let sizes: Vec<usize> = tensor
                .shape
                .iter()
                .map(|&d| if d == DYNAMIC { 1 } else { usize::try_from(d).unwrap_or(usize::MAX) })
                .collect();
            let elements = num_elements(&sizes).unwrap_or(usize::MAX);
            Some(elements.saturating_mul(crate::storage_dtype(ty)?.bytes()))
        };
        let total = op.result_types().filter_map(bytes).fold(0usize, usize::saturating_add);
        // Results may take over the memory of operands: what is needed at least is what they are
        // larger.
        let given = op.operand_types().filter_map(bytes).fold(0usize, usize::saturating_add);
        budget
            .check(total.saturating_sub(given))
            .map_err(|e| EvalError::new("limit", e.to_string()))
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
        infeed: Vec<String>,
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
                    .stack_size(self.interpreter.options.limits.stack_bytes);
                match builder.spawn_scoped(scope, move || run(process, job)) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        let message = format!(
                            "cannot start a thread for process {process} of {count}: {error}"
                        );
                        // Those that have not been started never come.
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
