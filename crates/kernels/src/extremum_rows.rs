//! The places of the largest or smallest elements of rows of very few elements.

use super::short_rows::largest_from_each;
use super::sums::{BLOCK, copy_strided};
use numerics::simd::{Isa, Kernel};

/// The elements of rows.
#[derive(Clone, Copy)]
pub(super) enum RowElements<'a> {
    /// Floats, of which both zeros are equal and the first NaN, if any, is the extremum.
    Floats(&'a [f32]),
    /// Integers.
    Integers(&'a [i32]),
}

/// Writes the place in its row of the first extremum of each row of `count` elements.
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
        // An integer in the order of the elements, and below it the complement of a place, so that
        // the first extremum has the largest number.
        let mut rooms = [[0_i64; BLOCK]; 2];
        let mut first = [0_i64; BLOCK];
        let rows = (BLOCK / count.max(1)).max(1);
        let (all, block) = (places.len() * count, rows * count);
        for (start, places) in (0..all).step_by(block).zip(places.chunks_mut(rows)) {
            let range = start..start + places.len() * count;
            let [from, to] = rooms.each_mut().map(|room| &mut room[..range.len()]);
            match elements {
                RowElements::Floats(floats) => {
                    let sign = if is_largest { 0 } else { 1 << 31 };
                    for ((number, &x), place) in from.iter_mut().zip(&floats[range]).zip(0..) {
                        // Without negative zeros.
                        let x = f32::from_bits(x.to_bits() ^ sign) + 0.0;
                        let bits = x.to_bits() as i32;
                        let ordered = bits ^ ((bits >> 31) & i32::MAX);
                        let ordered = if x.is_nan() { i32::MAX } else { ordered };
                        *number = with_place(ordered, place);
                    }
                }
                RowElements::Integers(integers) => {
                    let flipped = if is_largest { 0 } else { -1 };
                    for ((number, &x), place) in from.iter_mut().zip(&integers[range]).zip(0..) {
                        *number = with_place(x ^ flipped, place);
                    }
                }
            }
            let first = &mut first[..places.len()];
            copy_strided(largest_from_each([from, to], count), count, first);
            for ((place, &number), row) in places.iter_mut().zip(&*first).zip(0..) {
                *place = !(number as u32) - row * count as u32;
            }
        }
    }
}

/// A number with the place of its element.
#[inline(always)]
fn with_place(number: i32, place: u32) -> i64 {
    i64::from(number) << 32 | i64::from(!place)
}
