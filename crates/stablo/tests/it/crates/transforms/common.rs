//! Runs programs after a pipeline.

use interpreter::{Limits, Program, Unobserved};
use mlir::diag::{Source, render};
use mlir::ods::Registry;
use mlir::pass::NoObserver;
use mlir::text::{ParseOptions, PrintOptions, parse, print_module};
use mlir::verify::{VerifyOptions, verify};
use mlir::{Diagnostics, Module};
use numerics::Tensor;
use program::RuntimeValue;
use std::sync::{Arc, LazyLock};
use transforms::PASSES;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut dialects = side_dialects::DIALECTS.to_vec();
    dialects.extend([&hlo::STABLEHLO, &chlo::CHLO]);
    Registry::new(&dialects)
});

fn succeed(errors: Diagnostics, source: &Arc<Source>) {
    assert!(
        errors.is_empty(),
        "{}",
        errors.iter().map(|e| render(e, Some(source))).collect::<String>()
    );
}

/// A program and the errors of a pipeline on it.
fn transform(text: &str, pipeline: &str) -> (Module, Diagnostics, Arc<Source>) {
    let source = Arc::new(Source::new("<test>", text));
    // Test passes replace ops of unregistered dialects.
    let options = ParseOptions { allow_unregistered_dialects: true, ..ParseOptions::default() };
    let parsed = parse(source.clone(), &REGISTRY, options);
    let mut module: Module = parsed.module;
    succeed(parsed.diagnostics, &source);
    let options = VerifyOptions { allow_unregistered_dialects: true, ..VerifyOptions::default() };
    succeed(verify(&module, &options), &source);
    let pipeline = PASSES.parse(pipeline).expect("a pipeline of known passes");
    let errors = pipeline.run(&mut module, Some(&VerifyOptions::default()), &mut NoObserver);
    (module, errors, source)
}

/// The module that a pipeline makes of a program.
fn transformed(text: &str, pipeline: &str) -> (Module, Arc<Source>) {
    let (module, errors, source) = transform(text, pipeline);
    succeed(errors, &source);
    (module, source)
}

/// The diagnostics of a pipeline on a program.
pub(crate) fn errors(text: &str, pipeline: &str) -> Diagnostics {
    transform(text, pipeline).1
}

/// The program after a pipeline, as text.
pub(crate) fn passed(text: &str, pipeline: &str) -> String {
    print_module(&transformed(text, pipeline).0, &PrintOptions::default())
}

/// Runs `@main` of a program after a pipeline.
pub(crate) fn run(text: &str, pipeline: &str, inputs: &[Tensor]) -> Vec<Tensor> {
    let (module, source) = transformed(text, pipeline);
    let inputs = inputs.iter().cloned().map(RuntimeValue::Tensor).collect();
    let program = Program::prepare(Arc::new(module), "main", Limits::default());
    let results = program.and_then(|program| program.run(inputs, &mut Unobserved));
    let results = results.unwrap_or_else(|errors| {
        succeed(errors, &source);
        Vec::new()
    });
    results.into_iter().map(|r| r.into_tensor().expect("a tensor")).collect()
}
