//! `stablo convert`: programs from one format to another.

use crate::format::FileFormat;
use crate::io::{Failure, Io};
use crate::source::{program_name, read_program, report};
use mlir::pass::{NoObserver, Pipeline};
use stablo::{Foreign, ParseOptions};
use std::path::PathBuf;
use transforms::PASSES;

/// The command line.
#[derive(clap::Args)]
pub struct Options {
    /// The program: MLIR text, bytecode, a portable artifact or what `jax.export` wrote; `-` is standard input
    input: PathBuf,
    /// Where to write it: `.mlir` is text, `.mlirbc` bytecode, `.mlir.bc` and `.stablehlo` a portable artifact; `-` is standard output
    output: PathBuf,
    /// Version of the artifact: 1.20.0, current, minimum, WEEK_4 or WEEK_12; the output is an artifact then
    #[arg(long, value_name = "VERSION")]
    target: Option<String>,
    /// Write ops, types and attributes of other dialects as they are
    #[arg(long)]
    allow_other_dialects: bool,
    /// Forget all locations
    #[arg(long)]
    strip_debuginfo: bool,
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read, is not valid, or cannot be written in that format.
pub fn run(options: &Options, io: &mut Io<'_>) -> Result<(), Failure> {
    let format = FileFormat::of(&options.output, options.target.as_deref())?;
    let bytes = read_program(io, &options.input)?;
    let parsed = stablo::open(&program_name(&options.input), bytes, ParseOptions::default());
    let mut module = parsed.module;
    report(parsed.diagnostics, &module, io)?;
    let errors = stablo::verify(&module);
    report(errors, &module, io)?;
    if options.strip_debuginfo {
        let mut pipeline = Pipeline::default();
        PASSES.add_named(&mut pipeline, "strip-debuginfo", "").map_err(Failure::usage)?;
        report(pipeline.run(&mut module, None, &mut NoObserver), &module, io)?;
    }
    let foreign = if options.allow_other_dialects { Foreign::Keep } else { Foreign::Refuse };
    match format.write(&module, foreign) {
        Ok(output) => io.write(&options.output, &output),
        Err(errors) => report(errors, &module, io),
    }
}
