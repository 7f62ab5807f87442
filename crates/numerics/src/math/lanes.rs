//! Functions without branches and tables, whose loops become vector instructions.
//!
//! They are computed in `f64`, for results that are rounded to `f32` or a narrower type: errors are
//! about one unit in the last place of `f64`. Only additions, multiplications, divisions and square
//! roots are used, so that results have the same bits with every instruction set. They are generic
//! over [`Lane`]: numbers, or the code of a generator of machine code.

use std::f64::consts::{self, LOG2_E};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// An `f64`, or what stands for one.
pub trait Lane:
    Copy
    + Add<Output = Self>
    + Add<f64, Output = Self>
    + Sub<Output = Self>
    + Sub<f64, Output = Self>
    + Mul<Output = Self>
    + Mul<f64, Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// A boolean.
    type Mask: Copy
        + BitAnd<Output = Self::Mask>
        + BitOr<Output = Self::Mask>
        + Not<Output = Self::Mask>;

    /// The number `x`, for the same lanes as `self`.
    fn splat(self, x: f64) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// This number if it is less than `rhs`, else `rhs`.
    fn least(self, rhs: Self) -> Self;
    /// This number if it is greater than `rhs`, else `rhs`.
    fn greatest(self, rhs: Self) -> Self;
    /// True if this is less than `rhs`.
    fn less(self, rhs: Self) -> Self::Mask;
    /// True if this is greater than or equal to `rhs`.
    fn at_least(self, rhs: Self) -> Self::Mask;
    /// True if the numbers are equal.
    fn equals(self, rhs: Self) -> Self::Mask;
    /// True for NaN.
    fn is_nan(self) -> Self::Mask;
    /// `yes` where `mask` is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Some of the bits.
    fn and_bits(self, bits: u64) -> Self;
    /// More bits.
    fn or_bits(self, bits: u64) -> Self;
    /// The bits of both.
    fn or(self, rhs: Self) -> Self;
    /// The bits plus an integer.
    fn add_bits(self, bits: u64) -> Self;
    /// The difference of the bits.
    fn subtract_bits(self, rhs: Self) -> Self;
    /// The bits moved up.
    fn shift_left(self, by: u8) -> Self;
    /// The bits moved down.
    fn shift_right(self, by: u8) -> Self;

    /// The absolute value.
    #[inline(always)]
    fn abs(self) -> Self {
        self.and_bits(!SIGN)
    }

    /// The absolute value with the sign of another number.
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        self.abs().or(sign.and_bits(SIGN))
    }
}

/// The bit of the sign.
const SIGN: u64 = 1 << 63;

impl Lane for f64 {
    type Mask = bool;

