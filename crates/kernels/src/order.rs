//! Elements in order: integers that are ordered as elements are, and rows sorted by them.

use crate::converted::elements;
use crate::parallel::task_size;
use numerics::budget::Scratch;
use numerics::math;
use numerics::simd::{Isa, Kernel};
use numerics::{ComplexElement, DType, Element, Float, I1, Integer, Tensor, TensorError, dispatch};
use program::{Canonical, ComplexPart, SortKey};

/// Rows of at least this many elements, the number of values of a digit, are sorted digit by digit
/// if their digits are few.
const MIN_RADIX: usize = 1 << DIGIT;
/// The bits of a digit. Its values are counted in an array on the stack, which every first-level
/// cache holds.
const DIGIT: u32 = 11;
/// At most this many elements are selected one at a time,
const MAX_SELECTED: usize = 16;
/// Maximum number of elements that these are compared with altogether.
const MAX_PASSED: usize = 512;
/// Elementary operations for an element that is sorted, roughly.
const SORT_WORK: usize = 64;
/// The same for one that is moved to its place.
const MOVE_WORK: usize = 4;

/// Lines of a tensor along one of its dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorLines {
    /// The number of lines.
    pub count: usize,
    /// The elements of each.
    pub size: usize,
    /// The distance of neighbours.
    pub stride: usize,
}

impl TensorLines {
    /// The lines along `dimension`, one of the shape, whose sizes are the dimensions of a tensor.
    pub(crate) fn along(shape: &[usize], dimension: usize) -> TensorLines {
        let product = |sizes: &[usize]| sizes.iter().product::<usize>();
        let stride = product(&shape[dimension + 1..]);
        TensorLines { count: product(&shape[..dimension]) * stride, size: shape[dimension], stride }
    }

    /// The position of the first element of a line.
    fn start(self, row: usize) -> usize {
        let outer = row.checked_div(self.stride).unwrap_or(0);
        outer * self.size * self.stride + (row - outer * self.stride)
    }

    /// The elements of a line.
    fn line<T: Copy>(self, elements: &[T], row: usize) -> impl Iterator<Item = T> {
        elements[self.start(row)..].iter().step_by(self.stride.max(1)).take(self.size).copied()
    }
}

/// Integers of some bits in the order of the elements of a tensor.
pub(crate) struct Keys {
    values: Scratch<u64>,
    bits: u32,
}

impl Keys {
    /// The keys of a tensor's elements, `None` if these have no order, or NaNs have none.
    pub(crate) fn of(tensor: &Tensor, key: &SortKey) -> Result<Option<Keys>, TensorError> {
        Keys::of_bytes(tensor.dtype(), tensor.bytes(), key)
    }

    /// As [`Keys::of`], of elements as bytes.
    pub(crate) fn of_bytes(
        dtype: DType,
        bytes: &[u8],
        key: &SortKey,
    ) -> Result<Option<Keys>, TensorError> {
        dispatch!(
            dtype,
            [float] T => Keys::of_floats(bytes, key, |x: T| x),
            else dispatch!(
                dtype,
                [integer] T => {
                    let offset = if dtype.is_signed() { 1 << (dtype.bits() - 1) } else { 0 };
                    let place = |x: T| (x.to_i128() as u64).wrapping_add(offset);
                    Keys::new(bytes, dtype.bits(), key.descending, place).map(Some)
                },
                else dispatch!(
                    dtype,
                    [complex] T => match key.part {
                        Some(ComplexPart::Real) => Keys::of_floats(bytes, key, T::re),
                        Some(ComplexPart::Imaginary) => Keys::of_floats(bytes, key, T::im),
                        None => Ok(None),
                    },
                    else Keys::new(bytes, 1, key.descending, |x: I1| x.get().into()).map(Some)
                )
            )
        )
    }

