//! Weights in safetensors files.
//!
//! The format lacks some element types. Complex numbers are stored as their parts, in an additional
//! dimension of size two; integers narrower than a byte as bytes with the same value; other floats
//! of at most a byte as bytes with their bits. The program retains the types.

use crate::io::{Failure, Io};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use stablo::{Bytes, DType, Tensor, Type};
use std::path::Path;

/// The stored type of elements, and true if they are stored as two parts each.
fn written_as(dtype: DType) -> (Dtype, bool) {
    let written = match dtype.part() {
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
        // The values of U2, U4 and U8, and the bits of other types.
        _ => Dtype::U8,
    };
    (written, dtype.is_complex())
}

/// The stored shape.
fn written_shape(mut shape: Vec<usize>, in_parts: bool) -> Vec<usize> {
    shape.extend(in_parts.then_some(2));
    shape
}

/// Writes weights to a file.
///
/// # Errors
/// If the file cannot be written.
pub fn write(io: &mut Io<'_>, path: &Path, weights: &[(String, Tensor)]) -> Result<(), Failure> {
    let view = |(name, tensor): &'_ (String, Tensor)| {
        let (dtype, in_parts) = written_as(tensor.dtype());
        (name.clone(), dtype, written_shape(tensor.shape().to_vec(), in_parts))
    };
    let described: Vec<(String, Dtype, Vec<usize>)> = weights.iter().map(view).collect();
    let views = described
        .into_iter()
        .zip(weights)
        .map(|((name, dtype, shape), (_, tensor))| {
            Ok((name, TensorView::new(dtype, shape, tensor.bytes())?))
        })
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let bytes = views
        .and_then(|views| serialize(views, None))
        .map_err(|e| Failure::input(format!("safetensors: {e}")))?;
    io.write(path, &bytes)
}

/// A file of weights.
pub struct Weights(Bytes);

impl Weights {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(io: &mut Io<'_>, path: &Path) -> Result<Weights, Failure> {
        io.map(path).map(Weights)
    }

    /// The elements of the weight with the given name, as a tensor of the given type.
    ///
    /// # Errors
    /// If the file is invalid, has no such weight, or one of another shape or element type.
    pub fn tensor(&self, name: &str, ty: &Type) -> Result<Tensor, String> {
        let file = SafeTensors::deserialize(&self.0)
            .map_err(|e| format!("the file of weights is not valid: {e}"))?;
        let view = file.tensor(name).map_err(|_| format!("the file of weights has no `{name}`"))?;
        let tensor = ty.element_type().dtype().and_then(|dtype| {
            let (written, in_parts) = written_as(dtype);
            let shape: Vec<usize> =
                ty.shape()?.iter().map(|&d| usize::try_from(d).ok()).collect::<Option<_>>()?;
            let fits =
                view.dtype() == written && view.shape() == written_shape(shape.clone(), in_parts);
            fits.then(|| Tensor::from_bytes(dtype, shape, Bytes::from(view.data().to_vec())).ok())?
        });
        tensor.ok_or_else(|| {
            format!(
                "`{name}` is {:?} of shape {:?}; the program has {ty}",
                view.dtype(),
                view.shape()
            )
        })
    }
}
