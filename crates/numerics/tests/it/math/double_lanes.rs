//! Tests of `math/double_lanes.rs`: its results against those of `Double`, which take other ways
//! and more precision, and its rounding.

use numerics::Tensor;
use numerics::math::double::Double;
use numerics::math::double_lanes::{
    Acos, Acosh, Asin, Asinh, Atan, Atan2, Atanh, Cbrt, Cos, Cosh, ERROR, Exp, ExpM1, Log, Log1p,
    Logistic, Pow, Rounded, Rsqrt, Sin, Sinh, Tan, Tanh, nearest,
};
use numerics::math::{BinaryOp, UnaryOp, binary, unary};

/// Numbers of all sizes that some functions take: products of powers of two and mantissas of a
/// multiplicative generator, of both signs.
fn numbers(exponents: std::ops::Range<i32>) -> impl Iterator<Item = f64> {
    let mut state = 1u64;
    exponents.flat_map(move |exponent| {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mantissa = 1.0 + (state >> 12) as f64 / (1u64 << 52) as f64;
            mantissa * 2f64.powi(exponent)
        };
        (0..200).map(|i| if i % 2 == 0 { next() } else { -next() }).collect::<Vec<_>>()
    })
}

/// The largest relative distance from `exact`, and how many results are known.
fn distance<F: Rounded<N>, const N: usize>(
    operands: impl Iterator<Item = [f64; N]>,
    exact: impl Fn([f64; N]) -> Double,
) -> (f64, usize) {
    let (mut largest, mut known) = (0f64, 0);
    for operand in operands {
        let near = F::near(operand);
        if !near.hi.is_nan() {
            let exact = exact(operand);
            largest = largest.max(((near - exact).value() / exact.value()).abs());
            known += 1;
        }
    }
    (largest, known)
}

#[test]
fn errors_are_within_the_bound() {
    let one = |exponents: std::ops::Range<i32>| numbers(exponents).map(|x| [x]);
    let positive = |exponents| numbers(exponents).map(|x: f64| [x.abs()]);
    let double = Double::from;
    let exp = |x: f64| {
        let (exp, exponent) = double(x).exp();
        exp.shifted(exponent)
    };
    let leg = |x: f64| ((Double::ONE - double(x)) * (Double::ONE + double(x))).sqrt();
    let found = [
        ("acos", distance::<Acos, 1>(one(-40..0), |[x]| leg(x).atan2(double(x)))),
        (
            "acosh",
            distance::<Acosh, 1>(positive(0..90), |[x]| {
                let x = double(x);
                (x + ((x - Double::ONE) * (x + Double::ONE)).sqrt()).log()
            }),
        ),
        ("asin", distance::<Asin, 1>(one(-40..0), |[x]| double(x).atan2(leg(x)))),
        (
            "asinh",
            distance::<Asinh, 1>(one(0..90), |[x]| {
                let size = double(x.abs());
                let value = (size + (size * size + Double::ONE).sqrt()).log();
                if x < 0.0 { -value } else { value }
            }),
        ),
        (
            "atanh",
            distance::<Atanh, 1>(one(-40..0), |[x]| {
                let quotient = double(2.0 * x) / (Double::ONE - double(x));
                quotient.log_1p().scaled(0.5)
            }),
        ),
        ("atan", distance::<Atan, 1>(one(-40..60), |[x]| double(x).atan2(Double::ONE))),
        (
            "atan2",
            distance::<Atan2, 2>(
                numbers(-60..60).zip(numbers(-61..60).skip(199)).map(|(y, x)| [y, x]),
                |[y, x]| double(y).atan2(double(x)),
            ),
        ),
        (
            "cbrt",
            distance::<Cbrt, 1>(one(-90..90), |[x]| {
                let root = double(x.abs()).cbrt();
                if x < 0.0 { -root } else { root }
            }),
        ),
        ("cos", distance::<Cos, 1>(one(-30..20), |[x]| double(x).sin_cos().1)),
        ("cosh", distance::<Cosh, 1>(one(-30..9), |[x]| (exp(x) + exp(-x)).scaled(0.5))),
        ("exp", distance::<Exp, 1>(one(-60..9), |[x]| exp(x))),
        ("exp_m1", distance::<ExpM1, 1>(one(-60..6), |[x]| double(x).exp_m1())),
        ("log", distance::<Log, 1>(positive(-300..300), |[x]| double(x).log())),
        ("log_1p", distance::<Log1p, 1>(one(-60..0), |[x]| double(x).log_1p())),
        ("log_1p", distance::<Log1p, 1>(positive(-60..90), |[x]| double(x).log_1p())),
        (
            "logistic",
            distance::<Logistic, 1>(one(-60..9), |[x]| Double::ONE / (Double::ONE + exp(-x))),
        ),
        (
            "pow",
            distance::<Pow, 2>(
                positive(-60..60).zip(numbers(-50..70)).map(|([x], y)| [x, y]),
                |[x, y]| {
                    let (power, exponent) = (double(x).log() * double(y)).exp();
                    power.shifted(exponent)
                },
            ),
        ),
        ("rsqrt", distance::<Rsqrt, 1>(positive(-90..90), |[x]| Double::ONE / double(x).sqrt())),
        (
            "sinh",
            distance::<Sinh, 1>(one(-40..6), |[x]| {
                let grown = double(x.abs()).exp_m1();
                let sinh = (grown + grown / (grown + Double::ONE)).scaled(0.5);
                if x < 0.0 { -sinh } else { sinh }
            }),
        ),
        ("sin", distance::<Sin, 1>(one(-30..20), |[x]| double(x).sin_cos().0)),
        (
            "tan",
            distance::<Tan, 1>(one(-30..20), |[x]| {
                let (sin, cos) = double(x).sin_cos();
                sin / cos
            }),
        ),
        (
            "tanh",
            distance::<Tanh, 1>(one(-40..4), |[x]| {
                let grown = double(2.0 * x).exp_m1();
                grown / (grown + double(2.0))
            }),
        ),
    ];
    for (name, (largest, known)) in found {
        assert!(known > 7000, "{name} leaves all but {known} results to others");
        assert!(largest <= ERROR, "{name}: 2^{} is above 2^{}", largest.log2(), ERROR.log2());
    }
}