    fn of_floats<T: Element, F: Float>(
        bytes: &[u8],
        key: &SortKey,
        part: impl Fn(T) -> F,
    ) -> Result<Option<Keys>, TensorError> {
        let canonical = if key.total_order {
            key.canonical
        } else if elements_of::<T>(bytes)?.iter().any(|&x| part(x).is_nan()) {
            return Ok(None);
        } else {
            Canonical { zero: Some(0), nan: None }
        };
        if T::DTYPE == DType::F32 {
            return Keys::of_singles(bytes, canonical, key.descending).map(Some);
        }
        // Places are negative for numbers with the bit of the sign.
        let offset = F::FORMAT.sign_mask();
        let place = |x: T| (place(part(x), canonical) as u64).wrapping_add(offset);
        Keys::new(bytes, F::FORMAT.bits(), key.descending, place).map(Some)
    }

    /// Keys of numbers of `f32`, computed in 32 bits.
    fn of_singles(
        bytes: &[u8],
        canonical: Canonical,
        descending: bool,
    ) -> Result<Keys, TensorError> {
        const SIGN: u32 = 1 << 31;
        let replacement = |place: Option<i64>| (place.is_some(), place.unwrap_or(0) as u32 ^ SIGN);
        let [zero, nan] = [canonical.zero, canonical.nan].map(replacement);
        let place = move |x: f32| {
            let (bits, size) = (x.to_bits(), x.abs().to_bits());
            let place = if bits == size { bits ^ SIGN } else { !bits };
            let place = if zero.0 & (size == 0) { zero.1 } else { place };
            u64::from(if nan.0 & (size > f32::INFINITY.to_bits()) { nan.1 } else { place })
        };
        Keys::new(bytes, 32, descending, place)
    }

    fn new<T: Element>(
        bytes: &[u8],
        bits: u32,
        descending: bool,
        place: impl Fn(T) -> u64,
    ) -> Result<Keys, TensorError> {
        let elements = elements_of::<T>(bytes)?;
        let mask = u64::MAX >> (64 - bits);
        let flip = if descending { mask } else { 0 };
        let mut values = Scratch::filled(elements.len(), 0)?;
        let key = |x| (place(x) & mask) ^ flip;
        let keys = KeyLoop { values: &mut values, elements, key };
        if const { T::DTYPE.is_vectorized() } {
            Isa::best().run(keys)
        } else {
            keys.run()
        }
        Ok(Keys { values, bits })
    }
}

/// Computes the keys of elements.
struct KeyLoop<'a, T, F> {
    values: &'a mut [u64],
    elements: &'a [T],
    key: F,
}

impl<T: Element, F: Fn(T) -> u64> Kernel for KeyLoop<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        for (value, &x) in self.values.iter_mut().zip(self.elements) {
            *value = (self.key)(x);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element>(kernel: KeyLoop<'_, T, &dyn Fn(T) -> u64>) {
            kernel.run();
        }
        let KeyLoop { values, elements, key } = self;
        run(KeyLoop { values, elements, key: &key });
    }
}

fn elements_of<T: Element>(bytes: &[u8]) -> Result<&[T], TensorError> {
    elements(bytes, bytes.len() / size_of::<T>())
}

/// The position of a float in the total order, after canonicalization.
#[inline(always)]
fn place<T: Float>(x: T, canonical: Canonical) -> i64 {
    // Selections rather than branches.
    let mut place = math::compare::total_order_key(x);
    if let Some(zero) = canonical.zero {
        place = if x == T::ZERO { zero } else { place };
    }
    if let Some(nan) = canonical.nan {
        place = if x.is_nan() { nan } else { place };
    }
    place
}

/// For each row, the indices of its first `count` elements in the order of their keys: by the
/// first keys, then the second ones, and so on, then by index.
pub(crate) fn ranks(
    keys: &[Keys],
    rows: TensorLines,
    count: usize,
) -> Result<Vec<usize>, TensorError> {
    let index_bits = usize::BITS - rows.size.saturating_sub(1).leading_zeros();
    let bits = keys.iter().map(|key| key.bits).sum::<u32>() + index_bits;
    let mut ranks = Scratch::filled(rows.count * count, 0)?;
    if ranks.is_empty() {
        return Ok(ranks.into_vec());
    }
    let rank = match bits {
        0..=64 => rank_packed::<u64>,
        65..=128 => rank_packed::<u128>,
        _ => rank_compared,
    };
    let size = task_size(rows.count, rows.size.saturating_mul(SORT_WORK), 1);
    let tasks = ranks.chunks_mut(size * count).zip((0..).step_by(size)).collect();
    host::parallel(tasks, |(ranks, first): (&mut [usize], usize)| {
        rank(keys, rows, index_bits, first, ranks.chunks_exact_mut(count))
    })?;
    Ok(ranks.into_vec())
}

