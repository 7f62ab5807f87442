//! Discrete Fourier transforms along the last dimensions.
//!
//! All are computed in double precision and rounded once.

use super::kernel::{Kernel, expect_bytes};
use super::parallel::task_size;
use crate::fft_lines::{Lanes, LinePlan, PairTransform, Transform, Way};
use crate::fft_moves::{Grouped, PairLoad, Regroup, SamplePart, Scale, StoreColumns, StoreRows};
use bytemuck::Pod;
use numerics::budget::{Reserved, reserve};
use numerics::math::AlignedBytes;
use numerics::shape::num_elements;
use numerics::simd::{DoublesArray, Isa};
use numerics::{Complex64, DType, Tensor, TensorError};
use program::EvalError;
use program::primitives::Fourier;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};
use std::thread::LocalKey;

/// Elementary operations to move an element of a line, roughly.
const LINE_WORK: usize = 8;
/// At most this many plans are kept.
const MAX_PLANS: usize = 8;
/// Their lines have at most this many elements together.
const MAX_PLANNED: usize = 1 << 20;
/// Lines that are transformed at a time,
const LANES: usize = 4;
/// Lines that are transformed at a time with AVX-512, if they have at most [`max_wide`] elements.
const WIDE: usize = 8;
/// At most this many lines are transformed one by one.
const FEW_LINES: usize = 2;
/// Their plans are for lines that are alone from this length on.
const MIN_ALONE: usize = 1 << 8;
/// Memory that is kept for the next transform has at most this many bytes.
const KEPT_BYTES: usize = 4 << 20;
/// This many bytes are checked for zeros at a time.
const CHECKED_BYTES: usize = 1 << 8;

/// Complex elements of lines of which the first-level cache holds [`WIDE`].
fn max_wide() -> usize {
    host::machine().l1.bytes / (WIDE * size_of::<[f64; 2]>())
}

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
    let prepared = FourierTransform::new(transform, operand.dtype(), operand.shape(), lengths)?;
    let mut result = Tensor::zeros(prepared.result, prepared.shape())?;
    prepared.run(operand.bytes(), result.bytes_mut()?)?;
    Ok(result)
}

/// A transform of the last dimensions of tensors of some type.
#[derive(Debug)]
pub struct FourierTransform {
    transform: Fourier,
    dtype: DType,
    result: DType,
    /// The dimensions of the operand; the ones before the transformed dimensions are merged.
    dims: Vec<usize>,
    /// Number of elements along each dimension that are given; the others are zeros.
    given: Vec<usize>,
    /// The dimensions of the operand before the transformed ones.
    outer: Vec<usize>,
    /// The number of elements of a line along the last dimension on the real side.
    length: usize,
}

impl FourierTransform {
    /// The transform of operands of a type and shape. `lengths` are the sizes of the last
    /// dimensions, on the real side of a real transform.
    ///
    /// # Errors
    /// If the element type is not that of the transform, or the lengths do not fit the shape.
    pub fn new(
        transform: Fourier,
        dtype: DType,
        shape: &[usize],
        lengths: &[usize],
    ) -> Result<FourierTransform, EvalError> {
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
        let rank = shape.len();
        let Some(&length) = lengths.last().filter(|_| lengths.len() <= rank) else {
            return Err(EvalError::new(
                "fft_c1",
                format!("{} lengths do not fit rank {rank}", lengths.len()),
            ));
        };
        let (outer, given) = shape.split_at(rank - lengths.len());
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
        let too_large = || EvalError::new("fft_c1", format!("{shape:?} is too large"));
        let mut dims = vec![num_elements(outer).ok_or_else(too_large)?];
        dims.extend(given);
        let (given, outer) = (dims.clone(), outer.to_vec());
        Ok(FourierTransform { transform, dtype, result, dims, given, outer, length })
    }

