//! `gather` and `scatter`: windows of a tensor at positions given by index vectors.

use super::body::{Combiner, dispatch_operation, operation_type};
use super::sums::Combine;
use numerics::budget::{self, Scratch};
use numerics::shape::{Indices, num_elements, strides};
use numerics::{Element, Tensor, TensorError, dispatch_all, math};
use program::{BodyShape, EvalError, GatherDims, ScatterDims};

/// Marks an element of the updates that falls outside of the result.
const OUTSIDE: usize = usize::MAX;

/// The values of a list of dimensions, after a check against `rank`.
fn dims(name: &str, values: &[i64], rank: usize) -> Result<Vec<usize>, EvalError> {
    let dim = |&v: &i64| usize::try_from(v).ok().filter(|&d| d < rank);
    let all: Option<Vec<usize>> = values.iter().map(dim).collect();
    all.ok_or_else(|| {
        EvalError::new(
            "dimension_numbers",
            format!("{name} {values:?} does not fit a rank of {rank}"),
        )
    })
}

fn mismatch(what: &str) -> EvalError {
    EvalError::new("dimension_numbers", format!("{what} do not fit the shapes of the operands"))
}

/// The windows of an operand that index vectors select, before bounds are looked at.
struct Windows {
    /// For each batch index in row-major order, the start of its window: one entry an operand
    /// dimension.
    starts: Scratch<i64>,
    /// The shape of `indices` without the dimension of the vectors.
    batch_shape: Vec<usize>,
}

/// Which dimensions index vectors are about.
struct IndexDims<'a> {
    /// The operand dimension of each entry of an index vector.
    index_map: &'a [i64],
    /// Dimensions of the operand that go with those of the indices.
    operand_batching: &'a [i64],
    /// Dimensions of the indices that go with those of the operand.
    indices_batching: &'a [i64],
    /// The dimension of the indices along which the vectors lie; the rank for vectors of one entry.
    vector: i64,
}

impl Windows {
    /// The windows that `indices` select in an operand of that shape.
    fn new(indices: &Tensor, operand: &[usize], of: &IndexDims<'_>) -> Result<Windows, EvalError> {
        let rank = operand.len();
        let map = dims("index map", of.index_map, rank)?;
        let operand_batching =
            dims("batching dimensions of the operand", of.operand_batching, rank)?;
        let indices_batching =
            dims("batching dimensions of the indices", of.indices_batching, indices.rank())?;
        let vector = dims("index_vector_dim", &[of.vector], indices.rank() + 1)?[0];
        let mut shape = indices.shape().to_vec();
        if vector == shape.len() {
            shape.push(1);
        }
        let mut batch_shape = shape.clone();
        if batch_shape.remove(vector) != map.len()
            || operand_batching.len() != indices_batching.len()
            || indices_batching.contains(&vector)
        {
            return Err(mismatch("index vectors"));
        }
        if pick(operand, &operand_batching) != pick(indices.shape(), &indices_batching) {
            return Err(mismatch("sizes of batching dimensions"));
        }
        let _reserved = budget::reserve::<i64>(indices.num_elements())?;
        let values = indices.to_i64s()?;
        let (batch_strides, vector_stride) = {
            let mut all = strides(&shape);
            let own = all.remove(vector);
            (all, own)
        };
        let count = num_elements(&batch_shape).unwrap_or(0);
        let mut starts = Scratch::filled(count.saturating_mul(rank), 0i64)?;
        let mut batch = Indices::new(&batch_shape);
        let mut rows = starts.chunks_exact_mut(rank.max(1));
        while let (Some(index), Some(start)) = (batch.next_index(), rows.next()) {
            let at: usize = index.iter().zip(&batch_strides).map(|(i, s)| i * s).sum();
            for (entry, &d) in map.iter().enumerate() {
                start[d] = values[at + entry * vector_stride];
            }
            for (&d, &b) in operand_batching.iter().zip(&indices_batching) {
                start[d] = index[b - usize::from(b > vector)] as i64;
            }
        }
        Ok(Windows { starts, batch_shape })
    }
}

