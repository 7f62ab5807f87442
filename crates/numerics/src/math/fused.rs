//! Fused multiply-adds from operations that round each: for targets without an instruction, whose
//! library has slow ones.
//!
//! Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
//! using rounding to odd", IEEE Transactions on Computers, 2008.

#[cfg(target_family = "wasm")]
use crate::simd::relaxed;

/// Returns `x * y + z`, rounded once.
#[inline]
pub fn fused_multiply_add(x: f64, y: f64, z: f64) -> f64 {
    #[cfg(target_family = "wasm")]
    if relaxed::is_fused() {
        return relaxed::multiply_add(x, y, z);
    }
    // Within these, no term of the sums overflows or loses bits.
    let is_usual = |number: f64, low: u64, high: u64| {
        let exponent = (number.to_bits() >> 52) & 0x7ff;
        low <= exponent && exponent <= high
    };
    let factors = is_usual(x, 1023 - 450, 1023 + 450) & is_usual(y, 1023 - 450, 1023 + 450);
    if !(factors & is_usual(z, 0, 1023 + 950)) {
        return unusual(x, y, z);
    }
    let (high, low) = exact_product(x, y);
    let (sum, rest) = exact_sum(z, low);
    let (sum, error) = exact_sum(high, sum);
    sum + odd_sum(rest, error)
}

/// Returns `x * y + z`, rounded once.
#[inline]
pub fn fused_multiply_add_f32(x: f32, y: f32, z: f32) -> f32 {
    #[cfg(target_family = "wasm")]
    if relaxed::is_fused() {
        return relaxed::multiply_add_f32(x, y, z);
    }
    // The product is exact.
    odd_sum(f64::from(x) * f64::from(y), f64::from(z)) as f32
}

/// As [`fused_multiply_add`], for numbers that are large, small or none.
#[cold]
fn unusual(x: f64, y: f64, z: f64) -> f64 {
    match x == 0.0 || y == 0.0 {
        true => x * y + z,
        false => libm::fma(x, y, z),
    }
}

/// A product as the nearest number and the exact rest.
#[inline(always)]
fn exact_product(x: f64, y: f64) -> (f64, f64) {
    /// Leaves half of the bits.
    const SPLIT: f64 = ((1 << 27) + 1) as f64;
    let halves = |number: f64| {
        let scaled = number * SPLIT;
        let high = scaled - (scaled - number);
        (high, number - high)
    };
    let product = x * y;
    let ((xh, xl), (yh, yl)) = (halves(x), halves(y));
    (product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl)
}

/// A sum as the nearest number and the exact rest.
#[inline(always)]
fn exact_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let from_y = sum - x;
    (sum, (x - (sum - from_y)) + (y - from_y))
}

/// A sum rounded to odd: what is rounded again to fewer bits is as if it was rounded once.
#[inline(always)]
fn odd_sum(x: f64, y: f64) -> f64 {
    let (sum, rest) = exact_sum(x, y);
    let bits = sum.to_bits();
    // Neither is true for NaN.
    let is_inexact = (rest > 0.0) | (rest < 0.0);
    if is_inexact & (bits & 1 == 0) {
        let is_away = (rest > 0.0) == (sum > 0.0);
        return f64::from_bits(if is_away { bits + 1 } else { bits - 1 });
    }
    sum
}