    /// The transform of an operand after which there are zeros along each dimension, and of which
    /// `shape` is given; `None` if that would have to be a copy.
    pub fn padded(self, shape: &[usize]) -> Option<FourierTransform> {
        let (outer, inner) = shape.split_at_checked(self.outer.len())?;
        let fits = inner.len() + 1 == self.dims.len()
            && inner.iter().zip(&self.dims[1..]).all(|(given, size)| given <= size);
        if !self.is_forward() || outer != self.outer || !fits || inner.contains(&0) {
            return None;
        }
        let mut given = self.given;
        given[1..].copy_from_slice(inner);
        Some(FourierTransform { given, ..self })
    }

    fn is_forward(&self) -> bool {
        matches!(self.transform, Fourier::Forward | Fourier::RealForward)
    }

    /// The type of the elements of the result.
    pub fn result_type(&self) -> DType {
        self.result
    }

    /// The shape of the result.
    pub fn shape(&self) -> Vec<usize> {
        let mut shape = [&self.outer, &self.dims[1..]].concat();
        if let Some(last) = shape.last_mut() {
            *last = self.last_size();
        }
        shape
    }

    /// The size of the last dimension of the result.
    fn last_size(&self) -> usize {
        if self.transform == Fourier::RealForward { half(self.length) } else { self.length }
    }

    /// Computes the bytes of the result.
    ///
    /// # Errors
    /// If there are fewer bytes than the types have, or there is no memory.
    pub fn run(&self, operand: &[u8], result: &mut [u8]) -> Result<(), TensorError> {
        match self.dtype {
            DType::F32 | DType::C64 => self.run_typed::<f32>(operand, result),
            _ => self.run_typed::<f64>(operand, result),
        }
    }

    fn run_typed<R: SamplePart>(
        &self,
        operand: &[u8],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let from = bytemuck::try_cast_slice::<u8, R>(operand).ok();
        let to = bytemuck::try_cast_slice_mut::<u8, R>(result).ok();
        let [from_parts, to_parts] = [self.dtype, self.result].map(parts_of);
        let given = self.given.iter().product::<usize>() * from_parts;
        let size = self.shape().iter().product::<usize>() * to_parts;
        let (from, to) =
            (from.and_then(|from| from.get(..given)), to.and_then(|to| to.get_mut(..size)));
        let (Some(from), Some(to)) = (from, to) else { return Err(TensorError::OutOfBounds) };
        if to.is_empty() {
            return Ok(());
        }
        let mut dims = self.dims.clone();
        let (last, size) = (dims.len() - 1, self.last_size());
        let mut passes = Vec::new();
        if self.is_forward() {
            passes.push(AxisPass::new(&dims, last, self.transform, self.length, size)?);
            dims[last] = size;
            for axis in (1..last).rev() {
                passes.push(AxisPass::new(&dims, axis, Fourier::Forward, dims[axis], dims[axis])?);
            }
        } else {
            for axis in 1..last {
                passes.push(AxisPass::new(&dims, axis, Fourier::Inverse, dims[axis], dims[axis])?);
            }
            passes.push(AxisPass::new(&dims, last, self.transform, self.length, size)?);
        }
        // All lines have this many beside them, or more.
        let beside = passes.iter().map(|pass| dims[lanes_axis(&dims, pass.axis)]).min();
        let are_alone = passes.iter().any(|pass| pass.plan.is_alone());
        let size = passes.iter().map(|pass| pass.plan.size()).max().unwrap_or(0);
        let from = OperandLines { parts: from, per_element: from_parts, given: &self.given };
        let to = (to, to_parts);
        let beside = beside.unwrap_or(1);
        with_rooms(&GROUPS, |rooms| {
            let isa = Isa::best();
            if are_alone || beside <= FEW_LINES || !<[f64; LANES]>::is_compiled(isa) {
                run::<R, 1>(&passes, &dims, from, to, rooms)
            } else if beside > LANES && isa.has_fast_avx512() && size <= max_wide() {
                run::<R, WIDE>(&passes, &dims, from, to, rooms)
            } else {
                run::<R, LANES>(&passes, &dims, from, to, rooms)
            }
        })
    }
}

impl Kernel for FourierTransform {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([operand], result) = expect_bytes(operands, results)?;
        self.run(operand, result)
    }
}

