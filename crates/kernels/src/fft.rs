//! Discrete Fourier transforms along the last dimensions.
//!
//! All are computed in double precision and rounded once.

use super::parallel::task_size;
use crate::fft_lines::{Lanes, Pairs, Plan, Transform, Way};
use crate::fft_moves::{Grouped, Load, Regroup, Sample, Scale, StoreColumns, StoreRows};
use bytemuck::Pod;
use numerics::budget::{Reserved, reserve};
use numerics::math::AlignedBytes;
use numerics::simd::{DoublesArray, Isa};
use numerics::{Complex32, Complex64, DType, Tensor, TensorError};
use program::{EvalError, Fourier};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};
use std::thread::LocalKey;

/// Elementary operations for an element of a line, roughly.
const LINE_WORK: usize = 64;
/// At most so many plans are kept.
const MAX_PLANS: usize = 8;
/// Their lines have at most so many elements together.
const MAX_PLANNED: usize = 1 << 20;
/// Lines that are transformed at a time,
const LANES: usize = 4;
/// with AVX-512,
const WIDE: usize = 8;
/// if they are so short that these are in the first-level cache.
const MAX_WIDE: usize = 1 << 8;
/// At most so many lines are transformed one by one.
const FEW_LINES: usize = 2;
/// Their plans are for lines that are alone from this length on.
const MIN_ALONE: usize = 1 << 8;
/// Memory that is kept for the next transform has at most so many bytes.
const KEPT_BYTES: usize = 4 << 20;
/// So many bytes are checked for zeros at a time.
const CHECKED_BYTES: usize = 1 << 8;

/// Transforms the last `lengths.len()` dimensions. `lengths` are their sizes, on the real side of a
/// real transform.
///
/// # Errors
/// If the element type is not that of the transform, or the lengths do not fit the shape.
pub fn fourier(
    transform: Fourier,
    operand: Tensor,
    lengths: &[usize],
) -> Result<Tensor, EvalError> {
    let dtype = operand.dtype();
    let result = match (transform, dtype) {
        (Fourier::RealForward, DType::F32) => DType::C64,
        (Fourier::RealForward, DType::F64) => DType::C128,
        (Fourier::RealInverse, DType::C64) => DType::F32,
        (Fourier::RealInverse, DType::C128) => DType::F64,
        (Fourier::Forward | Fourier::Inverse, DType::C64 | DType::C128) => dtype,
        _ => {
            return Err(EvalError::new(
                "fft_c2",
                format!("no {transform:?} transform of elements of type {dtype}"),
            ));
        }
    };
    let rank = operand.rank();
    let Some(&length) = lengths.last().filter(|_| lengths.len() <= rank) else {
        return Err(EvalError::new(
            "fft_c1",
            format!("{} lengths do not fit rank {rank}", lengths.len()),
        ));
    };
    let given = &operand.shape()[rank - lengths.len()..];
    let mut required = lengths.to_vec();
    if transform == Fourier::RealInverse {
        required[lengths.len() - 1] = half(length);
    }
    if given != required {
        let message = format!(
            "the last dimensions have sizes {given:?}, but {required:?} are required for lengths {lengths:?}"
        );
        return Err(EvalError::new("fft_c4", message));
    }
    let mut shape = operand.shape().to_vec();
    shape[rank - 1] = if transform == Fourier::RealForward { half(length) } else { length };
    let mut out = Tensor::zeros(result, &shape)?;
    if out.num_elements() > 0 {
        match (dtype, result) {
            (DType::F32, _) => typed::<f32, Complex32>(transform, &operand, lengths, &mut out),
            (DType::F64, _) => typed::<f64, Complex64>(transform, &operand, lengths, &mut out),
            (DType::C64, DType::F32) => {
                typed::<Complex32, f32>(transform, &operand, lengths, &mut out)
            }
            (DType::C64, _) => {
                typed::<Complex32, Complex32>(transform, &operand, lengths, &mut out)
            }
            (_, DType::F64) => typed::<Complex64, f64>(transform, &operand, lengths, &mut out),
            _ => typed::<Complex64, Complex64>(transform, &operand, lengths, &mut out),
        }?;
    }
    Ok(out)
}

/// Number of elements of a real transform that determine the rest.
fn half(length: usize) -> usize {
    if length == 0 { 0 } else { length / 2 + 1 }
}

