//! Operands of primitives: lists of tensors of a certain length, scalars, sizes, and parts of
//! tensors.

use crate::{EvalError, RuntimeValue};
use numerics::shape::StridedView;
use numerics::{I1, Tensor};

/// The operands of an op that takes exactly `N` tensors.
///
/// # Errors
/// If their number differs, or one is no tensor: only for an op that does not satisfy its
/// declaration.
pub fn tensors<const N: usize>(operands: Vec<RuntimeValue>) -> Result<[Tensor; N], EvalError> {
    expect_n(tensor_list(operands)?)
}

/// Exactly `N` tensors.
///
/// # Errors
/// If their number differs.
pub fn expect_n<const N: usize>(tensors: Vec<Tensor>) -> Result<[Tensor; N], EvalError> {
    let found = tensors.len();
    tensors
        .try_into()
        .map_err(|_| EvalError::new("operands", format!("expected {N} operands, found {found}")))
}

/// All operands as tensors.
///
/// # Errors
/// If one is no tensor.
pub fn tensor_list(operands: Vec<RuntimeValue>) -> Result<Vec<Tensor>, EvalError> {
    operands.into_iter().map(RuntimeValue::into_tensor).collect()
}

/// Tensors as the results of an op.
pub fn values(tensors: Vec<Tensor>) -> Vec<RuntimeValue> {
    tensors.into_iter().map(RuntimeValue::Tensor).collect()
}

/// The first `count` tensors, and the rest.
///
/// # Errors
/// If there are fewer than `count`.
pub fn split_at(
    mut tensors: Vec<Tensor>,
    count: usize,
) -> Result<(Vec<Tensor>, Vec<Tensor>), EvalError> {
    if tensors.len() < count {
        return Err(EvalError::new(
            "operands",
            format!("expected at least {count} operands, found {}", tensors.len()),
        ));
    }
    let rest = tensors.split_off(count);
    Ok((tensors, rest))
}

/// The value of a boolean scalar.
///
/// # Errors
/// If it is another tensor.
pub fn boolean(tensor: &Tensor) -> Result<bool, EvalError> {
    Ok(tensor.item::<I1>()? == I1::from(true))
}

/// The values of a vector of sizes.
///
/// # Errors
/// If it holds no integers, or a negative one.
pub fn sizes(tensor: &Tensor) -> Result<Vec<usize>, EvalError> {
    let sizes: Option<Vec<usize>> =
        tensor.to_i64s()?.into_iter().map(|v| usize::try_from(v).ok()).collect();
    sizes.ok_or_else(|| EvalError::new("shape", "a size is negative"))
}

/// The elements from `starts` up to but without `limits`, by `strides`, one of each a dimension.
///
/// # Errors
/// If the lists do not fit the shape, or a stride is zero.
pub fn slice(
    operand: &Tensor,
    starts: &[usize],
    limits: &[usize],
    strides: &[usize],
) -> Result<Tensor, EvalError> {
    let rank = operand.rank();
    let valid = [starts.len(), limits.len(), strides.len()] == [rank; 3]
        && (0..rank)
            .all(|d| starts[d] <= limits[d] && limits[d] <= operand.shape()[d] && strides[d] > 0);
    if !valid {
        return Err(EvalError::new(
            "slice_c3",
            format!(
                "no slice of shape {:?} from {starts:?} to {limits:?} by {strides:?}",
                operand.shape()
            ),
        ));
    }
    let sizes: Vec<usize> =
        (0..rank).map(|d| (limits[d] - starts[d]).div_ceil(strides[d])).collect();
    let steps: Vec<isize> =
        strides.iter().map(|&s| isize::try_from(s).unwrap_or(isize::MAX)).collect();
    let view = StridedView::window(operand.shape(), starts, &sizes, &steps)?;
    Ok(operand.gather(&view)?)
}

/// Part `index` of `count` equal ones along a dimension.
///
/// # Errors
/// If the dimension cannot be split so.
pub fn part(
    tensor: &Tensor,
    dimension: usize,
    index: usize,
    count: usize,
) -> Result<Tensor, EvalError> {
    let size = tensor.shape().get(dimension).copied().unwrap_or(0);
    if count == 0 || size % count != 0 || index >= count {
        let message = format!(
            "dimension {dimension} of shape {:?} cannot be split into {count}",
            tensor.shape()
        );
        return Err(EvalError::new("split", message));
    }
    let (mut starts, mut limits) = (vec![0; tensor.rank()], tensor.shape().to_vec());
    starts[dimension] = index * (size / count);
    limits[dimension] = starts[dimension] + size / count;
    slice(tensor, &starts, &limits, &vec![1; tensor.rank()])
}
