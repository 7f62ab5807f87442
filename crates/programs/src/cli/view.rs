//! `stablo view`: shows a program as a graph, or two side by side, in a page for browsers.

use crate::inputs::Arguments;
use crate::io::{CommandFailure, Io};
use crate::limits::{Deadline, LimitFlags};
use crate::source::{load, load_bytes, program_name, read_program, select_platform};
use crate::trials::check_files;
use stablo::{
    LastValues, Module, Profile, Profiling, Program, RunOptions, RuntimeValue, ViewOptions,
};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo view model.mlir -o model.html
  stablo view model.mlir --run --inputs in.npz -o model.html
  stablo view model.mlir --profile -o times.html
  stablo view before.mlir after.mlir -o difference.html
  stablo view model.mlir.bc --format json -o model.json

The page needs no network and no other file: functions, regions and scopes open on a click, ops show
their text, source, cost, constants and specification; after a run, statistics of their values and
their times.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, group = clap::ArgGroup::new("runs").multiple(true))]
pub(crate) struct ViewArgs {
    /// The program: MLIR text, bytecode, a portable artifact or an export of `jax.export`; `-` is
    /// standard input
    file: PathBuf,
    /// Another program to show beside it, with the differences that `stablo diff` finds
    #[arg(conflicts_with_all = ["run", "profile", "platform"])]
    other: Option<PathBuf>,
    /// Leave attributes of this name out of account in differences
    #[arg(long, value_name = "NAME", requires = "other")]
    ignore: Vec<String>,
    /// The function whose run is what costs are of; by default `main`, if it can run
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The platform, for a program that was exported for several; otherwise `cpu`
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// Run the program, and show statistics of all values: of the last where there are several
    #[arg(long, group = "runs")]
    run: bool,
    /// Run the program, and show how long each op takes; those that a step computes share its time
    #[arg(long, group = "runs")]
    profile: bool,
    /// An argument of the run, in order or as NAME=VALUE, as for `stablo run`; by default all are
    /// random
    #[arg(long, value_name = "INPUT", allow_hyphen_values = true, requires = "runs")]
    input: Vec<String>,
    /// Read the arguments that --input does not name from this .npz or safetensors file, or from
    /// input_0.npy, input_1.npy, … in this directory
    #[arg(long, value_name = "PATH", requires = "runs")]
    inputs: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitFlags,
    /// Output format
    #[arg(long, default_value = "html")]
    format: PageFormat,
    /// The output file; `-` is standard output
    #[arg(short, default_value = "-", value_name = "OUT")]
    o: PathBuf,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PageFormat {
    /// A page for browsers
    Html,
    /// The model that the page shows
    Json,
}

/// The values and times of runs, as far as they are asked for.
type Observed = (Option<LastValues>, Option<Profile>);

impl ViewArgs {
    /// The function to run.
    fn entry(&self) -> Option<&str> {
        self.entry.as_deref().map(|name| name.strip_prefix('@').unwrap_or(name))
    }

    fn prepare(&self, module: &Module, profiling: Profiling) -> Result<Program, CommandFailure> {
        let limits = self.limits.of_run();
        let options = RunOptions { limits, profiling, ..RunOptions::default() };
        Ok(Program::prepare(module.clone(), self.entry().unwrap_or("main"), options)?)
    }

    fn inputs(
        &self,
        program: &Program,
        io: &mut Io<'_>,
    ) -> Result<Vec<RuntimeValue>, CommandFailure> {
        if self.input.is_empty() && self.inputs.is_none() {
            return Ok(stablo::random_inputs(program.signature().0, 0)?);
        }
        let function = stablo::entry_function(program.module(), self.entry().unwrap_or("main"))?;
        Arguments::of(function).inputs(&self.input, self.inputs.as_deref(), io)
    }

    /// Runs the program. Values and times are of different runs: the engine computes less if only
    /// times are of interest.
    fn observe(
        &self,
        module: &Module,
        io: &mut Io<'_>,
        deadline: &Deadline,
    ) -> Result<Observed, CommandFailure> {
        let values = |io: &mut Io<'_>| -> Result<LastValues, CommandFailure> {
            let program = self.prepare(module, Profiling::Off)?;
            let inputs = self.inputs(&program, io)?;
            let mut values = LastValues::default();
            deadline.restart();
            program.run_observed(inputs, &mut values)?;
            Ok(values)
        };
        let values = self.run.then(|| values(io)).transpose()?;
        let profile = |io: &mut Io<'_>| -> Result<Profile, CommandFailure> {
            let program = self.prepare(module, Profiling::Steps)?;
            let inputs = self.inputs(&program, io)?;
            deadline.restart();
            program.run(inputs)?;
            Ok(program.profile())
        };
        let profile = self.profile.then(|| profile(io)).transpose()?;
        deadline.restart();
        Ok((values, profile))
    }

    /// Runs the command within its limits.
    fn run(&self, io: &mut Io<'_>, deadline: &Deadline) -> Result<(), CommandFailure> {
        if let Some(other) = &self.other {
            check_files([&self.file, other])?;
        }
        let bytes = read_program(io, &self.file)?;
        let mut module = load_bytes(&self.file, bytes.clone(), io)?;
        select_platform(&mut module, &bytes, self.platform.as_deref())?;
        let (values, profile) = self.observe(&module, io, deadline)?;
        let shown = ViewOptions::default().entry(self.entry());
        let observed = shown.values(values.as_ref()).profile(profile.as_ref());
        let mut view = stablo::view(&module, &program_name(&self.file), observed)?;
        if let Some(file) = &self.other {
            let other = load(file, io)?;
            let diff = stablo::diff(&module, &other, &self.ignore);
            view = view.beside(stablo::view(&other, &program_name(file), shown)?, &diff);
        }
        let text = match self.format {
            PageFormat::Html => view.to_html(),
            PageFormat::Json => format!("{}\n", view.to_json()),
        };
        io.write(&self.o, text.as_bytes())
    }
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read or is not valid, or cannot run, or the output cannot be written.
pub(crate) fn run(options: &ViewArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    options.limits.enforce(io, |io, deadline| options.run(io, deadline))
}
