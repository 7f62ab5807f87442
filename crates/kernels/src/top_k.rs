//! The largest or smallest elements along the last dimension.

use numerics::math::total_order_key;
use numerics::{I1, Integer, Tensor, TensorError, dispatch};
use program::EvalError;

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
    let indices = ranks(&order_keys(operand)?, size, k, largest);
    let mut shape = operand.shape().to_vec();
    shape.pop();
    shape.push(k);
    let positions: Vec<usize> =
        indices.iter().enumerate().map(|(i, &at)| i / k * size + at as usize).collect();
    let values = operand.take(&positions)?.into_shape(&shape)?;
    Ok([values, Tensor::from_vec(shape, indices)?])
}

/// Integers that are in the order of the elements.
fn order_keys(operand: &Tensor) -> Result<Vec<i64>, TensorError> {
    let dtype = operand.dtype();
    dispatch!(
        dtype,
        [float] T => Ok(operand.as_slice::<T>()?.iter().map(|&x| total_order_key(x)).collect()),
        else dispatch!(
            dtype,
            [integer] T => {
                let smallest = if dtype.is_signed() { 0 } else { i128::from(i64::MIN) };
                Ok(operand.as_slice::<T>()?.iter().map(|x| (x.to_i128() + smallest) as i64).collect())
            },
            else match operand.as_slice::<I1>() {
                Ok(elements) => Ok(elements.iter().map(|x| i64::from(x.get())).collect()),
                Err(_) => Err(TensorError::Unsupported { op: "top_k", dtype }),
            }
        )
    )
}

/// The indices of the first `k` elements of each row of `size` elements, in the order of their
/// keys.
fn ranks(keys: &[i64], size: usize, k: usize, largest: bool) -> Vec<i32> {
    let mut result = Vec::with_capacity(keys.len() / size.max(1) * k);
    for row in keys.chunks_exact(size.max(1)) {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&i, &j| if largest { row[j].cmp(&row[i]) } else { row[i].cmp(&row[j]) });
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
    fn the_ends_of_integers() {
        let indices = |x: Tensor| top_k(&x, 3, true).unwrap()[1].to_vec::<i32>().unwrap();
        assert_eq!(
            indices(Tensor::from_vec([3], vec![0, u64::MAX, u64::MAX - 1]).unwrap()),
            [1, 2, 0]
        );
        assert_eq!(indices(Tensor::from_vec([3], vec![0, i64::MIN, i64::MAX]).unwrap()), [2, 0, 1]);
        assert_eq!(
            indices(Tensor::from_vec([3], [false, true, false].map(I1::from).to_vec()).unwrap()),
            [1, 0, 2]
        );
        assert!(top_k(&Tensor::zeros(numerics::DType::C64, [3]).unwrap(), 3, true).is_err());
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
