//! One run: its limits, its observer, and the grids of processes that it starts.

use crate::code::ProgramCode;
use crate::errors::internal;
use crate::machine::Machine;
use crate::outputs::OutputBuffers;
use crate::program::Program;
use crate::scheduler::Scheduler;
use crate::{Observer, Profiling, Progress};
use host::{Budget, Charge, Host};
use mlir::diag::counted;
use numerics::TensorRef;
use program::{EvalError, EvalResult, FunctionId, Grid, MAX_PROCESSES, Origin, RuntimeValue};
use rustc_hash::FxHashMap;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

/// Number of ops between notifications of the observer.
const OPS_BETWEEN_PROGRESS: u64 = 1024;

/// Number of ops between checks of the clock.
const OPS_BETWEEN_CLOCK: u64 = 64;

/// Number of ops that machine code executes at most between both.
const OPS_BETWEEN_COUNTS: u64 = 1 << 14;

/// Bytes charged for each process of a grid: the bytes of its thread before it runs.
const PROCESS_BYTES: usize = 16 << 10;

/// A run of a program.
pub struct Session<'r> {
    pub(crate) program: &'r Program,
    /// The code that it executes.
    pub(crate) executable: &'r ProgramCode,
    observer: Mutex<&'r mut dyn Observer>,
    /// True if the observer receives all values.
    pub(crate) traces: bool,
    host: Host,
    /// Time of the host's clock at the start; zero if the run needs no clock.
    pub(crate) start: Duration,
    /// The charge for the inputs.
    _inputs: Option<Charge>,
    ops: AtomicU64,
    /// Number of executed ops of the entry function, and their total number.
    position: [AtomicUsize; 2],
    processes: AtomicUsize,
    /// RNG counters: units of random numbers taken by each op that has a generator.
    random: Mutex<FxHashMap<Origin, u128>>,
}

/// The work of a process.
pub(crate) enum ProcessJob<'a> {
    Call {
        function: FunctionId,
        arguments: Vec<RuntimeValue>,
    },
    /// As `Call`, in memory of the caller; all results are in the outputs.
    CallInto {
        function: FunctionId,
        inputs: &'a [TensorRef<'a>],
        outputs: OutputBuffers<'a>,
    },
    Instruction {
        origin: Origin,
        operands: Vec<RuntimeValue>,
    },
}

