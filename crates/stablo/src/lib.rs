//! Read, verify, inspect, edit, build, transform, serialize and run StableHLO programs.
//!
//! ```
//! use stablo::{RuntimeValue, Tensor};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let module = stablo::load(
//!         "add.mlir",
//!         "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!            %0 = stablehlo.add %x, %x : tensor<2xf32>
//!            return %0 : tensor<2xf32>
//!          }",
//!     )?;
//!     let x = Tensor::from_vec([2], vec![1f32, 2.5])?;
//!     let results = stablo::run(&module, "main", vec![RuntimeValue::Tensor(x)])?;
//!     assert_eq!(results[0].tensor()?.as_slice::<f32>()?, [2.0, 5.0]);
//!     Ok(())
//! }
//! ```
//!
//! - [`load`] reads and verifies a program of any format; [`inspect`] reports what is in it.
//! - [`ir`] and [`dialects`] are for walking it, a [`Builder`] makes and changes programs.
//! - [`cost`] says what a run costs, [`diff`] how two programs differ, [`bisect`] where their
//!   values part; [`lint`] warns of likely mistakes; [`reduce`] makes a program small; [`view`]
//!   shows it.
//! - [`run_pipeline`] transforms it, [`refine`] makes it static.
//! - [`print()`], [`write_bytecode`] and [`serialize`] write it.
//! - [`Program`] runs it any number of times, into memory of the caller if asked to, and has a
//!   [`Profile`] of its steps; [`run`] runs it once; [`arrays`] reads inputs from files and writes
//!   results.
//!
//! Without the feature `run`, which is on by default, programs are read, checked, built, edited and
//! written, but neither transformed, run nor analysed: neither kernels nor the generator of machine
//! code are compiled then. The feature `arrays`, on by default, too, is [`arrays`]. With the
//! feature `devices`, programs run on devices of PJRT plugins.
//!
//! Functions that can fail return an [`Error`], which renders its diagnostics with source lines and
//! gives them as data. Reading, printing and dropping deeply nested programs recurse: call them on
//! a thread with a stack of at least [`STACK_BYTES`], as [`with_large_stack`] makes.

#[cfg(feature = "run")]
mod analysis;
mod build;
#[cfg(feature = "run")]
mod compiled;
#[cfg(feature = "devices")]
mod devices;
#[cfg(feature = "run")]
mod engine;
mod error;
mod explain;
mod inspect;
mod json;
#[cfg(feature = "judge")]
pub mod judging;
mod load;
#[cfg(feature = "judge")]
mod measurements;
mod names;
#[cfg(feature = "judge")]
mod op_accuracy;
#[cfg(feature = "run")]
pub mod passes;
#[cfg(feature = "run")]
mod refine;
mod saved;
#[cfg(feature = "run")]
mod specialized;
#[cfg(feature = "run")]
mod spmd;
mod stack;
#[cfg(feature = "judge")]
mod sum_accuracy;
#[cfg(feature = "run")]
mod trace;
#[cfg(feature = "run")]
mod weights;
#[cfg(feature = "judge")]
mod within;
#[cfg(all(feature = "run", not(feature = "judge")))]
#[path = "without_bounds.rs"]
mod within;
mod write;

