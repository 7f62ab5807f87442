//! CHLO ops compute the same before and after their expansion: functions to within a few units in
//! the last place of what `numerics` computes, the others exactly.

use super::common::run;
use numerics::Tensor;

const EXPAND: &str = "chlo-pre-serialization-pipeline";

fn unary(op: &str, ty: &str, n: usize) -> String {
    format!(
        "func.func @main(%x: tensor<{n}x{ty}>) -> tensor<{n}x{ty}> {{\n  \
         %0 = chlo.{op} %x : tensor<{n}x{ty}> -> tensor<{n}x{ty}>\n  return %0 : tensor<{n}x{ty}>\n}}\n"
    )
}

/// Asserts that `found` equals `expected` up to a relative and an absolute error; infinities and
/// NaN must agree exactly.
fn assert_close(what: &str, at: f64, found: f64, expected: f64, relative: f64, absolute: f64) {
    let is_close = found == expected
        || found.is_nan() && expected.is_nan()
        || (found - expected).abs() <= relative * expected.abs() + absolute;
    assert!(is_close, "{what}({at}) is {expected}, but its expansion gives {found}");
}

/// Sample points of an interval: a grid, and points near its middle.
fn points(low: f64, high: f64) -> Vec<f64> {
    let grid = (0..=60).map(|i| low + (high - low) * f64::from(i) / 60.0);
    let middle = (low + high) / 2.0;
    grid.chain((1..8).flat_map(|i| [middle + 10f64.powi(-i), middle - 10f64.powi(-i)])).collect()
}

#[test]
fn real_functions() {
    for (op, low, high, relative, absolute) in [
        ("acos", -1.0, 1.0, 2e-6, 4e-7),
        ("acosh", 1.0, 1e4, 2e-6, 4e-7),
        ("asin", -1.0, 1.0, 2e-6, 1e-7),
        ("asinh", -1e3, 1e3, 2e-6, 1e-7),
        ("atan", -50.0, 50.0, 1e-6, 0.0),
        ("atanh", -0.99, 0.99, 2e-6, 1e-7),
        ("cosh", -20.0, 20.0, 2e-5, 0.0),
        ("digamma", -6.3, 30.0, 2e-5, 2e-6),
        ("erf", -5.0, 5.0, 1e-6, 0.0),
        ("erf_inv", -0.999, 0.999, 2e-6, 0.0),
        ("erfc", -3.0, 8.0, 2e-5, 0.0),
        ("lgamma", -6.3, 60.0, 4e-6, 4e-6),
        ("sinh", -20.0, 20.0, 2e-5, 1e-7),
        ("tan", -1.5, 1.5, 1e-6, 0.0),
    ] {
        let x = points(low, high);
        for ty in ["f32", "f64"] {
            let program = unary(op, ty, x.len());
            let input = match ty {
                "f32" => Tensor::from_vec([x.len()], x.iter().map(|&x| x as f32).collect()),
                _ => Tensor::from_vec([x.len()], x.clone()),
            };
            let input = input.expect("as many elements as points");
            let values = |pipeline| -> Vec<f64> {
                let result = &run(&program, pipeline, std::slice::from_ref(&input))[0];
                match ty {
                    "f32" => {
                        result.to_vec::<f32>().expect("f32").into_iter().map(f64::from).collect()
                    }
                    _ => result.to_vec::<f64>().expect("f64"),
                }
            };
            // f64 is more accurate, except for coefficients that were fitted for less.
            let scale = if ty == "f32" { 1.0 } else { 1e-5 };
            for ((&x, expected), found) in x.iter().zip(values("cse")).zip(values(EXPAND)) {
                assert_close(op, x, found, expected, relative * scale, absolute * scale);
            }
        }
    }
}

