//! OpMeasurements of the ops of a device: errors that are known because the test makes them.

use stablo::judging::{Model, OpCase, OpMeasurements};
use stablo::numerics::{DType, math};
use stablo::{Error, Program, RuntimeValue, Tensor};

fn case(op: &str, dtype: DType) -> OpCase {
    OpCase::all().find(|case| (case.op, case.dtype) == (op, dtype)).expect("it is measured")
}

/// Runs a program with our interpreter and changes its results, as numbers of `f64`.
fn changed(
    program: &Program,
    inputs: &[RuntimeValue],
    change: fn(f64) -> f64,
) -> Vec<RuntimeValue> {
    let results = program.run(inputs.to_vec()).expect("it runs");
    let change = |value: RuntimeValue| {
        let tensor = value.into_tensor().expect("a tensor");
        let (dtype, shape) = (tensor.dtype(), tensor.shape().to_vec());
        let wide = math::convert(tensor, DType::F64).expect("floats convert");
        let values = wide.to_vec::<f64>().expect("f64").into_iter().map(change).collect();
        let wide = Tensor::from_vec(&shape[..], values).expect("as many elements");
        math::convert(wide, dtype).expect("floats convert").into()
    };
    results.into_iter().map(change).collect()
}

fn measured(case: OpCase, points: usize, change: fn(f64) -> f64) -> OpMeasurements {
    let mut all = OpMeasurements::default();
    let mut run = |program: &Program, inputs: &[RuntimeValue]| Ok(changed(program, inputs, change));
    case.measure(points, &mut run, &mut all).expect("true values are computed");
    all
}

/// Results that are rounded correctly have no error to report. Results that are three units off have
/// one of up to 3.5, or of twice that below a power of two that they pass.
#[test]
fn errors_are_those_that_were_made() {
    let exact = measured(case("exponential", DType::F64), 3000, |x| x);
    assert_eq!((exact.ops[0].ulps, exact.ops[0].wrong), (0.0, 0));
    assert!(!exact.ops[0].flushes && exact.ops[0].points == 3000);
    let off = |x: f64| if x.is_normal() { f64::from_bits(x.to_bits() + 3) } else { x };
    for op in ["exponential", "tanh", "divide"] {
        let own = measured(case(op, DType::F64), 3000, off);
        assert!((3.0..=7.0).contains(&own.ops[0].ulps), "{op}: {:?}", own.ops[0]);
        // A tenth of room, rounded up.
        let model = Model::parse(&own.to_model("device")).expect("it is a model file");
        let allowed = model.rounding(op, DType::F64).ulps;
        assert!(allowed >= own.ops[0].ulps && allowed < 7.8, "{op}: {allowed}");
    }
    let wrong = measured(case("sine", DType::F32), 3000, |x| if x > 0.5 { f64::NAN } else { x });
    assert!(wrong.ops[0].wrong > 100 && wrong.ops[0].ulps == 0.0, "{:?}", wrong.ops[0]);
    assert!(wrong.ops[0].wrong_at[0].sin() > 0.5, "{:?}", wrong.ops[0]);
    let swapped = measured(case("subtract", DType::F32), 3000, |x| -x);
    assert!(swapped.ops[0].wrong > 2000 && swapped.ops[0].ulps == 0.0, "{:?}", swapped.ops[0]);
    assert!(swapped.to_model("device").starts_with("# "), "{}", swapped.to_model("device"));
    let flushed = |x: f64| if x.abs() < 1.2e-38 { 0.0 } else { x };
    let flushed = measured(case("multiply", DType::F32), 3000, flushed);
    assert!(flushed.ops[0].flushes && flushed.ops[0].ulps == 0.0, "{:?}", flushed.ops[0]);
}

/// All finite values of `f16` are measured if there are as many points.
#[test]
fn narrow_types_are_measured_at_all_values() {
    let all = measured(case("sqrt", DType::F16), 65536, |x| x);
    assert_eq!((all.ops[0].points, all.ops[0].ulps), (63488, 0.0));
    let all = measured(case("multiply", DType::F8E5M2), 65536, |x| x);
    assert_eq!((all.ops[0].points, all.ops[0].ulps), (248 * 248, 0.0));
}

/// The widest type of sums that explains the results is found.
#[test]
fn types_of_sums_are_found() {
    let own = measured(case("reduce", DType::F32), 1, |x| x);
    assert_eq!(own.sums[0].accumulation, Some(DType::F32));
    // Rounded to 8 bits, as if the last addition had been one of `bf16`: additions in `f32` do not
    // explain that, and 511 in `f16` may have such an error.
    let narrow: fn(f64) -> f64 = |x| {
        let bits = (x as f32).to_bits().wrapping_add(0x8000) & 0xffff_0000;
        f64::from(f32::from_bits(bits))
    };
    let own = measured(case("reduce", DType::F32), 1, narrow);
    assert_eq!(own.sums[0].accumulation, Some(DType::F16));
}

/// Lines of JSON have all that was measured, and a case that a device refuses is one of them.
#[test]
fn measurements_are_read_back() {
    let mut all = measured(case("log", DType::F32), 500, |x| x * 1.000_001);
    let mut refuse = |_: &Program, _: &[RuntimeValue]| Err(Error::message("device", "no `tan`"));
    case("tan", DType::F64).measure(500, &mut refuse, &mut all).expect("the reason is recorded");
    case("convolution", DType::F16).measure(1, &mut refuse, &mut all).expect("likewise");
    let mut run = |program: &Program, inputs: &[RuntimeValue]| program.run(inputs.to_vec());
    case("reduce", DType::F64).measure(1, &mut run, &mut all).expect("it runs");
    let lines = all.to_lines();
    assert_eq!(OpMeasurements::from_lines(&lines), Ok(all.clone()));
    assert!(all.has(case("tan", DType::F64)) && !all.has(case("tan", DType::F32)));
    assert!(all.to_table().contains("| log | - | - | - | - | "), "{}", all.to_table());
    for (text, why) in [
        ("{}", "line 1: `` of `` is not measured"),
        ("{\"op\":\"tan\",\"dtype\":\"f32\"}", "one of `error`, `sums` and `refused`"),
        (&*lines.repeat(2), "line 5: `log` of `f32` has an earlier line"),
        ("log", "line 1: expected value"),
    ] {
        let error = OpMeasurements::from_lines(text).expect_err("it is not valid");
        assert!(error.contains(why), "{error}");
    }
}
