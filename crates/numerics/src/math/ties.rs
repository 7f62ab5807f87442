//! On which side of the middle between two numbers a result lies, where it is too near to that for
//! the precision of [`Double`].
//!
//! Functions compare their exact result with a number, in fixed point with more than a thousand
//! bits. This takes a tenth of a millisecond, and is needed for one number of 10^9, and for
//! results that are short except for a small term: `exp(x) - 1` is `x + x^2 / 2 + x^3 / 6 + ...`.

use super::double::Double;
use super::fixed::{self, Fixed, LN_2};
use num_complex::{Complex, Complex64};
use std::cmp::Ordering;
use std::f64::consts;
use std::sync::LazyLock;

/// A result is nearer to the middle between two numbers than this part of half a unit in the last
/// place, and there may be errors as large.
const NEAR: f64 = 1.0 / (1u64 << 30) as f64;

/// `x` rounded to `f64`, where `compare` compares the exact result with a number near `x`.
pub(crate) fn round(x: Double, compare: impl FnOnce(Double) -> Ordering) -> f64 {
    let outward = if x.lo.is_sign_negative() { x.hi.next_down() } else { x.hi.next_up() };
    let half = 0.5 * (outward - x.hi);
    let is_near = x.hi.is_normal() && half.is_finite() && (x.lo - half).abs() <= NEAR * half.abs();
    if !is_near {
        return x.hi;
    }
    let is_upward = outward > x.hi;
    match compare(Double::new(x.hi, half)) {
        Ordering::Equal => x.hi + half,
        Ordering::Greater if is_upward => outward,
        Ordering::Less if !is_upward => outward,
        Ordering::Greater | Ordering::Less => x.hi,
    }
}

/// `exp(x - exponent * log(2))`, where the difference is at most 8 in size.
pub(super) fn scaled_exp(x: Fixed, exponent: i32) -> Fixed {
    let rest = x - LN_2.times(f64::from(exponent));
    fixed::exp(Complex::new(rest, Fixed::ZERO)).re
}

/// `exp(x)`, where `x` is at most some hundreds in size and near `size`.
fn exp_near(x: Fixed, size: f64) -> Fixed {
    let exponent = (size * consts::LOG2_E).round() as i32;
    scaled_exp(x, exponent).scaled(exponent)
}

/// `2 pi`.
pub(super) static TURN: LazyLock<Fixed> =
    LazyLock::new(|| fixed::log(Complex64::new(-1.0, 0.0)).im.scaled(1));

/// The cosine, and the sine as the imaginary part, of an angle of at most 8.
pub(super) fn on_circle(angle: Fixed) -> Complex<Fixed> {
    fixed::exp(Complex::new(Fixed::ZERO, angle))
}

/// Likewise of any finite angle.
fn circle_at(angle: f64) -> Complex<Fixed> {
    on_circle(fixed::turns_of_a_radian().times(angle).fraction() * *TURN)
}

/// Compares `exp(x)` with `y * 2^exponent`.
pub(crate) fn exp(x: Fixed, y: Double, exponent: i32) -> Ordering {
    (scaled_exp(x, exponent) - y.into()).sign()
}

/// Compares `exp(x) - 1` with `y`.
pub(crate) fn exp_m1(x: f64, y: Double) -> Ordering {
    (exp_near(Fixed::from(x), x) - Fixed::ONE - y.into()).sign()
}

/// Compares `log(offset + x)` with `y`.
pub(crate) fn log(x: f64, offset: f64, y: Double) -> Ordering {
    let exponent = (y.hi * consts::LOG2_E).round() as i32;
    let (x, offset) = (Fixed::from(x).scaled(-exponent), Fixed::from(offset).scaled(-exponent));
    (x + offset - scaled_exp(y.into(), exponent)).sign()
}

/// Compares `1 / (1 + exp(-x))` with `y`, for numbers of at most some hundreds.
pub(crate) fn logistic(x: f64, y: Double) -> Ordering {
    let sum = Fixed::ONE + exp_near(Fixed::from(-x), -x);
    (Fixed::ONE - sum * y.into()).sign()
}

/// Compares `sinh(x)`, or `cosh(x)`, with `y * 2^exponent`, where `x` is not negative.
pub(crate) fn sinh_cosh(x: f64, is_cosh: bool, y: Double, exponent: i32) -> Ordering {
    // (e - 1 / e) / 2 against y, where e is exp(x), all divided by a power of two.
    let power = (x * consts::LOG2_E).round() as i32;
    let e = scaled_exp(Fixed::from(x), power);
    let one = Fixed::ONE.scaled(-2 * power);
    let one = if is_cosh { one } else { -one };
    (e * e + one - e * Fixed::from(y).scaled(exponent - power + 1)).sign()
}

/// Compares `asinh(x)`, or `acosh(x)`, with `y`, where `x` is not negative.
pub(crate) fn asinh_acosh(x: f64, is_acosh: bool, y: Double) -> Ordering {
    let exponent = (y.hi * consts::LOG2_E).round() as i32;
    let e = scaled_exp(y.into(), exponent);
    let one = Fixed::ONE.scaled(-2 * exponent);
    let one = if is_acosh { one } else { -one };
    (e * Fixed::from(x).scaled(1 - exponent) - e * e - one).sign()
}

/// Compares `tanh(x)` with `y`.
pub(crate) fn tanh(x: f64, y: Double) -> Ordering {
    let e = exp_near(Fixed::from(2.0 * x), 2.0 * x);
    (e - Fixed::ONE - (e + Fixed::ONE) * y.into()).sign()
}

