//! The gamma function's logarithm and its derivatives, and the Hurwitz zeta function, in twice the
//! precision of `f64`.
//!
//! NIST, *Digital Library of Mathematical Functions*, chapters 5 and 25.

use super::double::{Double, polynomial};
use super::{gamma_fixed, rounded};

/// From here on, the asymptotic series have the precision of [`Double`].
const ASYMPTOTIC: f64 = 16.0;

/// `(-1)^k (zeta(k) - 1) / k` for `k` from 50 to 25.
const ZETA_TAIL: [f64; 26] = [
    1.7763568421861633e-17,
    -3.625218048120654e-17,
    7.40148685695232e-17,
    -1.5117930628108198e-16,
    3.089316266963393e-16,
    -6.315935504198448e-16,
    1.2918959062789966e-15,
    -2.643880017860995e-15,
    5.413659156725363e-15,
    -1.1091399470834522e-14,
    2.2737369600659724e-14,
    -4.6640760264283744e-14,
    9.573630387838556e-14,
    -1.9664756310966165e-13,
    4.04220052528944e-13,
    -8.315385841420285e-13,
    1.711991790559618e-12,
    -3.527742476575915e-12,
    7.275974480239079e-12,
    -1.5021384080754142e-11,
    3.1044247747322276e-11,
    -6.4229645638381e-11,
    1.330476437424449e-10,
    -2.7595228851242334e-10,
    5.731367241678862e-10,
    -1.1921401405860912e-09,
];

/// `(-1)^k (zeta(k) - 1) / k` for `k` from 24 to 2.
const ZETA_HEAD: [Double; 23] = [
    Double::new(2.4836745438024785e-09, -1.5805048837932932e-25),
    Double::new(-5.183475041970047e-09, -1.0891302535635231e-26),
    Double::new(1.0838659214896955e-08, -5.018242148804151e-25),
    Double::new(-2.2711094608943164e-08, -1.406065812811299e-24),
    Double::new(4.7698101693639804e-08, 1.6747349659198183e-24),
    Double::new(-1.0043224823968099e-07, -5.246728062732248e-24),
    Double::new(2.1207184805554665e-07, 1.2243193613787666e-23),
    Double::new(-4.492469198764566e-07, 1.4219340578032317e-23),
    Double::new(9.55141213040742e-07, 4.798512617588967e-23),
    Double::new(-2.039215753801366e-06, -4.70891370095011e-23),
    Double::new(4.374866789907488e-06, -3.7021851137962053e-22),
    Double::new(-9.439488275268397e-06, 8.111985879973243e-22),
    Double::new(2.050721277567069e-05, 4.864174577619616e-22),
    Double::new(-4.492623673813314e-05, 3.4577848248512954e-22),
    Double::new(9.945751278180853e-05, 2.734261130690314e-21),
    Double::new(-0.00022315475845357939, 6.032078299350848e-21),
    Double::new(0.0005096695247430425, -2.780354175057013e-20),
    Double::new(-0.001192753911703261, 4.1747852352514e-20),
    Double::new(0.0028905103307415234, -7.357950161901912e-20),
    Double::new(-0.007385551028673986, 4.1051370891788617e-19),
    Double::new(0.020580808427784546, 1.4629392512775695e-18),
    Double::new(-0.0673523010531981, 6.87667631175899e-18),
    Double::new(0.3224670334241132, 1.520336175199238e-17),
];

/// `B(2k) / (2k (2k - 1))` for `k` from 18 to 7, with Bernoulli's numbers.
const STIRLING_TAIL: [f64; 12] = [
    -10882266035.784391,
    382900751.39141417,
    -15238221.539407415,
    691472.268851313,
    -36108.77125372499,
    2193.1033333333335,
    -156.84828462600203,
    13.402864044168393,
    -1.3924322169059011,
    0.17964437236883057,
    -0.029550653594771242,
    0.00641025641025641,
];

