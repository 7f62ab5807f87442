//! The judge: proven functions, bounds of rounding, and ops to blame.

use judge::Record;
use judge::ball::Ball;
use judge::bounds::{Bounds, Rounding};
use stablo::ir::{OpId, OpRef};
use stablo::judging::{Model, Options, Verdict};
use stablo::numerics::DType;
use stablo::{Engine, Observer, ProcessId, Program, RunOptions, RuntimeValue, Tensor};
use std::collections::HashMap;

/// Functions at points, with their values as sums of two numbers, computed with mpmath in 600 bits.
const VALUES: &[(&str, f64, f64, f64)] = &[
    ("exp", 1e-09, 1.000000001, -8.224037093664211e-17),
    ("exp", 0.5, 1.6487212707001282, -4.731568479435833e-17),
    ("exp", -3.25, 0.03877420783172201, 1.1433418851841824e-18),
    ("exp", 88.7, 3.325986980250579e+38, -2.558061914428818e+21),
    ("exp", -700.5, 5.980196118639791e-305, -2.87e-321),
    ("exp", 709.5, 1.3549863193146328e+308, -1.950359478583155e+290),
    ("exp_m1", 1e-20, 1e-20, 5e-41),
    ("exp_m1", -0.3, -0.2591817793182821, -1.805530505953e-18),
    ("exp_m1", 0.69, 0.9937155332430823, -3.8086103405485373e-17),
    ("exp_m1", 5.5, 243.69193226422038, 4.129320187450839e-15),
    ("exp_m1", -40.0, -1.0, 4.248354255291589e-18),
    ("log", 1e-300, -690.7755278982137, -2.3670096176709832e-14),
    ("log", 0.999999, -1.000000500029089e-06, 6.48066860222922e-23),
    ("log", 1.0000001, 9.999999505838704e-08, 1.5249709528441489e-24),
    ("log", 2.5, 0.9162907318741551, -4.141195369011963e-17),
    ("log", 1e+300, 690.7755278982137, 2.3747660028800243e-14),
    ("log_1p", 1e-20, 1e-20, -5e-41),
    ("log_1p", -0.99, -4.605170185988091, 4.341512446764495e-16),
    ("log_1p", 0.005, 0.004987541511039074, -3.930614395152779e-20),
    ("log_1p", 3.0, 1.3862943611198906, 4.638093627692599e-17),
    ("tanh", 1e-12, 1e-12, -3.333333333333333e-37),
    ("tanh", 0.3, 0.2913126124515909, -6.4602656586469586e-18),
    ("tanh", -2.0, -0.9640275800758169, 1.9413550547557176e-17),
    ("tanh", 19.5, 1.0, -2.3096448346031572e-17),
    ("atan", 1e-15, 1e-15, -3.333333333333334e-46),
    ("atan", 0.5, 0.4636476090008061, 2.2698777452961687e-17),
    ("atan", -3.0, -1.2490457723982544, 2.196203799612311e-18),
    ("atan", 1000.0, 1.5697963271282298, -5.443715996974827e-17),
    ("asin", 1e-08, 1e-08, 1.6666666666666668e-25),
    ("asin", 0.4, 0.41151684606748806, -1.8776615923326388e-17),
    ("asin", -0.999999, -1.5693821131146521, 1.100101637792604e-16),
    ("acos", 1e-08, 1.5707963167948966, 4.576298722538867e-19),
    ("acos", 0.4, 1.1592794807274085, 8.000895588069405e-17),
    ("acos", -0.999999, 3.1401784399095485, 1.7326678110313857e-16),
    ("acos", 0.9999999, 0.00044721359910904126, -1.8830342882148272e-20),
    ("sinh", 1e-09, 1e-09, 1.6666666666666669e-28),
    ("sinh", 0.5, 0.5210953054937474, -2.3328183476404597e-17),
    ("sinh", -20.0, -242582597.70489514, 7.865629467297586e-10),
    ("cosh", 0.5, 1.1276259652063807, 8.703480114456192e-17),
    ("cosh", -20.0, 242582597.70489514, 1.2745906757087991e-09),
    ("asinh", 1e-09, 1e-09, -1.6666666666666669e-28),
    ("asinh", 0.7, 0.6526665660823557, 1.3538893500858175e-17),
    ("asinh", -50.0, -4.605270170991424, -1.6498845942706117e-16),
    ("asinh", 1e+200, 461.2101657793691, -2.3993297946353776e-14),
    ("acosh", 1.0000001, 0.0004472135919037347, 2.6565376465076346e-20),
    ("acosh", 2.0, 1.3169578969248168, -8.682250844852022e-17),
    ("acosh", 1e+200, 461.2101657793691, -2.3993297946353776e-14),
    ("atanh", 1e-09, 1e-09, 3.3333333333333338e-28),
    ("atanh", 0.5, 0.5493061443340549, -4.535648617500765e-17),
    ("atanh", -0.9999999, -8.40562139102231, -2.0896760842055466e-16),
    ("logistic", 0.3, 0.574442516811659, -4.7456482573436975e-17),
    ("logistic", -30.0, 9.357622968839299e-14, 8.837142511495094e-31),
    ("logistic", 40.0, 1.0, -4.248354255291589e-18),
    ("cbrt", 2.0, 1.2599210498948732, -2.589933375300507e-17),
    ("cbrt", -1e-200, -2.1544346900318838e-67, 4.612815024072827e-84),
    ("cbrt", 3e+200, 6.694329500821695e+66, 3.1298901310458345e+50),
    ("erf", 1e-09, 1.1283791670955127e-09, -1.624992790279848e-26),
    ("erf", 0.7, 0.6778011938374184, 5.860416063065593e-18),
    ("erf", -2.5, -0.999593047982555, -4.6925151097042234e-17),
    ("erf", 5.5, 0.9999999999999927, -3.03759554483649e-17),
    ("erfc", -1.0, 1.8427007929497148, 8.622129067339705e-17),
    ("erfc", 1.5, 0.033894853524689274, -8.274380778554473e-19),
    ("erfc", 4.0, 1.541725790028002e-08, -1.1417872168371026e-24),
    ("erfc", 25.0, 8.300172571196523e-274, -4.0508928147804266e-291),
    ("sqrt", 3.0, 1.7320508075688772, 1.0035084221806903e-16),
    ("sqrt", 1e-300, 1e-150, 6.234187685431415e-168),
    ("sqrt", 3e+300, 1.7320508075688775e+150, -1.1924780537453558e+134),
    ("sqrt", f64::MAX, 1.3407807929942596e+154, 7.442828536787015e+137),
    ("sqrt", 1e+250, 1e+125, 3.5680654922614467e+108),
    ("sin", 1e-09, 1e-09, -1.6666666666666669e-28),
    ("sin", 3.0, 0.1411200080598672, 8.577269787017502e-18),
    ("sin", 1000000.0, -0.34999350217129294, -1.5952848809323968e-17),
    ("sin", 1e+22, -0.8522008497671888, -6.7806825896773284e-18),
    ("sin", 1.5e+300, 0.13381347506518304, -1.3134001930070467e-17),
    ("cos", 1e-05, 0.99999999995, 4.137435208440879e-18),
    ("cos", 3.0, -0.9899924966004454, -4.2060261566099734e-17),
    ("cos", 1000000.0, 0.9367521275331447, 4.637088260214747e-17),
    ("cos", 1e+22, 0.523214785395139, -4.7143201076575164e-17),
    ("cos", 1.5e+300, -0.9910065357458444, -2.5126132143160737e-17),
    ("tan", 1e-09, 1e-09, 3.3333333333333338e-28),
    ("tan", 1.57, 1255.7655915007897, -4.905371300143858e-14),
    ("tan", 1e+22, -1.6287782256068988, -1.0114934254126034e-16),
];

