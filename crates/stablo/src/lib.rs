//! Read, verify, print and run StableHLO programs.
//!
//! ```
//! use stablo::{ParseOptions, RuntimeValue, Tensor};
//!
//! let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!   %0 = stablehlo.add %x, %x : tensor<2xf32>
//!   return %0 : tensor<2xf32>
//! }";
//! let parsed = stablo::parse("add.mlir", text, ParseOptions::default());
//! assert!(parsed.diagnostics.is_empty());
//! assert!(stablo::verify(&parsed.module).is_empty());
//!
//! let x = Tensor::from_vec([2], vec![1f32, 2.5])?;
//! let results = stablo::run(&parsed.module, "main", vec![RuntimeValue::Tensor(x)]).map_err(|d| d[0].message.clone())?;
//! assert_eq!(results[0].tensor().map_err(|e| e.diagnostic.message)?.as_slice::<f32>()?, [2.0, 5.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod engine;
mod inspect;
mod spmd;

pub use engine::{ENGINES, Engine, Executable, engine};
pub use inspect::{Constants, FileFormat, Inspection, Requirement, inspect};
pub use interpreter::{
    CustomCalls, Grid, Limits, MAX_PROCESSES, Observer, Options, ProcessId, Progress, Unobserved,
    entry_function, storage_dtype, value_fits,
};
pub use mlir::bytecode::{FileField, WriteOptions, is_bytecode, write as write_bytecode};
pub use mlir::diag::{Diagnostic, Diagnostics, Severity, Source, render};
pub use mlir::eval::RuntimeValue;
pub use mlir::ods::Registry;
pub use mlir::text::{ParseOptions, ParseOutput, PrintOptions};
pub use mlir::{Attribute, Module, Type};
pub use numerics::{Bytes, DType, Tensor};
pub use portable::{
    Exported, Foreign, SerializeOptions, artifact_version, restore, serialize, target_version,
};
pub use transforms::{Sizes, WeightForm, extract_weights, insert_weights, make_static};
pub use vhlo::{CompatibilityRequirement, Version};

use mlir::bytecode::{ReadOptions, ReadOutput};
use mlir::diag::Position;
use mlir::verify::VerifyOptions;
use std::sync::{Arc, OnceLock};

/// All dialects that stablo knows.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut dialects = side_dialects::DIALECTS.to_vec();
        dialects.extend([&chlo::CHLO, &hlo::STABLEHLO, &vhlo::VHLO]);
        Registry::new(&dialects)
    })
}

/// Reads MLIR text. `name` stands for the text in diagnostics and locations. The module is fit for
/// use only if no diagnostic is an error.
pub fn parse(name: &str, text: impl Into<String>, options: ParseOptions) -> ParseOutput {
    mlir::text::parse(Arc::new(Source::new(name, text)), registry(), options)
}

/// Reads a program, which is MLIR text, bytecode or the container of `jax.export`, by its first
/// bytes. Constants of bytecode share `bytes`. The module is fit for use only if no diagnostic is
/// an error.
pub fn load(name: &str, bytes: Bytes, options: ParseOptions) -> ParseOutput {
    if is_bytecode(&bytes) {
        let options = ReadOptions {
            allow_unregistered_dialects: options.allow_unregistered_dialects,
            ..ReadOptions::default()
        };
        let read = read_bytecode(&bytes, options);
        return ParseOutput { module: read.module, diagnostics: read.diagnostics };
    }
    if let Some(module) = exported_module(&bytes) {
        return load(name, module, options);
    }
    match String::from_utf8(bytes.into_vec()) {
        Ok(text) => parse(name, text, options),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            let line = e.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
            let message = format!(
                "{name}:{line}: this is neither bytecode nor UTF-8 text: byte {at} cannot stand there"
            );
            ParseOutput {
                module: Module::new(registry()),
                diagnostics: vec![Diagnostic::error("parse", message)],
            }
        }
    }
}

/// The types in a list, such as `tensor<2xf32>, i32`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_types(text: &str) -> Result<Vec<Type>, Diagnostics> {
    let signature =
        mlir::text::parse_type(&format!("({text}) -> ()"), registry(), ParseOptions::default())?;
    Ok(signature.as_function().map(|(inputs, _)| inputs.to_vec()).unwrap_or_default())
}

