//! Fused multiply-adds of four `f32` from operations of `f64`, for engines of WebAssembly without
//! relaxed SIMD, or whose multiply-adds are rounded twice.

use crate::math::fused::fused_multiply_add_f32;
use std::arch::wasm32::*;

/// `x * y + z`, rounded once.
///
/// The product is exact in `f64`, and its sum is rounded to that type before it is rounded to
/// `f32`. That differs from one rounding only if the first ends in the middle between two numbers
/// of `f32`, where the second one does not know the side.
#[inline]
#[target_feature(enable = "simd128")]
pub(crate) fn multiply_add(x: v128, y: v128, z: v128) -> v128 {
    let (low, high) = (wide_sums(x, y, z), wide_sums(upper(x), upper(y), upper(z)));
    let sums = i64x2_shuffle::<0, 2>(f32x4_demote_f64x2_zero(low), f32x4_demote_f64x2_zero(high));
    // Of a sum in the middle, the 29 bits that the second rounding takes away are a one and zeros.
    let words = i32x4_shuffle::<0, 2, 4, 6>(low, high);
    let ties = i32x4_eq(i32x4_shl(words, 3), i32x4_splat(i32::MIN));
    // It takes more of a number that is not normal. A zero comes of an exact sum.
    let magnitudes = i32x4_sub(i32x4_shl(sums, 1), i32x4_splat(1));
    let small = u32x4_lt(magnitudes, i32x4_splat(1 << 24));
    if v128_any_true(v128_or(ties, small)) {
        return one_by_one(x, y, z);
    }
    sums
}

/// The sums of the first two elements.
#[inline]
#[target_feature(enable = "simd128")]
fn wide_sums(x: v128, y: v128, z: v128) -> v128 {
    let wide = f64x2_promote_low_f32x4;
    f64x2_add(f64x2_mul(wide(x), wide(y)), wide(z))
}

/// The last two elements as the first.
#[inline]
#[target_feature(enable = "simd128")]
fn upper(elements: v128) -> v128 {
    i64x2_shuffle::<1, 1>(elements, elements)
}

#[cold]
#[target_feature(enable = "simd128")]
fn one_by_one(x: v128, y: v128, z: v128) -> v128 {
    let elements = |vector: v128| {
        [
            f32x4_extract_lane::<0>(vector),
            f32x4_extract_lane::<1>(vector),
            f32x4_extract_lane::<2>(vector),
            f32x4_extract_lane::<3>(vector),
        ]
    };
    let (x, y, z) = (elements(x), elements(y), elements(z));
    let sum = |i: usize| fused_multiply_add_f32(x[i], y[i], z[i]);
    f32x4(sum(0), sum(1), sum(2), sum(3))
}
