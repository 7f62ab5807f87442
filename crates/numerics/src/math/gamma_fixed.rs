//! The logarithm of the gamma function in fixed point, where twice the precision of `f64` does not
//! tell to which side a result is rounded: near its zeros, and near the middle between two numbers.
//!
//! It is Stirling's series for numbers from [`SHIFTED`] on, with an error below 2^-290, to which
//! smaller numbers are shifted, and Euler's reflection for negative ones (NIST, *Digital Library of
//! Mathematical Functions*, 5.5 and 5.11).

use super::double::Double;
use super::fixed::{Fixed, LN_2};
use super::ties;
use std::sync::LazyLock;

/// The least number for which Stirling's series is used.
const SHIFTED: f64 = 64.0;
/// The terms of the series: of 64, the next one is below 2^-290.
const TERMS: usize = 40;
/// Smaller numbers have a logarithm that differs by less than 2^-290 from minus the result.
pub(super) const TINY: f64 = 1e-90;

/// `B(2k) / (2k (2k - 1) 64^(2k - 1))` for `k` from 1 to [`TERMS`], with Bernoulli's numbers, which
/// follow from the tangent numbers `T(k)`: `B(2k) = ± 2k T(k) / (4^k (4^k - 1))` (R. P. Brent and D.
/// Harvey, *Fast computation of Bernoulli, tangent and secant numbers*, 2013).
static STIRLING: LazyLock<Vec<Fixed>> = LazyLock::new(|| {
    let mut tangents = vec![Fixed::ONE];
    for k in 1..TERMS {
        tangents.push(tangents[k - 1].times(k as f64));
    }
    for k in 1..TERMS {
        for j in k..TERMS {
            let scaled = |number: Fixed, factor: usize| number.times(factor as f64);
            tangents[j] = scaled(tangents[j - 1], j - k) + scaled(tangents[j], j - k + 2);
        }
    }
    let coefficient = |(k, tangent): (usize, &Fixed)| {
        let k = k as u32 + 1;
        // x / (2^m - 1) is x (2^-m + 2^-2m + ...).
        let bits = 2 * k as i32;
        let (mut part, mut quotient) = (*tangent, Fixed::ZERO);
        while part.sign().is_ne() {
            part = part.scaled(-bits);
            quotient = quotient + part;
        }
        let size = quotient.scaled(-bits - 6 * (bits - 1)).over(2 * k - 1);
        if k.is_multiple_of(2) { -size } else { size }
    };
    tangents.iter().enumerate().map(coefficient).collect()
});

/// `log(pi)` and `log(2 pi) / 2`.
static LOG_PI: LazyLock<Fixed> = LazyLock::new(|| log(ties::TURN.scaled(-1)));
static HALF_LOG_TWO_PI: LazyLock<Fixed> = LazyLock::new(|| (*LOG_PI + *LN_2).scaled(-1));

/// The logarithm of a positive number.
fn log(x: Fixed) -> Fixed {
    let exponent = x.exponent();
    let mantissa = x.scaled(-exponent);
    let near = Fixed::from(mantissa.value().log());
    // x exp(-near) is almost 1: log(1 + r) is r (1 - r (1 / 2 - r (1 / 3 - ...))).
    let rest = mantissa * ties::scaled_exp(-near, 0) - Fixed::ONE;
    let series = (1..=16).rev().fold(Fixed::ZERO, |sum, n| Fixed::ONE.over(n) - sum * rest);
    near + series * rest + LN_2.times(f64::from(exponent))
}

/// The reciprocal of a positive number.
fn reciprocal(x: Fixed) -> Fixed {
    let exponent = x.exponent();
    let mantissa = x.scaled(-exponent);
    let start = Fixed::from(Double::ONE / mantissa.value());
    let two = Fixed::ONE.scaled(1);
    // Each step doubles the digits.
    (0..5).fold(start, |near, _| near * (two - mantissa * near)).scaled(-exponent)
}

/// The logarithm of the gamma function of the sum of a positive number, which is not tiny, and
/// another one that is 0 or 1.
fn of_positive(x: f64, more: f64) -> Fixed {
    let x = Fixed::scaled_number(x, 0) + Fixed::from(more);
    let (mut argument, mut product, mut count) = (x, Fixed::ONE, 0);
    while argument.is_below(SHIFTED) {
        // Divided by 64, factors and products are at most 1.
        product = product * argument.scaled(-6);
        argument = argument + Fixed::ONE;
        count += 6;
    }
    let log_of_argument = log(argument);
    let inverse = reciprocal(argument).scaled(6);
    let square = inverse * inverse;
    let series = STIRLING.iter().rev().fold(Fixed::ZERO, |sum, &term| sum * square + term);
    let main = argument.product(log_of_argument - Fixed::ONE) - log_of_argument.scaled(-1);
    let result = main + *HALF_LOG_TWO_PI + series * inverse;
    match count {
        0 => result,
        count => result - log(product) - LN_2.times(f64::from(count)),
    }
}

/// The logarithm of the absolute value of the gamma function, rounded to nearest, of a number of at
/// least [`TINY`] in size that is no pole, and no zero but a negative one.
pub(super) fn lgamma(x: f64) -> f64 {
    if x > 0.0 {
        return of_positive(x, 0.0).nearest();
    }
    // gamma(x) gamma(1 - x) = pi / sin(pi x).
    let angle = Fixed::scaled_number((x - x.round_ties_even()).abs(), 1) * ties::TURN.scaled(-2);
    let sine = ties::on_circle(angle).im;
    (*LOG_PI - log(sine) - of_positive(-x, 1.0)).nearest()
}