/// Reads a program as [`load`] does; one in VHLO, such as a portable artifact, becomes StableHLO.
pub fn open(name: &str, bytes: Bytes, options: ParseOptions) -> ParseOutput {
    let artifact = if is_bytecode(&bytes) { Some(bytes.clone()) } else { exported_module(&bytes) };
    if let Some(module) =
        artifact.as_ref().and_then(|artifact| portable::read_program(artifact, registry()))
    {
        return ParseOutput { module, diagnostics: Vec::new() };
    }
    // To search a text for the name is cheaper than to walk all ops.
    let may_have_vhlo = artifact.is_some()
        || memchr::memmem::find(&bytes, vhlo::VHLO.namespace.as_bytes()).is_some();
    let mut output = load(name, bytes, options);
    let is_valid = !output.diagnostics.iter().any(|d| d.severity == Severity::Error);
    if is_valid && may_have_vhlo && has_vhlo(&output.module) {
        output.diagnostics.extend(restore(&mut output.module).err().unwrap_or_default());
    }
    output
}

/// The bytecode in what `jax.export` wrote.
fn exported_module(bytes: &Bytes) -> Option<Bytes> {
    Exported::read(bytes).and_then(|exported| bytes.slice(exported.module))
}

/// Reads bytecode. An error in an artifact of a newer version says so.
fn read_bytecode(bytes: &Bytes, options: ReadOptions) -> ReadOutput {
    let mut output = mlir::bytecode::read(bytes, registry(), options);
    if let Some(version) = artifact_version(bytes).filter(|&version| version > Version::CURRENT) {
        let note = format!(
            "it was written for StableHLO {version}; this program knows versions up to {}",
            Version::CURRENT
        );
        output.diagnostics =
            output.diagnostics.into_iter().map(|d| d.note(note.clone(), Position::None)).collect();
    }
    output
}

/// Whether a module has ops of VHLO.
fn has_vhlo(module: &Module) -> bool {
    module
        .walk(module.top().id())
        .any(|op| op.def().is_some_and(|def| def.dialect() == vhlo::VHLO.namespace))
}

/// What the parts of a file of bytecode mean, or of the bytecode in what `jax.export` wrote, in its
/// order and as far as it can be read; and what is wrong with it.
pub fn bytecode_fields(bytes: &Bytes) -> (Vec<FileField>, Diagnostics) {
    let exported = if is_bytecode(bytes) { None } else { Exported::read(bytes) };
    let start = exported.as_ref().map_or(0, |exported| exported.module.start);
    let bytecode =
        exported.and_then(|exported| bytes.slice(exported.module)).unwrap_or_else(|| bytes.clone());
    if !is_bytecode(&bytecode) {
        return Default::default();
    }
    let mut output = read_bytecode(
        &bytecode,
        ReadOptions { allow_unregistered_dialects: true, note_fields: true },
    );
    output
        .fields
        .iter_mut()
        .for_each(|field| field.range = field.range.start + start..field.range.end + start);
    (output.fields, output.diagnostics)
}

/// What is wrong with a module: every error that is independent of others.
pub fn verify(module: &Module) -> Diagnostics {
    mlir::verify::verify(module, &VerifyOptions::default())
}

/// The text of a module as [`print()`] gives it.
///
/// # Errors
/// Types or attributes that share parts are too long when written out.
pub fn try_print(module: &Module, options: &PrintOptions) -> Result<String, Diagnostic> {
    mlir::text::try_print_module(module, options)
}

/// The text of a module, as upstream prints it for the same options. What is too long for
/// [`try_print`] ends before its end.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    mlir::text::print_module(module, options)
}

/// Runs the function `entry` of a verified module with the reference interpreter; `main` may also
/// mean the only function.
///
/// # Errors
/// An unknown function, inputs of another number, shape or element type than it takes, or whatever
/// stops an op.
pub fn run(
    module: &Module,
    entry: &str,
    inputs: Vec<RuntimeValue>,
) -> Result<Vec<RuntimeValue>, Diagnostics> {
    ENGINES[0].compile(module, entry, Options::default())?.run(inputs, &mut Unobserved)
}
