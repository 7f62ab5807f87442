//! `scatter`: updates of windows of a tensor at positions given by index vectors.

use super::body::Combiner;
use super::index_vectors::{
    IndexDims, IndexEntry, IndexedWindows, dims, equal_steps, others, pick, positions, with_indices,
};
use super::kernel::{Form, Kernel, expect_bytes};
use super::operations::{CombineBits, on_bits, operation, operation_type};
use super::prepare::MAX_TABLES;
use super::sums::Combine;
use numerics::budget::{self, Scratch};
use numerics::math::BinaryOp;
use numerics::math::element::integer;
use numerics::shape::{Indices, num_elements, strides};
use numerics::simd::{self, Isa};
use numerics::{DType, Element, Tensor, TensorError, math};
use program::primitives::ScatterDims;
use program::{BodyShape, EvalError};
use std::ops::Range;

/// Marks an element of the updates that falls outside of the result.
const OUTSIDE: usize = usize::MAX;
/// Updates are combined at a time where at least this many are neighbours.
const MIN_RUN: usize = 8;

/// `inputs` with the elements of `updates` combined into them at `scatter_indices`; out-of-bounds
/// elements are skipped, with `whole_windows` all elements of a window that is partly outside.
/// Updates are applied in row-major order of their index.
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
    let targets = Targets::new(input.shape(), indices, update.shape(), numbers, usize::MAX)?;
    let targets = targets.find(scatter_indices.bytes(), whole_windows)?;
    let results = body.promote(0, inputs)?;
    let updates = body.promote(results.len(), updates)?;
    apply_updates(results, &targets, updates, body)
}

/// Where the elements of the updates of a scatter go, for known shapes.
#[derive(Debug)]
pub struct Targets {
    windows: IndexedWindows,
    /// Number of elements of the updates.
    updates: usize,
    /// Number of windows.
    count: usize,
    /// Where the updates of each window are.
    batch_at: Scratch<usize>,
    /// The distance between neighbouring index vectors, if windows are rows and that is always the
    /// same. Then there are no lists of vectors and of where updates are.
    step: Option<usize>,
    /// The dimensions of the input that windows have, and their sizes.
    window_dims: Vec<usize>,
    window_sizes: Vec<usize>,
    /// Within a window: where each element is, and where it goes.
    window_at: Scratch<usize>,
    window_to: Scratch<usize>,
    /// This many elements of a window are neighbours in updates and input, again and again.
    pub run: usize,
    /// The elements of a window if these are neighbours in updates and input, the updates are in
    /// the order of windows, and a window is inside or outside as a whole.
    pub row: Option<usize>,
    /// Each index vector is one index, of at most 32 bits if it is inside, and they are in the
    /// order of windows.
    are_in_order: bool,
}

/// The length of the runs of neighbours, all of the same length, that positions consist of.
pub fn run_length(positions: [&[usize]; 2]) -> usize {
    let [first, second] = positions;
    let follows = |i: usize| first[i] == first[i - 1] + 1 && second[i] == second[i - 1] + 1;
    let run = (1..first.len()).find(|&i| !follows(i)).unwrap_or(first.len().max(1));
    let is_start = |i: usize| i.is_multiple_of(run);
    let all_are_long = first.len().is_multiple_of(run);
    if all_are_long && (1..first.len()).all(|i| is_start(i) || follows(i)) { run } else { 1 }
}

