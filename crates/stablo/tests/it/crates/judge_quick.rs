//! Runs of the judge with few digits say what runs with all of them say.

use numerics::f16;
use stablo::judging::{Elements, Enclosure, Options, Verdict};
use stablo::{Engine, Program, RunOptions, RuntimeValue, Tensor};

const ROWS: usize = 400;

fn prepared(text: &str) -> Program {
    let options = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let module = stablo::load("quick.mlir", text).expect("a valid program");
    Program::prepare(module, "main", options).expect("a program that runs")
}

/// A function of sums of three numbers, whose bounds are apart, and of the first numbers, which are
/// exact.
fn function_of_sums(function: &str) -> Program {
    prepared(&format!(
        "func.func @main(%x: tensor<{ROWS}x3xf32>) -> (tensor<{ROWS}xf32>, tensor<{ROWS}xf32>) {{
           %zero = stablehlo.constant dense<0.0> : tensor<f32>
           %sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
             : (tensor<{ROWS}x3xf32>, tensor<f32>) -> tensor<{ROWS}xf32>
           %column = stablehlo.slice %x [0:{ROWS}, 0:1]
             : (tensor<{ROWS}x3xf32>) -> tensor<{ROWS}x1xf32>
           %first = stablehlo.reshape %column : (tensor<{ROWS}x1xf32>) -> tensor<{ROWS}xf32>
           %0 = {function} %sums : tensor<{ROWS}xf32>{arrow}
           %1 = {function} %first : tensor<{ROWS}xf32>{arrow}
           return %0, %1 : tensor<{ROWS}xf32>, tensor<{ROWS}xf32>
         }}",
        arrow = if function.starts_with("chlo") {
            format!(" -> tensor<{ROWS}xf32>")
        } else {
            String::new()
        },
    ))
}

/// Numbers whose sums of three are between two limits, of all sizes if one limit is zero.
fn rows(low: f64, high: f64) -> Tensor {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut values = Vec::with_capacity(3 * ROWS);
    for row in 0..ROWS {
        let share = if row % 2 == 0 { random() } else { random().powi(9) };
        let target = low + (high - low) * share;
        let (first, second) = (target * random(), target * 0.4 * random());
        values.extend([first as f32, second as f32, (target - first - second) as f32]);
    }
    Tensor::from_vec([ROWS, 3], values).expect("as many numbers")
}

fn enclosed(program: &Program, inputs: Vec<RuntimeValue>, bits: usize) -> Enclosure {
    stablo::enclose(program, inputs, &Options::default().bits(bits)).expect("bounds")
}

#[test]
fn few_digits_agree_with_all_digits() {
    let functions = [
        ("chlo.acos", -0.99, 0.99),
        ("chlo.acosh", 1.01, 50.0),
        ("chlo.asin", -0.99, 0.99),
        ("chlo.asinh", -30.0, 30.0),
        ("chlo.atan", -20.0, 20.0),
        ("chlo.atanh", -0.99, 0.99),
        ("stablehlo.cbrt", -40.0, 40.0),
        ("chlo.cosh", -20.0, 20.0),
        ("stablehlo.cosine", -40.0, 40.0),
        ("chlo.erf", -3.0, 3.0),
        ("chlo.erfc", -2.0, 7.0),
        ("stablehlo.exponential", -60.0, 60.0),
        ("stablehlo.exponential_minus_one", -20.0, 20.0),
        ("stablehlo.log", 0.0, 90.0),
        ("stablehlo.log_plus_one", -0.9, 50.0),
        ("stablehlo.logistic", -20.0, 20.0),
        ("stablehlo.rsqrt", 0.0, 90.0),
        ("stablehlo.sine", -40.0, 40.0),
        ("chlo.sinh", -20.0, 20.0),
        ("stablehlo.sqrt", 0.0, 90.0),
        ("stablehlo.tan", -1.5, 1.5),
        ("stablehlo.tanh", -9.0, 9.0),
    ];
    for (function, low, high) in functions {
        let program = function_of_sums(function);
        let inputs = || vec![RuntimeValue::from(rows(low, high))];
        let [few, all] = [48, 106].map(|bits| enclosed(&program, inputs(), bits));
        assert_eq!((few.truth.bits, all.truth.bits), (48, 106), "{function}");
        agree(function, &few, &all, 1e-12);
    }
}

