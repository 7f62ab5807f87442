//! Preparation shared by several ops: numbers from attributes, quantized types as plain data,
//! bodies and comparators, groups of processes.
//!
//! The meaning of each op is the `prepare` in its own file under `ops/`.

mod body;
mod collective;
mod comparator;

pub use body::{body, function_body};
pub use collective::{channel, collective, mesh_axes_groups, pairs, zeros};
pub use comparator::comparator;

use mlir::prepare::{Prepared, storage_type};
use mlir::{AttrKind, Attribute, OpRef, Type};
use numerics::DType;
use numerics::math::{BinaryOp, UnaryOp};
use program::{BatchNorm, EvalError, Primitive, Quantized, UniformQuantization, Window, WindowDim};
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
/// If the attribute is missing or a value is negative.
pub fn usizes(op: OpRef<'_>, name: &'static str) -> Result<Vec<usize>, EvalError> {
    let values = op.int_array(name).ok_or_else(|| missing(op, name))?;
    let unsigned: Option<Vec<usize>> = values.iter().map(|&v| usize::try_from(v).ok()).collect();
    unsigned.ok_or_else(|| {
        EvalError::new("attribute", format!("{name} of {} has a negative value", op.name()))
    })
}

/// The value of an integer attribute that is not negative.
///
/// # Errors
/// If the attribute is missing or negative.
pub fn usize_attr(op: OpRef<'_>, name: &'static str) -> Result<usize, EvalError> {
    let value = op.attr_or_default(name).and_then(|a| a.as_i64());
    value.and_then(|v| usize::try_from(v).ok()).ok_or_else(|| missing(op, name))
}

/// The values of an attribute that lists numbers.
///
/// # Errors
/// If the attribute is missing.
pub fn numbers(op: OpRef<'_>, name: &'static str) -> Result<Vec<i64>, EvalError> {
    op.int_array(name).map(<[i64]>::to_vec).ok_or_else(|| missing(op, name))
}

/// The error that an attribute is missing or invalid.
pub fn missing(op: OpRef<'_>, name: &str) -> EvalError {
    EvalError::new("attribute", format!("{} has no valid attribute {name}", op.name()))
}

/// The window of attributes; absent ones are ones, and no padding.
///
/// # Errors
/// As [`WindowDim::from_lists`].
pub fn window(
    sizes: &[i64],
    strides: Option<&Attribute>,
    padding: Option<&Attribute>,
    base_dilations: Option<&Attribute>,
    window_dilations: Option<&Attribute>,
) -> Result<Window, EvalError> {
    let n = sizes.len();
    let list = |attr: Option<&Attribute>| {
        attr.map_or(vec![1; n], |a| a.as_int_array().unwrap_or(&[]).to_vec())
    };
    let padding =
        padding.map_or(Some(vec![0; 2 * n]), |p| p.as_dense().and_then(|d| d.int_values()));
    WindowDim::from_lists(
        sizes,
        &list(strides),
        &list(base_dilations),
        &list(window_dilations),
        &padding.unwrap_or_default(),
    )
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
/// If an attribute is missing.
pub fn batch_norm(op: OpRef<'_>, kind: BatchNorm) -> Prepared {
    let epsilon = match op.attr("epsilon").map(|a| &**a) {
        Some(AttrKind::Float { bits, .. }) => f64::from(f32::from_bits(*bits as u32)),
        _ => return Err(missing(op, "epsilon")),
    };
    let feature_index = usize_attr(op, "feature_index")?;
    with_floats(op, Primitive::BatchNorm { kind, epsilon, feature_index })
}
