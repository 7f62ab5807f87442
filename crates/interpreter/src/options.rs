//! Options of runs.

use crate::{Conventions, CustomCalls, Profiling};
use host::Host;
use std::num::NonZeroUsize;
use std::time::Duration;

/// A way to run programs. Engines compute the same bits, and differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Plans: elementwise ops fused to loops, data movement as views, prepared functions, threads.
    #[default]
    Fast,
    /// The interpreter, op by op as the specification reads.
    Reference,
}

impl Engine {
    /// All engines, the default first.
    pub const ALL: &'static [Engine] = &[Engine::Fast, Engine::Reference];

    /// The engine of that name.
    pub fn from_name(name: &str) -> Option<Engine> {
        Engine::ALL.iter().copied().find(|engine| engine.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Reference => "reference",
            Engine::Fast => "fast",
        }
    }

    /// A summary of one line.
    pub fn description(self) -> &'static str {
        match self {
            Engine::Reference => "The interpreter, op by op as the specification reads",
            Engine::Fast => "A plan of the program, with the bits of the interpreter",
        }
    }
}

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
    /// Clock, threads and memory budget of each run; by default of the thread that runs the
    /// program.
    pub host: Option<Host>,
}

impl From<Limits> for RunOptions {
    fn from(limits: Limits) -> RunOptions {
        RunOptions { limits, ..RunOptions::default() }
    }
}
