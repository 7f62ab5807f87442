//! The reference interpreter: runs prepared programs instruction by instruction.
//!
//! The semantics is in the ops, which are prepared as primitives, and in the `kernels` of these;
//! this crate only executes them. [`Program`] is a verified module turned into code, owned and
//! shareable between threads; a [`Machine`] executes code on frames of slots, scalars without
//! tensors. A run is a [`Session`]: grids of processes, each a machine in a thread, that
//! `scheduler.rs` lets take turns. `process_context.rs` is the environment of ops with side
//! effects, `profile.rs` records how long steps take.
//!
//! Engines compile functions to [`CompiledCode`], which machines call instead of instructions.
//!
//! Source: StableHLO, `docs/reference.md`.

mod code;
pub mod errors;
mod frame;
mod inputs;
mod listing;
mod machine;
mod observer;
mod options;
mod order;
mod outputs;
mod process_context;
mod profile;
mod program;
#[doc(hidden)]
pub mod scheduler; // For its tests.
mod session;

pub use ::program::{Conventions, Grid, MAX_PROCESSES, ProcessId};
pub use code::{Compile, CompiledCode, PreparedCode};
pub use inputs::{check_types, mismatch, storage_dtype, value_fits};
pub use machine::{Frame, Machine};
pub use mlir::prepare::{CustomCall, CustomCalls};
pub use observer::{Observer, Progress, Unobserved};
pub use options::{Engine, Limits, RunOptions};
pub use outputs::{OutputBuffer, OutputBuffers, copy_bytes, write_results};
pub use profile::{
    Execution, Profiling, Recorded, Share, StepKind, StepRecord, types as result_types,
};
pub use program::{Program, entry_function};
pub use session::Session;
