//! The reference interpreter: runs prepared programs instruction by instruction.
//!
//! The semantics is in the ops, which are prepared as primitives, and in the `kernels` of these;
//! this crate only executes them. [`Program`] is a verified module turned into code, owned and
//! shareable between threads; `machine.rs` executes code on frames of slots, scalars without
//! tensors. The [engine](Engine) `fast` runs a plan, code rewritten by the crate `plan`, on the
//! same machine. A run is a `session.rs`: grids of processes, each a machine in a thread, that
//! `scheduler.rs` lets take turns. `world.rs` is the environment of ops with side effects,
//! `profile.rs` records how long steps take.
//!
//! Source: StableHLO, `docs/reference.md`.

mod compiled;
mod engine;
mod frame;
mod inputs;
mod lent;
mod machine;
mod memory;
mod observer;
mod order;
mod planned;
mod prepacked;
mod profile;
mod program;
mod results;
#[doc(hidden)]
pub mod scheduler; // For its tests.
mod session;
mod world;

pub use ::program::{Conventions, Grid, MAX_PROCESSES, ProcessId};
pub use engine::Engine;
pub use inputs::{storage_dtype, value_fits};
pub use lent::write_results;
pub use mlir::prepare::{CustomCall, CustomCalls};
pub use observer::{Observer, Progress, Unobserved};
pub use plan::PASSES as PLAN_PASSES;
pub use profile::{Execution, Profiling, Recorded, Share, StepKind, StepRecord};
pub use program::{Program, entry_function};

use host::Host;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum nesting of calls and regions at run time.
    pub depth: usize,
    /// Bytes of stack of each thread that runs a process; enough for `depth`.
    pub stack_bytes: usize,
    /// Maximum number of ops executed by all processes, counting repetitions in loops and
    /// functions. Plans count neither calls that they inline nor dead ops at the end of a block.
    pub steps: Option<u64>,
    /// Maximum duration of the run. Checked between ops, so that a single op may take longer. The
    /// host must have a clock.
    pub time: Option<Duration>,
    /// Maximum number of bytes that the run holds at a time: its inputs, tensors, scratch memory of
    /// kernels, frames and stacks of processes, and messages between these. If absent,
    /// the budget of the host is charged, if it has one; inputs are then the caller's.
    pub memory: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1000, stack_bytes: 256 << 20, steps: None, time: None, memory: None }
    }
}

/// Options for preparing and running a program.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// The engine that runs programs.
    pub engine: Engine,
    /// Number of threads that the engine `fast` uses, by default one for each core. Results do not
    /// depend on it.
    pub threads: Option<NonZeroUsize>,
    /// True if the engine `fast` makes no machine code, which is slower and has the same results.
    /// The environment variable `STABLO_JIT=0` has the same effect on the whole process.
    pub without_machine_code: bool,
    /// The records that runs make of their steps.
    pub profiling: Profiling,
    /// Limits of each run.
    pub limits: Limits,
    /// Implementations of custom calls.
    pub custom_calls: CustomCalls,
    /// Semantics where compilers differ from the specification.
    pub conventions: Conventions,
    /// Clock, threads and memory budget of each run; by default those of the thread that runs the
    /// program.
    pub host: Option<Host>,
}

impl From<Limits> for RunOptions {
    fn from(limits: Limits) -> RunOptions {
        RunOptions { limits, ..RunOptions::default() }
    }
}
