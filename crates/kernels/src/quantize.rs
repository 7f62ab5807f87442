//! Quantized tensors: conversion between storage values and the floats that they express.
//!
//! Source: specification, "Quantization": `dequantize`, `quantize` and `dequantize_op_quantize`.

use numerics::math::{self, BinaryOp, UnaryOp};
use numerics::shape::StridedView;
use numerics::{DType, Tensor};
use program::{EvalError, UniformQuantization};

/// `values`, one for all elements or one for each index of the quantized dimension, as a tensor
/// that goes with tensors of `shape`.
fn spread(
    quantized: &UniformQuantization,
    values: Tensor,
    shape: &[usize],
) -> Result<Tensor, EvalError> {
    if values.num_elements() == 1 {
        return Ok(values.into_shape([])?);
    }
    let axis = quantized.axis.ok_or_else(|| {
        EvalError::new("quantized", "sub-channel quantization cannot be evaluated")
    })?;
    let view = StridedView::dense(values.shape())?.broadcast(shape, &[axis])?;
    Ok(values.gather(&view)?)
}

fn scales(quantized: &UniformQuantization, shape: &[usize]) -> Result<Tensor, EvalError> {
    let scales = quantized.scales.clone();
    let scales = math::convert(Tensor::from_vec([scales.len()], scales)?, quantized.expressed)?;
    spread(quantized, scales, shape)
}

fn zero_points(quantized: &UniformQuantization, shape: &[usize]) -> Result<Tensor, EvalError> {
    let points = quantized.zero_points.to_vec();
    spread(quantized, Tensor::from_vec([points.len()], points)?, shape)
}

/// The floats that the storage values of a tensor express.
///
/// # Errors
/// If scales do not fit the shape, or quantization is blockwise.
pub fn dequantize(storage: Tensor, quantized: &UniformQuantization) -> Result<Tensor, EvalError> {
    let shape = storage.shape().to_vec();
    let wide = math::convert(storage, DType::I64)?;
    let difference = math::binary(BinaryOp::Subtract, wide, zero_points(quantized, &shape)?)?;
    let expressed = math::convert(difference, quantized.expressed)?;
    Ok(math::binary(BinaryOp::Multiply, expressed, scales(quantized, &shape)?)?)
}

/// The storage values that express floats: nearest, ties to even, within the storage range.
///
/// # Errors
/// If scales do not fit the shape, or quantization is blockwise.
pub fn quantize(float: Tensor, quantized: &UniformQuantization) -> Result<Tensor, EvalError> {
    let shape = float.shape().to_vec();
    let expressed = quantized.expressed;
    let bound = |value: i64| math::convert(Tensor::scalar(value), expressed);
    let scaled = math::binary(BinaryOp::Divide, float, scales(quantized, &shape)?)?;
    let moved = math::binary(
        BinaryOp::Add,
        scaled,
        math::convert(zero_points(quantized, &shape)?, expressed)?,
    )?;
    let clamped =
        math::clamp(&bound(quantized.storage_min)?, moved, &bound(quantized.storage_max)?)?;
    let rounded = math::unary(UnaryOp::RoundNearestEven, clamped)?;
    Ok(math::convert(rounded, quantized.storage)?)
}
