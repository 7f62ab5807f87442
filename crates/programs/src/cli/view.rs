//! `stablo view`: shows a program as a graph, in a page for browsers.

use crate::io::{Failure, Io};
use crate::source::{load_bytes, program_name, read_program, select_platform};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo view model.mlir -o model.html
  stablo view model.mlir.bc --format json -o model.json

The page needs no network and no other file: functions, regions and scopes open on a click, ops show
their text, source, cost, constants and specification.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The program: MLIR text, bytecode, a portable artifact or an export of `jax.export`; `-` is
    /// standard input
    file: PathBuf,
    /// The function whose run is what costs are of; by default `main`, if it can run
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The platform, for a program that was exported for several; otherwise `cpu`
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
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

/// Runs the command.
///
/// # Errors
/// If the program cannot be read or is not valid, or the output cannot be written.
pub fn run(options: &Options, io: &mut Io<'_>) -> Result<(), Failure> {
    let bytes = read_program(io, &options.file)?;
    let mut module = load_bytes(&options.file, bytes.clone(), io)?;
    select_platform(&mut module, &bytes, options.platform.as_deref())?;
    let entry = options.entry.as_deref().map(|name| name.strip_prefix('@').unwrap_or(name));
    let view = stablo::view(&module, &program_name(&options.file), entry)?;
    let text = match options.format {
        Format::Html => view.to_html(),
        Format::Json => format!("{}\n", view.to_json()),
    };
    io.write(&options.o, text.as_bytes())
}
