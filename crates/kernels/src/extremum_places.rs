//! The places of the largest elements of rows and of columns.

use super::extremum::ReducedLines;
use super::key_order::{KeyBits, KeyOrder};
use numerics::budget::Scratch;
use numerics::simd::{Isa, Kernel, transpose};
use numerics::{Element, TensorError};

/// Rows of fewer elements are compared side by side, unless there are few.
const SHORT_ROW: usize = 32;
const MIN_ROWS: usize = 16;
/// Short rows that are copied as columns at a time.
const COPIED: usize = 256;
/// Rows of fewer elements are compared in place.
const MIN_COPIED: usize = 8;
/// Maximum number of rows that are compared in place at a time.
const TINY_ROWS: usize = 1024;
/// Columns that are compared at a time: their keys and places stay in the first-level cache.
const COLUMNS: usize = 512;
/// Elements of a row whose maximum is computed before its place is looked up.
const BLOCK: usize = 1024;
/// Elements that are compared with the maximum at a time.
const CHUNK: usize = 64;

/// Writes the place in its line of the largest element, by an order, of each result from number
/// `first` on: of the first one, or of the last one.
///
/// # Errors
/// If there is no memory for copies.
pub(super) fn places<K: KeyBits, const FLOATS: bool>(
    elements: &[K],
    lines: ReducedLines,
    order: KeyOrder<K, FLOATS>,
    first: usize,
    is_first: bool,
    places: &mut [u32],
) -> Result<(), TensorError> {
    let count = lines.count();
    if !lines.are_rows() {
        Isa::best().run(ColumnPlaces { elements, lines, order, first, is_first, places });
        return Ok(());
    }
    let rows = &elements[first * count..][..places.len() * count];
    if count >= SHORT_ROW || places.len() < MIN_ROWS {
        Isa::best().run(RowPlaces { rows, count, order, is_first, places });
        return Ok(());
    }
    if is_first && count < MIN_COPIED {
        let together = places.len().min(TINY_ROWS);
        let mut room = Scratch::filled(together * count, K::Wide::ZERO)?;
        for (rows, places) in rows.chunks(together * count).zip(places.chunks_mut(together)) {
            let keys = &mut room[..rows.len()];
            Isa::best().run(WideKeys { elements: rows, order, keys });
            Isa::best().run(TinyRowPlaces { keys, count, places });
        }
        return Ok(());
    }
    let mut room = Scratch::filled(COPIED * count, K::ZERO)?;
    for (rows, places) in rows.chunks(COPIED * count).zip(places.chunks_mut(COPIED)) {
        let (elements, inner) = (&mut room[..rows.len()], places.len());
        transpose((rows, count), (elements, inner), [inner, count]);
        let lines = ReducedLines::new([1, count, inner], [rows.len(); 2])?;
        Isa::best().run(ColumnPlaces { elements, lines, order, first: 0, is_first, places });
    }
    Ok(())
}

/// The places of the largest elements of columns.
struct ColumnPlaces<'a, K, const FLOATS: bool> {
    elements: &'a [K],
    lines: ReducedLines,
    order: KeyOrder<K, FLOATS>,
    first: usize,
    is_first: bool,
    places: &'a mut [u32],
}

impl<K: KeyBits, const FLOATS: bool> Kernel for ColumnPlaces<'_, K, FLOATS> {
    #[inline(always)]
    fn run(self) {
        let ColumnPlaces { elements, lines, order, first, is_first, places } = self;
        let (count, stride) = (lines.count(), lines.step());
        let mut largest = [K::ZERO; COLUMNS];
        let mut done = 0;
        while done < places.len() {
            let width = lines.together(first + done, (places.len() - done).min(COLUMNS));
            let places = &mut places[done..][..width];
            let elements = &elements[lines.start(first + done)..];
            let row = |number: usize| &elements[number * stride..][..width];
            // Of equal elements, the one that is read first stays.
            let number = |i: usize| if is_first { i } else { count - 1 - i };
            let largest = &mut largest[..width];
            for (key, &x) in largest.iter_mut().zip(row(number(0))) {
                *key = order.key_of_value(x);
            }
            places.fill(number(0) as u32);
            for number in (1..count).map(number) {
                let columns = largest.iter_mut().zip(&mut *places).zip(row(number));
                for ((largest, place), &x) in columns {
                    let key = order.key_of_value(x);
                    let is_larger = key > *largest;
                    *largest = if is_larger { key } else { *largest };
                    *place = if is_larger { number as u32 } else { *place };
                }
            }
            done += width;
        }
    }
}

