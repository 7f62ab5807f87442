//! `stablo`: checks, runs, converts and inspects programs.

mod check;
mod convert;
mod inspect;
mod refine;
mod run;

use crate::args;
use crate::io::{Failure, Io};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

/// Checks, runs, converts and inspects StableHLO programs.
#[derive(Parser)]
#[command(name = "stablo", version)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a function of a program and print or save its results
    Run(Box<run::Options>),
    /// Make a program with dynamic shapes static
    Refine(refine::Options),
    /// Report all errors in programs
    Check(check::Options),
    /// Convert a program to another format: text, bytecode or a portable artifact
    Convert(convert::Options),
    /// Report the format and contents of a file
    Inspect(inspect::Options),
}

/// Runs the program.
pub fn run(argv: &[OsString], io: &mut Io<'_>) -> i32 {
    let result = try_run(argv, io);
    io.finish(result)
}

fn try_run(argv: &[OsString], io: &mut Io<'_>) -> Result<(), Failure> {
    let Some(matches) = args::parse(Options::command(), argv, io)? else { return Ok(()) };
    match Options::from_arg_matches(&matches).map_err(Failure::usage)?.command {
        Command::Run(options) => run::run(&options, io),
        Command::Refine(options) => refine::run(&options, io),
        Command::Check(options) => check::run(&options, io),
        Command::Convert(options) => convert::run(&options, io),
        Command::Inspect(options) => inspect::run(&options, io),
    }
}
