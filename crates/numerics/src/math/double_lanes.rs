//! Functions of `f64` without branches, whose loops become vector instructions, with results
//! precise enough to be rounded correctly in nearly all cases.
//!
//! The relative error of a result is at most [`Rounded::ERROR`] where its higher part is not NaN.
//! [`nearest`] rounds it, or says that the error leaves two numbers to choose from: one of 340
//! times, or fewer. `rounded.rs` decides then, and for operands outside of the range that is computed
//! here. (A. Ziv, *Fast evaluation of elementary mathematical functions with correctly rounded last
//! bit*, 1991.)
//!
//! Products use fused multiply-adds: this code is for machines that have them.

use super::double::{Double, two_sum};
use super::elementary::{POWERS, STEP, STEPS, small_exp_m1};
use super::lanes::{LN_2, SHIFT, near_cbrt, polynomial, power_of_2, split};
use super::lanes_trigonometric::{self, is_odd};
use super::{double_lanes_outside as outside, rounded};
use std::f64::consts::{FRAC_2_PI, LOG2_E};

/// A function of `N` numbers that is rounded correctly. A trait and not closures, which the
/// compiler does not always inline.
pub trait Rounded<const N: usize>: Copy + Send + Sync + 'static {
    /// A bound on the relative error of [`Rounded::near`].
    const ERROR: f64;

    /// The result, with that error at most if its higher part is not NaN.
    fn near(numbers: [f64; N]) -> Double;
    /// True if there may be results by [`Rounded::rescaled`].
    const RESCALES: bool;

    /// The result rounded where it is known at once, and [`Rounded::near`] has none.
    fn outside(numbers: [f64; N]) -> Option<f64>;
    /// The result rounded where it is that of a scaled number, likewise.
    fn rescaled(numbers: [f64; N]) -> Option<f64>;
    /// The result rounded, for all numbers.
    fn exact(numbers: [f64; N]) -> f64;
}

/// Functions with these errors, which a module has rounded for all numbers.
macro_rules! rounded_functions {
    ($exact:ident:
        $($name:ident $function:ident($($x:ident)*) $error:expr $(, $rescaled:ident)?;)*
    ) => {$(
        #[doc = concat!("`", stringify!($function), "`.")]
        #[derive(Clone, Copy)]
        pub struct $name;

        impl Rounded<{ [$(stringify!($x)),*].len() }> for $name {
            const ERROR: f64 = $error;
            const RESCALES: bool = !concat!($(stringify!($rescaled))?).is_empty();

            #[inline(always)]
            fn near([$($x),*]: [f64; [$(stringify!($x)),*].len()]) -> Double {
                $function($($x),*)
            }

            #[inline(always)]
            fn outside([$($x),*]: [f64; [$(stringify!($x)),*].len()]) -> Option<f64> {
                outside::$function($($x),*)
            }

            #[inline(always)]
            #[allow(unused_variables, reason = "most functions have none")]
            fn rescaled(numbers: [f64; [$(stringify!($x)),*].len()]) -> Option<f64> {
                None $(.or(outside::$rescaled::$function(numbers)))?
            }

            fn exact([$($x),*]: [f64; [$(stringify!($x)),*].len()]) -> f64 {
                $exact::$function($($x),*)
            }
        }
    )*};
}
pub(super) use rounded_functions;

rounded_functions! {
    rounded:
    Acos acos(x) ERROR;
    Acosh acosh(x) part(65);
    Asin asin(x) ERROR;
    Asinh asinh(x) part(65);
    Atan atan(x) part(64);
    Atan2 atan2(y x) part(64), rescaled;
    Atanh atanh(x) part(65);
    Cbrt cbrt(x) ERROR, rescaled;
    Cos cos(x) part(64);
    Cosh cosh(x) part(65);
    Exp exp(x) part(66);
    ExpM1 exp_m1(x) part(65);
    Log log(x) part(66), rescaled;
    Log1p log_1p(x) part(66);
    Logistic logistic(x) part(65);
    Pow pow(x y) part(64), rescaled;
    Rsqrt rsqrt(x) ERROR, rescaled;
    Sin sin(x) part(64);
    Sinh sinh(x) part(64);
    Tan tan(x) ERROR;
    Tanh tanh(x) part(64);
}

/// A bound on the relative error of most results.
pub const ERROR: f64 = 1.5 * part(63);
/// Numbers from here to the inverse have products, and rests of products, that are normal.
pub(super) const LEAST: f64 = part(440);

