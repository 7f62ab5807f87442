//! Tests of `math/double_lanes.rs`: its results against those of `Double`, which take other ways
//! and more precision, and its rounding.

use numerics::Tensor;
use numerics::math::double::Double;
use numerics::math::double_lanes::{
    Acos, Acosh, Asin, Asinh, Atan, Atan2, Atanh, Cbrt, Cos, Cosh, ERROR, Exp, ExpM1, Log, Log1p,
    Logistic, Pow, Rounded, Rsqrt, Sin, Sinh, Tan, Tanh, nearest,
};
use numerics::math::double_lanes_erf::{Erf, Erfc};
use numerics::math::{BinaryOp, UnaryOp, binary, unary};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4, LN_2, SQRT_2};

/// Numbers of all sizes that some functions take: products of powers of two and mantissas of a
/// multiplicative generator, of both signs.
pub(super) fn numbers(exponents: std::ops::Range<i32>) -> impl Iterator<Item = f64> {
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

/// Numbers within 4% of others, of both signs: those at which arguments are reduced in another way,
/// where series have the largest errors.
fn beside(points: &[f64]) -> impl Iterator<Item = f64> {
    const COUNT: usize = 20_000;
    points.iter().flat_map(|&point| {
        let at = move |i: usize| point * (0.96 + 0.08 * (i as f64 + 0.37) / COUNT as f64);
        (0..COUNT).map(move |i| if i % 2 == 0 { at(i) } else { -at(i) })
    })
}

/// The largest relative distance from `exact` in proportion to the bound, and how many results are
/// known.
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
    (largest / F::ERROR, known)
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
        assert!(largest <= 1.0, "{name}: {largest} times the bound");
    }
}

#[test]
fn errors_are_within_the_bound_where_reductions_change() {
    let one = |points: &'static [f64]| beside(points).map(|x| [x]);
    let positive = |points: &'static [f64]| beside(points).map(|x| [x.abs()]);
    let double = Double::from;
    let exp = |x: f64| {
        let (exp, exponent) = double(x).exp();
        exp.shifted(exponent)
    };
    let leg = |x: f64| ((Double::ONE - double(x)) * (Double::ONE + double(x))).sqrt();
    // log(2) / 2 and log(2) / 128, as arguments, values, and after other functions.
    const HALF_LOG: &[f64] = &[0.5 * LN_2, 1.5 * LN_2, LN_2 / 128.0, 63.0 * LN_2 / 128.0];
    // Between multiples of 1/32, and their inverses.
    const ARCS: &[f64] = &[1.0 / 64.0, 3.0 / 64.0, 1.0, 64.0 / 63.0, 64.0 / 3.0];
    const ROOTS: &[f64] = &[SQRT_2, FRAC_1_SQRT_2];
    const ANGLES: &[f64] = &[FRAC_PI_4, 3.0 * FRAC_PI_4, 29.0 * FRAC_PI_4];
    let found = [
        ("acos", distance::<Acos, 1>(one(&[FRAC_1_SQRT_2]), |[x]| leg(x).atan2(double(x)))),
        (
            "acosh",
            distance::<Acosh, 1>(positive(&[1.1]), |[x]| {
                let rest = double(x) - Double::ONE;
                (rest + (rest * (rest + double(2.0))).sqrt()).log_1p()
            }),
        ),
        ("asin", distance::<Asin, 1>(one(&[FRAC_1_SQRT_2]), |[x]| double(x).atan2(leg(x)))),
        (
            "asinh",
            distance::<Asinh, 1>(positive(&[0.353_553]), |[x]| {
                let square = double(x) * double(x);
                let root = (square + Double::ONE).sqrt();
                (double(x) + square / (Double::ONE + root)).log_1p()
            }),
        ),
        ("atan", distance::<Atan, 1>(one(ARCS), |[x]| double(x).atan2(Double::ONE))),
        (
            "atanh",
            distance::<Atanh, 1>(positive(&[0.171_573]), |[x]| {
                (double(2.0 * x) / (Double::ONE - double(x))).log_1p().scaled(0.5)
            }),
        ),
        ("cbrt", distance::<Cbrt, 1>(positive(&[1.0 / 3.0, 1.0, 3.0]), |[x]| double(x).cbrt())),
        ("cos", distance::<Cos, 1>(one(ANGLES), |[x]| double(x).sin_cos().1)),
        ("cosh", distance::<Cosh, 1>(one(HALF_LOG), |[x]| (exp(x) + exp(-x)).scaled(0.5))),
        ("exp", distance::<Exp, 1>(one(HALF_LOG), |[x]| exp(x))),
        ("exp_m1", distance::<ExpM1, 1>(one(HALF_LOG), |[x]| double(x).exp_m1())),
        ("log", distance::<Log, 1>(positive(ROOTS), |[x]| double(x).log())),
        ("log_1p", distance::<Log1p, 1>(one(&[0.414_214, 0.292_893]), |[x]| double(x).log_1p())),
        (
            "logistic",
            distance::<Logistic, 1>(one(HALF_LOG), |[x]| Double::ONE / (Double::ONE + exp(-x))),
        ),
        (
            "pow",
            distance::<Pow, 2>(
                beside(ROOTS).map(|x| [x.abs(), 1001.0 * (1.5 - x.abs())]),
                |[x, y]| {
                    let (power, exponent) = (double(x).log() * double(y)).exp();
                    power.shifted(exponent)
                },
            ),
        ),
        ("rsqrt", distance::<Rsqrt, 1>(positive(ROOTS), |[x]| Double::ONE / double(x).sqrt())),
        (
            "sinh",
            distance::<Sinh, 1>(one(HALF_LOG), |[x]| {
                let grown = double(x).exp_m1();
                (grown + grown / (grown + Double::ONE)).scaled(0.5)
            }),
        ),
        ("sin", distance::<Sin, 1>(one(ANGLES), |[x]| double(x).sin_cos().0)),
        (
            "tan",
            distance::<Tan, 1>(one(ANGLES), |[x]| {
                let (sin, cos) = double(x).sin_cos();
                sin / cos
            }),
        ),
        (
            "tanh",
            distance::<Tanh, 1>(one(&[1.0 / 64.0, 3.0 / 64.0, 15.5 / 32.0, 63.5 / 32.0]), |[x]| {
                let grown = double(2.0 * x).exp_m1();
                grown / (grown + double(2.0))
            }),
        ),
    ];
    for (name, (largest, known)) in found {
        assert!(known >= 20_000, "{name} leaves all but {known} results to others");
        assert!(largest <= 1.0, "{name}: {largest} times the bound");
    }
}