/// The transforms of lines along one axis.
struct Pass {
    axis: usize,
    transform: Fourier,
    /// The number of elements of a line on the real side.
    length: usize,
    /// The number of elements of a line before and after.
    sizes: [usize; 2],
    plan: Arc<Plan>,
    /// For real lines of even length.
    pairs: Option<Arc<Pairs>>,
    _reserved: Reserved,
}

impl Pass {
    /// Along an axis of a shape.
    fn new(
        dims: &[usize],
        axis: usize,
        transform: Fourier,
        length: usize,
        size: usize,
    ) -> Result<Pass, TensorError> {
        let is_real = matches!(transform, Fourier::RealForward | Fourier::RealInverse);
        let is_paired = is_real && length.is_multiple_of(2);
        let reserved = reserve::<[Complex64; 8]>(length)?;
        let lines: usize = dims.iter().product::<usize>() / dims[axis];
        let is_alone = length >= MIN_ALONE && lines <= FEW_LINES;
        let key = (if is_paired { length / 2 } else { length }, is_paired, is_alone);
        let (plan, pairs) = plan(key);
        let sizes = [dims[axis], size];
        Ok(Pass { axis, transform, length, sizes, plan, pairs, _reserved: reserved })
    }

    /// True if lines are transformed back.
    fn is_inverse(&self) -> bool {
        matches!(self.transform, Fourier::Inverse | Fourier::RealInverse)
    }

    /// True if an element in lanes is a pair of real numbers.
    fn has_pairs(&self, transform: Fourier) -> bool {
        self.transform == transform && self.pairs.is_some()
    }

    /// The direction and places of the transform of lines in lanes.
    fn way(&self) -> Way<'_> {
        match (self.transform, &self.pairs) {
            (Fourier::RealForward, Some(pairs)) => Way::Separate(pairs),
            (Fourier::RealInverse, Some(pairs)) => Way::Join(pairs),
            _ => Way::Complex,
        }
    }

    /// The number of elements in lanes that the transform needs.
    fn room(&self) -> usize {
        // The last element of half a transform is beyond those of pairs.
        self.plan.size() + usize::from(self.pairs.is_some())
    }

    /// What the way back does to all numbers: they are divided by the length.
    fn scale(&self) -> Scale {
        if !self.is_inverse() {
            Scale::One
        } else if self.length.is_power_of_two() {
            // The inverse is exact.
            Scale::Times(1.0 / self.length as f64)
        } else {
            Scale::Over(self.length as f64)
        }
    }
}

/// The axis whose lines are lanes while those along `axis` are transformed: the last one, or the one
/// before.
fn lanes_axis(dims: &[usize], axis: usize) -> usize {
    let last = dims.len() - 1;
    if axis == last { last - 1 } else { last }
}

/// Groups of `L` lines along an axis, in row-major order of the other dimensions.
struct Grouping<'a, const L: usize> {
    dims: &'a [usize],
    axis: usize,
}

impl<const L: usize> Grouping<'_, L> {
    /// The number of groups along a dimension.
    fn size(&self, dim: usize) -> usize {
        let size = self.dims[dim];
        if dim == lanes_axis(self.dims, self.axis) { size.div_ceil(L) } else { size }
    }

    /// The dimensions other than the axis.
    fn others(&self) -> impl DoubleEndedIterator<Item = usize> {
        let axis = self.axis;
        (0..self.dims.len()).filter(move |&dim| dim != axis)
    }

    /// The number of groups.
    fn count(&self) -> usize {
        self.others().map(|dim| self.size(dim)).product()
    }

    /// The distances of elements in the memory of all groups, and of groups along the lanes.
    fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.dims.len()];
        let mut stride = self.dims[self.axis];
        for dim in self.others().rev() {
            strides[dim] = stride;
            stride *= self.size(dim);
        }
        strides
    }

    /// The place of a group, given the distance of groups along each dimension; and its number of
    /// lines.
    fn place(&self, mut group: usize, strides: &[usize]) -> (usize, usize) {
        let lanes_axis = lanes_axis(self.dims, self.axis);
        let (mut place, mut lanes) = (0, L);
        for dim in self.others().rev() {
            let size = self.size(dim);
            let index = group % size;
            group /= size;
            place += index * strides[dim];
            if dim == lanes_axis {
                lanes = L.min(self.dims[dim] - index * L);
            }
        }
        (place, lanes)
    }
}

