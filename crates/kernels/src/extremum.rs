//! The largest or smallest element along a dimension with its index: `argmax` and `argmin` as
//! exporters write them, a `reduce` of elements and indices.
//!
//! Tensors are of three dimensions, `outer`, `count` and `inner`, of which the middle one is
//! reduced. The places of extrema are found first, and then elements and indices taken from there.

use super::extremum_places::places;
use super::key_order::{KeyBits, KeyOrder, with_key_order};
use super::parallel::task_size;
use bytemuck::Pod;
use numerics::budget::Scratch;
use numerics::math::Direction;
use numerics::{DType, Tensor, TensorError};
use program::Extremum;

/// Maximum number of elements of a result: places are numbers of 32 bits.
const MAX_COUNT: usize = u32::MAX as usize;
/// Results whose places are found at a time.
const TOGETHER: usize = 1024;
/// Elementary operations for an element and its index.
const WORK: usize = 4;

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
    let dtypes = [values.dtype(), indices.dtype()];
    let are_of_type = are_known(dtypes) && [init[0].dtype(), init[1].dtype()] == dtypes;
    if !are_of_type || sizes[1] > MAX_COUNT {
        return Ok(None);
    }
    let lines = ReducedLines::new(sizes, [values.num_elements(), indices.num_elements()])?;
    let [mut best, mut places] =
        [Tensor::zeros(dtypes[0], [lines.len])?, Tensor::zeros(dtypes[1], [lines.len])?];
    extrema(
        kind,
        dtypes,
        [values.bytes(), indices.bytes()],
        [init[0].bytes(), init[1].bytes()],
        [lines; 2],
        [best.bytes_mut()?, places.bytes_mut()?],
        false,
    )?;
    Ok(Some([best, places]))
}

/// True for types of elements and indices whose extrema [`extrema`] finds.
pub(crate) fn are_known([dtype, index]: [DType; 2]) -> bool {
    let are_compared = with_key_order!(dtype, true, (_order, K, FLOATS) => {
        // Integers and floats alike.
        size_of::<K>() == dtype.bytes() && FLOATS == dtype.is_float()
    }, else false);
    are_compared && matches!(index, DType::I32 | DType::I64)
}

/// Writes the extremum of each result's elements, and its index, of [known](are_known) types: the
/// latter alone, where that takes less time, if `only_places`.
///
/// # Errors
/// If there is no memory for threads, or bytes do not have these sizes or are not aligned for
/// elements.
pub(crate) fn extrema(
    kind: Extremum,
    [dtype, index]: [DType; 2],
    [values, indices]: [&[u8]; 2],
    init: [&[u8]; 2],
    lines: [ReducedLines; 2],
    [best, places]: [&mut [u8]; 2],
    only_places: bool,
) -> Result<(), TensorError> {
    if lines[0].len == 0 {
        return Ok(());
    }
    let indices = IndexElements::new(index, indices)?;
    let is_repeated = lines[1].distances[0] == 0;
    let index_lines = match !is_repeated && indices.are_same_for_all(lines[0]) {
        true => lines[0].repeated(lines[0].step()),
        false => lines[1],
    };
    let along = |number: usize| indices.get(number * index_lines.step());
    // Then the least index is the first one.
    let are_ascending = index_lines.distances[0] == 0
        && (1..index_lines.count).all(|number| along(number - 1) < along(number));
    let first_index = IndexElements::new(index, init[1])?.first()?;
    with_key_order!(dtype, kind == Extremum::Maximum, (order, K, FLOATS) => {
        let &[first] = cast::<K>(init[0])? else { return Err(TensorError::OutOfBounds) };
        let values = cast::<K>(values)?;
        let best = bytemuck::try_cast_slice_mut(best).map_err(|_| TensorError::OutOfBounds)?;
        let first_key = order.key_of_value(first);
        // If it is an extremum, then all elements are equal, and the first index is the least.
        let is_neutral = first_key == order.least() && first_index >= along(0);
        let search = ExtremumSearch::<K, FLOATS> {
            order,
            values,
            indices,
            lines: [lines[0], index_lines],
            are_ascending,
            init: ((first, first_key), first_index),
            are_direct: only_places && is_neutral && are_ascending,
        };
        let size = task_size(lines[0].len, WORK * lines[0].count, 1);
        let outs = best.chunks_mut(size).zip(places.chunks_mut(size * index.bytes()));
        host::parallel(outs.enumerate().collect(), |(task, outs)| search.run(task * size, outs))
    }, else Err(TensorError::OutOfBounds))
}

