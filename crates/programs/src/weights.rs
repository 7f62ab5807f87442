//! Files of weights in the format of safetensors.

use crate::io::{Failure, Io};
use mlir::attrs::DenseElements;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use stablo::{Attribute, Bytes, DType, Tensor, Type};
use std::path::Path;

/// Element types that both sides have.
const DTYPES: [(DType, Dtype); 14] = [
    (DType::I1, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::BF16, Dtype::BF16),
    (DType::F16, Dtype::F16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::F8E4M3FN, Dtype::F8_E4M3),
];

/// Writes weights to a file.
///
/// # Errors
/// Elements of a type that the format lacks; if the file cannot be written.
pub fn write(io: &mut Io<'_>, path: &Path, weights: &[(String, DenseElements)]) -> Result<(), Failure> {
    let view = |(name, elements): &'_ (String, DenseElements)| {
        let lacks = || Failure::input(format!("safetensors has no elements of type {}", elements.ty().element_type()));
        let (_, dtype) = *DTYPES.iter().find(|(ours, _)| *ours == elements.dtype()).ok_or_else(lacks)?;
        let shape = elements.ty().shape().unwrap_or(&[]).iter().map(|&d| d as usize).collect();
        Ok((name.clone(), dtype, shape))
    };
    let described = weights.iter().map(view).collect::<Result<Vec<(String, Dtype, Vec<usize>)>, Failure>>()?;
    let views = described
        .into_iter()
        .zip(weights)
        .map(|((name, dtype, shape), (_, elements))| Ok((name, TensorView::new(dtype, shape, elements.data())?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let bytes =
        views.and_then(|views| serialize(views, None)).map_err(|e| Failure::input(format!("safetensors: {e}")))?;
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

    /// The elements of that name, as a constant of that type.
    ///
    /// # Errors
    /// If the file is not valid, has no such weight or one of another shape or element type.
    pub fn constant(&self, name: &str, ty: &Type) -> Result<Attribute, String> {
        let file = SafeTensors::deserialize(&self.0).map_err(|e| format!("the file of weights is not valid: {e}"))?;
        let view = file.tensor(name).map_err(|_| format!("the file of weights has no `{name}`"))?;
        let dtype = DTYPES.iter().find(|(_, theirs)| *theirs == view.dtype()).map(|(ours, _)| *ours);
        let tensor =
            dtype.and_then(|dtype| Tensor::from_bytes(dtype, view.shape(), Bytes::from(view.data().to_vec())).ok());
        let constant = tensor.map(|tensor| Attribute::from_tensor(&tensor)).filter(|constant| constant.ty() == *ty);
        constant
            .ok_or_else(|| format!("`{name}` is {:?} of shape {:?}; the program has {ty}", view.dtype(), view.shape()))
    }
}
