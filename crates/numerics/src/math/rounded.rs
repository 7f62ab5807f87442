//! Functions of `f64` that are correctly rounded: computed with twice the precision, and rounded
//! once, by [`ties`] where the result is very near the middle between two numbers.
//!
//! [`super::double_lanes`] has faster ones, which leave some numbers to these.

use super::double::{Double, two_sum};
use super::fixed::Fixed;
use super::ties;
use std::cmp::Ordering;

/// Below this, an odd function that behaves as `x + O(x^3)` is `x` up to less than half a unit.
pub(super) const SMALL: f64 = 1.0 / (1u64 << 28) as f64;

/// True if an odd function that behaves as `x + O(x^3)` rounds to `x`.
fn is_small(x: f64) -> bool {
    x.is_nan() || x.abs() < SMALL
}

/// `x * 2^exponent` rounded, where `compare` compares the exact result with a number near it. It is
/// not asked for subnormal numbers.
fn round_scaled(x: Double, exponent: i32, compare: impl FnOnce(Double) -> Ordering) -> f64 {
    let result = x.shifted_value(exponent);
    match result.is_normal() {
        true => libm::scalbn(ties::round(x, compare), exponent),
        false => result,
    }
}

/// Beyond this, `exp(-2x)` is negligible beside 1 also in twice the precision of `f64`.
pub(super) const LARGE: f64 = 40.0;

/// The hyperbolic sine and cosine of a finite number, both without a power of two.
pub(crate) fn sinh_cosh(x: f64) -> (Double, Double, i32) {
    let size = Double::from(x.abs());
    let (sinh, cosh, exponent) = if size.hi > LARGE {
        let (exp, exponent) = size.exp();
        (exp, exp, exponent - 1)
    } else {
        let grown = size.exp_m1();
        let exp = grown + Double::ONE;
        ((grown + grown / exp).scaled(0.5), (exp + Double::ONE / exp).scaled(0.5), 0)
    };
    (if x.is_sign_negative() { -sinh } else { sinh }, cosh, exponent)
}

/// The hyperbolic sine.
pub(crate) fn sinh(x: f64) -> f64 {
    if is_small(x) || x.is_infinite() {
        return x;
    }
    let (sinh, _, exponent) = sinh_cosh(x.abs());
    let compare = |y| ties::sinh_cosh(x.abs(), false, y, exponent);
    round_scaled(sinh, exponent, compare).copysign(x)
}

/// The hyperbolic cosine.
pub(crate) fn cosh(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return x.abs();
    }
    if x.abs() < SMALL {
        return 1.0;
    }
    let (_, cosh, exponent) = sinh_cosh(x);
    round_scaled(cosh, exponent, |y| ties::sinh_cosh(x.abs(), true, y, exponent))
}

/// The hyperbolic tangent.
pub(crate) fn tanh(x: f64) -> f64 {
    if is_small(x) {
        return x;
    }
    if x.abs() > 20.0 {
        return 1f64.copysign(x);
    }
    let grown = Double::from(2.0 * x.abs()).exp_m1();
    let tanh = grown / (grown + Double::from(2.0));
    ties::round(tanh, |y| ties::tanh(x.abs(), y)).copysign(x)
}

/// The inverse hyperbolic sine.
pub(crate) fn asinh(x: f64) -> f64 {
    if is_small(x) || x.is_infinite() {
        return x;
    }
    let asinh = wide_asinh(Double::from(x.abs()));
    ties::round(asinh, |y| ties::asinh_acosh(x.abs(), false, y)).copysign(x)
}

/// The inverse hyperbolic sine of a finite number.
pub(crate) fn wide_asinh(x: Double) -> Double {
    let size = x.abs();
    let value = if size.hi > 1e20 {
        // 1 / (4 x^2) is below the precision.
        size.scaled(0.5).log() + Double::LN_2.scaled(2.0)
    } else {
        let square = size * size;
        (size + square / (Double::ONE + (square + Double::ONE).sqrt())).log_1p()
    };
    if x.hi.is_sign_negative() { -value } else { value }
}