impl Targets {
    fn new(
        shape: &[usize],
        indices: (&[usize], DType),
        update_shape: &[usize],
        numbers: &ScatterDims,
        max_tables: usize,
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
        let mut windows = IndexedWindows::unlisted(
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
        let batch_strides = pick(&update_strides, &update_batch_dims);
        let len = num_elements(&window_sizes).unwrap_or(usize::MAX);
        windows.check_tables(Some(0), len, max_tables)?;
        let window_at = positions(&window_sizes, &pick(&update_strides, &update_window_dims))?;
        let window_to = positions(&window_sizes, &pick(&input_strides, &window_dims))?;
        // Consecutive windows are the updates in order if batches are outermost.
        let order = [&update_batch_dims[..], &update_window_dims].concat();
        let run = if order.is_sorted() { run_length([&window_at, &window_to]) } else { 1 };
        let updates = num_elements(update_shape).unwrap_or(0);
        let count = num_elements(&windows.batch_shape).unwrap_or(0);
        let is_dense =
            count <= 1 || equal_steps(&windows.batch_shape, &batch_strides) == Some(len.max(1));
        let is_row = run == len.max(1)
            && updates == count * len
            && (window_at.first(), window_to.first()) == (Some(&0), Some(&0))
            && is_dense
            && windows.entries.iter().all(|entry| full_sizes[entry.dimension] == 1);
        let step = windows.vector_step().filter(|_| is_row);
        windows.check_tables(step, len, max_tables)?;
        let batch_at = match step {
            Some(_) => Scratch::new(0)?,
            None => {
                windows.list_vectors()?;
                positions(&windows.batch_shape, &batch_strides)?
            }
        };
        let is_small = |entry: &IndexEntry| u32::try_from(entry.size.max(entry.stride)).is_ok();
        let are_in_order = matches!(&windows.entries[..], [entry] if is_small(entry))
            && step.is_some_and(|step| step == 1 || count <= 1);
        Ok(Targets {
            windows,
            run,
            row: is_row.then_some(len),
            are_in_order,
            updates,
            count,
            batch_at,
            step,
            window_dims,
            window_sizes,
            window_at,
            window_to,
        })
    }

    /// Where the index vector of a window is, and the element that its batching dimensions select.
    #[inline(always)]
    fn vector(&self, window: usize) -> [usize; 2] {
        match self.step {
            Some(step) => [window * step, 0],
            None => self.windows.vectors[window],
        }
    }

    /// Where the updates of a window are.
    #[inline(always)]
    fn updates_of(&self, window: usize) -> usize {
        match self.row.filter(|_| self.step.is_some()) {
            Some(len) => window * len,
            None => self.batch_at[window],
        }
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
        self.each_window(read, |window| {
            match window {
                Window::Inside { at, base } => {
                    for (w, to) in self.window_at.iter().zip(self.window_to.iter()) {
                        targets[at + w] = base + to;
                    }
                }
                Window::Other { at, base, starts } if !whole_windows => {
                    self.find_inside(starts, (at, base), targets);
                }
                Window::Other { .. } => {}
            }
            Ok(())
        })
    }

    /// Visits the targets of windows that are rows, some at a time, with the number of the first.
    fn each_block(
        &self,
        indices: &[u8],
        mut visit: impl FnMut(usize, &[usize]) -> Result<(), TensorError>,
    ) -> Result<(), TensorError> {
        const BLOCK: usize = 128;
        let mut targets = [OUTSIDE; BLOCK];
        let (dtype, _) = self.windows.index;
        for first in (0..self.count).step_by(BLOCK) {
            let targets = &mut targets[..BLOCK.min(self.count - first)];
            let size = dtype.bytes();
            match (&self.windows.entries[..], dtype) {
                ([entry], DType::I32) if self.are_in_order => {
                    entry.find::<i32>(&indices[first * size..], targets)?;
                }
                ([entry], DType::I64) if self.are_in_order => {
                    entry.find::<i64>(&indices[first * size..], targets)?;
                }
                _ => with_indices!(dtype, indices, read => {
                    self.find_rows(read, first, targets)
                })?,
            }
            visit(first, targets)?;
        }
        Ok(())
    }

    /// The targets of windows that are rows, from the `first` one on.
    fn find_rows(
        &self,
        read: impl Fn(usize) -> Result<i64, TensorError>,
        first: usize,
        targets: &mut [usize],
    ) -> Result<(), TensorError> {
        for (target, window) in targets.iter_mut().zip(first..) {
            let [vector, selected] = self.vector(window);
            let place = |(fits, base): (bool, i64), entry: &IndexEntry| {
                let start = read(vector + entry.offset)?;
                let base = base.wrapping_add(start.wrapping_mul(entry.stride as i64));
                Ok::<_, TensorError>((fits & (0..=entry.last).contains(&start), base))
            };
            let first = (true, selected as i64);
            let (fits, base) = match &self.windows.entries[..] {
                [entry] => place(first, entry)?,
                entries => entries.iter().try_fold(first, place)?,
            };
            *target = if fits { base as usize } else { OUTSIDE };
        }
        Ok(())
    }

    /// Visits the windows in order.
    fn each_window(
        &self,
        read: impl Fn(usize) -> Result<i64, TensorError>,
        mut visit: impl FnMut(Window<'_>) -> Result<(), TensorError>,
    ) -> Result<(), TensorError> {
        let windows = &self.windows;
        let mut starts = vec![0; windows.entries.len()];
        for window in 0..self.count {
            let ([vector, selected], at) = (self.vector(window), self.updates_of(window));
            let (mut fits, mut base) = (true, selected as i64);
            for (start, entry) in starts.iter_mut().zip(&windows.entries) {
                *start = read(vector + entry.offset)?;
                fits &= (0..=entry.last).contains(start);
                base = base.wrapping_add(start.wrapping_mul(entry.stride as i64));
            }
            visit(match fits {
                true => Window::Inside { at, base: base as usize },
                false => Window::Other { at, base, starts: &starts },
            })?;
        }
        Ok(())
    }

    /// Visits the runs of neighbouring elements of the updates with their targets, in order.
    fn each_run(
        &self,
        indices: &[u8],
        mut visit: impl FnMut(Range<usize>, usize),
    ) -> Result<(), TensorError> {
        let (run, mut targets) = (self.run, None);
        with_indices!(self.windows.index.0, indices, read => self.each_window(read, |window| {
            match window {
                Window::Inside { at, base } => {
                    let runs = self.window_at.iter().zip(self.window_to.iter()).step_by(run);
                    runs.for_each(|(w, to)| visit(at + w..at + w + run, base + to));
                }
                Window::Other { at, base, starts } => {
                    let targets: &mut Scratch<usize> = match &mut targets {
                        Some(targets) => targets,
                        None => targets.insert(Scratch::filled(self.updates, OUTSIDE)?),
                    };
                    self.find_inside(starts, (at, base), targets);
                    for update in self.window_at.iter().map(|w| at + w) {
                        if targets[update] != OUTSIDE {
                            visit(update..update + 1, targets[update]);
                        }
                    }
                }
            }
            Ok(())
        }))
    }

    /// The targets of the elements of a window that are inside of the input.
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

impl IndexEntry {
    /// The targets of windows whose starts along this dimension, their only ones, are the first of
    /// these. Its size and stride have at most 32 bits.
    fn find<I: Element + Into<i64>>(
        &self,
        starts: &[u8],
        targets: &mut [usize],
    ) -> Result<(), TensorError> {
        struct Find<'a, I> {
            entry: &'a IndexEntry,
            starts: &'a [I],
            targets: &'a mut [usize],
        }
        impl<I: Copy + Into<i64>> simd::Kernel for Find<'_, I> {
            #[inline(always)]
            fn run(self) {
                for (target, &start) in self.targets.iter_mut().zip(self.starts) {
                    let start: i64 = start.into();
                    let fits = (0..=self.entry.last).contains(&start);
                    // Of 32 bits each, for which there are instructions.
                    let base = u64::from(start as u32) * u64::from(self.entry.stride as u32);
                    *target = if fits { base as usize } else { OUTSIDE };
                }
            }
        }
        let starts = starts.get(..targets.len() * size_of::<I>());
        let starts = starts.and_then(|starts| bytemuck::try_cast_slice(starts).ok());
        let starts: &[I] = starts.ok_or(TensorError::OutOfBounds)?;
        Isa::best().run(Find { entry: self, starts, targets });
        Ok(())
    }
}

/// A window of updates.
enum Window<'a> {
    /// It is inside of the input.
    Inside {
        /// Where it is in the updates.
        at: usize,
        /// Where it goes.
        base: usize,
    },
    /// A part of it may be.
    Other {
        /// Where it is in the updates.
        at: usize,
        /// Where it would go, if that were inside.
        base: i64,
        /// Its first indices.
        starts: &'a [i64],
    },
}

