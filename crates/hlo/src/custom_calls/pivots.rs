//! The permutation that the pivots of an LU decomposition mean, as JAX computes it on GPU.

use crate::prepare;
use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer, native};
use numerics::Tensor;
use program::{EvalError, operands};

/// `cu_lu_pivots_to_permutation`, `hip_lu_pivots_to_permutation`: the permutation has as many
/// elements as the result.
pub(super) fn to_permutation(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let shape = prepare::expect_static(op, 0)?;
    let size = shape.last().copied().unwrap_or(0);
    native(op, move |operands| {
        let [pivots] = operands::tensors(operands)?;
        Ok(vec![permutation(&pivots, size)?.into()])
    })
}

/// The permutations of `size` rows that exchange row `i` and row `pivots[i]`, in sequence.
///
/// # Errors
/// If a pivot is no row.
pub(super) fn permutation(pivots: &Tensor, size: usize) -> Result<Tensor, EvalError> {
    let mut shape = pivots.shape().to_vec();
    let Some(steps) = shape.last_mut().map(|last| std::mem::replace(last, size)) else {
        return Err(EvalError::new("custom_call", "pivots must have a dimension"));
    };
    let invalid = || EvalError::new("custom_call", format!("a pivot is none of {size} rows"));
    let batch: usize = shape.iter().rev().skip(1).product();
    let order: Vec<i32> = (0..i32::try_from(size).map_err(|_| invalid())?).collect();
    let values = pivots.to_i64s()?;
    let mut permutations = Vec::new();
    for number in 0..batch {
        let mut order = order.clone();
        for (row, &pivot) in values[number * steps..][..steps].iter().enumerate() {
            let pivot = usize::try_from(pivot).ok().filter(|&pivot| pivot < size);
            let pivot = pivot.filter(|_| row < size).ok_or_else(invalid)?;
            order.swap(row, pivot);
        }
        permutations.extend(order);
    }
    Ok(Tensor::from_vec(shape, permutations)?)
}
