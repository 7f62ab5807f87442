//! Functions without branches and tables, whose loops compilers turn into vector instructions.
//!
//! They are computed in `f64`, for results that are rounded to `f32` or a narrower type: errors are
//! about one unit in the last place of `f64`. Only additions, multiplications and divisions are
//! used, so that results have the same bits with every instruction set.

use std::f64::consts::{self, LOG2_E};

/// Added to a number, it leaves the nearest integer in the low bits of the sum.
const SHIFT: f64 = 1.5 * (1u64 << 52) as f64;
/// `log(2)` in two parts, the first of few enough bits that small multiples are exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Beyond this, the exponential is infinite or zero in `f32`, but not yet in `f64`.
const LIMIT: f64 = 700.0;

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

/// The exponential function; numbers beyond [`LIMIT`] give that of the limit.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = if x > LIMIT { LIMIT } else { x };
    let x = if x < -LIMIT { -LIMIT } else { x };
    let shifted = x * LOG2_E + SHIFT;
    (1.0 + small_exp_m1(rest(x, shifted - SHIFT))) * power_of_2(shifted)
}

/// The exponential function minus 1.
#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    let x_in = if x > LIMIT { LIMIT } else { x };
    let x_in = if x_in < -LIMIT { -LIMIT } else { x_in };
    let shifted = x_in * LOG2_E + SHIFT;
    let power = power_of_2(shifted);
    let result = power * small_exp_m1(rest(x_in, shifted - SHIFT)) + (power - 1.0);
    // Also the sign of zero.
    if x == 0.0 { x } else { result }
}

/// `x - count * log(2)`.
#[inline(always)]
fn rest(x: f64, count: f64) -> f64 {
    (x - count * LN_2[0]) - count * LN_2[1]
}

/// The power of two whose exponent has been added to [`SHIFT`].
#[inline(always)]
fn power_of_2(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// The exponential function minus 1 of a number of at most `log(2) / 2` in absolute value.
#[inline(always)]
fn small_exp_m1(rest: f64) -> f64 {
    // Taylor's series, by halves.
    let c = &INVERSE_FACTORIALS;
    let square = rest * rest;
    let fourth = square * square;
    let pair = |n: usize| c[n] + c[n + 1] * rest;
    let low = pair(2) + pair(4) * square;
    let middle = pair(6) + pair(8) * square;
    let high = pair(10) + pair(12) * square;
    let tail = low + (middle + high * fourth) * fourth;
    rest + square * tail
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn logistic(x: f64) -> f64 {
    // Of the sign that keeps its precision where the result is small.
    let power = exp(-x.abs());
    let numerator = if x < 0.0 { power } else { 1.0 };
    numerator / (1.0 + power)
}

/// Coefficients of Taylor's series of `tanh(x) / x - 1` in powers of `x * x`, from the first.
const TANH: [f64; 13] = [
    -1.0 / 3.0,
    2.0 / 15.0,
    -0.053_968_253_968_253_97,
    0.021_869_488_536_155_203,
    -0.008_863_235_529_902_197,
    0.003_592_128_036_572_481,
    -0.001_455_834_387_051_318_3,
    0.000_590_027_440_945_586,
    -0.000_239_129_114_243_552_48,
    9.691_537_956_929_451e-5,
    -3.927_832_388_331_683e-5,
    1.591_890_506_932_896_4e-5,
    -6.451_689_215_655_431e-6,
];
/// Below this, the series has enough terms; above, the formula has enough digits.
const SMALL_TANH: f64 = 0.3;

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let square = x * x;
    let mut series = TANH[12];
    let mut n = 12;
    while n > 0 {
        n -= 1;
        series = series * square + TANH[n];
    }
    let small = x + x * square * series;
    let power = exp(-2.0 * x.abs());
    let large = (1.0 - power) / (1.0 + power);
    // Also the sign of zero.
    (if x.abs() < SMALL_TANH { small } else { large }).copysign(x)
}

/// The bits of the square root of 1/2.
const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
/// The bits of the exponent.
const EXPONENT: u64 = 0xFFF0_0000_0000_0000;
/// `2 / (3 log(2))` in two parts, the first of 26 bits.
const LOG_SCALE: [f64; 2] = [0.961_796_686_053_276_1, 7.872_699_542_894_897e-9];
/// Beyond this, powers of two are infinite or zero in `f32`, but not yet in `f64`.
const LIMIT_2: f64 = 1000.0;
/// Terms of the series of the logarithm after the first two.
const LOG_TERMS: u32 = 11;

/// The number with so many of its last bits cleared.
#[inline(always)]
fn cut(x: f64, bits: u32) -> f64 {
    f64::from_bits(x.to_bits() & u64::MAX << bits)
}

/// `m` and `e` of a positive normal number `m * 2^e`, where `m` is between the square roots of 1/2
/// and 2.
#[inline(always)]
fn split(x: f64) -> [f64; 2] {
    let offset = x.to_bits().wrapping_sub(SQRT_HALF);
    let m = f64::from_bits(x.to_bits().wrapping_sub(offset & EXPONENT));
    let biased = offset.wrapping_add(1023 << 52) >> 52;
    [m, f64::from_bits(biased | (1075 << 52)) - ((1u64 << 52) as f64 + 1023.0)]
}

/// `log(m * 2^exponent)`, where `s` is `(m - 1) / (m + 1)`:
/// `log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...)`.
#[inline(always)]
fn log_of(s: f64, exponent: f64) -> f64 {
    let square = s * s;
    let mut series = 0.0;
    let mut n = LOG_TERMS + 1;
    while n > 0 {
        n -= 1;
        series = series * square + 2.0 / f64::from(2 * n + 3);
    }
    exponent * LN_2[0] + (exponent * LN_2[1] + (2.0 * s + s * (square * series)))
}

/// The logarithm of a number that is not subnormal.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    let [m, exponent] = split(x);
    let log = log_of((m - 1.0) / (m + 1.0), exponent);
    let log = if x == f64::INFINITY { x } else { log };
    let log = if x == 0.0 { f64::NEG_INFINITY } else { log };
    if x >= 0.0 { log } else { f64::NAN }
}