/// `2^-n`.
pub(super) const fn part(n: u64) -> f64 {
    f64::from_bits((1023 - n) << 52)
}

/// The number of `f64` nearest to a result with this relative error; NaN if that is unknown.
#[inline(always)]
pub fn nearest(x: Double, error: f64) -> f64 {
    let above = x.hi + x.hi.mul_add(error, x.lo);
    let below = x.hi + x.hi.mul_add(-error, x.lo);
    if above == below { above } else { f64::NAN }
}

/// `x` if the condition holds, else NaN.
#[inline(always)]
pub(super) fn only_if(condition: bool, x: Double) -> Double {
    Double::new(if condition { x.hi } else { f64::NAN }, x.lo)
}

/// `a + b` as a double, where `a` is zero or has the larger exponent.
#[inline(always)]
pub(super) fn quick_sum(a: f64, b: f64) -> Double {
    let hi = a + b;
    Double::new(hi, b - (hi - a))
}

/// `a * b` as a double.
#[inline(always)]
pub(super) fn product(a: f64, b: f64) -> Double {
    let hi = a * b;
    Double::new(hi, a.mul_add(b, -hi))
}

/// `a + b`, where `a` is zero or has the larger exponent.
#[inline(always)]
pub(super) fn plus(a: Double, b: Double) -> Double {
    let sum = quick_sum(a.hi, b.hi);
    quick_sum(sum.hi, sum.lo + (a.lo + b.lo))
}

/// `a * b`.
#[inline(always)]
pub(super) fn times(a: Double, b: Double) -> Double {
    let high = product(a.hi, b.hi);
    quick_sum(high.hi, a.hi.mul_add(b.lo, a.lo.mul_add(b.hi, high.lo)))
}

/// `a / b`, where the inverse of `b` is normal: a product with it takes less time than to divide
/// again.
#[inline(always)]
pub(super) fn over(a: Double, b: Double) -> Double {
    let inverse = 1.0 / b.hi;
    let hi = a.hi * inverse;
    let rest = (-hi).mul_add(b.hi, a.hi) + (-hi).mul_add(b.lo, a.lo);
    quick_sum(hi, rest * inverse)
}

/// `-x`.
#[inline(always)]
pub(super) fn negative(x: Double) -> Double {
    Double::new(-x.hi, -x.lo)
}

/// The number with the sign of its first part changed to that of another number.
#[inline(always)]
pub(super) fn copysign(x: Double, sign: f64) -> Double {
    select((x.hi < 0.0) == (sign < 0.0), x, negative(x))
}

/// The number, negated if the last bit but one is set.
#[inline(always)]
pub(super) fn negated_if(x: Double, bits: f64) -> Double {
    Double::new(
        lanes_trigonometric::negated_if(x.hi, bits),
        lanes_trigonometric::negated_if(x.lo, bits),
    )
}

/// `yes` if the condition holds, else `no`.
#[inline(always)]
pub(super) fn select(condition: bool, yes: Double, no: Double) -> Double {
    let part = |yes, no| if condition { yes } else { no };
    Double::new(part(yes.hi, no.hi), part(yes.lo, no.lo))
}

/// The square root of a positive number.
#[inline(always)]
pub(super) fn sqrt(x: Double) -> Double {
    let root = x.hi.sqrt();
    let rest = (-root).mul_add(root, x.hi) + x.lo;
    quick_sum(root, rest / (2.0 * root))
}

/// `1 / n!` from n = 3.
const EXP: [f64; 5] = {
    let mut terms = [0.0; 5];
    let (mut n, mut factorial) = (0, 2.0);
    while n < terms.len() {
        factorial *= (n + 3) as f64;
        terms[n] = 1.0 / factorial;
        n += 1;
    }
    terms
};
/// Numbers up to this, in size, have exponentials whose parts are normal.
const LARGEST_EXPONENT: f64 = 670.0;

/// `2^(j / 64)`, `r` and `2^n` of `x = (64 n + j) log(2) / 64 + r`, for numbers up to 1000, where
/// `r` is at most `log(2) / 128` in size, and `x` where that is nearest to zero.
#[inline(always)]
fn exp_parts(x: Double) -> (Double, Double, f64) {
    let shifted = x.hi.mul_add(LOG2_E * STEPS as f64, SHIFT);
    let count = shifted - SHIFT;
    // Exact: a multiple of 2^-60, as numbers are that have a count, and below 2^-7.
    let rest = count.mul_add(-STEP.hi, x.hi);
    // With an error of at most 2^-97, and exact without a count.
    let rest = quick_sum(rest, -(count * STEP.lo));
    let rest = quick_sum(rest.hi, rest.lo + x.lo);
    let bits = shifted.to_bits();
    let power = POWERS[(bits % STEPS as u64) as usize];
    (power, rest, f64::from_bits((bits / STEPS as u64).wrapping_add(1023) << 52))
}

