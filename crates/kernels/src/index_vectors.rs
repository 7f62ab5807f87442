//! `gather` and `scatter`: windows of a tensor at positions given by index vectors.

use super::body::{Combiner, dispatch_operation, operation_type};
use super::sums::Combine;
use numerics::budget::{self, Scratch};
use numerics::math::element::integer;
use numerics::shape::{Indices, num_elements, strides};
use numerics::{DType, Element, Tensor, TensorError, math};
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

/// The windows of an operand that index vectors select.
#[derive(Debug)]
struct Windows {
    /// The type of the indices, and how many there are.
    index: (DType, usize),
    /// For each batch index in row-major order: the position of its index vector, and of the
    /// element that its batching dimensions select.
    vectors: Scratch<[usize; 2]>,
    /// The entries of an index vector.
    entries: Vec<Entry>,
    /// The shape of the indices without the dimension of the vectors.
    batch_shape: Vec<usize>,
}

/// An entry of index vectors: where a window starts along a dimension.
#[derive(Debug)]
struct Entry {
    /// The dimension of the operand, and its size.
    dimension: usize,
    size: usize,
    /// Indices before it in its vector.
    offset: usize,
    /// Elements between neighbours along the dimension.
    stride: usize,
    /// The last start from which the window fits.
    last: i64,
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
    /// The windows of some sizes that indices of a shape and type select in an operand.
    fn new(
        (indices, index): (&[usize], DType),
        operand: &[usize],
        window: &[usize],
        of: &IndexDims<'_>,
    ) -> Result<Windows, EvalError> {
        let rank = operand.len();
        let map = dims("index map", of.index_map, rank)?;
        let operand_batching =
            dims("batching dimensions of the operand", of.operand_batching, rank)?;
        let indices_batching =
            dims("batching dimensions of the indices", of.indices_batching, indices.len())?;
        let vector = dims("index_vector_dim", &[of.vector], indices.len() + 1)?[0];
        let mut shape = indices.to_vec();
        if vector == shape.len() {
            shape.push(1);
        }
        let mut batch_shape = shape.clone();
        let taken = [&map[..], &operand_batching].concat();
        if batch_shape.remove(vector) != map.len()
            || operand_batching.len() != indices_batching.len()
            || indices_batching.contains(&vector)
            || others(rank, &taken).len() + taken.len() != rank
        {
            return Err(mismatch("index vectors"));
        }
        if pick(operand, &operand_batching) != pick(indices, &indices_batching) {
            return Err(mismatch("sizes of batching dimensions"));
        }
        let operand_strides = strides(operand);
        let mut batch_strides = strides(&shape);
        let vector_stride = batch_strides.remove(vector);
        let entry = |(number, &dimension): (usize, &usize)| {
            let size = operand[dimension];
            let last = size as i64 - window[dimension] as i64;
            let (offset, stride) = (number * vector_stride, operand_strides[dimension]);
            Entry { dimension, size, offset, stride, last }
        };
        let entries = map.iter().enumerate().map(entry).collect();
        let mut vectors = Scratch::new(num_elements(&batch_shape).unwrap_or(usize::MAX))?;
        let mut batch = Indices::new(&batch_shape);
        while let Some(index) = batch.next_index() {
            let vector_at = index.iter().zip(&batch_strides).map(|(i, s)| i * s).sum();
            let selected = operand_batching.iter().zip(&indices_batching).map(|(&d, &b)| {
                // The batch index has no entry for the dimension of the vectors.
                index[b - usize::from(b > vector)] * operand_strides[d]
            });
            vectors.push([vector_at, selected.sum()]);
        }
        let indices = num_elements(indices).unwrap_or(0);
        Ok(Windows { index: (index, indices), vectors, entries, batch_shape })
    }
}