/// `B(2k) / (2k (2k - 1))` for `k` from 6 to 1.
const STIRLING_HEAD: [Double; 6] = [
    Double::new(-0.0019175269175269176, 1.0675702776872475e-19),
    Double::new(0.0008417508417508417, 3.6870174889237694e-20),
    Double::new(-0.0005952380952380953, 5.36938218754726e-20),
    Double::new(0.0007936507936507937, 6.883823317368282e-22),
    Double::new(-0.002777777777777778, 1.0601087908747154e-19),
    Double::new(0.08333333333333333, 4.625929269271485e-18),
];

/// `B(2k) / 2k` for `k` from 18 to 7.
const DIGAMMA_TAIL: [f64; 12] = [
    -380879311252.4537,
    12635724795.916666,
    -472384867.7216299,
    20052695.79668808,
    -974936.8238505747,
    54827.583333333336,
    -3607.5105463980462,
    281.46014492753625,
    -26.456212121212122,
    3.0539543302701198,
    -0.4432598039215686,
    0.08333333333333333,
];

/// `B(2k) / 2k` for `k` from 6 to 1.
const DIGAMMA_HEAD: [Double; 6] = [
    Double::new(-0.021092796092796094, 1.3911677399530732e-18),
    Double::new(0.007575757575757576, -2.1026951223961299e-19),
    Double::new(-0.004166666666666667, -5.782411586589357e-20),
    Double::new(0.003968253968253968, 2.20282346155785e-19),
    Double::new(-0.008333333333333333, -1.1564823173178714e-19),
    Double::new(0.08333333333333333, 4.625929269271485e-18),
];

/// `B(2k) / (2k)!` for `k` from 1 to 14.
const EULER_MACLAURIN: [Double; 14] = [
    Double::new(0.08333333333333333, 4.625929269271485e-18),
    Double::new(-0.001388888888888889, 5.300543954373577e-20),
    Double::new(3.306878306878307e-05, -2.2300719288557665e-21),
    Double::new(-8.267195767195768e-07, 3.457597454003665e-23),
    Double::new(2.08767569878681e-08, -1.2073450591132599e-24),
    Double::new(-5.284190138687493e-10, 3.517096671929869e-27),
    Double::new(1.3382536530684679e-11, -2.828354019907999e-29),
    Double::new(-3.3896802963225827e-13, -1.4986928409964295e-29),
    Double::new(8.586062056277845e-15, -6.05252374381974e-31),
    Double::new(-2.174868698558062e-16, 4.961617782549996e-33),
    Double::new(5.5090028283602295e-18, -1.49827152194499e-35),
    Double::new(-1.3954464685812522e-19, -1.0350590497256251e-35),
    Double::new(3.534707039629467e-21, 1.894231142684204e-37),
    Double::new(-8.953517427037546e-23, -5.728752743153026e-39),
];

/// The positive zero of the digamma function.
const DIGAMMA_ZERO: Double = Double::new(1.4616321449683622, 9.549995429965697e-17);

/// The coefficients of the series of the digamma function around its positive zero, the highest
/// first, without the one that vanishes: the first ones, and the last one.
const AROUND_ZERO: [f64; 3] = [-0.16394270544240652, 0.258499760955651, -0.4427631689835921];
const SLOPE_AT_ZERO: Double = Double::new(0.9676722454476212, -3.387874303038943e-17);

/// `1 - gamma` with Euler's constant.
const ONE_MINUS_EULER: Double = Double::new(0.42278433509846713, 4.942915152430645e-18);
/// `log(2 pi) / 2`.
pub(super) const HALF_LOG_TWO_PI: Double = Double::new(0.9189385332046728, -3.8782941580672414e-17);
/// `log(pi)`.
const LOG_PI: Double = Double::new(1.1447298858494002, 1.0265951162707826e-17);

