//! Real numbers with proven errors: sums of two `f64` and a radius.
//!
//! The operations are those of double-word arithmetic (M. Joldes, J.-M. Muller and V. Popescu,
//! *Tight and rigorous error bounds for basic building blocks of double-word arithmetic*, 2017).
//! Radii do not rest on bounds for whole operations: each rounding that is not exact is computed
//! or bounded where it happens, so that a function made of these operations is proven with them.
//! Exact results have the radius 0.

use crate::precise::{self, Elementary, Handle, PreciseOperation};
use numerics::math::double::{Double, two_product, two_sum};
use std::ops::{Add, Mul, Neg, Sub};

/// The unit roundoff of `f64`.
pub const U: f64 = f64::EPSILON / 2.0;

/// A real number between `hi + lo - radius` and `hi + lo + radius`. If `hi` is infinite, it is that
/// infinity, or with a radius some number beyond the range of `f64`; if it is NaN, there is no such
/// number. An infinite radius says that nothing is known.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    /// The midpoint rounded.
    pub hi: f64,
    /// The rest of the midpoint.
    pub lo: f64,
    /// The largest distance from the midpoint.
    pub radius: f64,
    /// The handle of a number with more digits than the parts have, or 0 (`precise.rs`).
    pub handle: Handle,
}

/// An upper bound of a sum or product of a few numbers that are not negative, computed with at most
/// eight roundings.
pub fn up(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * (1.0 + 16.0 * U) + 1e-322 }
}

/// `a + b` rounded, and the error.
fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = two_sum(a, b);
    (sum.hi, sum.lo)
}

/// The product and its exact error. Numbers whose halves or errors leave the range of `f64` go the
/// long way; the radius is that of errors below the smallest number.
fn product(a: f64, b: f64) -> (f64, f64, f64) {
    let product = a * b;
    let size = product.abs();
    if (1e-250..1e250).contains(&size) && a.abs() < 1e280 && b.abs() < 1e280 {
        return (product, two_product(a, b).lo, 0.0);
    }
    if a == 0.0 || b == 0.0 {
        return (product, 0.0, 0.0);
    }
    (product, libm::fma(a, b, -product), 1e-322)
}

impl Ball {
    /// Nothing is known.
    pub const UNKNOWN: Ball = Ball { hi: 0.0, lo: 0.0, radius: f64::INFINITY, handle: 0 };
    /// A number above all of `f64`, or infinity.
    pub const BEYOND: Ball = Ball { hi: f64::INFINITY, lo: 0.0, radius: 1.0, handle: 0 };
    /// A result whose midpoint has overflowed, given that result times `2^-exponent`.
    fn overflowed(scaled: Ball, exponent: i32) -> Ball {
        // Numbers just above the range are rounded to the largest one.
        let limit = libm::scalbn(1.0 + 1e-12, 1024 - exponent);
        match scaled.mignitude() > limit {
            true => Ball { hi: f64::INFINITY.copysign(scaled.hi), ..Ball::BEYOND },
            false => Ball::UNKNOWN,
        }
    }

    /// No number.
    pub const NAN: Ball = Ball::exact(f64::NAN);
    /// Zero.
    pub const ZERO: Ball = Ball::exact(0.0);
    /// One.
    pub const ONE: Ball = Ball::exact(1.0);

    /// The number that a float is.
    pub const fn exact(value: f64) -> Ball {
        Ball { hi: value, lo: 0.0, radius: 0.0, handle: 0 }
    }

    /// An integer.
    pub fn integer(value: i128) -> Ball {
        let hi = value as f64;
        let lo = (value - hi as i128) as f64;
        // Integers of tensors have at most 64 bits, so that the rest is exact.
        Ball { hi, lo, radius: 0.0, handle: 0 }
    }

    /// A constant of three parts, of which the last bounds the error.
    pub const fn constant(hi: f64, lo: f64, radius: f64) -> Ball {
        Ball { hi, lo, radius, handle: 0 }
    }

