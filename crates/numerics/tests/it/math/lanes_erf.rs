//! Tests of `math/lanes_erf.rs`.

use super::lanes_trigonometric::distance;
use numerics::math::erf::approximate_erf_inv;
use numerics::math::lanes_erf::{erf, erf_inv, erfc};

/// The largest argument of the polynomial for small ones.
const ERF_LIMIT: f64 = 4.0;

#[test]
fn functions_are_precise() {
    for limit in [1e-3, 1.0, 5.0f64] {
        assert!(distance(erf, libm::erf, limit.min(ERF_LIMIT)) < 5.0);
        assert!(distance(erfc, libm::erfc, 2.0 * limit) < 3.0);
    }
    for limit in [1e-3, 1.0 - f64::from(f32::EPSILON)] {
        assert!(distance(erf_inv, approximate_erf_inv, limit) < 6.0);
    }
}

#[test]
fn limits() {
    let infinity = f64::INFINITY;
    assert_eq!([erf(infinity) as f32, erf(-infinity) as f32], [1.0, -1.0]);
    assert_eq!([erfc(infinity) as f32, erfc(-infinity) as f32], [0.0, 2.0]);
    assert_eq!([erf_inv(1.0), erf_inv(-1.0)], [infinity, -infinity]);
    assert!(erf_inv(1.5).is_nan() && [erf, erfc, erf_inv].iter().all(|f| f(f64::NAN).is_nan()));
    assert!(erf(-0.0).is_sign_negative() && erf_inv(-0.0).is_sign_negative());
    assert_eq!(erfc(0.0), 1.0);
}