/// Evaluates an expression with `$read` bound to a function from the number of an index to the
/// index, which is compiled for the common types of indices.
macro_rules! with_indices {
    ($dtype:expr, $indices:expr, $read:ident => $body:expr) => {{
        let (dtype, indices): (DType, &[u8]) = ($dtype, $indices);
        let size = dtype.bytes();
        let misaligned = |_| TensorError::OutOfBounds;
        match dtype {
            DType::I32 => {
                let indices = bytemuck::try_cast_slice::<u8, i32>(indices).map_err(misaligned)?;
                let $read = |at: usize| Ok::<i64, TensorError>(i64::from(indices[at]));
                $body
            }
            DType::I64 => {
                let indices = bytemuck::try_cast_slice::<u8, i64>(indices).map_err(misaligned)?;
                let $read = |at: usize| Ok::<i64, TensorError>(indices[at]);
                $body
            }
            _ => {
                let $read = |at: usize| {
                    integer(dtype, &indices[at * size..][..size]).ok_or(TensorError::OutOfBounds)
                };
                $body
            }
        }
    }};
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
    let operands = (operand.shape(), operand.dtype());
    let indices = (start_indices.shape(), start_indices.dtype());
    let gather = Gather::new(operands, indices, numbers, slice_sizes)?;
    let mut result = Tensor::zeros(operand.dtype(), &gather.shape)?;
    gather.run(operand.bytes(), start_indices.bytes(), result.bytes_mut()?)?;
    Ok(result)
}

/// A [`gather`] of tensors of known types.
#[derive(Debug)]
pub struct Gather {
    windows: Windows,
    /// The bytes of an element.
    size: usize,
    /// Number of elements of the operand.
    elements: usize,
    /// The shape of the result.
    shape: Vec<usize>,
    /// Where the elements of each window go.
    targets: Scratch<usize>,
    /// Within a window: runs that are contiguous on both sides, and where they start.
    run: usize,
    from: Scratch<usize>,
    to: Scratch<usize>,
}

impl Gather {
    /// Prepares it for an operand and indices of these shapes and types.
    ///
    /// # Errors
    /// If the dimension numbers do not fit the shapes.
    pub fn new(
        (shape, dtype): (&[usize], DType),
        indices: (&[usize], DType),
        numbers: &GatherDims,
        slice_sizes: &[usize],
    ) -> Result<Gather, EvalError> {
        let rank = shape.len();
        if slice_sizes.len() != rank || slice_sizes.iter().zip(shape).any(|(size, dim)| size > dim)
        {
            return Err(EvalError::new(
                "gather_c21",
                format!("slices {slice_sizes:?} do not fit the shape {shape:?}"),
            ));
        }
        let windows = Windows::new(
            indices,
            shape,
            slice_sizes,
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
                "the result needs an element of each slice, but slices of sizes {slice_sizes:?} \
                 have none along the dropped dimension {d}"
            );
            return Err(EvalError::new("gather_c22", message));
        }
        let (operand_strides, result_strides) = (strides(shape), strides(&result_shape));
        let targets = positions(&windows.batch_shape, &pick(&result_strides, &batch_dims))?;
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
        Ok(Gather {
            windows,
            size: dtype.bytes(),
            elements: num_elements(shape).unwrap_or(0),
            shape: result_shape,
            targets,
            run,
            from,
            to,
        })
    }

    /// Computes it on the bytes of elements.
    ///
    /// # Errors
    /// If these are not those of tensors of the types and shapes.
    pub fn run(
        &self,
        operand: &[u8],
        indices: &[u8],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let (size, (index, count)) = (self.size, self.windows.index);
        if operand.len() != self.elements * size
            || indices.len() != count * index.bytes()
            || Some(result.len()) != num_elements(&self.shape).map(|count| count * size)
        {
            return Err(TensorError::OutOfBounds);
        }
        with_indices!(self.windows.index.0, indices, read => match self.run * size {
            1 => self.copy::<1>(operand, read, result),
            2 => self.copy::<2>(operand, read, result),
            4 => self.copy::<4>(operand, read, result),
            8 => self.copy::<8>(operand, read, result),
            _ => self.copy::<0>(operand, read, result),
        })
    }

    /// Copies runs of `N` bytes each, or of any number for 0.
    fn copy<const N: usize>(
        &self,
        operand: &[u8],
        read: impl Fn(usize) -> Result<i64, TensorError>,
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let Gather { windows, size, run, .. } = self;
        let bytes = if N == 0 { run * size } else { N };
        for (&[vector, selected], target) in windows.vectors.iter().zip(self.targets.iter()) {
            let mut source = selected;
            for entry in &windows.entries {
                let start = read(vector + entry.offset)?;
                source += start.clamp(0, entry.last) as usize * entry.stride;
            }
            for (from, to) in self.from.iter().zip(self.to.iter()) {
                let (from, to) = ((source + from) * size, (target + to) * size);
                result[to..to + bytes].copy_from_slice(&operand[from..from + bytes]);
            }
        }
        Ok(())
    }
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
    if inputs.iter().any(|t| t.shape() != input.shape())
        || updates.iter().any(|t| t.shape() != update.shape())
    {
        return Err(EvalError::new(
            "scatter_c1",
            "inputs must have one shape, and updates as well",
        ));
    }
    let indices = (scatter_indices.shape(), scatter_indices.dtype());
    let targets = Targets::new(input.shape(), indices, update.shape(), numbers)?;
    let targets = targets.find(scatter_indices.bytes(), whole_windows)?;
    let results = body.promote(0, inputs)?;
    let updates = body.promote(results.len(), updates)?;
    apply_updates(results, &targets, updates, body)
}

