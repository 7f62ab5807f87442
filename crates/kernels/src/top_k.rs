//! The largest or smallest elements along the last dimension.

use crate::order::{self, Keys, TensorLines, permuted};
use numerics::{Tensor, TensorError};
use program::{Canonical, EvalError, SortKey};

/// The `k` largest elements along the last dimension, or the smallest, in order, and their indices
/// there as `i32`. Floats are in their total order; equal elements keep their order.
///
/// # Errors
/// If the last dimension has less than `k` elements, or the elements have no order.
pub fn top_k(operand: &Tensor, k: usize, largest: bool) -> Result<[Tensor; 2], EvalError> {
    let size = match operand.shape().last() {
        Some(&size) if k <= size && i32::try_from(size).is_ok() => size,
        _ => {
            return Err(EvalError::new(
                "top_k",
                format!("no {k} elements along the last dimension of {:?}", operand.shape()),
            ));
        }
    };
    // All elements if their dimension is empty, as is the result then.
    let rows = TensorLines { count: operand.num_elements() / size.max(1), size, stride: 1 };
    let key = SortKey {
        input: 0,
        part: None,
        descending: largest,
        total_order: true,
        canonical: Canonical::default(),
    };
    let unordered = TensorError::Unsupported { op: "top_k", dtype: operand.dtype() };
    let keys = Keys::of(operand, &key)?.ok_or(unordered)?;
    let indices = order::ranks(&[keys], rows, k)?;
    let mut shape = operand.shape().to_vec();
    shape.pop();
    shape.push(k);
    let values = permuted(operand, &shape, rows, &indices)?;
    // The size of a row fits i32.
    let indices = indices.into_iter().map(|i| i as i32).collect();
    Ok([values, Tensor::from_vec(shape, indices)?])
}