/// A [`scatter`] into one tensor of known type and shape, by a body that keeps the updates or
/// combines them by a common operation.
#[derive(Debug)]
pub struct ScatterKernel {
    body: BodyShape,
    dtype: DType,
    /// Number of elements of the input.
    elements: usize,
    #[doc(hidden)]
    pub targets: Targets,
}

impl ScatterKernel {
    /// Prepares it for an input, indices and updates of these shapes and types; `None` for other
    /// bodies, or if the elements have to be converted before.
    pub fn new(
        body: BodyShape,
        (shape, dtype): (&[usize], DType),
        indices: (&[usize], DType),
        updates: &[usize],
        numbers: &ScatterDims,
    ) -> Option<ScatterKernel> {
        let targets = Targets::new(shape, indices, updates, numbers, MAX_TABLES).ok()?;
        let elements = num_elements(shape)?;
        let scatter = ScatterKernel { body, dtype, elements, targets };
        let is_common = match body {
            BodyShape::Values => true,
            BodyShape::Binary { op, .. } => {
                operation_type(dtype) == dtype && operation(op, dtype).is_some()
            }
            BodyShape::Block => false,
        };
        is_common.then_some(scatter)
    }

    /// The operation that combines an element with an update, in this order; `None` if the update
    /// takes its place.
    pub fn operation(&self) -> Option<BinaryOp> {
        match self.body {
            BodyShape::Binary { op, .. } => Some(op),
            BodyShape::Values | BodyShape::Block => None,
        }
    }