#[cfg(feature = "devices")]
pub use analysis::bisect_on_device;
#[cfg(feature = "run")]
pub use analysis::{
    Change, Comparison, Cost, Detail, Diff, Doubt, Grouping, IsolatedOp, LastValues, Location,
    Measurement, Measurements, OpCost, Parting, Profile, Reduced, Roofline, Row, Side, StepProfile,
    Tensors, Tolerance, View, ViewOptions, Work, bisect, compare, cost, diff, fix_lints, generated,
    isolate, lint, model_to_json, random, random_inputs, reduce, same_signature, view,
};
#[cfg(feature = "arrays")]
pub use arrays;
#[cfg(feature = "arrays")]
pub use arrays::ArrayError;
pub use build::{Builder, OpBuilder, OpKind};
#[cfg(feature = "run")]
pub use compiled::compile;
#[cfg(feature = "devices")]
pub use devices::{Device, DeviceOption, DeviceProgram, DeviceSpec, run_on_device};
#[cfg(feature = "run")]
pub use engine::{Program, plan_passes};
pub use error::{Error, LimitKind, Result, has_errors};
pub use explain::{Explanation, checks, constraints, explain, first_version, lints};
pub use hlo::attrs::CollectiveAttrs;
pub use hlo::custom_calls::is_known as is_known_custom_call;
pub use hlo::distribution::Distribution;
pub use host::stack_left;
pub use host::{Budget, Cache, Charge, Entered, Host, Machine, MachineError, OverBudget};
pub use inspect::{Constants, FileFormat, Inspection, Requirement, inspect};
#[cfg(feature = "run")]
pub use interpreter::{
    Conventions, CustomCall, CustomCalls, Engine, Execution, Grid, Limits, MAX_PROCESSES, Observer,
    ProcessId, Profiling, Progress, RunOptions, StepKind, Unobserved, storage_dtype, value_fits,
};
pub use json::diagnostic_to_json;
#[cfg(feature = "judge")]
pub use judging::{enclose, judge, judge_expectations};
pub use load::{LoadOptions, Loaded, bytecode_fields, load, load_file};
pub use mlir::bytecode::{FileField, is_bytecode};
pub use mlir::diag::{
    Diagnostic, Diagnostics, Position, Severity, Source, Span, Styles, counted, render,
    render_styled, resolve,
};
pub use mlir::ods::Registry;
pub use mlir::text::PrintOptions;
pub use mlir::verify::{Reporting, VerifyOptions};
pub use mlir::{Attribute, Module, Type};
pub use names::{ArgumentNames, keep_argument_names, result_names};
pub use numerics;
pub use numerics::{Bytes, DType, Tensor, TensorError, TensorMut, TensorRef};
#[cfg(feature = "run")]
pub use passes::{Pipeline, run_pipeline};
pub use portable::{Exported, PyTree, artifact_version};
pub use program::{EvalError, EvalResult, RuntimeValue};
#[cfg(feature = "run")]
pub use refine::{RefineOptions, refine, select_platform, set_entry};
pub use saved::program_in_folder;
pub use stack::{STACK_BYTES, with_large_stack};
#[cfg(feature = "run")]
pub use trace::{TraceIndex, TracedName};
pub use vhlo::{CompatibilityRequirement, Version};
#[cfg(feature = "run")]
pub use weights::{WeightForm, bind_arguments, extract_weights, insert_weights};
pub use write::{
    BytecodeOptions, Encoded, Format, SerializeOptions, print, print_op, serialize, target_version,
    write_bytecode,
};

use mlir::text::ParseOptions;
use std::sync::OnceLock;

/// The IR: ops, blocks, regions, values, and what they are declared to be.
pub mod ir {
    pub use mlir::attrs::{AttrKind, DenseElements, Dictionary};
    pub use mlir::ir::{
        BlockId, ExternalResource, Loc, Module, OpId, OpName, OpParts, OpRef, OpWalk, RegionId,
        Value, ValueDef,
    };
    pub use mlir::ods::{
        Arity, AttrConstraint, AttrDef, AttrSlot, Checked, Dialect, EnumDef, OpDef, RegionSlot,
        Registry, Rule, Trait, TypeDef, ValueSlot,
    };
    pub use mlir::text::ValueNames;
    pub use mlir::types::{DYNAMIC, Signedness, TensorType, TypeKind};
    pub use mlir::{Attribute, Type};
}

/// The syntax of MLIR text: its tokens, where ops, regions and names are, and the formats of ops.
pub mod syntax {
    pub use mlir::ods::{Directive, DirectiveArg, Literal, TypeSource};
    pub use mlir::text::{
        Defined, Definition, OpExtent, Scope, SourceMap, Token, TokenKind, tokens,
    };
}

