//! The largest or smallest element along a dimension with its index: `argmax` and `argmin` as
//! exporters write them, a `reduce` of elements and indices.
//!
//! Tensors are of three dimensions, `outer`, `count` and `inner`, of which the middle one is
//! reduced. Of long rows of neighbours, the elements of each are compared with each other in lanes;
//! other results have a lane each.

use super::converted::convert_into;
use super::extremum_rows::{MIN_LONG, RowElements, first_places};
use super::parallel::task_size;
use numerics::budget::Scratch;
use numerics::math::{self, Direction};
use numerics::simd::{Isa, Kernel, transpose};
use numerics::{DType, Element, Integer, Tensor, TensorError};
use program::Extremum;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements that are compared at a time.
const LANES: usize = 16;
/// Elementary operations for an element and its index.
const WORK: usize = 8;
/// Rows of fewer neighbours are compared side by side.
const SHORT_ROW: usize = 32;
/// Short rows that are copied at a time.
const COPIED: usize = 256;
/// Elements that are converted at a time,
const CONVERTED: usize = 4096;
/// and neighbours among them at least, unless there are fewer.
const CONVERTED_COLUMNS: usize = 128;
/// Rows of fewer elements than are copied whose extrema are found at a time.
const TINY_ROWS: usize = 1024;

/// The extremum of each result's elements with its index, combined with the initial ones; `None`
/// for other types of elements. Every order of the body gives these bits: the bits of the first
/// NaN, if any, and otherwise the bits of the last extremum and the least index of one.
///
/// # Errors
/// If there is no memory for the results, or the tensors do not have these sizes.
pub fn reduce(
    kind: Extremum,
    [values, indices]: [&Tensor; 2],
    init: [&Tensor; 2],
    sizes: [usize; 3],
) -> Result<Option<[Tensor; 2]>, TensorError> {
    let [dtype, index] = [values.dtype(), indices.dtype()];
    let wide = wide_type(dtype);
    let place = if wide == DType::I64 && index == DType::I32 { DType::I64 } else { index };
    if place != index {
        let of_type = |tensor: &Tensor| math::convert(tensor.clone(), place);
        let (indices, first) = (of_type(indices)?, of_type(init[1])?);
        let Some([best, places]) = reduce(kind, [values, &indices], [init[0], &first], sizes)?
        else {
            return Ok(None);
        };
        return Ok(Some([best, math::convert(places, index)?]));
    }
    dispatch_extremum!(wide, index, T, I => {
        let indices = indices.as_slice::<I>()?;
        let init = (math::convert(init[0].clone(), wide)?.item::<T>()?, init[1].item::<I>()?);
        let lines = ReducedLines::new(sizes, [values.num_elements(), indices.len()])?;
        let mut results =
            [Tensor::zeros(dtype, [lines.len])?, Tensor::zeros(I::DTYPE, [lines.len])?];
        let [best, places] = &mut results;
        let (best, places) = (best.bytes_mut()?, places.make_mut::<I>()?);
        extrema_of_type(kind, dtype, (values.bytes(), indices), init, [lines; 2], (best, places))?;
        Ok(Some(results))
    }, else Ok(None))
}

/// The type in which elements are compared, which has all of their values.
pub(crate) fn wide_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 | DType::F16 => DType::F32,
        DType::I1 | DType::I8 | DType::I16 | DType::U8 | DType::U16 => DType::I32,
        DType::U32 => DType::I64,
        _ => dtype,
    }
}

