//! The Hurwitz zeta function and the derivatives of the digamma function for results of at most 24
//! bits: in `f64`, with a bound of the error, and with twice the precision where that leaves open
//! to which side a result is rounded.

use super::{gamma, lanes};
use crate::simd::{Isa, Kernel};

/// Powers that are computed side by side.
const POWERS: usize = 12;
/// The numbers `B(2j) / (2j)!` with Bernoulli's numbers, for `j` from 1 to 10.
const EULER_MACLAURIN: [f64; 10] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
];
/// Products of an exponent and a logarithm up to this have powers that are far from overflow.
const MAX_LOG: f64 = 600.0;
/// Orders whose factorial is a number of `f64`.
const MAX_ORDER: f64 = 20.0;

/// The Hurwitz zeta function of numbers of at most 24 bits: with the bits of [`gamma::zeta`] when
/// it is rounded to a type of at most 24 bits.
pub fn zeta(s: f64, q: f64) -> f64 {
    let near = near_zeta(s, q).and_then(|(value, error)| settled(value, error));
    near.unwrap_or_else(|| gamma::zeta(s, q))
}

/// The derivative of order `n` of the digamma function, as [`zeta`] and [`gamma::polygamma`].
pub fn polygamma(n: f64, x: f64) -> f64 {
    let near = || {
        if !(1.0..=MAX_ORDER).contains(&n) || n.fract() != 0.0 {
            return None;
        }
        let (zeta, error) = near_zeta(n + 1.0, x)?;
        // Exact, as the product of the odd factors has less than 53 bits.
        let factorial: f64 = (1..=n as u32).map(f64::from).product();
        let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
        settled(sign * factorial * zeta, error + f64::EPSILON)
    };
    near().unwrap_or_else(|| gamma::polygamma(n, x))
}

/// A number, if no number of 25 bits, where results of fewer bits are rounded to another side, is
/// within a relative error of it.
fn settled(value: f64, error: f64) -> Option<f64> {
    // Bits beyond the first 25, of which the last is at least 2^-53 of the number.
    let rest = value.to_bits() & ((1 << 28) - 1);
    let distance = rest.min((1 << 28) - rest) as f64;
    let is_beyond = distance * (f64::EPSILON / 2.0) > error + f64::EPSILON;
    (value.is_normal() && is_beyond).then_some(value)
}

/// The Hurwitz zeta function with a bound of the relative error; `None` where the series here does
/// not have a small one.
fn near_zeta(s: f64, q: f64) -> Option<(f64, f64)> {
    if !(s > 1.0 && q > 0.0 && q < 1e15) {
        return None;
    }
    let mut powers = Powers { logs: [0.0; POWERS], powers: [0.0; POWERS] };
    Isa::best().run(ZetaTerms { s, q, results: &mut powers });
    let Powers { logs, powers } = powers;
    // Logarithms ascend.
    let log = s * logs[0].abs().max(logs[POWERS - 1].abs());
    if log > MAX_LOG {
        return None;
    }
    // The Euler-Maclaurin formula from a = q + 11 on: a / (s - 1) + 1 / 2 and
    // s / a (B(2) / 2! + (s + 1) (s + 2) / a^2 (B(4) / 4! + ...)) times a^-s.
    let a = q + (POWERS - 1) as f64;
    let (last, coefficients) = (EULER_MACLAURIN[9], &EULER_MACLAURIN[..9]);
    let (mut factor, mut series, mut sizes) = (s / a, 0.0, 0.0);
    for (j, &coefficient) in coefficients.iter().enumerate() {
        let n = (2 * j + 1) as f64;
        series += coefficient * factor;
        sizes += coefficient.abs() * factor;
        factor *= (s + n) * (s + (n + 1.0)) / (a * a);
    }
    let (end, first) = (powers[POWERS - 1], a / (s - 1.0) + 0.5);
    // The smallest ones first.
    let sum = powers[..POWERS - 1].iter().rev();
    let sum = sum.fold(end * (first + series), |sum, power| sum + power);
    // Logarithms and powers are within two units in their last places, and the series is less than
    // its first term that is left out from the exact one.
    let error = (log + 64.0) * 4.0 * f64::EPSILON + 2.0 * last.abs() * factor * end / sum;
    (sizes <= 4.0 * first).then_some((sum, error))
}

/// The logarithms of `q`, `q + 1` and so on, and the powers with exponent `-s`.
struct Powers {
    logs: [f64; POWERS],
    powers: [f64; POWERS],
}

/// Computes powers.
struct ZetaTerms<'a> {
    s: f64,
    q: f64,
    results: &'a mut Powers,
}

impl Kernel for ZetaTerms<'_> {
    #[inline(always)]
    fn run(self) {
        let ZetaTerms { s, q, results } = self;
        for (k, log) in results.logs.iter_mut().enumerate() {
            *log = lanes::log(q + k as f64);
        }
        for (power, log) in results.powers.iter_mut().zip(results.logs) {
            *power = lanes::exp(log * -s);
        }
    }
}
