//! Windows of a tensor at positions given by index vectors, and `gather`.

use super::kernel::{Form, Kernel, expect_bytes};
use super::parallel::task_size;
use numerics::budget::Scratch;
use numerics::math::element::integer;
use numerics::shape::{Indices, num_elements, strides};
use numerics::simd::{self, Isa};
use numerics::{DType, Tensor, TensorError};
use program::EvalError;
use program::primitives::GatherDims;

/// Elementary operations to find a window, roughly.
const WINDOW_WORK: usize = 16;

/// The values of a list of dimensions, after a check against `rank`.
pub(super) fn dims(name: &str, values: &[i64], rank: usize) -> Result<Vec<usize>, EvalError> {
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
pub(super) struct IndexedWindows {
    /// The type of the indices, and how many there are.
    pub index: (DType, usize),
    /// For each batch index in row-major order: the position of its index vector, and of the
    /// element that its batching dimensions select.
    pub vectors: Scratch<[usize; 2]>,
    /// The entries of an index vector.
    pub entries: Vec<IndexEntry>,
    /// The shape of the indices without the dimension of the vectors.
    pub batch_shape: Vec<usize>,
    /// The distance between indices along each dimension of that shape.
    batch_strides: Vec<usize>,
    /// Batching dimensions as dimensions of that shape, with the distances between the elements of
    /// the operand that they select.
    selectors: Vec<(usize, usize)>,
}

/// An entry of index vectors: where a window starts along a dimension.
#[derive(Debug)]
pub(super) struct IndexEntry {
    /// The dimension of the operand, and its size.
    pub dimension: usize,
    pub size: usize,
    /// Indices before it in its vector.
    pub offset: usize,
    /// Elements between neighbours along the dimension.
    pub stride: usize,
    /// The last start from which the window fits.
    pub last: i64,
}

/// Which dimensions index vectors are about.
pub(super) struct IndexDims<'a> {
    /// The operand dimension of each entry of an index vector.
    pub index_map: &'a [i64],
    /// Dimensions of the operand that go with dimensions of the indices.
    pub operand_batching: &'a [i64],
    /// Dimensions of the indices that go with dimensions of the operand.
    pub indices_batching: &'a [i64],
    /// The dimension of the indices along which the vectors lie; the rank for vectors of one entry.
    pub vector: i64,
}

