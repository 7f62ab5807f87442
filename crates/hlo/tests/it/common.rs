//! Shared helpers: a registry and parsing of programs.

use mlir::diag::Source;
use mlir::ods::Registry;
use mlir::text::{ParseOptions, parse};
use mlir::{Diagnostics, Module};
use std::sync::{Arc, OnceLock};

/// StableHLO and the dialects used together with it.
pub(crate) fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut dialects = vec![&hlo::STABLEHLO];
        dialects.extend(side_dialects::DIALECTS);
        Registry::new(&dialects)
    })
}

/// Parses a program.
///
/// # Errors
/// Syntax errors in the text.
pub(crate) fn read(text: &str) -> Result<Module, Diagnostics> {
    let output =
        parse(Arc::new(Source::new("test.mlir", text)), registry(), ParseOptions::default());
    if output.diagnostics.is_empty() { Ok(output.module) } else { Err(output.diagnostics) }
}