type Ranks<'a> = std::slice::ChunksExactMut<'a, usize>;

/// Ranks the rows from `first` on by keys that are packed, with the index, into a word.
fn rank_packed<W: Word>(
    keys: &[Keys],
    rows: TensorLines,
    index_bits: u32,
    first: usize,
    ranks: Ranks<'_>,
) -> Result<(), TensorError> {
    let bits = keys.iter().map(|key| key.bits).sum::<u32>();
    let is_radix = rows.size >= MIN_RADIX && bits <= 4 * DIGIT;
    let mut words = Scratch::filled(rows.size, W::default())?;
    let mut other = Scratch::filled(if is_radix { rows.size } else { 0 }, W::default())?;
    for (row, ranks) in (first..).zip(ranks) {
        if let ([key], 1) = (keys, rows.stride) {
            let line = &key.values[rows.start(row)..][..rows.size];
            for ((word, &value), index) in words.iter_mut().zip(line).zip(0..) {
                *word = W::default().push(key.bits, value).push(index_bits, index);
            }
        } else {
            words.fill(W::default());
            for key in keys {
                for (word, value) in words.iter_mut().zip(rows.line(&key.values, row)) {
                    *word = word.push(key.bits, value);
                }
            }
            for (word, index) in words.iter_mut().zip(0..) {
                *word = word.push(index_bits, index);
            }
        }
        let count = ranks.len();
        if count < rows.size / 4 {
            Isa::best().run(SelectLeast { words: &mut words, count });
        } else if is_radix {
            for shift in (index_bits..index_bits + bits).step_by(DIGIT as usize) {
                if sort_by_digit(&words, &mut other, shift) {
                    std::mem::swap(&mut words, &mut other);
                }
            }
        } else {
            words.sort_unstable();
        }
        for (rank, word) in ranks.iter_mut().zip(words.iter()) {
            *rank = word.last(index_bits) as usize;
        }
    }
    Ok(())
}

/// Moves the least words to the front, in order: less than a quarter of them.
struct SelectLeast<'a, W> {
    words: &'a mut [W],
    count: usize,
}

impl<W: Word> Kernel for SelectLeast<'_, W> {
    #[inline(always)]
    fn run(self) {
        /// The words that are compared with a limit at a time.
        const BLOCK: usize = 16;
        let SelectLeast { words, count } = self;
        if count <= MAX_SELECTED && words.len() <= MAX_PASSED / count.max(1) {
            return select_in_passes(words, count);
        }
        // Words that may be among the least are gathered at the front. Whenever these are many, the
        // least of them are, and each of the others is beyond a limit.
        let many = (2 * count).max(4 * BLOCK).min(words.len());
        let mut limit = least(&mut words[..many], count);
        let mut end = count;
        for start in (many..words.len()).step_by(BLOCK) {
            let block = start..words.len().min(start + BLOCK);
            if words[block.clone()].iter().fold(true, |all, word| all & (*word > limit)) {
                continue;
            }
            for at in block {
                if words[at] < limit {
                    words[end] = words[at];
                    end += 1;
                }
            }
            if end + BLOCK > many {
                limit = least(&mut words[..end], count);
                end = count;
            }
        }
        least(&mut words[..end], count);
        words[..count].sort_unstable();
    }

    /// All words are gone through at once.
    fn run_shared(self) {
        least(self.words, self.count);
        self.words[..self.count].sort_unstable();
    }
}

/// Moves the least words, at least one, to the front, and returns the greatest of these.
fn least<W: Word>(words: &mut [W], count: usize) -> W {
    *words.select_nth_unstable(count - 1).1
}

/// Moves the least of different words to the front, in order: each is the least one beyond the one
/// before.
#[inline(always)]
fn select_in_passes<W: Word>(words: &mut [W], count: usize) {
    let mut selected = [W::LARGEST; MAX_SELECTED];
    let selected = &mut selected[..count];
    let mut last = None;
    for selected in selected.iter_mut() {
        *selected = match last {
            None => words.iter().fold(W::LARGEST, |least, &word| least.min(word)),
            Some(last) => words.iter().fold(W::LARGEST, |least, &word| {
                least.min(if word > last { word } else { W::LARGEST })
            }),
        };
        last = Some(*selected);
    }
    words[..count].copy_from_slice(selected);
}

