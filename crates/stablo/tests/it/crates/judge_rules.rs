//! The judge's rules: each kind of op has one, and accuses no result of our own.

use judge::ball::Ball;
use stablo::judging::{Judgement, Model, Options, Verdict};
use stablo::{Engine, Program, RunOptions, RuntimeValue, Tensor};

/// Functions of CHLO at points, with their values as sums of two numbers, computed with mpmath in
/// 700 bits. Functions of one operand ignore the second.
#[rustfmt::skip]
const VALUES: &[(&str, f64, f64, f64, f64)] = &[
    ("lgamma", 1e-10, 0.0, 23.025850929882736, -1.0581740381767271e-15),
    ("lgamma", 0.3, 0.0, 1.0957979948180756, -4.412082839547077e-17),
    ("lgamma", 0.9, 0.0, 0.06637623973474295, 3.843690875232079e-18),
    ("lgamma", 1.0000001, 0.0, -5.772155829918507e-08, -5.7466330678638715e-25),
    ("lgamma", 1.2, 0.0, -0.08537409000331583, -3.4645022300421084e-18),
    ("lgamma", 1.5, 0.0, -0.12078223763524522, -4.1797047492946264e-18),
    ("lgamma", 1.999, 0.0, -0.0004224618006921073, 1.1079005735174267e-20),
    ("lgamma", 2.0001, 0.0, 4.2281658112919945e-05, 1.5339158900296368e-21),
    ("lgamma", 3.7, 0.0, 1.428072326665388, 4.823204321026723e-17),
    ("lgamma", 25.5, 0.0, 56.389167643719944, 3.1321841859396915e-15),
    ("lgamma", 10000000000.0, 0.0, 220258509288.81058, 4.07746379812346e-06),
    ("lgamma", 1e300, 0.0, 6.897755278982137e302, -1.4755313624857933e285),
    ("lgamma", -0.5, 0.0, 1.2655121234846454, 2.832344371981691e-17),
    ("lgamma", -3.3, 0.0, -0.8243558050174264, -1.3938132648184777e-17),
    ("lgamma", -20.25, 0.0, -41.60096191534053, 2.4847566784217753e-15),
    ("digamma", 1e-08, 0.0, -100000000.57721564, -4.622951976387402e-09),
    ("digamma", 0.1, 0.0, -10.423754940411076, -3.6769653932837104e-16),
    ("digamma", 1.4616321449683622, 0.0, -9.241265521729427e-17, -2.5907356508198256e-33),
    ("digamma", 2.0, 0.0, 0.42278433509846713, 4.942915152430645e-18),
    ("digamma", 30.5, 0.0, 3.401243668961661, -1.084605189642423e-16),
    ("digamma", 100000000.0, 0.0, 18.420680738952367, -1.331236457043681e-15),
    ("digamma", -0.25, 0.0, 2.9141391202135276, 2.1864845561944062e-16),
    ("digamma", -10.5, 0.0, 2.3982391295357814, 1.691210091436238e-16),
    ("bessel_i1e", 1e-05, 0.0, 4.999950000312499e-06, 2.44970148899604e-22),
    ("bessel_i1e", 0.5, 0.0, 0.1564208031848717, -1.2897999141359503e-18),
    ("bessel_i1e", 2.0, 0.0, 0.21526928924893765, 8.331573498667507e-18),
    ("bessel_i1e", 20.0, 0.0, 0.08750622218328867, -5.167840458872158e-18),
    ("bessel_i1e", 59.5, 0.0, 0.051391475372682884, -6.647698248317748e-19),
    ("bessel_i1e", 61.0, 0.0, 0.05076368031904492, -1.5253350460694298e-18),
    ("bessel_i1e", 10000.0, 0.0, 0.003989273195983662, 2.8460549949663345e-20),
    ("bessel_i1e", -3.0, 0.0, -0.19682671329730086, 1.1215916908230007e-17),
    ("erf_inv", 1e-12, 0.0, 8.86226925452758e-13, 7.768347970530976e-30),
    ("erf_inv", 0.1, 0.0, 0.08885599049425769, 5.833424999363098e-18),
    ("erf_inv", 0.5, 0.0, 0.4769362762044699, -4.4226968317836506e-18),
    ("erf_inv", 0.75, 0.0, 0.8134198475976185, 2.2871034821481484e-18),
    ("erf_inv", 0.999999, 0.0, 3.458910737275499, -2.5923326683634916e-17),
    ("erf_inv", -0.3, 0.0, -0.2724627147267543, -2.6896054102492476e-17),
    ("erf_inv", 0.9999999999999999, 0.0, 5.8635847487551676, 3.744492687184258e-16),
    ("zeta", 1.5, 0.5, 4.776537947554833, 1.7402838595790385e-16),
    ("zeta", 2.0, 1.0, 1.6449340668482264, 3.040672350398476e-17),
    ("zeta", 3.0, 0.001, 1000000001.1988161, 2.1396722696586863e-08),
    ("zeta", 1.0001, 2.0, 9999.577222947539, 2.1272931246711563e-13),
    ("zeta", 10.0, 30.0, 6.538711129142548e-15, 5.460957434023767e-32),
    ("zeta", 50.5, 3.0, 8.042236672237178e-25, -1.4038979004415103e-41),
    ("zeta", 4.0, -2.5, 32.4579793698646, 8.781402884993167e-16),
    ("zeta", 3.0, -0.7, 34.72081639931927, -1.9425422175718236e-15),
    ("zeta", 200.0, 40.0, 3.9e-321, 0.0),
    ("polygamma", 1.0, 0.5, 4.934802200544679, 3.1326477543698557e-16),
    ("polygamma", 2.0, 3.25, -0.12815694713911513, 8.645833604812253e-18),
    ("polygamma", 5.0, 0.01, 120000000000115.05, 0.00563200691737101),
    ("polygamma", 12.0, 20.0, -1.298290151762041e-08, 4.155781192408782e-25),
    ("polygamma", 1.0, 1000000.0, 1.0000005000001667e-06, -6.149478573690488e-23),
];