/// The places of the largest elements of rows.
struct RowPlaces<'a, K, const FLOATS: bool> {
    rows: &'a [K],
    count: usize,
    order: KeyOrder<K, FLOATS>,
    is_first: bool,
    places: &'a mut [u32],
}

impl<K: KeyBits, const FLOATS: bool> Kernel for RowPlaces<'_, K, FLOATS> {
    #[inline(always)]
    fn run(self) {
        let RowPlaces { rows, count, order, is_first, places } = self;
        for (row, place) in rows.chunks_exact(count).zip(places) {
            let blocks = count.div_ceil(BLOCK);
            let block = |number: usize| &row[number * BLOCK..count.min((number + 1) * BLOCK)];
            let mut best: Option<(usize, K)> = None;
            for i in 0..blocks {
                let number = if is_first { i } else { blocks - 1 - i };
                let largest = order.largest_key(block(number));
                if best.is_none_or(|(_, best)| largest > best) {
                    best = Some((number, largest));
                }
            }
            let Some((number, largest)) = best else { continue };
            let block = block(number);
            // Other elements than zeros and NaNs with the same key have the same bits.
            let at = if FLOATS && (largest == K::ZERO || order.is_nan(largest)) {
                place_in(block, is_first, |x| order.key_of_value(x) == largest)
            } else {
                let bits = order.element(largest);
                place_in(block, is_first, |x| x == bits)
            };
            *place = (number * BLOCK + at) as u32;
        }
    }
}

/// The place of the first or last element for which a condition holds.
#[inline(always)]
fn place_in<K: KeyBits>(block: &[K], is_first: bool, holds: impl Fn(K) -> bool) -> usize {
    // All elements of a chunk are compared, in vectors.
    let has_one = |chunk: &[K]| chunk.iter().fold(false, |found, &x| found | holds(x));
    let mut chunks = block.chunks(CHUNK);
    let chunk = if is_first { chunks.position(has_one) } else { chunks.rposition(has_one) };
    let start = chunk.unwrap_or(0) * CHUNK;
    let mut chunk = block[start..].iter().take(CHUNK);
    let at = match is_first {
        true => chunk.position(|&x| holds(x)),
        false => chunk.rposition(|&x| holds(x)),
    };
    start + at.unwrap_or(0)
}

/// The keys of elements in integers of at least 32 bits.
struct WideKeys<'a, K: KeyBits, const FLOATS: bool> {
    elements: &'a [K],
    order: KeyOrder<K, FLOATS>,
    keys: &'a mut [K::Wide],
}

impl<K: KeyBits, const FLOATS: bool> Kernel for WideKeys<'_, K, FLOATS> {
    #[inline(always)]
    fn run(self) {
        let WideKeys { elements, order, keys } = self;
        for (key, &x) in keys.iter_mut().zip(elements) {
            *key = order.key_of_value(x).into();
        }
    }
}

/// The first places of the largest keys of rows of fewer than [`MIN_COPIED`].
struct TinyRowPlaces<'a, W> {
    keys: &'a [W],
    count: usize,
    places: &'a mut [u32],
}

impl<W: KeyBits> Kernel for TinyRowPlaces<'_, W> {
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let TinyRowPlaces { keys, count, places } = self;
        match count {
            2 => first_places::<_, 2>(keys, places),
            3 => first_places::<_, 3>(keys, places),
            4 => first_places::<_, 4>(keys, places),
            5 => first_places::<_, 5>(keys, places),
            6 => first_places::<_, 6>(keys, places),
            7 => first_places::<_, 7>(keys, places),
            // Rows of one key.
            _ => places.fill(0),
        }
    }
}

#[inline(always)]
fn first_places<W: KeyBits, const N: usize>(keys: &[W], places: &mut [u32]) {
    for (place, row) in places.iter_mut().zip(keys.as_chunks::<N>().0) {
        let (mut largest, mut found) = (row[0], 0);
        for (number, &key) in (1..).zip(&row[1..]) {
            let is_larger = key > largest;
            largest = if is_larger { key } else { largest };
            found = if is_larger { number } else { found };
        }
        *place = found;
    }
}
