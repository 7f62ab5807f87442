//! Functions of complex numbers with `f64` parts, without the overflow and the cancellation of the
//! textbook formulas, and with the special values of C's Annex G, but for the exponential function
//! at an infinite imaginary part, which is NaN.
//!
//! Each function is one formula, which is computed in the `RealNumber` that the parts of the
//! result need.

use super::double::{Double, sum_of_products, sum_of_squares, two_sum};
use super::precision::RealNumber;
use num_complex::{Complex, Complex32};

/// A complex number with `f64` parts.
pub type Complex64 = Complex<f64>;

/// The same number with `f64` parts.
pub fn widen<T: Into<f64>>(z: Complex<T>) -> Complex64 {
    Complex::new(z.re.into(), z.im.into())
}

/// The absolute value. The squares of the parts are exact in double precision, where their sum and
/// its root are rounded once each, as in `libm::hypot`, with whose bits this agrees.
#[inline(always)]
pub(super) fn abs_of_singles(z: Complex32) -> f32 {
    const INFINITY: u32 = f32::INFINITY.to_bits();
    const QUIET: u32 = 1 << 22;
    let magnitude = |x: f32| {
        let bits = x.abs().to_bits();
        if bits > INFINITY { bits | QUIET } else { bits }
    };
    let (a, b) = (magnitude(z.re), magnitude(z.im));
    let (low, high) = (a.min(b), a.max(b));
    // Infinity, whatever the other part is, or NaN.
    let special = if low >= INFINITY { low } else { high };
    let (re, im) = (f64::from(z.re), f64::from(z.im));
    let root = (re * re + im * im).sqrt() as f32;
    f32::from_bits(if high >= INFINITY { special } else { root.to_bits() })
}

/// The number with each part rounded to the narrower type.
pub fn narrow<T: crate::Float>(z: Complex64) -> Complex<T> {
    Complex::new(T::from_float(z.re), T::from_float(z.im))
}

pub(super) const NAN: Complex64 = Complex64 { re: f64::NAN, im: f64::NAN };
pub(super) const ONE: Complex64 = Complex64 { re: 1.0, im: 0.0 };

/// `z * i`.
fn times_i<T: std::ops::Neg<Output = T>>(z: Complex<T>) -> Complex<T> {
    Complex::new(-z.im, z.re)
}

/// `z / i`.
fn over_i<T: std::ops::Neg<Output = T>>(z: Complex<T>) -> Complex<T> {
    Complex::new(z.im, -z.re)
}

pub(super) fn is_finite(z: Complex64) -> bool {
    z.re.is_finite() && z.im.is_finite()
}

/// The same number in another precision.
pub(super) fn exactly<P: RealNumber>(z: Complex64) -> Complex<P> {
    Complex::new(P::from(z.re), P::from(z.im))
}

/// The number with its parts rounded.
fn value<P: RealNumber>(z: Complex<P>) -> Complex64 {
    Complex::new(z.re.value(), z.im.value())
}

/// `z * 2^exponent` with its parts rounded.
fn shifted_value<P: RealNumber>(z: Complex<P>, exponent: i32) -> Complex64 {
    Complex::new(z.re.shifted_value(exponent), z.im.shifted_value(exponent))
}

/// `a * b * 2^exponent`, rounded once. `b` may be subnormal where the result is not.
fn product_value<P: RealNumber>(a: P, b: P, exponent: i32) -> f64 {
    const SMALL: f64 = 1e-200;
    let margin = if b.value().abs() < SMALL { 600 } else { 0 };
    (a * b.shifted(margin)).shifted_value(exponent - margin)
}

/// `z * 2^exponent`.
fn shifted<P: RealNumber>(z: Complex<P>, exponent: i32) -> Complex<P> {
    Complex::new(z.re.shifted(exponent), z.im.shifted(exponent))
}

/// The product of numbers whose parts are neither huge nor tiny.
pub(super) fn times<P: RealNumber>(x: Complex<P>, y: Complex<P>) -> Complex<P> {
    Complex::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
}

/// The square of the absolute value of a number whose parts are neither huge nor tiny.
pub(super) fn square_of_abs<P: RealNumber>(z: Complex<P>) -> P {
    z.re * z.re + z.im * z.im
}

