//! `stablo`: checks, runs, converts and inspects programs.

mod bisect;
mod check;
mod checked_errors;
mod compile;
mod completions;
mod convert;
mod cost;
mod diff;
mod explain;
mod fmt;
mod inspect;
mod judge;
mod lint;
mod lsp;
mod machine;
mod manual;
mod reduce;
mod refine;
mod run;
mod update_verify_tests;
mod view;

use crate::args::{self, DiagnosticFlags};
use crate::io::{CommandFailure, Io};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::sync::LazyLock;

/// Checks, runs, converts and inspects StableHLO programs.
#[derive(Parser)]
#[command(name = "stablo", version = version())]
struct CliArgs {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    diagnostics: DiagnosticFlags,
}

#[derive(Subcommand)]
enum Command {
    /// Run a function of a program and print or save its results
    Run(Box<run::RunArgs>),
    /// Make a program with dynamic shapes static
    Refine(refine::RefineArgs),
    /// Report all errors in programs
    Check(check::CheckArgs),
    /// Convert a program to another format: text, bytecode or a portable artifact
    Convert(convert::ConvertArgs),
    /// Write a program with its weights in the order in which kernels read them
    Compile(compile::CompileArgs),
    /// Report the format and contents of a file
    Inspect(inspect::InspectArgs),
    /// Report the arithmetic, memory traffic and memory of a program
    Cost(cost::CostArgs),
    /// Show a program as a graph, in a page for browsers
    View(view::ViewArgs),
    /// Compare two programs, but for names, locations and the order of independent ops
    Diff(diff::DiffArgs),
    /// Find the first op at which the values of two programs part
    Bisect(bisect::BisectArgs),
    /// Say of results of a backend if they are within the bounds of correct rounding
    Judge(Box<judge::JudgeArgs>),
    /// Warn of what is valid, but probably not meant, or costs for nothing
    Lint(lint::LintArgs),
    /// Format programs in MLIR text
    Fmt(fmt::FmtArgs),
    /// Serve an editor: the Language Server Protocol on standard input and output
    Lsp(lsp::LspArgs),
    /// Make a program as small as possible while a test passes
    Reduce(reduce::ReduceArgs),
    /// Print the machine model that kernels and plans ask, and measure the machine beside it
    Machine(machine::MachineArgs),
    /// Explain a label of a diagnostic
    Explain(explain::ExplainArgs),
    /// Rewrite expected diagnostics in lit tests to name the rules of ours
    UpdateVerifyTests(update_verify_tests::UpdateVerifyTestsArgs),
    /// Print a script that completes command lines in a shell
    Completions(completions::CompletionsArgs),
    /// Write the manual pages
    Manual(manual::ManualArgs),
}

/// The version of stablo, and of StableHLO that it writes.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        format!("{} (StableHLO {})", env!("CARGO_PKG_VERSION"), stablo::Version::CURRENT)
    });
    &VERSION
}

/// Runs the program.
pub(crate) fn run(argv: &[OsString], io: &mut Io<'_>) -> i32 {
    let result = try_run(argv, io);
    let hint = result.as_ref().err().and_then(|failure| explain::hint(failure.labels()));
    let code = io.finish(result);
    if let Some(hint) = hint {
        io.report(hint);
    }
    code
}

fn try_run(argv: &[OsString], io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let Some(matches) = args::parse(CliArgs::command(), argv, io)? else { return Ok(()) };
    let options = CliArgs::from_arg_matches(&matches).map_err(CommandFailure::usage)?;
    options.diagnostics.apply(io);
    match options.command {
        Command::Run(options) => run::run(&options, io),
        Command::Refine(options) => refine::run(&options, io),
        Command::Check(options) => check::run(&options, io),
        Command::Convert(options) => convert::run(&options, io),
        Command::Compile(options) => compile::run(&options, io),
        Command::Inspect(options) => inspect::run(&options, io),
        Command::Cost(options) => cost::run(&options, io),
        Command::View(options) => view::run(&options, io),
        Command::Diff(options) => diff::run(&options, io),
        Command::Bisect(options) => bisect::run(&options, io),
        Command::Judge(options) => judge::run(&options, io),
        Command::Lint(options) => lint::run(&options, io),
        Command::Fmt(options) => fmt::run(&options, io),
        Command::Lsp(options) => lsp::run(&options, io),
        Command::Reduce(options) => reduce::run(&options, io),
        Command::Machine(options) => machine::run(&options, io),
        Command::Explain(options) => explain::run(&options, io),
        Command::UpdateVerifyTests(options) => update_verify_tests::run(&options, io),
        Command::Completions(options) => completions::run(&options, CliArgs::command(), io),
        Command::Manual(options) => manual::run(&options, CliArgs::command(), io),
    }
}
