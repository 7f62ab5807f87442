//! Functions of real numbers in `f64`, and of elements of one floating-point type.

use crate::Float;
use std::f64::consts::PI;

/// `base` raised to `exponent`, as IEEE 754's `pow`.
pub fn power(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// The inverse hyperbolic cosine; NaN below 1.
pub fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The logarithm of the absolute value of the gamma function.
pub fn lgamma(x: f64) -> f64 {
    if x.is_infinite() { f64::INFINITY } else { libm::lgamma(x) }
}

/// The number of the type next to `from` in the direction of `to`; `to` itself if they are equal.
pub fn next_after<T: Float>(from: T, to: T) -> T {
    if from.is_nan() || to.is_nan() {
        return T::from_float(f64::NAN);
    }
    if from == to {
        return to;
    }
    let sign = T::FORMAT.sign_mask();
    let magnitude = from.to_raw() & !sign;
    if from == T::ZERO && magnitude == 0 && sign != 0 {
        return T::from_raw(if to < from { sign | 1 } else { 1 });
    }
    let is_negative = from.to_raw() & sign != 0;
    let is_outward = (from < to) != is_negative;
    match magnitude {
        1 if !is_outward && sign != 0 => T::from_float(if is_negative { -0.0 } else { 0.0 }),
        _ if is_outward => T::from_raw(from.to_raw() + 1),
        _ => T::from_raw(from.to_raw() - 1),
    }
}

/// A polynomial from its coefficients, the highest first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

/// The derivative of the logarithm of the gamma function; NaN at its poles, zero and the negative
/// integers.
pub fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        // Exact, and of either sign: what tan needs near its zeros.
        let fraction = x - x.round();
        if fraction == 0.0 || x.is_infinite() {
            return f64::NAN;
        }
        return digamma(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    // digamma(x) = digamma(x + 1) - 1 / x, up to where the asymptotic series is good.
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    // The Bernoulli numbers B(2k) / 2k, the highest first.
    const SERIES: [f64; 8] = [
        -3617.0 / 8160.0,
        1.0 / 12.0,
        -691.0 / 32760.0,
        1.0 / 132.0,
        -1.0 / 240.0,
        1.0 / 252.0,
        -1.0 / 120.0,
        1.0 / 12.0,
    ];
    let inverse_square = 1.0 / (x * x);
    sum + libm::log(x) - 0.5 / x - inverse_square * polynomial(&SERIES, inverse_square)
}