/// Where the elements of the updates of a scatter go, for known shapes.
#[derive(Debug)]
struct Targets {
    windows: Windows,
    /// Number of elements of the updates.
    updates: usize,
    /// Where the updates of each window are.
    batch_at: Scratch<usize>,
    /// The dimensions of the input that windows have, and their sizes.
    window_dims: Vec<usize>,
    window_sizes: Vec<usize>,
    /// Within a window: where each element is, and where it goes.
    window_at: Scratch<usize>,
    window_to: Scratch<usize>,
}

impl Targets {
    fn new(
        shape: &[usize],
        indices: (&[usize], DType),
        update_shape: &[usize],
        numbers: &ScatterDims,
    ) -> Result<Targets, EvalError> {
        let rank = shape.len();
        let dropped = [&numbers.inserted_window_dims[..], &numbers.input_batching_dims].concat();
        let window_dims = others(rank, &dims("inserted dimensions", &dropped, rank)?);
        let update_window_dims =
            dims("update_window_dims", &numbers.update_window_dims, update_shape.len())?;
        let update_batch_dims = others(update_shape.len(), &update_window_dims);
        let window_sizes = pick(update_shape, &update_window_dims);
        let too_large = |(&d, &size): (&usize, &usize)| size > shape[d];
        if window_dims.len() == window_sizes.len()
            && window_dims.iter().zip(&window_sizes).any(too_large)
        {
            return Err(EvalError::new("scatter_c4", "windows are larger than the inputs"));
        }
        let mut full_sizes = vec![1; rank];
        for (&d, &size) in window_dims.iter().zip(&window_sizes) {
            full_sizes[d] = size;
        }
        let windows = Windows::new(
            indices,
            shape,
            &full_sizes,
            &IndexDims {
                index_map: &numbers.scatter_dims_to_operand_dims,
                operand_batching: &numbers.input_batching_dims,
                indices_batching: &numbers.scatter_indices_batching_dims,
                vector: numbers.index_vector_dim,
            },
        )?;
        if update_window_dims.len() != window_dims.len()
            || pick(update_shape, &update_batch_dims) != windows.batch_shape
        {
            return Err(EvalError::new(
                "scatter_c4",
                "updates do not have the dimensions of windows and indices",
            ));
        }
        let (input_strides, update_strides) = (strides(shape), strides(update_shape));
        let batch_at = positions(&windows.batch_shape, &pick(&update_strides, &update_batch_dims))?;
        let window_at = positions(&window_sizes, &pick(&update_strides, &update_window_dims))?;
        let window_to = positions(&window_sizes, &pick(&input_strides, &window_dims))?;
        Ok(Targets {
            windows,
            updates: num_elements(update_shape).unwrap_or(0),
            batch_at,
            window_dims,
            window_sizes,
            window_at,
            window_to,
        })
    }

    /// The target of each element of the updates, or [`OUTSIDE`].
    fn find(&self, indices: &[u8], whole_windows: bool) -> Result<Scratch<usize>, TensorError> {
        let mut targets = Scratch::filled(self.updates, OUTSIDE)?;
        with_indices!(self.windows.index.0, indices, read => {
            self.find_with(read, whole_windows, &mut targets)
        })?;
        Ok(targets)
    }

    fn find_with(
        &self,
        read: impl Fn(usize) -> Result<i64, TensorError>,
        whole_windows: bool,
        targets: &mut [usize],
    ) -> Result<(), TensorError> {
        let Targets { windows, window_at, window_to, .. } = self;
        let mut starts = vec![0; windows.entries.len()];
        for (&[vector, selected], at) in windows.vectors.iter().zip(self.batch_at.iter()) {
            let (mut fits, mut base) = (true, selected as i64);
            for (start, entry) in starts.iter_mut().zip(&windows.entries) {
                *start = read(vector + entry.offset)?;
                fits &= (0..=entry.last).contains(start);
                base = base.wrapping_add(start.wrapping_mul(entry.stride as i64));
            }
            if fits {
                for (w, to) in window_at.iter().zip(window_to.iter()) {
                    targets[at + w] = base as usize + to;
                }
            } else if !whole_windows {
                self.find_inside(&starts, (*at, base), targets);
            }
        }
        Ok(())
    }