#[test]
fn special_functions_contain_their_values() {
    for &(name, x, y, hi, lo) in VALUES {
        let (a, b) = (Ball::exact(x), Ball::exact(y));
        let value = match name {
            "lgamma" => a.lgamma(),
            "digamma" => a.digamma(),
            "bessel_i1e" => a.bessel_i1e(),
            "erf_inv" => a.erf_inv(),
            "zeta" => a.zeta(b),
            "polygamma" => a.polygamma(b),
            other => panic!("{other}"),
        };
        // The value is given to about 2^-106 of itself.
        let distance = (Ball::exact(hi) + Ball::exact(lo) - value).hi.abs();
        let given = hi.abs() * 2f64.powi(-104) + 1e-320;
        assert!(distance <= value.radius + given, "{name}({x}, {y}) is {hi} + {lo}: {value:?}");
        // Many more digits than those of f64 are known, but at the zero of the digamma function.
        let size = if name == "digamma" { hi.abs().max(1.0) } else { hi.abs() };
        assert!(value.radius <= size * 1e-22 + 1e-300, "{name}({x}, {y}): {value:?}");
    }
}

/// Judges results of a program; without results, those of our interpreter.
fn judged(text: &str, inputs: Vec<RuntimeValue>, results: Option<Vec<Tensor>>) -> Judgement {
    let module = stablo::load("program.mlir", text).expect(text);
    let run = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let program = Program::prepare(module, "main", run).expect(text);
    let results = results.unwrap_or_else(|| {
        let values = program.run(inputs.clone()).expect(text).into_iter();
        values.map(|value| value.into_tensor().expect("a tensor")).collect()
    });
    let options = Options::default().samples(0).licences(false);
    stablo::judge(&program, inputs, &results, None, &options).expect(text)
}

/// A program of lines, after which `%r` is the result.
fn program(arguments: &str, result: &str, lines: &str) -> String {
    format!("func.func @main({arguments}) -> {result} {{\n{lines}\n  return %r : {result}\n}}")
}