/// The logarithm of the absolute value of the gamma function; infinite at its poles, zero and the
/// negative integers.
pub fn lgamma(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // All numbers below are integers.
    if x.is_infinite() || x == 0.0 || x < 0.0 && x.fract() == 0.0 {
        return f64::INFINITY;
    }
    if x > 1e306 {
        // x (log(x) - 1) is infinite.
        return f64::INFINITY;
    }
    // Counts of one.
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    if x.abs() < gamma_fixed::TINY {
        return -rounded::log(x.abs());
    }
    let (value, size, exponent) = wide_lgamma(x);
    let error = size / (1u128 << 84) as f64;
    let (above, below) = (value.hi + (value.lo + error), value.hi + (value.lo - error));
    match above == below {
        true => libm::scalbn(above, exponent),
        false => gamma_fixed::lgamma(x),
    }
}

/// The logarithm of the absolute value of the gamma function and the sum of the sizes of its parts,
/// both without a power of two.
///
/// The error is below 2^-94 of that sum:
/// - Series: with |x| <= 1/2, the zeta series as stored, its coefficients and the terms left out,
///   is within 2^-101 of its value, which is at least 0.24 |x|; Stirling's from 16 on, within
///   2^-106; the parts in `f64` are below 2^-54 of the sum and add less than 2^-101.
/// - Rounding: sums, products and quotients of [`Double`] have relative errors below 2^-102, and
///   at most 40 follow one another, with parts that are at most six times their sum: 2^-94.
/// - Logarithms: the Newton step leaves half the square of an error of 2^-52, and its exponential,
///   whose last terms are in `f64` and below 2^-46 of it, is within 2^-97: so is the logarithm. The
///   sine of the reflection is within 2^-97, and so is its logarithm, in units of 1.
fn wide_lgamma(x: f64) -> (Double, f64, i32) {
    if x > 0.0 {
        let (value, exponent) = positive_lgamma(Double::from(x));
        return (value, size_of_parts(x, value), exponent);
    }
    // The reflection: gamma(x) gamma(1 - x) = pi / sin(pi x), where 1 - x = -x for large x.
    let (mirrored, exponent) = positive_lgamma(Double::ONE + Double::from(-x));
    let mirrored = mirrored.shifted(exponent);
    let reflection = LOG_PI - sin_cos_pi(x).0.abs().log();
    let size = size_of_parts(1.0 - x, mirrored) + 4.0 + reflection.hi.abs();
    (reflection - mirrored, size, 0)
}

/// A bound of the sum of the sizes of the parts of [`positive_lgamma`], which has `value` at a
/// number. Up to 2.5, the most is 5.7 times the value, at 1.5; then the parts at the argument from
/// 16 to 17 are at most 65, and the logarithm of the product 31; from 16 on, the most is 2.2 times
/// the value, at 16.
fn size_of_parts(x: f64, value: Double) -> f64 {
    match x {
        x if x < 2.5 => 8.0 * value.hi.abs(),
        x if x < ASYMPTOTIC => 128.0,
        _ => 4.0 * value.hi.abs(),
    }
}

/// [`lgamma`] of a positive number up to 10^20.
pub fn moderate_lgamma(x: f64) -> Double {
    positive_lgamma(Double::from(x)).0
}

/// The logarithm of `pi / sin(pi x)`, which [`lgamma`] reflects numbers by, of `x` up to 1/2.
pub fn lgamma_reflection(x: f64) -> Double {
    LOG_PI - sin_cos_pi(x).0.abs().log()
}

/// The sine and the cosine of `pi` times the distance of `x` from the nearest integer, which is
/// exact: those of `pi x`, but for the sign that both share.
fn sin_cos_pi(x: f64) -> (Double, Double) {
    (Double::PI * Double::from(x - x.round())).sin_cos()
}