/// Row-major positions of all indices of `sizes` in memory with the strides `strides`.
///
/// # Errors
/// If there is no memory for them.
fn positions(sizes: &[usize], strides: &[usize]) -> Result<Scratch<usize>, TensorError> {
    let mut all = Scratch::new(num_elements(sizes).unwrap_or(usize::MAX))?;
    let mut indices = Indices::new(sizes);
    while let Some(index) = indices.next_index() {
        all.push(index.iter().zip(strides).map(|(i, s)| i * s).sum());
    }
    Ok(all)
}

/// The dimensions of `0..rank` that are not in `taken`.
fn others(rank: usize, taken: &[usize]) -> Vec<usize> {
    (0..rank).filter(|d| !taken.contains(d)).collect()
}

fn pick(values: &[usize], at: &[usize]) -> Vec<usize> {
    at.iter().map(|&d| values[d]).collect()
}

/// Windows of `operand` of sizes `slice_sizes`, moved inwards where they would stick out.
///
/// # Errors
/// If the dimension numbers do not fit the shapes.
pub fn gather(
    operand: &Tensor,
    start_indices: &Tensor,
    numbers: &GatherDims,
    slice_sizes: &[usize],
) -> Result<Tensor, EvalError> {
    let (shape, rank) = (operand.shape(), operand.rank());
    if slice_sizes.len() != rank || slice_sizes.iter().zip(shape).any(|(size, dim)| size > dim) {
        return Err(EvalError::new(
            "gather_c21",
            format!("slices {slice_sizes:?} do not fit the shape {shape:?}"),
        ));
    }
    let windows = Windows::new(
        start_indices,
        shape,
        &IndexDims {
            index_map: &numbers.start_index_map,
            operand_batching: &numbers.operand_batching_dims,
            indices_batching: &numbers.start_indices_batching_dims,
            vector: numbers.index_vector_dim,
        },
    )?;
    let dropped = [&numbers.collapsed_slice_dims[..], &numbers.operand_batching_dims].concat();
    let dropped = dims("collapsed dimensions", &dropped, rank)?;
    let window_dims = others(rank, &dropped);
    let result_rank = windows.batch_shape.len() + window_dims.len();
    let offset_dims = dims("offset_dims", &numbers.offset_dims, result_rank)?;
    let batch_dims = others(result_rank, &offset_dims);
    if offset_dims.len() != window_dims.len() || batch_dims.len() != windows.batch_shape.len() {
        return Err(mismatch("offset dimensions"));
    }
    let mut result_shape = vec![0; result_rank];
    for (&at, &d) in offset_dims.iter().zip(&window_dims) {
        result_shape[at] = slice_sizes[d];
    }
    for (&at, &size) in batch_dims.iter().zip(&windows.batch_shape) {
        result_shape[at] = size;
    }
    let count = num_elements(&result_shape).ok_or_else(|| mismatch("sizes"))?;
    // The result has no dimension for these, so an element for a slice without any.
    if let Some(d) = dropped.iter().find(|&&d| slice_sizes[d] == 0 && count > 0) {
        let message = format!(
            "the result needs an element of each slice, but slices of sizes {slice_sizes:?} have \
             none along the dropped dimension {d}"
        );
        return Err(EvalError::new("gather_c22", message));
    }
    let (operand_strides, result_strides) = (strides(shape), strides(&result_shape));
    let starts = windows.starts.chunks_exact(rank.max(1)).map(|start| {
        let last = |d: usize| (shape[d] - slice_sizes[d]) as i64;
        start
            .iter()
            .enumerate()
            .take(rank)
            .map(|(d, &i)| i.clamp(0, last(d)) as usize * operand_strides[d])
            .sum::<usize>()
    });
    let targets = positions(&windows.batch_shape, &pick(&result_strides, &batch_dims))?;
    let mut sources: Scratch<usize> = Scratch::new(targets.len())?;
    sources.extend(starts);
    // Without dimensions there is one place to start at.
    sources.resize(targets.len(), 0);

    // Within a window: runs that are contiguous on both sides, and where they start.
    let (mut sizes, mut from) =
        (pick(slice_sizes, &window_dims), pick(&operand_strides, &window_dims));
    let mut to = pick(&result_strides, &offset_dims);
    let mut run = 1;
    while let (Some(&size), Some(&f), Some(&t)) = (sizes.last(), from.last(), to.last()) {
        if (f != run || t != run) && size != 1 {
            break;
        }
        run *= size;
        sizes.pop();
        from.pop();
        to.pop();
    }
    let (from, to) = (positions(&sizes, &from)?, positions(&sizes, &to)?);
    Ok(dispatch_all!(operand.dtype(), T => {
        let source = operand.as_slice::<T>()?;
        let mut result = Tensor::zeros(operand.dtype(), &result_shape)?;
        let target = result.make_mut::<T>()?;
        debug_assert_eq!(target.len(), count);
        for (&source_base, &target_base) in sources.iter().zip(targets.iter()) {
            for (&f, &t) in from.iter().zip(to.iter()) {
                let (f, t) = (source_base + f, target_base + t);
                if run == 1 {
                    target[t] = source[f];
                } else {
                    target[t..t + run].copy_from_slice(&source[f..f + run]);
                }
            }
        }
        result
    }))
}