/// Evaluates an expression with `T` and `I` bound to the types of elements and indices.
macro_rules! dispatch_extremum {
    ($values:expr, $indices:expr, $T:ident, $I:ident => $body:expr, else $other:expr) => {
        $crate::extremum::dispatch_extremum!(@arms $values, $indices, $T, $I, $body, $other,
            (F32 f32, I32 i32) (F32 f32, I64 i64) (F64 f64, I32 i32) (F64 f64, I64 i64)
            (I32 i32, I32 i32) (I32 i32, I64 i64) (I64 i64, I64 i64))
    };
    (@arms $values:expr, $indices:expr, $T:ident, $I:ident, $body:expr, $other:expr,
        $(($dtype:ident $value:ty, $index:ident $place:ty))*) => {
        match ($values, $indices) {
            $((numerics::DType::$dtype, numerics::DType::$index) => {
                type $T = $value;
                type $I = $place;
                $body
            })*
            _ => $other,
        }
    };
}

pub(crate) use dispatch_extremum;

/// Writes the extremum of each result's elements, and its index. The elements have a type whose
/// [`wide_type`] is `T`.
///
/// # Errors
/// If there is no memory for threads, or bytes are not aligned for elements.
pub(crate) fn extrema_of_type<T: Element + PartialOrd, I: Integer + Ord>(
    kind: Extremum,
    dtype: DType,
    (values, indices): (&[u8], &[I]),
    init: (T, I),
    lines: [ReducedLines; 2],
    (best, places): (&mut [u8], &mut [I]),
) -> Result<(), TensorError> {
    let misaligned = |_| TensorError::OutOfBounds;
    if dtype == T::DTYPE {
        let values = bytemuck::try_cast_slice(values).map_err(misaligned)?;
        let best = bytemuck::try_cast_slice_mut(best).map_err(misaligned)?;
        let size = task_size(lines[0].len, WORK * lines[0].count, LANES);
        let outs = best.chunks_mut(size).zip(places.chunks_mut(size));
        return host::parallel(outs.enumerate().collect(), |(task, outs)| {
            extrema(kind, (values, indices), lines, task * size, init, outs)
        });
    }
    let ReducedLines { count, len, inner, .. } = lines[0];
    if len == 0 {
        return Ok(());
    }
    // Some results at a time: of several small groups, or of one group.
    let are_rows = lines[0].are_rows();
    let together = if are_rows { 1 } else { (CONVERTED / (inner * count)).max(1) };
    let size = match together {
        1 if are_rows => (CONVERTED / count).max(1),
        1 => (CONVERTED / count).max(CONVERTED_COLUMNS),
        _ => together * inner,
    };
    let bytes = dtype.bytes();
    let mut tasks: Vec<(usize, &mut [u8], &mut [I])> = Vec::new();
    let results = together * inner;
    let groups = best.chunks_mut(results * bytes).zip(places.chunks_mut(results));
    for (group, (best, places)) in groups.enumerate() {
        let first = group * results;
        let parts = best.chunks_mut(size * bytes).zip(places.chunks_mut(size)).enumerate();
        tasks.extend(parts.map(|(nth, (best, places))| (first + nth * size, best, places)));
    }
    let part = |(first, best, places): (usize, &mut [u8], &mut [I])| {
        let results = places.len();
        let mut room: Scratch<T> = Scratch::filled(results * count, T::default())?;
        let mut best_room: Scratch<T> = Scratch::filled(results, T::default())?;
        let start = lines[0].start(first);
        let are_adjacent = are_rows || together > 1;
        let step = if are_adjacent { results * count } else { inner };
        let neighbours = if are_adjacent { step } else { results };
        let converted = room.chunks_mut(neighbours);
        for (elements, converted) in values[start * bytes..].chunks(step * bytes).zip(converted) {
            let converted = bytemuck::cast_slice_mut(converted);
            convert_into(&elements[..neighbours * bytes], [dtype, T::DTYPE], converted)?;
        }
        let by_part = ReducedLines::new([results, count, 1], [results * count; 2])?;
        let of_values = match together {
            1 if are_rows => by_part,
            1 => ReducedLines { distances: [1, results], ..by_part },
            _ => ReducedLines::new([results / inner, count, inner], [results * count; 2])?,
        };
        let (indices, of_indices) = match lines[1].distances[0] {
            0 => (indices, ReducedLines { distances: [0, 1], ..by_part }),
            _ if together > 1 => (&indices[start..], of_values),
            _ => {
                let distances = lines[1].distances;
                (&indices[start..], ReducedLines { distances, ..by_part })
            }
        };
        let outs = (&mut best_room[..], places);
        extrema(kind, (&room, indices), [of_values, of_indices], 0, init, outs)?;
        convert_into(bytemuck::cast_slice(&best_room), [T::DTYPE, dtype], best)
    };
    if task_size(len, WORK * count, LANES) >= len {
        return tasks.into_iter().try_for_each(part);
    }
    host::parallel(tasks, part)
}

