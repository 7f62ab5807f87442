//! Trigonometric functions and their inverses in the style of [`super::lanes`].

use super::lanes::{Lane, polynomial};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};

/// Added to a number, it leaves the nearest integer in the low bits of the sum.
const SHIFT: f64 = 1.5 * (1u64 << 52) as f64;
/// Angles up to this are reduced here, larger ones by `libm`.
const LARGEST_ANGLE: f64 = (1u64 << 20) as f64;
/// A right angle: the nearest number, and the rest.
const RIGHT_ANGLE: [f64; 2] = [FRAC_PI_2, 6.123_233_995_736_766e-17];

/// `(sin(x) / x - 1) / x^2` in powers of `x^2`, for `x` up to half a right angle, and
/// `(cos(x) - 1 + x^2 / 2) / x^4`: interpolated at Chebyshev's points.
const SIN: [f64; 6] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_330_948,
    -0.000_198_412_698_367_583_95,
    2.755_731_610_245_899e-6,
    -2.505_113_182_552_765e-8,
    1.591_812_789_170_600_8e-10,
];
const COS: [f64; 6] = [
    0.041_666_666_666_666_664,
    -0.001_388_888_888_888_739_8,
    2.480_158_729_876_557_4e-5,
    -2.755_731_727_167_133e-7,
    2.087_614_625_621_928_4e-9,
    -1.138_263_154_771_670_8e-11,
];
/// `atan(x) / x - 1` in powers of `x^2`, from the first, for `x` up to [`TAN_PI_8`]: interpolated
/// at Chebyshev's points.
const ATAN: [f64; 12] = [
    -0.333_333_333_333_333_3,
    0.199_999_999_999_998_04,
    -0.142_857_142_856_597_79,
    0.111_111_111_051_505_88,
    -0.090_909_087_532_591_12,
    0.076_922_963_680_422_96,
    -0.066_664_247_602_005_2,
    0.058_789_275_544_738_07,
    -0.052_304_436_406_869_48,
    0.045_515_447_340_221_615,
    -0.034_569_315_063_326_09,
    0.016_284_375_050_043_393,
];
/// The tangent of a quarter of a right angle.
const TAN_PI_8: f64 = SQRT_2 - 1.0;

/// True for angles that [`sin`], [`cos`] and [`tan`] take.
#[inline(always)]
pub fn is_angle<L: Lane>(x: L) -> L::Mask {
    x.splat(LARGEST_ANGLE).at_least(x.abs())
}

/// The sine and the cosine of what is left of an angle without the nearest multiple of a right
/// one, and that multiple in the low bits.
#[inline(always)]
fn sin_cos<L: Lane>(x: L) -> ([L; 2], L) {
    let shifted = x.mul_add(x.splat(FRAC_2_PI), x.splat(SHIFT));
    let turns = shifted - SHIFT;
    let x = RIGHT_ANGLE.iter().fold(x, |x, &part| turns.mul_add(x.splat(-part), x));
    let square = x * x;
    let sin = (x * square).mul_add(polynomial(&SIN, square), x);
    let (one, minus_half) = (x.splat(1.0), x.splat(-0.5));
    let near = square.mul_add(minus_half, one);
    let lost = square.mul_add(minus_half, one - near);
    let cos = near + (square * square).mul_add(polynomial(&COS, square), lost);
    ([sin, cos], shifted)
}

/// True if the last bit is set.
#[inline(always)]
pub(super) fn is_odd<L: Lane>(bits: L) -> L::Mask {
    // As the sign of a normal number: subnormal ones may count as zeros.
    bits.shift_left(63).or_bits(1f64.to_bits()).less(bits.splat(0.0))
}

/// The number, negated if the last bit but one is set.
#[inline(always)]
pub(super) fn negated_if<L: Lane>(x: L, bits: L) -> L {
    // The difference has another sign, and is the same else.
    x.subtract_bits(bits.shift_right(1).shift_left(63))
}

/// The sine of an angle up to 2^20.
#[inline(always)]
pub fn sin<L: Lane>(x: L) -> L {
    let ([sin, cos], turns) = sin_cos(x);
    let result = negated_if(L::select(is_odd(turns), cos, sin), turns);
    // Also the sign of zero.
    L::select(x.equals(x.splat(0.0)), x, result)
}

/// The cosine of an angle up to 2^20.
#[inline(always)]
pub fn cos<L: Lane>(x: L) -> L {
    let ([sin, cos], turns) = sin_cos(x);
    // A turn ahead of the sine.
    negated_if(L::select(is_odd(turns), sin, cos), turns.add_bits(1))
}

/// The tangent of an angle up to 2^20.
#[inline(always)]
pub fn tan<L: Lane>(x: L) -> L {
    let ([sin, cos], turns) = sin_cos(x);
    let is_odd = is_odd(turns);
    let result = L::select(is_odd, -cos, sin) / L::select(is_odd, sin, cos);
    // Also the sign of zero.
    L::select(x.equals(x.splat(0.0)), x, result)
}

/// The angle of the point with ordinate `y` and abscissa `x`, as IEEE 754's `atan2`. The numbers
/// are of `f32`, or one is a square root.
#[inline(always)]
pub fn atan2<L: Lane>(y: L, x: L) -> L {
    let number = |number: f64| x.splat(number);
    let (height, width, infinity) = (y.abs(), x.abs(), number(f64::INFINITY));
    let are_infinite = height.equals(infinity) & width.equals(infinity);
    let height = L::select(are_infinite, number(1.0), height);
    let width = L::select(are_infinite, number(1.0), width);
    // Less 0, a half or a whole right angle, whichever leaves least.
    let is_middle = (width * TAN_PI_8).less(height);
    let is_steep = width.less(height * TAN_PI_8);
    let numerator = L::select(is_middle, height - width, height);
    let denominator = L::select(is_middle, height + width, width);
    let less = L::select(is_middle, number(FRAC_PI_4), number(0.0));
    let low = L::select(is_middle, number(0.5 * RIGHT_ANGLE[1]), number(0.0));
    let numerator = L::select(is_steep, -width, numerator);
    let denominator = L::select(is_steep, height, denominator);
    let less = L::select(is_steep, number(FRAC_PI_2), less);
    let low = L::select(is_steep, number(RIGHT_ANGLE[1]), low);
    let tangent = L::select(y.equals(number(0.0)), number(0.0), numerator / denominator);
    // Two right angles less the angle if the point is to the left.
    let is_left = number(1.0).copysign(x).less(number(0.0));
    let tangent = L::select(is_left, -tangent, tangent);
    let less = L::select(is_left, number(PI) - less, less);
    let low = L::select(is_left, number(2.0 * RIGHT_ANGLE[1]) - low, low);
    let square = tangent * tangent;
    let rest = (tangent * square).mul_add(polynomial(&ATAN, square), low);
    let angle = less + (tangent + rest);
    let angle = angle.copysign(y);
    L::select(x.is_nan() | y.is_nan(), number(f64::NAN), angle)
}

/// The inverse tangent.
#[inline(always)]
pub fn atan<L: Lane>(x: L) -> L {
    atan2(x, x.splat(1.0))
}

/// The inverse sine; NaN beyond 1.
#[inline(always)]
pub fn asin<L: Lane>(x: L) -> L {
    // The square is exact.
    atan2(x, (x.splat(1.0) - x * x).sqrt())
}

/// The inverse cosine; NaN beyond 1.
#[inline(always)]
pub fn acos<L: Lane>(x: L) -> L {
    atan2((x.splat(1.0) - x * x).sqrt(), x)
}