/// Fails unless values and bounds with few digits are around values and bounds with all of them,
/// and hardly wider. Radii are at most `share` of the largest value.
fn agree(name: &str, few: &Enclosure, all: &Enclosure, share: f64) {
    for (few, all) in few.results.iter().zip(&all.results) {
        let (few, all) = (few.numbers().expect("numbers"), all.numbers().expect("numbers"));
        let largest = all.iter().map(|n| n.truth.hi.abs()).fold(1.0, f64::max);
        for (few, all) in few.iter().zip(all.iter()) {
            if few.truth.is_nan() && all.truth.is_nan() {
                assert!(few.bounds == all.bounds && few.bounds.is_empty(), "{name}");
                continue;
            }
            let apart = (few.truth.hi - all.truth.hi) + (few.truth.lo - all.truth.lo);
            let most = few.truth.radius + all.truth.radius;
            assert!(apart.abs() <= most * 1.001, "{name}: {few:?} and {all:?}");
            assert!(few.truth.radius <= share * largest, "{name}: {few:?}");
            // At most a unit and a hundredth of the width more.
            let room = 1.3e-7 * few.bounds.magnitude() + 0.02 * all.bounds.width();
            let is_around = few.bounds.low <= all.bounds.low
                && few.bounds.low >= all.bounds.low - room
                && few.bounds.high >= all.bounds.high
                && few.bounds.high <= all.bounds.high + room;
            assert!(is_around, "{name}: {:?} and {:?}", few.bounds, all.bounds);
        }
    }
}

#[test]
fn few_digits_of_operations_agree_with_all_digits() {
    const OPERATIONS: [&str; 11] = [
        "stablehlo.add %sums, %first : tensor<400xf32>",
        "stablehlo.subtract %sums, %others : tensor<400xf32>",
        "stablehlo.multiply %sums, %others : tensor<400xf32>",
        "stablehlo.multiply %sums, %sums : tensor<400xf32>",
        "stablehlo.divide %first, %sums : tensor<400xf32>",
        "stablehlo.divide %sums, %others : tensor<400xf32>",
        "stablehlo.power %sums, %exponents : tensor<400xf32>",
        "stablehlo.power %sums, %others : tensor<400xf32>",
        "stablehlo.power %first, %others : tensor<400xf32>",
        "stablehlo.dot_general %matrix, %exact, contracting_dims = [1] x [0]
           : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>",
        "stablehlo.dot_general %matrix, %matrix, contracting_dims = [1] x [1]
           : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>",
    ];
    let row = "tensor<400xf32>";
    for operation in OPERATIONS {
        let ty = if operation.contains("dot") { "tensor<20x20xf32>" } else { row };
        let text = format!(
            "func.func @main(%x: tensor<400x3xf32>, %y: tensor<400x3xf32>) -> {ty} {{
               %zero = stablehlo.constant dense<0.0> : tensor<f32>
               %sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
                 : (tensor<400x3xf32>, tensor<f32>) -> {row}
               %others = stablehlo.reduce(%y init: %zero) applies stablehlo.add
                 across dimensions = [1] : (tensor<400x3xf32>, tensor<f32>) -> {row}
               %column = stablehlo.slice %x [0:400, 0:1]
                 : (tensor<400x3xf32>) -> tensor<400x1xf32>
               %first = stablehlo.reshape %column : (tensor<400x1xf32>) -> {row}
               %exponents = stablehlo.constant dense<-1.5> : {row}
               %matrix = stablehlo.reshape %sums : ({row}) -> tensor<20x20xf32>
               %exact = stablehlo.reshape %first : ({row}) -> tensor<20x20xf32>
               %0 = {operation}
               return %0 : {ty}
             }}"
        );
        let program = prepared(&text);
        let inputs =
            || [(0.01, 9.0), (0.5, 4.0)].map(|(low, high)| rows(low, high).into()).to_vec();
        let [few, all] = [48, 106].map(|bits| enclosed(&program, inputs(), bits));
        assert_eq!((few.truth.bits, all.truth.bits), (48, 106), "{operation}");
        agree(operation, &few, &all, 1e-12);
    }
}

/// The transform of 400 numbers, with primes among its factors, and back.
#[test]
fn few_digits_of_transforms_agree_with_all_digits() {
    let text = "
        func.func @main(%x: tensor<400x3xf32>)
            -> (tensor<15x14xcomplex<f32>>, tensor<15x26xf32>) {
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %sums = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
            : (tensor<400x3xf32>, tensor<f32>) -> tensor<400xf32>
          %part = stablehlo.slice %sums [0:390] : (tensor<400xf32>) -> tensor<390xf32>
          %rows = stablehlo.reshape %part : (tensor<390xf32>) -> tensor<15x26xf32>
          %0 = stablehlo.fft %rows, type = RFFT, length = [15, 26]
            : (tensor<15x26xf32>) -> tensor<15x14xcomplex<f32>>
          %1 = stablehlo.fft %0, type = IRFFT, length = [15, 26]
            : (tensor<15x14xcomplex<f32>>) -> tensor<15x26xf32>
          return %0, %1 : tensor<15x14xcomplex<f32>>, tensor<15x26xf32>
        }";
    let program = prepared(text);
    let inputs = || vec![RuntimeValue::from(rows(-2.0, 3.0))];
    let [few, all] = [48, 106].map(|bits| enclosed(&program, inputs(), bits));
    // Some 43 roundings of sums of 390 numbers up to 3, there and back.
    agree("fft", &few, &all, 1e-11);
}

