//! What an op's `eval` sees: runtime values and the environment that runs regions and calls for it.
//!
//! `eval` is the meaning of an op, written close to the specification's words. The interpreter
//! implements [`EvalEnv`]; folding passes use the same functions.

use crate::diag::Diagnostic;
use crate::ir::{OpRef, RegionId};
use crate::process::World;
use numerics::{Tensor, TensorError};

/// A value at run time.
#[derive(Clone)]
pub enum RuntimeValue {
    /// A tensor. A quantized tensor is the tensor of its storage values.
    Tensor(Tensor),
    /// A token.
    Token,
    /// A tuple.
    Tuple(Vec<RuntimeValue>),
}

impl RuntimeValue {
    /// The tensor that this is.
    ///
    /// # Errors
    /// If this is a token or tuple: only for values that a verified op cannot have.
    pub fn tensor(&self) -> Result<&Tensor, EvalError> {
        match self {
            RuntimeValue::Tensor(t) => Ok(t),
            RuntimeValue::Token => Err(EvalError::new("type", "expected a tensor, found a token")),
            RuntimeValue::Tuple(_) => {
                Err(EvalError::new("type", "expected a tensor, found a tuple"))
            }
        }
    }

    /// The tensor that this is, by value.
    ///
    /// # Errors
    /// As [`RuntimeValue::tensor`].
    pub fn into_tensor(self) -> Result<Tensor, EvalError> {
        match self {
            RuntimeValue::Tensor(t) => Ok(t),
            other => other.tensor().cloned(),
        }
    }
}

impl From<Tensor> for RuntimeValue {
    fn from(tensor: Tensor) -> RuntimeValue {
        RuntimeValue::Tensor(tensor)
    }
}

/// Why evaluation stopped. The interpreter adds the op's position and the calls that led to it.
#[derive(Clone, Debug)]
pub struct EvalError {
    /// What happened, with the rule that is broken; positions are filled in by the interpreter.
    pub diagnostic: Box<Diagnostic>,
}

impl EvalError {
    /// An error that breaks the rule `label`.
    pub fn new(label: &'static str, message: impl Into<String>) -> EvalError {
        EvalError { diagnostic: Box::new(Diagnostic::error(label, message)) }
    }
}

impl From<TensorError> for EvalError {
    fn from(error: TensorError) -> EvalError {
        let label = if matches!(error, TensorError::Budget { .. }) { "limit" } else { "tensor" };
        EvalError::new(label, error.to_string())
    }
}

/// Results of evaluating an op.
pub type EvalResult = Result<Vec<RuntimeValue>, EvalError>;

/// Evaluates an op on its operands, given by value so that an unshared buffer may be reused for the
/// result.
pub type EvalFn = fn(OpRef<'_>, Vec<RuntimeValue>, &mut dyn EvalEnv) -> EvalResult;

/// What an op may ask of whoever evaluates it.
pub trait EvalEnv {
    /// Runs a region on `args` and returns the operands of its terminator. Values from outside are
    /// visible within.
    ///
    /// # Errors
    /// Whatever stops an op in the region.
    fn region(&mut self, region: RegionId, args: Vec<RuntimeValue>) -> EvalResult;

    /// Runs a region whose arguments are scalars once for each of `n` positions, on vectors of
    /// shape `[n]` (or scalars, the same at each position); the results have shape `[n]`. One pass
    /// where the region is elementwise, else `n` runs.
    ///
    /// # Errors
    /// Whatever stops an op in the region.
    fn scalar_region(
        &mut self,
        region: RegionId,
        n: usize,
        args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError>;

    /// Whether `scalar_region` runs the region in one pass over vectors.
    fn is_vectorizable(&mut self, region: RegionId) -> bool;

    /// Calls the function of that symbol name.
    ///
    /// # Errors
    /// An unknown symbol, or whatever stops an op in the function.
    fn call(&mut self, symbol: &str, args: Vec<RuntimeValue>) -> EvalResult;

    /// What is outside of the process that evaluates.
    ///
    /// # Errors
    /// If there is nothing, as when ops are folded.
    fn world(&mut self) -> Result<&mut dyn World, EvalError> {
        Err(EvalError::new(
            "process",
            "this op acts on what is outside of it, which only a run of the program has",
        ))
    }
}

/// Evaluates ops that have no regions and call nothing.
pub struct NoRegions;

impl NoRegions {
    fn refuse<T>() -> Result<T, EvalError> {
        Err(EvalError::new("evaluate", "ops with regions or calls are not evaluated"))
    }
}

impl EvalEnv for NoRegions {
    fn region(&mut self, _: RegionId, _: Vec<RuntimeValue>) -> EvalResult {
        NoRegions::refuse()
    }

    fn scalar_region(
        &mut self,
        _: RegionId,
        _: usize,
        _: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        NoRegions::refuse()
    }

    fn is_vectorizable(&mut self, _: RegionId) -> bool {
        false
    }

    fn call(&mut self, _: &str, _: Vec<RuntimeValue>) -> EvalResult {
        NoRegions::refuse()
    }
}