#[test]
fn functions_contain_their_values() {
    for &(name, x, hi, lo) in VALUES {
        let x = Ball::exact(x);
        let value = match name {
            "exp" => x.exp(),
            "exp_m1" => x.exp_m1(),
            "log" => x.log(),
            "log_1p" => x.log_1p(),
            "tanh" => x.tanh(),
            "atan" => x.atan(),
            "asin" => x.asin(),
            "acos" => x.acos(),
            "sinh" => x.sinh(),
            "cosh" => x.cosh(),
            "asinh" => x.asinh(),
            "acosh" => x.acosh(),
            "atanh" => x.atanh(),
            "logistic" => x.logistic(),
            "cbrt" => x.cbrt(),
            "erf" => x.erf(),
            "erfc" => x.erfc(),
            "sqrt" => x.sqrt(),
            "sin" => x.sin_cos().0,
            "cos" => x.sin_cos().1,
            "tan" => x.tan(),
            _ => unreachable!("no function {name}"),
        };
        // The reference has 106 bits, and few in the range of subnormal numbers.
        let apart = ((value.hi - hi) + (value.lo - lo)).abs();
        let known = hi.abs() * 2f64.powi(-105) + 1e-320;
        assert!(apart <= value.radius + known, "{name} {}: {value:?}", x.hi);
        assert!(value.radius <= hi.abs() * 2f64.powi(-80) + 1e-300, "{name} {}: {value:?}", x.hi);
    }
}