/// Copies words in the order of the digit above `shift`; false if all have the same.
fn sort_by_digit<W: Word>(words: &[W], sorted: &mut [W], shift: u32) -> bool {
    let digit = |word: W| word.shifted(shift).last(DIGIT) as usize;
    let mut places = [0usize; 1 << DIGIT];
    for &word in words {
        places[digit(word)] += 1;
    }
    if places.contains(&words.len()) {
        return false;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for &word in words {
        let place = &mut places[digit(word)];
        sorted[*place] = word;
        *place += 1;
    }
    true
}

/// Ranks rows by keys of more bits than a word has.
fn rank_compared(
    keys: &[Keys],
    rows: TensorLines,
    _: u32,
    first: usize,
    ranks: Ranks<'_>,
) -> Result<(), TensorError> {
    let mut order = Scratch::new(rows.size)?;
    for (row, ranks) in (first..).zip(ranks) {
        let at = |index: usize| rows.start(row) + index * rows.stride;
        order.clear();
        order.extend(0..rows.size);
        order.sort_unstable_by(|&i, &j| {
            let compare = |key: &Keys| key.values[at(i)].cmp(&key.values[at(j)]);
            let unequal = keys.iter().map(compare).find(|order| order.is_ne());
            unequal.unwrap_or_else(|| i.cmp(&j))
        });
        ranks.copy_from_slice(&order[..ranks.len()]);
    }
    Ok(())
}

/// An integer to which others are appended.
trait Word: Copy + Default + Ord + Send {
    /// The largest one.
    const LARGEST: Self;
    /// The bits, then the last `bits` of `value`, of which no others are set.
    fn push(self, bits: u32, value: u64) -> Self;
    /// The bits above the last `bits`.
    fn shifted(self, bits: u32) -> Self;
    /// The last `bits`, fewer than 64.
    fn last(self, bits: u32) -> u64;
}

macro_rules! words {
    ($($ty:ty)*) => {$(
        impl Word for $ty {
            const LARGEST: Self = <$ty>::MAX;

            #[inline(always)]
            fn push(self, bits: u32, value: u64) -> Self {
                self.checked_shl(bits).unwrap_or(0) | value as $ty
            }

            #[inline(always)]
            fn shifted(self, bits: u32) -> Self {
                self >> bits
            }

            #[inline(always)]
            fn last(self, bits: u32) -> u64 {
                self as u64 & ((1 << bits) - 1)
            }
        }
    )*};
}
words! { u64 u128 }

/// The elements of each row at the indices of [`ranks`], in a tensor whose dimension along the rows
/// has `count` elements.
pub(crate) fn permuted(
    tensor: &Tensor,
    shape: &[usize],
    rows: TensorLines,
    ranks: &[usize],
) -> Result<Tensor, TensorError> {
    let mut result = Tensor::zeros(tensor.dtype(), shape)?;
    if ranks.is_empty() {
        return Ok(result);
    }
    permute_bytes(tensor.dtype(), tensor.bytes(), result.bytes_mut()?, rows, ranks)?;
    Ok(result)
}

/// [`permuted`], of elements as bytes.
pub(crate) fn permute_bytes(
    dtype: DType,
    from: &[u8],
    to: &mut [u8],
    rows: TensorLines,
    ranks: &[usize],
) -> Result<(), TensorError> {
    match dtype.bytes() {
        1 => permute::<1>(from, to, rows, ranks),
        2 => permute::<2>(from, to, rows, ranks),
        4 => permute::<4>(from, to, rows, ranks),
        8 => permute::<8>(from, to, rows, ranks),
        _ => permute::<16>(from, to, rows, ranks),
    }
}

/// Writes the indices of [`ranks`], which fit `i32`, where [`permuted`] would put the elements.
pub(crate) fn write_ranks(
    ranks: &[usize],
    rows: TensorLines,
    to: &mut [u8],
) -> Result<(), TensorError> {
    let to = bytemuck::try_cast_slice_mut::<u8, i32>(to).map_err(|_| TensorError::OutOfBounds)?;
    let count = ranks.len() / rows.count.max(1);
    let lines = TensorLines { size: count, ..rows };
    for (row, ranks) in ranks.chunks_exact(count.max(1)).enumerate() {
        let line = to[lines.start(row)..].iter_mut().step_by(rows.stride.max(1));
        line.zip(ranks).for_each(|(to, &rank)| *to = rank as i32);
    }
    Ok(())
}

/// The elements of each row at the indices that are where they go, as [`write_ranks`] puts them.
///
/// # Panics
/// If an index is none of an element of a row.
pub(crate) fn take_along(
    dtype: DType,
    from: &[u8],
    to: &mut [u8],
    rows: TensorLines,
    indices: &[i32],
) -> Result<(), TensorError> {
    match dtype.bytes() {
        1 => take::<1>(from, to, rows, indices),
        2 => take::<2>(from, to, rows, indices),
        4 => take::<4>(from, to, rows, indices),
        8 => take::<8>(from, to, rows, indices),
        _ => take::<16>(from, to, rows, indices),
    }
}

/// [`take_along`], on elements of `N` bytes.
fn take<const N: usize>(
    from: &[u8],
    to: &mut [u8],
    rows: TensorLines,
    indices: &[i32],
) -> Result<(), TensorError> {
    let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
    let TensorLines { size, stride, .. } = rows;
    let count = to.len() / rows.count;
    // The rows of a block are side by side.
    let (block, from_block) = (count * stride, size * stride);
    let batch = task_size(to.len() / block, block.saturating_mul(MOVE_WORK), 1);
    let tasks = to.chunks_mut(batch * block).zip((0..).step_by(batch)).collect();
    host::parallel(tasks, |(to, first): (&mut [[u8; N]], usize)| {
        for (nth, to) in (first..).zip(to.chunks_exact_mut(block)) {
            let from = &from[nth * from_block..][..from_block];
            let indices = &indices[nth * block..][..block];
            if stride == 1 {
                to.iter_mut().zip(indices).for_each(|(to, &index)| *to = from[index as usize]);
                continue;
            }
            let lines = to.chunks_exact_mut(stride).zip(indices.chunks_exact(stride));
            for (to, indices) in lines {
                for ((column, to), &index) in to.iter_mut().enumerate().zip(indices) {
                    *to = from[index as usize * stride + column];
                }
            }
        }
        Ok(())
    })
}

/// [`permuted`], on elements of `N` bytes.
fn permute<const N: usize>(
    from: &[u8],
    to: &mut [u8],
    rows: TensorLines,
    ranks: &[usize],
) -> Result<(), TensorError> {
    let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
    let TensorLines { size, stride, .. } = rows;
    let count = ranks.len() / rows.count;
    if stride == 1 {
        let batch = task_size(rows.count, count.saturating_mul(MOVE_WORK), 1);
        let tasks = to.chunks_mut(batch * count).zip((0..).step_by(batch)).collect();
        return host::parallel(tasks, |(to, first): (&mut [[u8; N]], usize)| {
            for (row, to) in (first..).zip(to.chunks_exact_mut(count)) {
                let (from, ranks) = (&from[row * size..], &ranks[row * count..]);
                to.iter_mut().zip(ranks).for_each(|(to, &rank)| *to = from[rank]);
            }
            Ok(())
        });
    }
    // Each line holds one element of `stride` rows.
    let batch = task_size(to.len() / stride, stride.saturating_mul(MOVE_WORK), 1);
    let tasks = to.chunks_mut(batch * stride).zip((0..).step_by(batch)).collect();
    host::parallel(tasks, |(to, first): (&mut [[u8; N]], usize)| {
        for (line, to) in (first..).zip(to.chunks_exact_mut(stride)) {
            let (block, nth) = (line / count, line % count);
            let ranks = ranks[block * stride * count + nth..].iter().step_by(count);
            let from = &from[block * stride * size..];
            for ((column, to), &rank) in to.iter_mut().enumerate().zip(ranks) {
                *to = from[rank * stride + column];
            }
        }
        Ok(())
    })
}
