//! `stablehlo-translate`: runs modules with the interpreter, and reads and writes portable
//! artifacts.
//!
//! Source: StableHLO, `stablehlo-translate`, whose flags it accepts.

use crate::args::{self, CompatibilityFlags, DiagnosticFlags, PrintFlags};
use crate::display::entries;
use crate::format::first;
use crate::io::{CommandFailure, Io};
use crate::probes::Probes;
use crate::source::InputFlags;
use crate::watch::Watcher;
use clap::{CommandFactory, FromArgMatches, Parser};
use stablo::dialects::func::FuncOp;
use stablo::numerics::text::format_element;
use stablo::passes::{NoObserver, Pipeline};
use stablo::{
    Attribute, Diagnostic, Diagnostics, Error, Host, Module, PrintOptions, Program, RunOptions,
    RuntimeValue, SerializeOptions, Tensor, Type, has_errors,
};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

/// Interprets StableHLO programs, and converts them to portable artifacts and back.
#[derive(Parser)]
#[command(name = "stablehlo-translate", version)]
struct TranslateArgs {
    #[command(flatten)]
    diagnostics: DiagnosticFlags,
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    print: PrintFlags,
    #[command(flatten)]
    _compatibility: CompatibilityFlags,
    /// Run the function `main`, or the only one, and print its results
    #[arg(long, group = "action")]
    interpret: bool,
    /// Convert a module to a portable artifact
    #[arg(long, group = "action")]
    serialize: bool,
    /// Convert a portable artifact to a module
    #[arg(long, group = "action")]
    deserialize: bool,
    /// Version of the artifact: 1.20.0, current, minimum, WEEK_4 or WEEK_12
    #[arg(long, value_name = "VERSION", requires = "serialize")]
    target: Option<String>,
    /// Remove all locations before writing the artifact
    #[arg(long)]
    strip_debuginfo: bool,
    /// Keep ops, types and attributes of other dialects
    #[arg(long)]
    allow_other_dialects: bool,
    /// Print the version of the artifact
    #[arg(long)]
    print_stablehlo_version: bool,
    /// Inputs of the interpreted function: [dense<1> : tensor<2xi32>, …]
    #[arg(long, value_name = "ARRAY", default_value = "")]
    args: String,
    /// Save the values of `interpreter.probe` ops in this directory, with an index.csv
    #[arg(long, value_name = "DIR")]
    probe_output_dir: Option<PathBuf>,
    /// Print results as dense attributes
    #[arg(long)]
    interpreter_print_dense: bool,
}

/// Runs the program.
pub(crate) fn run(argv: &[OsString], io: &mut Io<'_>) -> i32 {
    let result = try_run(argv, io);
    io.finish(result)
}

fn try_run(argv: &[OsString], io: &mut Io<'_>) -> Result<(), CommandFailure> {
    args::check_supported(argv)?;
    let Some(matches) = args::parse(TranslateArgs::command(), argv, io)? else { return Ok(()) };
    let options = TranslateArgs::from_arg_matches(&matches).map_err(CommandFailure::usage)?;
    options.diagnostics.apply(io);
    if options.serialize {
        return serialize(&options, io);
    }
    if options.deserialize {
        return deserialize(&options, io);
    }
    if !options.interpret {
        return Err(CommandFailure::usage(
            "no action given: use --interpret, --serialize or --deserialize",
        ));
    }
    let inputs = inputs(&options.args)?;
    let mut probes =
        options.probe_output_dir.map(|directory| Probes::new(directory, io.cwd.clone()));
    let result = options.input.run(io, "", &mut |module, output| match interpret(
        module,
        inputs.clone(),
        output,
        probes.as_mut(),
    ) {
        Ok(results) => {
            for (result, ty) in results {
                let mut out = Bounded(output);
                let written = match options.interpreter_print_dense {
                    true => dense(&mut out, &result, ty),
                    false => printed(&mut out, &result, ty),
                };
                if let Err(error) = written.and_then(|()| writeln!(out)) {
                    return vec![Diagnostic::error(
                        "memory_limit",
                        format!("the results: {error}"),
                    )];
                }
            }
            Diagnostics::new()
        }
        Err(errors) => errors,
    });
    // Also if the run failed: probes help to find the cause.
    let indexed = probes.map_or(Ok(()), |probes| probes.finish()).map_err(CommandFailure::input);
    result.and(indexed)
}

