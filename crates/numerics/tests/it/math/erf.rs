//! Tests of `math/erf.rs`.

use numerics::math::erf::erf_inv;

#[test]
fn inverse_of_the_error_function() {
    assert!((erf_inv(0.5) - 0.476_936_276_204_469_9).abs() < 1e-15);
    assert!((erf_inv(-0.9) + 1.163_087_153_676_674_3).abs() < 1e-15);
    assert_eq!(erf_inv(1.0), f64::INFINITY);
    assert!(erf_inv(1.5).is_nan());
    assert_eq!(erf_inv(-0.0).to_bits(), (-0.0f64).to_bits());
}
