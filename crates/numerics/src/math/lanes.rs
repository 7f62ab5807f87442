//! Functions without branches and tables, whose loops become vector instructions.
//!
//! They are computed in `f64`, for results that are rounded to `f32` or a narrower type: errors are
//! about one unit in the last place of `f64`. Only additions, multiplications, both with one
//! rounding, divisions and square roots are used, so that results have the same bits with every
//! instruction set. They are generic over [`Lane`]: numbers, or the code of a generator of machine
//! code.

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
    /// The product with `factor` plus `term`, with one rounding.
    fn mul_add(self, factor: Self, term: Self) -> Self;
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
    fn mul_add(self, factor: f64, term: f64) -> f64 {
        f64::mul_add(self, factor, term)
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
pub(super) const SHIFT: f64 = 1.5 * (1u64 << 52) as f64;
/// `log(2)`: the nearest number, and the rest.
pub(super) const LN_2: [f64; 2] = [consts::LN_2, 2.319_046_813_846_299_6e-17];
/// Beyond this, the exponential is infinite or zero in `f32`, but not yet in `f64`.
const LIMIT: f64 = 700.0;

/// The polynomial with these coefficients, the constant one first, of a finite number: by four
/// polynomials in its fourth power, so that no addition waits for many others.
#[inline(always)]
pub fn polynomial<L: Lane, const N: usize>(coefficients: &[f64; N], x: L) -> L {
    polynomial_of(coefficients, x, x * x)
}

/// [`polynomial`] of a number whose square is known.
#[inline(always)]
fn polynomial_of<L: Lane, const N: usize>(coefficients: &[f64; N], x: L, square: L) -> L {
    let fourth = square * square;
    let part = |first: usize| {
        let count = N.saturating_sub(first).div_ceil(4);
        let mut n = count.saturating_sub(1);
        let mut sum = x.splat(if count > 0 { coefficients[first + 4 * n] } else { 0.0 });
        while n > 0 {
            n -= 1;
            sum = sum.mul_add(fourth, x.splat(coefficients[first + 4 * n]));
        }
        sum
    };
    let (low, high) = (part(1).mul_add(x, part(0)), part(3).mul_add(x, part(2)));
    high.mul_add(square, low)
}

/// The bits of a positive number subtracted from these are those of `-1 / x`, within 5.1%.
const NEGATIVE_INVERSE: u64 = 0xFFDE_6240_0000_0000;
/// Half the bits of a positive number subtracted from these are those of `1 / sqrt(x)`, within 3.5%.
const INVERSE_ROOT: u64 = 0x5FE6_EC80_0000_0000;

/// `-1 / x` of a positive number, within 2^-34 of it.
#[inline(always)]
fn near_negative_inverse<L: Lane>(x: L) -> L {
    let start = x.splat(f64::from_bits(NEGATIVE_INVERSE)).subtract_bits(x);
    // 1 / (1 - e) = (1 + e) (1 + e^2) (1 + e^4) ...
    let error = x.mul_add(start, x.splat(1.0));
    let square = error * error;
    let result = start.mul_add(error, start);
    let result = result.mul_add(square, result);
    result.mul_add(square * square, result)
}

/// `-numerator / denominator` within a unit in the last place, where the denominator is positive
/// and it and its inverse are normal. In vectors, this takes less time than a division.
#[inline(always)]
fn negative_quotient<L: Lane>(numerator: L, denominator: L) -> L {
    let inverse = near_negative_inverse(denominator);
    let near = numerator * inverse;
    denominator.mul_add(near, numerator).mul_add(inverse, near)
}

/// `1 / sqrt(x)` of a positive normal number, within a unit in the last place.
#[inline(always)]
fn inverse_root<L: Lane>(x: L) -> L {
    let start = x.splat(f64::from_bits(INVERSE_ROOT)).subtract_bits(x.shift_right(1));
    (0..2).fold(start, |root, _| {
        // 1 / sqrt(1 + e) = 1 - e / 2 + 3 e^2 / 8 - 5 e^3 / 16 + ...
        let error = (root * root).mul_add(x, x.splat(-1.0));
        let series = error.mul_add(x.splat(-0.3125), x.splat(0.375));
        let series = error.mul_add(series, x.splat(-0.5));
        (root * error).mul_add(series, root)
    })
}

/// The absolute value of a complex number with parts of `f32`, whose squares are exact: that of
/// [`UnaryOp::Abs`](super::UnaryOp::Abs), but for the payloads of NaNs.
#[inline(always)]
pub fn absolute<L: Lane>(re: L, im: L) -> L {
    squared(re, im).sqrt()
}

/// The square of [`absolute`].
#[inline(always)]
pub fn squared<L: Lane>(re: L, im: L) -> L {
    let infinity = re.splat(f64::INFINITY);
    let is_infinite = re.abs().equals(infinity) | im.abs().equals(infinity);
    L::select(is_infinite, infinity, re * re + im * im)
}

/// The least square of an absolute value in `f32` that is at least `bound`, or greater if
/// `is_strict`; `None` if there is none.
pub fn least_square(bound: f32, is_strict: bool) -> Option<f64> {
    let is_beyond = |square: f64| {
        let root = square.sqrt() as f32;
        if is_strict { root > bound } else { root >= bound }
    };
    let (mut low, mut high) = (0f64.to_bits(), f64::INFINITY.to_bits());
    if !is_beyond(f64::INFINITY) {
        return None;
    }
    // The roots of numbers in order, as are the bits of positive ones, are in order.
    while low < high {
        let middle = low.midpoint(high);
        if is_beyond(f64::from_bits(middle)) { high = middle } else { low = middle + 1 }
    }
    Some(f64::from_bits(low))
}

/// `(exp(x) - 1 - x) / x^2` in powers of `x`, for `x` up to `log(2) / 2` in absolute value:
/// interpolated at Chebyshev's points.
const EXP: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_164,
    0.008_333_333_333_330_065,
    0.001_388_888_891_719_689,
    0.000_198_412_698_630_406_75,
    2.480_152_132_210_459e-5,
    2.755_726_848_010_692_6e-6,
    2.762_007_600_563_138e-7,
    2.510_037_592_918_592_5e-8,
];