/// Writes the extrema from number `first` on.
///
/// # Errors
/// If there is no memory for copies.
fn extrema<T: Element + PartialOrd, I: Integer + Ord>(
    kind: Extremum,
    elements: (&[T], &[I]),
    lines: [ReducedLines; 2],
    first: usize,
    init: (T, I),
    outs: (&mut [T], &mut [I]),
) -> Result<(), TensorError> {
    if tiny_rows(kind, elements, lines, first, init, (&mut *outs.0, &mut *outs.1)) {
        return Ok(());
    }
    if !lines[0].are_short_rows() || outs.0.len() < LANES {
        run(kind, elements, lines, first, init, outs);
        return Ok(());
    }
    // Some rows at a time are copied as columns: then neighbours have lanes.
    let mut rooms: (Scratch<T>, Scratch<I>) = (
        Scratch::filled(COPIED * lines[0].count, T::default())?,
        Scratch::filled(COPIED * lines[0].count, I::default())?,
    );
    let parts = outs.0.chunks_mut(COPIED).zip(outs.1.chunks_mut(COPIED));
    for (part, outs) in parts.enumerate() {
        let (first, rows) = (first + part * COPIED, outs.0.len());
        let (values, by_rows) = lines[0].copy(elements.0, first, rows, &mut rooms.0);
        let (indices, index_lines) = match lines[1].are_short_rows() {
            true => lines[1].copy(elements.1, first, rows, &mut rooms.1),
            false => (elements.1, lines[1]),
        };
        run(kind, (values, indices), [by_rows, index_lines], 0, init, outs);
    }
    Ok(())
}

/// As [`extrema`], of rows of fewer elements than are copied, whose indices are equal and ascend.
/// False, and nothing is written, for others.
fn tiny_rows<T: Element + PartialOrd, I: Integer + Ord>(
    kind: Extremum,
    (values, indices): (&[T], &[I]),
    lines: [ReducedLines; 2],
    first: usize,
    init: (T, I),
    (best, places): (&mut [T], &mut [I]),
) -> bool {
    let count = lines[0].count;
    let are_ascending = |indices: &[I]| indices.windows(2).all(|pair| pair[0] < pair[1]);
    let is_row = lines[0].are_rows() && lines[0].inner == lines[0].len;
    if count >= MIN_LONG
        || !is_row
        || lines[1].distances != [0, 1]
        || !are_ascending(&indices[..count])
    {
        return false;
    }
    let values = &values[first * count..][..best.len() * count];
    let results = best.chunks_mut(TINY_ROWS).zip(places.chunks_mut(TINY_ROWS));
    for ((best, places), values) in results.zip(values.chunks(TINY_ROWS * count)) {
        let elements = match T::DTYPE {
            DType::F32 => RowElements::Singles(bytemuck::cast_slice(values)),
            DType::F64 => RowElements::Doubles(bytemuck::cast_slice(values)),
            DType::I32 => RowElements::Integers(bytemuck::cast_slice(values)),
            DType::I64 => RowElements::LongIntegers(bytemuck::cast_slice(values)),
            _ => return false,
        };
        let mut numbers = [0; TINY_ROWS];
        let numbers = &mut numbers[..best.len()];
        first_places(elements, count, kind == Extremum::Maximum, numbers);
        let results = best.iter_mut().zip(places).zip(numbers);
        for (((best, place), number), row) in results.zip(values.chunks_exact(count)) {
            let mut value = row[*number as usize];
            if value == T::ZERO {
                // Zeros are equal with other bits.
                value = row.iter().rev().copied().find(|&x| x == value).unwrap_or(value);
            }
            let found = (value, indices[*number as usize]);
            (*best, *place) = match kind {
                Extremum::Maximum => combine(init, found, &|x, y| x > y),
                Extremum::Minimum => combine(init, found, &|x, y| x < y),
            };
        }
    }
    true
}

