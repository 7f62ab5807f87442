//! Elementwise functions of real numbers: their true values, and their images of bounds.

use super::slopes;
use crate::ball::Ball;
use crate::bounds::{Bounds, Image};
use crate::precise;
use numerics::math::UnaryOp;

/// The shape of a function, by which the image of an interval follows from values.
#[derive(Clone, Copy, PartialEq)]
enum Curve {
    /// Increases where it is defined.
    Increasing,
    /// Decreases where it is defined.
    Decreasing,
    /// A function of the absolute value, which increases with it.
    Even,
    /// Sine or cosine.
    Wave,
    /// The tangent.
    Tangent,
    /// Any other: the function of a ball around the interval.
    Other,
}

/// A function of a real number.
pub(super) struct Function {
    value: fn(Ball) -> Ball,
    shape: Curve,
    /// The numbers for which it is defined.
    domain: [f64; 2],
}

const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
const POSITIVE: [f64; 2] = [0.0, f64::INFINITY];
const UNIT: [f64; 2] = [-1.0, 1.0];

/// The function of an op; `None` for ops that are no functions of the table.
pub(super) fn function(op: UnaryOp) -> Option<Function> {
    use Curve::{Decreasing, Even, Increasing, Other, Tangent, Wave};
    let (value, shape, domain): (fn(Ball) -> Ball, Curve, [f64; 2]) = match op {
        UnaryOp::Acos => (Ball::acos, Decreasing, UNIT),
        UnaryOp::Acosh => (Ball::acosh, Increasing, [1.0, f64::INFINITY]),
        UnaryOp::Asin => (Ball::asin, Increasing, UNIT),
        UnaryOp::Asinh => (Ball::asinh, Increasing, ALL),
        UnaryOp::Atan => (Ball::atan, Increasing, ALL),
        UnaryOp::Atanh => (Ball::atanh, Increasing, UNIT),
        UnaryOp::BesselI1e => (Ball::bessel_i1e, Other, ALL),
        UnaryOp::Cbrt => (Ball::cbrt, Increasing, ALL),
        UnaryOp::Cosh => (Ball::cosh, Even, ALL),
        UnaryOp::Cosine => (Ball::cos, Wave, ALL),
        UnaryOp::Digamma => (Ball::digamma, Other, ALL),
        UnaryOp::Erf => (Ball::erf, Increasing, ALL),
        UnaryOp::Erfc => (Ball::erfc, Decreasing, ALL),
        UnaryOp::ErfInv => (Ball::erf_inv, Increasing, UNIT),
        UnaryOp::Exponential => (Ball::exp, Increasing, ALL),
        UnaryOp::ExponentialMinusOne => (Ball::exp_m1, Increasing, ALL),
        UnaryOp::Lgamma => (Ball::lgamma, Other, ALL),
        UnaryOp::Log => (Ball::log, Increasing, POSITIVE),
        UnaryOp::LogPlusOne => (Ball::log_1p, Increasing, [-1.0, f64::INFINITY]),
        UnaryOp::Logistic => (Ball::logistic, Increasing, ALL),
        UnaryOp::Rsqrt => (|x| Ball::ONE.over(x.sqrt()), Decreasing, POSITIVE),
        UnaryOp::Sine => (Ball::sin, Wave, ALL),
        UnaryOp::Sinh => (Ball::sinh, Increasing, ALL),
        UnaryOp::Sqrt => (Ball::sqrt, Increasing, POSITIVE),
        UnaryOp::Square => (Ball::square, Even, ALL),
        UnaryOp::Tan => (Ball::tan, Tangent, ALL),
        UnaryOp::Tanh => (Ball::tanh, Increasing, ALL),
        UnaryOp::Abs
        | UnaryOp::Ceil
        | UnaryOp::CountLeadingZeros
        | UnaryOp::Floor
        | UnaryOp::Imag
        | UnaryOp::IsFinite
        | UnaryOp::IsInf
        | UnaryOp::IsNegInf
        | UnaryOp::IsPosInf
        | UnaryOp::Negate
        | UnaryOp::Not
        | UnaryOp::Popcnt
        | UnaryOp::Real
        | UnaryOp::RoundNearestAfz
        | UnaryOp::RoundNearestEven
        | UnaryOp::Sign => return None,
    };
    Some(Function { value, shape, domain })
}