/// The exponential function; numbers beyond a limit give that of the limit.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    let [rest, power] = powers(x);
    small_exp_m1(rest).mul_add(power, power)
}

/// The exponential function minus 1.
#[inline(always)]
pub fn exp_m1<L: Lane>(x: L) -> L {
    // Also the sign of zero.
    L::select(x.equals(x.splat(0.0)), x, exp_m1_without_sign(x))
}

/// The exponential function minus 1, but that both zeros give 0.
#[inline(always)]
fn exp_m1_without_sign<L: Lane>(x: L) -> L {
    let [rest, power] = powers(x);
    small_exp_m1(rest).mul_add(power, power - 1.0)
}

/// Of at most `log(2) / 2` in absolute value, the logarithm of a number by which a power of two is
/// multiplied in `exp(x)`, and that power.
#[inline(always)]
fn powers<L: Lane>(x: L) -> [L; 2] {
    let x = limited(x, LIMIT);
    // With the bias of exponents, so that the low bits are those of the power. (No product is in
    // the middle between two integers, where an odd number would change the rounding.)
    const BIASED: f64 = SHIFT + 1023.0;
    let shifted = x.mul_add(x.splat(LOG2_E), x.splat(BIASED));
    let count = shifted - BIASED;
    let rest = LN_2.iter().fold(x, |rest, &part| count.mul_add(x.splat(-part), rest));
    [rest, shifted.shift_left(52)]
}

/// The power of two whose exponent has been added to [`SHIFT`].
#[inline(always)]
pub(super) fn power_of_2<L: Lane>(shifted: L) -> L {
    shifted.add_bits(1023).shift_left(52)
}

