//! `stablehlo-opt`: parses a module, runs passes on it and prints it.
//!
//! Source: MLIR's `mlir-opt`, whose flags it accepts.

mod log;
mod reproducer;

use crate::args::{self, CompatibilityFlags, DiagnosticFlags, PrintFlags};
use crate::format::first;
use crate::io::{CommandFailure, Io};
use crate::source::InputFlags;
use clap::builder::BoolishValueParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use log::Log;
use stablo::ir::OpRef;
use stablo::passes::{self, Pipeline, named_pipelines};
use stablo::{
    BytecodeOptions, Diagnostic, Diagnostics, Error, LoadOptions, Module, PrintOptions, Reporting,
    VerifyOptions, has_errors, print_op,
};
use std::ffi::OsString;
use std::path::PathBuf;

/// Parses MLIR text, runs passes on it and prints the result.
#[derive(Parser)]
#[command(name = "stablehlo-opt", version)]
struct OptArgs {
    #[command(flatten)]
    diagnostics: DiagnosticFlags,
    #[command(flatten)]
    input: InputFlags,
    #[command(flatten)]
    print: PrintFlags,
    #[command(flatten)]
    passes: PassFlags,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    _compatibility: CompatibilityFlags,
}

#[derive(Args)]
struct OutputFlags {
    /// Write bytecode instead of text
    #[arg(long)]
    emit_bytecode: bool,
    /// Version of the bytecode format
    #[arg(long, value_name = "VERSION", default_value_t = BytecodeOptions::default().version)]
    emit_bytecode_version: u64,
    /// Take the only op of the input as its top, without a module around it
    #[arg(long)]
    no_implicit_module: bool,
    /// Producer string of the bytecode
    #[arg(long, value_name = "NAME", default_value_t = BytecodeOptions::default().producer)]
    emit_bytecode_producer: String,
}

#[derive(Args)]
struct PassFlags {
    /// Passes to run, such as `builtin.module(inline,func.func(canonicalize{top-down=false}))`
    #[arg(long, value_name = "PIPELINE")]
    pass_pipeline: Option<String>,
    /// Verify the module after each pass
    #[arg(
        long, default_value = "true", action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    verify_each: bool,
    /// Print the module before each pass, on standard error
    #[arg(long)]
    mlir_print_ir_before_all: bool,
    /// Print the module after each pass, on standard error
    #[arg(long)]
    mlir_print_ir_after_all: bool,
    /// Print the module before these passes
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    mlir_print_ir_before: Vec<String>,
    /// Print the module after these passes
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    mlir_print_ir_after: Vec<String>,
    /// Print after a pass only if it changed something
    #[arg(long)]
    mlir_print_ir_after_change: bool,
    /// Print the module after a pass that fails
    #[arg(long)]
    mlir_print_ir_after_failure: bool,
    /// Print the whole module, also for passes that run on a part of it
    #[arg(long)]
    mlir_print_ir_module_scope: bool,
    /// Write the dumps to files in this directory, a subdirectory for each op
    #[arg(long, value_name = "DIR")]
    mlir_print_ir_tree_dir: Option<PathBuf>,
    /// If passes fail, write the module with the pipeline to this file
    #[arg(long, value_name = "FILE")]
    mlir_pass_pipeline_crash_reproducer: Option<PathBuf>,
    /// Write only the pass that failed, and the module before it
    #[arg(long, requires = "mlir_pass_pipeline_crash_reproducer")]
    mlir_pass_pipeline_local_reproducer: bool,
    /// Run the pipeline that the input names, as reproducers do
    #[arg(long, conflicts_with = "pass_pipeline")]
    run_reproducer: bool,
    /// Print the pipeline with all options, on standard error
    #[arg(long)]
    dump_pass_pipeline: bool,
    /// List all passes and pipelines, and exit
    #[arg(long)]
    list_passes: bool,
    /// List all dialects, and exit
    #[arg(long)]
    show_dialects: bool,
    /// Fail unless the module survives a round trip through text
    #[arg(long)]
    verify_roundtrip: bool,
    /// Print the duration of each pass, on standard error
    #[arg(long)]
    mlir_timing: bool,
    /// Print how often each pattern was tried and applied, on standard error
    #[arg(long)]
    mlir_pass_statistics: bool,
}

