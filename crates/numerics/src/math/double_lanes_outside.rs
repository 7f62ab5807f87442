//! Results of functions of `f64` outside of the ranges of `double_lanes.rs`. They are known at once
//! for zeros, infinities, NaN, numbers that are the result themselves and numbers whose result
//! is a limit; [`rescaled`] has the results of numbers that can be scaled to the range.
//!
//! Without branches, for loops of vector instructions. `None` leaves a number to the exact
//! function, whose very bits these are.

use super::double_lanes::part;
use super::rounded::{LARGE, OVERFLOW, SMALL, UNDERFLOW};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The value of the first condition that holds.
#[inline(always)]
fn first<const N: usize>(cases: [(bool, f64); N]) -> Option<f64> {
    let (mut is_known, mut result) = (false, 0.0);
    for (condition, value) in cases.into_iter().rev() {
        is_known |= condition;
        result = if condition { value } else { result };
    }
    is_known.then_some(result)
}

/// True below a number, in size.
#[inline(always)]
fn is_below(x: f64, limit: f64) -> bool {
    x.abs() < limit
}

/// True for a number to which 1 is added without change.
#[inline(always)]
fn is_tiny(x: f64) -> bool {
    is_below(x, part(56))
}

/// NaN of one operand, or of two that are equal.
#[inline(always)]
fn nan_of(x: f64, y: f64) -> (bool, f64) {
    (x.is_nan() ^ y.is_nan() | x.is_nan() & (x.to_bits() == y.to_bits()), x + y)
}

pub(super) fn acos(_: f64) -> Option<f64> {
    None
}

#[inline(always)]
pub(super) fn acosh(x: f64) -> Option<f64> {
    first([(x == f64::INFINITY, x), (x.is_nan() | (x < 1.0), f64::NAN)])
}

#[inline(always)]
pub(super) fn asin(x: f64) -> Option<f64> {
    first([(x.is_nan() | is_below(x, SMALL), x)])
}

#[inline(always)]
pub(super) fn asinh(x: f64) -> Option<f64> {
    first([(!x.is_finite() | is_below(x, SMALL), x)])
}

#[inline(always)]
pub(super) fn atan(x: f64) -> Option<f64> {
    let is_steep = x.abs() > 1.0 / part(60);
    first([(x.is_nan() | is_below(x, SMALL), x), (is_steep, FRAC_PI_2.copysign(x))])
}

#[inline(always)]
pub(super) fn atan2(y: f64, x: f64) -> Option<f64> {
    let choose = |right, left| if x.is_sign_negative() { left } else { right };
    let of_infinite = choose(FRAC_PI_4, 3.0 * FRAC_PI_4);
    first([
        nan_of(x, y),
        (x.is_infinite() & y.is_infinite(), of_infinite.copysign(y)),
        ((y == 0.0) | (x.is_infinite() & y.is_finite()), choose(0.0, PI).copysign(y)),
        ((x == 0.0) | (y.is_infinite() & x.is_finite()), FRAC_PI_2.copysign(y)),
    ])
}

#[inline(always)]
pub(super) fn atanh(x: f64) -> Option<f64> {
    let is_itself = x.is_nan() | is_below(x, SMALL);
    let is_pole = x.abs() == 1.0;
    first([(is_itself, x), (is_pole, f64::INFINITY.copysign(x)), (x.abs() > 1.0, f64::NAN)])
}

#[inline(always)]
pub(super) fn cbrt(x: f64) -> Option<f64> {
    first([(!x.is_finite() | (x == 0.0), x)])
}

#[inline(always)]
pub(super) fn cos(x: f64) -> Option<f64> {
    first([(!x.is_finite(), f64::NAN), (is_below(x, SMALL), 1.0)])
}

#[inline(always)]
pub(super) fn cosh(x: f64) -> Option<f64> {
    let overflows = x.abs() > OVERFLOW + 1.0;
    first([(x.is_nan(), x.abs()), (overflows, f64::INFINITY), (is_below(x, SMALL), 1.0)])
}

#[inline(always)]
pub(super) fn erf(x: f64) -> Option<f64> {
    first([(x.is_nan() | (x == 0.0), x), (x.abs() >= 6.0, 1f64.copysign(x))])
}

#[inline(always)]
pub(super) fn erfc(x: f64) -> Option<f64> {
    first([(x.is_nan(), x), (x < -6.0, 2.0), (x > 28.0, 0.0), (is_tiny(x), 1.0)])
}

#[inline(always)]
pub(super) fn exp(x: f64) -> Option<f64> {
    let limits = [(x > OVERFLOW, f64::INFINITY), (x < UNDERFLOW, 0.0)];
    first([(x.is_nan(), x), limits[0], limits[1], (is_tiny(x), 1.0)])
}

#[inline(always)]
pub(super) fn exp_m1(x: f64) -> Option<f64> {
    let limits = [(x > OVERFLOW, f64::INFINITY), (x < -LARGE, -1.0)];
    first([(x.is_nan() | is_tiny(x), x), limits[0], limits[1]])
}

#[inline(always)]
pub(super) fn log(x: f64) -> Option<f64> {
    let limits = [(x == 0.0, f64::NEG_INFINITY), (x < 0.0, f64::NAN)];
    first([(x.is_nan() | (x == f64::INFINITY), x), limits[0], limits[1]])
}

#[inline(always)]
pub(super) fn log_1p(x: f64) -> Option<f64> {
    let limits = [(x == -1.0, f64::NEG_INFINITY), (x < -1.0, f64::NAN)];
    first([(x.is_nan() | (x == f64::INFINITY) | is_tiny(x), x), limits[0], limits[1]])
}

