//! Tests of `batch_norm.rs`.

use kernels::{batch_norm_grad, batch_norm_inference, batch_norm_training};
use numerics::Tensor;

fn floats(shape: &[usize], values: &[f64]) -> Tensor {
    Tensor::from_vec(shape, values.to_vec()).unwrap()
}

fn operand() -> Tensor {
    floats(&[2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 1.0, 2.0])
}

fn output() -> Tensor {
    floats(&[2, 2, 2], &[0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0])
}

#[test]
fn examples_of_the_specification() {
    let (ones, mean) = (floats(&[2], &[1.0, 1.0]), floats(&[2], &[2.0, 3.0]));
    let operands = [operand(), ones.clone(), ones.clone(), mean.clone(), ones.clone()];
    assert_eq!(batch_norm_inference(&operands, 0.0, 2).unwrap(), [output()]);
    let results = batch_norm_training(&[operand(), ones.clone(), ones.clone()], 0.0, 2).unwrap();
    assert_eq!(results, [output(), mean.clone(), ones.clone()]);
    let grad = floats(&[2, 2, 2], &[0.1; 8]);
    let results = batch_norm_grad(&[operand(), ones.clone(), mean, ones, grad], 0.0, 2).unwrap();
    let near =
        |t: &Tensor, x: f64| t.as_slice::<f64>().unwrap().iter().all(|y| (x - y).abs() < 1e-15);
    assert!(
        near(&results[0], 0.0) && near(&results[1], 0.0) && near(&results[2], 0.4),
        "{results:?}"
    );
}

#[test]
fn the_feature_may_be_any_dimension() {
    // Feature 0 holds 1 and 3, feature 1 holds 2 and 6: means 2 and 4, deviations 1 and 2.
    let x = Tensor::from_vec([1, 2, 2], vec![1.0f32, 3.0, 2.0, 6.0]).unwrap();
    let one = |x: f32| Tensor::from_vec([2], vec![x, x]).unwrap();
    let results = batch_norm_training(&[x, one(2.0), one(0.5)], 0.0, 1).unwrap();
    assert_eq!(results[0], Tensor::from_vec([1, 2, 2], vec![-1.5f32, 2.5, -1.5, 2.5]).unwrap());
    assert_eq!(results[1], Tensor::from_vec([2], vec![2.0f32, 4.0]).unwrap());
    assert_eq!(results[2], Tensor::from_vec([2], vec![1.0f32, 4.0]).unwrap());
}

#[test]
fn shapes_are_checked() {
    let ones = floats(&[3], &[1.0; 3]);
    assert!(batch_norm_training(&[operand(), ones.clone(), ones.clone()], 0.0, 2).is_err());
    assert!(batch_norm_training(&[operand(), ones.clone(), ones], 0.0, 3).is_err());
}