/// `inputs` with the elements of `updates` combined into them at `scatter_indices`; out-of-bounds
/// elements are skipped, with `whole_windows` all those of a window that is partly outside. Updates
/// are applied in row-major order of their index.
///
/// # Errors
/// If the dimension numbers do not fit the shapes, or the body fails.
pub fn scatter(
    inputs: Vec<Tensor>,
    scatter_indices: &Tensor,
    updates: Vec<Tensor>,
    numbers: &ScatterDims,
    whole_windows: bool,
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    let (Some(input), Some(update)) = (inputs.first(), updates.first()) else { return Ok(inputs) };
    let (shape, rank) = (input.shape().to_vec(), input.rank());
    let update_shape = update.shape().to_vec();
    if inputs.iter().any(|t| t.shape() != shape)
        || updates.iter().any(|t| t.shape() != update_shape)
    {
        return Err(EvalError::new(
            "scatter_c1",
            "inputs must have one shape, and updates as well",
        ));
    }
    let windows = Windows::new(
        scatter_indices,
        &shape,
        &IndexDims {
            index_map: &numbers.scatter_dims_to_operand_dims,
            operand_batching: &numbers.input_batching_dims,
            indices_batching: &numbers.scatter_indices_batching_dims,
            vector: numbers.index_vector_dim,
        },
    )?;
    let dropped = [&numbers.inserted_window_dims[..], &numbers.input_batching_dims].concat();
    let window_dims = others(rank, &dims("inserted dimensions", &dropped, rank)?);
    let update_window_dims =
        dims("update_window_dims", &numbers.update_window_dims, update_shape.len())?;
    let update_batch_dims = others(update_shape.len(), &update_window_dims);
    if update_window_dims.len() != window_dims.len()
        || pick(&update_shape, &update_batch_dims) != windows.batch_shape
    {
        return Err(EvalError::new(
            "scatter_c4",
            "updates do not have the dimensions of windows and indices",
        ));
    }
    let window_sizes = pick(&update_shape, &update_window_dims);
    if window_dims.iter().zip(&window_sizes).any(|(&d, &size)| size > shape[d]) {
        return Err(EvalError::new("scatter_c4", "windows are larger than the inputs"));
    }

    let (input_strides, update_strides) = (strides(&shape), strides(&update_shape));
    let batch_at = positions(&windows.batch_shape, &pick(&update_strides, &update_batch_dims))?;
    let window_at = positions(&window_sizes, &pick(&update_strides, &update_window_dims))?;
    let window_to = positions(&window_sizes, &pick(&input_strides, &window_dims))?;
    let mut targets = Scratch::filled(update.num_elements(), OUTSIDE)?;
    let mut full_sizes = vec![1; rank];
    for (&d, &size) in window_dims.iter().zip(&window_sizes) {
        full_sizes[d] = size;
    }
    let empty = [];
    let mut starts = windows.starts.chunks_exact(rank.max(1));
    for &at in batch_at.iter() {
        let start = starts.next().unwrap_or(&empty);
        let fits = |d: usize| start[d] >= 0 && start[d] <= (shape[d] - full_sizes[d]) as i64;
        if (0..rank).all(|d| full_sizes[d] <= shape[d] && fits(d)) {
            let base: usize = start.iter().zip(&input_strides).map(|(&i, s)| i as usize * s).sum();
            for (&w, &to) in window_at.iter().zip(window_to.iter()) {
                targets[at + w] = base + to;
            }
            continue;
        }
        if whole_windows {
            continue;
        }
        let mut window = Indices::new(&window_sizes);
        let mut positions = window_at.iter();
        while let (Some(index), Some(&w)) = (window.next_index(), positions.next()) {
            let mut full = start.to_vec();
            for (&d, &i) in window_dims.iter().zip(index) {
                full[d] = full[d].saturating_add(i as i64);
            }
            if full.iter().zip(&shape).all(|(&i, &size)| i >= 0 && (i as u64) < size as u64) {
                targets[at + w] =
                    full.iter().zip(&input_strides).map(|(&i, s)| i as usize * s).sum();
            }
        }
    }
    let results = body.promote(0, inputs)?;
    let updates = body.promote(results.len(), updates)?;
    apply_updates(results, &targets, updates, body)
}

