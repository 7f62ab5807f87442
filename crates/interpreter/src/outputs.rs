//! Memory of the caller that results are written into.

use crate::errors::internal;
use crate::inputs::{describe_elements, describe_type};
use numerics::{DType, TensorMut};
use program::{EvalError, RuntimeValue, ValueType};
use smallvec::SmallVec;

/// The outputs of a run, in order.
pub type OutputBuffers<'a> = SmallVec<[OutputBuffer<'a>; 2]>;

/// Memory of the caller for a result.
pub struct OutputBuffer<'a> {
    dtype: DType,
    shape: &'a [usize],
    /// `None` while the result is computed.
    pub memory: Option<&'a mut [u8]>,
    /// True if the result is there.
    pub is_written: bool,
}

impl<'a> OutputBuffer<'a> {
    /// The memory of a tensor of the caller.
    pub fn of(tensor: &'a mut TensorMut<'_>) -> OutputBuffer<'a> {
        let (dtype, shape) = (tensor.dtype(), tensor.shape());
        OutputBuffer { dtype, shape, memory: Some(tensor.bytes_mut()), is_written: false }
    }

    /// Compares with a result, whose type may be dynamic.
    ///
    /// # Errors
    /// If its shape or element type is another.
    pub fn check(&self, index: usize, value: &RuntimeValue) -> Result<(), EvalError> {
        let tensor = value.tensor()?;
        if self.dtype == tensor.dtype() && self.shape == tensor.shape() {
            return Ok(());
        }
        Err(self.mismatch(index, &describe_elements(tensor.dtype(), tensor.shape())))
    }

    /// Compares with the type of a result.
    ///
    /// # Errors
    /// If values of the type have another shape or element type.
    pub fn check_type(&self, index: usize, ty: &ValueType) -> Result<(), EvalError> {
        if ty.accepts_elements(self.dtype, self.shape) {
            return Ok(());
        }
        Err(self.mismatch(index, &describe_type(ty)))
    }

    fn mismatch(&self, index: usize, result: &str) -> EvalError {
        let found = describe_elements(self.dtype, self.shape);
        let message = format!("result {index} is a {result}, the output given a {found}");
        EvalError::new("outputs", message)
    }
}

/// Copies results into memory of the caller; nothing if one of them does not fit.
///
/// # Errors
/// If one does not fit.
pub fn write_results(
    outputs: &mut [TensorMut<'_>],
    results: &[RuntimeValue],
) -> Result<(), EvalError> {
    let mut outputs: OutputBuffers<'_> = outputs.iter_mut().map(OutputBuffer::of).collect();
    copy_results(&mut outputs, results)
}

/// As [`write_results`].
pub(crate) fn copy_results(
    outputs: &mut [OutputBuffer<'_>],
    results: &[RuntimeValue],
) -> Result<(), EvalError> {
    let pairs = || outputs.iter().zip(results).enumerate();
    pairs().try_for_each(|(index, (output, value))| output.check(index, value))?;
    for (output, value) in outputs.iter_mut().zip(results) {
        if let Some(memory) = &mut output.memory {
            copy_bytes(memory, value.tensor()?.bytes())?;
        }
    }
    Ok(())
}

/// Copies the bytes of a result into the memory of an output.
///
/// # Errors
/// If this has another size.
pub fn copy_bytes(memory: &mut [u8], bytes: &[u8]) -> Result<(), EvalError> {
    if memory.len() != bytes.len() {
        return Err(internal("a result has not the size of its type"));
    }
    memory.copy_from_slice(bytes);
    Ok(())
}