impl Function {
    /// The true value. Of a number about which nothing is known, it need not be a number.
    pub(crate) fn truth(&self, x: Ball) -> Ball {
        match x {
            x if x.is_nan() => Ball::NAN,
            x if x.is_unknown() => Ball::UNKNOWN,
            x => (self.value)(x),
        }
    }

    /// The image of bounds within the domain that are near the number `x`, whose value is `truth`.
    pub(crate) fn image_near(
        &self,
        op: UnaryOp,
        bounds: Bounds,
        x: Ball,
        truth: Ball,
    ) -> Option<Image> {
        let [least, greatest] = self.domain;
        let is_inside = bounds.low >= least && bounds.high <= greatest;
        match is_inside && bounds.low.is_finite() && bounds.high.is_finite() {
            true => slopes::image_near(op, bounds, x, truth),
            false => None,
        }
    }

    /// The image of bounds. `truth` is the value of the number `x`, if it is known, which need not
    /// be computed again.
    pub(crate) fn image(&self, bounds: Bounds, x: Ball, truth: Ball) -> Image {
        let _pause = precise::pause();
        let [least, greatest] = self.domain;
        let outside = bounds.low < least || bounds.high > greatest;
        let nan = bounds.nan || outside;
        let (low, high) = (bounds.low.max(least), bounds.high.min(greatest));
        if low > high {
            return Image::EMPTY.or_nan(nan);
        }
        let value = |at: f64| {
            let same = x.is_exact() && x.lo == 0.0 && x.hi.to_bits() == at.to_bits();
            if same { truth } else { (self.value)(Ball::exact(at)) }
        };
        if low == high {
            let value = value(low);
            if value.is_nan() {
                return Image::EMPTY.or_nan(true);
            }
            return Image::between(value, value).or_nan(nan || value.is_unknown());
        }
        let image = match self.shape {
            Curve::Increasing => Image::between(value(low), value(high)),
            Curve::Decreasing => Image::between(value(high), value(low)),
            Curve::Even => {
                let (least, greatest) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
                let least = if bounds.has_zero() { 0.0 } else { least };
                Image::between(value(least), value(greatest))
            }
            Curve::Wave => {
                if !(low.is_finite() && high.is_finite()) {
                    let one = Ball::ONE;
                    return Image::between(-one, one).or_nan(true);
                }
                let wave = (self.value)(Ball::between(low, high));
                let (low, high) = (wave.lower().max(-1.0), wave.upper().min(1.0));
                Image::between(Ball::exact(low), Ball::exact(high))
            }
            Curve::Other => {
                let value = (self.value)(Ball::between(low, high));
                Image::between(value, value).or_nan(value.is_unknown())
            }
            Curve::Tangent => {
                let around = Ball::between(low, high);
                let cos = around.cos();
                if cos.sign().is_some_and(|sign| sign != 0) && high - low < 1.5 {
                    Image::between(value(low), value(high))
                } else {
                    let infinite = !(low.is_finite() && high.is_finite());
                    let (least, greatest) = (f64::NEG_INFINITY, f64::INFINITY);
                    Image::between(Ball::exact(least), Ball::exact(greatest)).or_nan(infinite)
                }
            }
        };
        image.or_nan(nan)
    }
}

