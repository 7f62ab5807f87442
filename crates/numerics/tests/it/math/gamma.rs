//! Tests of `math/gamma.rs`.

use numerics::math::gamma::{digamma, lgamma, polygamma, zeta};

const EULER: f64 = 0.577_215_664_901_532_9;
const PI: f64 = std::f64::consts::PI;

fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 4e-16 * expected.abs(), "{actual} and {expected}");
}

#[test]
fn digamma_values() {
    assert_close(digamma(1.0), -EULER);
    assert_close(digamma(0.5), -EULER - 2.0 * std::f64::consts::LN_2);
    assert_close(digamma(2.0), 1.0 - EULER);
    assert!((digamma(-0.5) - (digamma(0.5) + 2.0)).abs() < 1e-15);
    assert!(digamma(-2.0).is_nan());
    assert!(digamma(0.0).is_nan() && digamma(-0.0).is_nan());
}

#[test]
fn zeta_values() {
    assert_close(zeta(2.0, 1.0), PI * PI / 6.0);
    assert_close(zeta(2.0, 0.5), PI * PI / 2.0);
    // The terms with k = 0 and 1, and those from k = 2 on.
    assert_close(zeta(2.0, -1.5), 1.0 / 2.25 + 4.0 + PI * PI / 2.0);
    assert_close(zeta(3.0, -0.5), -8.0 + zeta(3.0, 0.5));
    assert_eq!(zeta(1.0, 3.0), f64::INFINITY);
    assert_eq!(zeta(2.0, -1.0), f64::INFINITY);
    assert_eq!(zeta(2.0, f64::INFINITY), 0.0);
    assert_eq!(zeta(f64::INFINITY, 1.0), 1.0);
    assert!(zeta(3.0, -1.0).is_nan() && zeta(0.5, 2.0).is_nan());
    assert!(zeta(2.5, -0.5).is_nan());
}

#[test]
fn polygamma_values() {
    assert_close(polygamma(0.0, 1.0), -EULER);
    assert_close(polygamma(1.0, 1.0), PI * PI / 6.0);
    assert_close(polygamma(3.0, 0.5), PI.powi(4));
    assert!(polygamma(1.5, 1.0).is_nan() && polygamma(-1.0, 1.0).is_nan());
    assert_eq!(polygamma(1.0, f64::INFINITY), 0.0);
}

#[test]
fn nothing_panics() {
    let numbers =
        [0.0, 1e-310, 0.5, 1.0, 1.5, 2.0, 7.0, 170.0, 1e5, 1e16, 1e300, f64::MAX, f64::INFINITY];
    let numbers: Vec<f64> =
        numbers.iter().flat_map(|&x| [x, -x]).chain([f64::NAN, -1e5 - 0.5]).collect();
    for &x in &numbers {
        assert_eq!((lgamma(x).is_nan(), x.is_nan()), (x.is_nan(), x.is_nan()));
        digamma(x);
        for &y in &numbers {
            zeta(x, y);
            polygamma(x, y);
        }
    }
}
