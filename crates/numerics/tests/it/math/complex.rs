//! Tests of `math/complex.rs`.

use numerics::Complex;
use numerics::math::complex::*;
use numerics::math::complex_binary::{atan2, power};
use numerics::math::double::Double as D;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

const INFINITY: f64 = f64::INFINITY;
const ONE: Complex64 = Complex64 { re: 1.0, im: 0.0 };
const I: Complex64 = Complex64 { re: 0.0, im: 1.0 };

fn z(re: f64, im: f64) -> Complex64 {
    Complex::new(re, im)
}

/// Each part within a few units in the last place.
fn assert_close(actual: Complex64, expected: Complex64) {
    let close = |x: f64, y: f64| x == y || (x - y).abs() <= 1e-15 * y.abs();
    assert!(
        close(actual.re, expected.re) && close(actual.im, expected.im),
        "{actual} and {expected}"
    );
}

#[test]
fn logarithms_near_one_keep_their_precision() {
    // |1 + 1e-10 i|^2 is 1 + 1e-20; log::<D>(1 + t) is t - t^2 / 2 + ...
    assert_close(log::<D>(z(1.0, 1e-10)), z(5e-21, 1e-10));
    assert_close(log_1p::<D>(z(1e-20, 1e-20)), z(1e-20, 1e-20));
    // Re is (2x + x^2 + y^2) / 2 up to its square: x = -y^2 / 2 leaves y^4 / 8.
    let y = (-20f64).exp2();
    assert_close(
        log_1p::<D>(z(-0.5 * y * y, y)),
        z(0.125 * y.powi(4), libm::atan2(y, 1.0 - 0.5 * y * y)),
    );
}

#[test]
fn extreme_numbers_neither_overflow_nor_vanish() {
    let max = f64::MAX;
    assert_close(log::<D>(z(max, max)), z(max.ln() + 0.5 * LN_2, FRAC_PI_4));
    assert_close(log::<D>(z(0.0, f64::from_bits(1))), z(-1074.0 * LN_2, FRAC_PI_2));
    assert_close(sqrt::<D>(z(-max, 0.0)), z(0.0, max.sqrt()));
    assert_close(divide(z(max, max), z(max, max)), ONE);
    assert_close(divide(z(1e-300, 0.0), z(1e-300, 1e-300)), z(0.5, -0.5));
    assert_close(sign::<D>(z(max, -max)), z(0.5f64.sqrt(), -(0.5f64.sqrt())));
    // exp::<D>(709.9) alone is larger than the largest number, its product with cos::<D>(1.5)
    // is not.
    assert!(exp::<D>(z(710.0, 1.5)).re.is_finite());
    assert_close(tanh::<D>(z(800.0, 1.0)), ONE);
    assert_close(exp_m1::<D>(z(1e-18, 1e-9)), z(1e-18 - 5e-19, 1e-9));
}

#[test]
fn special_values() {
    assert_eq!(sqrt::<D>(z(-4.0, -0.0)), z(0.0, -2.0));
    assert_eq!(sqrt::<D>(z(f64::NAN, INFINITY)).im, INFINITY);
    assert!(exp::<D>(z(f64::NEG_INFINITY, INFINITY)).re.is_nan());
    assert_eq!(log::<D>(z(0.0, 0.0)).re, f64::NEG_INFINITY);
    assert_eq!(divide(ONE, z(0.0, 0.0)).re, INFINITY);
    assert_eq!(divide(ONE, z(INFINITY, f64::NAN)), z(0.0, 0.0));
    assert_eq!(power(z(0.0, 0.0), z(2.0, 1.0)), z(0.0, 0.0));
    assert_eq!(power(z(-2.0, 0.0), z(3.0, 0.0)), z(-8.0, 0.0));
    assert_eq!(power(z(0.0, 0.0), z(0.0, 0.0)), ONE);
    assert!(sign::<D>(z(f64::NAN, 0.0)).im.is_nan());
}