    /// The smallest ball around an interval, or nearly.
    pub fn between(low: f64, high: f64) -> Ball {
        if low == high {
            return Ball::exact(low);
        }
        if !(low.is_finite() && high.is_finite()) {
            return Ball::UNKNOWN;
        }
        let middle = low / 2.0 + high / 2.0;
        let radius = (high - middle).max(middle - low);
        Ball { radius: up(radius), ..Ball::exact(middle) }
    }

    /// True if the number is known exactly or is no number.
    pub fn is_exact(self) -> bool {
        self.radius == 0.0
    }

    /// True if the number is known to be zero.
    fn is_zero(self) -> bool {
        self.hi == 0.0 && self.lo == 0.0 && self.radius == 0.0
    }

    /// True if nothing is known.
    pub fn is_unknown(self) -> bool {
        self.radius == f64::INFINITY
    }

    /// True if this is no number.
    pub fn is_nan(self) -> bool {
        self.hi.is_nan()
    }

    /// True if this is beyond the range of `f64`.
    pub fn is_beyond(self) -> bool {
        self.hi.is_infinite() && self.radius != 0.0
    }

    /// True if this is a finite number of which something is known.
    pub fn is_finite(self) -> bool {
        self.hi.is_finite() && !self.is_unknown()
    }

    /// Bounds as sums of two `f64`, whose first parts are the bounds rounded to nearest.
    pub fn ends(self) -> (Double, Double) {
        if self.is_beyond() {
            let ends = (Double::from(f64::MAX), Double::from(f64::INFINITY));
            return if self.hi > 0.0 { ends } else { (-ends.1, -ends.0) };
        }
        if !self.hi.is_finite() || self.is_exact() {
            let end = Double::new(self.hi, self.lo);
            return (end, end);
        }
        if self.is_unknown() {
            return (Double::from(f64::NEG_INFINITY), Double::from(f64::INFINITY));
        }
        let (below, above) = (self.lo - self.radius, self.lo + self.radius);
        (
            two_sum(self.hi, below - up(below.abs() * U)),
            two_sum(self.hi, above + up(above.abs() * U)),
        )
    }

    /// The greatest `f64` that is known not to exceed the number.
    pub fn lower(self) -> f64 {
        down_of(self.ends().0)
    }

    /// The least `f64` that the number is known not to exceed.
    pub fn upper(self) -> f64 {
        up_of(self.ends().1)
    }

    /// An upper bound of the absolute value.
    pub fn magnitude(self) -> f64 {
        up(self.hi.abs() + self.lo.abs() + self.radius)
    }

    /// A lower bound of the absolute value; 0 if the number may be zero.
    pub fn mignitude(self) -> f64 {
        let (low, high) = (self.lower(), self.upper());
        if low > 0.0 {
            low
        } else if high < 0.0 {
            -high
        } else {
            0.0
        }
    }

    /// The sign, if it is known: -1, 0 or 1.
    pub fn sign(self) -> Option<i8> {
        let (low, high) = (self.lower(), self.upper());
        if low > 0.0 {
            Some(1)
        } else if high < 0.0 {
            Some(-1)
        } else if low == 0.0 && high == 0.0 {
            Some(0)
        } else {
            None
        }
    }

    /// The same midpoint with a larger radius.
    #[must_use]
    pub fn widened(self, by: f64) -> Ball {
        if by == 0.0 || !self.hi.is_finite() {
            return self;
        }
        if by.is_nan() {
            return Ball::UNKNOWN;
        }
        if let Some(widened) = precise::changed(self, 0, by) {
            return widened;
        }
        Ball { radius: up(self.radius + by), handle: 0, ..self }
    }

