//! `stablo bisect`: finds the first op at which the values of two programs part.

use crate::args::ReportStyle;
use crate::device;
use crate::display::display;
use crate::files::FileSet;
use crate::io::{CommandFailure, Io, cannot_print};
use crate::results::verdict;
use crate::trials::{Trial, TrialFlags, check_files, trouble};
use serde_json::json;
use stablo::arrays::npy;
use stablo::{Parting, RuntimeValue, Side, Tensor, Type};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo bisect good.mlir bad.mlir
  stablo bisect before.mlir after.mlir --ulps 8 --inputs inputs.npz
  stablo bisect before.mlir after.mlir --save parting && stablo run before.mlir --inputs parting
  stablo bisect model.mlir --device pjrt:plugin.so --rtol 1e-3

The programs may differ as much as passes make them differ. Exit code: 0 if their results agree, 1
if their values part, 2 for trouble.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BisectArgs {
    /// The program whose values are taken as right, in any format; `-` is standard input
    left: PathBuf,
    /// The other program
    #[arg(required_unless_present = "device", conflicts_with = "device")]
    right: Option<PathBuf>,
    #[command(flatten)]
    trials: TrialFlags,
    /// Save the inputs that show the difference in this directory, as input_0.npy, …, and the
    /// operands of the op, as operand_0.npy, …
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Output format
    #[arg(long, default_value = "human")]
    format: ReportStyle,
}

/// Runs the command.
///
/// # Errors
/// If the values part, or the programs cannot be compared.
pub(crate) fn run(options: &BisectArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    check_files(std::iter::once(&options.left).chain(&options.right))?;
    let parting = find(options, io).map_err(trouble)?;
    if parting { Err(CommandFailure::reported()) } else { Ok(()) }
}

fn find(options: &BisectArgs, io: &mut Io<'_>) -> Result<bool, CommandFailure> {
    let flags = &options.trials;
    let (left, right) = match &options.right {
        Some(right) => {
            let [left, right] = flags.programs([&options.left, right], io)?;
            (left, Some(right))
        }
        None => (flags.program(&options.left, io)?, None),
    };
    let _guard = flags.device.as_ref().map(|spec| device::guard(spec, io));
    let device = flags.device.as_ref().map(|spec| device::open(spec, io)).transpose()?;
    let mut trials = flags.trials(&left, io)?;
    let mut names = Vec::new();
    while let Some(trial) = trials.next(&left)? {
        let tolerance = |dtype| flags.tolerance(dtype);
        let inputs = trial.inputs.clone();
        let found = match (&right, &device) {
            (Some(right), _) => stablo::bisect(&left, right, inputs, &tolerance)?,
            (None, Some(device)) => stablo::bisect_on_device(&left, device, inputs, &tolerance)?,
            (None, None) => return Err(CommandFailure::usage("there is nothing to compare with")),
        };
        let Some(parting) = found else {
            names.push(trial.name);
            continue;
        };
        match options.format {
            ReportStyle::Json => {
                let (seed, parting) = (json!(trial.seed), parting.to_json());
                io.print(format!("{{\"parts\":true,\"seed\":{seed},\"parting\":{parting}}}\n"))?;
            }
            ReportStyle::Human => print(&parting, &trial, flags, io)?,
        }
        if let Some(directory) = &options.save {
            save(directory, &parting, &trial, io)?;
        }
        return Ok(true);
    }
    match options.format {
        ReportStyle::Json => io.print("{\"parts\":false}\n")?,
        ReportStyle::Human => io.print(format!("the results agree for {}\n", names.join(", ")))?,
    }
    Ok(false)
}

fn place(side: &Side) -> String {
    let place = side.location.source.as_deref().map_or(String::new(), |place| format!("{place}: "));
    format!("{place}{}", side.text)
}

fn print(
    parting: &Parting,
    trial: &Trial,
    flags: &TrialFlags,
    io: &mut Io<'_>,
) -> Result<(), CommandFailure> {
    let mut text =
        format!("with {}, values part in @{}:\n", trial.name, parting.left.location.function);
    for around in &parting.around {
        text.push_str(&format!("  within {}\n", place(around)));
    }
    text.push_str(&format!("- {}\n", place(&parting.left)));
    match &parting.right {
        // On a device, it is the same op.
        Some(_) if flags.device.is_some() => {}
        Some(right) => text.push_str(&format!("+ {}\n", place(right))),
        None => text.push_str("  the second program has no op that corresponds to it\n"),
    }
    for detail in &parting.details {
        text.push_str(&format!("    {detail}\n"));
    }
    match parting.iteration {
        0 => {}
        1 => text.push_str("  after 1 run that agrees\n"),
        runs => text.push_str(&format!("  after {runs} runs that agree\n")),
    }
    io.print(text)?;
    let mut show = |name: &str, tensor: &Tensor| {
        let ty = Type::from(tensor.dtype());
        display(io.stdout, name, &RuntimeValue::Tensor(tensor.clone()), &ty).map_err(cannot_print)
    };
    for (name, tensor) in &parting.operands {
        show(&format!("operand {name}"), tensor)?;
    }
    let (index, value) = &parting.result;
    let [first, second] = match &flags.device {
        Some(_) => ["stablo", "device"],
        None => ["first program", "second program"],
    };
    show(&format!("{first}: result {index}"), value)?;
    let Some(other) = &parting.other else { return Ok(()) };
    show(&format!("{second}: result {index}"), other)?;
    if let Err(text) = verdict(other, value, &flags.tolerance(value.dtype())) {
        io.print(format!("{text}\n"))?;
    }
    Ok(())
}

fn save(
    directory: &Path,
    parting: &Parting,
    trial: &Trial,
    io: &mut Io<'_>,
) -> Result<(), CommandFailure> {
    std::fs::create_dir_all(io.path(directory)).map_err(|e| {
        CommandFailure::input(format!("cannot make the directory {}: {e}", directory.display()))
    })?;
    let tensor = |value: &RuntimeValue| value.tensor().ok().cloned();
    let inputs = trial.inputs.iter().enumerate();
    let inputs =
        inputs.filter_map(|(index, value)| Some((format!("input_{index}"), tensor(value)?)));
    let operands = parting.operands.iter().enumerate();
    let operands = operands.map(|(index, (_, value))| (format!("operand_{index}"), value.clone()));
    let mut files = FileSet::default();
    for (stem, tensor) in inputs.chain(operands) {
        let path = directory.join(format!("{stem}.npy"));
        io.add_file(&mut files, &path, |out| npy::write(&tensor, out))?;
    }
    files.commit().map_err(|e| CommandFailure::input(format!("cannot write the inputs: {e}")))
}