/// The exponent of the larger part, or 0 for zero and for what is not finite.
pub(super) fn exponent(z: Complex64) -> i32 {
    let largest = z.re.abs().max(z.im.abs());
    if largest > 0.0 && largest.is_finite() { libm::ilogb(largest) } else { 0 }
}

/// `log(|z|)`.
fn log_abs<P: RealNumber>(z: Complex64) -> P {
    if z.re.is_infinite() || z.im.is_infinite() {
        return P::from(f64::INFINITY);
    }
    if z.re.is_nan() || z.im.is_nan() {
        return P::from(f64::NAN);
    }
    if z.re == 0.0 && z.im == 0.0 {
        return P::from(f64::NEG_INFINITY);
    }
    let (large, small) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    if large < 2.0 && is_near_one(large * large + small * small) {
        return P::nearest(sum_of_squares(-1.0, large, small)).log_1p().shifted(-1);
    }
    let exponent = exponent(z);
    let square = square_of_abs(shifted(exactly::<P>(z), -exponent));
    square.log().shifted(-1) + P::nearest(Double::LN_2) * P::from(f64::from(exponent))
}

/// True if `x * x + y * y` is so close to one that its logarithm needs more precision.
fn is_near_one(square: f64) -> bool {
    (0.5..=3.0).contains(&square)
}

/// The logarithm with an imaginary part between -π and π.
pub fn log<P: RealNumber>(z: Complex64) -> Complex64 {
    if !is_finite(z) {
        return Complex::new(log_abs::<f64>(z), libm::atan2(z.im, z.re));
    }
    value(wide_log::<P>(z))
}

/// The logarithm of a finite number.
pub(super) fn wide_log<P: RealNumber>(z: Complex64) -> Complex<P> {
    Complex::new(log_abs(z), P::from(z.im).atan2(P::from(z.re)))
}

/// `log(1 + z)`, precise for small `z`, too.
pub fn log_1p<P: RealNumber>(z: Complex64) -> Complex64 {
    let re = 1.0 + z.re;
    if !is_finite(z) {
        return Complex::new(log_abs::<f64>(Complex::new(re, z.im)), libm::atan2(z.im, re));
    }
    let wide_re = P::nearest(two_sum(1.0, z.re));
    let log_abs = if is_near_one(re * re + z.im * z.im) {
        P::nearest(sum_of_squares(2.0 * z.re, z.re, z.im)).log_1p().shifted(-1)
    } else if z.re.abs() > 1e100 || z.im.abs() > 1e100 || re == 0.0 {
        log_abs(Complex::new(re, z.im))
    } else {
        square_of_abs(Complex::new(wide_re, P::from(z.im))).log().shifted(-1)
    };
    Complex::new(log_abs.value(), P::from(z.im).atan2(wide_re).value())
}

/// `e` to the power of `z`.
pub fn exp<P: RealNumber>(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        let (exp, exponent) = P::exp(P::from(z.re.clamp(-1e4, 1e4)));
        return Complex::new(exp.shifted_value(exponent), z.im);
    }
    if !is_finite(z) {
        let exp = libm::exp(z.re);
        return Complex::new(exp * libm::cos(z.im), exp * libm::sin(z.im));
    }
    wide_exp(exactly::<P>(z))
}

/// `exp(z)` of a finite number, which need not be a number of `f64`.
pub(super) fn wide_exp<P: RealNumber>(z: Complex<P>) -> Complex64 {
    let ((exp, exponent), (sin, cos)) = (z.re.exp(), z.im.sin_cos());
    Complex::new(product_value(exp, cos, exponent), product_value(exp, sin, exponent))
}

/// `exp(z) - 1`, precise for small `z`, too.
pub fn exp_m1<P: RealNumber>(z: Complex64) -> Complex64 {
    if z.re == 0.0 && z.im == 0.0 {
        return z;
    }
    if z.re.abs() > 600.0 || !is_finite(z) {
        return if z.im == 0.0 {
            Complex::new(libm::expm1(z.re), z.im)
        } else {
            // Exactly -1, or much larger than 1.
            exp::<P>(z) - 1.0
        };
    }
    // The real part cancels where it vanishes, also for numbers with parts of `f32`.
    let (sin, cos) = Double::from(z.im).sin_cos();
    let (half_sin, _) = Double::from(0.5 * z.im).sin_cos();
    let re = Double::from(z.re).exp_m1() * cos - (half_sin * half_sin).scaled(2.0);
    let (exp, exponent) = P::from(z.re).exp();
    let im = product_value(exp, P::nearest(sin), exponent);
    with_zero(Complex::new(re.value(), im), z)
}