    /// Where each element of the updates goes, `None` for skipped ones. They are applied
    /// in order.
    ///
    /// # Errors
    /// If the bytes do not have the size of the indices, or there is no memory for the places.
    pub fn targets(&self, indices: &[u8]) -> Result<Vec<Option<usize>>, TensorError> {
        let (index, count) = self.targets.windows.index;
        if indices.len() != count * index.bytes() {
            return Err(TensorError::OutOfBounds);
        }
        let targets = self.targets.find(indices, false)?;
        Ok(targets.iter().map(|&target| Some(target).filter(|_| target != OUTSIDE)).collect())
    }

    /// Computes it on the bytes of elements.
    ///
    /// # Errors
    /// If their sizes do not match the types and shapes, or there is no memory for the
    /// places of updates.
    pub fn run(
        &self,
        [input, indices, updates]: [&[u8]; 3],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        if input.len() != result.len() {
            return Err(TensorError::OutOfBounds);
        }
        result.copy_from_slice(input);
        self.update([indices, updates], result)
    }

    /// As [`ScatterKernel::run`], where `result` holds the input already.
    fn update(&self, [indices, updates]: [&[u8]; 2], result: &mut [u8]) -> Result<(), TensorError> {
        let (size, (index, count)) = (self.dtype.bytes(), self.targets.windows.index);
        if result.len() != self.elements * size
            || indices.len() != count * index.bytes()
            || updates.len() != self.targets.updates * size
        {
            return Err(TensorError::OutOfBounds);
        }
        if updates.is_empty() || result.is_empty() {
            return Ok(());
        }
        if let Some(len) = self.targets.row {
            return self.targets.each_block(indices, |first, targets| {
                let row = len * self.dtype.bytes();
                self.apply(targets, result, &updates[first * row..][..targets.len() * row])
            });
        }
        if self.targets.run >= MIN_RUN {
            return self.apply_runs(indices, result, updates);
        }
        self.apply(&self.targets.find(indices, false)?, result, updates)
    }

