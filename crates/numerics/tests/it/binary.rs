//! Tests of `math/binary.rs`.

use numerics::math::{BinaryOp, binary};
use numerics::{Complex32, DType, Element, I1, Tensor, TensorError};

fn vector<T: Element>(elements: &[T]) -> Tensor {
    Tensor::from_vec([elements.len()], elements.to_vec()).unwrap()
}

#[test]
fn operands_pair_up_by_shape() {
    let long: Vec<i32> = (0..3000).collect();
    let x = vector(&long);
    let y = Tensor::scalar(1i32);
    let expected = |f: fn(i32) -> i32| vector(&long.iter().map(|&x| f(x)).collect::<Vec<_>>());
    // Shared and unshared operands on either side.
    assert_eq!(binary(BinaryOp::Subtract, x.clone(), y.clone()).unwrap(), expected(|x| x - 1));
    assert_eq!(binary(BinaryOp::Subtract, y.clone(), x.clone()).unwrap(), expected(|x| 1 - x));
    assert_eq!(binary(BinaryOp::Subtract, vector(&long), y.clone()).unwrap(), expected(|x| x - 1));
    assert_eq!(binary(BinaryOp::Subtract, y.clone(), vector(&long)).unwrap(), expected(|x| 1 - x));
    assert_eq!(binary(BinaryOp::Subtract, x.clone(), x.clone()).unwrap(), expected(|_| 0));
    let doubled = binary(BinaryOp::Add, x.clone(), x.clone()).unwrap();
    assert_eq!(binary(BinaryOp::Subtract, x.clone(), doubled.clone()).unwrap(), expected(|x| -x));
    assert_eq!(binary(BinaryOp::Subtract, doubled, x.clone()).unwrap(), x);
    assert_eq!(binary(BinaryOp::Add, y.clone(), y.clone()).unwrap(), Tensor::scalar(2i32));
    assert!(binary(BinaryOp::Add, x.clone(), vector(&[1i32])).is_err());
    assert!(binary(BinaryOp::Add, x, Tensor::scalar(1i64)).is_err());
    let empty = vector::<i32>(&[]);
    assert_eq!(binary(BinaryOp::Add, empty.clone(), y).unwrap(), empty);
}

#[test]
fn an_unshared_operand_becomes_the_result() {
    let (x, y) = (vector(&[1.0f32, 2.0]), vector(&[3.0f32, 4.0]));
    let place = y.bytes().as_ptr();
    let sum = binary(BinaryOp::Add, x.clone(), y).unwrap();
    assert_eq!(sum.bytes().as_ptr(), place);
    assert_eq!(sum.as_slice::<f32>().unwrap(), [4.0, 6.0]);
}

#[test]
fn functions() {
    let pair = |op, x: f64, y: f64| {
        let result = binary(op, Tensor::scalar(x), Tensor::scalar(y)).unwrap();
        result.item::<f64>().unwrap()
    };
    assert_eq!(pair(BinaryOp::Power, 2.0, 10.0), 1024.0);
    assert_eq!(pair(BinaryOp::Power, 0.0, -1.0), f64::INFINITY);
    assert_eq!(pair(BinaryOp::Atan2, 0.0, -1.0), std::f64::consts::PI);
    assert_eq!(pair(BinaryOp::Remainder, -5.0, 3.0), -2.0);
    assert_eq!(pair(BinaryOp::NextAfter, 1.0, 2.0), 1.0 + f64::EPSILON);
    let z = binary(BinaryOp::Complex, Tensor::scalar(1.0f32), vector(&[2.0f32, 3.0])).unwrap();
    assert_eq!(z, vector(&[Complex32::new(1.0, 2.0), Complex32::new(1.0, 3.0)]));
    let square =
        binary(BinaryOp::Power, z.clone(), Tensor::scalar(Complex32::new(2.0, 0.0))).unwrap();
    let square = square.as_slice::<Complex32>().unwrap()[0];
    assert!((square - Complex32::new(-3.0, 4.0)).norm() < 1e-6);
}

#[test]
fn every_operation_is_defined_or_refused() {
    for &op in BinaryOp::ALL {
        for &dtype in DType::ALL {
            let x = Tensor::zeros(dtype, [3]).unwrap();
            match binary(op, x.clone(), x) {
                Ok(result) => assert_eq!(result.shape(), [3]),
                Err(error) => {
                    assert_eq!(error, TensorError::Unsupported { op: op.name(), dtype })
                }
            }
        }
    }
    let yes = Tensor::scalar(I1::new(true));
    assert_eq!(binary(BinaryOp::Add, yes.clone(), yes.clone()).unwrap(), yes);
    assert!(binary(BinaryOp::Subtract, yes.clone(), yes).is_err());
}
