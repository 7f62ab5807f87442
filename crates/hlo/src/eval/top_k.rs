//! The largest or smallest elements along the last dimension.

use mlir::eval::EvalError;
use numerics::math::total_order_key;
use numerics::{Tensor, TensorError, dispatch};
use std::cmp::Ordering;

/// The `k` largest elements along the last dimension, or the smallest, in order, and their indices there as `i32`. Floats
/// are in their total order; of equal elements the first comes first.
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
    let dtype = operand.dtype();
    let indices = dispatch!(
        dtype,
        [float] T => ranks(operand.as_slice::<T>()?, size, k, largest, |a, b| total_order_key(a).cmp(&total_order_key(b))),
        else dispatch!(
            dtype,
            [boolean, integer] T => ranks(operand.as_slice::<T>()?, size, k, largest, |a, b| a.cmp(&b)),
            else return Err(TensorError::Unsupported { op: "top_k", dtype }.into())
        )
    );
    let mut shape = operand.shape().to_vec();
    shape.pop();
    shape.push(k);
    let positions: Vec<usize> = indices.iter().enumerate().map(|(i, &at)| i / k * size + at as usize).collect();
    let values = super::take(operand, &positions)?.into_shape(&shape)?;
    Ok([values, Tensor::from_vec(shape, indices)?])
}

/// The indices of the first `k` elements of each row of `size` elements in the given order.
fn ranks<T: Copy>(
    elements: &[T],
    size: usize,
    k: usize,
    largest: bool,
    compare: impl Fn(T, T) -> Ordering,
) -> Vec<i32> {
    let mut result = Vec::with_capacity(elements.len() / size.max(1) * k);
    for row in elements.chunks_exact(size.max(1)) {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&i, &j| if largest { compare(row[j], row[i]) } else { compare(row[i], row[j]) });
        // The size of a row fits i32.
        result.extend(order[..k].iter().map(|&i| i as i32));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_in_total_order() {
        let x = [1.0, f32::NAN, 3.0, -0.0, 0.0, f32::INFINITY, 3.0];
        let x = Tensor::from_vec([1, 7], x.to_vec()).unwrap();
        let [_, indices] = top_k(&x, 7, true).unwrap();
        assert_eq!(indices, Tensor::from_vec([1, 7], vec![1, 5, 2, 6, 0, 4, 3]).unwrap());
        assert!(top_k(&x, 8, true).is_err());
    }

    #[test]
    fn rows_and_directions() {
        let x = Tensor::from_vec([2, 3], vec![3u8, 1, 2, 5, 255, 5]).unwrap();
        let [values, indices] = top_k(&x, 2, true).unwrap();
        assert_eq!(values, Tensor::from_vec([2, 2], vec![3u8, 2, 255, 5]).unwrap());
        assert_eq!(indices, Tensor::from_vec([2, 2], vec![0, 2, 1, 0]).unwrap());
        let [values, _] = top_k(&x, 1, false).unwrap();
        assert_eq!(values, Tensor::from_vec([2, 1], vec![1u8, 5]).unwrap());
        let [values, _] = top_k(&x, 0, false).unwrap();
        assert_eq!(values.shape(), [2, 0]);
    }
}
