//! Preparation shared by several ops: numbers from attributes, quantized types as plain data,
//! bodies and comparators, groups of processes.
//!
//! The meaning of each op is the `prepare` in its file under `ops/`.

mod body;
mod collective;
mod comparator;

pub use body::{body, function_body};
pub use collective::{collective, mesh_axes_groups, pairs, zeros};
pub use comparator::comparator;

use mlir::prepare::{Prepared, storage_type};
use mlir::{OpRef, Type};
use numerics::DType;
use numerics::math::{BinaryOp, UnaryOp};
use program::primitives::{self, BatchNormKind};
use program::{EvalError, Primitive, Quantized, UniformQuantization};
use side_dialects::quant::Uniform;
use std::sync::Arc;

/// The storage type of elements of a tensor type, which may be quantized.
///
/// # Errors
/// For types without storage.
pub fn storage_dtype(ty: &Type) -> Result<DType, EvalError> {
    let element = ty.element_type();
    storage_type(element).and_then(|ty| ty.dtype()).ok_or_else(|| no_dtype(element))
}

/// The type in which elements of a tensor type are computed: the expressed type for quantized
/// types.
///
/// # Errors
/// For types without storage.
pub fn expressed_dtype(ty: &Type) -> Result<DType, EvalError> {
    let element = ty.element_type();
    let expressed = Uniform::of(element).map_or(element, |quantized| quantized.expressed);
    expressed.dtype().ok_or_else(|| no_dtype(element))
}

fn no_dtype(element: &Type) -> EvalError {
    EvalError::new("type", format!("elements of type {element} cannot be evaluated"))
}

/// The static shape of result `index`; `None` if a dimension is dynamic.
pub fn static_result_shape(op: OpRef<'_>, index: usize) -> Option<Vec<usize>> {
    op.result_type(index).as_tensor()?.static_shape()
}

/// The static shape of result `index` of an op that needs one.
///
/// # Errors
/// If a dimension is dynamic.
pub fn expect_static(op: OpRef<'_>, index: usize) -> Result<Vec<usize>, EvalError> {
    static_result_shape(op, index).ok_or_else(|| {
        let label = op.def().map_or("shape", |def| def.mnemonic());
        EvalError::new(label, "the result must be static")
    })
}

/// The sizes that the type of the first result declares; `None` if it has no rank.
pub fn declared(op: OpRef<'_>) -> Option<Vec<i64>> {
    op.result_type(0).shape().map(<[i64]>::to_vec)
}

/// The values of an attribute that lists dimensions or sizes.
///
/// # Errors
/// If a value is negative.
pub fn usizes(op: OpRef<'_>, values: &[i64]) -> Result<Vec<usize>, EvalError> {
    values.iter().map(|&value| to_usize(op, value)).collect()
}

/// The value of an attribute that is a dimension or size.
///
/// # Errors
/// If it is negative.
pub fn to_usize(op: OpRef<'_>, value: i64) -> Result<usize, EvalError> {
    usize::try_from(value).map_err(|_| {
        let message = format!("{} has an attribute with the negative value {value}", op.name());
        EvalError::new("attribute", message)
    })
}

/// The error that an attribute is missing or invalid.
pub fn missing(op: OpRef<'_>, name: &str) -> EvalError {
    EvalError::new("attribute", format!("{} has no valid attribute {name}", op.name()))
}

/// A quantized element type as plain data.
///
/// # Errors
/// For types without storage.
pub fn quantization(ty: &Type) -> Result<Option<Arc<UniformQuantization>>, EvalError> {
    let Some(quantized) = Uniform::of_element(ty) else { return Ok(None) };
    let dtype = |ty: &Type| ty.dtype().ok_or_else(|| no_dtype(ty));
    Ok(Some(Arc::new(UniformQuantization {
        storage: dtype(quantized.storage)?,
        storage_min: quantized.storage_min,
        storage_max: quantized.storage_max,
        expressed: dtype(quantized.expressed)?,
        scales: quantized.scales().collect(),
        zero_points: quantized.zero_points.to_vec(),
        axis: match quantized.axes {
            &[axis] => usize::try_from(axis).ok(),
            _ => None,
        },
    })))
}

/// A primitive on floats: quantized operands are dequantized, and results quantized.
///
/// # Errors
/// For types without storage.
pub fn with_floats(op: OpRef<'_>, primitive: Primitive) -> Prepared {
    let is_quantized = |ty: &Type| Uniform::of_element(ty).is_some();
    if !op.operand_types().any(is_quantized) && !op.result_types().any(is_quantized) {
        return Ok(primitive);
    }
    let operands = op.operand_types().map(quantization).collect::<Result<_, _>>()?;
    let results = op.result_types().map(quantization).collect::<Result<_, _>>()?;
    Ok(Primitive::Quantized(Box::new(Quantized { operands, results, primitive })))
}

/// Prepares an elementwise op of one operand by its name.
///
/// # Errors
/// If no function has that name.
pub fn unary(op: OpRef<'_>, _: &mut mlir::prepare::Preparer<'_>) -> Prepared {
    let name = op.def().map_or("", |d| d.mnemonic());
    match UnaryOp::from_name(name) {
        Some(function) => with_floats(op, Primitive::Unary(function)),
        None => Err(no_function(name)),
    }
}

/// Prepares an elementwise op of two operands by its name.
///
/// # Errors
/// If no function has that name.
pub fn binary(op: OpRef<'_>, _: &mut mlir::prepare::Preparer<'_>) -> Prepared {
    let name = op.def().map_or("", |d| d.mnemonic());
    match BinaryOp::from_name(name) {
        Some(function) => with_floats(op, Primitive::Binary(function)),
        None => Err(no_function(name)),
    }
}

fn no_function(name: &str) -> EvalError {
    EvalError::new("eval", format!("no elementwise function is named {name}"))
}

/// Prepares an op of batch normalization.
///
/// # Errors
/// If the feature index is negative, or a type has no storage.
pub fn batch_norm(
    op: OpRef<'_>,
    kind: BatchNormKind,
    epsilon: f64,
    feature_index: i64,
) -> Prepared {
    let feature_index = to_usize(op, feature_index)?;
    with_floats(op, Primitive::BatchNorm(primitives::BatchNorm { kind, epsilon, feature_index }))
}
