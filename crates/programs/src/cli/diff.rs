//! `stablo diff`: compares two programs.

use crate::args::Format;
use crate::io::{Failure, Io};
use crate::results::verdict;
use crate::source::{load, program_name};
use crate::trials::{TrialFlags, check_files, trouble};
use serde_json::json;
use stablo::{Program, RuntimeValue, counted};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo diff before.mlir after.mlir.bc
  stablo diff before.mlir after.mlir --ignore mhlo.frontend_attributes
  stablo diff before.mlir after.mlir --run --ulps 4

Exit code: 0 if the programs are the same, 1 if they differ, 2 for trouble.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The first program, in any format; `-` is standard input
    left: PathBuf,
    /// The second program
    right: PathBuf,
    /// Leave attributes of this name out of account
    #[arg(long, value_name = "NAME", conflicts_with = "run")]
    ignore: Vec<String>,
    /// Compare what the programs compute from the same inputs, instead of their ops
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    trials: TrialFlags,
    /// Output format
    #[arg(long, default_value = "human")]
    format: Format,
}

/// Runs the command.
///
/// # Errors
/// If the programs differ, or cannot be compared.
pub fn run(options: &Options, io: &mut Io<'_>) -> Result<(), Failure> {
    check_files([&options.left, &options.right])?;
    let is_same = match options.run {
        true => same_results(options, io),
        false => same_ops(options, io),
    };
    if is_same.map_err(trouble)? { Ok(()) } else { Err(Failure::reported()) }
}

fn same_ops(options: &Options, io: &mut Io<'_>) -> Result<bool, Failure> {
    let left = load(&options.left, io)?;
    let right = load(&options.right, io)?;
    let diff = stablo::diff(&left, &right, &options.ignore);
    match options.format {
        Format::Json => io.print(format!("{}\n", diff.to_json()))?,
        Format::Human if diff.is_empty() => {}
        Format::Human => {
            let names = [&options.left, &options.right].map(|file| program_name(file));
            io.print(format!("--- {}\n+++ {}\n{}", names[0], names[1], diff.to_text()))?;
            let changes = counted(diff.changes.len() as u64, "difference");
            let are = if diff.same == 1 { "is" } else { "are" };
            io.print(format!("{changes}, {} {are} the same\n", counted(diff.same as u64, "op")))?;
        }
    }
    Ok(diff.is_empty())
}

fn same_results(options: &Options, io: &mut Io<'_>) -> Result<bool, Failure> {
    let flags = &options.trials;
    let [left, right] = flags.programs([&options.left, &options.right], io)?;
    let function = stablo::entry_function(left.module(), flags.entry())?;
    let names = stablo::result_names(function);
    let mut trials = flags.trials(&left, io)?;
    let mut is_same = true;
    while let Some(trial) = trials.next(&left)? {
        let results = [run_once(&left, &trial.inputs)?, run_once(&right, &trial.inputs)?];
        let [expected, found] = results;
        for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let (RuntimeValue::Tensor(expected), RuntimeValue::Tensor(found)) = (expected, found)
            else {
                continue;
            };
            let verdict = verdict(found, expected, &flags.tolerance());
            is_same &= verdict.is_ok();
            let is_close = verdict.is_ok();
            let (Ok(text) | Err(text)) = verdict;
            let name = names.get(index).and_then(Option::as_deref);
            let line = match options.format {
                Format::Json => {
                    let line = json!({
                        "seed": trial.seed, "result": index, "name": name, "close": is_close,
                        "comparison": text,
                    });
                    line.to_string()
                }
                Format::Human => {
                    let name = name.map_or(String::new(), |name| format!(" ({name})"));
                    format!("{}: result {index}{name}: {text}", trial.name)
                }
            };
            io.print(format!("{line}\n"))?;
        }
    }
    Ok(is_same)
}

fn run_once(program: &Program, inputs: &[RuntimeValue]) -> Result<Vec<RuntimeValue>, Failure> {
    Ok(program.run(inputs.to_vec())?)
}