/// `result` with an imaginary part of zero that has the sign of that of `z`, as an odd function
/// with real values on the real axis has.
fn with_zero(result: Complex64, z: Complex64) -> Complex64 {
    Complex::new(result.re, if z.im == 0.0 { z.im } else { result.im })
}

/// Bound of parts so small that digits of products and quotients with them could be subnormal.
const TINY: f64 = 1e-250;

/// Exponent of the power of two, an even one, that makes such parts normal and keeps them small.
/// Functions are linear in parts of that size up to rounding.
const LIFT: i32 = 300;

fn is_tiny(x: f64) -> bool {
    x != 0.0 && x.abs() < TINY
}

fn lifted(x: f64) -> f64 {
    libm::scalbn(x, LIFT)
}

fn lowered(x: f64) -> f64 {
    libm::scalbn(x, -LIFT)
}

/// True if the larger part of `z` is tiny.
fn has_tiny_size(z: Complex64) -> bool {
    is_tiny(if z.re.abs() > z.im.abs() { z.re } else { z.im })
}

/// The square root with a non-negative real part.
pub fn sqrt<P: RealNumber>(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    if x == 0.0 && y == 0.0 {
        return Complex::new(0.0, y);
    }
    if y.is_infinite() {
        return Complex::new(f64::INFINITY, y);
    }
    if x.is_infinite() {
        let other = if y.is_nan() { y } else { 0.0 };
        return if x > 0.0 {
            Complex::new(x, other.copysign(y))
        } else {
            Complex::new(other, f64::INFINITY.copysign(y))
        };
    }
    if x.is_nan() || y.is_nan() {
        return NAN;
    }
    if has_tiny_size(z) {
        let root = sqrt::<P>(Complex::new(libm::scalbn(x, 2 * LIFT), libm::scalbn(y, 2 * LIFT)));
        return Complex::new(lowered(root.re), lowered(root.im));
    }
    if is_tiny(y) && y.abs() < 1e-100 * x.abs() {
        let root = sqrt::<P>(Complex::new(x, lifted(y)));
        return if x > 0.0 {
            Complex::new(root.re, lowered(root.im))
        } else {
            Complex::new(lowered(root.re), root.im)
        };
    }
    value(wide_sqrt(exactly::<P>(z)))
}

/// The square root of a finite number.
fn wide_sqrt<P: RealNumber>(z: Complex<P>) -> Complex<P> {
    if z.re.value() == 0.0 && z.im.value() == 0.0 {
        return Complex::new(P::from(0.0), z.im);
    }
    // A power of four keeps the squares away from overflow and from subnormal numbers.
    let half = exponent(value(z)) >> 1;
    let scaled = shifted(z, -2 * half);
    let size = if z.re.value().is_sign_negative() { -scaled.re } else { scaled.re };
    let main = (size + square_of_abs(scaled).sqrt()).shifted(-1).sqrt().shifted(half);
    // Products of numbers near the ends of the range would overflow or vanish.
    let margin = if z.im.value().abs() > 1e300 { -8 } else { 8 };
    let other = (z.im.shifted(margin) / main).shifted(-1 - margin);
    let other = if z.im.value() == 0.0 { z.im } else { other };
    match (z.re.value().is_sign_negative(), z.im.value().is_sign_negative()) {
        (false, _) => Complex::new(main, other),
        (true, false) => Complex::new(other, main),
        (true, true) => Complex::new(-other, -main),
    }
}

/// `1 / sqrt(z)`.
pub fn rsqrt<P: RealNumber>(z: Complex64) -> Complex64 {
    if !is_finite(z) || z == Complex::new(0.0, 0.0) {
        return divide(ONE, sqrt::<f64>(z));
    }
    if has_tiny_size(z) {
        let scaled = |x| libm::scalbn(x, 2 * LIFT);
        let root = rsqrt::<P>(Complex::new(scaled(z.re), scaled(z.im)));
        return Complex::new(lifted(root.re), lifted(root.im));
    }
    if z.im.abs() < 1e-200 && z.im.abs() < z.re.abs() * 1e-40 {
        return rsqrt_near_axis::<P>(z);
    }
    let half = exponent(z) >> 1;
    let root = shifted(wide_sqrt(exactly::<P>(z)), -half);
    let square = square_of_abs(root);
    let result = shifted_value(Complex::new(root.re / square, -(root.im / square)), -half);
    Complex::new(result.re, if z.im == 0.0 && z.re > 0.0 { -z.im } else { result.im })
}