    /// Times a power of two, which neither overflows nor loses digits unless it says so.
    #[must_use]
    pub fn shifted(self, exponent: i32) -> Ball {
        if let Some(shifted) = precise::changed(self, exponent, 0.0) {
            return shifted;
        }
        let shift = |x: f64| libm::scalbn(x, exponent);
        let (hi, lo, radius) = (shift(self.hi), shift(self.lo), shift(self.radius));
        let result = Ball { hi, lo, radius, handle: 0 };
        if !result.hi.is_finite() && self.hi.is_finite() {
            return Ball::UNKNOWN;
        }
        if exponent < 0 && result.hi.abs() < 1e-250 && (self.hi != 0.0 || self.radius != 0.0) {
            return Ball { radius: up(result.radius + 1e-322), ..result };
        }
        result
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(self) -> Ball {
        match self.sign() {
            _ if self.hi.is_nan() || self.is_unknown() => self,
            Some(-1) => -self,
            Some(_) => self,
            None => Ball::between(0.0, self.magnitude()),
        }
    }

    /// The larger number.
    #[must_use]
    pub fn max(self, other: Ball) -> Ball {
        if self.is_nan() || other.is_nan() {
            return Ball::NAN;
        }
        if self.lower() >= other.upper() {
            return self;
        }
        if other.lower() >= self.upper() {
            return other;
        }
        let low = self.lower().max(other.lower());
        Ball::between(low, self.upper().max(other.upper()))
    }

    /// The square.
    #[must_use]
    pub fn square(self) -> Ball {
        self * self
    }

    /// The quotient.
    #[must_use]
    pub fn over(self, rhs: Ball) -> Ball {
        if self.is_unknown() || rhs.is_unknown() {
            return if self.is_nan() || rhs.is_nan() { Ball::NAN } else { Ball::UNKNOWN };
        }
        if self.is_beyond() || rhs.is_beyond() {
            return match (self.is_beyond(), rhs.is_finite()) {
                (true, true) if rhs.magnitude() <= 1.0 && rhs.sign() == Some(1) => self,
                (true, true) if rhs.magnitude() <= 1.0 && rhs.sign() == Some(-1) => -self,
                (false, false) if self.is_finite() && rhs.is_beyond() => {
                    Ball::ZERO.widened(self.magnitude() * 6e-309 + 1e-322)
                }
                _ => Ball::UNKNOWN,
            };
        }
        if !self.hi.is_finite() || !rhs.hi.is_finite() || (rhs.hi == 0.0 && rhs.is_exact()) {
            let of_zero = rhs.hi == 0.0 && self.sign().is_none();
            return if of_zero { Ball::UNKNOWN } else { Ball::exact(self.hi / rhs.hi) };
        }
        let least = rhs.mignitude();
        if least == 0.0 {
            return Ball::UNKNOWN;
        }
        if self.hi == 0.0 && self.is_exact() {
            return Ball::exact(self.hi / rhs.hi);
        }
        // Their products would leave the range.
        if self.hi.abs() > 1e250 || least > 1e250 {
            let [dividend, divisor] = [self.hi.abs() > 1e250, least > 1e250]
                .map(|is_large| if is_large { 300 } else { 0 });
            let scaled = self.shifted(-dividend).over(rhs.shifted(-divisor));
            let result = scaled.shifted(dividend - divisor);
            return match result.is_unknown() && scaled.is_finite() {
                true => Ball::overflowed(scaled, dividend - divisor),
                false => result,
            };
        }
        if least < 1e-250 {
            let scaled = self.over(rhs.shifted(300));
            let result = scaled.shifted(300);
            return match result.is_unknown() && scaled.is_finite() {
                true => Ball::overflowed(scaled, 300),
                false => result,
            };
        }
        let quotient = Double::new(self.hi, self.lo).over(Double::new(rhs.hi, rhs.lo));
        let result = Ball::constant(quotient.hi, quotient.lo, 0.0);
        if !result.hi.is_finite() || !result.lo.is_finite() {
            return Ball::UNKNOWN;
        }
        // The error of the quotient of midpoints is its rest divided by the divisor, whatever the
        // quotient: (a ± r) / (b ± s) - q = (a - q b ± (r + |q| s)) / (b ± s).
        let rest = {
            let _pause = precise::pause();
            self.middle() - result * rhs.middle()
        };
        let rest = up(rest.magnitude_or_zero() + self.radius + result.magnitude() * rhs.radius);
        if rest == 0.0 {
            return result;
        }
        let precise = precise::operation(PreciseOperation::Divide, self, rhs);
        precise.unwrap_or_else(|| result.widened(up(rest / least)))
    }

    /// As [`Ball::magnitude`]; 0 for an exact zero.
    fn magnitude_or_zero(self) -> f64 {
        if self.hi == 0.0 && self.lo == 0.0 && self.radius == 0.0 { 0.0 } else { self.magnitude() }
    }

    /// The midpoint, exactly.
    pub fn middle(self) -> Ball {
        Ball { radius: 0.0, handle: 0, ..self }
    }

    /// The square root.
    #[must_use]
    pub fn sqrt(self) -> Ball {
        precise::function(Elementary::Sqrt, self, Ball::sqrt_of_parts)
    }

    fn sqrt_of_parts(self) -> Ball {
        if self.is_nan() || (self.hi == f64::INFINITY && self.is_exact()) {
            return self;
        }
        if self.is_unknown() {
            return Ball::UNKNOWN;
        }
        if self.is_beyond() {
            return Ball::UNKNOWN;
        }
        match self.sign() {
            Some(0) => return self,
            Some(1) => {}
            Some(_) => return Ball::NAN,
            None => return Ball::UNKNOWN,
        }
        if self.hi < 1e-200 {
            // Its square would lose digits below the range.
            return self.shifted(512).sqrt_of_parts().shifted(-256);
        }
        if self.hi > 1e200 {
            // Its square could overflow.
            return self.shifted(-512).sqrt_of_parts().shifted(256);
        }
        let (low, high) = (self.lower(), self.upper());
        if low < high / 2.0 {
            return Ball::between(low.sqrt().next_down().max(0.0), high.sqrt().next_up());
        }
        let root = Double::new(self.hi, self.lo).sqrt();
        let root = Ball::constant(root.hi, root.lo, 0.0);
        let rest = (self.middle() - root.square()).magnitude_or_zero();
        // |√x - r| ≤ |x - r²| / r, and the slope of the root is at most 1 / √x here.
        let error = up((rest + self.radius) / root.mignitude());
        if rest + self.radius == 0.0 { root } else { root.widened(error) }
    }

    /// The nearest integer to the midpoint, if it is small.
    pub fn nearest_integer(self) -> Option<i64> {
        let near = self.hi.round_ties_even();
        (near.abs() < 4e15).then_some(near as i64)
    }
}

/// The least `f64` that is not below a sum of two.
pub fn up_of(end: Double) -> f64 {
    if end.lo > 0.0 { end.hi.next_up() } else { end.hi }
}

/// The greatest `f64` that is not above a sum of two.
pub fn down_of(end: Double) -> f64 {
    if end.lo < 0.0 { end.hi.next_down() } else { end.hi }
}

impl From<f64> for Ball {
    fn from(value: f64) -> Ball {
        Ball::exact(value)
    }
}

impl Neg for Ball {
    type Output = Ball;