/// Writes the input as an artifact.
fn serialize(options: &TranslateArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let Some(target) = &options.target else {
        return Err(CommandFailure::usage(
            "--serialize needs --target=VERSION, such as --target=current",
        ));
    };
    let target =
        stablo::target_version(target).map_err(|error| CommandFailure::input(first(&error)))?;
    let serialize =
        SerializeOptions::from(target).allow_other_dialects(options.allow_other_dialects);
    let mut before = Pipeline::default();
    if options.strip_debuginfo {
        before.add("strip-debuginfo", "")?;
    }
    options.input.run(io, "", &mut |module, output| {
        let mut diagnostics = before.run_observed(module, None, &mut NoObserver);
        match stablo::serialize(module, serialize) {
            Ok(artifact) => output.extend(artifact),
            Err(error) => diagnostics.extend(error.into_diagnostics()),
        }
        diagnostics
    })
}

/// Prints the program in an artifact.
fn deserialize(options: &TranslateArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let bytes = options.input.read(io)?;
    if bytes.is_empty() {
        return Err(CommandFailure::input("the input is not a portable artifact: it is empty"));
    }
    if options.print_stablehlo_version {
        // Printed on standard output even if the program goes to a file, or cannot be read.
        io.print(match stablo::artifact_version(&bytes) {
            Some(version) => {
                format!("// Reading portable artifact with StableHLO version: {version}\n")
            }
            None => "// Failed parsing StableHLO version from portable artifact\n".to_string(),
        })?;
    }
    let restore: Pipeline = "stablehlo-deserialize".parse()?;
    options.input.run_on(bytes, io, "", &mut |module, output| {
        let mut diagnostics = restore.run_observed(module, None, &mut NoObserver);
        if has_errors(&diagnostics) {
            return diagnostics;
        }
        match stablo::print(module, &options.print.options()) {
            Ok(text) => {
                output.extend_from_slice(text.as_bytes());
                output.push(b'\n');
            }
            Err(error) => diagnostics.extend(error.into_diagnostics()),
        }
        diagnostics
    })
}

/// The values of `--args`.
fn inputs(text: &str) -> Result<Vec<RuntimeValue>, CommandFailure> {
    const USAGE: &str = "e.g. --args=[dense<1> : tensor<2xi32>, ...]";
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let array = stablo::parse_attribute(text).ok();
    let elements = array.as_ref().and_then(Attribute::as_array);
    let failed = |message: String| Error::from(Diagnostic::error("args", message));
    let elements = elements
        .ok_or_else(|| failed(format!("--args is not an array attribute; write {USAGE}")))?;
    let value = |attribute: &Attribute| match attribute.to_tensor() {
        Some(Ok(tensor)) => Ok(RuntimeValue::Tensor(tensor)),
        Some(Err(error)) => Err(failed(format!("{attribute} in --args: {error}")).into()),
        None => {
            let required = format!("is not a dense elements attribute; write {USAGE}");
            Err(failed(format!("{attribute} in --args {required}")).into())
        }
    };
    elements.iter().map(value).collect()
}

/// Runs the function; returns its results with their types. A module without functions has none.
fn interpret(
    module: &Module,
    inputs: Vec<RuntimeValue>,
    output: &mut Vec<u8>,
    probes: Option<&mut Probes>,
) -> Result<Vec<(RuntimeValue, Type)>, Diagnostics> {
    if !module.walk(module.top().id()).any(|op| op.is(FuncOp::DEF)) {
        return Ok(Vec::new());
    }
    let function = stablo::entry_function(module, "main").map_err(Error::into_diagnostics)?;
    let style = |out: &mut dyn Write, name: &str, value: &RuntimeValue, ty: &Type| {
        write!(out, "{name} = ")?;
        printed(out, value, ty.clone())?;
        writeln!(out)
    };
    let mut output = Bounded(output);
    let program = Program::prepare(module.clone(), "main", RunOptions::default())
        .map_err(Error::into_diagnostics)?;
    let mut watcher = Watcher::new(program.module().top(), &mut output, style);
    watcher.probes = probes;
    let results = program.run_observed(inputs, &mut watcher).map_err(Error::into_diagnostics)?;
    let types = function.signature().1;
    if types.len() != results.len() {
        return Err(vec![Diagnostic::error(
            "interpreter",
            "the function returned another number of results",
        )]);
    }
    Ok(results
        .into_iter()
        .zip(types)
        .map(|(result, ty)| {
            let ty = actual_type(&result, ty);
            (result, ty)
        })
        .collect())
}