#[test]
fn balls_know_when_they_are_exact() {
    let third = Ball::ONE.over(Ball::exact(3.0));
    assert!(third.radius > 0.0 && third.radius < 1e-31);
    assert!((third * Ball::exact(3.0) - Ball::ONE).magnitude() < 1e-30);
    let exact = Ball::exact(3.0) * Ball::exact(0.1) + Ball::exact(2f64.powi(-90));
    assert_eq!(exact.radius, 0.0);
    assert_eq!(Ball::exact(2.0).sqrt().square().sign(), Some(1));
    assert!(Ball::exact(4.0).sqrt().is_exact());
    assert!(Ball::exact(0.0).over(Ball::exact(0.0)).is_nan());
    assert!(Ball::exact(1e300).exp().is_beyond());
    assert!(Ball::between(-1.0, 1.0).log().is_unknown());
}

#[test]
fn bounds_are_rounded_as_the_format_rounds() {
    let point = Bounds::point;
    let nearest = |x: f64, y: f64, dtype| point(x).plus(point(y)).rounded(dtype, Rounding::NEAREST);
    // 1 + 2^-24 is a tie, which goes to even; a little more does not.
    let half = 2f64.powi(-24);
    assert_eq!(nearest(1.0, half, DType::F32), point(1.0));
    assert_eq!(nearest(1.0 + half, 2f64.powi(-70), DType::F32), point(1.0 + 2.0 * half));
    assert_eq!(nearest(1.0, half, DType::F64), point(1.0 + half));
    // Overflow, and products that cancel a zero.
    let large = f64::from(f32::MAX);
    assert_eq!(nearest(large, large, DType::F32), point(f64::INFINITY));
    let zero = point(0.0).times(point(f64::INFINITY)).rounded(DType::F32, Rounding::NEAREST);
    assert_eq!(zero, Bounds::NAN);
    let wide = Bounds { low: -1.0, high: 2.0, nan: false };
    let product = wide.times(wide).rounded(DType::F32, Rounding::NEAREST);
    assert_eq!((product.low, product.high), (-2.0, 4.0));
}

#[test]
fn models_are_data() {
    assert_eq!(Model::names().collect::<Vec<_>>(), ["ieee", "xla-cpu", "xla-gpu", "tpu"]);
    for name in Model::names() {
        assert_eq!(Model::built_in(name).expect("it parses").name, name);
    }
    let model = Model::parse("name = 'x'\nbase = 'ieee'\n[ulps.f32]\nexponential = 3").unwrap();
    assert_eq!(model.rounding("exponential", DType::F32).ulps, 3.0);
    assert_eq!(model.rounding("exponential", DType::F64).ulps, 0.5);
    let text =
        "name = 'x'\nbase = 'xla-cpu'\n[ulps.\"*\"]\nexponential = 99\n[absolute.f64]\nlog = 0.25";
    let model = Model::parse(text).expect("a file with a base");
    assert_eq!(model.rounding("exponential", DType::F32).ulps, 99.0);
    assert_eq!(model.rounding("log", DType::F64).absolute, 0.25);
    for (text, error) in [
        ("name = 1", "expected a string"),
        ("name = 'x'\nbase = 'y'", "there is no model `y`"),
        ("name = 'x'\nproducts = 'i8'", "`i8` is not a floating-point type"),
        ("name = 'x'\nrounds = true", "unknown field `rounds`"),
        ("name = 'x'\n[ulps.f32]\nadd = 0.1", "at least 0.5"),
        ("name = 'x'\nfunctions = -1", "at least 0.5"),
        ("name = 'x'\n[ulps.f32]\nexponentiall = 2", "`exponentiall` is no op"),
    ] {
        let found = Model::parse(text).expect_err(text);
        assert!(found.contains(error), "{text}: {found}");
    }
}

