//! Slices at positions that are data: `gather` and `scatter`.

use super::index::{positions, take};
use crate::attrs::{GatherDims, ScatterDims};
use mlir::eval::EvalError;
use numerics::Tensor;
use numerics::shape::strides;

/// Where each slice starts, for each position of the batch in row-major order; one entry a dimension of the operand.
fn starts(
    indices: &Tensor,
    index_vector_dim: usize,
    index_map: &[i64],
    operand_batching: &[i64],
    indices_batching: &[i64],
    rank: usize,
) -> Result<Vec<Vec<i64>>, EvalError> {
    let values = indices.to_i64s()?;
    let (shape, steps) = (indices.shape(), indices.strides());
    let batch: Vec<usize> = (0..shape.len()).filter(|&d| d != index_vector_dim).collect();
    let sizes: Vec<usize> = batch.iter().map(|&d| shape[d]).collect();
    let batch_strides: Vec<usize> = batch.iter().map(|&d| steps[d]).collect();
    let vector_stride = steps.get(index_vector_dim).copied().unwrap_or(1);
    let own_strides = strides(&sizes);
    let invalid = || EvalError::new("gather", "the dimension numbers do not fit the operands");
    let mut out = Vec::new();
    for (at, base) in positions(&batch_strides, &sizes).into_iter().enumerate() {
        let mut start = vec![0; rank];
        for (k, &d) in index_map.iter().enumerate() {
            let value = values.get(base + k * vector_stride).ok_or_else(invalid)?;
            *start.get_mut(d as usize).ok_or_else(invalid)? = *value;
        }
        for (&d, &from) in operand_batching.iter().zip(indices_batching) {
            // The batch dimensions of the indices are numbered with the index vector dimension counted.
            let k = batch.iter().position(|&b| b as i64 == from).ok_or_else(invalid)?;
            *start.get_mut(d as usize).ok_or_else(invalid)? = (at / own_strides[k] % sizes[k]) as i64;
        }
        out.push(start);
    }
    Ok(out)
}

/// `gather`: source: specification, section "gather".
///
/// # Errors
/// Dimension numbers that do not fit the operands.
pub fn gather(
    operand: &Tensor,
    indices: &Tensor,
    dims: GatherDims<'_>,
    slice_sizes: &[usize],
) -> Result<Tensor, EvalError> {
    let rank = operand.rank();
    let index_vector_dim = usize::try_from(dims.index_vector_dim).unwrap_or(usize::MAX);
    let (map, batching) = (dims.start_index_map, dims.operand_batching_dims);
    let starts = starts(indices, index_vector_dim, map, batching, dims.start_indices_batching_dims, rank)?;
    if slice_sizes.len() != rank || slice_sizes.iter().zip(operand.shape()).any(|(slice, size)| slice > size) {
        return Err(EvalError::new("gather_c8", "the slices are larger than the operand"));
    }
    let steps = operand.strides();
    let dropped = |d: &usize| {
        dims.collapsed_slice_dims.contains(&(*d as i64)) || dims.operand_batching_dims.contains(&(*d as i64))
    };
    let offsets: Vec<usize> = (0..rank).filter(|d| !dropped(d)).collect();
    let offset_sizes: Vec<usize> = offsets.iter().map(|&d| slice_sizes[d]).collect();
    let offset_strides: Vec<usize> = offsets.iter().map(|&d| steps[d]).collect();

    // Where batch and offset dimensions stand in the result.
    let mut batch_sizes = (0..indices.rank()).filter(|&d| d != index_vector_dim).map(|d| indices.shape()[d]);
    let result_rank = dims.offset_dims.len() + indices.rank() - usize::from(index_vector_dim < indices.rank());
    let mut shape = Vec::with_capacity(result_rank);
    let mut next_offset = offset_sizes.iter();
    for d in 0..result_rank {
        let is_offset = dims.offset_dims.contains(&(d as i64));
        let size = if is_offset { next_offset.next().copied() } else { batch_sizes.next() };
        shape.push(size.ok_or_else(|| EvalError::new("gather_c2", "the result has more dimensions than its parts"))?);
    }
    let result_strides = strides(&shape);
    let part = |offset: bool| {
        let chosen = (0..result_rank).filter(|&d| dims.offset_dims.contains(&(d as i64)) == offset);
        let (s, n): (Vec<usize>, Vec<usize>) = chosen.map(|d| (result_strides[d], shape[d])).unzip();
        positions(&s, &n)
    };
    let (to_batch, to_offset) = (part(false), part(true));
    let from_offset = positions(&offset_strides, &offset_sizes);
    let mut source = vec![0; to_batch.len() * to_offset.len()];
    for (start, to) in starts.iter().zip(&to_batch) {
        let clamped = (0..rank).map(|d| {
            let last = (operand.shape()[d] - slice_sizes[d]) as i64;
            start[d].clamp(0, last) as usize * steps[d]
        });
        let base: usize = clamped.sum();
        for (offset, from) in to_offset.iter().zip(&from_offset) {
            source[to + offset] = base + from;
        }
    }
    Ok(take(operand, &source)?.into_shape(shape)?)
}

/// For each element of the updates in row-major order: its row-major position in the result of `scatter`, none if that is out of
/// bounds. Source: specification, section "scatter".
///
/// # Errors
/// Dimension numbers that do not fit the operands.
pub fn scatter_targets(
    input_shape: &[usize],
    indices: &Tensor,
    update_shape: &[usize],
    dims: ScatterDims<'_>,
) -> Result<Vec<Option<usize>>, EvalError> {
    let rank = input_shape.len();
    let invalid = || EvalError::new("scatter", "the dimension numbers do not fit the operands");
    let index_vector_dim = usize::try_from(dims.index_vector_dim).unwrap_or(usize::MAX);
    let (map, batching) = (dims.scatter_dims_to_operand_dims, dims.input_batching_dims);
    let starts = starts(indices, index_vector_dim, map, batching, dims.scatter_indices_batching_dims, rank)?;
    let dropped =
        |d: &usize| dims.inserted_window_dims.contains(&(*d as i64)) || dims.input_batching_dims.contains(&(*d as i64));
    let window: Vec<usize> = (0..rank).filter(|d| !dropped(d)).collect();
    if window.len() != dims.update_window_dims.len() {
        return Err(invalid());
    }
    let update_strides = strides(update_shape);
    let part = |in_window: bool| {
        let chosen = (0..update_shape.len()).filter(|&d| dims.update_window_dims.contains(&(d as i64)) == in_window);
        let (s, n): (Vec<usize>, Vec<usize>) = chosen.map(|d| (update_strides[d], update_shape[d])).unzip();
        (positions(&s, &n), n)
    };
    let ((at_scatter, _), (at_window, window_sizes)) = (part(false), part(true));
    if at_scatter.len() != starts.len() {
        return Err(invalid());
    }
    let window_strides = strides(&window_sizes);
    let steps = strides(input_shape);
    let mut targets = vec![None; at_scatter.len() * at_window.len()];
    for (start, from) in starts.iter().zip(&at_scatter) {
        for (k, offset) in at_window.iter().enumerate() {
            let mut index = start.clone();
            for (w, &d) in window.iter().enumerate() {
                index[d] = index[d].saturating_add((k / window_strides[w] % window_sizes[w]) as i64);
            }
            let within = index.iter().zip(input_shape).all(|(&i, &size)| i >= 0 && (i as u64) < size as u64);
            if within {
                targets[from + offset] = Some(index.iter().zip(&steps).map(|(&i, step)| i as usize * step).sum());
            }
        }
    }
    Ok(targets)
}