impl<'r> Session<'r> {
    /// Starts a run of a program.
    ///
    /// # Errors
    /// If the inputs of the processes, which have `input_bytes`, take more memory than the run may,
    /// or its time is limited and the host has no clock.
    pub(crate) fn new(
        program: &'r Program,
        input_bytes: impl FnOnce() -> usize,
        observer: &'r mut dyn Observer,
    ) -> Result<Session<'r>, EvalError> {
        let options = program.options();
        let mut host = program.host();
        let mut charge = None;
        if let Some(memory) = options.limits.memory {
            let (budget, bytes) = (Budget::new(memory), input_bytes());
            charge = Some(budget.reserve(bytes).map_err(|_| {
                let message = format!("the inputs have {bytes} bytes; the limit is {memory} bytes");
                EvalError::new("memory_limit", message)
            })?);
            host = host.with_budget(budget);
        }
        let needs_clock = match (options.limits.time, options.profiling) {
            (Some(_), _) => Some("the time of the run is limited"),
            (None, Profiling::Off) => None,
            (None, _) => Some("the run is profiled"),
        };
        let start = match needs_clock {
            None => Duration::ZERO,
            Some(why) => {
                let message = || format!("{why}, but its host has no clock");
                host.now().ok_or_else(|| EvalError::new("time_limit", message()))?
            }
        };
        Ok(Session {
            executable: program.executable(observer.traces()),
            traces: observer.traces(),
            observer: Mutex::new(observer),
            host,
            start,
            _inputs: charge,
            ops: AtomicU64::new(0),
            position: [AtomicUsize::new(0), AtomicUsize::new(0)],
            processes: AtomicUsize::new(0),
            program,
            random: Mutex::default(),
        })
    }

    /// The time of the host's clock; zero if the host has none.
    pub(crate) fn now(&self) -> Duration {
        self.host.now().unwrap_or_default()
    }

    /// As [`program::ProcessContext::advance_random`].
    pub(crate) fn advance_random(&self, origin: Origin, units: u64) -> u128 {
        let mut counters = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = counters.entry(origin).or_default();
        let before = *counter;
        *counter = before.wrapping_add(u128::from(units));
        before
    }

    /// Calls the observer.
    ///
    /// # Errors
    /// Errors of the observer.
    pub(crate) fn observe<T>(
        &self,
        call: impl FnOnce(&mut dyn Observer) -> Result<T, String>,
    ) -> Result<T, EvalError> {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        call(&mut **observer).map_err(|message| EvalError::new("observer", message))
    }

    /// Counts ops that are about to be executed; `position` is its number in the entry function,
    /// and their total.
    ///
    /// # Errors
    /// If a limit is reached, or the observer aborts the run.
    #[inline]
    pub fn tick(&self, count: u64, position: Option<(usize, usize)>) -> Result<(), EvalError> {
        // Only one process runs at a time, so that no count is lost.
        let before = self.ops.load(Ordering::Relaxed);
        let ops = before + count;
        self.ops.store(ops, Ordering::Relaxed);
        let passes = |interval: u64| before / interval != ops / interval;
        let limits = &self.program.options().limits;
        if let Some(steps) = limits.steps.filter(|&steps| ops > steps) {
            return Err(EvalError::new(
                "step_limit",
                format!("the run takes more than {}, which is its limit", counted(steps, "step")),
            ));
        }
        if let Some(time) = limits.time.filter(|_| passes(OPS_BETWEEN_CLOCK) || position.is_some())
            && self.host.now().is_some_and(|now| now.saturating_sub(self.start) > time)
        {
            return Err(EvalError::new(
                "time_limit",
                format!("the run takes longer than {time:?}, which is its limit"),
            ));
        }
        let at = &self.position;
        if let Some((position, length)) = position {
            at[0].store(position, Ordering::Relaxed);
            at[1].store(length, Ordering::Relaxed);
        } else if !passes(OPS_BETWEEN_PROGRESS) {
            return Ok(());
        }
        let [position, length] = [0, 1].map(|i| at[i].load(Ordering::Relaxed));
        match self.observe(|observer| Ok(observer.progress(Progress { ops, position, length })))? {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(EvalError::new("interrupted", "the run was broken off")),
        }
    }

    /// The number of ops that compiled code may execute before it counts them by
    /// [`Session::tick`]: few enough that the observer and the clock are asked often.
    pub fn allowance(&self) -> u64 {
        let steps = self.program.options().limits.steps;
        let left = steps.map(|steps| steps.saturating_sub(self.ops.load(Ordering::Relaxed)));
        left.unwrap_or(u64::MAX).min(OPS_BETWEEN_COUNTS)
    }

    /// Checks that `growth` more bytes are available for results that exceed their operands, and
    /// that live tensors are within the limit.
    ///
    /// # Errors
    /// If they are not.
    pub(crate) fn check_memory(&self, growth: usize) -> Result<(), EvalError> {
        let Some(budget) = self.host.budget() else { return Ok(()) };
        budget.check(growth).map_err(|e| EvalError::new("memory_limit", e.to_string()))
    }

    /// True if more than a quarter of the memory is in use: none should be kept for reuse then.
    pub fn is_memory_tight(&self) -> bool {
        self.host.budget().is_some_and(|budget| budget.used() > budget.limit() / 4)
    }

    /// Reserves the memory of the processes of a grid but the first, which is that of the run.
    fn reserve_processes(&self, count: usize) -> Result<Option<Charge>, EvalError> {
        let bytes = count.saturating_sub(1).saturating_mul(PROCESS_BYTES);
        let charge = self.host.budget().map(|budget| budget.reserve(bytes)).transpose();
        charge.map_err(|e| EvalError::new("memory_limit", format!("{count} processes: {e}")))
    }

    /// Runs the processes of a grid, one for each job. `depth` counts the blocks that run around
    /// it.
    ///
    /// # Errors
    /// Errors of the first process that fails, and a grid that is too large.
    pub(crate) fn run_grid(
        &self,
        grid: Grid,
        jobs: Vec<ProcessJob<'_>>,
        infeed: Vec<FunctionId>,
        depth: usize,
    ) -> Result<Vec<Vec<RuntimeValue>>, EvalError> {
        let count = jobs.len();
        let _alive = self.claim(count, grid)?;
        let _memory = self.reserve_processes(count)?;
        let scheduler = Scheduler::new(grid, count, infeed);
        let run =
            |process: usize, job: ProcessJob<'_>| self.run_process(&scheduler, process, job, depth);
        let results = if count == 1 && jobs.iter().all(|job| self.runs_in_place(job)) {
            let _entered = self.host.enter();
            jobs.into_iter().map(|job| run(0, job)).collect()
        } else if self.host.has_threads() {
            self.run_threads(&scheduler, jobs, &run)
        } else {
            let message = format!("a grid of {count} processes needs threads; the host has none");
            return Err(EvalError::new("run", message));
        };
        match scheduler.failure() {
            Some(error) => Err(error),
            None => results.into_iter().collect(),
        }
    }

    /// Runs a single process; as [`Session::run_grid`], with less to do.
    ///
    /// # Errors
    /// The error of the process.
    pub(crate) fn run_single(&self, job: ProcessJob<'_>) -> EvalResult {
        if !self.runs_in_place(&job) {
            let results = self.run_grid(Grid::SINGLE, vec![job], Vec::new(), 0)?;
            return Ok(results.into_iter().next().unwrap_or_default());
        }
        let _alive = self.claim(1, Grid::SINGLE)?;
        let scheduler = Scheduler::new(Grid::SINGLE, 1, Vec::new());
        let _entered = self.host.enter();
        let results = self.run_process(&scheduler, 0, job, 0);
        match scheduler.failure() {
            Some(error) => Err(error),
            None => results,
        }
    }

    /// Does the work of a process when it is its turn.
    fn run_process(
        &self,
        scheduler: &Scheduler,
        process: usize,
        job: ProcessJob<'_>,
        depth: usize,
    ) -> EvalResult {
        let mut turn = Turn { scheduler, process, outcome: None };
        let results = scheduler
            .start(process)
            .and_then(|()| Machine::new(self, scheduler, process, depth).run(job));
        turn.outcome = Some(results.as_ref().err().cloned());
        results
    }

    /// True if the only process of a grid runs on the thread of its caller: there is no other, or
    /// the stack of that is enough.
    fn runs_in_place(&self, job: &ProcessJob<'_>) -> bool {
        self.is_flat(job) || !self.host.has_threads()
    }

    /// True if the job nests so little that it fits the stack of its caller.
    fn is_flat(&self, job: &ProcessJob<'_>) -> bool {
        match job {
            ProcessJob::Call { function, .. } | ProcessJob::CallInto { function, .. } => {
                let compiled = self.executable.compiled_with(*function);
                compiled.is_some_and(|compiled| compiled.is_flat(*function))
            }
            ProcessJob::Instruction { .. } => false,
        }
    }

    /// Runs each process in a separate thread.
    fn run_threads(
        &self,
        scheduler: &Scheduler,
        jobs: Vec<ProcessJob<'_>>,
        run: &(impl Fn(usize, ProcessJob<'_>) -> EvalResult + Sync),
    ) -> Vec<EvalResult> {
        let count = jobs.len();
        let stack_bytes = self.program.options().limits.stack_bytes;
        std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(count);
            for (process, job) in jobs.into_iter().enumerate() {
                match self.host.spawn(scope, stack_bytes, move || run(process, job)) {
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
            let join = |thread: ScopedJoinHandle<'_, EvalResult>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        })
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

/// Bytes of inputs; memory that several of them share counts once.
pub(crate) fn distinct_bytes<'a>(inputs: impl IntoIterator<Item = &'a [u8]>) -> usize {
    let mut seen = HashSet::new();
    let distinct = inputs.into_iter().filter(|bytes| seen.insert(bytes.as_ptr_range().start));
    distinct.map(<[u8]>::len).sum()
}

/// The bytes of the tensors in values.
pub(crate) fn bytes_of<'a>(values: impl IntoIterator<Item = &'a RuntimeValue>) -> Vec<&'a [u8]> {
    let bytes = |value: &'a RuntimeValue| match value {
        RuntimeValue::Tensor(tensor) => vec![&tensor.bytes()[..]],
        RuntimeValue::Tuple(values) => bytes_of(values.iter()),
        RuntimeValue::Token => Vec::new(),
    };
    values.into_iter().flat_map(bytes).collect()
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
    /// The error, if it failed; `None` while it runs, and after a panic.
    outcome: Option<Option<EvalError>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let panicked = || Some(internal("a process panicked"));
        self.scheduler.finish(self.process, self.outcome.take().unwrap_or_else(panicked));
    }
}