#[inline(always)]
pub(super) fn logistic(x: f64) -> Option<f64> {
    let limits = [(x > LARGE, 1.0), (x < UNDERFLOW, 0.0)];
    first([(x.is_nan(), x), limits[0], limits[1], (is_tiny(x), 0.5)])
}

#[inline(always)]
pub(super) fn pow(x: f64, y: f64) -> Option<f64> {
    let half = 0.5 * y;
    let is_integer = y.round_ties_even() == y;
    let is_odd = is_integer & (half.round_ties_even() != half);
    let size = x.abs();
    let is_special = (x == 0.0) | x.is_infinite() | (y.is_infinite() & (size != 1.0));
    let limit = if (size > 1.0) == (y > 0.0) { f64::INFINITY } else { 0.0 };
    let limit = if is_odd & x.is_sign_negative() { -limit } else { limit };
    let is_unreal = (x < 0.0) & x.is_finite() & y.is_finite() & !is_integer;
    first([
        ((y == 0.0) | (x == 1.0), 1.0),
        nan_of(x, y),
        (is_special & !x.is_nan() & !y.is_nan(), limit),
        (is_unreal, f64::NAN),
    ])
}

#[inline(always)]
pub(super) fn rsqrt(x: f64) -> Option<f64> {
    let limits = [(x == 0.0, f64::INFINITY.copysign(x)), (x == f64::INFINITY, 0.0)];
    first([(x.is_nan(), x), limits[0], limits[1], (x < 0.0, f64::NAN)])
}

#[inline(always)]
pub(super) fn sin(x: f64) -> Option<f64> {
    first([(!x.is_finite(), f64::NAN), (is_below(x, SMALL), x)])
}

#[inline(always)]
pub(super) fn sinh(x: f64) -> Option<f64> {
    let overflows = x.abs() > OVERFLOW + 1.0;
    first([(x.is_nan() | is_below(x, SMALL), x), (overflows, f64::INFINITY.copysign(x))])
}

#[inline(always)]
pub(super) fn tan(x: f64) -> Option<f64> {
    first([(is_below(x, SMALL), x)])
}

#[inline(always)]
pub(super) fn tanh(x: f64) -> Option<f64> {
    let is_limit = x.abs() > 20.0;
    first([(x.is_nan() | is_below(x, SMALL), x), (is_limit, 1f64.copysign(x))])
}

/// Results of numbers that are scaled to the range first.
pub(super) mod rescaled {
    use super::first;
    use crate::math::double::Double;
    use crate::math::double_lanes::{
        self as lanes, ERROR, Pow, Rounded, exp_of, log_of, nearest, only_if, scaled_log,
    };
    use crate::math::lanes::{SHIFT, power_of_2, split};
    use crate::math::rounded::{OVERFLOW, UNDERFLOW};

    /// Subnormal numbers are multiples of this power of two.
    pub(in crate::math) const UNIT: f64 = -1074.0;

    #[inline(always)]
    pub(in crate::math) fn is_subnormal(x: f64) -> bool {
        (x != 0.0) & (x.abs() < f64::MIN_POSITIVE)
    }

    /// A subnormal number in units of the least one. Its bits are an integer, which is converted:
    /// arithmetic with subnormal numbers is slow.
    #[inline(always)]
    pub(in crate::math) fn in_units(x: f64) -> f64 {
        const INTEGERS: f64 = (1u64 << 52) as f64;
        (f64::from_bits(x.abs().to_bits() | INTEGERS.to_bits()) - INTEGERS).copysign(x)
    }

    /// The result times a power of two under a condition, if it is known.
    #[inline(always)]
    fn result_if(condition: bool, result: Double, power: f64) -> Option<f64> {
        let result = nearest(result, ERROR);
        (condition & !result.is_nan()).then_some(result * power_of_2(power + SHIFT))
    }

    #[inline(always)]
    pub(in crate::math) fn atan2([y, x]: [f64; 2]) -> Option<f64> {
        let are_subnormal = is_subnormal(x) & is_subnormal(y);
        result_if(are_subnormal, lanes::atan2(in_units(y), in_units(x)), 0.0)
    }

    #[inline(always)]
    pub(in crate::math) fn cbrt([x]: [f64; 1]) -> Option<f64> {
        result_if(is_subnormal(x), lanes::cbrt(in_units(x)), UNIT / 3.0)
    }

    #[inline(always)]
    pub(in crate::math) fn log([x]: [f64; 1]) -> Option<f64> {
        let [m, exponent] = split(in_units(x));
        let log = log_of(Double::new(m - 1.0, 0.0), exponent + UNIT);
        result_if(is_subnormal(x) & (x > 0.0), log, 0.0)
    }

    #[inline(always)]
    pub(in crate::math) fn pow([x, y]: [f64; 2]) -> Option<f64> {
        let is_subnormal = is_subnormal(x);
        let base = if is_subnormal { in_units(x) } else { x };
        let log = scaled_log(base, if is_subnormal { UNIT } else { 0.0 }, y);
        let is_moderate = (log.hi > UNDERFLOW + 80.0) & (log.hi < OVERFLOW);
        let power = nearest(only_if(is_moderate, exp_of(log)), Pow::ERROR);
        let has_log = (x > 0.0) & (x < f64::INFINITY) & y.is_finite();
        first([
            (has_log & (log.hi > OVERFLOW + 1.0), f64::INFINITY),
            (has_log & (log.hi < UNDERFLOW - 1.0), 0.0),
            (has_log & is_subnormal & !power.is_nan(), power),
        ])
    }

    #[inline(always)]
    pub(in crate::math) fn rsqrt([x]: [f64; 1]) -> Option<f64> {
        let is_easy = is_subnormal(x) & (x > 0.0);
        result_if(is_easy, lanes::rsqrt(in_units(x)), -0.5 * UNIT)
    }
}
