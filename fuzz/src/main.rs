//! Fuzzers: mutants of the project's test files and examples through the programs, in process.
//!
//! `stablo-fuzz text --seconds 60` tries mutants one after another in a child process and reports
//! how many there were, and which of them panicked, aborted the process, took more than 1 GB or
//! more than 5 seconds, made engines compute different bits, or made the programs write something
//! that they refuse to read. An input is a function of its kind and number: `stablo-fuzz replay text
//! 1234` shows and runs it.

mod bytes;
mod child;
mod engines;
mod input;
mod parent;
mod seeds;
mod text;

use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// The inputs that are mutated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Tokens of texts.
    Text,
    /// Bytes of artifacts and of bytecode.
    Bytecode,
    /// Bytes of what `jax.export` writes, of npy, npz and safetensors files.
    Container,
    /// A size or an element type everywhere in a text, or one number of an attribute; and random
    /// programs. All engines compute the same bits.
    Program,
}

#[derive(Parser)]
#[command(about = "Fuzzers of stablo")]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Tries mutants for some time.
    Run {
        kind: Kind,
        /// Time to stop after.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Number of the first input.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Directory for inputs with findings.
        #[arg(long, default_value = "target/fuzz")]
        findings: PathBuf,
    },
    /// Shows one input and runs it.
    Replay { kind: Kind, number: u64 },
    /// Tries mutants and reports each to the parent.
    #[command(hide = true)]
    Child { kind: Kind, first: u64 },
}

fn main() -> ExitCode {
    let run = || match Options::parse().command {
        Command::Run { kind, seconds, first, findings } => {
            Ok(parent::run(kind, first, seconds, &findings)?.failures() == 0)
        }
        Command::Replay { kind, number } => child::replay(kind, number),
        Command::Child { kind, first } => child::run(kind, first),
    };
    let result = stablo::with_large_stack(run);
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