/// The values of all ops of a run, by op, result and iteration.
#[derive(Default)]
struct Values {
    all: HashMap<(OpId, usize, usize), Tensor>,
    order: Vec<(OpId, usize, usize)>,
    seen: HashMap<(OpId, usize), usize>,
}

impl Observer for Values {
    fn traces(&self) -> bool {
        true
    }

    fn value(
        &mut self,
        _: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        let RuntimeValue::Tensor(tensor) = value else { return Ok(()) };
        let iteration = self.seen.entry((op.id(), index)).or_default();
        let key = (op.id(), index, *iteration);
        *iteration += 1;
        self.order.push(key);
        self.all.insert(key, tensor.clone());
        Ok(())
    }
}

impl Record for Values {
    fn value(
        &mut self,
        op: OpId,
        index: usize,
        iteration: usize,
    ) -> Result<Option<Tensor>, String> {
        Ok(self.all.get(&(op, index, iteration)).cloned())
    }
}

/// Programs of many kinds of ops, with their random inputs of a seed.
const PROGRAMS: [&str; 4] = [
    "func.func @main(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
       %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
         : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
       %1 = stablehlo.exponential %0 : tensor<3x5xf32>
       %zero = stablehlo.constant dense<0.0> : tensor<f32>
       %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
         : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
       %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<3xf32>) -> tensor<3x5xf32>
       %4 = stablehlo.divide %1, %3 : tensor<3x5xf32>
       return %4 : tensor<3x5xf32>
     }",
    "func.func @main(%x: tensor<4x6xf64>) -> tensor<6x4xf64> {
       %0 = stablehlo.tanh %x : tensor<4x6xf64>
       %1 = stablehlo.convert %0 : (tensor<4x6xf64>) -> tensor<4x6xbf16>
       %2 = stablehlo.convert %1 : (tensor<4x6xbf16>) -> tensor<4x6xf64>
       %3 = stablehlo.compare LT, %2, %x : (tensor<4x6xf64>, tensor<4x6xf64>) -> tensor<4x6xi1>
       %4 = stablehlo.select %3, %x, %2 : tensor<4x6xi1>, tensor<4x6xf64>
       %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<4x6xf64>) -> tensor<6x4xf64>
       %6 = stablehlo.sine %5 : tensor<6x4xf64>
       return %6 : tensor<6x4xf64>
     }",
    "func.func @main(%x: tensor<5xf32>, %n: tensor<i32>) -> tensor<5xf32> {
       %c0 = stablehlo.constant dense<0> : tensor<i32>
       %c1 = stablehlo.constant dense<1> : tensor<i32>
       %0:2 = stablehlo.while(%i = %c0, %y = %x) : tensor<i32>, tensor<5xf32>
         cond {
           %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %p : tensor<i1>
         } do {
           %j = stablehlo.add %i, %c1 : tensor<i32>
           %s = stablehlo.logistic %y : tensor<5xf32>
           %z = stablehlo.multiply %s, %y : tensor<5xf32>
           stablehlo.return %j, %z : tensor<i32>, tensor<5xf32>
         }
       return %0#1 : tensor<5xf32>
     }",
    "func.func @main(%x: tensor<1x6x6x2xf32>, %k: tensor<3x3x2x4xf32>) -> tensor<1x2x2x4xf32> {
       %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
         window = {pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
         : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32>
       %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
       %1 = \"stablehlo.reduce_window\"(%0, %low) ({
         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
           %m = stablehlo.maximum %a, %b : tensor<f32>
           stablehlo.return %m : tensor<f32>
       }) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}
         : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x2x2x4xf32>
       return %1 : tensor<1x2x2x4xf32>
     }",
];