impl IndexedWindows {
    /// The windows of some sizes that indices of a shape and type select in an operand, without the
    /// list of vectors.
    pub(crate) fn unlisted(
        (indices, index): (&[usize], DType),
        operand: &[usize],
        window: &[usize],
        of: &IndexDims<'_>,
    ) -> Result<IndexedWindows, EvalError> {
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
            IndexEntry { dimension, size, offset, stride, last }
        };
        let entries = map.iter().enumerate().map(entry).collect();
        let selectors = operand_batching.iter().zip(&indices_batching).map(|(&d, &b)| {
            // The batch index has no entry for the dimension of the vectors.
            (b - usize::from(b > vector), operand_strides[d])
        });
        let selectors = selectors.collect();
        let index = (index, num_elements(indices).unwrap_or(0));
        let vectors = Scratch::new(0)?;
        Ok(IndexedWindows { index, vectors, entries, batch_shape, batch_strides, selectors })
    }

    /// Lists the vectors.
    pub(crate) fn list_vectors(&mut self) -> Result<(), EvalError> {
        let count = num_elements(&self.batch_shape).unwrap_or(usize::MAX);
        let mut vectors = Scratch::new(count)?;
        let mut batch = Indices::new(&self.batch_shape);
        while let Some(index) = batch.next_index() {
            let vector_at = index.iter().zip(&self.batch_strides).map(|(i, s)| i * s).sum();
            let selected = self.selectors.iter().map(|&(d, stride)| index[d] * stride);
            vectors.push([vector_at, selected.sum()]);
        }
        self.vectors = vectors;
        Ok(())
    }

    /// Checks the size of tables: of two entries for each run of a window, and of three for each
    /// vector, if these are not a `step` apart.
    ///
    /// # Errors
    /// If there are more than `most`.
    pub(crate) fn check_tables(
        &self,
        step: Option<usize>,
        runs: usize,
        most: usize,
    ) -> Result<(), EvalError> {
        let listed = if step.is_some() { Some(0) } else { num_elements(&self.batch_shape) };
        let entries = listed.unwrap_or(usize::MAX).saturating_mul(3);
        match entries.saturating_add(runs.saturating_mul(2)) <= most {
            true => Ok(()),
            false => Err(EvalError::new("dimension_numbers", "tables of windows are too large")),
        }
    }

    /// The distance between the first indices of neighbouring vectors, if it is always the same and
    /// there are no batching dimensions.
    pub(crate) fn vector_step(&self) -> Option<usize> {
        let is_plain = self.selectors.is_empty();
        is_plain.then(|| equal_steps(&self.batch_shape, &self.batch_strides)).flatten()
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
pub(super) use with_indices;

/// Row-major positions of all indices of `sizes` in memory with the strides `strides`.
///
/// # Errors
/// If there is no memory for them.
pub(super) fn positions(sizes: &[usize], strides: &[usize]) -> Result<Scratch<usize>, TensorError> {
    let mut all = Scratch::new(num_elements(sizes).unwrap_or(usize::MAX))?;
    let mut indices = Indices::new(sizes);
    while let Some(index) = indices.next_index() {
        all.push(index.iter().zip(strides).map(|(i, s)| i * s).sum());
    }
    Ok(all)
}

/// The distance between neighbours among the row-major positions of all indices of `sizes` in
/// memory with the strides `strides`, if it is always the same.
pub(super) fn equal_steps(sizes: &[usize], strides: &[usize]) -> Option<usize> {
    let mut dims = sizes.iter().zip(strides).rev().filter(|(size, _)| **size != 1);
    let Some((&size, &step)) = dims.next() else { return Some(0) };
    let mut next = size.checked_mul(step)?;
    for (&size, &stride) in dims {
        if stride != next {
            return None;
        }
        next = next.checked_mul(size)?;
    }
    Some(step)
}

/// The dimensions of `0..rank` that are not in `taken`.
pub(super) fn others(rank: usize, taken: &[usize]) -> Vec<usize> {
    (0..rank).filter(|d| !taken.contains(d)).collect()
}

pub(super) fn pick(values: &[usize], at: &[usize]) -> Vec<usize> {
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
    let gather = GatherKernel::new(operands, indices, numbers, slice_sizes, usize::MAX)?;
    let mut result = Tensor::zeros(operand.dtype(), &gather.shape)?;
    gather.run(operand.bytes(), start_indices.bytes(), result.bytes_mut()?)?;
    Ok(result)
}

/// Windows whose places are found at a time.
const STARTS: usize = 256;
/// Fewer windows of runs of several elements are copied separately.
const MIN_WINDOWS: usize = 4;

/// A [`gather`] of tensors of known types.
#[derive(Debug)]
pub struct GatherKernel {
    windows: IndexedWindows,
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
    /// The distance between neighbouring index vectors where each window is a run and the runs are
    /// the result in order. Then there are no lists of vectors and targets.
    step: Option<usize>,
}

impl GatherKernel {
    /// Prepares it for an operand and indices of these shapes and types, with tables of at most so
    /// many entries.
    ///
    /// # Errors
    /// If the dimension numbers do not fit the shapes, or tables would be larger.
    pub fn new(
        (shape, dtype): (&[usize], DType),
        indices: (&[usize], DType),
        numbers: &GatherDims,
        slice_sizes: &[usize],
        max_tables: usize,
    ) -> Result<GatherKernel, EvalError> {
        let rank = shape.len();
        if slice_sizes.len() != rank || slice_sizes.iter().zip(shape).any(|(size, dim)| size > dim)
        {
            return Err(EvalError::new(
                "gather_c21",
                format!("slices {slice_sizes:?} do not fit the shape {shape:?}"),
            ));
        }
        let mut windows = IndexedWindows::unlisted(
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
        let target_strides = pick(&result_strides, &batch_dims);
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
        let is_dense = matches!(equal_steps(&windows.batch_shape, &target_strides), Some(step) if {
            step == run || num_elements(&windows.batch_shape) <= Some(1)
        });
        let runs = num_elements(&sizes).unwrap_or(usize::MAX);
        let step = windows.vector_step().filter(|_| is_dense && runs == 1);
        windows.check_tables(step, runs, max_tables)?;
        let (from, to) = (positions(&sizes, &from)?, positions(&sizes, &to)?);
        let targets = match step {
            Some(_) => Scratch::new(0)?,
            None => {
                windows.list_vectors()?;
                positions(&windows.batch_shape, &target_strides)?
            }
        };
        Ok(GatherKernel {
            windows,
            size: dtype.bytes(),
            elements: num_elements(shape).unwrap_or(0),
            shape: result_shape,
            targets,
            run,
            from,
            to,
            step,
        })
    }

    /// The shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Computes it on the bytes of elements.
    ///
    /// # Errors
    /// If their sizes do not match the types and shapes.
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
        // Slices without elements may begin at the end of the operand.
        if result.is_empty() {
            return Ok(());
        }
        if let Some(step) = self.step {
            return match self.run * size {
                1 => self.copy_in_order::<1>(operand, (indices, step), result),
                2 => self.copy_in_order::<2>(operand, (indices, step), result),
                4 => self.copy_in_order::<4>(operand, (indices, step), result),
                8 => self.copy_in_order::<8>(operand, (indices, step), result),
                _ => self.copy_in_order::<0>(operand, (indices, step), result),
            };
        }
        with_indices!(self.windows.index.0, indices, read => match self.run * size {
            1 => self.copy::<1>(operand, read, result),
            2 => self.copy::<2>(operand, read, result),
            4 => self.copy::<4>(operand, read, result),
            8 => self.copy::<8>(operand, read, result),
            _ => self.copy::<0>(operand, read, result),
        })
    }

    /// Copies runs of `N` bytes each, or of any number for 0, which are the result in order.
    fn copy_in_order<const N: usize>(
        &self,
        operand: &[u8],
        (indices, step): (&[u8], usize),
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let bytes = if N == 0 { self.run * self.size } else { N };
        let part = |first: usize, result: &mut [u8]| {
            let mut starts = [0; STARTS];
            for (nth, result) in result.chunks_mut(STARTS * bytes).enumerate() {
                let starts = &mut starts[..result.len() / bytes];
                self.find_starts(indices, first + nth * STARTS, step, starts)?;
                let runs = starts.iter().zip(result.chunks_exact_mut(bytes));
                // Of a number that the compiler knows, without a call.
                match N {
                    0 => runs.for_each(|(start, to)| {
                        to.copy_from_slice(&operand[start * self.size..][..bytes]);
                    }),
                    _ if N == self.size => {
                        let elements = operand.as_chunks::<N>().0;
                        runs.for_each(|(&start, to)| to.copy_from_slice(&elements[start]));
                    }
                    _ => runs.for_each(|(start, to)| {
                        to.copy_from_slice(&operand[start * self.size..][..N]);
                    }),
                }
            }
            Ok(())
        };
        let all = result.len() / bytes;
        let count = task_size(all, WINDOW_WORK + bytes / 4, 1);
        if count >= all {
            return part(0, result);
        }
        let tasks = result.chunks_mut(count * bytes).enumerate().collect();
        host::parallel(tasks, |(task, result)| part(task * count, result))
    }

    /// Writes the elements of the operand before each window, from window number `first` on, whose
    /// index vectors are `step` indices apart.
    fn find_starts(
        &self,
        indices: &[u8],
        first: usize,
        step: usize,
        starts: &mut [usize],
    ) -> Result<(), TensorError> {
        let dtype = self.windows.index.0;
        starts.fill(0);
        for entry in &self.windows.entries {
            let at = (first * step + entry.offset) * dtype.bytes();
            let indices = Indexed { bytes: &indices[at..], dtype, step: step.max(1) };
            Isa::best().run(AddStarts { indices, entry, starts: &mut *starts });
        }
        Ok(())
    }

    /// Copies runs of `N` bytes each, or of any number for 0.
    fn copy<const N: usize>(
        &self,
        operand: &[u8],
        read: impl Fn(usize) -> Result<i64, TensorError> + Sync,
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let GatherKernel { windows, size, run, .. } = self;
        let bytes = if N == 0 { run * size } else { N };
        if let ([entry], [0], [0]) = (&windows.entries[..], &self.from[..], &self.to[..]) {
            for (&[vector, selected], &to) in windows.vectors.iter().zip(self.targets.iter()) {
                let start = read(vector + entry.offset)?.clamp(0, entry.last) as usize;
                let from = (selected + start * entry.stride) * size;
                result[to * size..][..bytes].copy_from_slice(&operand[from..][..bytes]);
            }
            return Ok(());
        }
        let source = |&[vector, selected]: &[usize; 2]| {
            let mut source = selected;
            for entry in &windows.entries {
                let start = read(vector + entry.offset)?;
                source += start.clamp(0, entry.last) as usize * entry.stride;
            }
            Ok::<usize, TensorError>(source)
        };
        if self.are_side_by_side() {
            // The elements of all windows with a number, which are neighbours in the result.
            let mut sources = Scratch::new(windows.vectors.len())?;
            for vector in windows.vectors.iter() {
                sources.push(source(vector)?);
            }
            let first = self.targets.first().map_or(0, |first| *first);
            if N == *size {
                let places = [&self.from[..], &self.to[..]];
                match sources[..] {
                    [x, y] => copy_elements::<N, _>(operand, [x, y], places, first, result),
                    [x, y, z] => copy_elements::<N, _>(operand, [x, y, z], places, first, result),
                    _ => copy_elements::<N, _>(operand, &sources[..], places, first, result),
                }
                return Ok(());
            }
            for (from, to) in self.from.iter().zip(self.to.iter()) {
                let result = &mut result[(first + to) * size..][..sources.len() * bytes];
                for (source, to) in sources.iter().zip(result.chunks_exact_mut(bytes)) {
                    to.copy_from_slice(&operand[(source + from) * size..][..bytes]);
                }
            }
            return Ok(());
        }
        for (vector, target) in windows.vectors.iter().zip(self.targets.iter()) {
            let source = source(vector)?;
            for (from, to) in self.from.iter().zip(self.to.iter()) {
                let (from, to) = ((source + from) * size, (target + to) * size);
                result[to..to + bytes].copy_from_slice(&operand[from..from + bytes]);
            }
        }
        Ok(())
    }

    /// True if the runs of one window after the other, with the same number in each, are neighbours
    /// in the result, and the runs of a window are not.
    fn are_side_by_side(&self) -> bool {
        let next = |pair: &[usize]| pair[1] == pair[0] + self.run;
        self.targets.len() >= if self.run == 1 { 2 } else { MIN_WINDOWS }
            && self.from.len() > 1
            && self.targets.windows(2).all(next)
    }
}

/// Copies an element of `N` bytes from each source to neighbours in the result, from a number on:
/// for all places of sources and of neighbours.
fn copy_elements<const N: usize, S: AsRef<[usize]>>(
    operand: &[u8],
    sources: S,
    [from, to]: [&[usize]; 2],
    first: usize,
    result: &mut [u8],
) {
    let (operand, result) = (operand.as_chunks::<N>().0, result.as_chunks_mut::<N>().0);
    for (&from, &to) in from.iter().zip(to) {
        let (elements, sources) = (&operand[from..], sources.as_ref());
        for (to, &source) in result[first + to..][..sources.len()].iter_mut().zip(sources) {
            *to = elements[source];
        }
    }
}

/// Indices, and the distance between neighbours.
struct Indexed<'a> {
    bytes: &'a [u8],
    dtype: DType,
    step: usize,
}

