//! The inverse of the error function, and parts of that.

use super::double::{Double, polynomial, two_product};
use std::f64::consts::FRAC_2_SQRT_PI;

/// `2 / sqrt(pi)`.
pub(super) const TWO_OVER_ROOT: Double = Double::new(FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);

/// Up to here, the error function is computed by its series.
const SERIES_LIMIT: f64 = 2.0;

/// The error function of numbers up to [`SERIES_LIMIT`] in size:
/// `2 / sqrt(pi) x exp(-x^2) (1 + 2x^2 / 3 (1 + 2x^2 / 5 (1 + ...)))`.
fn series(x: f64) -> Double {
    let square = two_product(x, x);
    let twice = square.scaled(2.0);
    // Each term is at most 8 / (2k + 1) of the one before.
    let terms: u32 = if x.abs() < 0.5 { 15 } else { 36 };
    let mut sum = Double::ONE;
    for k in (1..=terms).rev() {
        sum = Double::ONE + sum * twice / Double::from(f64::from(2 * k + 1));
    }
    let (exp, exponent) = (-square).exp();
    TWO_OVER_ROOT * Double::from(x) * exp.shifted(exponent) * sum
}

/// `erfc(x)` for `x` of at least [`SERIES_LIMIT`], without a power of two: Laplace's continued
/// fraction `exp(-x^2) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + ...)))`.
pub(super) fn tail(x: f64) -> (Double, i32) {
    // The number of levels falls with x; the outer ones need more precision.
    const OUTER: u32 = 4;
    let levels = OUTER + 6 + (380.0 / (x * x)) as u32;
    let mut rest = x;
    for k in (OUTER + 1..=levels).rev() {
        rest = x + 0.5 * f64::from(k) / rest;
    }
    let mut rest = Double::from(rest);
    for k in (1..=OUTER).rev() {
        rest = Double::from(x) + Double::from(0.5 * f64::from(k)) / rest;
    }
    let (exp, exponent) = (-two_product(x, x)).exp();
    (TWO_OVER_ROOT.scaled(0.5) * exp / rest, exponent)
}

/// The number whose error function is `y`: infinite at ±1, NaN beyond. A step of Newton's method in
/// twice the precision improves [`approximate_erf_inv`].
pub fn erf_inv(y: f64) -> f64 {
    let distance = 1.0 - y.abs();
    if y == 0.0 || y.is_nan() || distance <= 0.0 {
        return approximate_erf_inv(y);
    }
    if y.abs() < 1e-20 {
        // The next term is pi y^2 / 12 of this one. The scale keeps the product from vanishing.
        let scaled = Double::from(libm::scalbn(y, 200)) / TWO_OVER_ROOT;
        return scaled.shifted_value(-200);
    }
    wide_erf_inv(Double::from(y.abs()), distance).value().copysign(y)
}

/// [`erf_inv`] of a positive number up to 1/2 that is not tiny.
pub fn inverse_of(y: f64) -> Double {
    if y < 1e-20 {
        return Double::from(y) / TWO_OVER_ROOT;
    }
    wide_erf_inv(Double::from(y), 1.0 - y)
}

/// [`erf_inv`] of `1 - distance`, which is at least 1/2.
pub fn inverse_beside_one(distance: f64) -> Double {
    wide_erf_inv(Double::ONE + Double::from(-distance), distance)
}

/// [`erf_inv`] of a number between zero and one, where `distance` is that from 1, rounded if `y` is
/// small.
fn wide_erf_inv(y: Double, distance: f64) -> Double {
    let x = approximate_inverse(y.value(), distance);
    let slope = FRAC_2_SQRT_PI * libm::exp(-x * x);
    let error = if x > SERIES_LIMIT {
        let (tail, exponent) = tail(x);
        Double::from(distance) - tail.shifted(exponent)
    } else {
        series(x) - y
    };
    Double::from(x) + Double::from(-(error.value() / slope))
}

/// [`erf_inv`] within a few units in the last place.
pub fn approximate_erf_inv(y: f64) -> f64 {
    let distance = 1.0 - y.abs();
    if y == 0.0 || y.is_nan() {
        return y;
    }
    if distance <= 0.0 {
        return if distance == 0.0 { f64::INFINITY.copysign(y) } else { f64::NAN };
    }
    approximate_inverse(y.abs(), distance).copysign(y)
}

/// [`approximate_erf_inv`] of a number between zero and one with that distance from 1.
fn approximate_inverse(y: f64, distance: f64) -> f64 {
    // M. Giles' approximation in single precision, "Approximating the erfinv function", 2010.
    const CENTRAL: [f64; 9] = [
        2.81022636e-08,
        3.43273939e-07,
        -3.5233877e-06,
        -4.39150654e-06,
        0.00021858087,
        -0.00125372503,
        -0.00417768164,
        0.246640727,
        1.50140941,
    ];
    const TAIL: [f64; 9] = [
        -0.000200214257,
        0.000100950558,
        0.00134934322,
        -0.00367342844,
        0.00573950773,
        -0.0076224613,
        0.00943887047,
        1.00167406,
        2.83297682,
    ];
    let start =
        |coefficients: &[f64], w: f64| y * polynomial(coefficients, &[], Double::from(w)).hi;
    let w = -libm::log(distance * (1.0 + y));
    let mut x = if w < 5.0 {
        start(&CENTRAL, w - 2.5)
    } else if w < 16.0 {
        start(&TAIL, w.sqrt() - 3.0)
    } else {
        // From erfc(x) = exp(-x^2) / (x sqrt(pi)) up to a few percent.
        let log = -libm::log(distance * 2.0 / FRAC_2_SQRT_PI);
        (log - 0.5 * libm::log(log)).sqrt()
    };
    // Halley's steps; each triples the number of right digits.
    for _ in 0..3 {
        let error = if distance < 0.5 { distance - libm::erfc(x) } else { libm::erf(x) - y };
        let newton = error / (FRAC_2_SQRT_PI * libm::exp(-x * x));
        x -= newton / (1.0 + x * newton);
    }
    x
}