    #[inline(always)]
    fn splat(self, x: f64) -> f64 {
        x
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn least(self, rhs: f64) -> f64 {
        if self < rhs { self } else { rhs }
    }

    #[inline(always)]
    fn greatest(self, rhs: f64) -> f64 {
        if self > rhs { self } else { rhs }
    }

    #[inline(always)]
    fn less(self, rhs: f64) -> bool {
        self < rhs
    }

    #[inline(always)]
    fn at_least(self, rhs: f64) -> bool {
        self >= rhs
    }

    #[inline(always)]
    fn equals(self, rhs: f64) -> bool {
        self == rhs
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }

    #[inline(always)]
    fn select(mask: bool, yes: f64, no: f64) -> f64 {
        if mask { yes } else { no }
    }

    #[inline(always)]
    fn and_bits(self, bits: u64) -> f64 {
        f64::from_bits(self.to_bits() & bits)
    }

    #[inline(always)]
    fn or_bits(self, bits: u64) -> f64 {
        f64::from_bits(self.to_bits() | bits)
    }

    #[inline(always)]
    fn or(self, rhs: f64) -> f64 {
        f64::from_bits(self.to_bits() | rhs.to_bits())
    }

    #[inline(always)]
    fn add_bits(self, bits: u64) -> f64 {
        f64::from_bits(self.to_bits().wrapping_add(bits))
    }

    #[inline(always)]
    fn subtract_bits(self, rhs: f64) -> f64 {
        f64::from_bits(self.to_bits().wrapping_sub(rhs.to_bits()))
    }

    #[inline(always)]
    fn shift_left(self, by: u8) -> f64 {
        f64::from_bits(self.to_bits() << by)
    }

    #[inline(always)]
    fn shift_right(self, by: u8) -> f64 {
        f64::from_bits(self.to_bits() >> by)
    }
}

/// Replaces a NaN that is not an operand's by the positive NaN, as the sign of new NaNs differs
/// between processors.
#[inline(always)]
pub fn one_nan<L: Lane>(operand: L, result: L) -> L {
    L::select(result.is_nan() & !operand.is_nan(), operand.splat(f64::NAN), result)
}

/// `x` brought into the range from `-limit` to `limit`; NaN stays.
#[inline(always)]
fn limited<L: Lane>(x: L, limit: f64) -> L {
    x.splat(-limit).greatest(x.splat(limit).least(x))
}

/// Added to a number, it leaves the nearest integer in the low bits of the sum.
const SHIFT: f64 = 1.5 * (1u64 << 52) as f64;
/// `log(2)` in two parts, the first of few enough bits that small multiples are exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Beyond this, the exponential is infinite or zero in `f32`, but not yet in `f64`.
const LIMIT: f64 = 700.0;

/// The polynomial with these coefficients, the constant one first, of a finite number: by four
/// polynomials in its fourth power, so that no addition waits for many others.
#[inline(always)]
pub fn polynomial<L: Lane, const N: usize>(coefficients: &[f64; N], x: L) -> L {
    let square = x * x;
    let fourth = square * square;
    let part = |first: usize| {
        let count = N.saturating_sub(first).div_ceil(4);
        let mut n = count.saturating_sub(1);
        let mut sum = x.splat(if count > 0 { coefficients[first + 4 * n] } else { 0.0 });
        while n > 0 {
            n -= 1;
            sum = sum * fourth + coefficients[first + 4 * n];
        }
        sum
    };
    (part(0) + part(1) * x) + (part(2) + part(3) * x) * square
}

/// The absolute value of a complex number with parts of `f32`, whose squares are exact: that of
/// [`UnaryOp::Abs`](super::UnaryOp::Abs), but for the payloads of NaNs.
#[inline(always)]
pub fn absolute<L: Lane>(re: L, im: L) -> L {
    let infinity = re.splat(f64::INFINITY);
    let is_infinite = re.abs().equals(infinity) | im.abs().equals(infinity);
    L::select(is_infinite, infinity, (re * re + im * im).sqrt())
}

/// `1 / n!`.
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut table = [1.0; 14];
    let mut factorial = 1.0;
    let mut n = 1;
    while n < 14 {
        factorial *= n as f64;
        table[n] = 1.0 / factorial;
        n += 1;
    }
    table
};

/// The exponential function; numbers beyond a limit give that of the limit.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    let x = limited(x, LIMIT);
    let shifted = x * LOG2_E + SHIFT;
    (small_exp_m1(rest(x, shifted - SHIFT)) + 1.0) * power_of_2(shifted)
}

/// The exponential function minus 1.
#[inline(always)]
pub fn exp_m1<L: Lane>(x: L) -> L {
    let near = limited(x, LIMIT);
    let shifted = near * LOG2_E + SHIFT;
    let power = power_of_2(shifted);
    let result = power * small_exp_m1(rest(near, shifted - SHIFT)) + (power - 1.0);
    // Also the sign of zero.
    L::select(x.equals(x.splat(0.0)), x, result)
}

/// `x - count * log(2)`.
#[inline(always)]
fn rest<L: Lane>(x: L, count: L) -> L {
    (x - count * LN_2[0]) - count * LN_2[1]
}

/// The power of two whose exponent has been added to [`SHIFT`].
#[inline(always)]
fn power_of_2<L: Lane>(shifted: L) -> L {
    shifted.add_bits(1023).shift_left(52)
}

