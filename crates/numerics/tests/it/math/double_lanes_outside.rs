//! Tests of `math/double_lanes_outside.rs`: vectors of numbers that the fast forms of functions
//! leave open have the results of the exact forms.

use super::double_lanes::numbers;
use numerics::Tensor;
use numerics::math::double_lanes::{
    Acos, Acosh, Asin, Asinh, Atan, Atan2, Atanh, Cbrt, Cos, Cosh, Exp, ExpM1, Log, Log1p,
    Logistic, Pow, Rounded, Rsqrt, Sin, Sinh, Tan, Tanh,
};
use numerics::math::double_lanes_erf::{Erf, Erfc};
use numerics::math::{BinaryOp, UnaryOp, binary, unary};
use std::f64::consts::{FRAC_PI_4, LN_2};

fn vector(numbers: Vec<f64>) -> Tensor {
    Tensor::from_vec([numbers.len()], numbers).expect("as many elements")
}

/// Numbers at the ends of ranges, and of all sizes down to the subnormal ones.
fn numbers_outside() -> Vec<f64> {
    let limits = [0.0, 1.0, 2f64.powi(-28), 2f64.powi(-56), 6.0, 28.0, 40.0, 709.8, 745.2, 711.0];
    let limits = limits.iter().flat_map(|&x| [x, -x, x.next_up(), -x.next_up()]);
    let payload = f64::from_bits(0x7ff8_0000_0000_1234);
    let ends = [f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN, payload].map(|x| [x, -x]);
    let sizes = (-1074..1024).step_by(5).flat_map(|exponent| {
        let power = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        numbers(0..1).step_by(40).map(move |mantissa| mantissa * power)
    });
    limits.chain(ends.into_iter().flatten()).chain(sizes).collect()
}

/// Checks a kernel on blocks of equal numbers, so that it looks for known results, and mixed ones.
fn check_outside<const N: usize>(
    name: &str,
    operands: &[[f64; N]],
    run: impl Fn([Tensor; N]) -> Tensor,
    exact: impl Fn([f64; N]) -> f64,
) {
    let expected: Vec<f64> = operands.iter().map(|&numbers| exact(numbers)).collect();
    for copies in [1, 16] {
        let column = |i: usize| operands.iter().flat_map(move |x| vec![x[i]; copies]);
        let tensors = std::array::from_fn(|i| vector(column(i).collect()));
        let results = run(tensors);
        for (i, result) in results.as_slice::<f64>().unwrap().iter().enumerate() {
            let (numbers, expected) = (operands[i / copies], expected[i / copies]);
            let is_same = result.to_bits() == expected.to_bits();
            assert!(is_same, "{name} {numbers:?}: {result:e}, expected {expected:e}");
        }
    }
}

#[test]
fn results_outside_of_the_range_are_the_exact_ones() {
    let numbers = numbers_outside();
    let singles: Vec<[f64; 1]> = numbers.iter().map(|&x| [x]).collect();
    macro_rules! check {
        ($($op:ident $function:ident),*) => {$(
            let run = |[x]: [Tensor; 1]| unary(UnaryOp::$op, x).unwrap();
            let exact = |[x]: [f64; 1]| match $function::exact([x]) {
                // A new NaN has no sign.
                result if result.is_nan() && !x.is_nan() => f64::NAN,
                result => result,
            };
            check_outside(stringify!($op), &singles, run, exact);
        )*};
    }
    check!(
        Acos Acos, Acosh Acosh, Asin Asin, Asinh Asinh, Atan Atan, Atanh Atanh, Cbrt Cbrt,
        Cosine Cos, Cosh Cosh, Erf Erf, Erfc Erfc, Exponential Exp, ExponentialMinusOne ExpM1,
        Log Log, LogPlusOne Log1p, Logistic Logistic, Rsqrt Rsqrt, Sine Sin, Sinh Sinh, Tan Tan,
        Tanh Tanh
    );
    let few = numbers.iter().enumerate().filter(|(i, _)| *i < 60 || i % 9 == 0).map(|(_, x)| x);
    let beside = [0.0, 1.0, 1.7, 2.0, 3.0, 0.5, 1e-310, 1e-320, 1e300, f64::INFINITY];
    let pairs = few.flat_map(|&x| beside.iter().flat_map(move |&y| [[x, y], [x, -y]]));
    let pairs: Vec<_> = pairs.chain([[f64::NAN; 2], [-f64::NAN; 2]]).collect();
    let run = |op: BinaryOp| move |[x, y]: [Tensor; 2]| binary(op, x, y).unwrap();
    check_outside("power", &pairs, run(BinaryOp::Power), Pow::exact);
    check_outside("atan2", &pairs, run(BinaryOp::Atan2), Atan2::exact);
}

#[test]
fn functions_of_the_least_number_are_exact() {
    let least = vector(vec![f64::from_bits(1); 16]);
    let of = |result: Tensor| {
        let elements = result.as_slice::<f64>().unwrap();
        assert!(elements.iter().all(|x| x.to_bits() == elements[0].to_bits()));
        elements[0]
    };
    let unary = |op| of(unary(op, least.clone()).unwrap());
    let binary = |op, y| of(binary(op, least.clone(), y).unwrap());
    // The number is 2^-1074.
    assert_eq!(unary(UnaryOp::Cbrt), 2f64.powi(-358));
    assert_eq!(unary(UnaryOp::Rsqrt), 2f64.powi(537));
    assert_eq!(unary(UnaryOp::Log), -1074.0 * LN_2);
    assert_eq!(binary(BinaryOp::Atan2, least.clone()), FRAC_PI_4);
    assert_eq!(binary(BinaryOp::Power, vector(vec![0.5; 16])), 2f64.powi(-537));
}
