//! The gamma function and its relatives.

use super::elementary::is_inf;
use super::expr::{Expr, pow, rem, select};
use super::wide::in_f32;
use std::f64::consts::PI;

/// Lanczos' `g`; it and the number of coefficients determine these.
///
/// Source: Lanczos, "A precision approximation of the gamma function" (1964).
const LANCZOS_G: f64 = 7.0;
const LANCZOS_BASE: f64 = 0.999_999_999_999_809_9;
const LANCZOS: [f64; 8] = [
    676.5203681218851,
    -1259.1392167224028,
    771.3234287776531,
    -176.6150291621406,
    12.507343278686905,
    -0.13857109526572012,
    9.984369578019572e-6,
    1.5056327351493116e-7,
];

/// `z = -x` where `x < 1/2`, which the reflection formulas need, else `x - 1`.
struct Reflected<'b> {
    half: Expr<'b>,
    one: Expr<'b>,
    is_reflected: Expr<'b>,
    z: Expr<'b>,
}

fn reflected(x: Expr<'_>) -> Reflected<'_> {
    let half = x.like(0.5);
    let is_reflected = x.lt(half);
    let minus_x = -x;
    let one = x.like(1.0);
    let z = select(is_reflected, minus_x, x - one);
    Reflected { half, one, is_reflected, z }
}

/// `t = z + g + 1/2` and its logarithm, as `log(g + 1/2) + log1p(z / (g + 1/2))`.
fn lanczos_t<'b>(x: Expr<'b>, z: Expr<'b>) -> (Expr<'b>, Expr<'b>) {
    let offset = x.like(LANCZOS_G + 0.5);
    let t = offset + z;
    let log = x.like((LANCZOS_G + 0.5).ln()) + (z / offset).ln_1p();
    (t, log)
}