#[test]
fn what_is_outside_is_judged_with_all_digits() {
    let program = function_of_sums("stablehlo.tanh");
    let inputs = || vec![RuntimeValue::from(rows(-3.0, 3.0))];
    let run = program.run(inputs()).expect("results");
    let found: Vec<Tensor> =
        run.into_iter().map(|value| value.into_tensor().expect("a tensor")).collect();
    let judge = |found: &[Tensor]| {
        stablo::judge(&program, inputs(), found, None, &Options::default()).expect("a judgement")
    };
    let inside = judge(&found);
    assert_eq!((inside.verdict(), inside.truth.bits), (Verdict::Inside, 48));
    let mut values = found[1].to_vec::<f32>().expect("floats");
    values[7] = f32::from_bits(values[7].to_bits() + 2);
    let moved = Tensor::from_vec([ROWS], values).expect("as many numbers");
    let outside = judge(&[found[0].clone(), moved]);
    assert_eq!(
        (outside.verdict(), outside.outputs[1].counts),
        (Verdict::Outside, [ROWS - 1, 0, 1])
    );
    assert!(outside.truth.bits >= 106);
}

#[test]
fn updates_at_indices_are_those_of_the_interpreter() {
    let program = prepared(
        "func.func @main(%x: tensor<3x4xf32>, %i: tensor<i32>)
             -> (tensor<3x4xf32>, tensor<2x2xf32>) {
           %y = stablehlo.tanh %x : tensor<3x4xf32>
           %c1 = stablehlo.constant dense<1> : tensor<i32>
           %part = stablehlo.slice %y [0:2, 1:3] : (tensor<3x4xf32>) -> tensor<2x2xf32>
           %0 = stablehlo.dynamic_update_slice %y, %part, %i, %c1
             : (tensor<3x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
           %1 = stablehlo.dynamic_slice %0, %c1, %i, sizes = [2, 2]
             : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
           return %0, %1 : tensor<3x4xf32>, tensor<2x2xf32>
         }",
    );
    for index in [-5, 0, 1, 2, 100] {
        let x = Tensor::from_vec([3, 4], (1..=12).map(|i| i as f32 / 10.0).collect::<Vec<f32>>());
        let inputs = || vec![x.clone().expect("numbers").into(), Tensor::scalar(index).into()];
        let run: Vec<RuntimeValue> = program.run(inputs()).expect("results");
        let enclosure = enclosed(&program, inputs(), 106);
        for (value, array) in run.into_iter().zip(&enclosure.results) {
            let value: Vec<f32> = value.into_tensor().expect("a tensor").to_vec().expect("floats");
            assert!(matches!(array.elements, Elements::Numbers(_)));
            let numbers = array.numbers().expect("numbers");
            let truth: Vec<f32> = numbers.iter().map(|number| number.truth.hi as f32).collect();
            assert_eq!(value, truth, "at {index}");
        }
    }
}

/// The square of 2^-20 is zero in `f16`, so that all conforming backends compute infinity, which is
/// not the true value, 40 log(2).
#[test]
fn infinite_sums_of_finite_numbers_have_finite_true_values() {
    let text = "
        func.func @main(%x: tensor<2xf16>) -> tensor<f16> {
          %square = stablehlo.multiply %x, %x : tensor<2xf16>
          %log = stablehlo.log %square : tensor<2xf16>
          %abs = stablehlo.abs %log : tensor<2xf16>
          %zero = stablehlo.constant dense<0.0> : tensor<f16>
          %sum = stablehlo.reduce(%abs init: %zero) applies stablehlo.add across dimensions = [0]
            : (tensor<2xf16>, tensor<f16>) -> tensor<f16>
          return %sum : tensor<f16>
        }";
    let program = prepared(text);
    let input = || {
        let x = [(-20f32).exp2(), 1.0].map(f16::from_f32).to_vec();
        vec![RuntimeValue::from(Tensor::from_vec([2], x).expect("two numbers"))]
    };
    for bits in [48, 106] {
        let enclosure = enclosed(&program, input(), bits);
        let number = enclosure.results[0].numbers().expect("a number")[0];
        assert_eq!((number.bounds.low, number.bounds.high), (f64::INFINITY, f64::INFINITY));
        let expected = 40.0 * std::f64::consts::LN_2;
        assert!((number.truth.hi - expected).abs() < 1e-11, "{number:?}");
    }
}
