//! Tests of `math/unary.rs`.

use numerics::math::element::{ElementKernel, ScalarElement};
use numerics::math::{UnaryOp, unary};
use numerics::{
    Complex32, DType, Element, F8E4M3FN, F8E5M2FNUZ, F8E8M0FNU, I1, Tensor, TensorError, bf16, f16,
};

fn vector<T: Element>(elements: &[T]) -> Tensor {
    Tensor::from_vec([elements.len()], elements.to_vec()).unwrap()
}

fn apply<T: Element, R: Element>(op: UnaryOp, elements: &[T]) -> Vec<R> {
    unary(op, vector(elements)).unwrap().to_vec().unwrap()
}

#[test]
fn rounding_to_integers() {
    let x = [-2.5f32, -0.5, 0.5, 1.5, 2.4];
    assert_eq!(apply::<_, f32>(UnaryOp::Ceil, &x), [-2.0, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(apply::<_, f32>(UnaryOp::Floor, &x), [-3.0, -1.0, 0.0, 1.0, 2.0]);
    assert_eq!(apply::<_, f32>(UnaryOp::RoundNearestAfz, &x), [-3.0, -1.0, 1.0, 2.0, 2.0]);
    assert_eq!(apply::<_, f32>(UnaryOp::RoundNearestEven, &x), [-2.0, 0.0, 0.0, 2.0, 2.0]);
    let x = [-2.5f64, 2.5].map(bf16::from_f64);
    assert_eq!(apply::<_, bf16>(UnaryOp::RoundNearestEven, &x), [-2.0, 2.0].map(bf16::from_f64));
}

#[test]
fn functions_round_to_the_type() {
    // e = 2.71828182845904523536 lies between 2.71828174591064453125 and
    // 2.718281984329223632812.
    assert_eq!(apply::<_, f32>(UnaryOp::Exponential, &[0.0f32, 1.0]), [1.0, 2.718_281_7]);
    assert_eq!(
        apply::<_, F8E4M3FN>(UnaryOp::Exponential, &[F8E4M3FN::from_bits(0x38)])[0].to_f32(),
        2.75
    );
    assert_eq!(apply::<_, f64>(UnaryOp::Rsqrt, &[0.25f64, 0.0]), [2.0, f64::INFINITY]);
    assert_eq!(apply::<_, f32>(UnaryOp::Cbrt, &[-27.0f32]), [-3.0]);
    assert_eq!(apply::<_, f32>(UnaryOp::LogPlusOne, &[1e-10f32]), [1e-10]);
    assert!(apply::<_, f32>(UnaryOp::Sqrt, &[-1.0f32])[0].is_nan());
    assert!(apply::<_, f32>(UnaryOp::Acosh, &[-5e7f32])[0].is_nan());
}

#[test]
fn parts_of_complex_numbers() {
    let z = [Complex32::new(3.0, -4.0)];
    assert_eq!(apply::<_, f32>(UnaryOp::Abs, &z), [5.0]);
    assert_eq!(apply::<_, f32>(UnaryOp::Real, &z), [3.0]);
    assert_eq!(apply::<_, f32>(UnaryOp::Imag, &z), [-4.0]);
    assert_eq!(apply::<_, f32>(UnaryOp::Imag, &[1.0f32]), [0.0]);
    assert_eq!(apply::<_, Complex32>(UnaryOp::Negate, &z), [Complex32::new(-3.0, 4.0)]);
}

#[test]
fn absolute_values_of_complex_numbers() {
    let bits = [
        0u32,
        1,
        0x3f80_0000,
        0x4040_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xff81_2345,
    ];
    for re in bits {
        for im in bits {
            let z = Complex32::new(f32::from_bits(re), f32::from_bits(im));
            let expected = libm::hypot(z.re.into(), z.im.into()) as f32;
            let found = apply::<_, f32>(UnaryOp::Abs, &[z])[0];
            assert_eq!(found.to_bits(), expected.to_bits(), "{z}");
        }
    }
}

#[test]
fn predicates() {
    let x = [1.0f64, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let bits = |op| apply::<_, I1>(op, &x).into_iter().map(I1::get).collect::<Vec<_>>();
    assert_eq!(bits(UnaryOp::IsFinite), [true, false, false, false]);
    assert_eq!(bits(UnaryOp::IsInf), [false, true, true, false]);
    assert_eq!(bits(UnaryOp::IsNegInf), [false, false, true, false]);
}

#[test]
fn every_operation_is_defined_or_refused() {
    for &op in UnaryOp::ALL {
        for &dtype in DType::ALL {
            let result = unary(op, Tensor::zeros(dtype, [3]).unwrap());
            match result {
                Ok(result) => assert_eq!(result.shape(), [3]),
                Err(error) => {
                    assert_eq!(error, TensorError::Unsupported { op: op.name(), dtype })
                }
            }
        }
    }
    assert!(unary(UnaryOp::Not, Tensor::scalar(1.0f32)).is_err());
    assert!(unary(UnaryOp::Negate, Tensor::scalar(I1::new(true))).is_err());
}

#[test]
fn a_shared_operand_keeps_its_elements() {
    let x = vector(&vec![2i32; 5000]);
    let y = unary(UnaryOp::Negate, x.clone()).unwrap();
    assert_eq!(x, vector(&vec![2i32; 5000]));
    assert_eq!(y, vector(&vec![-2i32; 5000]));
    let place = y.bytes().as_ptr();
    assert_eq!(unary(UnaryOp::Negate, y).unwrap().bytes().as_ptr(), place);
}

/// Applies an operation to all numbers of a type often enough that the results are looked up, and
/// compares with the function of single elements.
fn check_all<T: Element>(op: UnaryOp, all: &[T]) {
    let Some(single) = ElementKernel::unary(op, T::DTYPE) else { return };
    let operands = Tensor::from_vec([2 * all.len()], all.repeat(2)).unwrap();
    // Of one operand in a hundred of 16 bits: functions are slow in tests.
    let step = if all.len() > 256 { 97 } else { 1 };
    for results in [unary(op, operands.clone()).unwrap(), unary(op, operands).unwrap()] {
        let found = results.bytes().chunks(single.result().bytes());
        for (&x, found) in all.repeat(2).iter().zip(found).step_by(step) {
            let x = ScalarElement::new(x);
            let expected = single.apply(&x, &x).into_tensor();
            assert_eq!(found, &expected.bytes()[..], "{} of {x:?}", op.name());
        }
    }
}

#[test]
fn looked_up_results_are_those_of_single_elements() {
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    for &op in UnaryOp::ALL {
        check_all(op, &halves);
        check_all(op, &brains);
    }
    let bytes = || 0..=u8::MAX;
    for &op in UnaryOp::ALL {
        check_all(op, &bytes().map(F8E4M3FN::from_bits).collect::<Vec<_>>());
        check_all(op, &bytes().map(F8E5M2FNUZ::from_bits).collect::<Vec<_>>());
        check_all(op, &bytes().map(F8E8M0FNU::from_bits).collect::<Vec<_>>());
    }
}