/// The exponential function, without its rounding.
///
/// With `u = 2^-53`, all but `1 + r` of the series is at most `2^-16`, and has the errors of six
/// roundings: `2^-66`. The terms that it lacks are below `2^-75`.
#[inline(always)]
pub(super) fn exp_of(x: Double) -> Double {
    let (power, r, scale) = exp_parts(x);
    let rest = (r.hi * r.hi).mul_add(r.hi.mul_add(polynomial(&EXP, r.hi), 0.5), r.lo);
    let term = product(power.hi, r.hi);
    let sum = quick_sum(power.hi, term.hi);
    let low = power.hi.mul_add(rest, power.lo.mul_add(r.hi, power.lo));
    quick_sum(sum.hi, low + (sum.lo + term.lo)).scaled(scale)
}

/// The exponential function minus 1, without its rounding.
///
/// The cubic and later terms of the series for `r` are below `2^-17 r`, and have the errors of six
/// roundings; they lack terms below `2^-68 r`. The power minus 1 is zero, or at least `1.9 r`, so
/// that the sum has at most twice these errors in proportion: below `2^-66`.
#[inline(always)]
pub(super) fn exp_m1_of(x: Double) -> Double {
    let (power, r, scale) = exp_parts(x);
    let square = product(r.hi, r.hi);
    let tail = (r.hi * square.hi) * polynomial(&EXP, r.hi);
    let sum = quick_sum(r.hi, 0.5 * square.hi);
    let low = r.lo + (r.hi.mul_add(r.lo, 0.5 * square.lo) + tail);
    let e = quick_sum(sum.hi, sum.lo + low);
    let power = power.scaled(scale);
    let grown = two_sum(power.hi, -1.0);
    plus(quick_sum(grown.hi, grown.lo + power.lo), times(power, e))
}

/// The exponential function.
#[inline(always)]
pub fn exp(x: f64) -> Double {
    only_if(x.abs() <= LARGEST_EXPONENT, exp_of(Double::new(x, 0.0)))
}

