//! Fuzzers: mutants of the project's test files and examples through the programs, in process.
//!
//! `stablo-fuzz text --seconds 60` tries mutants one after another in a child process and reports
//! how many there were, and which of them panicked, aborted the process, took more than 1 GB or
//! more than 5 seconds, made engines compute different bits, or made the programs write something
//! that they refuse to read. An input is a function of its kind and number:
//! `stablo-fuzz replay text 1234` shows and runs it.

mod child;
mod ops;
mod parent;

use clap::{Parser, Subcommand};
use stablo_fuzz::{Kind, Seeds, corpus};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    /// Writes the inputs that mutants are made of as files, for libFuzzer.
    Corpus { kind: Kind, folder: PathBuf },
    /// Tries each op of the project's tests with all element types, and with other sizes and
    /// attributes: whatever the verifier accepts must run.
    Ops {
        /// Only ops with this name.
        #[arg(long)]
        op: Option<String>,
        /// Further files whose ops are tried.
        #[arg(long)]
        files: Vec<PathBuf>,
        /// Programs of one op.
        #[arg(long, default_value_t = 20)]
        programs: usize,
        /// Directory for programs with findings.
        #[arg(long, default_value = "target/fuzz")]
        findings: PathBuf,
        /// Run nothing, but write the programs of each op as a file in this directory, each with
        /// the verdict of the verifier as a comment before it, for tools/variants.py.
        #[arg(long)]
        write: Option<PathBuf>,
    },
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
        Command::Corpus { kind, folder } => write_corpus(kind, &folder).map(|()| true),
        Command::Ops { op, files, programs, findings, write } => {
            let chosen = ops::choose(op.as_deref(), &files, programs)?;
            match write {
                Some(folder) => ops::write(&chosen, &folder).map(|()| true),
                None => ops::run(&chosen, &findings),
            }
        }
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

fn write_corpus(kind: Kind, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let seeds = Seeds::read()?;
    for (number, input) in corpus(kind, &seeds).enumerate() {
        std::fs::write(folder.join(format!("seed_{number}")), input)?;
    }
    Ok(())
}