/// `lgamma(z + 1) = log(2 pi) / 2 + (z + 1/2) log(t) - t + log(A(z))` with
/// `A(z) = base + sum c[k] / (z + k)`; `lgamma(x) = log(pi) - log|sin(pi x)| - lgamma(1 - x)` where
/// `x < 1/2`.
pub(super) fn lgamma(x: Expr<'_>) -> Expr<'_> {
    in_f32([x], |[x]| {
        let Reflected { half, one, is_reflected, z } = reflected(x);
        let mut a = x.like(LANCZOS_BASE);
        for (k, c) in (1u8..).zip(LANCZOS) {
            let c = x.like(c);
            a = a + c / (z + x.like(k.into()));
        }
        let (t, log_t) = lanczos_t(x, z);
        // (z + 1/2 - t / log(t)) log(t) overflows no sooner than the result.
        let quotient = t / log_t;
        let power = (z + half - quotient) * log_t;
        let log_a = a.ln();
        let lgamma = x.like((2f64.ln() + PI.ln()) / 2.0) + power + log_a;

        // |sin(pi x)| = sin(pi f) for the distance f <= 1/2 of |x| from an integer.
        let ax = x.abs();
        let fraction = ax - ax.floor();
        let is_above = half.lt(fraction);
        let fraction = select(is_above, one - fraction, fraction);
        let log_sin = (x.like(PI) * fraction).sin().ln();
        let reflection = x.like(PI.ln()) - log_sin - lgamma;
        // At a pole the logarithm of the sine takes precedence over other infinite terms.
        let is_finite = log_sin.is_finite();
        let reflection = select(is_finite, reflection, -log_sin);
        let lgamma = select(is_reflected, reflection, lgamma);
        select(is_inf(x), x.like(f64::INFINITY), lgamma)
    })
}

/// `digamma(z + 1) = log(t) + A'(z) / A(z) - g / t`; `digamma(x) = digamma(1 - x) - pi cot(pi x)`
/// where `x < 1/2`; NaN at the poles 0, -1, -2, …
pub(super) fn digamma(x: Expr<'_>) -> Expr<'_> {
    in_f32([x], |[x]| {
        let Reflected { is_reflected, z, .. } = reflected(x);
        let zero = x.like(0.0);
        let mut a = x.like(LANCZOS_BASE);
        let mut derivative = zero;
        for (k, c) in (1u8..).zip(LANCZOS) {
            let c = x.like(c);
            let term = z + x.like(k.into());
            derivative = derivative - c / (term * term);
            a = a + c / term;
        }
        let (t, log_t) = lanczos_t(x, z);
        let quotient = derivative / a;
        let correction = x.like(LANCZOS_G) / t;
        let digamma = log_t + quotient - correction;

        // The cotangent has period 1: the distance of x from the nearest integer is enough.
        let reduced = x + (x + x.like(0.5)).floor().abs();
        let pi = x.like(PI);
        let angle = pi * reduced;
        let cos = angle.cos();
        let sin = angle.sin();
        let reflection = digamma - pi * cos / sin;
        let digamma = select(is_reflected, reflection, digamma);
        let is_negative = x.le(zero);
        let is_pole = is_negative & x.eq(x.floor());
        select(is_pole, x.like(f64::NAN), digamma)
    })
}

/// `(2k)! / B(2k)` for Bernoulli numbers `B`, from `k = 12` to `k = 1`.
const ZETA: [f64; 12] = [
    -7.166165256175667e18,
    1.8152105401943546e17,
    -4_597_978_722_407_473.0,
    116_467_828_143_500.67,
    -2_950_130_727_918.164,
    74_724_249_600.0,
    -1_892_437_580.3183792,
    47_900_160.0,
    -1_209_600.0,
    30240.0,
    -720.0,
    12.0,
];
/// Number of terms summed directly.
const ZETA_TERMS: usize = 9;

/// `zeta(x, q) = sum 1 / (q + k)^x`: nine terms, and the Euler-Maclaurin formula for the rest.
///
/// Source: Johansson, "Rigorous high-precision computation of the Hurwitz zeta function and its
/// derivatives" (2015), formula 5.
pub(super) fn zeta<'b>(x: Expr<'b>, q: Expr<'b>) -> Expr<'b> {
    in_f32([x, q], |[x, q]| {
        let zero = q.like(0.0);
        let one = q.like(1.0);
        let minus_x = -x;
        let mut sum = pow(q, minus_x);
        let mut a = q;
        for _ in 0..ZETA_TERMS {
            a = a + one;
            sum = sum + pow(a, minus_x);
        }
        a = a + one;
        let power = pow(a, minus_x);
        let one_of_x = x.like(1.0);
        let integral = power * a / (x - one_of_x);

        let inverse_square = one / (a * a);
        let mut tail = zero;
        for (i, c) in ZETA[..11].iter().enumerate() {
            let n = (2 * (ZETA.len() - 1 - i)) as f64;
            let factor = x + x.like(n);
            let factor = factor * (x + x.like(n - 1.0));
            tail = factor * (inverse_square * (tail + a.like(1.0 / c)));
        }
        let half = power.like(0.5);
        let ratio = x / a;
        let tail = power * (half + ratio * (a.like(1.0 / ZETA[11]) + tail));
        let accurate = sum + integral + tail;

        let last = power.abs();
        let is_converged = last.lt(sum.abs() * a.like_min_positive());
        let zeta = select(is_converged, sum, accurate);

        // Undefined for x < 1, and for q <= 0 unless x is an integer.
        let nan = x.like(f64::NAN);
        let zeta = select(x.lt(one_of_x), nan, zeta);
        let is_left = q.le(zero);
        let is_fractional = x.ne(x.floor());
        let zeta = select(is_left & is_fractional, nan, zeta);
        // Infinite at the integers q <= 0, signed only if x is even, and at x = 1.
        let infinity = x.like(f64::INFINITY);
        let is_integer = q.eq(q.floor());
        let is_pole = is_left & is_integer;
        let two = x.like(2.0);
        let is_integer = x.eq(x.floor());
        let is_even = rem(x, two).eq(zero);
        let at_pole = select(is_integer & is_even, infinity, nan);
        let zeta = select(is_pole, at_pole, zeta);
        select(x.eq(one), infinity, zeta)
    })
}

/// `polygamma(n, x) = (-1)^(n + 1) n! zeta(n + 1, x)`; `polygamma(0, x) = digamma(x)`; NaN unless
/// `n` is a natural number.
pub(super) fn polygamma<'b>(n: Expr<'b>, x: Expr<'b>) -> Expr<'b> {
    in_f32([n, x], |[n, x]| {
        let one = x.like(1.0);
        let two = x.like(2.0);
        let sign = two * rem(n, two) - one;
        let n_plus_1 = n + one;
        let factorial = lgamma(n_plus_1).exp();
        let zeta = zeta(n_plus_1, x);
        let polygamma = sign * factorial * zeta;
        let zero = x.like(0.0);
        let is_zero = n.eq(zero);
        let polygamma = select(is_zero, digamma(x), polygamma);
        let is_fractional = n.ne(n.floor());
        let is_outside = is_fractional | n.lt(zero);
        select(is_outside, x.like(f64::NAN), polygamma)
    })
}
