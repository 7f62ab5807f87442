//! `stablo machine`: prints the machine model, and measures the machine beside it.

use crate::args::ReportStyle;
use crate::io::{CommandFailure, Io};
use stablo::{Host, Machine, Measurements, model_to_json};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo machine
  stablo machine zen4
  stablo machine --measure
  stablo machine --measure --output here.machine
  STABLO_MACHINE=here.machine stablo run model.mlir --input random

The model decides how kernels divide, block and share work; results have the same bits under every
model. Without a name it is the one that STABLO_MACHINE names, or that of this machine. Measure on a
quiet machine.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MachineArgs {
    /// A model: `generic`, `zen4`, `zen5`, `sapphire-rapids`, `haswell`, `neoverse`, `tiny`,
    /// `huge`, or a file of lines `name = value`
    #[arg(conflicts_with = "measure")]
    model: Option<String>,
    /// Measure arithmetic, caches, memory, threads and products for a second, beside what the model
    /// assumes
    #[arg(long)]
    measure: bool,
    /// Number of threads that are measured; by default as many as the machine has
    #[arg(long, value_name = "N", requires = "measure", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the model to this file, with what was measured where it differs; `-` is standard
    /// output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format: lines for people, or a JSON object
    #[arg(long, default_value = "human")]
    format: ReportStyle,
}

/// Runs the command.
///
/// # Errors
/// If there is no such model, or nothing can be measured.
pub(crate) fn run(options: &MachineArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let model = match &options.model {
        Some(name) => match Machine::presets().iter().find(|preset| preset.name == **name) {
            Some(preset) => preset.clone(),
            None => {
                let path = io.path(Path::new(name));
                Machine::named(&path.to_string_lossy()).map_err(CommandFailure::input)?
            }
        },
        None => process_model()?.clone(),
    };
    if !options.measure {
        let text = match options.format {
            ReportStyle::Human => model.to_string(),
            ReportStyle::Json => format!("{}\n", model_to_json(&model)),
        };
        return match &options.output {
            Some(path) => io.write(path, text.as_bytes()),
            None => io.print(text),
        };
    }
    let threads = options.threads.map_or(model.threads, usize::from);
    let measured = Measurements::take(&Host::default().with_workers(threads));
    let Some(measured) = measured else {
        return Err(CommandFailure::input("there is no clock, or no memory for what is measured"));
    };
    let text = match options.format {
        ReportStyle::Human => measured.to_string(),
        ReportStyle::Json => format!("{}\n", measured.to_json()),
    };
    io.print(text)?;
    match &options.output {
        Some(path) => io.write(path, measured.model.to_string().as_bytes()),
        None => Ok(()),
    }
}

/// Checks the model that `STABLO_MACHINE` names, if it is set.
///
/// # Errors
/// If it names none.
pub(crate) fn check_model() -> Result<(), CommandFailure> {
    if std::env::var_os("STABLO_MACHINE").is_some() {
        process_model()?;
    }
    Ok(())
}

/// The model that runs in this process use.
///
/// # Errors
/// If `STABLO_MACHINE` names none.
fn process_model() -> Result<&'static Machine, CommandFailure> {
    Machine::of_process().map_err(|error| CommandFailure::input(format!("STABLO_MACHINE: {error}")))
}
