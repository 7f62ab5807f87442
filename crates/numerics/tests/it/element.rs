//! Tests of `math/element.rs`.

use numerics::math::element::{ElementKernel, ScalarElement};
use numerics::math::{
    BinaryOp, Direction, UnaryOp, binary, compare, compare_total_order, convert, unary,
};
use numerics::{DType, Tensor, TensorError};

/// Elements of a type: small numbers, extremes, and for floats what is no number.
fn samples(dtype: DType) -> Vec<Tensor> {
    let numbers = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, 100.0, 1e30, -1e30, f64::INFINITY, f64::NAN];
    let element = |&x: &f64| convert(Tensor::scalar(x), dtype).unwrap();
    numbers.iter().map(element).collect()
}

/// The bytes of the only element.
fn bytes(tensor: Result<Tensor, TensorError>) -> Option<Vec<u8>> {
    tensor.ok().map(|t| t.bytes().to_vec())
}

#[test]
fn kernels_have_the_bits_of_tensors() {
    for &dtype in DType::ALL {
        let samples = samples(dtype);
        for x in &samples {
            let a = ScalarElement::of_tensor(x).unwrap();
            for &op in UnaryOp::ALL {
                if let Some(kernel) = ElementKernel::unary(op, dtype) {
                    let result = kernel.apply(&a, &a).into_tensor();
                    assert_eq!(bytes(Ok(result)), bytes(unary(op, x.clone())), "{op:?} {x:?}");
                }
            }
            for &to in DType::ALL {
                if let Some(kernel) = ElementKernel::convert(dtype, to) {
                    let result = kernel.apply(&a, &a).into_tensor();
                    assert_eq!(result, convert(x.clone(), to).unwrap(), "{x:?} to {to}");
                }
            }
            for y in &samples {
                let b = ScalarElement::of_tensor(y).unwrap();
                for &op in BinaryOp::ALL {
                    if let Some(kernel) = ElementKernel::binary(op, dtype) {
                        let result = kernel.apply(&a, &b).into_tensor();
                        let expected = binary(op, x.clone(), y.clone());
                        assert_eq!(bytes(Ok(result)), bytes(expected), "{op:?} {x:?} {y:?}");
                    }
                }
                for direction in Direction::ALL {
                    let kernel = ElementKernel::compare(direction, false, dtype).unwrap();
                    let expected = compare(direction, x, y).unwrap();
                    assert_eq!(kernel.apply(&a, &b).into_tensor(), expected);
                    if let Some(kernel) = ElementKernel::compare(direction, true, dtype) {
                        let expected = compare_total_order(direction, x, y).unwrap();
                        assert_eq!(kernel.apply(&a, &b).into_tensor(), expected);
                    }
                }
            }
        }
    }
}
