//! Inverse trigonometric and hyperbolic functions, of real and of complex numbers, and a few
//! simpler ones.
//!
//! The formulas for complex numbers are by Hull, Fairgrieve and Tang, "Implementing the
//! complex arcsine and arccosine functions using exception handling" (1997), with fewer regions.

use super::expr::{Expr, FormulaConstants, atan2, complex, max, min, select};
use std::f64::consts::{PI, SQRT_2};

/// `sqrt(a² - x²) + i log(a + sqrt(a² - 1))` for `x = |re z|`, `y = |im z|` and
/// `a = (|x + 1 + iy| + |x - 1 + iy|) / 2`.
pub(super) fn asin_acos_kernel(z: Expr<'_>) -> Expr<'_> {
    let signed_x = z.real();
    let x = signed_x.abs();
    let signed_y = z.imag();
    let y = signed_y.abs();
    let constants = FormulaConstants::new(signed_x);
    let k = |number| constants.get(number);
    // |u + iv| for positive u and v, without overflow, and exact where u = v.
    let hypot = |u, v| {
        let (greater, lesser) = (max(u, v), min(u, v));
        let on_diagonal = greater.eq(lesser);
        let diagonal = k(SQRT_2) * greater;
        let ratio = lesser / greater;
        let square = ratio * ratio;
        let root = (k(1.0) + square).sqrt();
        let is_thin = root.eq(k(1.0)) & square.gt(k(0.0));
        select(
            on_diagonal,
            diagonal,
            select(is_thin, greater + greater * square / k(2.0), greater * root),
        )
    };

    let greater = max(x, y);
    let safe_max = signed_x.like_max().sqrt() / k(8.0);
    let is_huge = greater.ge(safe_max);
    let is_left = x.le(k(1.0));
    let half = k(0.5);
    let x_plus_1 = x + k(1.0);
    let right = hypot(x_plus_1.abs(), y);
    let x_minus_1 = x - k(1.0);
    let left = hypot(x_minus_1.abs(), y);
    let a = half * (right + left);
    let half_a_plus_x = half * (a + x);
    let yy = y * y;
    let right_sum = right + x_plus_1;
    let yy_over_right_sum = yy / right_sum;
    let left_difference = left - x_minus_1;
    let near = (half_a_plus_x * (yy_over_right_sum + left_difference)).sqrt();
    let by_right = half_a_plus_x / right_sum;
    let left_sum = left + x_minus_1;
    let far = y * (by_right + half_a_plus_x / left_sum).sqrt();
    let re = select(is_huge, y, select(is_left, near, far));

    let limit = {
        let is_wide = x.lt(safe_max * k(1e12));
        select(is_wide, safe_max * k(1e-6), safe_max * k(100.0))
    };
    let is_high = y.ge(limit);
    let greater = select(is_high, y, x);
    let is_huge = greater.ge(select(is_high, limit, safe_max));
    let log = k(2.0).ln() + greater.ln();
    let is_finite = !y.eq(signed_y.like(f64::INFINITY));
    let slope = select(is_high & is_finite, x / y, k(0.0));
    let huge = log + half * (slope * slope).ln_1p();
    let is_low = y.lt(signed_x.like_min_normal().sqrt() * k(4.0)) & x.lt(k(1.0));
    let product = x_plus_1 * x_minus_1;
    let a_plus_1 = a + k(1.0);
    let low = -(product / a_plus_1);
    let is_right = x.ge(k(1.0));
    let half_yy = half * yy;
    let share = half_yy / right_sum;
    let outside = share + half * left_sum;
    let is_small = a.le(k(1.5));
    let inside = select(is_small, share + half_yy / left_difference, a - k(1.0));
    let a_minus_1 = select(is_low, low, select(is_right, outside, inside));
    let root = (a_minus_1 * a_plus_1).sqrt();
    let im = select(is_huge, huge, select(is_low, y / root, (a_minus_1 + root).ln_1p()));
    complex(re, im)
}

/// `asin(x) = 2 atan2(x, 1 + sqrt((1 - x)(1 + x)))`;
/// `asin(z) = atan2(re z, re w) + i sign(im z) im w`, `w = kernel(z)`.
pub(super) fn asin(z: Expr<'_>) -> Expr<'_> {
    if !z.is_complex() {
        let one = z.like(1.0);
        let half = atan2(z, one + ((one - z) * (one + z)).sqrt());
        return half + half;
    }
    let x = z.real();
    let w = asin_acos_kernel(z);
    let re = atan2(x, w.real());
    let is_negative = z.imag().lt(x.like(0.0));
    let im = w.imag();
    complex(re, select(is_negative, -im, im))
}

/// `acos(x) = atan2(sqrt((1 - x)(1 + x)), x)`; `acos(z) = atan2(re w, re z) - i sign(im z) im w`,
/// `w = kernel(z)`.
pub(super) fn acos(z: Expr<'_>) -> Expr<'_> {
    if !z.is_complex() {
        let one = z.like(1.0);
        return atan2(((one - z) * (one + z)).sqrt(), z);
    }
    let w = asin_acos_kernel(z);
    let re = atan2(w.real(), z.real());
    let y = z.imag();
    let is_negative = y.lt(y.like(0.0));
    let im = w.imag();
    complex(re, select(is_negative, im, -im))
}

/// `acosh(x) = log1p(sqrt(x - 1) (sqrt(x + 1) + sqrt(x - 1)))`, or `log(2) + log(x)` where that
/// overflows; `acosh(z) = im w + i sign(im z) atan2(re w, re z)`, `w = kernel(z)`.
pub(super) fn acosh(z: Expr<'_>) -> Expr<'_> {
    if !z.is_complex() {
        let max = z.like_max();
        let two = z.like(2.0);
        let is_huge = z.ge(max / two);
        let huge = two.ln() + z.ln();
        let one = z.like(1.0);
        let root = (z - one).sqrt();
        return select(is_huge, huge, (root * ((z + one).sqrt() + root)).ln_1p());
    }
    let w = asin_acos_kernel(z);
    let re = w.imag();
    let y = z.imag();
    let is_negative = y.lt(y.like(0.0));
    let im = atan2(w.real(), z.real());
    complex(re, select(is_negative, -im, im))
}

/// `asinh(x) = sign(x) log1p(|x| + x² / (1 + sqrt(1 + x²)))`, or `sign(x) (log(2) + log(|x|))`
/// where that overflows; `asinh(z) = sign(re z) im w + i atan2(im z, re w)`, `w = kernel(i z)`.
pub(super) fn asinh(z: Expr<'_>) -> Expr<'_> {
    if !z.is_complex() {
        let sign = z.sign();
        let x = z.abs();
        let is_huge = x.ge(z.like_max().sqrt());
        let huge = z.like(2.0).ln() + x.ln();
        let square = x * x;
        let one = z.like(1.0);
        return sign * select(is_huge, huge, (x + square / (one + (one + square).sqrt())).ln_1p());
    }
    let x = z.real();
    let is_negative = x.lt(x.like(0.0));
    let y = z.imag();
    let w = asin_acos_kernel(complex(-y, x));
    let re = w.imag();
    complex(select(is_negative, -re, re), atan2(y, w.real()))
}

/// `atan(x) = atan2(x, 1)`; `atan(z) = -i atanh(i z)`.
pub(super) fn atan(z: Expr<'_>) -> Expr<'_> {
    if !z.is_complex() {
        return atan2(z, z.like(1.0));
    }
    let y = -z.imag();
    let w = atanh(complex(y, z.real()));
    complex(w.imag(), -w.real())
}

/// `atanh(x) = (log1p(x) - log1p(-x)) / 2`, and NaN where `|x| > 1`; for complex numbers see
/// [`complex_atanh`].
pub(super) fn atanh(z: Expr<'_>) -> Expr<'_> {
    if z.is_complex() {
        return complex_atanh(z);
    }
    let is_outside = z.abs().gt(z.like(1.0));
    select(is_outside, z.like(f64::NAN), (z.ln_1p() - (-z).ln_1p()) * z.like(0.5))
}

/// `atanh(x + iy) = sign(x) log1p(4 |x| / ((1 - |x|)² + y²)) / 4 + i a / 2`, where
/// `a = atan2(2 y, (1 - |x|)(1 + |x|) - y²)`.
///
/// If a square loses the 1, in units of the inverse of half the distance from 1 to the number
/// before it, the fraction is `4 / |x|` or `4 / (y (|x| / y + y / |x|))` and the angle is `± pi`.
fn complex_atanh(z: Expr<'_>) -> Expr<'_> {
    let x = z.real();
    let zero = x.like(0.0);
    let is_right = x.ge(zero);
    let one = x.like(1.0);
    let minus_one = x.like(-1.0);
    let sign = select(is_right, one, minus_one);
    let four = x.like(4.0);
    let ax = x.abs();
    let largest = x.like_max();
    let large = {
        let is_f64 = largest.gt(x.like(1e308));
        let of_f64 = x.like(9_007_199_254_740_994.0);
        let is_f32 = largest.gt(x.like(1e38));
        let narrow = select(is_f32, x.like(16_777_218.0), x.like(2050.0));
        select(is_f64, of_f64, narrow)
    };
    let limit = large * large;
    let x_is_safe = ax.lt(limit);
    let y = z.imag();
    let ay = y.abs();
    let is_safe = x_is_safe & ay.lt(limit);
    let one_minus_ax = one - ax;
    let square = one_minus_ax * one_minus_ax;
    let yy = y * y;
    let safe = ax / (square + yy);
    let is_flat = (ay * large).lt(ax);
    let flat = one / ax;
    let infinity = x.like(f64::INFINITY);
    let x_is_infinity = x.eq(infinity);
    let minus_infinity = x.like(f64::NEG_INFINITY);
    let x_is_infinite = x_is_infinity | x.eq(minus_infinity);
    let is_infinite = x_is_infinite | (y.eq(infinity) | y.eq(minus_infinity));
    let far = one / (ax / y + y / ax) / y;
    let fraction = select(is_safe, safe, select(is_flat, flat, select(is_infinite, zero, far)));
    let re = sign * (four * fraction).ln_1p() * x.like(0.25);

    let angle = atan2(y + y, one_minus_ax * (one + ax) - yy);
    let is_upper = y.ge(y.like(0.0));
    let limit_angle = select(is_upper, one, minus_one) * x.like(PI);
    complex(re, select(is_safe, angle, limit_angle) * x.like(0.5))
}

/// `cosh(x) = exp(x + log(1/2)) + exp(log(1/2) - x)`, which overflows no sooner than the result.
pub(super) fn cosh(x: Expr<'_>) -> Expr<'_> {
    let shift = x.like(0.5).ln();
    (x + shift).exp() + (shift - x).exp()
}

/// `sinh(x) = exp(x + log(1/2)) - exp(log(1/2) - x)`; of real numbers below 1,
/// `(e + e / (e + 1)) / 2` for `e = exp(x) - 1`.
pub(super) fn sinh(x: Expr<'_>) -> Expr<'_> {
    let shift = x.like(0.5).ln();
    let large = (x + shift).exp() - (shift - x).exp();
    if x.is_complex() {
        return large;
    }
    let e = x.exp_m1();
    let one = x.like(1.0);
    let half = x.like(0.5);
    let small = half * (e + e / (e + one));
    select(x.abs().lt(one), small, large)
}

/// `conj(x + iy) = x - iy`.
pub(super) fn conj(z: Expr<'_>) -> Expr<'_> {
    if z.is_complex() { complex(z.real(), -z.imag()) } else { z }
}

/// `x²`; `(x + iy)² = (x - y)(x + y) + 2ixy`, with a real part of 0 where `|x| = |y|`.
pub(super) fn square(z: Expr<'_>) -> Expr<'_> {
    if !z.is_complex() {
        return z * z;
    }
    let x = z.real();
    let is_finite = x.is_finite();
    let ax = x.abs();
    let y = z.imag();
    let is_diagonal = is_finite & ax.eq(y.abs());
    let re = select(is_diagonal, x.like(0.0), (x - y) * (x + y));
    complex(re, x.like(2.0) * (x * y))
}

/// `|x| = inf`
pub(super) fn is_inf(x: Expr<'_>) -> Expr<'_> {
    is_pos_inf(x.abs())
}

/// `x = inf`
pub(super) fn is_pos_inf(x: Expr<'_>) -> Expr<'_> {
    x.eq(x.like(f64::INFINITY))
}

/// `x = -inf`
pub(super) fn is_neg_inf(x: Expr<'_>) -> Expr<'_> {
    x.eq(x.like(f64::NEG_INFINITY))
}