    fn neg(self) -> Ball {
        Ball { hi: -self.hi, lo: -self.lo, radius: self.radius, handle: -self.handle }
    }
}

impl Add for Ball {
    type Output = Ball;

    fn add(self, rhs: Ball) -> Ball {
        let sum = self.sum_of_parts(rhs);
        if !precise::is_on() || sum.is_exact() || !sum.is_finite() {
            return sum;
        }
        precise::operation(PreciseOperation::Add, self, rhs).unwrap_or(sum)
    }
}

impl Ball {
    fn sum_of_parts(self, rhs: Ball) -> Ball {
        let (sh, sl) = sum(self.hi, rhs.hi);
        let radius = self.radius + rhs.radius;
        if !sh.is_finite() {
            if self.is_beyond() || rhs.is_beyond() {
                let same = self.sign().is_some() && self.sign() == rhs.sign();
                let beyond = if self.is_beyond() { self } else { rhs };
                return if same { beyond } else { Ball::UNKNOWN };
            }
            if self.is_finite() && rhs.is_finite() {
                return Ball::overflowed(self.shifted(-2) + rhs.shifted(-2), 2);
            }
            let unknown = radius == f64::INFINITY && !sh.is_nan();
            return if unknown { Ball::UNKNOWN } else { Ball::exact(sh) };
        }
        if self.lo == 0.0 && rhs.lo == 0.0 {
            return Ball::constant(sh, sl, if radius == 0.0 { 0.0 } else { up(radius) });
        }
        let (th, tl) = sum(self.lo, rhs.lo);
        let (c, c_error) = sum(sl, th);
        let (vh, vl) = sum(sh, c);
        let (w, w_error) = sum(tl, vl);
        let (hi, lo) = sum(vh, w);
        let error = c_error.abs() + w_error.abs() + radius;
        Ball::constant(hi, lo, if error == 0.0 { 0.0 } else { up(error) })
    }
}

impl Sub for Ball {
    type Output = Ball;