/// `x` to the power of `y`, whose extremes over a rectangle are at its corners.
pub(super) fn power_image(x: Bounds, y: Bounds) -> Image {
    let _pause = precise::pause();
    let one = Image::between(Ball::ONE, Ball::ONE);
    // Also of NaN.
    if x.value() == Some(1.0) || y.value() == Some(0.0) {
        return one;
    }
    let nan = x.nan || y.nan;
    let is_one_possible = (x.nan && y.contains(0.0)) || (y.nan && x.contains(1.0));
    if x.is_empty() || y.is_empty() {
        let image = if is_one_possible { one } else { Image::EMPTY };
        return image.or_nan(true);
    }
    if is_one_possible {
        let numbers = |bounds: Bounds| Bounds { nan: false, ..bounds };
        return power_image(numbers(x), numbers(y)).hull(one).or_nan(true);
    }
    let corner = |x: f64, y: f64| {
        let value = Ball::exact(x).power(Ball::exact(y));
        match value.is_nan() {
            true => Image::EMPTY.or_nan(true),
            false => Image::between(value, value),
        }
    };
    if let (Some(base), Some(exponent)) = (x.value(), y.value()) {
        return corner(base, exponent).or_nan(nan);
    }
    let corners = |x: Bounds, y: Bounds| {
        let of_point = |b: Bounds| if b.low == b.high { 1 } else { 2 };
        let (xs, ys) = ([x.low, x.high], [y.low, y.high]);
        let ends =
            xs[..of_point(x)].iter().flat_map(|&x| ys[..of_point(y)].iter().map(move |&y| (x, y)));
        ends.map(|(x, y)| corner(x, y)).fold(Image::EMPTY, Image::hull)
    };
    if x.low >= 0.0 && !(x.low == 0.0 && y.low <= 0.0) {
        return corners(x, y).or_nan(nan);
    }
    match y.value() {
        // Odd powers increase, even ones are functions of the absolute value.
        Some(n) if n.fract() == 0.0 && n > 0.0 && n < 9e15 => {
            let image = corners(x, y);
            let has_zero = x.has_zero() && n % 2.0 == 0.0;
            if has_zero { image.hull(Image::between(Ball::ZERO, Ball::ZERO)) } else { image }
        }
        Some(n) if n.fract() == 0.0 && x.high < 0.0 && n > -9e15 => corners(x, y),
        _ => {
            let any = Bounds::ANY;
            Image::between(Ball::exact(any.low), Ball::exact(any.high)).or_nan(true)
        }
    }
    .or_nan(nan)
}

/// The angle of points in a rectangle, whose extremes are at its corners unless it meets the
/// negative axis.
pub(super) fn atan2_image(y: Bounds, x: Bounds) -> Image {
    let _pause = precise::pause();
    let nan = x.nan || y.nan;
    if x.is_empty() || y.is_empty() {
        return Image::EMPTY.or_nan(true);
    }
    let is_point = x.value().is_some() && y.value().is_some();
    if !is_point && x.low <= 0.0 && y.has_zero() {
        let pi = crate::functions::HALF_PI_BALL.shifted(1);
        return Image::between(-pi, pi).or_nan(nan);
    }
    let corner = |y: f64, x: f64| {
        let angle = Ball::exact(y).atan2(Ball::exact(x));
        Image::between(angle, angle)
    };
    let ends = [(y.low, x.low), (y.low, x.high), (y.high, x.low), (y.high, x.high)];
    ends.into_iter().map(|(y, x)| corner(y, x)).fold(Image::EMPTY, Image::hull).or_nan(nan)
}

/// The Hurwitz zeta function, or a derivative of the digamma function, of intervals.
pub(super) fn gamma_image(x: Bounds, y: Bounds, function: fn(Ball, Ball) -> Ball) -> Image {
    let _pause = precise::pause();
    if x.is_empty() || y.is_empty() {
        return Image::EMPTY.or_nan(true);
    }
    let value = function(Ball::between(x.low, x.high), Ball::between(y.low, y.high));
    if value.is_nan() {
        return Image::EMPTY.or_nan(true);
    }
    Image::between(value, value).or_nan(x.nan || y.nan || value.is_unknown())
}