fn cast<T: Pod>(bytes: &[u8]) -> Result<&[T], TensorError> {
    bytemuck::try_cast_slice(bytes).map_err(|_| TensorError::OutOfBounds)
}

/// Indices, which are signed integers.
#[derive(Clone, Copy)]
enum IndexElements<'a> {
    Singles(&'a [i32]),
    Longs(&'a [i64]),
}

impl<'a> IndexElements<'a> {
    fn new(dtype: DType, bytes: &'a [u8]) -> Result<IndexElements<'a>, TensorError> {
        Ok(match dtype {
            DType::I32 => IndexElements::Singles(cast(bytes)?),
            _ => IndexElements::Longs(cast(bytes)?),
        })
    }

    #[inline(always)]
    fn get(self, at: usize) -> i64 {
        match self {
            IndexElements::Singles(elements) => elements[at].into(),
            IndexElements::Longs(elements) => elements[at],
        }
    }

    /// The only one.
    fn first(self) -> Result<i64, TensorError> {
        match self {
            IndexElements::Singles(&[first]) => Ok(first.into()),
            IndexElements::Longs(&[first]) => Ok(first),
            _ => Err(TensorError::OutOfBounds),
        }
    }

    /// True if each element has an index, and all results have the same indices.
    fn are_same_for_all(self, lines: ReducedLines) -> bool {
        fn are_same<I: PartialEq + Copy>(indices: &[I], lines: ReducedLines) -> bool {
            let ReducedLines { len, count, .. } = lines;
            if indices.len() != len * count {
                return false;
            }
            if lines.are_rows() {
                return indices.chunks_exact(count).all(|row| row == &indices[..count]);
            }
            let inner = lines.inner;
            let mut runs = indices.chunks_exact(inner).enumerate();
            runs.all(|(number, run)| {
                let first = indices[number % count * inner];
                run.iter().fold(true, |same, &index| same & (index == first))
            })
        }
        match self {
            IndexElements::Singles(elements) => are_same(elements, lines),
            IndexElements::Longs(elements) => are_same(elements, lines),
        }
    }
}

/// Where the elements of each result are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReducedLines {
    /// The number of results.
    len: usize,
    /// The number of elements of each, at most [`MAX_COUNT`].
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
        if count == 0 || count > MAX_COUNT || lens != [len.saturating_mul(count); 2] {
            return Err(TensorError::OutOfBounds);
        }
        Ok(match inner {
            1 => ReducedLines { len, count, inner: len.max(1), distances: [count, 1] },
            _ => ReducedLines { len, count, inner, distances: [1, inner] },
        })
    }

    /// True if the elements of a result are neighbours.
    pub(crate) fn are_rows(&self) -> bool {
        self.distances[1] == 1
    }

    /// The number of results.
    pub(crate) fn results(&self) -> usize {
        self.len
    }

    /// The number of elements of a result.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The distance between the elements of a result.
    #[inline(always)]
    pub(crate) fn step(&self) -> usize {
        self.distances[1]
    }

    /// The lines of results with the same elements: the first one and others at this distance.
    pub(crate) fn repeated(&self, step: usize) -> ReducedLines {
        ReducedLines { inner: self.len.max(1), distances: [0, step], ..*self }
    }

    /// Where the elements of a result begin.
    #[inline(always)]
    pub(crate) fn start(&self, result: usize) -> usize {
        // A division takes longer than all else.
        if self.inner >= self.len {
            return result * self.distances[0];
        }
        let (block, at) = (result / self.inner, result % self.inner);
        block * self.inner * self.count + at * self.distances[0]
    }

    /// The number of consecutive results from `result` on, at most `most`, whose elements are at
    /// equal distances.
    #[inline(always)]
    pub(crate) fn together(&self, result: usize, most: usize) -> usize {
        most.min(self.inner - result % self.inner)
    }
}