/// The value with its first element changed by more than rounding explains.
fn changed(tensor: &Tensor) -> Tensor {
    let mut bytes = tensor.bytes().to_vec();
    // Sums have errors of several units in the last place, in the lowest byte.
    let at = if tensor.dtype() == DType::F32 { 1 } else { 0 };
    bytes[at] = match tensor.dtype() {
        DType::I1 => 1 - bytes[at],
        _ => bytes[at].wrapping_add(if bytes[at] < 100 { 90 } else { 166 }),
    };
    Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes.into()).expect("the same size")
}

/// Runs of our own are inside, each op on its actual operands, too; a value that is changed is the
/// first to blame.
#[test]
fn a_changed_value_is_blamed() {
    let (mut faults, options) = (0, Options::default().samples(0).licences(false));
    for (text, seed) in PROGRAMS.iter().flat_map(|text| [(text, 0), (text, 1)]) {
        let module = stablo::load("program.mlir", *text).expect("it is valid");
        let run = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
        let program = Program::prepare(module, "main", run).expect("it can run");
        let inputs = stablo::random_inputs(program.signature().0, seed).expect("types are static");
        let mut clean = Values::default();
        let results = program.run_observed(inputs.clone(), &mut clean).expect("it runs");
        let results: Vec<Tensor> =
            results.into_iter().map(|value| value.into_tensor().expect("a tensor")).collect();
        let judge = |record: &mut Values| {
            stablo::judge(&program, inputs.clone(), &results, Some(record), &options)
                .expect("it runs")
        };
        let judgement = judge(&mut clean);
        assert_ne!(judgement.verdict(), Verdict::Outside, "{}", judgement.to_text());
        let blames = judgement.blames.expect("values are recorded");
        assert_eq!((blames.isolated.len(), blames.compared), (0, clean.order.len()));
        for key in clean.order.clone() {
            let own = clean.all[&key].clone();
            let op = program.module().op(key.0);
            // Conditions that change end loops early, or never.
            if op.name().ends_with("while") || own.dtype() == DType::I32 || own.rank() == 0 {
                continue;
            }
            clean.all.insert(key, changed(&own));
            let blames = judge(&mut clean).blames.expect("values are recorded");
            let first = blames.isolated.first().unwrap_or_else(|| panic!("{} is found", op.name()));
            assert_eq!((first.location.id, first.iteration), (key.0, key.2), "{}", first.text);
            clean.all.insert(key, own);
            faults += 1;
        }
    }
    assert!(faults > 30, "{faults}");
}

/// IEEE 754-2019, 9.2.1: one to any power and any number to the power of zero are one, also of NaN.
#[test]
fn powers_of_nan_that_are_one() {
    let text = "func.func @main(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = stablehlo.power %x, %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}";
    let module = stablo::load("power.mlir", text).expect("it is valid");
    let program = Program::prepare(module, "main", RunOptions::default()).expect("it can run");
    let tensor = |values: [f64; 3]| Tensor::from_vec([3], values.to_vec()).expect("three elements");
    let nan = f64::NAN;
    let inputs = [tensor([1.0, nan, nan]), tensor([nan, 0.0, 2.0])].map(RuntimeValue::from);
    let verdict = |results: [f64; 3]| {
        let options = Options::default().samples(0).licences(false);
        stablo::judge(&program, inputs.to_vec(), &[tensor(results)], None, &options)
            .expect("it runs")
            .verdict()
    };
    assert_eq!(verdict([1.0, 1.0, nan]), Verdict::Inside);
    assert_eq!(verdict([nan, 1.0, nan]), Verdict::Outside);
    assert_eq!(verdict([1.0, nan, nan]), Verdict::Outside);
    assert_eq!(verdict([1.0, 1.0, 1.0]), Verdict::Outside);
}