/// Compares `atanh(x)` with `y`.
pub(crate) fn atanh(x: f64, y: Double) -> Ordering {
    let e = exp_near(Fixed::from(y).scaled(1), 2.0 * y.hi);
    ((e + Fixed::ONE).times(x) - e + Fixed::ONE).sign()
}

/// Compares the sine of `x` with `y`.
pub(crate) fn sin(x: f64, y: Double) -> Ordering {
    (circle_at(x).im - y.into()).sign()
}

/// Compares the cosine of `x` with `y`.
pub(crate) fn cos(x: f64, y: Double) -> Ordering {
    (circle_at(x).re - y.into()).sign()
}

/// Compares the tangent of `x` with `y`.
pub(crate) fn tan(x: f64, y: Double) -> Ordering {
    let point = circle_at(x);
    let difference = (point.im - point.re * y.into()).sign();
    if point.re.is_negative() { difference.reverse() } else { difference }
}

/// Compares the angle of the point with ordinate `y` and abscissa `x` with `angle`.
pub(crate) fn atan2(y: f64, x: f64, angle: Double) -> Ordering {
    let exponent = -libm::ilogb(y.abs().max(x.abs()));
    let on_circle = on_circle(angle.into());
    let [y, x] = [y, x].map(|x| Fixed::scaled_number(x, exponent));
    (y * on_circle.re - x * on_circle.im).sign()
}

/// Compares the inverse sine of `x` with `angle`.
pub(crate) fn asin(x: f64, angle: Double) -> Ordering {
    (Fixed::from(x) - on_circle(angle.into()).im).sign()
}

/// Compares the inverse cosine of `x` with `angle`.
pub(crate) fn acos(x: f64, angle: Double) -> Ordering {
    (on_circle(angle.into()).re - Fixed::from(x)).sign()
}

/// Compares the cube root of `x` with `y`.
pub(crate) fn cbrt(x: f64, y: Double) -> Ordering {
    let y = Fixed::from(y);
    (Fixed::from(x) - y * y * y).sign()
}

/// Compares `1 / sqrt(x)` of a number near 1 with `y`.
pub(crate) fn rsqrt(x: f64, y: Double) -> Ordering {
    let y = Fixed::from(y);
    (Fixed::ONE - (y * y).times(x)).sign()
}

/// Compares the power of a positive number with `y * 2^power_of_two`.
pub(crate) fn pow(base: f64, exponent: f64, y: Double, power_of_two: i32) -> Ordering {
    match integer_power(base, exponent) {
        Some((power, scale)) => {
            let power = Fixed::integer(power).scaled(scale - power_of_two);
            (power - y.into()).sign()
        }
        None => {
            let log = fixed::log(Complex64::new(base, 0.0)).re;
            exp(log.times(exponent), y, power_of_two)
        }
    }
}

/// The power of a number with few bits as an integer and an exponent of 2. Many squares are in the
/// middle between two numbers, and this takes little time.
fn integer_power(base: f64, exponent: f64) -> Option<(u128, i32)> {
    let (count, scale) = (exponent as u32, libm::ilogb(base) - 52);
    let integer = libm::scalbn(base, -scale) as u64;
    let zeros = integer.trailing_zeros();
    let power = u128::from(integer >> zeros).checked_pow(count)?;
    let scale = (scale + zeros as i32).checked_mul(count as i32)?;
    (f64::from(count) == exponent).then_some((power, scale))
}

/// `1 / sqrt(pi)`, by Newton's steps.
static INVERSE_ROOT_OF_PI: LazyLock<Fixed> = LazyLock::new(|| {
    let pi = TURN.scaled(-1);
    let start = Fixed::from(Double::new(0.5 * consts::FRAC_2_SQRT_PI, 7.667_729_806_582_94e-18));
    (0..5).fold(start, |root, _| (root * (Fixed::ONE.times(3.0) - pi * root * root)).scaled(-1))
});

/// The error function of a number that is not negative, and 1, both times `exp(x^2) / 2^exponent`,
/// with the exponent.
fn grown_erf(x: f64) -> (Fixed, Fixed, i32) {
    // 2 / sqrt(pi) x (1 + 2 x^2 / 3 (1 + ...)), in fixed point from the first term.
    let (mut term, mut sum) = (Fixed::ONE, Fixed::ONE);
    let mut k = 1;
    while term.sign() != Ordering::Equal {
        term = term.times(x).times(x).scaled(1).over(2 * k + 1);
        sum = sum + term;
        k += 1;
    }
    let exponent = (x * x * consts::LOG2_E).round() as i32;
    let one = scaled_exp(Fixed::from(x).times(x), exponent);
    let erf = (*INVERSE_ROOT_OF_PI * sum.scaled(-exponent)).times(2.0 * x);
    (erf, one, exponent)
}

/// Compares the error function of `x`, which is not negative, with `y`.
pub(crate) fn erf(x: f64, y: Double) -> Ordering {
    let (erf, one, exponent) = grown_erf(x);
    (erf - one.times(y.hi) - one.times(y.lo)).scaled(exponent).sign()
}

/// Compares one minus the error function of `x` with `y * 2^power_of_two`.
pub(crate) fn erfc(x: f64, y: Double, power_of_two: i32) -> Ordering {
    let (erf, one, exponent) = grown_erf(x.abs());
    let erf = if x < 0.0 { -erf } else { erf };
    let y = (one.times(y.hi) + one.times(y.lo)).scaled(power_of_two);
    (one - erf - y).scaled(exponent).sign()
}
