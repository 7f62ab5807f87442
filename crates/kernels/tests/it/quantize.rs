//! Tests of `quantize.rs`.

use kernels::{dequantize, quantize};
use numerics::{DType, Tensor};
use program::UniformQuantization;

fn quantized(scales: Vec<f64>, zero_points: Vec<i64>) -> UniformQuantization {
    UniformQuantization {
        storage: DType::I8,
        storage_min: -128,
        storage_max: 127,
        expressed: DType::F32,
        axis: (scales.len() > 1).then_some(0),
        scales,
        zero_points,
    }
}

#[test]
fn examples_of_the_specification() {
    let view = quantized(vec![0.1, 0.5], vec![-30, -20]);
    let storage = Tensor::from_vec([2], vec![10i8, 10]).expect("two elements");
    let float = Tensor::from_vec([2], vec![4.0f32, 15.0]).expect("two elements");
    assert_eq!(quantize(float.clone(), &view).expect("per axis"), storage);
    assert_eq!(dequantize(storage, &view).expect("per axis"), float);
}

#[test]
fn quantization_rounds_and_saturates() {
    let view = quantized(vec![0.5], vec![1]);
    let float = Tensor::from_vec([4], vec![0.25f32, 0.75, 1e9, -1e9]).expect("four elements");
    // 0.5 + 1 and 1.5 + 1 are ties.
    let expected = Tensor::from_vec([4], vec![2i8, 2, 127, -128]).expect("four elements");
    assert_eq!(quantize(float, &view).expect("per tensor"), expected);
}
