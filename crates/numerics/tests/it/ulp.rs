//! Tests of `ulp.rs`.

use numerics::ulp::{ulp_distance, ulp_distances};
use numerics::{Complex64, F8E5M2, Tensor};

#[test]
fn distances() {
    assert_eq!(ulp_distance(1.0f32, 1.0 + f32::EPSILON), 1);
    assert_eq!(ulp_distance(1.0f64, 1.0 - f64::EPSILON), 2);
    assert_eq!(ulp_distance(0.0f32, -0.0), 0);
    assert_eq!(ulp_distance(f32::from_bits(2), -f32::from_bits(3)), 5);
    assert_eq!(ulp_distance(f64::NAN, -f64::NAN), 0);
    assert_eq!(ulp_distance(f64::INFINITY, f64::INFINITY), 0);
    assert_eq!(ulp_distance(f64::INFINITY, f64::MAX), u64::MAX);
    assert_eq!(ulp_distance(F8E5M2::from_bits(0x3C), F8E5M2::from_bits(0x40)), 4);
}

#[test]
fn of_tensors() {
    let x = Tensor::scalar(Complex64::new(1.0, 0.0));
    let y = Tensor::scalar(Complex64::new(1.0 + f64::EPSILON, f64::from_bits(3)));
    assert_eq!(ulp_distances(&x, &y).unwrap(), [3]);
    assert!(ulp_distances(&x, &Tensor::scalar(1.0f64)).is_err());
    assert!(ulp_distances(&Tensor::scalar(1i32), &Tensor::scalar(1i32)).is_err());
}