/// Where the lines of a pass come from.
enum Source<'a, S, const L: usize> {
    Tensor(&'a [S]),
    /// Groups of lines along another axis, those of the pass before, whose numbers are still to be
    /// changed.
    Groups {
        elements: &'a [Lanes<[f64; L]>],
        axis: usize,
        scale: Scale,
    },
}

/// Where they go.
enum Target<'o, D, const L: usize> {
    /// Lines after each other.
    Rows(&'o mut [D]),
    /// A slice for each element of a line, with those of all lines.
    Columns(Vec<&'o mut [D]>),
    Groups(&'o mut [Lanes<[f64; L]>]),
}

thread_local! {
    /// Memory of groups of lines between passes.
    static GROUPS: Cell<[AlignedBytes; 2]> = const { Cell::new([const { AlignedBytes::new() }; 2]) };
    /// Memory of lines that are transformed, and as much again.
    static LINES: Cell<[AlignedBytes; 2]> = const { Cell::new([const { AlignedBytes::new() }; 2]) };
}

/// Calls a function with memory that is kept for the next call on this thread.
fn with_rooms<R>(
    key: &'static LocalKey<Cell<[AlignedBytes; 2]>>,
    call: impl FnOnce(&mut [AlignedBytes; 2]) -> R,
) -> R {
    let mut rooms = key.take();
    let result = call(&mut rooms);
    for room in &mut rooms {
        if room.len() > KEPT_BYTES {
            *room = AlignedBytes::new();
        }
    }
    key.set(rooms);
    result
}

/// Transforms the last `lengths.len()` dimensions.
fn typed<S: Sample, D: Sample>(
    transform: Fourier,
    operand: &Tensor,
    lengths: &[usize],
    result: &mut Tensor,
) -> Result<(), TensorError> {
    // Dimensions before are one.
    let split = operand.rank() - lengths.len();
    let mut dims = vec![operand.shape()[..split].iter().product()];
    dims.extend(&operand.shape()[split..]);
    let last = dims.len() - 1;
    let (length, size) = (lengths[last - 1], result.shape()[result.rank() - 1]);
    let mut passes = Vec::new();
    let is_forward = matches!(transform, Fourier::Forward | Fourier::RealForward);
    if is_forward {
        passes.push(Pass::new(&dims, last, transform, length, size)?);
        dims[last] = size;
        for axis in (1..last).rev() {
            passes.push(Pass::new(&dims, axis, Fourier::Forward, dims[axis], dims[axis])?);
        }
    } else {
        for axis in 1..last {
            passes.push(Pass::new(&dims, axis, Fourier::Inverse, dims[axis], dims[axis])?);
        }
        passes.push(Pass::new(&dims, last, transform, length, size)?);
    }
    // Lines of the same number of elements on both sides of the lanes, if there are two.
    let lanes = passes.iter().map(|pass| dims[lanes_axis(&dims, pass.axis)]).min().unwrap_or(1);
    let size = passes.iter().map(|pass| pass.plan.size()).max().unwrap_or(0);
    let (from, to) = (operand.as_slice::<S>()?, result.make_mut::<D>()?);
    with_rooms(&GROUPS, |rooms| {
        if lanes <= FEW_LINES {
            run::<S, D, 1>(&passes, &dims, from, to, rooms)
        } else if lanes > LANES && Isa::best().has_avx512() && size <= MAX_WIDE {
            run::<S, D, WIDE>(&passes, &dims, from, to, rooms)
        } else {
            run::<S, D, LANES>(&passes, &dims, from, to, rooms)
        }
    })
}

/// Runs passes with `L` lines at a time. `dims` are the sizes between them.
fn run<S: Sample, D: Sample, const L: usize>(
    passes: &[Pass],
    dims: &[usize],
    from: &[S],
    to: &mut [D],
    [before, after]: &mut [AlignedBytes; 2],
) -> Result<(), TensorError>
where
    [f64; L]: Pod + DoublesArray,
{
    let mut last = None;
    let mut _reserved = [const { None }; 2];
    for (nth, pass) in passes.iter().enumerate() {
        let groups = Grouping::<L> { dims, axis: pass.axis };
        let elements = bytemuck::cast_slice::<u8, Lanes<[f64; L]>>(before);
        let source = match last {
            None => Source::Tensor(from),
            Some((axis, scale)) => Source::Groups { elements, axis, scale },
        };
        let lines = Lines::<S, L>::new(pass, &groups, source);
        if nth + 1 == passes.len() {
            return lines.to_tensor(to);
        }
        let count = groups.count().saturating_mul(pass.sizes[1]);
        _reserved[nth % 2] = Some(reserve::<Lanes<[f64; L]>>(count)?);
        after.try_resize(count.saturating_mul(size_of::<Lanes<[f64; L]>>()))?;
        lines.to_groups(bytemuck::cast_slice_mut(after))?;
        std::mem::swap(before, after);
        last = Some((pass.axis, pass.scale()));
    }
    Ok(())
}

/// Lines of a pass, with where they come from.
struct Lines<'a, S, const L: usize> {
    pass: &'a Pass,
    groups: &'a Grouping<'a, L>,
    source: Source<'a, S, L>,
    /// The distances of groups in the source.
    strides: Vec<usize>,
    /// The distance of the elements of a line, or of those that lanes have.
    stride: usize,
    /// The transform of lines of zeros, once it is needed.
    zeros: OnceLock<Vec<Lanes<[f64; L]>>>,
}

impl<'a, S: Sample, const L: usize> Lines<'a, S, L>
where
    [f64; L]: Pod + DoublesArray,
{
    fn new(pass: &'a Pass, groups: &'a Grouping<'a, L>, source: Source<'a, S, L>) -> Self {
        let lanes_axis = lanes_axis(groups.dims, pass.axis);
        let mut strides;
        match source {
            Source::Tensor(_) => {
                strides = vec![1; groups.dims.len()];
                for dim in (0..groups.dims.len() - 1).rev() {
                    let next = dim + 1;
                    let is_axis = next == pass.axis;
                    let size = if is_axis { pass.sizes[0] } else { groups.dims[next] };
                    strides[dim] = strides[next] * size;
                }
                strides[lanes_axis] *= L;
            }
            Source::Groups { axis, .. } => {
                strides = Grouping::<L> { dims: groups.dims, axis }.strides();
                if axis == lanes_axis {
                    strides[axis] = L;
                }
            }
        }
        let stride = strides[pass.axis];
        Lines { pass, groups, source, strides, stride, zeros: OnceLock::new() }
    }

    /// How many groups make a task.
    fn task_size(&self, count: usize) -> usize {
        task_size(count, self.pass.length.saturating_mul(L * LINE_WORK), 1)
    }

    /// Transforms all lines into memory for groups.
    fn to_groups(&self, to: &mut [Lanes<[f64; L]>]) -> Result<(), TensorError> {
        let size = self.task_size(self.groups.count());
        let tasks = to.chunks_mut(size * self.pass.sizes[1]).enumerate();
        let tasks = tasks.map(|(nth, to)| (nth * size, Target::<S, L>::Groups(to))).collect();
        host::parallel(tasks, |(first, target)| self.transform(first, target))
    }

    /// Transforms all lines into the elements of a tensor.
    fn to_tensor<D: Sample>(&self, to: &mut [D]) -> Result<(), TensorError> {
        let Grouping { dims, axis } = *self.groups;
        let lanes_axis = lanes_axis(dims, axis);
        let per_row = self.groups.size(lanes_axis);
        let mut tasks = Vec::new();
        if lanes_axis < axis {
            // Some groups each, or those of whole blocks of rows.
            let size = self.task_size(self.groups.count());
            let mut rest = to;
            let mut first = 0;
            while first < self.groups.count() {
                let end = self.groups.count().min(first + size);
                // Rows of whole blocks, and of a part of the last one.
                let rows = |group: usize| {
                    group / per_row * dims[lanes_axis] + dims[lanes_axis].min(group % per_row * L)
                };
                let rows = rows(end) - rows(first);
                let (part, others) =
                    std::mem::take(&mut rest).split_at_mut(rows * self.pass.sizes[1]);
                rest = others;
                tasks.push((first, Target::Rows(part)));
                first = end;
            }
        } else {
            let size = self.task_size(self.groups.count()).min(per_row);
            let (count, inner) = (dims[axis], dims[axis + 1..lanes_axis].iter().product::<usize>());
            let blocks = self.groups.count() / per_row;
            let parts = per_row.div_ceil(size);
            for block in 0..blocks {
                for part in 0..parts {
                    let columns = Vec::with_capacity(count);
                    tasks.push((block * per_row + part * size, Target::Columns(columns)));
                }
            }
            for (row, to) in to.chunks_mut(dims[lanes_axis]).enumerate() {
                let block = row / (count * inner) * inner + row % inner;
                for (task, to) in tasks[block * parts..].iter_mut().zip(to.chunks_mut(size * L)) {
                    if let (_, Target::Columns(columns)) = task {
                        columns.push(to);
                    }
                }
            }
        }
        host::parallel(tasks, |(first, target)| self.transform(first, target))
    }

    /// Transforms lines from a group on.
    fn transform<D: Sample>(
        &self,
        first: usize,
        target: Target<'_, D, L>,
    ) -> Result<(), TensorError> {
        let room = self.pass.room();
        let _reserved = reserve::<[Lanes<[f64; L]>; 2]>(room)?;
        with_rooms(&LINES, |rooms| {
            rooms.iter_mut().for_each(|bytes| bytes.resize(room * size_of::<Lanes<[f64; L]>>()));
            let [x, scratch] = rooms.each_mut().map(|bytes| bytemuck::cast_slice_mut(bytes));
            let size = self.pass.sizes[1];
            match target {
                Target::Groups(to) => {
                    for (nth, to) in to.chunks_mut(size).enumerate() {
                        self.group_to_lanes(first + nth, to, x, scratch);
                    }
                }
                Target::Rows(mut rest) => {
                    let mut group = first;
                    while !rest.is_empty() {
                        let (x, lanes) = self.group(group, x, scratch);
                        let (to, others) = std::mem::take(&mut rest).split_at_mut(lanes * size);
                        self.put_rows(x, to);
                        (rest, group) = (others, group + 1);
                    }
                }
                Target::Columns(columns) => {
                    let mut columns: Vec<_> = columns.into_iter().map(D::pairs_mut).collect();
                    let count = columns.first().map_or(0, |column| column.len());
                    for (nth, start) in (0..count).step_by(L).enumerate() {
                        let (x, lanes) = self.group(first + nth, x, scratch);
                        Isa::best().run_doubles(StoreColumns {
                            x: &x[..size],
                            is_swapped: self.pass.is_inverse(),
                            scale: self.pass.scale(),
                            to: &mut columns,
                            lines: [start, lanes],
                        });
                    }
                }
            }
        });
        Ok(())
    }

    /// Transforms a group of lines in one of two places, and returns that; and its number of lines.
    fn group<'x>(
        &self,
        group: usize,
        mut x: &'x mut [Lanes<[f64; L]>],
        mut scratch: &'x mut [Lanes<[f64; L]>],
    ) -> (&'x mut [Lanes<[f64; L]>], usize) {
        let lanes = self.load(group, x);
        let (plan, way) = (&self.pass.plan, self.pass.way());
        let transform = Transform { plan, way, lanes, x: &mut x, scratch: &mut scratch };
        Isa::best().run_doubles(transform);
        (x, lanes)
    }

    /// Transforms a group of lines into memory for its elements, with two places beside.
    fn group_to_lanes(
        &self,
        group: usize,
        to: &mut [Lanes<[f64; L]>],
        x: &mut [Lanes<[f64; L]>],
        scratch: &mut [Lanes<[f64; L]>],
    ) {
        if self.is_zero(group) {
            let zeros =
                self.zeros.get_or_init(|| self.group(group, x, scratch).0[..to.len()].to_vec());
            return to.copy_from_slice(zeros);
        }
        if to.len() < self.pass.room() {
            let (x, _) = self.group(group, x, scratch);
            to.copy_from_slice(&x[..to.len()]);
        } else if self.pass.plan.swaps(self.pass.way()) % 2 == 0 {
            self.group(group, to, scratch);
        } else {
            self.group(group, scratch, to);
        }
    }

    /// True if a group of lines that follow each other in a tensor has no bits.
    fn is_zero(&self, group: usize) -> bool {
        let Source::Tensor(elements) = self.source else { return false };
        let (start, lanes) = self.groups.place(group, &self.strides);
        self.stride == 1 && {
            let lines = &elements[start..][..lanes * self.pass.sizes[0]];
            let is_zero = |part: &[u8]| part.iter().fold(0, |bits, &byte| bits | byte) == 0;
            bytemuck::cast_slice(lines).chunks(CHECKED_BYTES).all(is_zero)
        }
    }

    /// Reads a group of lines: those of real numbers in pairs; those to be transformed back with
    /// their parts exchanged, but for halves of transforms of pairs. Returns the number of lines.
    fn load(&self, group: usize, x: &mut [Lanes<[f64; L]>]) -> usize {
        let Lines { pass, groups, stride, .. } = *self;
        let (start, lanes) = groups.place(group, &self.strides);
        let is_swapped = pass.is_inverse() && pass.pairs.is_none();
        let [size, _] = pass.sizes;
        let re = usize::from(is_swapped);
        match self.source {
            Source::Tensor(elements)
                if pass.transform == Fourier::RealForward && pass.pairs.is_none() =>
            {
                let lines = elements[start..].chunks(size);
                x[..size].fill([[0.0; L]; 2]);
                for (lane, line) in lines.take(lanes).enumerate() {
                    for (x, element) in x.iter_mut().zip(line) {
                        x[0][lane] = element.parts()[0];
                    }
                }
            }
            Source::Tensor(elements) => {
                let is_pairs = pass.has_pairs(Fourier::RealForward);
                Isa::best().run_doubles(Load {
                    from: S::pairs(&elements[start..]),
                    stride: (stride > 1).then_some(stride),
                    lanes,
                    is_swapped,
                    x: &mut x[..if is_pairs { size / 2 } else { size }],
                });
            }
            Source::Groups { elements, axis, scale } => Isa::best().run_doubles(Regroup {
                from: Grouped {
                    elements: &elements[start..],
                    stride,
                    is_transposed: axis == lanes_axis(groups.dims, pass.axis),
                },
                lanes,
                // The pass before has left parts exchanged.
                is_swapped: is_swapped != pass.is_inverse(),
                scale,
                x: &mut x[..size],
            }),
        }
        if pass.transform == Fourier::RealInverse && pass.pairs.is_none() {
            // The second half is the first one backwards, conjugated.
            x[0][1 - re] = [0.0; L];
            for k in size..pass.length {
                x[k] = x[pass.length - k];
                x[k][1 - re].iter_mut().for_each(|im| *im = -*im);
            }
        }
        lanes
    }

    /// Writes transformed lines, those that were transformed back with their parts in order, and
    /// divided by the length.
    fn put_rows<D: Sample>(&self, x: &[Lanes<[f64; L]>], to: &mut [D]) {
        let pass = self.pass;
        let [_, size] = pass.sizes;
        if pass.transform == Fourier::RealInverse && pass.pairs.is_none() {
            for (lane, line) in to.chunks_mut(size).enumerate() {
                for (element, x) in line.iter_mut().zip(x) {
                    let re = match pass.scale() {
                        Scale::One => x[1][lane],
                        Scale::Times(factor) => x[1][lane] * factor,
                        Scale::Over(divisor) => x[1][lane] / divisor,
                    };
                    *element = D::from_parts([re, 0.0]);
                }
            }
            return;
        }
        Isa::best().run_doubles(StoreRows {
            x: &x[..if pass.has_pairs(Fourier::RealInverse) { size / 2 } else { size }],
            is_swapped: pass.is_inverse(),
            scale: pass.scale(),
            to: D::pairs_mut(to),
        });
    }
}

