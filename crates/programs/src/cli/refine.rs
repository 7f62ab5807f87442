//! `stablo refine`: makes a program with dynamic shapes static.

use crate::format::{first, output_format};
use crate::io::{CommandFailure, Io};
use crate::source::{load_bytes, read_program, report, select_platform};
use stablo::{RefineOptions, Type};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo refine model.mlir --dim b=16 -o static.mlir
  stablo refine model.mlir --input-types 'tensor<16x128xf32>,tensor<128xf32>'";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RefineArgs {
    /// The program, as MLIR text or bytecode; `-` is standard input
    file: PathBuf,
    /// The function to make static; the others become private, and go if it does not use them
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The types of the arguments of the entry function, such as
    /// `tensor<16x128xf32>,tensor<128xf32>`
    #[arg(long, value_name = "TYPES", conflicts_with_all = ["batch", "dim"])]
    input_types: Option<String>,
    /// Size of the first dimension of each argument, where it is dynamic
    #[arg(long, value_name = "N")]
    batch: Option<u32>,
    /// Size of a named dimension
    #[arg(long, value_name = "NAME=N", value_parser = pair::<String>)]
    dim: Vec<(String, i64)>,
    /// Value of an integer argument: it becomes a constant, and the argument is removed
    #[arg(long, value_name = "INDEX=N", value_parser = pair::<usize>, allow_hyphen_values = true)]
    constant: Vec<(usize, i64)>,
    /// The platform, for a program that was exported for several; otherwise `cpu`
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// Refuse to write an artifact with ops, types or attributes of dialects other than StableHLO,
    /// CHLO and func, such as Shardy's: no compatibility is promised for them
    #[arg(long)]
    only_portable: bool,
    /// The output file: `.mlir` is text, `.mlirbc` bytecode, `.mlir.bc` and `.stablehlo` a portable
    /// artifact; `-` is standard output
    #[arg(short, default_value = "-", value_name = "OUT")]
    o: PathBuf,
}

/// Parses `key=number`.
fn pair<K: std::str::FromStr>(text: &str) -> Result<(K, i64), String> {
    let read = text
        .split_once('=')
        .and_then(|(key, n)| Some((key.trim().parse().ok()?, n.trim().parse().ok()?)));
    read.ok_or_else(|| format!("expected `key=number`, found `{text}`"))
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read or is not valid, cannot be made static, or the result cannot be
/// written.
pub(crate) fn run(options: &RefineArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let format = output_format(&options.o, None)?;
    let bytes = read_program(io, &options.file)?;
    let mut module = load_bytes(&options.file, bytes.clone(), io)?;
    if let Some(entry) = &options.entry {
        stablo::set_entry(&mut module, entry)?;
    }
    select_platform(&mut module, &bytes, options.platform.as_deref())?;
    let mut refine = RefineOptions::default();
    refine.input_types = options.input_types.as_deref().map(types).transpose()?;
    refine.batch = options.batch.map(i64::from);
    refine.dimensions = options.dim.clone();
    refine.constants = options.constant.clone();
    let warnings = stablo::refine(&mut module, &refine)?;
    report(warnings, &module, io)?;
    io.write(&options.o, &format.write(&module, !options.only_portable)?)
}

/// Parses a list of types.
fn types(text: &str) -> Result<Vec<Type>, CommandFailure> {
    stablo::parse_types(text).map_err(|error| {
        CommandFailure::usage(format!("`{text}` is not a list of types: {}", first(&error)))
    })
}