/// The exponential function minus 1 of a number of at most `log(2) / 2` in absolute value.
#[inline(always)]
fn small_exp_m1<L: Lane>(rest: L) -> L {
    // Taylor's series, by halves.
    let c = &INVERSE_FACTORIALS;
    let square = rest * rest;
    let fourth = square * square;
    let pair = |n: usize| rest * c[n + 1] + c[n];
    let low = pair(2) + pair(4) * square;
    let middle = pair(6) + pair(8) * square;
    let high = pair(10) + pair(12) * square;
    let tail = low + (middle + high * fourth) * fourth;
    rest + square * tail
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn logistic<L: Lane>(x: L) -> L {
    // Of the sign that keeps its precision where the result is small.
    let power = exp(-x.abs());
    let numerator = L::select(x.less(x.splat(0.0)), power, x.splat(1.0));
    numerator / (power + 1.0)
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    // Not the exponential itself, which is near 1 where the result is small.
    let power = exp_m1(x.abs() * -2.0);
    (-power / (power + 2.0)).copysign(x)
}

/// The bits of the square root of 1/2.
const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
/// The bits of the exponent.
const EXPONENT: u64 = 0xFFF0_0000_0000_0000;
/// `2 / (3 log(2))` in two parts, the first of 26 bits.
const LOG_SCALE: [f64; 2] = [0.961_796_686_053_276_1, 7.872_699_542_894_897e-9];
/// Beyond this, powers of two are infinite or zero in `f32`, but not yet in `f64`.
const LIMIT_2: f64 = 1000.0;
/// The series of the logarithm: `2 / 3`, `2 / 5`, …
const LOG: [f64; 12] = odd_fractions(2.0, 3);
/// Three times the half of it, after the first term.
const LOG_REST: [f64; 11] = odd_fractions(3.0, 5);

/// A number divided by odd integers, from the first one on.
const fn odd_fractions<const N: usize>(numerator: f64, first: u32) -> [f64; N] {
    let mut fractions = [0.0; N];
    let mut n = 0;
    while n < N {
        fractions[n] = numerator / (first + 2 * n as u32) as f64;
        n += 1;
    }
    fractions
}

/// The number with so many of its last bits cleared.
#[inline(always)]
fn cut<L: Lane>(x: L, bits: u32) -> L {
    x.and_bits(u64::MAX << bits)
}

/// `m` and `e` of a positive normal number `m * 2^e`, where `m` is between the square roots of 1/2
/// and 2.
#[inline(always)]
fn split<L: Lane>(x: L) -> [L; 2] {
    let offset = x.subtract_bits(x.splat(f64::from_bits(SQRT_HALF)));
    let m = x.subtract_bits(offset.and_bits(EXPONENT));
    let biased = offset.add_bits(1023 << 52).shift_right(52);
    [m, biased.or_bits(1075 << 52) - ((1u64 << 52) as f64 + 1023.0)]
}

/// `log(m * 2^exponent)`, where `s` is `(m - 1) / (m + 1)`:
/// `log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...)`.
#[inline(always)]
fn log_of<L: Lane>(s: L, exponent: L) -> L {
    let square = s * s;
    let series = polynomial(&LOG, square);
    exponent * LN_2[0] + (exponent * LN_2[1] + (s * 2.0 + s * (square * series)))
}

/// The logarithm of a number that is not subnormal.
#[inline(always)]
pub fn log<L: Lane>(x: L) -> L {
    let [m, exponent] = split(x);
    let log = log_of((m - 1.0) / (m + 1.0), exponent);
    let log = L::select(x.equals(x.splat(f64::INFINITY)), x, log);
    let log = L::select(x.equals(x.splat(0.0)), x.splat(f64::NEG_INFINITY), log);
    L::select(x.at_least(x.splat(0.0)), log, x.splat(f64::NAN))
}

/// `log(1 + x)`.
#[inline(always)]
pub fn log_1p<L: Lane>(x: L) -> L {
    let sum = x + 1.0;
    let [m, exponent] = split(sum);
    // The rounding error of the sum matters where it is near 1.
    let lost = (x - (sum - 1.0)) / sum;
    let is_near = exponent.equals(x.splat(0.0));
    let s = L::select(is_near, x / (x + 2.0), (m - 1.0) / (m + 1.0));
    let log = log_of(s, exponent) + L::select(is_near, x.splat(0.0), lost);
    let log = L::select(x.equals(x.splat(f64::INFINITY)), x, log);
    let log = L::select(x.equals(x.splat(-1.0)), x.splat(f64::NEG_INFINITY), log);
    let log = L::select(x.at_least(x.splat(-1.0)), log, x.splat(f64::NAN));
    // Also the sign of zero.
    L::select(x.equals(x.splat(0.0)), x, log)
}

/// `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt<L: Lane>(x: L) -> L {
    x.splat(1.0) / x.sqrt()
}