    /// Combines neighbouring elements at a time.
    fn apply_runs(
        &self,
        indices: &[u8],
        result: &mut [u8],
        updates: &[u8],
    ) -> Result<(), TensorError> {
        fn update<T: Element>(
            operation: &dyn Combine<T>,
            (targets, indices): (&Targets, &[u8]),
            result: &mut [u8],
            updates: &[u8],
        ) -> Result<(), TensorError> {
            let misaligned = |_| TensorError::OutOfBounds;
            let elements = bytemuck::try_cast_slice_mut::<u8, T>(result).map_err(misaligned)?;
            let updates = bytemuck::try_cast_slice::<u8, T>(updates).map_err(misaligned)?;
            // One loop for all types, as each calls the operation.
            let merge: &mut dyn FnMut(Range<usize>, usize) = &mut |run, to| {
                operation.merge(&mut elements[to..to + run.len()], &updates[run]);
            };
            targets.each_run(indices, merge)
        }
        let (size, targets) = (self.dtype.bytes(), &self.targets);
        match self.body {
            BodyShape::Values => targets.each_run(indices, |run, to| {
                let updates = &updates[run.start * size..run.end * size];
                result[to * size..][..updates.len()].copy_from_slice(updates);
            }),
            BodyShape::Binary { .. } | BodyShape::Block => {
                on_bits!(self.combine()?, |o| update(o, (targets, indices), result, updates))
            }
        }
    }

    /// Combines rows of neighbouring elements, one for each target.
    fn apply(
        &self,
        targets: &[usize],
        result: &mut [u8],
        updates: &[u8],
    ) -> Result<(), TensorError> {
        let size = self.dtype.bytes();
        match self.body {
            BodyShape::Values => {
                match updates.len() / targets.len().max(1) {
                    1 => put_rows::<1>(targets, size, updates, result),
                    4 => put_rows::<4>(targets, size, updates, result),
                    8 => put_rows::<8>(targets, size, updates, result),
                    _ => put_rows::<0>(targets, size, updates, result),
                }
                Ok(())
            }
            BodyShape::Binary { .. } | BodyShape::Block => {
                on_bits!(self.combine()?, |o| merge_at(o, targets, result, updates))
            }
        }
    }

    /// The operation that combines elements with updates.
    fn combine(&self) -> Result<CombineBits, TensorError> {
        let operation = self.operation().and_then(|op| operation(op, self.dtype));
        operation.ok_or(TensorError::Unsupported { op: "a scatter", dtype: self.dtype })
    }
}

/// Combines rows of neighbouring elements, one for each target, given as bytes.
fn merge_at<T: Element>(
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

/// Copies rows of `N` bytes, or of any number for 0, to their targets, by elements of `size` bytes.
fn put_rows<const N: usize>(targets: &[usize], size: usize, updates: &[u8], result: &mut [u8]) {
    let row = if N == 0 { updates.len() / targets.len().max(1) } else { N };
    for (&target, values) in targets.iter().zip(updates.chunks_exact(row.max(1))) {
        if target != OUTSIDE {
            // Of a number that the compiler knows, without a call.
            match N {
                0 => result[target * size..][..row].copy_from_slice(values),
                _ => result[target * size..][..N].copy_from_slice(&values[..N]),
            }
        }
    }
}

impl Kernel for ScatterKernel {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let (operands, result) = expect_bytes(operands, results)?;
        self.run(operands, result)
    }

    fn is_update(&self) -> bool {
        true
    }

    fn update(&self, operands: &[&[u8]], result: &mut [u8]) -> Result<(), TensorError> {
        self.update(operands.try_into().map_err(|_| TensorError::OutOfBounds)?, result)
    }

    fn table_entries(&self) -> usize {
        let Targets { batch_at, window_at, .. } = &self.targets;
        3 * batch_at.len() + 2 * window_at.len()
    }

    fn form(&self) -> Form<'_> {
        Form::Scatter(self)
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
        let operation = operation(op, wide);
        if let Some(operation) = &operation {
            let (result, updates) = (results[0].bytes_mut()?, updates.bytes());
            on_bits!(*operation, |o| merge_at(o, targets, result, updates))?;
        }
        results = convert(results, dtype)?;
        if operation.is_some() {
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

/// The updates that are inside, in rounds: round `n` has the `n`th update of each target.
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