#[test]
fn complex_functions() {
    let parts = [0.0, 1e-6, 0.3, 1.0, 1.7, 25.0, -0.4, -1.0, -3.0];
    let n = parts.len() * parts.len();
    let [re, im]: [Vec<f64>; 2] = [
        parts.iter().flat_map(|&p| [p; 9]).collect(),
        parts.iter().cycle().take(n).copied().collect(),
    ];
    for op in
        ["acos", "acosh", "asin", "asinh", "atan", "atanh", "conj", "cosh", "sinh", "square", "tan"]
    {
        let program = format!(
            "func.func @main(%x: tensor<{n}xf64>, %y: tensor<{n}xf64>) -> (tensor<{n}xf64>, tensor<{n}xf64>) {{
               %z = stablehlo.complex %x, %y : tensor<{n}xcomplex<f64>>
               %w = chlo.{op} %z : tensor<{n}xcomplex<f64>> -> tensor<{n}xcomplex<f64>>
               %u = stablehlo.real %w : (tensor<{n}xcomplex<f64>>) -> tensor<{n}xf64>
               %v = stablehlo.imag %w : (tensor<{n}xcomplex<f64>>) -> tensor<{n}xf64>
               return %u, %v : tensor<{n}xf64>, tensor<{n}xf64>
             }}"
        );
        let inputs =
            [re.clone(), im.clone()].map(|part| Tensor::from_vec([n], part).expect("n elements"));
        let [expected, found] = ["cse", EXPAND].map(|pipeline| {
            let results = run(&program, pipeline, &inputs);
            results.iter().map(|t| t.to_vec::<f64>().expect("f64")).collect::<Vec<_>>()
        });
        for i in 0..n {
            // At the poles ±i of atan and ±1 of atanh, the direction is unspecified.
            if expected.iter().any(|part| !part[i].is_finite()) {
                continue;
            }
            let what = format!("{op} of {} + {}i", re[i], im[i]);
            let size = expected[0][i].hypot(expected[1][i]);
            for part in 0..2 {
                assert_close(
                    &what,
                    re[i],
                    found[part][i],
                    expected[part][i],
                    1e-13,
                    1e-13 * size.max(1.0),
                );
            }
        }
    }
}

/// Values from Abramowitz and Stegun, tables 6.1, 9.8, 23.3 and formulas 6.4.2, 6.4.4.
#[test]
fn functions_that_only_expand() {
    const PI: f64 = std::f64::consts::PI;
    const APERY: f64 = 1.202_056_903_159_594_2;
    let cases: &[(&str, f64, f64, f64)] = &[
        ("zeta", 2.0, 1.0, PI * PI / 6.0),
        ("zeta", 4.0, 1.0, PI.powi(4) / 90.0),
        ("zeta", 3.0, 1.0, APERY),
        ("zeta", 2.0, 0.5, PI * PI / 2.0),
        ("zeta", 1.0, 3.0, f64::INFINITY),
        ("zeta", 2.0, -1.0, f64::INFINITY),
        ("zeta", 3.0, -1.0, f64::NAN),
        ("zeta", 0.5, 2.0, f64::NAN),
        ("polygamma", 0.0, 1.0, -0.577_215_664_901_532_9),
        ("polygamma", 1.0, 1.0, PI * PI / 6.0),
        ("polygamma", 2.0, 1.0, -2.0 * APERY),
        ("polygamma", 3.0, 0.5, PI.powi(4)),
        ("polygamma", 1.5, 1.0, f64::NAN),
        ("next_after", 1.0, 2.0, 1.0 + f64::EPSILON),
        ("next_after", 1.0, -2.0, 1.0 - f64::EPSILON / 2.0),
        ("next_after", 0.0, -1.0, -5e-324),
        ("next_after", f64::MAX, f64::INFINITY, f64::INFINITY),
        ("next_after", -0.0, 0.0, 0.0),
    ];
    for &(op, x, y, expected) in cases {
        let program = format!(
            "func.func @main(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {{
               %0 = chlo.broadcast_{op} %x, %y : (tensor<f64>, tensor<f64>) -> tensor<f64>
               return %0 : tensor<f64>
             }}"
        );
        let found = run(&program, EXPAND, &[Tensor::scalar(x), Tensor::scalar(y)])[0]
            .item::<f64>()
            .expect("f64");
        let relative = if op == "next_after" { 0.0 } else { 1e-13 };
        assert_close(op, x, found, expected, relative, 0.0);
    }
    for (x, expected) in
        [(0.0, 0.0), (1.0, 0.207_910_415_349_708_4), (-10.0, -0.121_262_681_384_455_5)]
    {
        let found = run(
            &unary("bessel_i1e", "f64", 1),
            EXPAND,
            &[Tensor::from_vec([1], vec![x]).expect("one")],
        );
        assert_close(
            "bessel_i1e",
            x,
            found[0].to_vec::<f64>().expect("f64")[0],
            expected,
            1e-14,
            0.0,
        );
    }
}