/// `1 / sqrt(z)` to first order in the imaginary part, whose root could be subnormal.
fn rsqrt_near_axis<P: RealNumber>(z: Complex64) -> Complex64 {
    const MARGIN: i32 = 600;
    let size = P::from(z.re.abs());
    let root = size.sqrt();
    let main = (P::from(1.0) / root).value();
    let other = if z.re.abs() > 1e100 {
        // Below the smallest number.
        0.0f64.copysign(z.im)
    } else {
        (P::from(z.im).shifted(MARGIN) / size / root).shifted_value(-MARGIN - 1)
    };
    if z.re > 0.0 {
        Complex::new(main, -other)
    } else {
        Complex::new(other.abs(), -main.copysign(z.im))
    }
}

/// The cube root with the argument of `z` divided by three.
pub fn cbrt<P: RealNumber>(z: Complex64) -> Complex64 {
    if z.im == 0.0 && (z.re == 0.0 || z.re == f64::INFINITY) {
        return z;
    }
    if !is_finite(z) {
        let (abs, angle) = (libm::hypot(z.re, z.im), libm::atan2(z.im, z.re) / 3.0);
        return Complex::new(abs * libm::cos(angle), abs * libm::sin(angle));
    }
    let third = exponent(z).div_euclid(3);
    let scaled = shifted(exactly::<P>(z), -3 * third);
    if z.re > 0.0 && z.im.abs() <= 1e-40 * z.re {
        // The angle, which might vanish, is the quotient of the parts.
        let root = scaled.re.cbrt();
        let small = exponent(Complex::new(z.im, 0.0));
        let im = root / scaled.re * P::from(z.im).shifted(-small) / P::from(3.0);
        let parts = [root.shifted_value(third), im.shifted_value(small - 2 * third)];
        return with_zero(Complex::new(parts[0], parts[1]), z);
    }
    let abs = square_of_abs(scaled).sqrt().cbrt();
    let (sin, cos) = (P::from(z.im).atan2(P::from(z.re)) / P::from(3.0)).sin_cos();
    shifted_value(Complex::new(abs * cos, abs * sin), third)
}

/// `z / |z|`; zero for zero, NaN if a part is NaN.
pub fn sign<P: RealNumber>(z: Complex64) -> Complex64 {
    if z.re.is_nan() || z.im.is_nan() {
        return NAN;
    }
    if z.re == 0.0 && z.im == 0.0 {
        return Complex::new(0.0, 0.0);
    }
    if !is_finite(z) {
        return divide(z, Complex::new(f64::INFINITY, 0.0));
    }
    let scaled = shifted(exactly::<P>(z), -exponent(z));
    let abs = square_of_abs(scaled).sqrt();
    // The quotient of the number itself, so that a small part does not vanish.
    let part = |scaled: P, x: f64| if x == 0.0 { x } else { (scaled / abs).value() };
    Complex::new(part(scaled.re, z.re), part(scaled.im, z.im))
}

/// `z * z`, as `(x - y) (x + y) + 2xyi`, which is infinite where a part is.
pub fn square(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    let is_diagonal = x.is_finite() && x.abs() == y.abs();
    Complex::new(if is_diagonal { 0.0 } else { (x - y) * (x + y) }, 2.0 * (x * y))
}

