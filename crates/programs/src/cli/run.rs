//! `stablo run`: runs a function of a program and prints or saves its results.

use crate::display::display;
use crate::inputs::inputs;
use crate::io::{Failure, Io};
use crate::npy;
use crate::source::{program_name, read_program, report};
use crate::timings::{Timings, timed};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mlir::diag::Diagnostics;
use mlir::eval::RuntimeValue;
use side_dialects::func::FuncOp;
use stablo::{ENGINES, Executable, Module, ParseOptions, Progress, Type};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run that takes longer than this shows how far it is.
const PATIENCE: Duration = Duration::from_secs(1);

/// The command line.
#[derive(clap::Args)]
pub struct Options {
    /// The program, as MLIR text or bytecode; `-` is standard input
    file: PathBuf,
    /// The function to run
    #[arg(long, value_name = "NAME", default_value = "main")]
    entry: String,
    /// An argument, in order: a .npy file, a literal `dense<…> : type`, or `zeros`, `iota` (0, 1, 2, … through all
    /// dimensions) or `random` (always the same numbers: floats from [0, 1), small integers)
    #[arg(long, value_name = "INPUT", allow_hyphen_values = true)]
    input: Vec<String>,
    /// Save results as output_0.npy, output_1.npy, … in this directory instead of printing them
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// What runs the program
    #[arg(long, value_name = "NAME", default_value = ENGINES[0].name(), value_parser = engines())]
    engine: String,
    /// Run so many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Write how long each step took to this file, as JSON in milliseconds
    #[arg(long, value_name = "FILE")]
    timings: Option<PathBuf>,
}

fn engines() -> clap::builder::PossibleValuesParser {
    ENGINES.iter().map(|e| clap::builder::PossibleValue::new(e.name()).help(e.description())).collect::<Vec<_>>().into()
}

/// Runs the command.
///
/// # Errors
/// If the program or an input cannot be read or is not valid, the run fails, or the results cannot be written.
pub fn run(options: &Options, io: &mut Io<'_>) -> Result<(), Failure> {
    let mut timings = Timings::default();
    let bytes = read_program(io, &options.file)?;
    let name = program_name(&options.file);
    let (parsed, parse) = timed(|| stablo::open(&name, bytes, ParseOptions::default()));
    timings.parse = parse;
    let module = parsed.module;
    report(parsed.diagnostics, &module, io)?;
    let (errors, verify) = timed(|| stablo::verify(&module));
    timings.verify = verify;
    report(errors, &module, io)?;

    let entry = stablo::entry_function(&module, &options.entry);
    let function = entry.or_else(|error| reported(vec![error], &module, io))?;
    // The command line allows only engines that exist.
    let engine = stablo::engine(&options.engine).ok_or_else(|| Failure::usage("unknown engine"))?;
    let (compiled, compile) = timed(|| engine.compile(&module, &options.entry));
    timings.compile = compile;
    let executable = compiled.or_else(|errors| reported(errors, &module, io))?;

    let inputs = inputs(function, &options.input, io)?;
    let mut results = Vec::new();
    for _ in 0..options.repeat {
        let (outcome, execute) = timed(|| execute(&*executable, inputs.clone(), io.terminal));
        timings.execute.push(execute);
        results = outcome.or_else(|errors| reported(errors, &module, io))?;
    }
    output(options, function, &results, io)?;
    match &options.timings {
        Some(file) => io.write_file(file, |out| out.write_all(timings.to_json().as_bytes())),
        None => Ok(()),
    }
}

/// Shows errors.
fn reported<T>(errors: Diagnostics, module: &Module, io: &mut Io<'_>) -> Result<T, Failure> {
    report(errors, module, io).and(Err(Failure::reported()))
}

/// Runs once, with a progress bar on a terminal if it takes long.
fn execute(
    executable: &dyn Executable,
    inputs: Vec<RuntimeValue>,
    terminal: bool,
) -> Result<Vec<RuntimeValue>, Diagnostics> {
    if !terminal {
        return executable.run(inputs, None);
    }
    let start = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    let mut show = |progress: Progress| {
        if start.elapsed() >= PATIENCE {
            let bar = bar.get_or_insert_with(|| progress_bar(start));
            bar.set_length(progress.length as u64);
            bar.set_position(progress.position as u64);
            bar.set_message(format!("{} ops run", progress.ops));
        }
        ControlFlow::Continue(())
    };
    let results = executable.run(inputs, Some(&mut show));
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    results
}

fn progress_bar(start: Instant) -> ProgressBar {
    let template = "{elapsed_precise} [{bar:40}] {pos}/{len} of the entry function, {msg}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style).with_elapsed(start.elapsed())
}

fn output(options: &Options, function: FuncOp<'_>, results: &[RuntimeValue], io: &mut Io<'_>) -> Result<(), Failure> {
    let types = function.signature().1;
    let Some(directory) = &options.output_dir else {
        for (index, (result, ty)) in results.iter().zip(types).enumerate() {
            io.print(display(&format!("output {index}"), result, ty))?;
        }
        return Ok(());
    };
    std::fs::create_dir_all(io.path(directory))
        .map_err(|e| Failure::input(format!("cannot make the directory {}: {e}", directory.display())))?;
    for (index, (result, ty)) in results.iter().zip(types).enumerate() {
        save(directory, &format!("output_{index}"), result, ty, io)?;
    }
    Ok(())
}

/// Saves a tensor, or the tensors of a tuple under names with another number.
fn save(directory: &Path, name: &str, value: &RuntimeValue, ty: &Type, io: &mut Io<'_>) -> Result<(), Failure> {
    match value {
        RuntimeValue::Tensor(tensor) => {
            io.write_file(&directory.join(format!("{name}.npy")), |out| npy::write(tensor, out))
        }
        RuntimeValue::Token => Ok(()),
        RuntimeValue::Tuple(values) => {
            let types = ty.as_tuple().unwrap_or(&[]);
            let mut parts = values.iter().zip(types).enumerate();
            parts.try_for_each(|(i, (value, ty))| save(directory, &format!("{name}_{i}"), value, ty, io))
        }
    }
}