/// The inverse hyperbolic cosine; NaN below 1.
pub(crate) fn acosh(x: f64) -> f64 {
    if x.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if x.is_infinite() {
        return x;
    }
    let acosh = if x > 1e20 {
        Double::from(x).scaled(0.5).log() + Double::LN_2.scaled(2.0)
    } else {
        let rest = Double::from(x) - Double::ONE;
        (rest + (rest * (rest + Double::from(2.0))).sqrt()).log_1p()
    };
    ties::round(acosh, |y| ties::asinh_acosh(x, true, y))
}

/// The inverse hyperbolic tangent; NaN beyond 1.
pub(crate) fn atanh(x: f64) -> f64 {
    if is_small(x) {
        return x;
    }
    if x.abs() >= 1.0 {
        return if x.abs() == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    }
    let size = Double::from(x.abs());
    let atanh = (size.scaled(2.0) / (Double::ONE - size)).log_1p().scaled(0.5);
    ties::round(atanh, |y| ties::atanh(x.abs(), y)).copysign(x)
}

/// `1 / (1 + exp(-x))`.
pub(crate) fn logistic(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > LARGE {
        return 1.0;
    }
    if x < UNDERFLOW {
        return 0.0;
    }
    if x.abs() < SMALL * SMALL {
        return 0.5;
    }
    let (exp, exponent) = Double::from(x).exp();
    if x < -2.0 * LARGE {
        // 1 + exp(x) is 1 up to rounding.
        return round_scaled(exp, exponent, |y| ties::exp(Fixed::from(x), y, exponent));
    }
    let exp = exp.shifted(exponent);
    ties::round(exp / (Double::ONE + exp), |y| ties::logistic(x, y))
}

/// `1 / sqrt(x)`.
pub(crate) fn rsqrt(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 1.0 / x.sqrt();
    }
    // A power of four brings x to [1, 4).
    let half = libm::ilogb(x) >> 1;
    let x = libm::scalbn(x, -2 * half);
    let inverse = Double::ONE / Double::from(x).sqrt();
    libm::scalbn(ties::round(inverse, |y| ties::rsqrt(x, y)), -half)
}

/// Numbers beyond these have an exponential that is infinite or zero.
pub(super) const OVERFLOW: f64 = 709.79;
pub(super) const UNDERFLOW: f64 = -745.14;

/// The exponential function.
pub(crate) fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > OVERFLOW {
        return f64::INFINITY;
    }
    if x < UNDERFLOW {
        return 0.0;
    }
    if x.abs() <= 0.5 * f64::EPSILON {
        // The square adds less than the last place of `x`, which decides ties.
        let sum = two_sum(1.0, x);
        return sum.hi + sum.lo.next_up();
    }
    if let Some(exp) = small_exp(x) {
        return exp;
    }
    let (exp, exponent) = Double::from(x).exp();
    round_scaled(exp, exponent, |y| ties::exp(Fixed::from(x), y, exponent))
}

/// The exponential of a small number, if its square tells how the result is rounded: it is near
/// `1 + x`, which may lie in the middle between two numbers.
fn small_exp(x: f64) -> Option<f64> {
    if !(0.5 * f64::EPSILON..SMALL).contains(&x.abs()) {
        return None;
    }
    // The next term of the series, and rounding errors, are below a fifth of the cube each.
    let (first, cube) = (two_sum(1.0, x), (x * x * x).abs());
    let second = two_sum(first.lo, 0.5 * x * x);
    let sum = two_sum(first.hi, second.hi);
    let half = if sum.hi > 1.0 || (sum.hi == 1.0 && sum.lo > 0.0) { 0.5 } else { 0.25 };
    let outward = if sum.lo < 0.0 { -second.lo } else { second.lo };
    // To the middle between the sum and the next number.
    let distance = (half * f64::EPSILON - sum.lo.abs()) - outward;
    match distance {
        _ if distance.abs() <= cube => None,
        0.0.. => Some(sum.hi),
        _ if sum.lo < 0.0 => Some(sum.hi.next_down()),
        _ => Some(sum.hi.next_up()),
    }
}

/// The exponential function minus 1.
pub(crate) fn exp_m1(x: f64) -> f64 {
    if x.is_nan() || x.abs() < SMALL * SMALL {
        return x;
    }
    // Then minus 1 is nothing beside the result, or all of it.
    if x > 100.0 {
        return exp(x);
    }
    if x < -LARGE {
        return -1.0;
    }
    ties::round(Double::from(x).exp_m1(), |y| ties::exp_m1(x, y))
}

