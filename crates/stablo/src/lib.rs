//! Read, verify, print and run StableHLO programs.
//!
//! ```
//! use stablo::{Interpreter, Limits, Tensor};
//!
//! let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!   %0 = stablehlo.add %x, %x : tensor<2xf32>
//!   return %0 : tensor<2xf32>
//! }";
//! let output = stablo::parse("add.mlir", text, stablo::ParseOptions::default());
//! assert!(output.diagnostics.is_empty());
//! assert!(stablo::verify(&output.module).is_empty());
//! # let _ = (std::any::type_name::<Interpreter<'_>>(), Limits::default());
//! # let _ = Tensor::scalar(1f32);
//! ```

pub use interpreter::{Interpreter, Limits, Progress, entry_function};
pub use mlir::diag::{Diagnostic, Diagnostics, Severity, Source, render};
pub use mlir::eval::RuntimeValue;
pub use mlir::ods::Registry;
pub use mlir::text::{ParseOptions, ParseOutput, PrintOptions};
pub use mlir::{Attribute, Module, Type};
pub use numerics::{DType, Tensor};

use mlir::verify::VerifyOptions;
use std::sync::{Arc, OnceLock};

/// All dialects that stablo knows.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut dialects = side_dialects::DIALECTS.to_vec();
        dialects.push(&hlo::STABLEHLO);
        Registry::new(&dialects)
    })
}

/// Reads MLIR text. `name` stands for the text in diagnostics and locations. The module is fit for use only if no
/// diagnostic is an error.
pub fn parse(name: &str, text: &str, options: ParseOptions) -> ParseOutput {
    mlir::text::parse(Arc::new(Source::new(name, text, 1)), registry(), options)
}

/// What is wrong with a module: every error that is independent of others.
pub fn verify(module: &Module) -> Diagnostics {
    mlir::verify::verify(module, &VerifyOptions::default())
}

/// The text of a module, as upstream prints it for the same options.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    mlir::text::print_module(module, options)
}