/// [`extrema`] of the results from number `first` on.
fn run<T: Element + PartialOrd, I: Integer + Ord>(
    kind: Extremum,
    elements: (&[T], &[I]),
    lines: [ReducedLines; 2],
    first: usize,
    init: (T, I),
    outs: (&mut [T], &mut [I]),
) {
    match kind {
        Extremum::Maximum => Isa::best().run(Extrema {
            elements,
            lines,
            first,
            init,
            outs,
            precedes: |x: T, y: T| x > y,
        }),
        Extremum::Minimum => Isa::best().run(Extrema {
            elements,
            lines,
            first,
            init,
            outs,
            precedes: |x: T, y: T| x < y,
        }),
    }
}

/// Where the elements of each result are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReducedLines {
    /// The number of results.
    len: usize,
    /// The number of elements of each.
    count: usize,
    /// The number of consecutive results whose elements are at equal distances,
    inner: usize,
    /// the distance between the elements of such results, and that between those of one.
    distances: [usize; 2],
}

impl ReducedLines {
    /// The lines along the middle dimension of tensors that have this number of elements.
    pub(crate) fn new(
        [outer, count, inner]: [usize; 3],
        lens: [usize; 2],
    ) -> Result<ReducedLines, TensorError> {
        let len = outer.saturating_mul(inner);
        if count == 0 || lens != [len.saturating_mul(count); 2] {
            return Err(TensorError::OutOfBounds);
        }
        Ok(match inner {
            1 => ReducedLines { len, count, inner: len.max(1), distances: [count, 1] },
            _ => ReducedLines { len, count, inner, distances: [1, inner] },
        })
    }

    /// True if the elements of a result are neighbours.
    fn are_rows(&self) -> bool {
        self.distances[1] == 1
    }

    /// The number of results.
    pub(crate) fn results(&self) -> usize {
        self.len
    }

    /// The lines of results with the same elements: the first ones, in order.
    pub(crate) fn repeated(&self) -> ReducedLines {
        ReducedLines { inner: self.len.max(1), distances: [0, 1], ..*self }
    }

    /// True if the elements of a result are many neighbours.
    #[inline(always)]
    fn are_long_rows(&self) -> bool {
        self.distances[1] == 1 && self.count >= SHORT_ROW
    }

    /// True if the elements of a result are few neighbours, one result after the other.
    fn are_short_rows(&self) -> bool {
        (MIN_LONG..SHORT_ROW).contains(&self.count)
            && self.distances == [self.count, 1]
            && self.inner == self.len
    }