/// A plan for lines, and for pairs of twice as many real numbers if asked for.
type Prepared = (Arc<Plan>, Option<Arc<Pairs>>);

/// The length of lines; true if they are pairs of real numbers; and true if they are alone.
type Key = (usize, bool, bool);

/// A plan for lines; the last ones are kept.
fn plan(key: Key) -> Prepared {
    thread_local! {
        static PLANS: RefCell<Vec<(Key, Prepared)>> = const { RefCell::new(Vec::new()) };
    }
    let (length, is_paired, is_alone) = key;
    let new = || {
        let pairs = is_paired.then(|| Arc::new(Pairs::new(2 * length)));
        (Arc::new(Plan::new(length, is_alone)), pairs)
    };
    if length > MAX_PLANNED {
        return new();
    }
    PLANS.with_borrow_mut(|plans| {
        let (_, prepared) = match plans.iter().position(|(other, _)| *other == key) {
            Some(at) => plans.remove(at),
            None => (key, new()),
        };
        plans.truncate(MAX_PLANS - 1);
        // The last one used is the first.
        plans.insert(0, (key, prepared.clone()));
        let mut planned = 0;
        plans.retain(|((length, ..), _)| {
            planned += length;
            planned <= MAX_PLANNED
        });
        prepared
    })
}