    fn sub(self, rhs: Ball) -> Ball {
        self + -rhs
    }
}

impl Mul for Ball {
    type Output = Ball;

    fn mul(self, rhs: Ball) -> Ball {
        let product = self.product_of_parts(rhs);
        if !precise::is_on() || product.is_exact() || !product.is_finite() {
            return product;
        }
        precise::operation(PreciseOperation::Multiply, self, rhs).unwrap_or(product)
    }
}

impl Ball {
    fn product_of_parts(self, rhs: Ball) -> Ball {
        if self.is_unknown() || rhs.is_unknown() {
            return if self.is_nan() || rhs.is_nan() { Ball::NAN } else { Ball::UNKNOWN };
        }
        let (ph, pl, tiny) = product(self.hi, rhs.hi);
        if !ph.is_finite() {
            if self.is_beyond() || rhs.is_beyond() {
                let large = self.mignitude() >= 1.0 && rhs.mignitude() >= 1.0;
                return match large {
                    true => Ball { hi: self.hi * rhs.hi, ..Ball::BEYOND },
                    false => Ball::UNKNOWN,
                };
            }
            if self.is_finite() && rhs.is_finite() {
                let scaled =
                    |x: Ball| if x.hi.abs() > 1.0 { (x.shifted(-300), 300) } else { (x, 0) };
                let ((a, first), (b, second)) = (scaled(self), scaled(rhs));
                return Ball::overflowed(a * b, first + second);
            }
            // The sign of a factor of infinity has to be known.
            let sign = self.sign().is_none() || rhs.sign().is_none();
            let unknown = !self.is_nan() && !rhs.is_nan() && sign;
            return if unknown { Ball::UNKNOWN } else { Ball::exact(ph) };
        }
        let (a, b) = (self.hi.abs(), rhs.hi.abs());
        let spread = match self.radius + rhs.radius == 0.0 {
            true => 0.0,
            // Zero times anything is zero.
            false if self.is_zero() || rhs.is_zero() => 0.0,
            // The factor covers the second parts, the last term underflow of the others.
            false => {
                let linear = (a * rhs.radius + b * self.radius) * (1.0 + 4.0 * U);
                linear + self.radius * rhs.radius + 1e-322
            }
        };
        if self.lo == 0.0 && rhs.lo == 0.0 {
            let radius = spread + tiny;
            return Ball::constant(ph, pl, if radius == 0.0 { 0.0 } else { up(radius) });
        }
        let cross = self.hi * rhs.lo + self.lo * rhs.hi;
        let low = pl + cross;
        let (hi, lo) = sum(ph, low);
        // Two products and two sums, of numbers below 4 U |ph| in all, and the product of the
        // second parts, below U² |ph|.
        let rounding = 16.0 * U * U * ph.abs() + if ph.abs() < 1e-250 { 1e-320 } else { 0.0 };
        Ball::constant(hi, lo, up(spread + tiny + rounding))
    }
}