/// The type of a value with declared type `ty`, which may be dynamic.
fn actual_type(value: &RuntimeValue, ty: &Type) -> Type {
    match (value, ty.as_tensor()) {
        (RuntimeValue::Tensor(tensor), declared)
            if declared.is_none_or(|t| !t.has_static_shape()) =>
        {
            let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
            Type::tensor(shape, ty.element_type().clone())
        }
        _ => ty.clone(),
    }
}

/// Text in memory, within the limit.
struct Bounded<'t>(&'t mut Vec<u8>);

impl Write for Bounded<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        // As vectors grow by doubling, the limit is looked at then.
        let length = self.0.len() + text.len();
        if length > self.0.capacity()
            && let Some(budget) = Host::current().budget()
        {
            let over = |error| io::Error::new(io::ErrorKind::OutOfMemory, error);
            budget.check(length.saturating_mul(2)).map_err(over)?;
        }
        self.0.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn dense(out: &mut dyn Write, value: &RuntimeValue, ty: Type) -> io::Result<()> {
    match value {
        RuntimeValue::Tensor(tensor) if ty.element_type().dtype().is_some() => {
            let attribute = Attribute::from_tensor(tensor);
            out.write_all(stablo::print_attribute(&attribute, &PrintOptions::default()).as_bytes())
        }
        other => printed(out, other, ty),
    }
}

/// Maximum number of empty lists printed for an empty tensor.
const MOST_EMPTY_LISTS: usize = 1000;

/// Writes a value in upstream's format: its type, then nested lists in braces.
fn printed(out: &mut dyn Write, value: &RuntimeValue, ty: Type) -> io::Result<()> {
    match value {
        RuntimeValue::Tensor(tensor) => {
            write!(out, "{ty} {{")?;
            // Do not print huge numbers of empty lists.
            if tensor.num_elements() > 0 || entries(tensor) <= MOST_EMPTY_LISTS {
                print_dimension(out, tensor, 0, 0, true)?;
            }
            write!(out, "}}")
        }
        RuntimeValue::Token => write!(out, "token"),
        RuntimeValue::Tuple(values) => {
            let types = ty.as_tuple().unwrap_or(&[]).to_vec();
            writeln!(out, "{ty} (")?;
            for (index, (value, ty)) in values.iter().zip(types).enumerate() {
                if index > 0 {
                    writeln!(out, ",")?;
                }
                printed(out, value, ty)?;
            }
            write!(out, "\n)")
        }
    }
}

/// The part of a tensor at `index` of its first `depth` dimensions, flattened; `last` if it is the
/// last of its list.
fn print_dimension(
    out: &mut dyn Write,
    tensor: &Tensor,
    depth: usize,
    index: usize,
    last: bool,
) -> io::Result<()> {
    let new_line = |out: &mut dyn Write, indent: usize| write!(out, "\n{}", "  ".repeat(indent));
    let Some(&size) = tensor.shape().get(depth) else {
        let comma = if last { "" } else { ", " };
        return write!(out, "{}{comma}", element(tensor, index));
    };
    new_line(out, depth + 1)?;
    write!(out, "[")?;
    for i in 0..size {
        print_dimension(out, tensor, depth + 1, index * size + i, i + 1 == size)?;
    }
    write!(out, "]")?;
    if last { new_line(out, depth) } else { write!(out, ",") }
}

/// An element; a complex one as `[re, im]`.
fn element(tensor: &Tensor, index: usize) -> String {
    let (dtype, part) = (tensor.dtype(), tensor.dtype().part());
    let size = dtype.bytes();
    let bytes = tensor.bytes().get(index * size..(index + 1) * size).unwrap_or_default();
    if !dtype.is_complex() {
        return format_element(dtype, bytes);
    }
    let (re, im) = bytes.split_at(bytes.len() / 2);
    format!("[{}, {}]", format_element(part, re), format_element(part, im))
}