/// Runs the program.
pub(crate) fn run(argv: &[OsString], io: &mut Io<'_>) -> i32 {
    let result = try_run(argv, io);
    io.finish(result)
}

fn try_run(argv: &[OsString], io: &mut Io<'_>) -> Result<(), CommandFailure> {
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
    let command = OptArgs::command()
        .args(passes::all().iter().map(|pass| flag(pass.name, pass.doc)))
        .args(named_pipelines().iter().map(|pipeline| flag(pipeline.name, pipeline.doc)));
    args::check_supported(argv)?;
    let Some(matches) = args::parse(command, argv, io)? else { return Ok(()) };
    let options = OptArgs::from_arg_matches(&matches).map_err(CommandFailure::usage)?;
    options.diagnostics.apply(io);
    let flags = &options.passes;
    if flags.list_passes || flags.show_dialects {
        return list(flags, io);
    }
    let pipeline = pipeline(&matches, &options)?;
    if flags.run_reproducer && !pipeline.is_empty() {
        return Err(CommandFailure::usage(
            "--run-reproducer runs the passes that the input names: give no others",
        ));
    }
    for name in flags.mlir_print_ir_before.iter().chain(&flags.mlir_print_ir_after) {
        if passes::find(name).is_none() {
            return Err(CommandFailure::usage(format!(
                "there is no pass `{name}` to print the module for"
            )));
        }
    }
    if flags.dump_pass_pipeline {
        io.report(format_args!("builtin.module({pipeline})\n"));
    }
    let print = options.print.options();
    let mut log = Log::new(flags, print);
    let verify = VerifyOptions {
        reporting: Reporting::LikeUpstream,
        allow_unregistered_dialects: true,
        strict: false,
    };
    let result = options.input.run(io, "// -----", &mut |module, output| {
        let top = match options.output.no_implicit_module {
            true => single_op(module),
            false => Ok(None),
        };
        let (has_own_top, reproduced) = match (top, flags.run_reproducer) {
            (Err(error), _) => return vec![*error],
            (Ok(top), false) => (top.is_some(), None),
            (Ok(top), true) => match reproducer::pipeline(module) {
                Ok(reproduced) => (top.is_some(), Some(reproduced)),
                Err(error) => return vec![*error],
            },
        };
        let (pipeline, verify_each) = match &reproduced {
            Some((pipeline, verify_each)) => (pipeline, *verify_each),
            None => (&pipeline, flags.verify_each),
        };
        if flags.verify_roundtrip
            && let Err(error) = roundtrip(module)
        {
            return error.into_diagnostics();
        }
        log.reproducer.before_pipeline(pipeline, module);
        let mut diagnostics: Diagnostics =
            pipeline.run_observed(module, verify_each.then_some(&verify), &mut log);
        if has_errors(&diagnostics) {
            log.reproducer.pipeline_failed();
            return diagnostics;
        }
        let printed = if has_own_top { single_op(module).ok().flatten() } else { None };
        let written = if options.output.emit_bytecode {
            let options = BytecodeOptions::default()
                .version(options.output.emit_bytecode_version)
                .producer(&options.output.emit_bytecode_producer);
            stablo::write_bytecode(module, &options)
        } else if let Some(op) = printed {
            Ok((print_op(op, &print) + "\n").into_bytes())
        } else {
            stablo::print(module, &print).map(|mut text| {
                text.push('\n');
                text.into_bytes()
            })
        };
        match written {
            Ok(written) => output.extend(written),
            Err(error) => diagnostics.extend(error.into_diagnostics()),
        }
        diagnostics
    });
    let finished = log.finish(io);
    result.and(finished)
}