/// The exponential function minus 1 of a number of at most `log(2) / 2` in absolute value.
#[inline(always)]
fn small_exp_m1<L: Lane>(rest: L) -> L {
    let square = rest * rest;
    square.mul_add(polynomial_of(&EXP, rest, square), rest)
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn logistic<L: Lane>(x: L) -> L {
    // Of the sign that keeps its precision where the result is small.
    let power = exp(-x.abs());
    let numerator = L::select(x.less(x.splat(0.0)), power, x.splat(1.0));
    -negative_quotient(numerator, power + 1.0)
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    // Not the exponential itself, which is near 1 where the result is small.
    let power = exp_m1_without_sign(x.abs() * -2.0);
    negative_quotient(power, power + 2.0).copysign(x)
}

/// The bits of the square root of 1/2.
const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
/// The bits of the exponent.
const EXPONENT: u64 = 0xFFF0_0000_0000_0000;
/// `2 / log(2)`: the nearest number, and the rest.
const LOG_SCALE: [f64; 2] = [2.885_390_081_777_926_8, 4.071_054_748_186_206_6e-17];
/// Beyond this, powers of two are infinite or zero in `f32`, but not yet in `f64`.
const LIMIT_2: f64 = 1000.0;
/// `(2 atanh(s) - 2 s) / s^3` in powers of `s^2`, for `s` up to `(sqrt(2) - 1) / (sqrt(2) + 1)`:
/// interpolated at Chebyshev's points.
const LOG: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_995_05,
    0.285_714_286_259_757_64,
    0.222_222_111_347_497_34,
    0.181_828_891_285_655_08,
    0.153_317_214_907_386_42,
    0.146_164_510_424_341_67,
];
/// The same divided by `log(2)`, more precisely.
const LOG_2: [f64; 8] = [
    0.961_796_693_925_975_6,
    0.577_078_016_355_598,
    0.412_198_583_102_116_1,
    0.320_598_900_420_586,
    0.262_307_864_043_429_15,
    0.221_976_517_244_355_6,
    0.191_427_930_114_994_2,
    0.188_800_126_776_543_87,
];

/// `m` and `e` of a positive normal number `m * 2^e`, where `m` is between the square roots of 1/2
/// and 2.
#[inline(always)]
pub(super) fn split<L: Lane>(x: L) -> [L; 2] {
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
    let log = s.mul_add(square * series, s * 2.0);
    [LN_2[1], LN_2[0]].iter().fold(log, |sum, &part| exponent.mul_add(s.splat(part), sum))
}

/// The logarithm of a number that is not subnormal.
#[inline(always)]
pub fn log<L: Lane>(x: L) -> L {
    let [m, exponent] = split(x);
    let log = log_of(negative_quotient(x.splat(1.0) - m, m + 1.0), exponent);
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
    let negative_lost = (x - (sum - 1.0)) * near_negative_inverse(sum);
    let is_near = exponent.equals(x.splat(0.0));
    let numerator = L::select(is_near, -x, x.splat(1.0) - m);
    let s = negative_quotient(numerator, L::select(is_near, x + 2.0, m + 1.0));
    let log = log_of(s, exponent) - L::select(is_near, x.splat(0.0), negative_lost);
    let log = L::select(x.equals(x.splat(f64::INFINITY)), x, log);
    let log = L::select(x.equals(x.splat(-1.0)), x.splat(f64::NEG_INFINITY), log);
    let log = L::select(x.at_least(x.splat(-1.0)), log, x.splat(f64::NAN));
    // Also the sign of zero.
    L::select(x.equals(x.splat(0.0)), x, log)
}

/// `1 / sqrt(x)` of a number that is not subnormal.
#[inline(always)]
pub fn rsqrt<L: Lane>(x: L) -> L {
    let (zero, infinity) = (x.splat(0.0), x.splat(f64::INFINITY));
    let root = L::select(x.equals(zero), infinity.copysign(x), inverse_root(x));
    let root = L::select(x.equals(infinity), zero, root);
    L::select(x.less(zero), x.splat(f64::NAN), root)
}

/// The binary logarithm of a positive number of `f32` and the rounding error of that: together
/// within 2^-57 of it.
#[inline(always)]
fn log_2<L: Lane>(x: L) -> [L; 2] {
    let [m, exponent] = split(x);
    // log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...), where s = (m - 1) / (m + 1), and `low` its error.
    let (numerator, denominator) = (m - 1.0, m + 1.0);
    let inverse = x.splat(1.0) / denominator;
    let s = numerator * inverse;
    let low = (-s).mul_add(denominator, numerator) * inverse;
    let square = s * s;
    let [scale, scale_low] = LOG_SCALE.map(|part| x.splat(part));
    let product = s * scale;
    let rest = low.mul_add(scale, s.mul_add(scale, -product));
    let rest = (s * square).mul_add(polynomial(&LOG_2, square), s.mul_add(scale_low, rest));
    let total = exponent + product;
    let rest = rest + ((exponent - total) + product);
    // The terms from the second on are up to 1% of the first.
    let log = total + rest;
    [log, rest + (total - log)]
}