#[test]
fn roots_of_the_largest_numbers() {
    let (max, root) = (f64::MAX, f64::MAX.sqrt());
    // sqrt(i) = (1 + i) / sqrt(2).
    assert_close(sqrt::<D>(z(0.0, max)), z(root * 0.5f64.sqrt(), root * 0.5f64.sqrt()));
    assert_close(rsqrt::<D>(z(0.0, max)), z(0.5f64.sqrt() / root, -(0.5f64.sqrt() / root)));
    assert_close(cbrt::<D>(z(max, 1.0)), z(libm::cbrt(max), libm::cbrt(max) / max / 3.0));
    assert_eq!(cbrt::<D>(z(INFINITY, 0.0)), z(INFINITY, 0.0));
    assert!(exp_m1::<D>(z(-0.0, 0.0)).re.is_sign_negative());
}

#[test]
fn poles_of_inverse_tangents_are_infinite() {
    assert_eq!(atanh::<D>(z(1.0, 0.0)), z(INFINITY, 0.0));
    assert_eq!(atanh::<D>(z(-1.0, 0.0)), z(-INFINITY, 0.0));
    assert_eq!(atan::<D>(z(0.0, 1.0)), z(0.0, INFINITY));
    assert_eq!(atanh::<f64>(z(1.0, 0.0)), z(INFINITY, 0.0));
}

#[test]
fn nothing_panics() {
    let parts = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::MAX,
        f64::from_bits(1),
        INFINITY,
        -INFINITY,
        f64::NAN,
        1e-300,
        709.0,
    ];
    let numbers: Vec<_> = parts.iter().flat_map(|&re| parts.map(|im| z(re, im))).collect();
    let unary = [
        log::<D>,
        log_1p::<D>,
        exp::<D>,
        exp_m1::<D>,
        sqrt::<D>,
        rsqrt::<D>,
        cbrt::<D>,
        sign::<D>,
        logistic::<D>,
        sinh::<D>,
        cosh::<D>,
        tanh::<D>,
        sin::<D>,
        cos::<D>,
        tan::<D>,
    ];
    let inverse = [asin::<D>, acos::<D>, atan::<D>, asinh::<D>, acosh::<D>, atanh::<D>];
    for &x in &numbers {
        for f in unary.iter().chain(&inverse) {
            f(x);
        }
        // The square root of no number has a negative real part.
        assert!(sqrt::<D>(x).re.is_nan() || sqrt::<D>(x).re >= 0.0);
        for &y in &numbers {
            for f in [divide, power, atan2] {
                f(x, y);
            }
        }
    }
}

#[test]
fn identities() {
    for (re, im) in [(0.3, 0.4), (-1.5, 0.25), (2.0, -3.0), (-0.7, -0.1), (1e-3, 2.0)] {
        let near = |actual: Complex64, expected: Complex64| {
            assert!(
                (actual - expected).norm() <= 4e-15 * expected.norm(),
                "{actual} and {expected}"
            );
        };
        let x = z(re, im);
        near(exp::<D>(log::<D>(x)), x);
        near(sqrt::<D>(x) * sqrt::<D>(x), x);
        near(rsqrt::<D>(x) * sqrt::<D>(x), ONE);
        near(cbrt::<D>(x) * cbrt::<D>(x) * cbrt::<D>(x), x);
        near(exp_m1::<D>(log_1p::<D>(x)), x);
        near(cos::<D>(x) * 2.0, exp::<D>(x * I) + exp::<D>(x * -I));
        near(sin::<D>(x) * I * 2.0, exp::<D>(x * I) - exp::<D>(x * -I));
        near(tan::<D>(x) * cos::<D>(x), sin::<D>(x));
        near(tanh::<D>(x) * cosh::<D>(x), sinh::<D>(x));
        near(sin::<D>(asin::<D>(x)), x);
        near(cos::<D>(acos::<D>(x)), x);
        near(tan::<D>(atan::<D>(x)), x);
        near(sinh::<D>(asinh::<D>(x)), x);
        near(cosh::<D>(acosh::<D>(x)), x);
        near(tanh::<D>(atanh::<D>(x)), x);
        near(power(x, z(2.0, 0.0)), x * x);
        near(logistic::<D>(x) + logistic::<D>(-x), ONE);
        near(sign::<D>(x) * libm::hypot(re, im), x);
        near(tan::<D>(atan2(x, ONE)), x);
    }
    assert_close(log::<D>(z(-1.0, 0.0)), z(0.0, PI));
}