/// Programs of ops whose operands are inexact, as most are the results of other ops.
fn programs() -> Vec<String> {
    let c = "tensor<3x3xcomplex<f32>>";
    let unary = |name: &str| {
        let line = format!(
            "  %e = stablehlo.exponential %x : tensor<4xf32>\n  %r = {name} %e : tensor<4xf32> -> tensor<4xf32>"
        );
        program("%x: tensor<4xf32>", "tensor<4xf32>", &line)
    };
    let mut all: Vec<String> =
        ["chlo.lgamma", "chlo.digamma", "chlo.bessel_i1e", "chlo.erfc"].map(unary).to_vec();
    for op in ["chlo.polygamma", "chlo.zeta", "chlo.next_after"] {
        all.push(program(
            "%x: tensor<4xf32>",
            "tensor<4xf32>",
            &format!(
                "  %e = stablehlo.exponential %x : tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %r = {op} %two, %e : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>"
            ),
        ));
    }
    for op in ["sine", "tan", "log_plus_one", "sign", "cosine", "tanh", "sqrt", "rsqrt", "logistic"]
    {
        all.push(program(
            &format!("%x: {c}"),
            c,
            &format!("  %e = stablehlo.exponential %x : {c}\n  %r = stablehlo.{op} %e : {c}"),
        ));
    }
    for op in ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan"] {
        all.push(program(&format!("%x: {c}"), c, &format!("  %r = chlo.{op} %x : {c} -> {c}")));
    }
    for op in ["add", "divide", "multiply", "power", "subtract"] {
        all.push(program(
            &format!("%x: {c}, %y: {c}"),
            c,
            &format!("  %e = stablehlo.exponential %x : {c}\n  %r = stablehlo.{op} %e, %y : {c}"),
        ));
    }
    // Sums of complex numbers.
    all.push(program(
        &format!("%x: {c}, %y: {c}"),
        c,
        &format!(
            "  %e = stablehlo.exponential %x : {c}
  %r = stablehlo.dot_general %e, %y, contracting_dims = [1] x [0] : ({c}, {c}) -> {c}"
        ),
    ));
    all.push(program(
        &format!("%x: {c}"),
        "tensor<3xcomplex<f32>>",
        &format!(
            "  %e = stablehlo.exponential %x : {c}
  %z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1]
    : ({c}, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>"
        ),
    ));
    all.push(program(
        "%x: tensor<1x6x2xcomplex<f32>>, %k: tensor<3x2x2xcomplex<f32>>",
        "tensor<1x4x2xcomplex<f32>>",
        "  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x6x2xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>) -> tensor<1x4x2xcomplex<f32>>",
    ));
    // Bodies of several operations.
    all.push(program(
        "%x: tensor<3x5xf32>",
        "tensor<3xf32>",
        "  %e = stablehlo.exponential %x : tensor<3x5xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %s:2 = stablehlo.reduce(%e init: %one), (%x init: %one) across dimensions = [1]
    : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
      %p = stablehlo.add %a, %b : tensor<f32>
      %q = stablehlo.maximum %c, %d : tensor<f32>
      stablehlo.return %p, %q : tensor<f32>, tensor<f32>
    }
  %r = stablehlo.add %s#0, %s#1 : tensor<3xf32>",
    ));
    for (kind, extra) in [("", ""), ("_window", "{window_dimensions = array<i64: 3>} ")] {
        let shape = if kind.is_empty() { "" } else { "3x" };
        let dimensions = if kind.is_empty() { "{dimensions = array<i64: 0>} " } else { extra };
        all.push(program(
            "%x: tensor<5xf32>",
            &format!("tensor<{shape}f32>"),
            &format!(
                "  %e = stablehlo.exponential %x : tensor<5xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = \"stablehlo.reduce{kind}\"(%e, %z) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.abs %b : tensor<f32>
      %q = stablehlo.add %a, %p : tensor<f32>
      stablehlo.return %q : tensor<f32>
    }}) {dimensions}: (tensor<5xf32>, tensor<f32>) -> tensor<{shape}f32>"
            ),
        ));
    }
    all.push(program(
        "%x: tensor<6xf32>, %u: tensor<3xf32>",
        "tensor<6xf32>",
        "  %e = stablehlo.exponential %u : tensor<3xf32>
  %i = stablehlo.constant dense<[[1], [4], [2]]> : tensor<3x1xi32>
  %r = \"stablehlo.scatter\"(%x, %i, %e) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.subtract %a, %b : tensor<f32>
      stablehlo.return %p : tensor<f32>
    }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<6xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<6xf32>",
    ));
    // Order by two keys.
    all.push(program(
        "%x: tensor<7xf32>, %k: tensor<7xf32>",
        "tensor<7xf32>",
        "  %e = stablehlo.exponential %x : tensor<7xf32>
  %f = stablehlo.floor %k : tensor<7xf32>
  %s:2 = \"stablehlo.sort\"(%f, %e) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
      %lt = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %eq = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %own = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %tie = stablehlo.and %eq, %own : tensor<i1>
      %before = stablehlo.or %lt, %tie : tensor<i1>
      stablehlo.return %before : tensor<i1>
    }) {dimension = 0 : i64, is_stable = true} : (tensor<7xf32>, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>)
  %r = stablehlo.add %s#0, %s#1 : tensor<7xf32>",
    ));
    all.push(program(
        "%x: tensor<4x3xf32>, %s: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<4x3xf32>",
        "tensor<4x3xf32>",
        "  %e = stablehlo.exponential %v : tensor<3xf32>
  %t:3 = \"stablehlo.batch_norm_grad\"(%x, %s, %m, %e, %g) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64}
    : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>)
    -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %u = stablehlo.broadcast_in_dim %t#1, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %r = stablehlo.add %t#0, %u : tensor<4x3xf32>",
    ));
    // Quantized ops.
    let q = "tensor<2x3x!quant.uniform<i8:f32, 0.125:3>>";
    all.push(program(
        "%x: tensor<2x3xf32>, %y: tensor<2x3xf32>",
        "tensor<2x3xf32>",
        &format!(
            "  %a = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> {q}
  %b = stablehlo.uniform_quantize %y : (tensor<2x3xf32>) -> {q}
  %c = stablehlo.add %a, %b : {q}
  %r = stablehlo.uniform_dequantize %c : ({q}) -> tensor<2x3xf32>"
        ),
    ));
    // Collectives of the only process.
    all.push(program(
        "%x: tensor<4xf32>",
        "tensor<4xf32>",
        "  %e = stablehlo.exponential %x : tensor<4xf32>
  %r = \"stablehlo.all_reduce\"(%e) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %p : tensor<f32>
    }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>",
    ));
    all
}

