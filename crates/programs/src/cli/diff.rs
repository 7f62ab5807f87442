//! `stablo diff`: compares two programs.

use crate::args::ReportStyle;
use crate::device;
use crate::io::{CommandFailure, Io};
use crate::results::verdict;
use crate::source::{load, program_name};
use crate::trials::{TrialFlags, check_files, trouble};
use serde_json::json;
use stablo::{RuntimeValue, counted};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo diff before.mlir after.mlir.bc
  stablo diff before.mlir after.mlir --ignore mhlo.frontend_attributes
  stablo diff before.mlir after.mlir --run --ulps 4
  stablo diff model.mlir --run --device pjrt:plugin.so

Exit code: 0 if the programs are the same, 1 if they differ, 2 for trouble.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// The first program, in any format; `-` is standard input
    left: PathBuf,
    /// The second program
    #[arg(required_unless_present = "device")]
    right: Option<PathBuf>,
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
    format: ReportStyle,
}

/// Runs the command.
///
/// # Errors
/// If the programs differ, or cannot be compared.
pub(crate) fn run(options: &DiffArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    check_files(std::iter::once(&options.left).chain(&options.right))?;
    if options.trials.device.is_some() && !options.run {
        return Err(CommandFailure::usage(
            "a device compares what programs compute: give `--run`, too",
        ));
    }
    let is_same = match options.run {
        true => same_results(options, io),
        false => same_ops(options, io),
    };
    if is_same.map_err(trouble)? { Ok(()) } else { Err(CommandFailure::reported()) }
}

fn same_ops(options: &DiffArgs, io: &mut Io<'_>) -> Result<bool, CommandFailure> {
    // A device may take its place, but not here.
    let other = options.right.as_ref().unwrap_or(&options.left);
    let left = load(&options.left, io)?;
    let right = load(other, io)?;
    let diff = stablo::diff(&left, &right, &options.ignore);
    match options.format {
        ReportStyle::Json => io.print(format!("{}\n", diff.to_json()))?,
        ReportStyle::Human if diff.is_empty() => {}
        ReportStyle::Human => {
            let names = [&options.left, other].map(|file| program_name(file));
            io.print(format!("--- {}\n+++ {}\n{}", names[0], names[1], diff.to_text()))?;
            let changes = counted(diff.changes.len() as u64, "difference");
            let are = if diff.same == 1 { "is" } else { "are" };
            io.print(format!("{changes}, {} {are} the same\n", counted(diff.same as u64, "op")))?;
        }
    }
    Ok(diff.is_empty())
}

fn same_results(options: &DiffArgs, io: &mut Io<'_>) -> Result<bool, CommandFailure> {
    let flags = &options.trials;
    let (left, right) = match &options.right {
        Some(right) => {
            let [left, right] = flags.programs([&options.left, right], io)?;
            (left, Some(right))
        }
        None => (flags.program(&options.left, io)?, None),
    };
    let right = right.as_ref().unwrap_or(&left);
    let _guard = flags.device.as_ref().map(|spec| device::guard(spec, io));
    let device = flags.device.as_ref().map(|spec| device::open(spec, io)).transpose()?;
    let function = stablo::entry_function(left.module(), flags.entry())?;
    let names = stablo::result_names(function);
    let mut trials = flags.trials(&left, io)?;
    let mut is_same = true;
    while let Some(trial) = trials.next(&left)? {
        let expected = left.run(trial.inputs.clone())?;
        let found = match &device {
            Some(device) => device.run(right.module(), flags.entry(), &trial.inputs)?,
            None => right.run(trial.inputs.clone())?,
        };
        for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let (RuntimeValue::Tensor(expected), RuntimeValue::Tensor(found)) = (expected, found)
            else {
                continue;
            };
            let verdict = verdict(found, expected, &flags.tolerance(expected.dtype()));
            is_same &= verdict.is_ok();
            let is_close = verdict.is_ok();
            let (Ok(text) | Err(text)) = verdict;
            let name = names.get(index).and_then(Option::as_deref);
            let line = match options.format {
                ReportStyle::Json => {
                    let line = json!({
                        "seed": trial.seed, "result": index, "name": name, "close": is_close,
                        "comparison": text,
                    });
                    line.to_string()
                }
                ReportStyle::Human => {
                    let name = name.map_or(String::new(), |name| format!(" ({name})"));
                    format!("{}: result {index}{name}: {text}", trial.name)
                }
            };
            io.print(format!("{line}\n"))?;
        }
    }
    Ok(is_same)
}