/// The logarithm.
pub(crate) fn log(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return libm::log(x);
    }
    ties::round(Double::from(x).log(), |y| ties::log(x, 0.0, y))
}

/// `log(1 + x)`.
pub(crate) fn log_1p(x: f64) -> f64 {
    if x.abs() < SMALL * SMALL {
        return x;
    }
    if !(x > -1.0 && x.is_finite()) {
        return libm::log1p(x);
    }
    ties::round(Double::from(x).log_1p(), |y| ties::log(x, 1.0, y))
}

/// The cube root.
pub(crate) fn cbrt(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let third = libm::ilogb(x) / 3;
    let size = libm::scalbn(x.abs(), -3 * third);
    let root = ties::round(Double::from(size).cbrt(), |y| ties::cbrt(size, y));
    libm::scalbn(root, third).copysign(x)
}

/// The sine.
pub(crate) fn sin(x: f64) -> f64 {
    if x.abs() < SMALL {
        return x;
    }
    ties::round(Double::from(x).sin_cos().0, |y| ties::sin(x, y))
}

/// The cosine.
pub(crate) fn cos(x: f64) -> f64 {
    if x.abs() < SMALL {
        return 1.0;
    }
    ties::round(Double::from(x).sin_cos().1, |y| ties::cos(x, y))
}

/// The tangent.
pub(crate) fn tan(x: f64) -> f64 {
    if x.abs() < SMALL {
        return x;
    }
    let (sin, cos) = Double::from(x).sin_cos();
    ties::round(sin / cos, |y| ties::tan(x, y))
}

/// The angle of the point with ordinate `y` and abscissa `x`.
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    let is_special = |x: f64| x == 0.0 || !x.is_finite();
    if is_special(x) || is_special(y) {
        return libm::atan2(y, x);
    }
    let angle = Double::from(y).atan2(Double::from(x));
    ties::round(angle, |angle| ties::atan2(y, x, angle))
}

/// The inverse tangent.
pub(crate) fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

/// `sqrt(1 - x^2)` of a number up to 1 in size.
fn other_leg(x: f64) -> Double {
    ((Double::ONE - Double::from(x)) * (Double::ONE + Double::from(x))).sqrt()
}

/// The inverse sine; NaN beyond 1.
pub(crate) fn asin(x: f64) -> f64 {
    if x.is_nan() || x.abs() < SMALL {
        return x;
    }
    if x.abs() >= 1.0 {
        return libm::asin(x);
    }
    ties::round(Double::from(x).atan2(other_leg(x)), |angle| ties::asin(x, angle))
}

/// The inverse cosine; NaN beyond 1.
pub(crate) fn acos(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 || x.abs() >= 1.0 {
        return libm::acos(x);
    }
    ties::round(other_leg(x).atan2(Double::from(x)), |angle| ties::acos(x, angle))
}

/// `base` raised to `exponent`, as IEEE 754's `pow`.
pub(crate) fn pow(base: f64, exponent: f64) -> f64 {
    if exponent == 2.0 && !base.is_nan() {
        return base * base;
    }
    let is_special = |x: f64| x == 0.0 || !x.is_finite();
    let is_integer = exponent.round_ties_even() == exponent;
    let is_odd = is_integer && (0.5 * exponent).round_ties_even() != 0.5 * exponent;
    if base == 0.0 && exponent > 0.0 {
        return if is_odd { base } else { 0.0 };
    }
    if is_special(base) || is_special(exponent) || base.abs() == 1.0 && is_integer {
        return libm::pow(base, exponent);
    }
    if base < 0.0 && !is_integer {
        // That of the function in `libm` has a sign on some machines.
        return f64::NAN;
    }
    // Larger exponents give one, infinity or zero, too.
    let log = Double::from(base.abs()).log() * Double::from(exponent.clamp(-1e30, 1e30));
    let (power, power_of_two) = log.exp();
    let compare = |y| ties::pow(base.abs(), exponent, y, power_of_two);
    let power = round_scaled(power, power_of_two, compare);
    if is_odd { power.copysign(base) } else { power }
}
