//! Prepared programs as plain data: what an executor runs, without IR.
//!
//! - [`Primitive`] is a closed set of tensor operations with parsed numbers: no attribute is left
//!   to read;
//! - [`Code`] holds functions and blocks of [`Instruction`]s, which access the slots of a frame;
//! - [`RuntimeValue`] is a value at run time, [`ValueType`] the type that it must have;
//! - [`Evaluator`] and [`ProcessContext`] are the executor's interfaces for primitives: blocks,
//!   calls, processes, feeds;
//! - [`EvalError`] is the reason why execution stopped, and the op.
//!
//! The crate of each dialect maps ops to primitives (`prepare`), `kernels` computes primitives,
//! `interpreter` runs code.

mod body;
mod code;
pub mod einsum;
mod error;
mod evaluator;
pub mod operands;
pub mod primitives;
mod process;
mod quantized;
mod value;
mod window;
pub mod work;

pub use body::{Body, BodyShape, Callee, Canonical, Comparator, ComplexPart, Extremum, SortKey};
pub use code::{
    Block, BlockId, Code, Evaluation, Function, FunctionId, Instruction, InstructionId, Operand,
    Origin, Slot, UNUSED,
};
pub use error::{EvalError, EvalResult, Place};
pub use evaluator::{Conventions, Evaluator, NoEvaluator, ProcessContext, Task};
pub use primitives::{Effects, Kind, NativeFunction, Operation, Primitive, Quantized, collective};
pub use process::{Channel, Contributions, Exchange, Grid, MAX_PROCESSES, ProcessId};
pub use quantized::UniformQuantization;
pub use value::{DYNAMIC, RuntimeValue, ValueType};
pub use window::{Window, WindowDim};
