//! The reference interpreter: runs prepared programs instruction by instruction.
//!
//! Meaning lives with the ops, which say which primitives they are, and with the `kernels` of these;
//! this crate only drives them. [`Program`] is a verified module turned into code, owned and
//! shareable between threads; `machine.rs` executes code on frames of slots, scalars without
//! tensors. A run is a `session.rs`: grids of processes, each a machine in a thread, that
//! `scheduler.rs` lets take turns. `world.rs` is what a machine offers to ops that act on their
//! surroundings.
//!
//! Source: StableHLO, `docs/reference.md`.

mod frame;
mod inputs;
mod machine;
mod observer;
mod order;
mod program;
mod scheduler;
mod session;
mod world;

pub use ::program::{Grid, MAX_PROCESSES, ProcessId};
pub use inputs::{storage_dtype, value_fits};
pub use mlir::prepare::{CustomCall, CustomCalls};
pub use observer::{Observer, Progress, Unobserved};
pub use program::{Program, entry_function};

use std::time::Duration;

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep calls and regions may nest at run time.
    pub depth: usize,
    /// Bytes of stack of each thread that runs a process; enough for `depth`.
    pub stack_bytes: usize,
    /// How many ops all processes may run, those in loops and functions each time.
    pub steps: Option<u64>,
    /// How long the run may take. Checked between ops, so that one op may take longer.
    pub time: Option<Duration>,
    /// Bytes of the tensors that the run makes and that live at the same time.
    pub memory: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1000, stack_bytes: 256 << 20, steps: None, time: None, memory: None }
    }
}

/// How a program is prepared and run.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// Limits of each run.
    pub limits: Limits,
    /// Implementations of custom calls.
    pub custom_calls: CustomCalls,
}

impl From<Limits> for RunOptions {
    fn from(limits: Limits) -> RunOptions {
        RunOptions { limits, ..RunOptions::default() }
    }
}
