//! Tests of `math/complex_lanes.rs`: results have the bits of the exact functions.

use numerics::math::complex::{Complex64, narrow, widen};
use numerics::math::complex_lanes::{
    ComplexNear, Divide, Exp, LogPlusOne, Logarithm, Power, Rsqrt, Sqrt, Tanh,
};
use numerics::math::pieces::NativeFloat;
use numerics::math::{BinaryOp, UnaryOp, binary, unary};
use numerics::{Complex, Complex32, Element, Tensor};

/// Numbers with exponents of that range, of both signs, by a multiplicative generator.
fn numbers(exponents: std::ops::Range<i32>, seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 11
    };
    move || {
        let mantissa = 1.0 + next() as f64 / (1u64 << 53) as f64;
        let exponent = exponents.start + (next() % exponents.len() as u64) as i32;
        let sign = if next() % 2 == 0 { 1.0 } else { -1.0 };
        sign * mantissa * 2f64.powi(exponent)
    }
}

/// Compares results of numbers with exponents of the range. Some are left open, for which `most`
/// of 100 is the bound.
fn compare<P: NativeFloat, F: ComplexNear<P, N>, const N: usize>(
    name: &str,
    exponents: std::ops::Range<i32>,
    most: usize,
) {
    const COUNT: usize = 4000;
    let mut next = numbers(exponents, 1);
    let mut open = 0;
    for _ in 0..COUNT {
        let numbers: [Complex64; N] = std::array::from_fn(|_| {
            let z: Complex<P> = narrow(Complex64::new(next(), next()));
            widen(z)
        });
        let [re, im] = F::near(numbers);
        let exact: Complex<P> = narrow(F::exact(numbers));
        for (near, exact) in [(re, exact.re), (im, exact.im)] {
            let is_same = bytemuck::bytes_of(&near) == bytemuck::bytes_of(&exact);
            assert!(near.is_unknown() || is_same, "{name} of {numbers:?}: {near:?} for {exact:?}");
        }
        open += usize::from(re.is_unknown() || im.is_unknown());
    }
    assert!(open * 100 <= most * COUNT, "{name}: {open} of {COUNT} results are open");
}

#[test]
fn results_have_the_bits_of_the_functions() {
    compare::<f64, Divide, 2>("divide", -3..3, 1);
    compare::<f64, Divide, 2>("divide", -100..100, 1);
    compare::<f64, Sqrt, 1>("sqrt", -3..3, 1);
    compare::<f64, Sqrt, 1>("sqrt", -100..100, 1);
    compare::<f64, Exp, 1>("exponential", -20..8, 5);
    compare::<f64, Logarithm, 1>("log", -3..3, 5);
    compare::<f64, Logarithm, 1>("log", -100..100, 5);
    compare::<f64, Tanh, 1>("tanh", -20..4, 5);
    compare::<f32, Sqrt, 1>("sqrt", -100..100, 1);
    compare::<f32, Exp, 1>("exponential", -20..6, 1);
    compare::<f32, Logarithm, 1>("log", -100..100, 1);
    compare::<f32, Logarithm, 1>("log", -2..1, 1);
    compare::<f32, Tanh, 1>("tanh", -20..4, 1);
    compare::<f64, LogPlusOne, 1>("log_plus_one", -3..3, 5);
    compare::<f64, LogPlusOne, 1>("log_plus_one", -60..60, 5);
    compare::<f32, LogPlusOne, 1>("log_plus_one", -3..3, 1);
    compare::<f32, LogPlusOne, 1>("log_plus_one", -60..60, 1);
    compare::<f64, Rsqrt, 1>("rsqrt", -3..3, 1);
    compare::<f64, Rsqrt, 1>("rsqrt", -100..100, 1);
    compare::<f32, Rsqrt, 1>("rsqrt", -100..100, 1);
    compare::<f64, Power, 2>("power", -3..1, 8);
    compare::<f64, Power, 2>("power", -12..5, 30);
    compare::<f32, Power, 2>("power", -3..1, 1);
    compare::<f32, Power, 2>("power", -12..5, 1);
}

/// Results of numbers in a vector, and each on its own.
fn check_neighbours<T: Element>(numbers: &[T]) {
    let all = || Tensor::from_vec([numbers.len()], numbers.to_vec()).expect("as many elements");
    let size = size_of::<T>();
    for op in UnaryOp::ALL {
        let Ok(results) = unary(*op, all()) else { continue };
        if results.dtype() != T::DTYPE {
            continue;
        }
        for (x, found) in numbers.iter().zip(results.bytes().chunks(size)) {
            let one = unary(*op, Tensor::scalar(*x)).expect("defined for the type");
            assert_eq!(one.bytes()[..], *found, "{} of {x:?}", op.name());
        }
    }
    let mut reversed = numbers.to_vec();
    reversed.reverse();
    let others = Tensor::from_vec([numbers.len()], reversed.clone()).expect("as many elements");
    for op in [BinaryOp::Divide, BinaryOp::Power] {
        let results = binary(op, all(), others.clone()).expect("defined for the type");
        for ((x, y), found) in numbers.iter().zip(&reversed).zip(results.bytes().chunks(size)) {
            let one = binary(op, Tensor::scalar(*x), Tensor::scalar(*y));
            let one = one.expect("defined for the type");
            assert_eq!(one.bytes()[..], *found, "{} of {x:?} and {y:?}", op.name());
        }
    }
}

/// A vector of numbers has the results that each has on its own, with special numbers among them
/// and a length that is no multiple of that of vectors.
#[test]
fn neighbours_do_not_matter() {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, -1.0, 1.0, 1e300];
    let mut next = numbers(-4..4, 7);
    let mut doubles = Vec::new();
    for x in special {
        for y in special {
            doubles.push(Complex64::new(x, y));
            doubles.push(Complex64::new(next(), next()));
            doubles.push(Complex64::new(next(), y));
        }
    }
    let singles: Vec<Complex32> = doubles.iter().map(|&z| narrow(z)).collect();
    check_neighbours(&doubles);
    check_neighbours(&singles);
}