#[test]
fn ops_have_rules_that_accuse_nobody() {
    for (text, seed) in programs().iter().flat_map(|text| [(text, 0), (text, 1), (text, 2)]) {
        let module = stablo::load("program.mlir", text.as_str()).expect(text);
        let prepared = Program::prepare(module, "main", RunOptions::default()).expect(text);
        let inputs = stablo::random_inputs(prepared.signature().0, seed).expect(text);
        let results = text.contains("all_reduce").then(|| {
            let sum = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
              %r = stablehlo.exponential %x : tensor<4xf32>
              return %r : tensor<4xf32>
            }";
            let module = stablo::load("sum.mlir", sum).expect(sum);
            let own = Program::prepare(module, "main", RunOptions::default()).expect(sum);
            let values = own.run(inputs.clone()).expect(sum).into_iter();
            values.map(|value| value.into_tensor().expect("a tensor")).collect()
        });
        let judgement = judged(text, inputs, results);
        let no_rule = judgement.doubts.iter().find(|doubt| doubt.kind == "no_rule");
        assert!(no_rule.is_none(), "{}: {text}", no_rule.map_or("", |doubt| &doubt.text));
        assert_ne!(judgement.verdict(), Verdict::Outside, "{}{text}", judgement.to_text());
    }
}

/// The specification leaves the order of equal elements open unless the sort is stable.
#[test]
fn equal_elements_of_unstable_sorts_may_be_exchanged() {
    let sort = |is_stable: bool| {
        format!(
            "func.func @main(%k: tensor<3xf32>, %v: tensor<3xi32>) -> tensor<3xi32> {{
  %s:2 = \"stablehlo.sort\"(%k, %v) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %lt = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }}) {{dimension = 0 : i64, is_stable = {is_stable}}}
    : (tensor<3xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %s#1 : tensor<3xi32>
}}"
        )
    };
    let vector = |values: [i32; 3]| Tensor::from_vec([3], values.to_vec()).expect("three elements");
    let verdict = |is_stable: bool, found: [i32; 3]| {
        let keys = Tensor::from_vec([3], vec![2f32, 1.0, 2.0]).expect("three elements");
        let inputs = vec![keys.into(), vector([0, 1, 2]).into()];
        judged(&sort(is_stable), inputs, Some(vec![vector(found)])).verdict()
    };
    assert_eq!(verdict(true, [1, 0, 2]), Verdict::Inside);
    assert_eq!(verdict(true, [1, 2, 0]), Verdict::Outside);
    assert_eq!(verdict(false, [1, 0, 2]), Verdict::Inside);
    assert_eq!(verdict(false, [1, 2, 0]), Verdict::Inside);
    assert_eq!(verdict(false, [1, 1, 2]), Verdict::Outside);
    assert_eq!(verdict(false, [0, 1, 2]), Verdict::Outside);
}