/// The logarithm of the gamma function of a positive number, without a power of two.
fn positive_lgamma(x: Double) -> (Double, i32) {
    if x.hi < 0.5 {
        return (around_two(x) - x.log_1p() - x.log(), 0);
    }
    if x.hi < 1.5 {
        let rest = x - Double::ONE;
        return (around_two(rest) - rest.log_1p(), 0);
    }
    if x.hi < 2.5 {
        return (around_two(x - Double::from(2.0)), 0);
    }
    let (mut argument, mut product) = (x, Double::ONE);
    while argument.hi < ASYMPTOTIC {
        product = product * argument;
        argument = argument + Double::ONE;
    }
    let half = Double::from(0.5);
    if x.hi > 1e20 {
        // The scale keeps the product from overflowing; the series is below the precision.
        let log = x.log();
        let rest = (HALF_LOG_TWO_PI - log.scaled(0.5)).shifted(-100);
        return (x.shifted(-100) * (log - Double::ONE) + rest, 100);
    }
    let inverse = Double::ONE / argument;
    let series = polynomial(&STIRLING_TAIL, &STIRLING_HEAD, inverse * inverse) * inverse;
    let main = (argument - half) * argument.log() - argument + HALF_LOG_TWO_PI;
    (main + series - product.log(), 0)
}

/// `lgamma(2 + x)` for `x` of at most 1/2 in size:
/// `(1 - gamma) x + sum (-1)^k (zeta(k) - 1) x^k / k`.
fn around_two(x: Double) -> Double {
    (polynomial(&ZETA_TAIL, &ZETA_HEAD, x) * x + ONE_MINUS_EULER) * x
}

/// The derivative of the logarithm of the gamma function; NaN at its poles, zero and the negative
/// integers.
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x <= 0.0 {
        // All numbers below are integers.
        if x.is_infinite() || x.fract() == 0.0 {
            return f64::NAN;
        }
        if x > -1e-20 {
            // The next term is Euler's constant. The reflection would overflow.
            return -1.0 / x;
        }
        // digamma(x) = digamma(1 - x) - pi cot(pi x).
        let (sin, cos) = sin_cos_pi(x);
        let mirrored = positive_digamma(Double::ONE + Double::from(-x));
        return (mirrored - Double::PI * cos / sin).value();
    }
    if (x - DIGAMMA_ZERO.hi).abs() < 1e-6 {
        let distance = Double::from(x) - DIGAMMA_ZERO;
        return (polynomial(&AROUND_ZERO, &[SLOPE_AT_ZERO], distance) * distance).value();
    }
    positive_digamma(Double::from(x)).value()
}

/// [`digamma`] of a positive number that is neither huge nor tiny.
pub fn moderate_digamma(x: f64) -> Double {
    positive_digamma(Double::from(x))
}

/// `pi cot(pi x)`, which [`digamma`] reflects numbers by, of `x` up to 1/2.
pub fn digamma_reflection(x: f64) -> Double {
    let (sin, cos) = sin_cos_pi(x);
    Double::PI * cos / sin
}

/// [`digamma`] of a positive number.
fn positive_digamma(x: Double) -> Double {
    if x.hi < 1e-290 {
        // The next term is Euler's constant.
        return Double::from(-1.0 / x.hi);
    }
    if x.hi > 1e30 {
        return x.log();
    }
    // digamma(x) = digamma(x + 1) - 1 / x.
    let (mut x, mut sum) = (x, Double::ZERO);
    while x.hi < ASYMPTOTIC {
        sum = sum - Double::ONE / x;
        x = x + Double::ONE;
    }
    let inverse = Double::ONE / x;
    let square = inverse * inverse;
    let series = polynomial(&DIGAMMA_TAIL, &DIGAMMA_HEAD, square) * square;
    sum + x.log() - inverse.scaled(0.5) - series
}

/// The Hurwitz zeta function `sum (q + k)^-s` for `s > 1`; infinite at `s = 1`, NaN below, and for
/// `q` of at most 0 unless `s` is an integer. At the poles, where `q` is zero or a negative
/// integer, it is infinite for even `s` and NaN for odd `s`.
pub fn zeta(s: f64, q: f64) -> f64 {
    if s.is_nan() || q.is_nan() || s < 1.0 {
        return f64::NAN;
    }
    if s == 1.0 {
        return f64::INFINITY;
    }
    if q <= 0.0 && (q.is_infinite() || q.fract() == 0.0) {
        return if s % 2.0 == 0.0 { f64::INFINITY } else { f64::NAN };
    }
    if q < 0.0 && s.fract() != 0.0 {
        return f64::NAN;
    }
    let (value, exponent) = wide_zeta(s, q);
    value.shifted_value(exponent)
}