    /// Copies short rows, of some results from number `first` on, as columns: elements of
    /// neighbouring results are neighbours.
    fn copy<'a, T: Element>(
        &self,
        elements: &[T],
        first: usize,
        rows: usize,
        room: &'a mut [T],
    ) -> (&'a [T], ReducedLines) {
        let room = &mut room[..rows * self.count];
        let elements = &elements[first * self.count..][..room.len()];
        transpose((elements, self.count), (room, rows), [rows, self.count]);
        (room, ReducedLines { len: rows, inner: rows, distances: [1, rows], ..*self })
    }

    /// Where the elements of a result begin.
    #[inline(always)]
    fn start(&self, result: usize) -> usize {
        let (block, at) = (result / self.inner, result % self.inner);
        block * self.inner * self.count + at * self.distances[0]
    }

    /// The number of consecutive results from `result` on, at most `most`, whose elements are at
    /// equal distances.
    #[inline(always)]
    fn run(&self, result: usize, most: usize) -> usize {
        most.min(self.inner - result % self.inner)
    }

    /// Where the next [`LANES`] results begin, of `len` from `first` on of which some are `done`:
    /// among those that are done already if fewer are left at equal distances.
    #[inline(always)]
    fn overlapping(&self, first: usize, done: usize, len: usize) -> usize {
        let missing = LANES.saturating_sub(self.run(first + done, len - done));
        let before = done.min((first + done) % self.inner);
        if missing <= before { done - missing } else { done }
    }

    /// The elements with a number of [`LANES`] results whose elements begin at `start`.
    #[inline(always)]
    fn lanes<T: Copy>(&self, elements: &[T], start: usize, number: usize) -> [T; LANES] {
        let [lane, step] = self.distances;
        let elements = &elements[start + number * step..];
        match (lane, elements.first_chunk()) {
            (1, Some(lanes)) => *lanes,
            _ => std::array::from_fn(|i| elements[i * lane]),
        }
    }
}

/// Returns the element of each result's elements that is in a relation to all others, with its
/// index, combined with the initial ones; of equal elements the first one, or the last one if the
/// relation is not that of equal ones. `None` for other types and relations, or if there are NaNs,
/// with which the order of the body matters.
///
/// # Errors
/// As [`reduce`].
pub fn choose(
    relation: Direction,
    [values, indices]: [&Tensor; 2],
    init: [&Tensor; 2],
    sizes: [usize; 3],
) -> Result<Option<[Tensor; 2]>, TensorError> {
    macro_rules! dispatch {
        ($(($dtype:ident $T:ty))*) => {
            match (values.dtype(), relation) {
                $((DType::$dtype, Direction::Ge | Direction::Gt) => {
                    let precedes = |x: $T, y: $T| x > y;
                    choose_typed(relation, [values, indices], init, sizes, precedes)
                }
                (DType::$dtype, Direction::Le | Direction::Lt) => {
                    let precedes = |x: $T, y: $T| x < y;
                    choose_typed(relation, [values, indices], init, sizes, precedes)
                })*
                _ => Ok(None),
            }
        };
    }
    let (dtype, wide) = (values.dtype(), wide_type(values.dtype()));
    if dtype != wide {
        let [of_values, of_init] =
            [values, init[0]].map(|tensor| math::convert(tensor.clone(), wide));
        let found = choose(relation, [&of_values?, indices], [&of_init?, init[1]], sizes)?;
        let Some([best, places]) = found else { return Ok(None) };
        return Ok(Some([math::convert(best, dtype)?, places]));
    }
    dispatch! { (F32 f32) (F64 f64) (I32 i32) (I64 i64) }
}

fn choose_typed<T: Element + PartialOrd>(
    relation: Direction,
    [values, indices]: [&Tensor; 2],
    init: [&Tensor; 2],
    sizes: [usize; 3],
    precedes: impl Fn(T, T) -> bool + Copy + Sync,
) -> Result<Option<[Tensor; 2]>, TensorError> {
    let (elements, first) = (values.as_slice::<T>()?, init[0].item::<T>()?);
    let is_first = matches!(relation, Direction::Ge | Direction::Le);
    if is_nan(first) {
        return Ok(None);
    }
    let lines = ReducedLines::new(sizes, [elements.len(), indices.shape().iter().product()])?;
    let mut places = Scratch::filled(lines.len, 0)?;
    let has_nans = AtomicBool::new(false);
    let size = task_size(lines.len, WORK * lines.count, LANES);
    host::parallel(places.chunks_mut(size).enumerate().collect(), |(task, places)| {
        let (first, has_nans) = (task * size, &has_nans);
        Isa::best().run(Choices { elements, lines, first, is_first, precedes, places, has_nans });
        Ok::<(), TensorError>(())
    })?;
    if has_nans.into_inner() {
        return Ok(None);
    }
    let stays = |&&at: &&usize| match elements[at] {
        x if is_first => !precedes(x, first),
        x => precedes(first, x),
    };
    let initial: Vec<usize> = (0..lines.len).filter(|&row| stays(&&places[row])).collect();
    let chosen = |from: &Tensor, init: &Tensor| -> Result<Tensor, TensorError> {
        let mut result = from.take(&places)?;
        result.put(&initial, &init.broadcast_scalar([initial.len()])?)?;
        Ok(result)
    };
    Ok(Some([chosen(values, init[0])?, chosen(indices, init[1])?]))
}

