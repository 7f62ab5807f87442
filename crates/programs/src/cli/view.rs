//! `stablo view`: shows a program as a graph, or two side by side, in a page for browsers.

use crate::inputs::Arguments;
use crate::io::{Failure, Io};
use crate::source::{load, load_bytes, program_name, read_program, select_platform};
use crate::trials::check_files;
use stablo::{LastValues, Module, Program, RunOptions};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo view model.mlir -o model.html
  stablo view model.mlir --run --inputs in.npz -o model.html
  stablo view before.mlir after.mlir -o difference.html
  stablo view model.mlir.bc --format json -o model.json

The page needs no network and no other file: functions, regions and scopes open on a click, ops show
their text, source, cost, constants and specification; after a run, statistics of their values.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The program: MLIR text, bytecode, a portable artifact or an export of `jax.export`; `-` is
    /// standard input
    file: PathBuf,
    /// Another program to show beside it, with the differences that `stablo diff` finds
    #[arg(conflicts_with_all = ["run", "platform"])]
    other: Option<PathBuf>,
    /// Leave attributes of this name out of account in differences
    #[arg(long, value_name = "NAME", requires = "other")]
    ignore: Vec<String>,
    /// The function whose run is what costs are of; by default `main`, if it can run
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The platform, for a program that was exported for several; otherwise `cpu`
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// Run the program, and show statistics of all values: of the last where there are several
    #[arg(long)]
    run: bool,
    /// An argument of the run, in order or as NAME=VALUE, as for `stablo run`; by default all are
    /// random
    #[arg(long, value_name = "INPUT", allow_hyphen_values = true, requires = "run")]
    input: Vec<String>,
    /// Read the arguments that --input does not name from this .npz or safetensors file, or from
    /// input_0.npy, input_1.npy, … in this directory
    #[arg(long, value_name = "PATH", requires = "run")]
    inputs: Option<PathBuf>,
    /// Output format
    #[arg(long, default_value = "html")]
    format: Format,
    /// The output file; `-` is standard output
    #[arg(short, default_value = "-", value_name = "OUT")]
    o: PathBuf,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A page for browsers
    Html,
    /// The model that the page shows
    Json,
}

/// The values of a run.
fn values(
    module: &Module,
    entry: Option<&str>,
    options: &Options,
    io: &mut Io<'_>,
) -> Result<LastValues, Failure> {
    let entry = entry.unwrap_or("main");
    let program = Program::prepare(module.clone(), entry, RunOptions::default())?;
    let inputs = if options.input.is_empty() && options.inputs.is_none() {
        stablo::random_inputs(program.signature().0, 0)?
    } else {
        let arguments = Arguments::of(stablo::entry_function(module, entry)?);
        arguments.inputs(&options.input, options.inputs.as_deref(), io)?
    };
    let mut values = LastValues::default();
    program.run_observed(inputs, &mut values)?;
    Ok(values)
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read or is not valid, or cannot run, or the output cannot be written.
pub fn run(options: &Options, io: &mut Io<'_>) -> Result<(), Failure> {
    if let Some(other) = &options.other {
        check_files([&options.file, other])?;
    }
    let bytes = read_program(io, &options.file)?;
    let mut module = load_bytes(&options.file, bytes.clone(), io)?;
    select_platform(&mut module, &bytes, options.platform.as_deref())?;
    let entry = options.entry.as_deref().map(|name| name.strip_prefix('@').unwrap_or(name));
    let values = options.run.then(|| values(&module, entry, options, io)).transpose()?;
    let mut view = stablo::view(&module, &program_name(&options.file), entry, values.as_ref())?;
    if let Some(file) = &options.other {
        let other = load(file, io)?;
        let diff = stablo::diff(&module, &other, &options.ignore);
        view = view.beside(stablo::view(&other, &program_name(file), entry, None)?, &diff);
    }
    let text = match options.format {
        Format::Html => view.to_html(),
        Format::Json => format!("{}\n", view.to_json()),
    };
    io.write(&options.o, text.as_bytes())
}
