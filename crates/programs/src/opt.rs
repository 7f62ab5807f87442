//! `stablehlo-opt`: reads a module, runs passes on it and prints it.
//!
//! Source: MLIR's `mlir-opt`, whose flags it takes.

use crate::args::{self, PrintFlags};
use crate::io::{Failure, Io};
use crate::source::{InputFlags, has_errors};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use mlir::diag::Diagnostics;
use mlir::text::print_module;
use mlir::verify::{Reporting, VerifyOptions, verify};
use stablo::{WriteOptions, write_bytecode};
use std::ffi::OsString;
use transforms::{PASSES, Pass};

/// Reads MLIR text, runs passes on it and prints the result.
#[derive(Parser)]
#[command(name = "stablehlo-opt", version)]
struct Options {
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    print: PrintFlags,
    #[command(flatten)]
    passes: PassFlags,
    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Args)]
struct OutputFlags {
    /// Write bytecode instead of text
    #[arg(long)]
    emit_bytecode: bool,
    /// Version of the format of the bytecode
    #[arg(long, value_name = "VERSION", default_value_t = WriteOptions::default().version)]
    emit_bytecode_version: u64,
}

#[derive(Args)]
struct PassFlags {
    /// Passes to run, such as `builtin.module(inline)`
    #[arg(long, value_name = "PIPELINE")]
    pass_pipeline: Option<String>,
    /// Verify the module after each pass
    #[arg(long, default_value = "true", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    verify_each: bool,
}

/// Runs the program.
pub fn run(argv: &[OsString], io: &mut Io<'_>) -> i32 {
    let result = try_run(argv, io);
    io.finish(result)
}

fn try_run(argv: &[OsString], io: &mut Io<'_>) -> Result<(), Failure> {
    let flags = PASSES.iter().map(|pass| {
        Arg::new(pass.name)
            .long(pass.name)
            .help(pass.description)
            .help_heading("Passes, run in the order given")
            .action(ArgAction::SetTrue)
    });
    let command = Options::command().args(flags);
    let Some(matches) = args::parse(command, argv, io)? else { return Ok(()) };
    let options = Options::from_arg_matches(&matches).map_err(Failure::usage)?;
    let passes = passes(&matches, &options)?;
    let print = options.print.options();
    options.input.run(io, "// -----", &mut |module, output| {
        let mut diagnostics = Diagnostics::new();
        for pass in &passes {
            diagnostics.extend((pass.run)(module));
            if options.passes.verify_each && !has_errors(&diagnostics) {
                let options = VerifyOptions { reporting: Reporting::LikeUpstream, allow_unregistered_dialects: true };
                diagnostics.extend(verify(module, &options));
            }
            if has_errors(&diagnostics) {
                return diagnostics;
            }
        }
        if options.output.emit_bytecode {
            let options = WriteOptions { version: options.output.emit_bytecode_version, ..WriteOptions::default() };
            match write_bytecode(module, &options) {
                Ok(bytecode) => output.extend(bytecode.to_vec()),
                Err(error) => diagnostics.push(error),
            }
        } else {
            output.extend_from_slice(print_module(module, &print).as_bytes());
            output.push(b'\n');
        }
        diagnostics
    })
}

/// The passes of the command line, in its order.
fn passes(matches: &ArgMatches, options: &Options) -> Result<Vec<&'static Pass>, Failure> {
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let named = PASSES.iter().filter(|pass| given(pass.name) && matches.get_flag(pass.name));
    let mut named: Vec<(usize, &'static Pass)> =
        named.filter_map(|pass| Some((matches.indices_of(pass.name)?.next()?, pass))).collect();
    let Some(pipeline) = &options.passes.pass_pipeline else {
        named.sort_by_key(|(index, _)| *index);
        return Ok(named.into_iter().map(|(_, pass)| pass).collect());
    };
    if !named.is_empty() {
        return Err(Failure::usage("give passes either by name or in --pass-pipeline, not both"));
    }
    transforms::parse_pipeline(pipeline).map_err(Failure::usage)
}