/// `log(1 + x)`.
#[inline(always)]
pub fn log_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    let [m, exponent] = split(sum);
    // The rounding error of the sum matters where it is near 1.
    let lost = (x - (sum - 1.0)) / sum;
    let is_near = exponent == 0.0;
    let s = if is_near { x / (2.0 + x) } else { (m - 1.0) / (m + 1.0) };
    let log = log_of(s, exponent) + if is_near { 0.0 } else { lost };
    let log = if x == f64::INFINITY { x } else { log };
    let log = if x == -1.0 { f64::NEG_INFINITY } else { log };
    let log = if x >= -1.0 { log } else { f64::NAN };
    // Also the sign of zero.
    if x == 0.0 { x } else { log }
}

/// `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// The binary logarithm of a positive number of `f32`, in two parts, the first of 29 bits: together
/// within 2^-60 of it.
#[inline(always)]
fn log_2(x: f64) -> [f64; 2] {
    let [m, exponent] = split(x);
    // log(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...), where s = (m - 1) / (m + 1). The first two terms are
    // exact for the 17 bits of `high`, and the others small.
    let (numerator, denominator) = (m - 1.0, m + 1.0);
    let s = numerator / denominator;
    let high = cut(s, 36);
    let low = (numerator - high * denominator) / denominator;
    let square = s * s;
    let mut series = 0.0;
    let mut n = LOG_TERMS;
    while n > 0 {
        n -= 1;
        series = series * square + 3.0 / f64::from(2 * n + 5);
    }
    let (first, cube) = (3.0 * high, high * high * high);
    let sum = first + cube;
    let correction = 3.0 * low * (1.0 + (high * s + low * low * (1.0 / 3.0)));
    let rest = (first - sum) + cube + (correction + square * square * (s * series));
    // The product of the first parts is exact.
    let short = cut(sum, 27);
    let rest = rest + (sum - short);
    let product = short * LOG_SCALE[0];
    let rest = short * LOG_SCALE[1] + rest * (LOG_SCALE[0] + LOG_SCALE[1]);
    let total = exponent + product;
    let lost = if exponent == 0.0 { 0.0 } else { (exponent - total) + product };
    let short = cut(total, 24);
    [short, rest + lost + (total - short)]
}

/// `x` raised to the power of `y`, both numbers of `f32`, as IEEE 754's `pow`.
#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    let magnitude = x.abs();
    let log = log_2(magnitude);
    // Exponents beyond this give zero, one or infinity.
    let large = (1u64 << 40) as f64;
    let exponent = if y > large { large } else { y };
    let exponent = if exponent < -large { -large } else { exponent };
    // Exact: of 24 and 29 bits.
    let product = exponent * log[0];
    let rest = if product.abs() < LIMIT_2 { exponent * log[1] } else { 0.0 };
    let product = if product > LIMIT_2 { LIMIT_2 } else { product };
    let product = if product < -LIMIT_2 { -LIMIT_2 } else { product };
    let shifted = product + SHIFT;
    let fraction = (product - (shifted - SHIFT)) + rest;
    let power = (1.0 + small_exp_m1(fraction * consts::LN_2)) * power_of_2(shifted);
    let [of_zero, of_infinity] = if y < 0.0 { [f64::INFINITY, 0.0] } else { [0.0, f64::INFINITY] };
    let power = if magnitude == f64::INFINITY { of_infinity } else { power };
    let power = if x == 0.0 { of_zero } else { power };
    // Numbers of `f32` beyond 2^24 are even.
    let count = if y.abs() > (1u64 << 24) as f64 { 2.0 } else { y.abs() };
    let is_integer = (count + SHIFT) - SHIFT == count;
    let is_even = (0.5 * count + SHIFT) - SHIFT == 0.5 * count;
    let power = if is_integer & !is_even { power.copysign(x) } else { power };
    let is_real = is_integer | (x >= 0.0) | (x == f64::NEG_INFINITY);
    let is_nan = !is_real | x.is_nan() | y.is_nan();
    let power = if is_nan { f64::NAN } else { power };
    if (x == 1.0) | (y == 0.0) { 1.0 } else { power }
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
