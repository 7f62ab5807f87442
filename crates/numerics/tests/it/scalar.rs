//! Tests of `math/scalar.rs`.

use numerics::math::scalar::next_after;
use numerics::{F8E4M3FNUZ, bf16};

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