#[test]
fn what_lies_near_the_middle_between_two_numbers_is_left_open() {
    let half_unit = 0.5 * f64::EPSILON;
    assert_eq!(nearest(Double::new(1.0, 0.0)), 1.0);
    assert_eq!(nearest(Double::new(1.5, 0.25 * half_unit)), 1.5);
    for part in [1.0, 1.0 - 0.25 * ERROR / half_unit, -1.0] {
        assert!(nearest(Double::new(1.5, part * half_unit)).is_nan(), "{part}");
    }
    let above = nearest(Double::new(1.5, half_unit * (1.0 + 4.0 * ERROR / half_unit)));
    assert_eq!(above, 1.5f64.next_up());
}

/// Squares of integers of 27 bits, of which many have 54 and end in 1.
#[test]
fn powers_in_the_middle_are_rounded_to_even() {
    let integers: Vec<u64> = (0..4000).map(|i| (1 << 27) - 1 - 2 * i).collect();
    let squares: Vec<f64> = integers.iter().map(|&n| (n * n) as f64).collect();
    assert!(integers.iter().any(|&n| (n * n) as f64 as u64 != n * n));
    let bases = integers.iter().map(|&n| n as f64).collect();
    let bases = Tensor::from_vec([integers.len()], bases).expect("as many elements");
    let two = Tensor::scalar(2.0);
    let powers = binary(BinaryOp::Power, bases, two).expect("defined for floats");
    assert_eq!(powers.to_vec::<f64>().expect("f64"), squares);
}

/// A vector of numbers has the results that each has on its own, with numbers among them that are
/// not computed in vectors.
#[test]
fn neighbours_do_not_matter() {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, -1.0, 1.0, 1e300];
    let numbers: Vec<f64> =
        numbers(-4..4).zip(special.into_iter().cycle()).flat_map(|(x, y)| [x, y]).collect();
    for op in UnaryOp::ALL {
        let all = Tensor::from_vec([numbers.len()], numbers.clone()).expect("as many elements");
        let Ok(results) = unary(*op, all) else { continue };
        for (i, &x) in numbers.iter().enumerate() {
            let one = unary(*op, Tensor::scalar(x)).expect("defined for f64");
            let size = one.bytes().len();
            let found = &results.bytes()[i * size..(i + 1) * size];
            assert_eq!(one.bytes()[..], *found, "{} of {x}", op.name());
        }
    }
}
