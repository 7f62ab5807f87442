//! The places of the largest or smallest elements of rows of very few elements.

use numerics::simd::{Isa, Kernel};

/// Rows of fewer elements are compared where they are.
pub(super) const MIN_LONG: usize = 8;

/// The elements of rows.
#[derive(Clone, Copy)]
pub(super) enum RowElements<'a> {
    /// Floats, of which both zeros are equal and the first NaN, if any, is the extremum.
    Singles(&'a [f32]),
    Doubles(&'a [f64]),
    /// Integers.
    Integers(&'a [i32]),
    LongIntegers(&'a [i64]),
}

/// Writes the place in its row of the first extremum of each row of `count` elements, fewer than
/// [`MIN_LONG`].
pub(super) fn first_places(
    elements: RowElements<'_>,
    count: usize,
    is_largest: bool,
    places: &mut [u32],
) {
    Isa::best().run(FirstPlaces { elements, count, is_largest, places });
}

struct FirstPlaces<'a> {
    elements: RowElements<'a>,
    count: usize,
    is_largest: bool,
    places: &'a mut [u32],
}

impl Kernel for FirstPlaces<'_> {
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let FirstPlaces { elements, count, is_largest, places } = self;
        match elements {
            RowElements::Singles(floats) => {
                let sign = if is_largest { 0 } else { 1 << 31 };
                first_of_rows(floats, count, places, |x| {
                    // Without negative zeros.
                    let x = f32::from_bits(x.to_bits() ^ sign) + 0.0;
                    let bits = x.to_bits() as i32;
                    if x.is_nan() { i32::MAX } else { bits ^ ((bits >> 31) & i32::MAX) }
                });
            }
            RowElements::Doubles(floats) => {
                let sign = if is_largest { 0 } else { 1 << 63 };
                first_of_rows(floats, count, places, |x| {
                    let x = f64::from_bits(x.to_bits() ^ sign) + 0.0;
                    let bits = x.to_bits() as i64;
                    if x.is_nan() { i64::MAX } else { bits ^ ((bits >> 63) & i64::MAX) }
                });
            }
            RowElements::Integers(integers) => {
                let flipped = if is_largest { 0 } else { -1 };
                first_of_rows(integers, count, places, |x| x ^ flipped);
            }
            RowElements::LongIntegers(integers) => {
                let flipped = if is_largest { 0 } else { -1 };
                first_of_rows(integers, count, places, |x| x ^ flipped);
            }
        }
    }
}

/// Writes the place of the first element of each row whose number in the order of the elements,
/// `key`, is the largest.
#[inline(always)]
fn first_of_rows<E: Copy, K: Ord + Copy>(
    elements: &[E],
    count: usize,
    places: &mut [u32],
    key: impl Fn(E) -> K + Copy,
) {
    match count {
        2 => first_of::<E, K, 2>(elements, places, key),
        3 => first_of::<E, K, 3>(elements, places, key),
        4 => first_of::<E, K, 4>(elements, places, key),
        5 => first_of::<E, K, 5>(elements, places, key),
        6 => first_of::<E, K, 6>(elements, places, key),
        7 => first_of::<E, K, 7>(elements, places, key),
        // Rows of one element.
        _ => places.fill(0),
    }
}

#[inline(always)]
fn first_of<E: Copy, K: Ord + Copy, const N: usize>(
    elements: &[E],
    places: &mut [u32],
    key: impl Fn(E) -> K,
) {
    for (place, row) in places.iter_mut().zip(elements.as_chunks::<N>().0) {
        let (mut best, mut found) = (key(row[0]), 0);
        for (number, &x) in (1..).zip(&row[1..]) {
            let next = key(x);
            let is_better = next > best;
            best = if is_better { next } else { best };
            found = if is_better { number } else { found };
        }
        *place = found;
    }
}