/// Number of elements of a real transform that determine the rest.
fn half(length: usize) -> usize {
    if length == 0 { 0 } else { length / 2 + 1 }
}

/// The transforms of lines along one axis.
struct AxisPass {
    axis: usize,
    transform: Fourier,
    /// The number of elements of a line on the real side.
    length: usize,
    /// The number of elements of a line before and after.
    sizes: [usize; 2],
    plan: Arc<LinePlan>,
    /// For real lines of even length.
    pairs: Option<Arc<PairTransform>>,
    _reserved: Reserved,
}

impl AxisPass {
    /// Along an axis of a shape.
    fn new(
        dims: &[usize],
        axis: usize,
        transform: Fourier,
        length: usize,
        size: usize,
    ) -> Result<AxisPass, TensorError> {
        let is_real = matches!(transform, Fourier::RealForward | Fourier::RealInverse);
        let is_paired = is_real && length.is_multiple_of(2);
        let lines: usize = dims.iter().product::<usize>() / dims[axis];
        let is_alone = length >= MIN_ALONE && lines <= FEW_LINES;
        let key = (if is_paired { length / 2 } else { length }, is_paired, is_alone);
        let of_pairs = if is_paired { length } else { 0 };
        let made = LinePlan::max_roots(key.0, is_alone).saturating_add(of_pairs);
        let (plan, pairs) = {
            let _reserved = reserve::<Complex64>(made)?;
            plan(key)
        };
        let reserved = reserve::<Complex64>(plan.roots() + of_pairs.div_ceil(2))?;
        let sizes = [dims[axis], size];
        Ok(AxisPass { axis, transform, length, sizes, plan, pairs, _reserved: reserved })
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
        // The last element of half a transform is beyond the elements of pairs.
        self.plan.size() + usize::from(self.pairs.is_some())
    }

    /// The factor of the way back: one divided by the length.
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

/// The axis whose lines are lanes while lines along `axis` are transformed: the last one, or the
/// one before.
fn lanes_axis(dims: &[usize], axis: usize) -> usize {
    let last = dims.len() - 1;
    if axis == last { last - 1 } else { last }
}

/// Groups of `L` lines along an axis, in row-major order of the other dimensions.
struct LineGroups<'a, const L: usize> {
    dims: &'a [usize],
    axis: usize,
}

impl<const L: usize> LineGroups<'_, L> {
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

    /// The number of lines of a group.
    fn lanes(&self, group: usize) -> usize {
        let lanes_axis = lanes_axis(self.dims, self.axis);
        L.min(self.dims[lanes_axis] - group % self.size(lanes_axis) * L)
    }

    /// The place of a group, given the distance of groups along each dimension; and its number of
    /// lines within sizes.
    fn place(&self, mut group: usize, strides: &[usize], sizes: &[usize]) -> (usize, usize) {
        let lanes_axis = lanes_axis(self.dims, self.axis);
        let (mut place, mut lanes, mut is_within) = (0, 0, true);
        for dim in self.others().rev() {
            let size = self.size(dim);
            let index = group % size;
            group /= size;
            place += index * strides[dim];
            if dim == lanes_axis {
                lanes = L.min(sizes[dim].saturating_sub(index * L));
            } else {
                is_within &= index < sizes[dim];
            }
        }
        (place, if is_within { lanes } else { 0 })
    }
}

/// The number of parts of an element: two if it is complex.
fn parts_of(dtype: DType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}

/// The elements of a tensor.
#[derive(Clone, Copy)]
struct OperandLines<'a, R> {
    /// The parts of all elements.
    parts: &'a [R],
    /// The number of parts of an element.
    per_element: usize,
    /// The sizes, beyond which there are zeros.
    given: &'a [usize],
}