    /// The targets of those elements of a window that are inside of the input.
    fn find_inside(&self, starts: &[i64], (at, base): (usize, i64), targets: &mut [usize]) {
        let entries = || self.windows.entries.iter().zip(starts);
        let mut window = Indices::new(&self.window_sizes);
        let mut positions = self.window_at.iter().zip(self.window_to.iter());
        while let (Some(index), Some((w, &to))) = (window.next_index(), positions.next()) {
            let is_inside = entries().all(|(entry, start)| {
                let dimension = self.window_dims.iter().position(|&d| d == entry.dimension);
                let offset = dimension.map_or(0, |d| index[d]);
                let place = start.saturating_add(offset as i64);
                (0..entry.size as i64).contains(&place)
            });
            if is_inside {
                targets[at + w] = base.wrapping_add(to as i64) as usize;
            }
        }
    }
}

/// A [`scatter`] into one tensor of known type and shape, by a body that keeps the updates or
/// combines them by a common operation.
#[derive(Debug)]
pub struct Scatter {
    body: BodyShape,
    dtype: DType,
    /// Number of elements of the input.
    elements: usize,
    targets: Targets,
}

impl Scatter {
    /// Prepares it for an input, indices and updates of these shapes and types; `None` for other
    /// bodies, or if the elements have to be converted before.
    pub fn new(
        body: BodyShape,
        (shape, dtype): (&[usize], DType),
        indices: (&[usize], DType),
        updates: &[usize],
        numbers: &ScatterDims,
    ) -> Option<Scatter> {
        let targets = Targets::new(shape, indices, updates, numbers).ok()?;
        let elements = num_elements(shape)?;
        let scatter = Scatter { body, dtype, elements, targets };
        let is_common = match body {
            BodyShape::Values => true,
            BodyShape::Binary { op, .. } if operation_type(dtype) == dtype => dispatch_operation!(
                op, dtype, |T, f| { let _: &dyn Combine<T> = &f; true }, else false
            ),
            BodyShape::Binary { .. } | BodyShape::Block => false,
        };
        is_common.then_some(scatter)
    }

    /// Computes it on the bytes of elements.
    ///
    /// # Errors
    /// If these are not those of tensors of the types and shapes, or there is no memory for the
    /// places of updates.
    pub fn run(
        &self,
        [input, indices, updates]: [&[u8]; 3],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let (size, (index, count)) = (self.dtype.bytes(), self.targets.windows.index);
        if input.len() != self.elements * size
            || result.len() != input.len()
            || indices.len() != count * index.bytes()
            || updates.len() != self.targets.updates * size
        {
            return Err(TensorError::OutOfBounds);
        }
        result.copy_from_slice(input);
        if updates.is_empty() || input.is_empty() {
            return Ok(());
        }
        self.apply(&self.targets.find(indices, false)?, result, updates)
    }

    fn apply(
        &self,
        targets: &[usize],
        result: &mut [u8],
        updates: &[u8],
    ) -> Result<(), TensorError> {
        fn update<T: Element>(
            operation: &dyn Combine<T>,
            targets: &[usize],
            result: &mut [u8],
            updates: &[u8],
        ) -> Result<(), TensorError> {
            let misaligned = |_| TensorError::OutOfBounds;
            let elements = bytemuck::try_cast_slice_mut(result).map_err(misaligned)?;
            let updates = bytemuck::try_cast_slice(updates).map_err(misaligned)?;
            operation.merge_at(elements, targets, updates);
            Ok(())
        }
        let size = self.dtype.bytes();
        match self.body {
            BodyShape::Values => {
                for (&target, value) in targets.iter().zip(updates.chunks_exact(size)) {
                    if target != OUTSIDE {
                        result[target * size..][..size].copy_from_slice(value);
                    }
                }
                Ok(())
            }
            BodyShape::Binary { op, .. } => dispatch_operation!(
                op, self.dtype, |T, f| update::<T>(&f, targets, result, updates),
                else Err(TensorError::Unsupported { op: "a scatter", dtype: self.dtype })
            ),
            BodyShape::Block => {
                Err(TensorError::Unsupported { op: "a scatter", dtype: self.dtype })
            }
        }
    }
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
        operation.merge_at(result.make_mut::<T>()?, targets, updates.as_slice::<T>()?);
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