/// The quotient, in which no product overflows or vanishes. Infinities give infinities or zeros
/// where the direct formula would give NaN.
pub fn divide(lhs: Complex64, rhs: Complex64) -> Complex64 {
    if is_finite(lhs) && is_finite(rhs) && rhs != Complex::new(0.0, 0.0) {
        let (square, square_exponent) = sum_of_products(&[[rhs.re, rhs.re], [rhs.im, rhs.im]]);
        let part = |products: [[f64; 2]; 2]| {
            let (sum, exponent) = sum_of_products(&products);
            if sum.hi == 0.0 {
                return sum.hi;
            }
            (sum / square).shifted_value(exponent - square_exponent)
        };
        let re = part([[lhs.re, rhs.re], [lhs.im, rhs.im]]);
        let im = part([[lhs.im, rhs.re], [-lhs.re, rhs.im]]);
        return Complex::new(re, im);
    }
    let (lhs_exponent, rhs_exponent) = (exponent(lhs), exponent(rhs));
    let Complex { re: a, im: b } = shifted(lhs, -lhs_exponent);
    let Complex { re: c, im: d } = shifted(rhs, -rhs_exponent);
    let square = c * c + d * d;
    let quotient = Complex::new((a * c + b * d) / square, (b * c - a * d) / square);
    let Complex { re, im } = shifted_value(quotient, lhs_exponent - rhs_exponent);
    if !(re.is_nan() && im.is_nan()) {
        return Complex::new(re, im);
    }
    // 1 for an infinity, 0 otherwise, with the sign kept.
    let unit = |x: f64| (if x.is_infinite() { 1.0f64 } else { 0.0 }).copysign(x);
    if square == 0.0 && !(a.is_nan() && b.is_nan()) {
        let infinity = f64::INFINITY.copysign(rhs.re);
        Complex::new(infinity * a, infinity * b)
    } else if (a.is_infinite() || b.is_infinite()) && c.is_finite() && d.is_finite() {
        let (a, b) = (unit(a), unit(b));
        Complex::new(f64::INFINITY * (a * c + b * d), f64::INFINITY * (b * c - a * d))
    } else if (c.is_infinite() || d.is_infinite()) && a.is_finite() && b.is_finite() {
        let (c, d) = (unit(c), unit(d));
        Complex::new(0.0 * (a * c + b * d), 0.0 * (b * c - a * d))
    } else {
        Complex::new(re, im)
    }
}

/// The quotient of numbers whose parts are numbers of `f32`: as [`divide`], but in `f64` itself,
/// where their products are exact.
pub fn divide_single(lhs: Complex64, rhs: Complex64) -> Complex64 {
    let square = rhs.re * rhs.re + rhs.im * rhs.im;
    let re = lhs.re * rhs.re + lhs.im * rhs.im;
    let im = lhs.im * rhs.re - lhs.re * rhs.im;
    if square > 0.0 && square.is_finite() && re.is_finite() && im.is_finite() {
        Complex::new(re / square, im / square)
    } else {
        divide(lhs, rhs)
    }
}

/// `1 / (1 + exp(-z))`: with `d = 2 (sinh(x / 2)^2 + cos(y / 2)^2)`, which vanishes at the poles
/// only, `(exp(x) + cos(y) + i sin(y)) / 2d`.
pub fn logistic<P: RealNumber>(z: Complex64) -> Complex64 {
    const LARGE: f64 = 300.0;
    let (x, y) = (z.re, z.im);
    if x < -LARGE || !is_finite(z) && x < 0.0 {
        return exp::<P>(z);
    }
    if x > LARGE || !is_finite(z) {
        let exp = exp::<P>(-z);
        return if is_finite(z) { Complex::new(1.0, -exp.im) } else { divide(ONE, ONE + exp) };
    }
    let (half_sin, half_cos) = P::from(0.5 * y).sin_cos();
    let (sinh, _, exponent) = P::sinh_cosh(0.5 * x);
    let sinh = sinh.shifted(exponent);
    let double = ((sinh * sinh) + (half_cos * half_cos)).shifted(2);
    let sum = if x < -1.0 {
        let (exp, exponent) = P::from(x).exp();
        exp.shifted(exponent) + P::from(y).sin_cos().1
    } else {
        P::from(x).exp_m1() + (half_cos * half_cos).shifted(1)
    };
    let im = (half_sin * half_cos).shifted(1) / double;
    with_zero(value(Complex::new(sum / double, im)), z)
}

