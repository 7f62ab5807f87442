//! Passes do not change what programs compute: many programs run before and after each pass, and
//! their results are compared by bits. `corpus.rs` has the programs.

use crate::corpus::{Program, programs, tensors};
use stablo::numerics::math;
use stablo::passes::{self, NoObserver, Pass, Pipeline};
use stablo::{DType, Module, Program as Prepared, RunOptions, RuntimeValue, Tensor};
use std::collections::BTreeMap;

/// How a pass is tested, if not by itself with bitwise comparison.
enum How {
    /// With this pipeline.
    As(&'static str),
    /// With this pipeline; results may have this relative error.
    Within(&'static str, f64),
    /// Not by this test.
    Elsewhere,
}

/// Passes with special treatment, and the reasons.
static SPECIAL: &[(&str, How)] = &[
    // The interpreter has its own formulas for these functions.
    ("chlo-legalize-to-stablehlo", How::Within("func.func(chlo-legalize-to-stablehlo)", 1e-5)),
    // A reduction with a probe in its body may add in another order.
    ("interpreter-instrument-with-probe", How::Within("interpreter-instrument-with-probe", 1e-4)),
    // tan is expanded into sin and cos.
    (
        "stablehlo-compatibility-expander",
        How::Within("stablehlo-compatibility-expander{target=0.9.0}", 1e-5),
    ),
    // The interpreter has its own formulas for complex functions.
    ("stablehlo-complex-math-expander", How::Within("stablehlo-complex-math-expander", 1e-5)),
    // Results change from unsigned to signed integers.
    ("stablehlo-convert-to-signless", How::Elsewhere),
    (
        "stablehlo-legalize-deprecated-ops",
        How::As("func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false})"),
    ),
    // Quantized ops round once, floats round twice.
    ("stablehlo-legalize-qdq-to-quantized-op", How::Elsewhere),
    // Quantized arguments become integers.
    ("stablehlo-legalize-quant-to-math", How::Elsewhere),
    (
        "stablehlo-legalize-to-vhlo",
        How::As("stablehlo-legalize-to-vhlo,vhlo-legalize-to-stablehlo"),
    ),
    // Requires types; `stablehlo-remove-dynamism` includes it.
    ("stablehlo-refine-arguments", How::Elsewhere),
    (
        "stablehlo-wrap-in-composite",
        How::As("stablehlo-wrap-in-composite{op-names=stablehlo.add,stablehlo.reduce}"),
    ),
    // Programs are not in VHLO.
    ("vhlo-legalize-to-stablehlo", How::Elsewhere),
    // Programs are not in VHLO.
    ("vhlo-to-version", How::Elsewhere),
];

fn prepare(module: &Module) -> Result<Prepared, String> {
    let prepared = Prepared::prepare(module.clone(), "main", RunOptions::default());
    prepared.map_err(|error| error.to_string())
}

fn run(program: &Prepared, inputs: Vec<RuntimeValue>) -> Result<Vec<Tensor>, String> {
    tensors(program.run(inputs).map_err(|error| error.to_string())?)
}

/// True if tensors are equal: by bits, or within a relative tolerance.
fn agree(a: &Tensor, b: &Tensor, tolerance: f64) -> bool {
    let same_type = a.dtype() == b.dtype() && a.shape() == b.shape();
    if !same_type || tolerance == 0.0 || a.dtype().is_integer() {
        return same_type && a.bytes()[..] == b.bytes()[..];
    }
    // Narrow floats have larger errors.
    let tolerance = if a.dtype().bytes() <= 2 { tolerance.max(2e-2) } else { tolerance };
    let parts = |t: &Tensor| math::convert(t.clone(), DType::C128).unwrap();
    let (a, b) = (parts(a), parts(b));
    let numbers = |t: &Tensor| -> Vec<f64> {
        t.bytes()
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")))
            .collect()
    };
    let close = |(a, b): (f64, f64)| {
        a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * a.abs().max(1.0)
    };
    numbers(&a).into_iter().zip(numbers(&b)).all(close)
}

/// The program after a pass; `None` if the pass rejects it.
fn transformed(program: &Program, pipeline: &str) -> Option<Module> {
    let mut module = program.module.clone();
    let pipeline: Pipeline = pipeline.parse().unwrap();
    pipeline.run_observed(&mut module, None, &mut NoObserver).is_empty().then_some(module)
}

/// The difference in the results of a program after a pass.
fn difference(
    module: &Module,
    program: &Program,
    original: &Prepared,
    expected: &[Tensor],
    tolerance: f64,
) -> Option<String> {
    if let Err(error) = stablo::verify(module) {
        return Some(format!("the result is not valid: {error}"));
    }
    let results = match prepare(module) {
        // It computes the same.
        Ok(changed) if changed.shares_code_with(original) => return None,
        Ok(changed) => run(&changed, program.inputs.clone()),
        Err(error) => Err(error),
    };
    match results {
        Err(error) => Some(format!("the result does not run: {error}")),
        Ok(found) if found.len() != expected.len() => Some(format!("{} results", found.len())),
        Ok(found) => {
            let differs = expected.iter().zip(&found).position(|(a, b)| !agree(a, b, tolerance));
            differs.map(|i| format!("result {i} differs"))
        }
    }
}

#[test]
fn passes_keep_results() {
    let how: BTreeMap<&str, &How> = SPECIAL.iter().map(|(name, how)| (*name, how)).collect();
    for name in how.keys() {
        assert!(passes::find(name).is_some(), "there is no pass {name}");
    }
    let programs = programs();
    let mut wrong = Vec::new();
    let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
    for program in &programs {
        // Programs that test run-time errors do not run.
        let Ok(original) = prepare(&program.module) else { continue };
        let Ok(expected) = run(&original, program.inputs.clone()) else { continue };
        for Pass { name, .. } in passes::all() {
            let (pipeline, tolerance) = match how.get(name) {
                None => (*name, 0.0),
                Some(How::As(pipeline)) => (*pipeline, 0.0),
                Some(How::Within(pipeline, tolerance)) => (*pipeline, *tolerance),
                Some(How::Elsewhere) => continue,
            };
            let Some(module) = transformed(program, pipeline) else { continue };
            *runs.entry(name).or_default() += 1;
            if let Some(what) = difference(&module, program, &original, &expected, tolerance) {
                wrong.push(format!("{} after {name}: {what}", program.name));
            }
        }
    }
    let total: usize = runs.values().sum();
    println!("{} programs, {total} runs after passes, {} mismatches", programs.len(), wrong.len());
    for Pass { name, .. } in passes::all() {
        let elsewhere = matches!(how.get(name), Some(How::Elsewhere));
        let count = runs.get(name).copied().unwrap_or(0);
        assert!(elsewhere || count > 20, "{name} ran on {count} of {} programs", programs.len());
    }
    assert!(wrong.is_empty(), "{} of {total} runs:\n{}", wrong.len(), wrong.join("\n"));
}