/// The binary logarithm of a positive number of `f32`, in two parts, the first of 29 bits: together
/// within 2^-60 of it.
#[inline(always)]
fn log_2<L: Lane>(x: L) -> [L; 2] {
    let [m, exponent] = split(x);
    // log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...), where s = (m - 1) / (m + 1). The first two terms are
    // exact for the 17 bits of `high`, and the others small.
    let (numerator, denominator) = (m - 1.0, m + 1.0);
    let s = numerator / denominator;
    let high = cut(s, 36);
    let low = (numerator - high * denominator) / denominator;
    let square = s * s;
    let series = polynomial(&LOG_REST, square);
    let (first, cube) = (high * 3.0, high * high * high);
    let sum = first + cube;
    let correction = low * 3.0 * ((high * s + low * low * (1.0 / 3.0)) + 1.0);
    let rest = (first - sum) + cube + (correction + square * square * (s * series));
    // The product of the first parts is exact.
    let short = cut(sum, 27);
    let rest = rest + (sum - short);
    let product = short * LOG_SCALE[0];
    let rest = short * LOG_SCALE[1] + rest * (LOG_SCALE[0] + LOG_SCALE[1]);
    let total = exponent + product;
    let zero = x.splat(0.0);
    let lost = L::select(exponent.equals(zero), zero, (exponent - total) + product);
    let short = cut(total, 24);
    [short, rest + lost + (total - short)]
}

/// A positive finite `x` raised to a power of 1/2, 1, 3/2, 2 or 3, or its inverse, with at most two
/// roundings, and a mask for `y`, not negative, that is one of these, which programs have as
/// constants.
#[inline(always)]
fn pow_of_halves<L: Lane>(x: L, y: L, is_inverse: L::Mask) -> (L, L::Mask) {
    let (one, root, square) = (x.splat(1.0), x.sqrt(), x * x);
    let powers = [(0.5, root), (1.5, x * root), (2.0, square), (3.0, square * x)];
    let start = (x, y.equals(one));
    let (power, is_any) = powers.into_iter().fold(start, |(result, is_any), (exponent, power)| {
        let is_this = y.equals(x.splat(exponent));
        (L::select(is_this, power, result), is_any | is_this)
    });
    let is_odd = y.equals(x.splat(1.5));
    let inverse = L::select(is_odd, root, one) / L::select(is_odd, square, power);
    (L::select(is_inverse, inverse, power), is_any)
}

