//! Tests of `math/bessel.rs`.

use numerics::math::bessel::i1e;

#[test]
fn values() {
    // Abramowitz and Stegun, table 9.8: exp(-x) I1(x).
    for (x, expected) in [(1.0, 0.207_910_4), (5.0, 0.163_972_3), (10.0, 0.121_262_7)] {
        assert!((i1e(x) - expected).abs() < 5e-8, "{x}: {}", i1e(x));
        assert_eq!(i1e(-x), -i1e(x));
    }
    assert_eq!(i1e(f64::INFINITY), 0.0);
    assert_eq!(i1e(-0.0).to_bits(), (-0.0f64).to_bits());
}