/// [`zeta`] without a power of two, where it is finite.
fn wide_zeta(s: f64, q: f64) -> (Double, i32) {
    if q > 0.0 {
        return positive_zeta(s, Double::from(q));
    }
    // Of the terms with q + k < 0, the sizes are fraction, fraction + 1, ..., -q.
    let fraction = -q.fract();
    let left = positive_zeta(s, Double::from(fraction));
    let beyond = positive_zeta(s, Double::ONE + Double::from(-q));
    let right = positive_zeta(s, Double::ONE - Double::from(fraction));
    let exponent = left.1.max(right.1);
    let at = |(value, own): (Double, i32)| value.shifted((own - exponent).max(-900));
    let left = at(left) - at(beyond);
    (at(right) + if s % 2.0 == 0.0 { left } else { -left }, exponent)
}

/// [`zeta`] of a positive `q`, without a power of two: `q^-s` times the sum of `(1 + k / q)^-s`, of
/// which the first terms are added and the rest comes from the Euler-Maclaurin formula.
fn positive_zeta(s: f64, q: Double) -> (Double, i32) {
    const TERMS: u32 = 12;
    let wide_s = Double::from(s);
    // Far from overflow, also of the logarithm's product.
    if s > 1e15 || q.hi.is_infinite() {
        let log = libm::log(q.hi);
        let power = if log == 0.0 { 1.0 } else { libm::exp(-s * log) };
        return (Double::from(power), 0);
    }
    let power = |x: Double| (wide_s * x.log_1p()).scaled(-1.0).exp();
    let mut sum = Double::ONE;
    let mut last = 1.0;
    for k in 1..TERMS {
        let (term, exponent) = power(Double::from(f64::from(k)) / q);
        let term = term.shifted(exponent.max(-900));
        sum = sum + term;
        last = term.hi;
    }
    let log = if (q.hi - 1.0).abs() < 0.25 { (q - Double::ONE).log_1p() } else { q.log() };
    let (scale, scale_exponent) = (-(wide_s * log)).exp();
    if last > 1e-35 {
        let terms = Double::from(f64::from(TERMS));
        let (end, exponent) = power(terms / q);
        let end = end.shifted(exponent.max(-900));
        let a = q + terms;
        // a / (s - 1) + 1 / 2 + s / a (B(2) / 2! + (s + 1) (s + 2) / a^2 (B(4) / 4! + ...)).
        let square = a * a;
        let mut series = Double::ZERO;
        for (i, &coefficient) in EULER_MACLAURIN.iter().enumerate().rev() {
            let n = (2 * i + 1) as f64;
            let factor = (wide_s + Double::from(n)) * (wide_s + Double::from(n + 1.0)) / square;
            series = coefficient + series * factor;
        }
        let integral = a / (wide_s - Double::ONE);
        sum = sum + end * (integral + Double::from(0.5) + wide_s / a * series);
    }
    (scale * sum, scale_exponent)
}

/// The derivative of order `n` of the digamma function, `(-1)^(n + 1) n! zeta(n + 1, x)`; NaN
/// unless `n` is a natural number.
pub fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n.is_nan() || x.is_nan() || n < 0.0 || n.fract() != 0.0 {
        return f64::NAN;
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    if n > 1e15 || x.is_infinite() || x <= 0.0 && x.fract() == 0.0 {
        let (lgamma, zeta) = (lgamma(n + 1.0), zeta(n + 1.0, x));
        return sign * libm::exp(lgamma) * zeta;
    }
    let (zeta, exponent) = wide_zeta(n + 1.0, x);
    let (log, log_exponent) = positive_lgamma(Double::from(n + 1.0));
    let (factorial, factorial_exponent) = log.shifted(log_exponent).exp();
    sign * (factorial * zeta).shifted_value(exponent.saturating_add(factorial_exponent))
}
