//! Tests of `math/lanes.rs`.

use numerics::math::lanes::{exp, exp_m1, log, log_1p, logistic, pow, rsqrt, tanh};

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
    assert_eq!([exp(f64::NEG_INFINITY) as f32, exp(f64::INFINITY) as f32], [0.0, f32::INFINITY]);
    assert_eq!([exp(0.0), tanh(0.0), logistic(0.0)], [1.0, 0.0, 0.5]);
    assert!(tanh(-0.0).is_sign_negative());
    assert_eq!([tanh(f64::INFINITY), tanh(f64::NEG_INFINITY)], [1.0, -1.0]);
    assert_eq!([logistic(f64::INFINITY), logistic(f64::NEG_INFINITY) as f32 as f64], [1.0, 0.0]);
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
