//! The modified Bessel function of the first kind and order 1.
//!
//! NIST, *Digital Library of Mathematical Functions*, 10.25.2 and 10.40.1.

use super::double::Double;

/// From here on, the asymptotic series is precise enough: its error is about `exp(-2x)`.
const ASYMPTOTIC: f64 = 25.0;

/// `I1(x) exp(-|x|)`.
pub fn i1e(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() || x == 0.0 {
        return x;
    }
    let value = if size < 1e-20 {
        // The value is just below x / 2, which may lie between two numbers of a narrower type.
        (0.5 * size).next_down().max(0.0)
    } else if size > 1e290 {
        moderate_i1e(1e290).value() * (1e290 / size).sqrt()
    } else {
        moderate_i1e(size).value()
    };
    value.copysign(x)
}

/// [`i1e`] of a positive number that is neither huge nor tiny.
pub fn moderate_i1e(x: f64) -> Double {
    if x < ASYMPTOTIC {
        // x / 2 times the sum of (x^2 / 4)^k / (k! (k + 1)!).
        let half = Double::from(0.5 * x);
        let square = half * half;
        let mut sum = Double::ONE;
        // The terms begin to fall at k = x / 2.
        for k in (1..=(30.0 + 1.5 * x) as u32).rev() {
            let divisor = f64::from(k) * f64::from(k + 1);
            sum = Double::ONE + sum * square / Double::from(divisor);
        }
        let (exp, exponent) = Double::from(-x).exp();
        return half * sum * exp.shifted(exponent);
    }
    // 1 / sqrt(2 pi x) times the sum of products of ((2i - 1)^2 - 4) / (8 i x).
    let mut sum = Double::ONE;
    let eightfold = Double::from(8.0) * Double::from(x);
    for k in (1..=30).rev() {
        let odd = f64::from(2 * k - 1);
        let factor = Double::from(odd * odd - 4.0) / (Double::from(f64::from(k)) * eightfold);
        sum = Double::ONE + sum * factor;
    }
    // The root of a quarter, so that nothing overflows.
    let root = (Double::PI.scaled(0.5) * Double::from(0.25 * x)).sqrt();
    sum.scaled(0.25) / root
}