/// Zeros in place of subnormal numbers keep their signs.
#[test]
fn subnormal_operands_may_be_zeros() {
    let text = "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.divide %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}";
    let vector = |values: [f32; 2]| Tensor::from_vec([2], values.to_vec()).expect("two elements");
    let module = stablo::load("divide.mlir", text).expect(text);
    let program = Program::prepare(module, "main", RunOptions::default()).expect(text);
    let inputs = vec![vector([1e-10, 1e-10]).into(), vector([1e-39, -1e-39]).into()];
    let verdict = |model: &str, found: [f32; 2]| {
        let model = Model::built_in(model).expect("a built-in model");
        let options = Options::default().samples(0).licences(false).model(model);
        stablo::judge(&program, inputs.clone(), &[vector(found)], None, &options)
            .expect(text)
            .verdict()
    };
    let infinity = f32::INFINITY;
    // Bounds from 1e29 to infinity say too little to be inside of.
    assert_eq!(verdict("xla-cpu", [infinity, -infinity]), Verdict::Undecided);
    assert_eq!(verdict("xla-cpu", [-infinity, infinity]), Verdict::Outside);
    assert_eq!(verdict("ieee", [infinity, -infinity]), Verdict::Outside);
}

/// Odd powers of negative numbers are negative, also where only their inverses are in the range.
#[test]
fn powers_beyond_the_range_have_signs() {
    let text = "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.power %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}";
    let vector = |values: [f32; 2]| Tensor::from_vec([2], values.to_vec()).expect("two elements");
    let verdict = |found: [f32; 2]| {
        let inputs = vec![vector([-7.5e-32, -7.5e-32]).into(), vector([-43.0, 43.0]).into()];
        judged(text, inputs, Some(vec![vector(found)])).verdict()
    };
    assert_eq!(verdict([f32::NEG_INFINITY, -0.0]), Verdict::Inside);
    assert_eq!(verdict([f32::INFINITY, -0.0]), Verdict::Outside);
}

/// A product with a zero is a zero of either sign for a backend that flushes: bounds of subnormal
/// numbers around zero are not too wide, though no element is larger.
#[test]
fn bounds_of_zeros_are_not_too_wide() {
    let text = "func.func @main(%x: tensor<2x3xf64>) -> tensor<2x1xf64> {
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = \"stablehlo.reduce_window\"(%x, %one) <{window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %m = stablehlo.multiply %a, %b : tensor<f64>
    stablehlo.return %m : tensor<f64>
  }) : (tensor<2x3xf64>, tensor<f64>) -> tensor<2x1xf64>
  return %0 : tensor<2x1xf64>
}";
    let module = stablo::load("product.mlir", text).expect("it is valid");
    let run = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let program = Program::prepare(module, "main", run).expect("it can run");
    let inputs = || {
        let x = Tensor::from_vec([2, 3], vec![0.0, -1.0, 3.0, 2.0, 0.0, 5.0]);
        vec![RuntimeValue::from(x.expect("six elements"))]
    };
    let model = Model::built_in("xla-cpu").expect("it is built in");
    let options = Options::default().model(model).samples(0).licences(false);
    let verdict = |found: [f64; 2]| {
        let found = Tensor::from_vec([2, 1], found.to_vec()).expect("two elements");
        let judgement = stablo::judge(&program, inputs(), &[found], None, &options);
        judgement.expect("it runs").verdict()
    };
    assert_eq!(verdict([-0.0, 0.0]), Verdict::Inside);
    assert_eq!(verdict([0.0, 1e-300]), Verdict::Outside);
}