/// Combines each element of `updates` into the element of `results` at its target, in order. A
/// target outside of the results skips the update.
///
/// # Errors
/// If element types do not fit, or the body fails.
pub fn apply_updates(
    mut results: Vec<Tensor>,
    targets: &[usize],
    updates: Vec<Tensor>,
    body: &mut Combiner<'_>,
) -> Result<Vec<Tensor>, EvalError> {
    fn update<T: Element>(
        operation: &dyn Combine<T>,
        result: &mut Tensor,
        targets: &[usize],
        updates: &Tensor,
    ) -> Result<bool, TensorError> {
        let (updates, elements) = (updates.as_slice::<T>()?, result.make_mut::<T>()?);
        for (&target, &value) in targets.iter().zip(updates) {
            if let Some(element) = elements.get_mut(target) {
                *element = operation.pair(*element, value);
            }
        }
        Ok(true)
    }
    if body.shape == BodyShape::Values {
        for (result, updates) in results.iter_mut().zip(&updates) {
            result.put(targets, updates)?;
        }
        return Ok(results);
    }
    if let (BodyShape::Binary { op, .. }, [result], [updates]) =
        (body.shape, &results[..], &updates[..])
    {
        let dtype = result.dtype();
        let wide = operation_type(dtype);
        let updates = math::convert(updates.clone(), wide)?;
        let convert = |results: Vec<Tensor>, dtype| -> Result<Vec<Tensor>, TensorError> {
            results.into_iter().map(|t| math::convert(t, dtype)).collect()
        };
        results = convert(results, wide)?;
        let done = dispatch_operation!(
            op, wide, |T, f| update::<T>(&f, &mut results[0], targets, &updates), else Ok(false)
        )?;
        results = convert(results, dtype)?;
        if done {
            return Ok(results);
        }
    }
    // In rounds: each has at most one update per element, so that its updates can be applied
    // together.
    let len = results.first().map_or(0, Tensor::num_elements);
    let _reserved = budget::reserve::<usize>(len.saturating_add(targets.len().saturating_mul(2)))?;
    for round in rounds(targets, len) {
        let elements: Vec<usize> = round.iter().map(|&u| targets[u]).collect();
        let current = results.iter().map(|t| t.take(&elements)).collect::<Result<Vec<_>, _>>()?;
        let values = updates.iter().map(|t| t.take(&round)).collect::<Result<Vec<_>, _>>()?;
        let combined = body.combine(round.len(), current, values)?;
        for (result, combined) in results.iter_mut().zip(&combined) {
            result.put(&elements, combined)?;
        }
    }
    Ok(results)
}

/// The updates that are inside, those in round `n` being the `n`th of their targets.
fn rounds(targets: &[usize], len: usize) -> Vec<Vec<usize>> {
    let mut seen = vec![0usize; len];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for (update, &target) in targets.iter().enumerate() {
        let Some(seen) = seen.get_mut(target) else { continue };
        if *seen == rounds.len() {
            rounds.push(Vec::new());
        }
        rounds[*seen].push(update);
        *seen += 1;
    }
    rounds
}