/// Points at which an earlier series exceeded the bound, and between and at the numbers of a table,
/// with MPFR's value as a sum of two numbers.
#[rustfmt::skip]
const MPFR: &[(&str, f64, [f64; 2])] = &[
    ("exp_m1", 0.349681382536947, [0.41861548091317674, -1.6304466193100382e-17]),
    ("exp_m1", 0.3555171246448907, [0.42691835817186696, 9.61333359996596e-18]),
    ("exp_m1", 0.35061036614857205, [0.4199339637758064, -2.3691005460435114e-17]),
    ("exp_m1", 0.3491915085645852, [0.4179207083016914, 2.8774862366566856e-18]),
    ("exp_m1", 0.3472650179375335, [0.41519172686984135, 2.313913871924661e-17]),
    ("exp_m1", 0.35361582883671583, [0.4242079417470566, -2.568850059153601e-17]),
    ("exp_m1", 0.356646345237607, [0.4285305738683051, 1.7828269181211563e-17]),
    ("exp_m1", 0.34749705344943405, [0.4155201397068699, 5.3396405766870005e-18]),
    ("sinh", 0.3483642016985652, [0.35545318862039244, -2.484147028201091e-17]),
    ("sinh", 0.35495492877385815, [0.36245566467582946, -2.5659078582039153e-17]),
    ("sinh", 0.3500354877401308, [0.3572274133062955, -2.5151434778809685e-17]),
    ("sinh", 0.35400622318197866, [0.3614467267724705, -1.8548221826761187e-17]),
    ("sinh", 0.349681382536947, [0.35685141474516646, 2.3583647450557424e-17]),
    ("sinh", 0.35061036614857205, [0.35783793028720134, 6.854382461207717e-18]),
    ("sinh", 0.3555171246448907, [0.36305370764705747, -3.4525290354082717e-18]),
    ("sinh", 0.35193584425921826, [0.3592460300846, 1.9686238550082162e-17]),
    ("erf", 1e-09, [1.1283791670955127e-09, -1.624992790279848e-26]),
    ("erf", 0.0078, [0.00880117901507261, -7.614418594169366e-19]),
    ("erf", 0.0391, [0.04409715223339945, -1.519596486532494e-18]),
    ("erf", -0.3828125000000001, [-0.411753365888495, -2.178978255718666e-17]),
    ("erf", 1.4921875, [0.9651650488697547, -1.85067854163167e-18]),
    ("erf", 4.0390625, [0.9999999888407531, -1.811243310046316e-18]),
    ("erf", 5.8, [0.9999999999999998, -1.351433259061285e-17]),
    ("erfc", -3.1, [1.9999883513426329, -6.364984685114817e-17]),
    ("erfc", -0.0078, [1.0088011790150726, 7.912175520467098e-18]),
    ("erfc", 0.0391, [0.9559028477666005, 4.3152959909975865e-17]),
    ("erfc", 1.0, [0.15729920705028513, -2.954563826510312e-18]),
    ("erfc", 2.7, [0.0001343327399405242, 1.674812625623544e-21]),
    ("erfc", 4.0390625, [1.1159246861715458e-08, 6.64324678521514e-25]),
    ("erfc", 5.9921, [2.3688537812287874e-17, -1.0246542536723614e-33]),
];