/// Adds the elements before windows that indices select along a dimension.
struct AddStarts<'a> {
    indices: Indexed<'a>,
    entry: &'a IndexEntry,
    starts: &'a mut [usize],
}

impl simd::Kernel for AddStarts<'_> {
    #[inline(always)]
    fn run(self) {
        let AddStarts { indices: Indexed { bytes, dtype, step }, entry, starts } = self;
        let (last, stride) = (entry.last, entry.stride);
        let start = |index: i64| index.clamp(0, last) as usize * stride;
        // Of neighbours, and of few elements, so that it becomes vectors.
        if let (DType::I32, 1, Ok(all)) = (dtype, step, bytemuck::try_cast_slice::<u8, i32>(bytes))
            && let Ok(last) = i32::try_from(last)
            && let Ok(stride) = u32::try_from(stride)
            && (last as usize)
                .checked_mul(stride as usize)
                .is_some_and(|end| u32::try_from(end).is_ok())
        {
            for (to, &index) in starts.iter_mut().zip(all) {
                *to += (index.clamp(0, last) as u32).wrapping_mul(stride) as usize;
            }
            return;
        }
        if let (DType::U32, 1, Ok(all)) = (dtype, step, bytemuck::try_cast_slice::<u8, u32>(bytes))
        {
            let all = starts.iter_mut().zip(all);
            all.for_each(|(to, &index)| *to += start(i64::from(index)));
            return;
        }
        if let (DType::I64, 1, Ok(all)) = (dtype, step, bytemuck::try_cast_slice::<u8, i64>(bytes))
        {
            starts.iter_mut().zip(all).for_each(|(to, &index)| *to += start(index));
            return;
        }
        let all = bytes.chunks_exact(dtype.bytes()).step_by(step);
        for (to, bytes) in starts.iter_mut().zip(all) {
            *to += match dtype {
                DType::I32 => start(i64::from(read(bytes, i32::from_ne_bytes))),
                DType::U32 => start(i64::from(read(bytes, u32::from_ne_bytes))),
                DType::I64 => start(read(bytes, i64::from_ne_bytes)),
                _ => start(integer(dtype, bytes).unwrap_or(0)),
            };
        }
    }
}

/// The number in the bytes of an index; zero for fewer bytes.
#[inline(always)]
fn read<const N: usize, I>(bytes: &[u8], number: impl Fn([u8; N]) -> I) -> I {
    number(bytes.first_chunk().copied().unwrap_or([0; N]))
}

impl Kernel for GatherKernel {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([operand, indices], result) = expect_bytes(operands, results)?;
        self.run(operand, indices, result)
    }

    fn table_entries(&self) -> usize {
        3 * self.targets.len() + self.from.len() + self.to.len()
    }

    fn form(&self) -> Form<'_> {
        Form::Gather(self)
    }
}