/// The op that a text has at its top, if it is not a module; `None` for bytecode and modules.
///
/// # Errors
/// If the text has no op, or several.
fn single_op(module: &Module) -> Result<Option<OpRef<'_>>, Box<Diagnostic>> {
    let top = module.top();
    // A module that the parser added has no position in the text.
    if module.source().is_none() || top.position().span().is_some() {
        return Ok(None);
    }
    let body = top.regions().first().and_then(|&region| module.entry(region));
    let ops: Vec<OpRef<'_>> = body.into_iter().flat_map(|body| module.ops(body)).collect();
    match ops.as_slice() {
        [only] => Ok(Some(*only)),
        ops => Err(Box::new(
            Diagnostic::error(
                "parse",
                format!(
                    "a text without an implicit module has one op at its top, not {}",
                    ops.len()
                ),
            )
            .at(top.position()),
        )),
    }
}

/// The passes in the order of the command line.
fn pipeline(matches: &ArgMatches, options: &OptArgs) -> Result<Pipeline, CommandFailure> {
    let passes = passes::all().iter().map(|pass| pass.name);
    let names = passes.chain(named_pipelines().iter().map(|pipeline| pipeline.name));
    let mut given = Vec::new();
    for name in names.filter(|name| matches.value_source(name) == Some(ValueSource::CommandLine)) {
        let indices = matches.indices_of(name).into_iter().flatten();
        let values = matches.get_many::<String>(name).into_iter().flatten();
        given.extend(indices.zip(values).map(|(index, value)| (index, name, value)));
    }
    if let Some(text) = &options.passes.pass_pipeline {
        if !given.is_empty() {
            return Err(CommandFailure::usage(
                "give passes either by name or in --pass-pipeline, not both",
            ));
        }
        let name = text.split(['(', '{', ',']).next().unwrap_or("").trim();
        let may_differ = options.output.no_implicit_module;
        if name.contains('.') && name != "builtin.module" && !may_differ {
            let message = format!("the pipeline runs on {name}, but a program is a builtin.module");
            return Err(CommandFailure::usage(format!("{message}: write builtin.module({text})")));
        }
        return text.parse().map_err(usage);
    }
    given.sort();
    let mut pipeline = Pipeline::default();
    for (_, name, value) in given {
        pipeline.add(name, value).map_err(usage)?;
    }
    Ok(pipeline)
}

/// An invalid pipeline is a wrong command line.
fn usage(error: Error) -> CommandFailure {
    CommandFailure::usage(first(&error))
}

/// Prints the lists requested by flags.
fn list(flags: &PassFlags, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let mut text = String::new();
    if flags.list_passes {
        let passes = passes::all().iter().map(|pass| (pass.name, pass.doc));
        let pipelines = named_pipelines().iter().map(|pipeline| (pipeline.name, pipeline.doc));
        for (name, doc) in passes.chain(pipelines) {
            text.push_str(&format!("{name}: {doc}\n"));
        }
    }
    if flags.show_dialects {
        let mut names: Vec<&str> =
            stablo::registry().dialects().iter().map(|dialect| dialect.namespace).collect();
        names.sort_unstable();
        text.push_str(&format!("Available Dialects: {}\n", names.join(", ")));
    }
    io.print(text)
}

/// Checks that a module survives printing and parsing.
fn roundtrip(module: &Module) -> Result<(), Error> {
    let options = PrintOptions { debug_info: true, ..PrintOptions::default() };
    let text = stablo::print(module, &options)?;
    let read = LoadOptions::default()
        .allow_unregistered_dialects(true)
        .convert_vhlo(false)
        .stop_at_first_error(true)
        .verify(false);
    let again = read.load("roundtrip", &*text);
    if let Some(error) = again.diagnostics.into_iter().next() {
        return Err(Error::message(
            "roundtrip",
            format!("the printed module cannot be read: {}", error.message),
        ));
    }
    let second = stablo::print(&again.module, &options)?;
    let differs = text.lines().zip(second.lines()).find(|(a, b)| a != b);
    match differs {
        Some((a, b)) => Err(Error::message(
            "roundtrip",
            format!("`{}` is printed as `{}` after it is read", a.trim(), b.trim()),
        )),
        None => Ok(()),
    }
}