#[test]
fn errors_are_within_the_bound_beside_mpfr() {
    for &(name, x, parts) in MPFR {
        let (near, bound) = match name {
            "erf" => (Erf::near([x]), Erf::ERROR),
            "erfc" => (Erfc::near([x]), Erfc::ERROR),
            "exp_m1" => (ExpM1::near([x]), ExpM1::ERROR),
            _ => (Sinh::near([x]), Sinh::ERROR),
        };
        let [hi, lo] = parts;
        let error = (((near.hi - hi) + (near.lo - lo)) / hi).abs();
        assert!(error <= bound, "{name} of {x}: 2^{}", error.log2());
    }
}

#[test]
fn what_lies_near_the_middle_between_two_numbers_is_left_open() {
    let half_unit = 0.5 * f64::EPSILON;
    assert_eq!(nearest(Double::new(1.0, 0.0), ERROR), 1.0);
    assert_eq!(nearest(Double::new(1.5, 0.25 * half_unit), ERROR), 1.5);
    for part in [1.0, 1.0 - 0.25 * ERROR / half_unit, -1.0] {
        assert!(nearest(Double::new(1.5, part * half_unit), ERROR).is_nan(), "{part}");
    }
    let above = nearest(Double::new(1.5, half_unit * (1.0 + 4.0 * ERROR / half_unit)), ERROR);
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

#[test]
fn powers_of_zero_are_those_of_ieee_754() {
    let infinity = f64::INFINITY;
    for (base, exponent, expected) in [
        (0.0, 2.0, 0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, 3.0, -0.0),
        (-0.0, 0.5, 0.0),
        (-0.0, 1e300, 0.0),
        (-0.0, infinity, 0.0),
        (0.0, 0.0, 1.0),
        (-0.0, -1.0, -infinity),
        (-0.0, -2.0, infinity),
    ] {
        let operands = [base, exponent].map(Tensor::scalar);
        let [base_operand, exponent_operand] = operands;
        let power = binary(BinaryOp::Power, base_operand, exponent_operand).expect("of floats");
        let power = power.item::<f64>().expect("a scalar");
        assert_eq!(power.to_bits(), f64::to_bits(expected), "{base} to the power of {exponent}");
    }
}

/// `exp(x)` of multiples of 2^-54 lies near the middle between two numbers for many: its square
/// decides. In units of 2^-109, `1 + x + x^2 / 2` is an integer, and the rest less than one.
#[test]
fn exponentials_near_one_are_rounded_by_the_square() {
    let numbers: Vec<i128> = (-3000..3000).chain((0..2000).map(|i| (i - 1000) << 17 | 1)).collect();
    let unit = 2f64.powi(-54);
    let operands = numbers.iter().map(|&k| k as f64 * unit).collect();
    let operands = Tensor::from_vec([numbers.len()], operands).expect("as many elements");
    let results = unary(UnaryOp::Exponential, operands).expect("defined for floats");
    for (&k, result) in numbers.iter().zip(results.to_vec::<f64>().expect("f64")) {
        let exact = (1 << 109) + (k << 55) + k * k;
        let spacing = if exact < 1 << 109 { 56 } else { 57 };
        let rounded = (exact + (1 << (spacing - 1))) >> spacing;
        assert_eq!(result, rounded as f64 * 2f64.powi(spacing - 109), "exp({k} / 2^54)");
    }
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
