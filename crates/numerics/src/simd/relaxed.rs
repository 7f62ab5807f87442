//! Multiply-adds of relaxed SIMD, which may be rounded once or twice.

use std::arch::wasm32::*;
use std::hint::black_box;
use std::sync::OnceLock;

/// True if they are rounded once here: an engine decides that once for all of them. False, too,
/// where other instructions stand for them, as an engine has none (`tools/wasm/relaxed.mjs`).
#[inline]
pub(crate) fn is_fused() -> bool {
    static IS_FUSED: OnceLock<bool> = OnceLock::new();
    *IS_FUSED.get_or_init(|| are_exact())
}

/// True if squares are rounded after something is added that leaves their last bit.
#[target_feature(enable = "relaxed-simd")]
fn are_exact() -> bool {
    let (bit, x) = (f32::EPSILON * 4096.0, f64::EPSILON * 67_108_864.0);
    let single = f32x4_splat(black_box(1.0 + bit));
    let square = f32x4_relaxed_madd(single, single, f32x4_splat(-1.0 - 2.0 * bit));
    let double = f64x2_splat(black_box(1.0 + x));
    let wide = f64x2_relaxed_madd(double, double, f64x2_splat(-1.0 - 2.0 * x));
    i32x4_all_true(f32x4_eq(square, f32x4_splat(bit * bit)))
        && i64x2_all_true(f64x2_eq(wide, f64x2_splat(x * x)))
}

/// `x * y + z`, rounded once if [`is_fused`].
#[inline]
#[target_feature(enable = "relaxed-simd")]
pub(crate) fn multiply_add_f32(x: f32, y: f32, z: f32) -> f32 {
    let sums = f32x4_relaxed_madd(f32x4_splat(x), f32x4_splat(y), f32x4_splat(z));
    f32x4_extract_lane::<0>(sums)
}

/// `x * y + z`, rounded once if [`is_fused`].
#[inline]
#[target_feature(enable = "relaxed-simd")]
pub(crate) fn multiply_add(x: f64, y: f64, z: f64) -> f64 {
    let sums = f64x2_relaxed_madd(f64x2_splat(x), f64x2_splat(y), f64x2_splat(z));
    f64x2_extract_lane::<0>(sums)
}