/// The hyperbolic sine.
pub fn sinh<P: RealNumber>(z: Complex64) -> Complex64 {
    if !is_finite(z) {
        return match z {
            _ if z.im == 0.0 => z,
            _ if z.re == 0.0 => Complex::new(z.re, f64::NAN),
            _ => {
                let (sinh, cosh) = (libm::sinh(z.re), libm::cosh(z.re));
                Complex::new(sinh * libm::cos(z.im), cosh * libm::sin(z.im))
            }
        };
    }
    let ((sinh, cosh, exponent), (sin, cos)) = (P::sinh_cosh(z.re), P::from(z.im).sin_cos());
    let result =
        Complex::new(product_value(sinh, cos, exponent), product_value(cosh, sin, exponent));
    with_zero(Complex::new(if z.re == 0.0 { z.re } else { result.re }, result.im), z)
}

/// The hyperbolic cosine.
pub fn cosh<P: RealNumber>(z: Complex64) -> Complex64 {
    // Of the imaginary part where it vanishes.
    let zero = if z.im == 0.0 { z.im * z.re.signum() } else { z.re * z.im.signum() };
    let result = if is_finite(z) {
        let ((sinh, cosh, exponent), (sin, cos)) = (P::sinh_cosh(z.re), P::from(z.im).sin_cos());
        Complex::new(product_value(cosh, cos, exponent), product_value(sinh, sin, exponent))
    } else {
        let cos = if z.im == 0.0 { 1.0 } else { libm::cos(z.im) };
        Complex::new(libm::cosh(z.re) * cos, libm::sinh(z.re) * libm::sin(z.im))
    };
    Complex::new(result.re, if z.re == 0.0 || z.im == 0.0 { zero } else { result.im })
}

/// The hyperbolic tangent: `(sinh(x) cosh(x) + i sin(y) cos(y)) / (sinh(x)^2 + cos(y)^2)`.
pub fn tanh<P: RealNumber>(z: Complex64) -> Complex64 {
    let (x, y) = (z.re, z.im);
    if !is_finite(z) {
        return match (x.is_infinite(), y) {
            (true, _) => {
                let im = if y.is_finite() { libm::sin(2.0 * y) } else { 1.0 };
                let im = if y == 0.0 { y } else { 0.0f64.copysign(im) };
                Complex::new(1.0f64.copysign(x), im)
            }
            (_, 0.0) => z,
            _ => NAN,
        };
    }
    if is_tiny(x) {
        let result = tanh::<P>(Complex::new(lifted(x), y));
        return Complex::new(lowered(result.re), result.im);
    }
    let (sin, cos) = P::from(y).sin_cos();
    if x.abs() > 40.0 {
        // tanh(x + iy) = sign(x) + 4i sin(y) cos(y) exp(-2|x|) up to rounding.
        let (exp, exponent) = P::exp(P::from((-2.0 * x.abs()).max(-1e4)));
        let im = (sin * cos * exp).shifted_value(exponent + 2);
        return with_zero(Complex::new(1.0f64.copysign(x), im), z);
    }
    let (sinh, cosh, exponent) = P::sinh_cosh(x);
    let (sinh, cosh) = (sinh.shifted(exponent), cosh.shifted(exponent));
    let divisor = sinh * sinh + cos * cos;
    let result = value(Complex::new(sinh * cosh / divisor, sin * cos / divisor));
    with_zero(Complex::new(if x == 0.0 { x } else { result.re }, result.im), z)
}

/// The sine.
pub fn sin<P: RealNumber>(z: Complex64) -> Complex64 {
    over_i(sinh::<P>(times_i(z)))
}

/// The cosine.
pub fn cos<P: RealNumber>(z: Complex64) -> Complex64 {
    cosh::<P>(times_i(z))
}

/// The tangent.
pub fn tan<P: RealNumber>(z: Complex64) -> Complex64 {
    over_i(tanh::<P>(times_i(z)))
}

/// From where on, of the larger part, inverse functions are logarithms up to rounding.
const LARGE: f64 = 1e100;

fn is_large(z: Complex64) -> bool {
    z.re.abs() > LARGE || z.im.abs() > LARGE
}

/// `log(2 |z|)`.
fn log_twice_abs<P: RealNumber>(z: Complex64) -> f64 {
    (log_abs::<P>(z) + P::nearest(Double::LN_2)).value()
}