/// `x` raised to the power of `y`, both numbers of `f32`, as IEEE 754's `pow`.
#[inline(always)]
pub fn pow<L: Lane>(x: L, y: L) -> L {
    let (zero, infinity) = (x.splat(0.0), x.splat(f64::INFINITY));
    let magnitude = x.abs();
    let log = log_2(magnitude);
    // Exponents beyond this give zero, one or infinity.
    let exponent = limited(y, (1u64 << 40) as f64);
    // Exact: of 24 and 29 bits.
    let product = exponent * log[0];
    let is_near = product.abs().less(x.splat(LIMIT_2));
    let rest = L::select(is_near, exponent * log[1], zero);
    let product = limited(product, LIMIT_2);
    let shifted = product + SHIFT;
    let fraction = (product - (shifted - SHIFT)) + rest;
    let power = (small_exp_m1(fraction * consts::LN_2) + 1.0) * power_of_2(shifted);
    let is_inverse = y.less(zero);
    let (of_halves, is_halves) = pow_of_halves(magnitude, y.abs(), is_inverse);
    let power = L::select(is_halves, of_halves, power);
    let of_zero = L::select(is_inverse, infinity, zero);
    let of_infinity = L::select(is_inverse, zero, infinity);
    let power = L::select(magnitude.equals(infinity), of_infinity, power);
    let power = L::select(x.equals(zero), of_zero, power);
    // Numbers of `f32` beyond 2^24 are even.
    let is_large = x.splat((1u64 << 24) as f64).less(y.abs());
    let count = L::select(is_large, x.splat(2.0), y.abs());
    let is_integer = ((count + SHIFT) - SHIFT).equals(count);
    let half = count * 0.5;
    let is_even = ((half + SHIFT) - SHIFT).equals(half);
    let power = L::select(is_integer & !is_even, power.copysign(x), power);
    let is_real = is_integer | x.at_least(zero) | x.equals(x.splat(f64::NEG_INFINITY));
    let is_nan = !is_real | x.is_nan() | y.is_nan();
    let power = L::select(is_nan, x.splat(f64::NAN), power);
    L::select(x.equals(x.splat(1.0)) | y.equals(zero), x.splat(1.0), power)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest relative difference from `libm` at many points, in units of 2^-52.
    fn distance(f: fn(f64) -> f64, expected: fn(f64) -> f64, limit: f64) -> f64 {
        let points = (-20_000..=20_000).map(|i| limit * f64::from(i) / 20_000.0);
        let units = |x: f64| ((f(x) - expected(x)) / expected(x)).abs() / f64::EPSILON;
        points.filter(|&x| x != 0.0).map(units).fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_precise() {
        assert!(distance(exp, libm::exp, 120.0) < 1.5);
        assert!(distance(exp, libm::exp, 1.0) < 1.5);
        assert!(distance(exp_m1, libm::expm1, 80.0) < 2.0);
        assert!(distance(exp_m1, libm::expm1, 0.5) < 2.0);
        assert!(distance(|x| log(x * x), |x| libm::log(x * x), 1e6) < 2.0);
        assert!(distance(|x| log(1.0 + x), |x| libm::log(1.0 + x), 0.5) < 2.0);
        assert!(distance(log_1p, libm::log1p, 0.9) < 2.0);
        assert!(distance(log_1p, libm::log1p, 1e-9) < 2.0);
        assert!(distance(tanh, libm::tanh, 20.0) < 2.0);
        assert!(distance(tanh, libm::tanh, 0.6) < 2.0);
        let logistic_of = |x: f64| 1.0 / (1.0 + libm::exp(-x));
        assert!(distance(logistic, logistic_of, 30.0) < 3.0);
    }

    /// IEEE 754's special cases, and a few exact powers.
    #[test]
    fn powers() {
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
        for (x, y, expected) in [
            (nan, 0.0, 1.0),
            (1.0, nan, 1.0),
            (nan, 1.0, nan),
            (2.0, nan, nan),
            (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0),
            (-0.0, 2.0, 0.0),
            (0.0, -3.0, infinity),
            (-0.0, -3.0, -infinity),
            (-0.0, -2.5, infinity),
            (-0.0, 2.5, 0.0),
            (-1.0, infinity, 1.0),
            (-1.0, -infinity, 1.0),
            (0.5, infinity, 0.0),
            (0.5, -infinity, infinity),
            (-2.0, infinity, infinity),
            (-2.0, -infinity, 0.0),
            (-infinity, 3.0, -infinity),
            (-infinity, 2.5, infinity),
            (-infinity, -3.0, -0.0),
            (infinity, -0.5, 0.0),
            (infinity, 0.5, infinity),
            (-8.0, 1.0 / 3.0f32 as f64, nan),
            (-3.0, 3.0, -27.0),
            (-3.0, 4.0, 81.0),
            (2.0, -149.0, 2f64.powi(-149)),
            (-1.0, 16_777_215.0, -1.0),
            (-1.0, 16_777_216.0, 1.0),
            (2.25, -0.5, 2.0 / 3.0),
            (0.0625, 0.25, 0.5),
        ] {
            // Infinite and zero in `f32` only.
            let (found, expected) = (pow(x, y) as f32, expected as f32);
            let is_same = found.to_bits() == expected.to_bits();
            assert!(
                is_same || (found.is_nan() && expected.is_nan()),
                "{x} ^ {y} = {found}, not {expected}"
            );
        }
    }

    #[test]
    fn limits() {
        assert_eq!(
            [exp(f64::NEG_INFINITY) as f32, exp(f64::INFINITY) as f32],
            [0.0, f32::INFINITY]
        );
        assert_eq!([exp(0.0), tanh(0.0), logistic(0.0)], [1.0, 0.0, 0.5]);
        assert!(tanh(-0.0).is_sign_negative());
        assert_eq!([tanh(f64::INFINITY), tanh(f64::NEG_INFINITY)], [1.0, -1.0]);
        assert_eq!(
            [logistic(f64::INFINITY), logistic(f64::NEG_INFINITY) as f32 as f64],
            [1.0, 0.0]
        );
        assert!(exp_m1(-0.0).is_sign_negative() && log_1p(-0.0).is_sign_negative());
        assert_eq!(
            [exp_m1(f64::NEG_INFINITY), exp_m1(f64::INFINITY) as f32 as f64],
            [-1.0, f64::INFINITY]
        );
        assert_eq!([log(0.0), log(-0.0), log_1p(-1.0)], [f64::NEG_INFINITY; 3]);
        assert_eq!([log(f64::INFINITY), log_1p(f64::INFINITY)], [f64::INFINITY; 2]);
        assert!([log(-1.0), log_1p(-2.0), log(f64::NEG_INFINITY)].iter().all(|x| x.is_nan()));
        let functions = [exp, tanh, logistic, exp_m1, log, log_1p, rsqrt];
        assert!(functions.iter().all(|f| f(f64::NAN).is_nan()));
    }
}