/// A positive finite `x` raised to a power of 1/2, 1, 3/2, 2 or 3, or its inverse, and a mask for
/// `y`, not negative, that is one of these, which programs have as constants.
#[inline(always)]
fn pow_of_halves<L: Lane>(x: L, y: L, is_inverse: L::Mask) -> (L, L::Mask) {
    let (square, root) = (x * x, x.sqrt());
    let (inverse, inverse_root) = (x.splat(1.0) / x, inverse_root(x));
    let inverse_square = inverse * inverse;
    let either = |inverse, power| L::select(is_inverse, inverse, power);
    let powers = [
        (0.5, either(inverse_root, root)),
        (1.5, either(inverse_root * inverse_root * inverse_root, x * root)),
        (2.0, either(inverse_square, square)),
        (3.0, either(inverse_square * inverse, square * x)),
    ];
    let start = (either(inverse, x), y.equals(x.splat(1.0)));
    powers.into_iter().fold(start, |(result, is_any), (exponent, power)| {
        let is_this = y.equals(x.splat(exponent));
        (L::select(is_this, power, result), is_any | is_this)
    })
}

/// `x` raised to the power of `y`, both numbers of `f32`, as IEEE 754's `pow`.
#[inline(always)]
pub fn pow<L: Lane>(x: L, y: L) -> L {
    let (zero, infinity) = (x.splat(0.0), x.splat(f64::INFINITY));
    let magnitude = x.abs();
    let log = log_2(magnitude);
    // Exponents beyond this give zero, one or infinity.
    let exponent = limited(y, (1u64 << 40) as f64);
    let product = exponent * log[0];
    let rest = exponent.mul_add(log[1], exponent.mul_add(log[0], -product));
    let is_near = product.abs().less(x.splat(LIMIT_2));
    let rest = L::select(is_near, rest, zero);
    let product = limited(product, LIMIT_2);
    let shifted = product + SHIFT;
    let fraction = (product - (shifted - SHIFT)) + rest;
    let power = power_of_2(shifted);
    let power = small_exp_m1(fraction * consts::LN_2).mul_add(power, power);
    let is_inverse = y.less(zero);
    let (of_halves, is_halves) = pow_of_halves(magnitude, y.abs(), is_inverse);
    let power = L::select(is_halves, of_halves, power);
    let of_zero = L::select(is_inverse, infinity, zero);
    let of_infinity = L::select(is_inverse, zero, infinity);
    let is_infinite = magnitude.equals(infinity);
    let power = L::select(is_infinite, of_infinity, power);
    let power = L::select(x.equals(zero), of_zero, power);
    // Numbers of `f32` beyond 2^24 are even.
    let is_large = x.splat((1u64 << 24) as f64).less(y.abs());
    let count = L::select(is_large, x.splat(2.0), y.abs());
    let is_integer = ((count + SHIFT) - SHIFT).equals(count);
    let half = count * 0.5;
    let is_even = ((half + SHIFT) - SHIFT).equals(half);
    let power = L::select(is_integer & !is_even, power.copysign(x), power);
    let is_real = x.at_least(zero) | is_infinite | (is_integer & x.equals(x));
    let power = L::select(is_real & !y.is_nan(), power, x.splat(f64::NAN));
    L::select((x.equals(x.splat(1.0)) & y.is_nan()) | y.equals(zero), x.splat(1.0), power)
}

/// A polynomial near the cube root of numbers between 1/3 and 3.
const CBRT: [f64; 4] = [0.482_001, 0.729_028, -0.244_905, 0.036_976_1];

/// A positive number as `m * 8^third`, with `m` between 1/3 and 3, and the cube root of `m` but for
/// a few of its last bits.
#[inline(always)]
pub(super) fn near_cbrt(size: f64) -> [f64; 3] {
    let [m, exponent] = split(size);
    let third = (exponent * (1.0 / 3.0) + SHIFT) - SHIFT;
    let m = m * power_of_2(3f64.mul_add(-third, exponent) + SHIFT);
    // Halley's steps.
    let mut root = polynomial(&CBRT, m);
    for _ in 0..2 {
        let cube = root * root * root;
        root *= (cube + 2.0 * m) / (2.0 * cube + m);
    }
    [m, root, third]
}

/// The cube root of a number of `f32`.
#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    let size = x.abs();
    let [m, root, third] = near_cbrt(size);
    let square = root * root;
    let step = square.mul_add(-root, m) / (3.0 * square);
    let result = (root + step) * power_of_2(third + SHIFT);
    let is_positive = 0.0 < size && size < f64::INFINITY;
    if is_positive { result.copysign(x) } else { x }
}
