//! Tests of `math/scalar.rs`.

use numerics::math::scalar::{digamma, next_after};
use numerics::{F8E4M3FNUZ, bf16};

fn assert_close(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() <= 2e-15 * expected.abs().max(1e-3),
        "{actual} and {expected}"
    );
}

#[test]
fn neighbours() {
    assert_eq!(next_after(1.0f32, 2.0), 1.0 + f32::EPSILON);
    assert_eq!(next_after(1.0f64, 0.0), 1.0 - f64::EPSILON / 2.0);
    assert_eq!(next_after(0.0f32, -1.0), -f32::from_bits(1));
    assert_eq!(next_after(-f32::from_bits(1), 0.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(next_after(f32::MAX, f32::INFINITY), f32::INFINITY);
    assert_eq!(next_after(bf16::ONE, bf16::INFINITY).to_bits(), 0x3F81);
    let smallest = F8E4M3FNUZ::from_bits(0x81);
    assert_eq!(next_after(smallest, F8E4M3FNUZ::from_bits(0)).to_bits(), 0);
    assert!(next_after(f64::NAN, 1.0).is_nan());
}

#[test]
fn digamma_values() {
    const EULER: f64 = 0.5772156649015329;
    assert_close(digamma(1.0), -EULER);
    assert_close(digamma(0.5), -EULER - 2.0 * 2f64.ln());
    assert_close(digamma(2.0), 1.0 - EULER);
    // The reflection: digamma(-1/2) = digamma(3/2) = digamma(1/2) + 2.
    assert!((digamma(-0.5) - (digamma(0.5) + 2.0)).abs() < 1e-14);
    assert!(digamma(-2.0).is_nan());
    assert!(digamma(0.0).is_nan() && digamma(-0.0).is_nan());
}
