//! Bounds of the slopes of functions, by which the image of a narrow interval follows from a single
//! value of the function.

use crate::ball::{Ball, up};
use crate::bounds::{Bounds, Image};
use crate::precise;
use numerics::math::UnaryOp;

/// Margin of slopes that are differences of nearly equal values.
const CANCELLED: f64 = 1e-15;

/// A bound of the slope of a function over all numbers within `around` of `x`, where its value is
/// `y`; `None` unless these are so near that the slope is nearly the same for all of them.
pub(super) fn slope(op: UnaryOp, x: f64, y: f64, around: f64) -> Option<f64> {
    let size = x.abs();
    // The distance from which on the slope changes much, and the slope.
    let (distance, slope) = match op {
        UnaryOp::Acos | UnaryOp::Asin => (1.0 - size, 1.0 / ((1.0 - size) * (1.0 + size)).sqrt()),
        UnaryOp::Acosh => (x - 1.0, 1.0 / ((x - 1.0) * (x + 1.0)).sqrt()),
        UnaryOp::Asinh => (1.0, 1.0 / (1.0 + size.min(1e100).powi(2)).sqrt()),
        UnaryOp::Atan => (1.0, 1.0 / (1.0 + x * x)),
        UnaryOp::Atanh => (1.0 - size, 1.0 / ((1.0 - size) * (1.0 + size))),
        UnaryOp::Cbrt => (size, y / (3.0 * x)),
        // |sinh(x)| is at most |x| cosh(x).
        UnaryOp::Cosh => (1.0, y * (size + around).min(1.0)),
        UnaryOp::Cosine => (f64::INFINITY, (size + around).min(1.0)),
        UnaryOp::Sine => (f64::INFINITY, 1.0),
        UnaryOp::Tanh => (1.0, 1.0 - y * y + CANCELLED),
        // As Mills' ratio has it.
        UnaryOp::Erf if size > 1.0 => {
            (1.0 / (1.0 + size), (1.0 - y.abs() + CANCELLED) * (2.0 * size + 2.0))
        }
        UnaryOp::Erf => (f64::INFINITY, 1.13),
        UnaryOp::Erfc => (1.0 / (1.0 + size), y * (2.0 * size + 2.0)),
        UnaryOp::Exponential => (1.0, y),
        UnaryOp::ExponentialMinusOne => (1.0, y + 1.0 + CANCELLED),
        UnaryOp::Log => (x, 1.0 / x),
        UnaryOp::LogPlusOne => (1.0 + x, 1.0 / (1.0 + x)),
        UnaryOp::Logistic => (1.0, y * (1.0 - y + CANCELLED)),
        UnaryOp::Rsqrt => (x, 0.5 * y / x),
        UnaryOp::Sinh => (1.0, (1.0 + y.min(1e150) * y.min(1e150)).sqrt().max(y.abs())),
        UnaryOp::Sqrt => (x, 0.5 / y),
        UnaryOp::Tan => (1.0 / (1.0 + y.abs()), 1.0 + y * y),
        _ => return None,
    };
    // The slope changes by less than a hundredth.
    (around <= 1e-3 * distance && slope.is_finite()).then_some(slope * 1.01)
}

/// The largest distance of numbers of bounds from a number.
pub(super) fn around(bounds: Bounds, x: Ball) -> f64 {
    let furthest = (bounds.low - x.hi).abs().max((bounds.high - x.hi).abs());
    up(furthest + rest(x))
}

/// The largest distance of a number from its first part.
pub(super) fn rest(x: Ball) -> f64 {
    x.lo.abs() + x.radius
}

/// The image of finite bounds that are near a number, given the value of the function for that.
pub(super) fn image_near(op: UnaryOp, bounds: Bounds, x: Ball, value: Ball) -> Option<Image> {
    if !x.is_finite() || !value.is_finite() || value.hi == 0.0 {
        return None;
    }
    let _pause = precise::pause();
    let value = Ball { handle: 0, ..value };
    let slope = slope(op, x.hi, value.hi, around(bounds, x))?;
    let below = up(x.hi - bounds.low + rest(x)).max(0.0) * slope;
    let above = up(bounds.high - x.hi + rest(x)).max(0.0) * slope;
    let (below, above) = match op {
        UnaryOp::Acos | UnaryOp::Erfc | UnaryOp::Rsqrt => (above, below),
        UnaryOp::Cosh | UnaryOp::Cosine | UnaryOp::Sine => (above.max(below), above.max(below)),
        _ => (below, above),
    };
    let (low, high) = (value.widened(below), value.widened(above));
    let image = match op {
        UnaryOp::Cosine | UnaryOp::Sine => {
            let (low, high) = (low.lower().max(-1.0), high.upper().min(1.0));
            Image::between(Ball::exact(low), Ball::exact(high))
        }
        UnaryOp::Cosh => Image::between(Ball::exact(low.lower().max(1.0)), high),
        _ => Image::between(low, high),
    };
    Some(image.or_nan(bounds.nan))
}