/// The places of the chosen elements.
struct Choices<'a, T, F> {
    elements: &'a [T],
    lines: ReducedLines,
    /// The number of the first result.
    first: usize,
    /// True for the first one of equal elements, else the last one.
    is_first: bool,
    precedes: F,
    places: &'a mut [usize],
    /// Set if an element is a NaN.
    has_nans: &'a AtomicBool,
}

impl<T: Element + PartialOrd, F: Fn(T, T) -> bool> Kernel for Choices<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let Choices { elements, lines, first, is_first, precedes, places, has_nans } = self;
        let mut done = 0;
        while done < places.len() {
            if !lines.are_long_rows() {
                done = lines.overlapping(first, done, places.len());
            }
            let start = lines.start(first + done);
            if !lines.are_long_rows() && lines.run(first + done, places.len() - done) >= LANES {
                let mut best = lines.lanes(elements, start, 0);
                let (mut numbers, mut are_nans) = ([0_u32; LANES], best.map(is_nan));
                for number in 1..lines.count {
                    let next = lines.lanes(elements, start, number);
                    for i in 0..LANES {
                        let (x, y) = (next[i], best[i]);
                        let is_taken = precedes(x, y) || (!is_first && x == y);
                        best[i] = if is_taken { x } else { y };
                        numbers[i] = if is_taken { number as u32 } else { numbers[i] };
                        are_nans[i] |= is_nan(x);
                    }
                }
                if are_nans.contains(&true) {
                    return has_nans.store(true, Ordering::Relaxed);
                }
                let [lane, step] = lines.distances;
                for (i, place) in places[done..][..LANES].iter_mut().enumerate() {
                    *place = start + i * lane + numbers[i] as usize * step;
                }
                done += LANES;
                continue;
            }
            let step = lines.distances[1];
            let at = if step == 1 {
                let values = &elements[start..][..lines.count];
                let (best, is_ordered) = best_of(values, &precedes);
                let at = match is_first {
                    true => values.iter().position(|&x| x == best),
                    false => values.iter().rposition(|&x| x == best),
                };
                at.filter(|_| is_ordered)
            } else {
                let values = || elements[start..].iter().step_by(step).take(lines.count).copied();
                let chosen = (0..).zip(values()).reduce(|best, next| {
                    let is_taken = precedes(next.1, best.1) || (!is_first && next.1 == best.1);
                    if is_taken { next } else { best }
                });
                chosen.filter(|_| !values().any(is_nan)).map(|(at, _)| at)
            };
            let Some(at) = at else { return has_nans.store(true, Ordering::Relaxed) };
            places[done] = start + at * step;
            done += 1;
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element + PartialOrd>(kernel: Choices<'_, T, &dyn Fn(T, T) -> bool>) {
            kernel.run();
        }
        let Choices { elements, lines, first, is_first, precedes, places, has_nans } = self;
        let precedes: &dyn Fn(T, T) -> bool = &precedes;
        run(Choices { elements, lines, first, is_first, precedes, places, has_nans });
    }
}

