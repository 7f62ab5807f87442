//! Runs passes by name, watches them, and makes a program with dynamic shapes static.

use stablo::passes::{self, PassObserver, Pipeline, Step};
use stablo::{Module, RefineOptions, VerifyOptions, has_errors};
use std::error::Error;

/// Prints how long each pass took.
struct PassTimes;

impl PassObserver for PassTimes {
    fn after(&mut self, step: &Step<'_>, module: &Module) {
        let ops = stablo::walk(module).count();
        println!("{}: {:?}, {ops} ops left", step.invocation.pass.name, step.elapsed);
    }
}

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let text = "func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
                  %0 = chlo.erf %x : tensor<?x2xf32> -> tensor<?x2xf32>
                  %1 = chlo.erf %x : tensor<?x2xf32> -> tensor<?x2xf32>
                  %2 = stablehlo.add %0, %1 : tensor<?x2xf32>
                  return %2 : tensor<?x2xf32>
                }";
    println!("there are {} passes", passes::all().len());

    let mut module = stablo::load("erf.mlir", text)?;
    stablo::refine(&mut module, &RefineOptions::default().batch(8))?;
    stablo::run_pipeline(&mut module, "cse,func.func(chlo-legalize-to-stablehlo)")?;
    assert!(!module.to_string().contains("chlo."));

    let mut pipeline = Pipeline::default();
    pipeline.add("canonicalize", "max-iterations=3")?.add("cse", "")?;
    let diagnostics =
        pipeline.run_observed(&mut module, Some(&VerifyOptions::default()), &mut PassTimes);
    assert!(!has_errors(&diagnostics));

    let error = stablo::run_pipeline(&mut module, "cze").unwrap_err();
    assert_eq!(error.to_string(), "error[pipeline]: there is no pass `cze`; did you mean `cse`?");
    Ok(())
}
