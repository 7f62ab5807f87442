//! `stablehlo-opt`: reads a module, runs passes on it and prints it.
//!
//! Source: MLIR's `mlir-opt`, whose flags it takes.

use crate::args::{self, PrintFlags};
use crate::io::{Failure, Io};
use crate::source::{InputFlags, has_errors};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use mlir::diag::Diagnostics;
use mlir::pass::{Invocation, Observer, Pipeline, Step};
use mlir::rewrite::Statistics;
use mlir::text::{PrintOptions, print_module, try_print_module};
use mlir::verify::{Reporting, VerifyOptions};
use mlir::{Module, OpId};
use stablo::{WriteOptions, write_bytecode};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::Duration;
use transforms::PASSES;

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
    /// Who the bytecode says wrote it
    #[arg(long, value_name = "NAME", default_value_t = WriteOptions::default().producer)]
    emit_bytecode_producer: String,
}

#[derive(Args)]
struct PassFlags {
    /// Passes to run, such as `builtin.module(inline,func.func(canonicalize{top-down=false}))`
    #[arg(long, value_name = "PIPELINE")]
    pass_pipeline: Option<String>,
    /// Verify the module after each pass
    #[arg(long, default_value = "true", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    verify_each: bool,
    /// Print the module before each pass, on standard error
    #[arg(long)]
    mlir_print_ir_before_all: bool,
    /// Print the module after each pass, on standard error
    #[arg(long)]
    mlir_print_ir_after_all: bool,
    /// Print how long each pass took, on standard error
    #[arg(long)]
    mlir_timing: bool,
    /// Print how often each pattern of each pass was tried and applied, on standard error
    #[arg(long)]
    mlir_pass_statistics: bool,
}

/// Runs the program.
pub fn run(argv: &[OsString], io: &mut Io<'_>) -> i32 {
    let result = try_run(argv, io);
    io.finish(result)
}

fn try_run(argv: &[OsString], io: &mut Io<'_>) -> Result<(), Failure> {
    let flag = |name: &'static str, doc: &'static str| {
        Arg::new(name)
            .long(name)
            .help(doc)
            .help_heading("Passes, run in the order given, with options as in --NAME='a=1 b=x,y'")
            .action(ArgAction::Append)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .value_name("OPTIONS")
    };
    let command = Options::command()
        .args(PASSES.passes.iter().map(|pass| flag(pass.name, pass.doc)))
        .args(PASSES.pipelines.iter().map(|pipeline| flag(pipeline.name, pipeline.doc)));
    let Some(matches) = args::parse(command, argv, io)? else { return Ok(()) };
    let options = Options::from_arg_matches(&matches).map_err(Failure::usage)?;
    let pipeline = pipeline(&matches, &options)?;
    let print = options.print.options();
    let mut log = Log { flags: &options.passes, print, text: String::new(), passes: BTreeMap::new() };
    let verify = VerifyOptions { reporting: Reporting::LikeUpstream, allow_unregistered_dialects: true };
    let verify_each = options.passes.verify_each.then_some(&verify);
    let result = options.input.run(io, "// -----", &mut |module, output| {
        let mut diagnostics: Diagnostics = pipeline.run(module, verify_each, &mut log);
        if has_errors(&diagnostics) {
            return diagnostics;
        }
        if options.output.emit_bytecode {
            let options = WriteOptions {
                version: options.output.emit_bytecode_version,
                producer: options.output.emit_bytecode_producer.clone(),
                ..WriteOptions::default()
            };
            match write_bytecode(module, &options) {
                Ok(bytecode) => output.extend(bytecode.to_vec()),
                Err(error) => diagnostics.push(error),
            }
        } else {
            match try_print_module(module, &print) {
                Ok(text) => {
                    output.extend_from_slice(text.as_bytes());
                    output.push(b'\n');
                }
                Err(error) => diagnostics.push(error),
            }
        }
        diagnostics
    });
    io.report(log.finish());
    result
}

/// The passes of the command line, in its order.
fn pipeline(matches: &ArgMatches, options: &Options) -> Result<Pipeline, Failure> {
    let names = PASSES.passes.iter().map(|p| p.name).chain(PASSES.pipelines.iter().map(|p| p.name));
    let mut given = Vec::new();
    for name in names.filter(|name| matches.value_source(name) == Some(ValueSource::CommandLine)) {
        let indices = matches.indices_of(name).into_iter().flatten();
        let values = matches.get_many::<String>(name).into_iter().flatten();
        given.extend(indices.zip(values).map(|(index, value)| (index, name, value)));
    }
    if let Some(text) = &options.passes.pass_pipeline {
        if !given.is_empty() {
            return Err(Failure::usage("give passes either by name or in --pass-pipeline, not both"));
        }
        return PASSES.parse(text).map_err(Failure::usage);
    }
    given.sort();
    let mut pipeline = Pipeline::default();
    for (_, name, value) in given {
        PASSES.add_named(&mut pipeline, name, value).map_err(Failure::usage)?;
    }
    Ok(pipeline)
}

/// What the flags ask to be told while passes run.
struct Log<'a> {
    flags: &'a PassFlags,
    print: PrintOptions,
    text: String,
    /// Time and statistics by pass.
    passes: BTreeMap<&'static str, (Duration, Statistics)>,
}

impl Log<'_> {
    fn dump(&mut self, when: &str, invocation: &Invocation, module: &Module) {
        let text = print_module(module, &self.print);
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "// -----// IR Dump {when} {} //----- //\n{text}\n", invocation.pass.name);
    }

    fn finish(mut self) -> String {
        for (name, (elapsed, statistics)) in &self.passes {
            if self.flags.mlir_timing {
                let _ = writeln!(self.text, "{:10.6} s  {name}", elapsed.as_secs_f64());
            }
            if self.flags.mlir_pass_statistics {
                let _ = writeln!(self.text, "{name}");
                for (pattern, count) in statistics.iter() {
                    let _ = writeln!(self.text, "  {:8} of {:8}  {pattern}", count.applied, count.tried);
                }
            }
        }
        self.text
    }
}

impl Observer for Log<'_> {
    fn before(&mut self, invocation: &Invocation, module: &Module, _root: OpId) {
        if self.flags.mlir_print_ir_before_all {
            self.dump("Before", invocation, module);
        }
    }

    fn after(&mut self, step: &Step<'_>, module: &Module) {
        if self.flags.mlir_print_ir_after_all {
            self.dump("After", step.invocation, module);
        }
        let (elapsed, statistics) = self.passes.entry(step.invocation.pass.name).or_default();
        *elapsed += step.elapsed;
        statistics.merge(step.statistics);
    }
}