/// An element of a row, which is not empty, that no other one precedes, and true if there are no
/// NaNs.
#[inline(always)]
fn best_of<T: Element + PartialOrd>(values: &[T], precedes: &impl Fn(T, T) -> bool) -> (T, bool) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let first = values[0];
    let (mut lanes, mut nans) = ([first; LANES], [false; LANES]);
    for chunk in chunks {
        for ((lane, nan), &x) in lanes.iter_mut().zip(&mut nans).zip(chunk) {
            *lane = if precedes(x, *lane) { x } else { *lane };
            *nan |= is_nan(x);
        }
    }
    let mut best = first;
    for &x in lanes.iter().chain(rest) {
        best = if precedes(x, best) { x } else { best };
    }
    (best, !(nans.contains(&true) || rest.iter().any(|&x| is_nan(x))))
}

struct Extrema<'a, T, I, F> {
    elements: (&'a [T], &'a [I]),
    /// Those of elements and of indices.
    lines: [ReducedLines; 2],
    /// The number of the first result.
    first: usize,
    init: (T, I),
    outs: (&'a mut [T], &'a mut [I]),
    precedes: F,
}

impl<T: Element + PartialOrd, I: Integer + Ord, F: Fn(T, T) -> bool> Kernel
    for Extrema<'_, T, I, F>
{
    #[inline(always)]
    fn run(self) {
        let Extrema { elements: (values, indices), lines: [lines, places], .. } = self;
        let Extrema { first, init, outs, precedes, .. } = self;
        // Then the least index is the first one.
        let are_ascending = places.distances == [0, 1]
            && lines.distances[0] == 1
            && u32::try_from(lines.count).is_ok()
            && indices[..lines.count].windows(2).all(|pair| pair[0] < pair[1]);
        let mut done = 0;
        while done < outs.0.len() {
            if !lines.are_long_rows() {
                done = lines.overlapping(first, done, outs.0.len());
            }
            let starts = [lines.start(first + done), places.start(first + done)];
            if lines.are_long_rows() {
                let (values, indices) = (&values[starts[0]..], &indices[starts[1]..]);
                let found = row(&values[..lines.count], &indices[..lines.count], &precedes);
                (outs.0[done], outs.1[done]) = combine(init, found, &precedes);
                done += 1;
            } else if lines.run(first + done, outs.0.len() - done) >= LANES {
                let elements = (values, indices);
                let first = match are_ascending {
                    true => first_ones(elements, lines, starts, &precedes),
                    false => None,
                };
                let (best, at) = first
                    .unwrap_or_else(|| side_by_side(elements, [lines, places], starts, &precedes));
                for i in 0..LANES {
                    (outs.0[done + i], outs.1[done + i]) =
                        combine(init, (best[i], at[i]), &precedes);
                }
                done += LANES;
            } else {
                let at = |number: usize| {
                    let value = values[starts[0] + number * lines.distances[1]];
                    (value, indices[starts[1] + number * places.distances[1]])
                };
                let rest = (1..lines.count).map(at);
                let found = rest.fold(at(0), |best, next| combine(best, next, &precedes));
                (outs.0[done], outs.1[done]) = combine(init, found, &precedes);
                done += 1;
            }
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element + PartialOrd, I: Integer + Ord>(
            kernel: Extrema<'_, T, I, &dyn Fn(T, T) -> bool>,
        ) {
            kernel.run();
        }
        let Extrema { elements, lines, first, init, outs, precedes } = self;
        run(Extrema { elements, lines, first, init, outs, precedes: &precedes });
    }
}

/// As [`side_by_side`], where the indices of all results are the same, and ascend. `None` if there
/// is a NaN.
#[inline(always)]
fn first_ones<T: Element + PartialOrd, I: Integer + Ord>(
    (values, indices): (&[T], &[I]),
    lines: ReducedLines,
    starts: [usize; 2],
    precedes: &impl Fn(T, T) -> bool,
) -> Option<([T; LANES], [I; LANES])> {
    // Loops over one comparison each become vectors.
    let mut best = lines.lanes(values, starts[0], 0);
    let mut ordered = [true; LANES];
    for number in 0..lines.count {
        let next = lines.lanes(values, starts[0], number);
        for ((best, ordered), x) in best.iter_mut().zip(&mut ordered).zip(next) {
            *best = if precedes(x, *best) { x } else { *best };
            *ordered &= !is_nan(x);
        }
    }
    if ordered.contains(&false) {
        return None;
    }
    let (mut numbers, mut last) = ([0_u32; LANES], best);
    for number in (0..lines.count).rev() {
        let next = lines.lanes(values, starts[0], number);
        for ((found, x), best) in numbers.iter_mut().zip(next).zip(best) {
            *found = if x == best { number as u32 } else { *found };
        }
    }
    // Zeros are equal with other bits.
    if best.contains(&T::ZERO) {
        for number in 0..lines.count {
            let next = lines.lanes(values, starts[0], number);
            for ((last, x), best) in last.iter_mut().zip(next).zip(best) {
                *last = if x == best { x } else { *last };
            }
        }
    }
    Some((last, numbers.map(|number| indices[starts[1] + number as usize])))
}

/// The extrema of [`LANES`] results whose elements and indices begin at `starts`.
#[inline(always)]
fn side_by_side<T: Element + PartialOrd, I: Integer + Ord>(
    (values, indices): (&[T], &[I]),
    [lines, index_lines]: [ReducedLines; 2],
    starts: [usize; 2],
    precedes: &impl Fn(T, T) -> bool,
) -> ([T; LANES], [I; LANES]) {
    let of_number = |number: usize| {
        let values = lines.lanes(values, starts[0], number);
        (values, index_lines.lanes(indices, starts[1], number))
    };
    let (mut best, mut places) = of_number(0);
    for number in 1..lines.count {
        let (next, at) = of_number(number);
        for i in 0..LANES {
            let (p, q) = (best[i], next[i]);
            // Nothing precedes the first NaN, nor equals it.
            let is_taken = precedes(q, p) | (is_nan(q) & !is_nan(p));
            let is_equal = p == q;
            best[i] = if is_taken | is_equal { q } else { p };
            let is_least = is_taken | (is_equal & (at[i] < places[i]));
            places[i] = if is_least { at[i] } else { places[i] };
        }
    }
    (best, places)
}

/// The body, on an accumulator and a value.
#[inline(always)]
pub fn combine<T: Element + PartialOrd, I: Integer + Ord>(
    (p, s): (T, I),
    (q, t): (T, I),
    precedes: &impl Fn(T, T) -> bool,
) -> (T, I) {
    let is_first = precedes(p, q) || is_nan(p);
    let value = if is_first { p } else { q };
    (value, if is_first || (p == q && s < t) { s } else { t })
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "only NaN is not equal to itself")]
fn is_nan<T: PartialOrd>(x: T) -> bool {
    x != x
}