/// The operands of a reduction of elements and indices.
struct ExtremumSearch<'a, K, const FLOATS: bool> {
    order: KeyOrder<K, FLOATS>,
    values: &'a [K],
    indices: IndexElements<'a>,
    /// The lines of elements and of indices.
    lines: [ReducedLines; 2],
    /// True if all results have the same indices, which ascend.
    are_ascending: bool,
    /// The initial element with its key, and the initial index.
    init: ((K, K), i64),
    /// True if only the indices are wanted, and each is the index at a place.
    are_direct: bool,
}

impl<K: KeyBits, const FLOATS: bool> ExtremumSearch<'_, K, FLOATS> {
    /// Writes the extrema from number `first` on, and the bytes of their indices.
    ///
    /// # Errors
    /// If there is no memory for copies.
    fn run(&self, first: usize, (best, places): (&mut [K], &mut [u8])) -> Result<(), TensorError> {
        // The bytes of an index.
        let size = places.len() / best.len().max(1);
        let [lines, index_lines] = self.lines;
        let (mut numbers, mut found) = ([0; TOGETHER], [0; TOGETHER]);
        let parts = best.chunks_mut(TOGETHER).zip(places.chunks_mut(TOGETHER * size));
        for (part, (best, places)) in parts.enumerate() {
            let first = first + part * TOGETHER;
            let numbers = &mut numbers[..best.len()];
            self::places(self.values, lines, self.order, first, true, numbers)?;
            if self.are_direct {
                self.write_indices(numbers, places)?;
                continue;
            }
            let mut done = 0;
            while done < best.len() {
                let result = first + done;
                let together = lines.together(result, best.len() - done);
                let [start, index_start] = [lines.start(result), index_lines.start(result)];
                let results = done..done + together;
                let (best, found) = (&mut best[results.clone()], &mut found[results.clone()]);
                let numbers = &numbers[results];
                let [lane, index_lane] = [lines, index_lines].map(|lines| lines.distances[0]);
                for (i, (best, &number)) in best.iter_mut().zip(numbers).enumerate() {
                    *best = self.values[start + i * lane + number as usize * lines.step()];
                }
                for (i, (index, &number)) in found.iter_mut().zip(numbers).enumerate() {
                    let place = number as usize * index_lines.step();
                    *index = self.indices.get(index_start + i * index_lane + place);
                }
                for (i, (best, index)) in best.iter_mut().zip(&mut *found).enumerate() {
                    // Zeros are equal with other bits.
                    let is_zero = FLOATS && best.magnitude() == K::ZERO;
                    if is_zero || !self.are_ascending {
                        let starts = [start + i * lane, index_start + i * index_lane];
                        (*best, *index) = self.extremum_of_equals(starts, numbers[i] as usize);
                    }
                }
                for (best, index) in best.iter_mut().zip(found) {
                    (*best, *index) = self.combine((*best, *index));
                }
                done += together;
            }
            for (place, &index) in places.chunks_exact_mut(size).zip(&found) {
                // In the order of bytes of the machine, as all elements.
                match size {
                    4 => place.copy_from_slice(&(index as i32).to_ne_bytes()),
                    _ => place.copy_from_slice(&index.to_ne_bytes()),
                }
            }
        }
        Ok(())
    }

    /// Writes the indices of places in lines that all have the same indices.
    ///
    /// # Errors
    /// If the bytes are not an index for each place.
    fn write_indices(&self, numbers: &[u32], places: &mut [u8]) -> Result<(), TensorError> {
        fn write<I: Pod>(
            (indices, step): (&[I], usize),
            numbers: &[u32],
            places: &mut [u8],
        ) -> Result<(), TensorError> {
            let places = bytemuck::try_cast_slice_mut::<u8, I>(places);
            let places = places.map_err(|_| TensorError::OutOfBounds)?;
            for (place, &number) in places.iter_mut().zip(numbers) {
                *place = indices[number as usize * step];
            }
            Ok(())
        }
        let step = self.lines[1].step();
        match self.indices {
            IndexElements::Singles(indices) => write((indices, step), numbers, places),
            IndexElements::Longs(indices) => write((indices, step), numbers, places),
        }
    }

    /// The last extremum of a line and the least index of one, given where the line and its indices
    /// begin, and the place of the first one.
    #[inline(never)]
    fn extremum_of_equals(&self, [start, index_start]: [usize; 2], number: usize) -> (K, i64) {
        let [lines, index_lines] = &self.lines;
        let element = |number: usize| self.values[start + number * lines.step()];
        let index = |number: usize| self.indices.get(index_start + number * index_lines.step());
        let key = |number: usize| self.order.key_of_value(element(number));
        let largest = key(number);
        if self.order.is_nan(largest) {
            return (element(number), index(number));
        }
        let equal = || (number..lines.count).filter(|&i| key(i) == largest);
        let last = equal().next_back().map_or_else(|| element(number), element);
        let least = if self.are_ascending { None } else { equal().map(index).min() };
        (last, least.unwrap_or_else(|| index(number)))
    }

    /// The body, applied to the initial pair of element and index and to another one.
    #[inline(always)]
    fn combine(&self, (found, index): (K, i64)) -> (K, i64) {
        let ((first, first_key), first_index) = self.init;
        let key = self.order.key_of_value(found);
        let is_first = first_key > key || (first_key == key && self.order.is_nan(key));
        let element = if is_first { first } else { found };
        let is_first_index = is_first || (first_key == key && first_index < index);
        (element, if is_first_index { first_index } else { index })
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
    let is_largest = match relation {
        Direction::Ge | Direction::Gt => true,
        Direction::Le | Direction::Lt => false,
        _ => return Ok(None),
    };
    if sizes[1] > MAX_COUNT {
        return Ok(None);
    }
    let lines = ReducedLines::new(sizes, [values.num_elements(), indices.num_elements()])?;
    let is_first = matches!(relation, Direction::Ge | Direction::Le);
    let found = with_key_order!(values.dtype(), is_largest, (order, K, FLOATS) => {
        let first = cast::<K>(init[0].bytes())?;
        chosen::<K, FLOATS>(cast(values.bytes())?, lines, order, is_first, first)?
    }, else None);
    let Some((places, initial)) = found else { return Ok(None) };
    let chosen = |from: &Tensor, init: &Tensor| -> Result<Tensor, TensorError> {
        let mut result = from.take(&places)?;
        result.put(&initial, &init.broadcast_scalar([initial.len()])?)?;
        Ok(result)
    };
    Ok(Some([chosen(values, init[0])?, chosen(indices, init[1])?]))
}