#[test]
fn upper_halves_of_products() {
    let values = [
        0,
        1,
        -1,
        2,
        7,
        i64::MAX,
        i64::MIN,
        0x1_0000_0001,
        -0x7fff_ffff_0000_0001,
        0x1234_5678_9abc_def0,
    ];
    for &a in &values {
        for &b in &values {
            let program = |ty| {
                format!(
                    "func.func @main(%x: tensor<{ty}>, %y: tensor<{ty}>) -> tensor<{ty}> {{
                       %0 = chlo.mulhi %x, %y : tensor<{ty}>, tensor<{ty}> -> tensor<{ty}>
                       return %0 : tensor<{ty}>
                     }}"
                )
            };
            let found = run(&program("i64"), EXPAND, &[Tensor::scalar(a), Tensor::scalar(b)]);
            assert_eq!(
                found[0].item::<i64>().expect("i64"),
                ((i128::from(a) * i128::from(b)) >> 64) as i64,
                "{a} {b}"
            );
            let [a, b] = [a as u64, b as u64];
            let found = run(&program("ui64"), EXPAND, &[Tensor::scalar(a), Tensor::scalar(b)]);
            assert_eq!(
                found[0].item::<u64>().expect("u64"),
                ((u128::from(a) * u128::from(b)) >> 64) as u64,
                "{a} {b}"
            );
            let [a, b] = [a as i8, b as i8];
            let found = run(&program("i8"), EXPAND, &[Tensor::scalar(a), Tensor::scalar(b)]);
            assert_eq!(
                found[0].item::<i8>().expect("i8"),
                ((i16::from(a) * i16::from(b)) >> 8) as i8,
                "{a} {b}"
            );
        }
    }
}

#[test]
fn scans_run_forward_and_backward() {
    for (is_reverse, expected) in [(false, [1, 3, 6, 10]), (true, [10, 9, 7, 4])] {
        let program = format!(
            "func.func @main(%x: tensor<4xi32>, %init: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {{
               %0:2 = chlo.scan(%x) inits(%init) dimension=0 attributes {{is_reverse = {is_reverse}}} {{
               ^bb0(%e: tensor<i32>, %carry: tensor<i32>):
                 %1 = chlo.broadcast_add %e, %carry : (tensor<i32>, tensor<i32>) -> tensor<i32>
                 stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
               }} : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
               return %0#0, %0#1 : tensor<4xi32>, tensor<i32>
             }}"
        );
        let x = Tensor::from_vec([4], vec![1i32, 2, 3, 4]).expect("four elements");
        let found = run(&program, EXPAND, &[x, Tensor::scalar(0i32)]);
        assert_eq!(found[0].to_vec::<i32>().expect("i32"), expected);
        assert_eq!(found[1].item::<i32>().expect("i32"), 10);
    }
}

#[test]
fn the_greatest_elements() {
    let program = "func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
        %0:2 = chlo.top_k(%x, k = 2) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
        return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
      }";
    let x = vec![1.0f32, 5.0, 5.0, -2.0, 0.0, -0.0, f32::NEG_INFINITY, 7.0];
    let found = run(program, EXPAND, &[Tensor::from_vec([2, 4], x).expect("eight elements")]);
    assert_eq!(found[0].to_vec::<f32>().expect("f32"), [5.0, 5.0, 7.0, 0.0]);
    assert_eq!(found[1].to_vec::<i32>().expect("i32"), [1, 2, 3, 0]);
}
