//! Tests of `math/lanes_trigonometric.rs`.

use numerics::math::lanes_trigonometric::{acos, asin, atan, atan2, cos, is_angle, sin, tan};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The largest angle whose sine is computed in lanes.
const LARGEST_ANGLE: f64 = (1u64 << 20) as f64;

/// Largest relative difference between functions at numbers of `f32` up to a limit, in units of
/// 2^-52.
pub(crate) fn distance(f: fn(f64) -> f64, expected: fn(f64) -> f64, limit: f64) -> f64 {
    let points = (-20_000..=20_000).map(|i| (limit * f64::from(i) / 20_000.0) as f32);
    let units = |x: f64| ((f(x) - expected(x)) / expected(x)).abs() / f64::EPSILON;
    points.filter(|&x| x != 0.0).map(|x| units(x.into())).fold(0.0, f64::max)
}

#[test]
fn functions_are_precise() {
    for limit in [1.0, 10.0, 1e3, LARGEST_ANGLE] {
        assert!(distance(sin, libm::sin, limit) < 2.0);
        assert!(distance(cos, libm::cos, limit) < 2.0);
        assert!(distance(tan, libm::tan, limit) < 3.0);
        assert!(distance(atan, libm::atan, limit) < 2.0);
    }
    assert!(distance(asin, libm::asin, 1.0) < 2.0);
    assert!(distance(acos, libm::acos, 1.0) < 2.0);
    for i in 0..360 {
        let (y, x) = libm::sincos(f64::from(i) * PI / 180.0);
        let (y, x) = (f64::from(y as f32), f64::from(x as f32));
        assert!((atan2(y, x) - libm::atan2(y, x)).abs() <= 2.0 * f64::EPSILON, "{i}");
    }
}

#[test]
fn limits() {
    let infinity = f64::INFINITY;
    for (y, x, expected) in [
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, PI),
        (-0.0, -0.0, -PI),
        (-0.0, 3.0, -0.0),
        (0.0, -3.0, PI),
        (2.0, 0.0, FRAC_PI_2),
        (-2.0, -0.0, -FRAC_PI_2),
        (infinity, 1.0, FRAC_PI_2),
        (1.0, infinity, 0.0),
        (-1.0, infinity, -0.0),
        (1.0, -infinity, PI),
        (infinity, infinity, FRAC_PI_4),
        (-infinity, -infinity, -3.0 * FRAC_PI_4),
    ] {
        assert_eq!(atan2(y, x).to_bits(), f64::to_bits(expected), "{y} {x}");
    }
    assert!(atan2(f64::NAN, 0.0).is_nan() && atan2(0.0, f64::NAN).is_nan());
    assert!(asin(1.5).is_nan() && acos(-1.5).is_nan() && acos(f64::NAN).is_nan());
    assert_eq!([acos(1.0), asin(-1.0), acos(-1.0)], [0.0, -FRAC_PI_2, PI]);
    assert!([sin(-0.0), tan(-0.0), atan(-0.0)].iter().all(|x| x.to_bits() == 1 << 63));
    assert_eq!(cos(0.0), 1.0);
    assert!(!is_angle(f64::NAN) && !is_angle(infinity));
}