/// The positions of the chosen elements, and the results for which the initial one is chosen.
type Choices = (Scratch<usize>, Vec<usize>);

/// The choices by an order; `None` if there are NaNs.
fn chosen<K: KeyBits, const FLOATS: bool>(
    elements: &[K],
    lines: ReducedLines,
    order: KeyOrder<K, FLOATS>,
    is_first: bool,
    first: &[K],
) -> Result<Option<Choices>, TensorError> {
    let &[first] = first else { return Err(TensorError::OutOfBounds) };
    let first = order.key_of_value(first);
    let mut numbers = Scratch::filled(lines.len, 0)?;
    let size = task_size(lines.len, WORK * lines.count, 1);
    host::parallel(numbers.chunks_mut(size).enumerate().collect(), |(task, numbers)| {
        places(elements, lines, order, task * size, is_first, numbers)
    })?;
    let mut positions = Scratch::filled(lines.len, 0)?;
    let mut initial = Vec::new();
    for (result, (position, &number)) in positions.iter_mut().zip(&*numbers).enumerate() {
        *position = lines.start(result) + number as usize * lines.step();
        let key = order.key_of_value(elements[*position]);
        if order.is_nan(key) || order.is_nan(first) {
            return Ok(None);
        }
        if first > key || (first == key && is_first) {
            initial.push(result);
        }
    }
    Ok(Some((positions, initial)))
}
