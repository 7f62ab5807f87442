//! The arithmetic in which functions of complex numbers are computed: that of `f64` for numbers
//! with `f32` parts, and twice its precision for those with `f64` parts.

use super::double::Double;
use super::rounded;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Real numbers with elementary functions. Arguments are finite.
pub trait RealNumber:
    Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The number of this precision nearest to `x`.
    fn nearest(x: Double) -> Self;
    /// The nearest number of `f64`.
    fn value(self) -> f64;
    /// `self * 2^exponent`, without overflow and underflow.
    fn shifted(self, exponent: i32) -> Self;
    /// `self * 2^exponent`, rounded to `f64` once.
    fn shifted_value(self, exponent: i32) -> f64;
    /// The square root of a number that is not negative.
    fn sqrt(self) -> Self;
    /// The cube root of a positive number.
    fn cbrt(self) -> Self;
    /// `exp(self)` without a power of two.
    fn exp(self) -> (Self, i32);
    /// `exp(self) - 1` for numbers of at most a few hundred.
    fn exp_m1(self) -> Self;
    /// The logarithm of a positive number.
    fn log(self) -> Self;
    /// `log(1 + self)`.
    fn log_1p(self) -> Self;
    /// The sine and the cosine.
    fn sin_cos(self) -> (Self, Self);
    /// The angle of the point with ordinate `self` and abscissa `x`.
    fn atan2(self, x: Self) -> Self;
    /// The rounded sine and cosine of `x`, both without a power of two.
    fn sinh_cosh(x: f64) -> (Self, Self, i32);
    /// The inverse rounded sine.
    fn asinh(self) -> Self;
}

impl RealNumber for f64 {
    fn nearest(x: Double) -> f64 {
        x.value()
    }
    fn value(self) -> f64 {
        self
    }
    fn shifted(self, exponent: i32) -> f64 {
        libm::scalbn(self, exponent)
    }
    fn shifted_value(self, exponent: i32) -> f64 {
        libm::scalbn(self, exponent)
    }
    fn sqrt(self) -> f64 {
        self.sqrt()
    }
    fn cbrt(self) -> f64 {
        libm::cbrt(self)
    }
    fn exp(self) -> (f64, i32) {
        (libm::exp(self), 0)
    }
    fn exp_m1(self) -> f64 {
        libm::expm1(self)
    }
    fn log(self) -> f64 {
        libm::log(self)
    }
    fn log_1p(self) -> f64 {
        libm::log1p(self)
    }
    fn sin_cos(self) -> (f64, f64) {
        (libm::sin(self), libm::cos(self))
    }
    fn atan2(self, x: f64) -> f64 {
        libm::atan2(self, x)
    }
    fn sinh_cosh(x: f64) -> (f64, f64, i32) {
        (libm::sinh(x), libm::cosh(x), 0)
    }
    fn asinh(self) -> f64 {
        libm::asinh(self)
    }
}

impl RealNumber for Double {
    fn nearest(x: Double) -> Double {
        x
    }
    fn value(self) -> f64 {
        self.value()
    }
    fn shifted(self, exponent: i32) -> Double {
        self.shifted(exponent)
    }
    fn shifted_value(self, exponent: i32) -> f64 {
        self.shifted_value(exponent)
    }
    fn sqrt(self) -> Double {
        self.sqrt()
    }
    fn cbrt(self) -> Double {
        self.cbrt()
    }
    fn exp(self) -> (Double, i32) {
        self.exp()
    }
    fn exp_m1(self) -> Double {
        self.exp_m1()
    }
    fn log(self) -> Double {
        self.log()
    }
    fn log_1p(self) -> Double {
        self.log_1p()
    }
    fn sin_cos(self) -> (Double, Double) {
        self.sin_cos()
    }
    fn atan2(self, x: Double) -> Double {
        self.atan2(x)
    }
    fn sinh_cosh(x: f64) -> (Double, Double, i32) {
        rounded::sinh_cosh(x)
    }
    fn asinh(self) -> Double {
        rounded::wide_asinh(self)
    }
}