/// The extremum of a row, which is not empty.
#[inline(always)]
fn row<T: Element + PartialOrd, I: Integer + Ord>(
    values: &[T],
    indices: &[I],
    precedes: &impl Fn(T, T) -> bool,
) -> (T, I) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let (mut best, is_ordered) = best_of(values, precedes);
    if !is_ordered {
        let at = values.iter().position(|&x| is_nan(x)).unwrap_or(0);
        return (values[at], indices[at]);
    }
    // The least index of an element that is equal, and the bits of the last such element.
    let mut least = [I::MAX; LANES];
    let (index_chunks, index_rest) = indices.as_chunks::<LANES>();
    for (chunk, indices) in chunks.iter().zip(index_chunks) {
        for ((lane, &x), &index) in least.iter_mut().zip(chunk).zip(indices) {
            let candidate = if x == best { index } else { I::MAX };
            *lane = if candidate < *lane { candidate } else { *lane };
        }
    }
    let mut place = I::MAX;
    for &lane in &least {
        place = place.min(lane);
    }
    for (&x, &index) in rest.iter().zip(index_rest) {
        place = if x == best { place.min(index) } else { place };
    }
    if best == T::ZERO {
        best = values.iter().rev().copied().find(|&x| x == best).unwrap_or(best);
    }
    (best, place)
}
