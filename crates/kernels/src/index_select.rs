//! `torch_index_select`: slices along a dimension at indices.

use numerics::Tensor;
use numerics::shape::{Indices, num_elements, strides};
use program::EvalError;

/// The element at `(b, i, k, j)` is that of `operand` at `(b, i, index[b, k], j)`: `b` are
/// `batch_dims` dimensions, `i` the ones up to `dimension`. Indices out of range are clamped, as in
/// `gather`.
///
/// # Errors
/// If the shapes do not fit, or the result is too large.
pub(crate) fn index_select(
    operand: &Tensor,
    index: &Tensor,
    dimension: usize,
    batch_dims: usize,
) -> Result<Tensor, EvalError> {
    let too_large = || EvalError::new("torch_index_select", "the result is too large");
    let (sizes, index_sizes) = (operand.shape(), index.shape());
    if batch_dims > dimension || sizes[..batch_dims] != index_sizes[..batch_dims] {
        let message = format!(
            "{batch_dims} batch dimensions and dimension {dimension} do not fit {sizes:?} and \
             {index_sizes:?}"
        );
        return Err(EvalError::new("torch_index_select", message));
    }
    let chosen = index.to_i64s()?;
    let index_steps = strides(index_sizes);
    let kept = index.rank() - batch_dims;
    let shape = [&sizes[..dimension], &index_sizes[batch_dims..], &sizes[dimension + 1..]].concat();
    let last = sizes[dimension] as i64 - 1;
    let count = num_elements(&shape).ok_or_else(too_large)?;
    if count == 0 || last < 0 {
        return Ok(Tensor::zeros(operand.dtype(), &shape)?);
    }
    let steps = strides(sizes);
    let mut places = Vec::new();
    places.try_reserve_exact(count).map_err(|_| too_large())?;
    let mut positions = Indices::new(&shape);
    while let Some(at) = positions.next_index() {
        let (before, rest) = at.split_at(dimension);
        let (within, after) = rest.split_at(kept);
        let from = before[..batch_dims].iter().chain(within).zip(&index_steps);
        let from = from.map(|(i, step)| i * step).sum::<usize>();
        let row = chosen[from].clamp(0, last) as usize;
        let whole = before.iter().chain([&row]).chain(after);
        places.push(whole.zip(&steps).map(|(i, step)| i * step).sum());
    }
    Ok(operand.take(&places)?.into_shape(&shape)?)
}
