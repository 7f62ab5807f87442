//! Quantized tensors: the floats that storage values stand for, and back.
//!
//! Source: specification, "Quantization": `dequantize`, `quantize` and `dequantize_op_quantize`.

use super::all_tensors;
use mlir::eval::{EvalError, EvalResult, RuntimeValue};
use mlir::{OpRef, Type};
use numerics::math::{self, BinaryOp, UnaryOp};
use numerics::shape::StridedView;
use numerics::{DType, Tensor};
use side_dialects::quant::Uniform;

/// How elements of a tensor type are computed with: as they are, or, for a quantized type, as its
/// expressed type.
///
/// # Errors
/// For types that have no storage here.
pub fn expressed_dtype(ty: &Type) -> Result<DType, EvalError> {
    let element = ty.element_type();
    Uniform::of(element).map_or(element, |quantized| quantized.expressed).dtype().ok_or_else(|| {
        EvalError::new("type", format!("elements of type {element} cannot be evaluated"))
    })
}

fn dtype(ty: &Type) -> Result<DType, EvalError> {
    ty.dtype()
        .ok_or_else(|| EvalError::new("type", format!("elements of type {ty} have no storage")))
}

/// `values`, one for all elements or one for each index of the quantized dimension, as a tensor
/// that goes with tensors of `shape`.
fn spread(quantized: &Uniform<'_>, values: Tensor, shape: &[usize]) -> Result<Tensor, EvalError> {
    if values.num_elements() == 1 {
        return Ok(values.into_shape([])?);
    }
    let axis = match quantized.axes {
        &[axis] => usize::try_from(axis).ok(),
        _ => None,
    };
    let axis = axis.ok_or_else(|| {
        EvalError::new("quantized", "sub-channel quantization cannot be evaluated")
    })?;
    let view = StridedView::dense(values.shape())?.broadcast(shape, &[axis])?;
    Ok(values.gather(&view)?)
}

fn scales(quantized: &Uniform<'_>, shape: &[usize]) -> Result<Tensor, EvalError> {
    let scales: Vec<f64> = quantized.scales().collect();
    let scales =
        math::convert(Tensor::from_vec([scales.len()], scales)?, dtype(quantized.expressed)?)?;
    spread(quantized, scales, shape)
}

fn zero_points(quantized: &Uniform<'_>, shape: &[usize]) -> Result<Tensor, EvalError> {
    let points = quantized.zero_points.to_vec();
    spread(quantized, Tensor::from_vec([points.len()], points)?, shape)
}

/// The floats that the storage values of a tensor of a quantized type stand for.
///
/// # Errors
/// If scales do not fit the shape, or quantization is by blocks.
pub fn dequantize(storage: Tensor, quantized: &Uniform<'_>) -> Result<Tensor, EvalError> {
    let shape = storage.shape().to_vec();
    let wide = math::convert(storage, DType::I64)?;
    let difference = math::binary(BinaryOp::Subtract, wide, zero_points(quantized, &shape)?)?;
    let expressed = math::convert(difference, dtype(quantized.expressed)?)?;
    Ok(math::binary(BinaryOp::Multiply, expressed, scales(quantized, &shape)?)?)
}

/// The storage values that stand for floats in a quantized type: nearest, ties to even, within the
/// storage range.
///
/// # Errors
/// If scales do not fit the shape, or quantization is by blocks.
pub fn quantize(float: Tensor, quantized: &Uniform<'_>) -> Result<Tensor, EvalError> {
    let shape = float.shape().to_vec();
    let expressed = dtype(quantized.expressed)?;
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
    Ok(math::convert(rounded, dtype(quantized.storage)?)?)
}

/// Runs `f` on the operands of `op`, with floats in place of quantized operands, and quantizes the
/// floats that it gives for results of quantized types.
///
/// # Errors
/// Those of `f`, and of [`dequantize`] and [`quantize`].
pub fn around(
    op: OpRef<'_>,
    operands: Vec<RuntimeValue>,
    f: impl FnOnce(Vec<Tensor>) -> Result<Vec<Tensor>, EvalError>,
) -> EvalResult {
    let dequantized = |(operand, ty): (Tensor, &Type)| match Uniform::of_element(ty) {
        Some(quantized) => dequantize(operand, &quantized),
        None => Ok(operand),
    };
    let operands = all_tensors(operands)?.into_iter().zip(op.operand_types());
    let results = f(operands.map(dequantized).collect::<Result<_, _>>()?)?;
    let quantized = |(result, ty): (Tensor, &Type)| match Uniform::of_element(ty) {
        Some(quantized) => quantize(result, &quantized),
        None => Ok(result),
    };
    let results = results.into_iter().zip(op.result_types()).map(quantized);
    results.map(|result| result.map(RuntimeValue::Tensor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlir::Type;
    use side_dialects::quant::UniformParts;

    fn quantized(scales: Vec<f64>, zero_points: Vec<i64>) -> Type {
        let axes = (scales.len() > 1).then(|| vec![0]);
        let parts = UniformParts {
            storage: Type::from(DType::I8),
            unsigned_by_flag: false,
            storage_range: (-128, 127),
            expressed: Type::f32(),
            scales,
            zero_points,
            axes,
            blocks: None,
        };
        parts.into_type()
    }

    #[test]
    fn examples_of_the_specification() {
        let ty = quantized(vec![0.1, 0.5], vec![-30, -20]);
        let view = Uniform::of(&ty).expect("a quantized type");
        let storage = Tensor::from_vec([2], vec![10i8, 10]).expect("two elements");
        let float = Tensor::from_vec([2], vec![4.0f32, 15.0]).expect("two elements");
        assert_eq!(quantize(float.clone(), &view).expect("per axis"), storage);
        assert_eq!(dequantize(storage, &view).expect("per axis"), float);
    }

    #[test]
    fn quantization_rounds_and_saturates() {
        let ty = quantized(vec![0.5], vec![1]);
        let view = Uniform::of(&ty).expect("a quantized type");
        let float = Tensor::from_vec([4], vec![0.25f32, 0.75, 1e9, -1e9]).expect("four elements");
        // 0.5 + 1 and 1.5 + 1 are ties.
        let expected = Tensor::from_vec([4], vec![2i8, 2, 127, -128]).expect("four elements");
        assert_eq!(quantize(float, &view).expect("per tensor"), expected);
    }
}
