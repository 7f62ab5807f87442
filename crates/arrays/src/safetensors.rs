//! Files of named tensors in the format of safetensors.

use crate::ArrayError;
use numerics::budget;
use numerics::{Bytes, DType, Tensor, TensorError};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};

/// How elements are stored, and whether each as two parts.
fn storage(dtype: DType) -> (Dtype, bool) {
    let stored = match dtype.part() {
        DType::I1 => Dtype::BOOL,
        DType::I2 | DType::I4 | DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::U16 => Dtype::U16,
        DType::U32 => Dtype::U32,
        DType::U64 => Dtype::U64,
        DType::BF16 => Dtype::BF16,
        DType::F16 => Dtype::F16,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::F8E4M3FN => Dtype::F8_E4M3,
        DType::F8E5M2 => Dtype::F8_E5M2,
        DType::F8E8M0FNU => Dtype::F8_E8M0,
        // The numbers of U2, U4 and U8, and the bits of what is left.
        _ => Dtype::U8,
    };
    (stored, dtype.is_complex())
}

/// Writes tensors under names.
///
/// # Errors
/// If two names are equal, or a tensor has no representation.
pub fn write<'t>(
    tensors: impl IntoIterator<Item = (&'t str, &'t Tensor)>,
) -> Result<Vec<u8>, ArrayError> {
    let view = |(name, tensor): (&'t str, &'t Tensor)| {
        let (dtype, in_parts) = storage(tensor.dtype());
        let mut shape = tensor.shape().to_vec();
        shape.extend(in_parts.then_some(2));
        Ok((name, TensorView::new(dtype, shape, tensor.bytes())?))
    };
    let tensors: Vec<(&str, &Tensor)> = tensors.into_iter().collect();
    // A copy of all is made, which is charged while it is.
    let bytes = tensors.iter().fold(0, |sum: usize, (_, t)| sum.saturating_add(t.bytes().len()));
    let _reserved = budget::reserve::<u8>(bytes)?;
    let is_there = Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if !is_there {
        return Err(TensorError::OutOfMemory { bytes }.into());
    }
    let views: Result<Vec<_>, SafeTensorError> = tensors.into_iter().map(view).collect();
    views.and_then(|views| serialize(views, None)).map_err(|e| invalid(&e))
}

/// A file of tensors.
#[derive(Clone, Debug)]
pub struct File(Bytes);

impl File {
    /// Opens the file in `bytes`, which its tensors share.
    ///
    /// # Errors
    /// If the bytes are not a safetensors file.
    pub fn new(bytes: impl Into<Bytes>) -> Result<File, ArrayError> {
        let bytes = bytes.into();
        SafeTensors::deserialize(&bytes).map_err(|e| invalid(&e))?;
        Ok(File(bytes))
    }

    /// The names of the tensors, in alphabetical order.
    pub fn names(&self) -> Vec<String> {
        let file = SafeTensors::deserialize(&self.0);
        let names = file.map(|f| f.names().into_iter().map(str::to_string).collect());
        let mut names: Vec<String> = names.unwrap_or_default();
        names.sort_unstable();
        names
    }

    /// The tensor of that name, with elements of type `dtype`.
    ///
    /// # Errors
    /// If there is no such tensor, or `dtype` is stored as another type.
    pub fn tensor(&self, name: &str, dtype: DType) -> Result<Tensor, ArrayError> {
        let file = SafeTensors::deserialize(&self.0).map_err(|e| invalid(&e))?;
        let view = file
            .tensor(name)
            .map_err(|_| ArrayError::new(format!("the file has no tensor `{name}`")))?;
        let (stored, in_parts) = storage(dtype);
        let shape = match view.shape() {
            [shape @ .., 2] if in_parts => Some(shape),
            _ if in_parts => None,
            shape => Some(shape),
        };
        let Some(shape) = shape.filter(|_| view.dtype() == stored) else {
            return Err(ArrayError::new(format!(
                "`{name}` holds {:?} of shape {:?}, not {dtype}",
                view.dtype(),
                view.shape()
            )));
        };
        // The data lies in the bytes of the file.
        let start = view.data().as_ptr().addr() - self.0.as_ptr().addr();
        let shared = self.0.slice(start..start + view.data().len());
        let data = shared.unwrap_or_else(|| Bytes::from(view.data()));
        Ok(Tensor::from_bytes(dtype, shape, data)?)
    }
}

fn invalid(error: &SafeTensorError) -> ArrayError {
    ArrayError::new(format!("safetensors: {error}"))
}