/// `sqrt(1 - z)` and `sqrt(1 + z)`, with the sign of a zero imaginary part kept.
fn square_roots_around_one<P: RealNumber>(z: Complex64) -> (Complex<P>, Complex<P>) {
    let root =
        |re: f64, im: f64| wide_sqrt(Complex::new(P::nearest(two_sum(1.0, re)), P::from(im)));
    (root(-z.re, -z.im), root(z.re, z.im))
}

/// The inverse sine. This and the other inverse functions are Kahan's formulas.
pub fn asin<P: RealNumber>(z: Complex64) -> Complex64 {
    if !is_finite(z) {
        let im = log_abs::<f64>(z).copysign(z.im);
        return Complex::new(libm::atan2(z.re, z.im.abs()), im);
    }
    if is_large(z) {
        let re = P::from(z.re).atan2(P::from(z.im.abs()));
        return Complex::new(re.value(), log_twice_abs::<P>(z).copysign(z.im));
    }
    if is_tiny(z.im) && z.re.abs() < 1.0 {
        let result = asin::<P>(Complex::new(z.re, lifted(z.im)));
        return Complex::new(result.re, lowered(result.im));
    }
    let (minus, plus) = square_roots_around_one::<P>(z);
    let re = P::from(z.re).atan2(minus.re * plus.re - minus.im * plus.im);
    let im = (minus.re * plus.im - minus.im * plus.re).asinh();
    Complex::new(re.value(), im.value().copysign(z.im))
}

/// The inverse cosine.
pub fn acos<P: RealNumber>(z: Complex64) -> Complex64 {
    if !is_finite(z) {
        let im = log_abs::<f64>(z).copysign(-z.im);
        return Complex::new(libm::atan2(z.im.abs(), z.re), im);
    }
    if is_large(z) {
        let re = P::from(z.im.abs()).atan2(P::from(z.re));
        return Complex::new(re.value(), log_twice_abs::<P>(z).copysign(-z.im));
    }
    if is_tiny(z.im) && z.re.abs() != 1.0 {
        let result = acos::<P>(Complex::new(z.re, lifted(z.im)));
        return match (z.re.abs() < 1.0, z.re > 0.0) {
            (true, _) => Complex::new(result.re, lowered(result.im)),
            (false, true) => Complex::new(lowered(result.re), result.im),
            (false, false) => result,
        };
    }
    let (minus, plus) = square_roots_around_one::<P>(z);
    let re = minus.re.atan2(plus.re).shifted(1);
    let im = (plus.re * minus.im - plus.im * minus.re).asinh();
    Complex::new(re.value(), im.value().copysign(-z.im))
}

/// The inverse hyperbolic sine.
pub fn asinh<P: RealNumber>(z: Complex64) -> Complex64 {
    times_i(asin::<P>(over_i(z)))
}

/// The inverse hyperbolic cosine with a non-negative real part.
pub fn acosh<P: RealNumber>(z: Complex64) -> Complex64 {
    // Half of the plane of i acos(z), which has a zero or positive real part.
    let acos = acos::<P>(z);
    if z.im.is_sign_negative() { over_i(acos) } else { times_i(acos) }
}

/// The inverse hyperbolic tangent.
pub fn atanh<P: RealNumber>(z: Complex64) -> Complex64 {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        return NAN;
    }
    let (re, im) = if is_large(z) {
        // The real part of 1 / z.
        (divide(ONE, Complex::new(x, y)).re, std::f64::consts::FRAC_PI_2)
    } else {
        let minus = P::nearest(two_sum(1.0, -x));
        let square = P::from(y) * P::from(y);
        let re = if x == 1.0 && y < 1e-140 {
            // log(2 / y) / 2, as the square of y would vanish.
            if y == 0.0 {
                P::from(f64::INFINITY)
            } else {
                (P::nearest(Double::LN_2) - P::from(y).log()).shifted(-1)
            }
        } else {
            (P::from(4.0 * x) / (minus * minus + square)).log_1p().shifted(-2)
        };
        let abscissa = minus * P::nearest(two_sum(1.0, x)) - square;
        (re.value(), P::from(2.0 * y).atan2(abscissa).shifted(-1).value())
    };
    let re = if z.re == 0.0 { 0.0 } else { re };
    Complex::new(re.copysign(z.re), im.copysign(z.im))
}

/// The inverse tangent.
pub fn atan<P: RealNumber>(z: Complex64) -> Complex64 {
    over_i(atanh::<P>(times_i(z)))
}