/// Typed views of the ops of each dialect, such as
/// [`stablehlo::AddOp`](dialects::stablehlo::AddOp).
///
/// `AddOp::cast(op)` returns the view if the op is of that kind; the view has a method for each
/// operand, attribute and region of the declaration. `AddOp::DEF` is the declaration.
pub mod dialects {
    pub use chlo;
    pub use hlo::ops as stablehlo;
    pub use mlir::builtin;
    pub use side_dialects::{
        arith, cf, check, func, interpreter, memref, quant, scf, sdy, shape, tensor,
    };
}

/// The Rust code of the README.
#[cfg(all(doctest, feature = "run"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// All dialects that stablo knows.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        // Suggestions for misspelled names prefer the first ones.
        let mut dialects = vec![&hlo::STABLEHLO, &chlo::CHLO];
        dialects.extend(side_dialects::DIALECTS);
        dialects.extend([&vhlo::VHLO, &chlo::mhlo::MHLO]);
        Registry::new(&dialects)
    })
}

/// An empty `builtin.module`.
pub fn new_module() -> Module {
    Module::new(registry())
}

/// Verifies a module: checks it against the declarations of its ops, the StableHLO specification
/// and the rules of MLIR.
///
/// # Errors
/// Every independent error.
pub fn verify(module: &Module) -> Result<()> {
    error::check(verify_with(module, &VerifyOptions::default()), module).map(drop)
}

/// As [`verify`], with options. Returns errors among the diagnostics.
pub fn verify_with(module: &Module, options: &VerifyOptions) -> Diagnostics {
    mlir::verify::verify(module, options)
}

/// All ops of a module, parents before children, in order; the module itself is the first.
pub fn walk(module: &Module) -> ir::OpWalk<'_> {
    module.walk(module.top().id())
}

/// Reads a type, such as `tensor<2xf32>`.
///
/// # Errors
/// If the text is not a type.
pub fn parse_type(text: &str) -> Result<Type> {
    mlir::text::parse_type(text, registry(), ParseOptions::default()).map_err(Error::from)
}

/// Reads a list of types, such as `tensor<2xf32>, i32`.
///
/// # Errors
/// If the text is not a list of types.
pub fn parse_types(text: &str) -> Result<Vec<Type>> {
    let signature = parse_type(&format!("({text}) -> ()"))?;
    Ok(signature.as_function().map(|(inputs, _)| inputs.to_vec()).unwrap_or_default())
}

/// Reads an attribute, such as `dense<1.0> : tensor<2xf32>` or
/// `#stablehlo<comparison_direction LT>`.
///
/// # Errors
/// If the text is not an attribute.
pub fn parse_attribute(text: &str) -> Result<Attribute> {
    mlir::text::parse_attribute(text, registry(), ParseOptions::default()).map_err(Error::from)
}

/// The MLIR text of an attribute, as upstream prints it for the same options.
pub fn print_attribute(attribute: &Attribute, options: &PrintOptions) -> String {
    mlir::text::print_attribute(attribute, options)
}

/// The function that a run of `entry` runs: that of this name with a body; if there is none and
/// `entry` is `main`, the only function or the only public one.
///
/// # Errors
/// If there is no such function.
#[cfg(feature = "run")]
pub fn entry_function<'m>(module: &'m Module, entry: &str) -> Result<dialects::func::FuncOp<'m>> {
    let function = interpreter::entry_function(module, entry);
    function.map_err(|error| Error::in_module(vec![error], module))
}

/// Runs the function `entry` of a verified module with the default engine; `main` may also stand
/// for the only function.
///
/// # Errors
/// An unknown function, inputs of another number, shape or element type than it takes, or whatever
/// stops an op.
#[cfg(feature = "run")]
pub fn run(module: &Module, entry: &str, inputs: Vec<RuntimeValue>) -> Result<Vec<RuntimeValue>> {
    Program::prepare(module.clone(), entry, RunOptions::default())?.run(inputs)
}

/// The examples of the guide are tests.
#[cfg(all(doctest, feature = "run"))]
#[doc = include_str!("../../../docs/library.md")]
mod guide {}