/// Where the lines of a pass come from.
#[derive(Clone, Copy)]
enum LineSource<'a, R, const L: usize> {
    /// A tensor.
    Tensor(OperandLines<'a, R>),
    /// Groups of lines along another axis, from the previous pass, whose numbers are still to be
    /// changed.
    Groups { elements: &'a [Lanes<[f64; L]>], axis: usize, scale: Scale },
}

/// Where they go.
enum LineTarget<'o, R, const L: usize> {
    /// The parts of consecutive lines.
    Rows(&'o mut [R]),
    /// A slice for each element of a line, with the parts of that element of all lines.
    Columns(Vec<&'o mut [R]>),
    Groups(&'o mut [Lanes<[f64; L]>]),
}

type Rooms = Cell<[AlignedBytes; 2]>;

thread_local! {
    /// Memory of groups of lines between passes.
    static GROUPS: Rooms = const { Cell::new([const { AlignedBytes::new() }; 2]) };
    /// Memory of lines that are transformed, and as much again.
    static LINES: Rooms = const { Cell::new([const { AlignedBytes::new() }; 2]) };
}

/// Calls a function with memory that is kept for the next call on this thread.
fn with_rooms<R>(
    key: &'static LocalKey<Rooms>,
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

/// Runs passes with `L` lines at a time. `dims` are the sizes between them; the number of parts of
/// an element is beside the parts of the result.
fn run<R: SamplePart, const L: usize>(
    passes: &[AxisPass],
    dims: &[usize],
    from: OperandLines<'_, R>,
    to: (&mut [R], usize),
    [before, after]: &mut [AlignedBytes; 2],
) -> Result<(), TensorError>
where
    [f64; L]: Pod + DoublesArray,
{
    let mut last = None;
    let mut _reserved = [const { None }; 2];
    for (nth, pass) in passes.iter().enumerate() {
        let groups = LineGroups::<L> { dims, axis: pass.axis };
        let source = match last {
            None => LineSource::Tensor(from),
            Some((axis, scale)) => {
                LineSource::Groups { elements: bytemuck::cast_slice(before), axis, scale }
            }
        };
        let lines = PassLines::<R, L>::new(pass, &groups, source);
        if nth + 1 == passes.len() {
            return lines.to_tensor(to.0, to.1);
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
struct PassLines<'a, R, const L: usize> {
    pass: &'a AxisPass,
    groups: &'a LineGroups<'a, L>,
    source: LineSource<'a, R, L>,
    /// The distances of groups in the source.
    strides: Vec<usize>,
    /// The distance of the elements of a line, or of lanes.
    stride: usize,
    /// The transform of lines of zeros, once it is needed.
    zeros: OnceLock<Vec<Lanes<[f64; L]>>>,
}

impl<'a, R: SamplePart, const L: usize> PassLines<'a, R, L>
where
    [f64; L]: Pod + DoublesArray,
{
    fn new(
        pass: &'a AxisPass,
        groups: &'a LineGroups<'a, L>,
        source: LineSource<'a, R, L>,
    ) -> Self {
        let lanes_axis = lanes_axis(groups.dims, pass.axis);
        let mut strides;
        match source {
            LineSource::Tensor(OperandLines { given, .. }) => {
                strides = vec![1; given.len()];
                for dim in (0..given.len() - 1).rev() {
                    strides[dim] = strides[dim + 1] * given[dim + 1];
                }
                strides[lanes_axis] *= L;
            }
            LineSource::Groups { axis, .. } => {
                strides = LineGroups::<L> { dims: groups.dims, axis }.strides();
                if axis == lanes_axis {
                    strides[axis] = L;
                }
            }
        }
        let stride = strides[pass.axis];
        PassLines { pass, groups, source, strides, stride, zeros: OnceLock::new() }
    }

    /// How many groups make a task.
    fn task_size(&self, count: usize) -> usize {
        let AxisPass { plan, .. } = self.pass;
        let work = plan.size().saturating_mul(LINE_WORK).saturating_add(plan.work());
        task_size(count, work.saturating_mul(L), 1)
    }

    /// Transforms all lines into memory for groups.
    fn to_groups(&self, to: &mut [Lanes<[f64; L]>]) -> Result<(), TensorError> {
        let size = self.task_size(self.groups.count());
        let tasks = to.chunks_mut(size * self.pass.sizes[1]).enumerate();
        let tasks = tasks.map(|(nth, to)| (nth * size, LineTarget::Groups(to))).collect();
        host::parallel(tasks, |(first, target)| self.transform(first, target))
    }

    /// Transforms all lines into a tensor, whose elements have this many parts each.
    fn to_tensor(&self, to: &mut [R], per_element: usize) -> Result<(), TensorError> {
        let LineGroups { dims, axis } = *self.groups;
        let lanes_axis = lanes_axis(dims, axis);
        let per_row = self.groups.size(lanes_axis);
        let mut tasks = Vec::new();
        if lanes_axis < axis {
            // Some groups each, or the groups of whole blocks of rows.
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
                let parts = rows * self.pass.sizes[1] * per_element;
                let (part, others) = std::mem::take(&mut rest).split_at_mut(parts);
                rest = others;
                tasks.push((first, LineTarget::Rows(part)));
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
                    tasks.push((block * per_row + part * size, LineTarget::Columns(columns)));
                }
            }
            for (row, to) in to.chunks_mut(dims[lanes_axis] * per_element).enumerate() {
                let block = row / (count * inner) * inner + row % inner;
                let to = to.chunks_mut(size * L * per_element);
                for (task, to) in tasks[block * parts..].iter_mut().zip(to) {
                    if let (_, LineTarget::Columns(columns)) = task {
                        columns.push(to);
                    }
                }
            }
        }
        host::parallel(tasks, |(first, target)| self.transform(first, target))
    }

    /// Transforms lines from a group on.
    fn transform(&self, first: usize, target: LineTarget<'_, R, L>) -> Result<(), TensorError> {
        let room = self.pass.room();
        let _reserved = reserve::<[Lanes<[f64; L]>; 2]>(room)?;
        with_rooms(&LINES, |rooms| {
            rooms.iter_mut().for_each(|bytes| bytes.resize(room * size_of::<Lanes<[f64; L]>>()));
            let [x, scratch] = rooms.each_mut().map(|bytes| bytemuck::cast_slice_mut(bytes));
            let size = self.pass.sizes[1];
            match target {
                LineTarget::Groups(to) => {
                    for (nth, to) in to.chunks_mut(size).enumerate() {
                        self.group_to_lanes(first + nth, to, x, scratch);
                    }
                }
                LineTarget::Rows(mut rest) => {
                    let mut group = first;
                    while !rest.is_empty() {
                        let (x, lanes) = self.group(group, x, scratch);
                        let parts = lanes * size * self.parts_of_result();
                        let (to, others) = std::mem::take(&mut rest).split_at_mut(parts);
                        self.put_rows(x, to);
                        (rest, group) = (others, group + 1);
                    }
                }
                LineTarget::Columns(columns) => {
                    let columns = columns.into_iter().map(|column| column.as_chunks_mut().0);
                    let mut columns: Vec<&mut [[R; 2]]> = columns.collect();
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
        self.load(group, x);
        let (plan, way, lanes) = (&self.pass.plan, self.pass.way(), self.groups.lanes(group));
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
            // That of any lines of zeros.
            let transformed = || {
                let (x, _) = self.group(group, x, scratch);
                x[..to.len()].to_vec()
            };
            to.copy_from_slice(self.zeros.get_or_init(transformed));
        } else if to.len() < self.pass.room() {
            let (x, _) = self.group(group, x, scratch);
            to.copy_from_slice(&x[..to.len()]);
        } else if self.pass.plan.swaps(self.pass.way()).is_multiple_of(2) {
            self.group(group, to, scratch);
        } else {
            self.group(group, scratch, to);
        }
    }

    /// The number of parts of an element of a transformed line.
    fn parts_of_result(&self) -> usize {
        if self.pass.transform == Fourier::RealInverse { 1 } else { 2 }
    }

    /// True if all bits of a group of lines, which are consecutive in a tensor, are zeros.
    fn is_zero(&self, group: usize) -> bool {
        let LineSource::Tensor(OperandLines { parts, per_element, given }) = self.source else {
            return false;
        };
        let (start, lanes) = self.groups.place(group, &self.strides, given);
        if lanes == 0 {
            return true;
        }
        let is_zero = |part: &[u8]| part.iter().fold(0, |bits, &byte| bits | byte) == 0;
        self.stride == 1 && {
            let lines = &parts[start * per_element..];
            let lines = &lines[..lanes * given[self.pass.axis] * per_element];
            bytemuck::cast_slice(lines).chunks(CHECKED_BYTES).all(is_zero)
        }
    }

    /// Reads a group of lines: real numbers in pairs; numbers to be transformed back with
    /// their parts exchanged, but for halves of transforms of pairs.
    fn load(&self, group: usize, x: &mut [Lanes<[f64; L]>]) {
        let PassLines { pass, groups, stride, .. } = *self;
        let is_swapped = pass.is_inverse() && pass.pairs.is_none();
        let [size, _] = pass.sizes;
        match self.source {
            LineSource::Tensor(OperandLines { parts, per_element, given }) => {
                let (start, lanes) = groups.place(group, &self.strides, given);
                let from = parts.get(start * per_element..).unwrap_or(&[]);
                let count = given[pass.axis] * per_element;
                let is_pairs = pass.has_pairs(Fourier::RealForward);
                let x = &mut x[..if is_pairs { size / 2 } else { size }];
                if pass.transform == Fourier::RealForward && !is_pairs {
                    x.fill([[0.0; L]; 2]);
                    for (lane, line) in from.chunks(count).take(lanes).enumerate() {
                        for (x, &number) in x.iter_mut().zip(line) {
                            x[0][lane] = number.into();
                        }
                    }
                    return;
                }
                let stride = (stride > 1).then_some(2 * stride);
                Isa::best().run_doubles(PairLoad { from, count, stride, lanes, is_swapped, x });
            }
            LineSource::Groups { elements, axis, scale } => {
                let (start, lanes) = groups.place(group, &self.strides, groups.dims);
                let is_transposed = axis == lanes_axis(groups.dims, pass.axis);
                Isa::best().run_doubles(Regroup {
                    from: Grouped { elements: &elements[start..], stride, is_transposed },
                    lanes,
                    // The pass before has left parts exchanged.
                    is_swapped: is_swapped != pass.is_inverse(),
                    scale,
                    x: &mut x[..size],
                });
            }
        }
        if pass.transform == Fourier::RealInverse && pass.pairs.is_none() {
            // The second half is the first one backwards, conjugated.
            let im = usize::from(!is_swapped);
            x[0][im] = [0.0; L];
            for k in size..pass.length {
                x[k] = x[pass.length - k];
                x[k][im].iter_mut().for_each(|im| *im = -*im);
            }
        }
    }

    /// Writes transformed lines, the ones transformed back with their parts in order, and
    /// divided by the length.
    fn put_rows(&self, x: &[Lanes<[f64; L]>], to: &mut [R]) {
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
                    *element = R::nearest(re);
                }
            }
            return;
        }
        Isa::best().run_doubles(StoreRows {
            x: &x[..if pass.has_pairs(Fourier::RealInverse) { size / 2 } else { size }],
            is_swapped: pass.is_inverse(),
            scale: pass.scale(),
            to: to.as_chunks_mut().0,
        });
    }
}

/// A plan for lines, and for pairs of twice the number of real numbers if asked for.
type Prepared = (Arc<LinePlan>, Option<Arc<PairTransform>>);

/// The length of lines; true if they are pairs of real numbers; and true if they are alone.
type Key = (usize, bool, bool);

/// A plan for lines; the last ones are kept.
fn plan(key: Key) -> Prepared {
    thread_local! {
        static PLANS: RefCell<Vec<(Key, Prepared)>> = const { RefCell::new(Vec::new()) };
    }
    let (length, is_paired, is_alone) = key;
    let new = || {
        let pairs = is_paired.then(|| Arc::new(PairTransform::new(2 * length)));
        (Arc::new(LinePlan::new(length, is_alone)), pairs)
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