/// The exponential function minus 1.
#[inline(always)]
pub fn exp_m1(x: f64) -> Double {
    let is_easy = (x.abs() >= LEAST) & (x.abs() <= LARGEST_EXPONENT);
    only_if(is_easy, exp_m1_of(Double::new(x, 0.0)))
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn logistic(x: f64) -> Double {
    // Of the sign that keeps its precision where the result is small.
    let power = exp_of(Double::new(-x.abs(), 0.0));
    let numerator = select(x < 0.0, power, Double::ONE);
    let result = over(numerator, plus(Double::ONE, power));
    only_if(x.abs() <= LARGEST_EXPONENT, result)
}

/// Nodes in an interval of length 1, in the table of the hyperbolic tangent.
const TANH_DENSITY: f64 = 32.0;
/// `tanh(j / 32)` up to 20, from where on the hyperbolic tangent rounds to 1.
static TANHS: [Double; 1024] = {
    // tanh(1/256) = (exp(1/128) - 1) / (exp(1/128) + 1), and that of twice the number.
    let grown = small_exp_m1(Double::new(1.0 / 128.0, 0.0));
    let mut step = grown.over(grown.plus(Double::new(2.0, 0.0)));
    let mut doublings = 0;
    while doublings < 3 {
        step = tanh_of_sum(step, step);
        doublings += 1;
    }
    let mut table = [Double::ZERO; 1024];
    let mut j = 1;
    while j <= 20 * TANH_DENSITY as usize {
        table[j] = tanh_of_sum(table[j - 1], step);
        j += 1;
    }
    table
};

/// The hyperbolic tangent of a sum of numbers with these.
const fn tanh_of_sum(x: Double, y: Double) -> Double {
    x.plus(y).over(Double::ONE.plus(x.times(y)))
}

/// `2^2n (2^2n - 1) B(2n) / (2n)!` from n = 2, with Bernoulli's numbers.
const TANH: [f64; 4] = [-1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0, 62.0 / 2835.0];

/// The hyperbolic tangent.
///
/// `tanh(c + r) = (tanh(c) + tanh(r)) / (1 + tanh(c) tanh(r))`. The terms of the series of `r`
/// after the first are below `2^-13.5` of it, and have the errors of five roundings: `2^-64`, where
/// what is left out is below `2^-66`.
#[inline(always)]
pub fn tanh(x: f64) -> Double {
    let size = x.abs();
    let shifted = size.mul_add(TANH_DENSITY, SHIFT);
    // Exact, as both are multiples of the last place of one of them.
    let r = size - (shifted - SHIFT) * (1.0 / TANH_DENSITY);
    let square = r * r;
    let of_rest = quick_sum(r, (r * square) * polynomial(&TANH, square));
    let node = TANHS[(shifted.to_bits() % TANHS.len() as u64) as usize];
    let numerator = quick_sum(node.hi, of_rest.hi);
    let numerator = Double::new(numerator.hi, numerator.lo + (node.lo + of_rest.lo));
    let beside = product(node.hi, of_rest.hi);
    let low = node.hi.mul_add(of_rest.lo, node.lo.mul_add(of_rest.hi, beside.lo));
    let denominator = quick_sum(1.0, beside.hi);
    let denominator = Double::new(denominator.hi, denominator.lo + low);
    let is_easy = (LEAST..=20.0).contains(&size);
    only_if(is_easy, copysign(over(numerator, denominator), x))
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh(x: f64) -> Double {
    let is_easy = (x.abs() >= LEAST) & (x.abs() <= LARGEST_EXPONENT);
    let grown = exp_m1_of(Double::new(x.abs(), 0.0));
    let sum = plus(grown, over(grown, plus(Double::ONE, grown)));
    only_if(is_easy, copysign(sum.scaled(0.5), x))
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: f64) -> Double {
    let power = exp_of(Double::new(x.abs(), 0.0));
    let sum = plus(power, over(Double::ONE, power));
    only_if(x.abs() <= LARGEST_EXPONENT, sum.scaled(0.5))
}

/// A number near the inverse of `1 + j / 128`, and the logarithm of its inverse.
#[derive(Clone, Copy)]
struct LogNode {
    inverse: f64,
    log: Double,
}

/// Nodes for j from 0 to 63 and from -64 to -1: between 1/2 and 3/2.
static LOGS: [LogNode; 128] = {
    let mut table = [LogNode { inverse: 1.0, log: Double::ZERO }; 128];
    let mut i = 1;
    while i < table.len() {
        let j = if i < 64 { i as f64 } else { i as f64 - 128.0 };
        let inverse = 1.0 / (1.0 + j / 128.0);
        // 2 atanh(s) = 2 (s + s^3 / 3 + ...).
        let one = Double::ONE;
        let s = Double::new(1.0 - inverse, 0.0).over(one.plus(Double::new(inverse, 0.0)));
        let square = s.times(s);
        let (mut sum, mut n) = (Double::ZERO, 32);
        while n > 0 {
            n -= 1;
            sum = one.over(Double::new((2 * n + 1) as f64, 0.0)).plus(square.times(sum));
        }
        table[i] = LogNode { inverse, log: s.times(sum).scaled(2.0) };
        i += 1;
    }
    table
};
/// `(-1)^(n + 1) / n` from n = 3.
const LOG_FROM_3: [f64; 7] =
    [1.0 / 3.0, -1.0 / 4.0, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0, -1.0 / 8.0, 1.0 / 9.0];
/// The same from n = 4.
const LOG_FROM_4: [f64; 7] =
    [-1.0 / 4.0, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0, -1.0 / 8.0, 1.0 / 9.0, -1.0 / 10.0];
const THIRD: Double = Double::ONE.over(Double::new(3.0, 0.0));

/// `log((1 + x) * 2^exponent)`, where `1 + x` is between the square roots of 1/2 and 2.
///
/// `1 + x` is a number near 1 over the inverse of a node. The cubic and later terms of its series
/// are below `2^-16.5` of the first, and have the errors of six roundings: `2^-66`, where what is
/// left out is below `2^-70`. The logarithm is not smaller than the first term.
#[inline(always)]
pub(super) fn log_of(x: Double, exponent: f64) -> Double {
    let (r, log) = log_parts(x);
    let square = product(r.hi, r.hi);
    let tail = (r.hi * square.hi) * polynomial(&LOG_FROM_3, r.hi);
    let sum = quick_sum(r.hi, -0.5 * square.hi);
    let low = (r.lo - r.hi.mul_add(r.lo, 0.5 * square.lo)) + tail;
    log_sum(log, quick_sum(sum.hi, sum.lo + low), exponent)
}

/// [`log_of`] with an error of 2^-74: the cubic term has twice the precision, too.
#[inline(always)]
fn precise_log_of(x: Double, exponent: f64) -> Double {
    let (r, log) = log_parts(x);
    let square = times(r, r);
    let cubic = times(times(square, r), THIRD);
    let tail = (square.hi * square.hi) * polynomial(&LOG_FROM_4, r.hi);
    let sum = quick_sum(r.hi, -0.5 * square.hi);
    let rest = (r.lo - 0.5 * square.lo) + (cubic.lo + tail);
    let sum = plus(sum, Double::new(cubic.hi, rest));
    log_sum(log, sum, exponent)
}

/// `r` and `log` of `1 + x = (1 + r) exp(log)`, where `r` is at most `2^-7.5` in size, and `x` where
/// that is nearest to zero.
#[inline(always)]
fn log_parts(x: Double) -> (Double, Double) {
    let shifted = x.hi.mul_add(LOGS.len() as f64, SHIFT);
    let LogNode { inverse, log } = LOGS[(shifted.to_bits() % LOGS.len() as u64) as usize];
    let scaled = product(x.hi, inverse);
    let sum = two_sum(scaled.hi, inverse - 1.0);
    (quick_sum(sum.hi, sum.lo + x.lo.mul_add(inverse, scaled.lo)), log)
}

/// `exponent * log(2) + log + near`.
#[inline(always)]
fn log_sum(log: Double, near: Double, exponent: f64) -> Double {
    let power = product(exponent, LN_2[0]);
    plus(Double::new(power.hi, exponent.mul_add(LN_2[1], power.lo)), plus(log, near))
}

/// True for a positive normal number.
#[inline(always)]
fn is_positive(x: f64) -> bool {
    (f64::MIN_POSITIVE..f64::INFINITY).contains(&x)
}

/// The logarithm.
#[inline(always)]
pub fn log(x: f64) -> Double {
    let [m, exponent] = split(x);
    only_if(is_positive(x), log_of(Double::new(m - 1.0, 0.0), exponent))
}

/// `log(1 + x)`, without its rounding, of numbers above -1 of moderate size.
#[inline(always)]
fn log_1p_of(x: Double) -> Double {
    let sum = two_sum(x.hi, 1.0);
    let [m, exponent] = split(sum.hi);
    // The rest of the sum, divided by the same power of two.
    let power =
        f64::from_bits((1023u64 << 52).wrapping_sub(sum.hi.to_bits().wrapping_sub(m.to_bits())));
    let rest = (sum.lo + x.lo) * power;
    log_of(select(exponent == 0.0, x, two_sum(m - 1.0, rest)), exponent)
}

/// True for numbers of moderate size, whose squares and the rests of these are normal.
#[inline(always)]
pub(super) fn is_moderate(x: f64) -> bool {
    (x.abs() >= LEAST) & (x.abs() <= 1.0 / LEAST)
}

/// `log(1 + x)`.
#[inline(always)]
pub fn log_1p(x: f64) -> Double {
    only_if(is_moderate(x) & (x > -1.0), log_1p_of(Double::new(x, 0.0)))
}

/// The inverse hyperbolic sine.
#[inline(always)]
pub fn asinh(x: f64) -> Double {
    // log(1 + x + (sqrt(x^2 + 1) - 1)).
    let square = product(x, x);
    let sum = two_sum(square.hi, 1.0);
    let root = sqrt(quick_sum(sum.hi, sum.lo + square.lo));
    let grown = over(square, plus(root, Double::ONE));
    let sum = two_sum(x.abs(), grown.hi);
    let result = log_1p_of(quick_sum(sum.hi, sum.lo + grown.lo));
    only_if(is_moderate(x), copysign(result, x))
}

/// The inverse hyperbolic cosine.
#[inline(always)]
pub fn acosh(x: f64) -> Double {
    let rest = two_sum(x, -1.0);
    let root = sqrt(times(rest, two_sum(x, 1.0)));
    let sum = two_sum(rest.hi, root.hi);
    let result = log_1p_of(quick_sum(sum.hi, sum.lo + (rest.lo + root.lo)));
    only_if((x > 1.0) & (x <= 1.0 / LEAST), result)
}

/// The inverse hyperbolic tangent.
#[inline(always)]
pub fn atanh(x: f64) -> Double {
    let quotient = over(Double::new(2.0 * x.abs(), 0.0), two_sum(1.0, -x.abs()));
    let result = log_1p_of(quotient).scaled(0.5);
    only_if((x.abs() >= LEAST) & (x.abs() < 1.0), copysign(result, x))
}

/// `y log(x * 2^exponent)` of a positive normal `x`.
#[inline(always)]
pub(super) fn scaled_log(x: f64, exponent: f64, y: f64) -> Double {
    let [m, own] = split(x);
    let log = precise_log_of(Double::new(m - 1.0, 0.0), own + exponent);
    let high = product(log.hi, y);
    quick_sum(high.hi, log.lo.mul_add(y, high.lo))
}

/// `x` raised to the power of `y`, of a positive `x`, or an integer `y`.
#[inline(always)]
pub fn pow(x: f64, y: f64) -> Double {
    let size = x.abs();
    let scaled = scaled_log(size, 0.0, y);
    let power = exp_of(scaled);
    let is_integer = y.round_ties_even() == y;
    let half = 0.5 * y;
    let is_even = half.round_ties_even() == half;
    let is_easy = is_positive(size)
        & ((x > 0.0) | is_integer)
        & (y.abs() >= LEAST)
        & (y.abs() <= 1.0 / LEAST)
        & (scaled.hi.abs() <= LARGEST_EXPONENT);
    only_if(is_easy, select(is_even, power, copysign(power, x)))
}

/// A right angle in parts, of which the products of the first two with integers up to 2^20 are
/// exact.
const RIGHT_ANGLE: [f64; 4] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
    1.008_585_403_587_248_3e-37,
];
/// Angles up to this are reduced here.
const LARGEST_ANGLE: f64 = (1u64 << 20) as f64;
/// The rests of larger angles have to be at least this, or not all of it is known.
const LEAST_REST: f64 = 1.0 / (1u64 << 30) as f64;
/// `(-1)^(k / 2) / k!` of odd k from 3, and of even k from 2.
const SIN: [f64; 3] = [-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0];
const COS: [f64; 3] = [-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0];
/// Angles in the table of sines and cosines.
const TURNS: usize = 128;
/// The sines and cosines of `j / 64` for j from 0 to 63 and from -64 to -1.
static SIN_COS: [[Double; 2]; TURNS] = {
    let mut table = [[Double::ZERO, Double::ONE]; TURNS];
    // sin(1/64) and cos(1/64), by Taylor's series.
    let [mut sin, mut cos] = [Double::ONE; 2];
    let mut k = 20;
    while k > 0 {
        k -= 2;
        let square = -1.0 / 4096.0;
        let even = Double::new(square, 0.0).over(Double::new(((k + 1) * (k + 2)) as f64, 0.0));
        let odd = Double::new(square, 0.0).over(Double::new(((k + 2) * (k + 3)) as f64, 0.0));
        cos = Double::ONE.plus(cos.times(even));
        sin = Double::ONE.plus(sin.times(odd));
    }
    sin = sin.scaled(1.0 / 64.0);
    let mut j = 1;
    while j <= TURNS / 2 {
        let [before, beside] = table[j - 1];
        let minus = before.times(sin).scaled(-1.0);
        let next = [before.times(cos).plus(beside.times(sin)), beside.times(cos).plus(minus)];
        table[TURNS - j] = [next[0].scaled(-1.0), next[1]];
        if j < TURNS / 2 {
            table[j] = next;
        }
        j += 1;
    }
    table
};

/// A small angle as one of the table and what is left: at most 1/128.
#[derive(Clone, Copy)]
struct SmallAngle {
    sin: Double,
    cos: Double,
    rest: Double,
    /// The sine of the rest without it, and the cosine without 1.
    sin_tail: f64,
    cos_tail: f64,
}

/// An angle of at most half a right one.
///
/// Without linear terms, the sum of a sine or cosine is at most `2^-15` of its largest term, and
/// has the errors of six roundings; the sum is at least half of that term: `2^-64`. The omitted
/// terms are below `2^-70`.
#[inline(always)]
fn small_angle(x: Double) -> SmallAngle {
    let shifted = x.hi.mul_add(64.0, SHIFT);
    let exact = x.hi - (shifted - SHIFT) * (1.0 / 64.0);
    let rest = quick_sum(exact, x.lo);
    let square = rest.hi * rest.hi;
    let [sin, cos] = SIN_COS[(shifted.to_bits() % TURNS as u64) as usize];
    let sin_tail = (rest.hi * square) * polynomial(&SIN, square);
    let cos_tail = square.mul_add(polynomial(&COS, square), -(rest.hi * rest.lo));
    SmallAngle { sin, cos, rest, sin_tail, cos_tail }
}

impl SmallAngle {
    /// `a cos(rest) + b sin(rest)`, where `a` is zero or larger than the product with `b`.
    #[inline(always)]
    fn turned(self, a: Double, b: Double) -> Double {
        let linear = product(b.hi, self.rest.hi);
        let sum = quick_sum(a.hi, linear.hi);
        let low = b.hi.mul_add(self.rest.lo, b.lo.mul_add(self.rest.hi, linear.lo));
        let tail = b.hi.mul_add(self.sin_tail, a.hi.mul_add(self.cos_tail, a.lo + low));
        quick_sum(sum.hi, sum.lo + tail)
    }

    /// The sine, or the cosine if the angle is to be turned by an odd number of right ones.
    #[inline(always)]
    fn sin_or_cos(self, is_cos: bool) -> Double {
        let (a, b) =
            (select(is_cos, self.cos, self.sin), select(is_cos, negative(self.sin), self.cos));
        self.turned(a, b)
    }
}

/// An angle without the nearest multiple of a right one, that multiple in the low bits, and if the
/// angle is precise enough.
#[inline(always)]
fn reduced(x: f64) -> (SmallAngle, f64, bool) {
    let shifted = x.mul_add(FRAC_2_PI, SHIFT);
    let count = shifted - SHIFT;
    let [first, second, third, fourth] = RIGHT_ANGLE;
    let rest = two_sum(count.mul_add(-first, x), -(count * second));
    let small = product(count, third);
    let sum = two_sum(rest.hi, -small.hi);
    let rest = quick_sum(sum.hi, sum.lo + (rest.lo - count.mul_add(fourth, small.lo)));
    let is_whole = (count == 0.0) & (x.abs() >= LEAST);
    let is_easy = (is_whole | (rest.hi.abs() >= LEAST_REST)) & (x.abs() <= LARGEST_ANGLE);
    (small_angle(rest), shifted, is_easy)
}

/// The sine and the cosine of a [`reduced`] angle.
#[inline(always)]
pub(super) fn sin_cos(x: f64) -> ([Double; 2], f64, bool) {
    let (angle, turns, is_easy) = reduced(x);
    ([angle.sin_or_cos(false), angle.sin_or_cos(true)], turns, is_easy)
}

/// One more multiple of a right angle, as the cosine is ahead of the sine.
#[inline(always)]
fn a_turn_ahead(turns: f64) -> f64 {
    f64::from_bits(turns.to_bits().wrapping_add(1))
}

/// The sine.
#[inline(always)]
pub fn sin(x: f64) -> Double {
    let (angle, turns, is_easy) = reduced(x);
    only_if(is_easy, negated_if(angle.sin_or_cos(is_odd(turns)), turns))
}

/// The cosine.
#[inline(always)]
pub fn cos(x: f64) -> Double {
    let (angle, turns, is_easy) = reduced(x);
    only_if(is_easy, negated_if(angle.sin_or_cos(!is_odd(turns)), a_turn_ahead(turns)))
}

/// The tangent.
#[inline(always)]
pub fn tan(x: f64) -> Double {
    let ([sin, cos], turns, is_easy) = sin_cos(x);
    let is_odd = is_odd(turns);
    let result = over(select(is_odd, negative(cos), sin), select(is_odd, sin, cos));
    only_if(is_easy, result)
}

/// Arcs in the table of the inverse tangent, of which numbers up to 1 need the first half.
const ARCS: usize = 64;
/// `atan(j / 32)`.
static ANGLES: [Double; ARCS] = {
    let mut table = [Double::new(0.0, 0.0); ARCS];
    let mut j = 1;
    while j < ARCS {
        // The tangent of the difference to the one before.
        let divisor = (1024 + j * (j - 1)) as f64;
        let step = Double::new(32.0, 0.0).over(Double::new(divisor, 0.0));
        let square = step.times(step);
        let (mut sum, mut n) = (Double::ONE.over(Double::new(25.0, 0.0)), 12);
        while n > 0 {
            n -= 1;
            let term = Double::ONE.over(Double::new((2 * n + 1) as f64, 0.0));
            sum = term.plus(square.times(sum).scaled(-1.0));
        }
        table[j] = table[j - 1].plus(step.times(sum));
        j += 1;
    }
    table
};
/// `(-1)^n / (2n + 1)` from n = 1.
const ATAN: [f64; 5] = [-1.0 / 3.0, 1.0 / 5.0, -1.0 / 7.0, 1.0 / 9.0, -1.0 / 11.0];

/// The angle of the point with ordinate `y` and abscissa `x`, of numbers of moderate size.
///
/// `atan(t) = atan(c) + atan((t - c) / (1 + t c))` with the nearest multiple `c` of 1/32. The terms
/// of the series after the first are below `2^-13` of it, and have the errors of five roundings:
/// `2^-64`, where what is left out is below `2^-75`.
#[inline(always)]
pub(super) fn angle_of(y: Double, x: Double) -> Double {
    let sizes = [copysign(y, 1.0), copysign(x, 1.0)];
    let is_steep = sizes[0].hi > sizes[1].hi;
    let small = select(is_steep, sizes[1], sizes[0]);
    let large = select(is_steep, sizes[0], sizes[1]);
    let shifted = (small.hi / large.hi).mul_add(32.0, SHIFT);
    let c = (shifted - SHIFT) * (1.0 / 32.0);
    let below = product(c, large.hi);
    // Exact: the numbers are within a factor of two, or one is zero.
    let rest = small.hi - below.hi;
    let numerator = quick_sum(rest, c.mul_add(-large.lo, small.lo - below.lo));
    let beside = product(c, small.hi);
    let sum = quick_sum(large.hi, beside.hi);
    let denominator = Double::new(sum.hi, sum.lo + c.mul_add(small.lo, large.lo + beside.lo));
    let t = over(numerator, denominator);
    let square = t.hi * t.hi;
    let tail = (square * t.hi).mul_add(polynomial(&ATAN, square), (-square).mul_add(t.lo, t.lo));
    let near = ANGLES[(shifted.to_bits() % ARCS as u64) as usize];
    let sum = quick_sum(near.hi, t.hi);
    let angle = quick_sum(sum.hi, sum.lo + (near.lo + tail));
    let angle = select(is_steep, plus(HALF_PI, negative(angle)), angle);
    let angle = select(x.hi < 0.0, plus(Double::PI, negative(angle)), angle);
    copysign(angle, y.hi)
}

/// The angle of the point with ordinate `y` and abscissa `x`.
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> Double {
    let angle = angle_of(Double::new(y, 0.0), Double::new(x, 0.0));
    only_if(is_moderate(y) & is_moderate(x), angle)
}

/// The inverse tangent.
#[inline(always)]
pub fn atan(x: f64) -> Double {
    atan2(x, 1.0)
}

/// A right angle.
const HALF_PI: Double = Double::PI.scaled(0.5);

/// The other leg of a right triangle with hypotenuse 1 and one leg `x`.
#[inline(always)]
fn other_leg(x: f64) -> Double {
    sqrt(times(two_sum(1.0, -x), two_sum(1.0, x)))
}

/// The inverse sine.
#[inline(always)]
pub fn asin(x: f64) -> Double {
    let angle = angle_of(Double::new(x, 0.0), other_leg(x));
    only_if((x.abs() >= LEAST) & (x.abs() < 1.0), angle)
}

/// The inverse cosine.
#[inline(always)]
pub fn acos(x: f64) -> Double {
    let angle = angle_of(other_leg(x), Double::new(x, 0.0));
    only_if((x.abs() >= LEAST) & (x.abs() < 1.0), angle)
}

/// `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt(x: f64) -> Double {
    let root = 1.0 / x.sqrt();
    let square = product(root, root);
    let near_one = product(square.hi, x);
    let error = ((1.0 - near_one.hi) - near_one.lo) - square.lo * x;
    only_if(is_moderate(x), quick_sum(root, 0.5 * root * error))
}

/// The cube root.
#[inline(always)]
pub fn cbrt(x: f64) -> Double {
    let size = x.abs();
    let [m, root, third] = near_cbrt(size);
    let square = product(root, root);
    let cube = times(square, Double::new(root, 0.0));
    let step = ((m - cube.hi) - cube.lo) / (3.0 * square.hi);
    let result = quick_sum(root, step).scaled(power_of_2(third + SHIFT));
    only_if(is_positive(size), copysign(result, x))
}
