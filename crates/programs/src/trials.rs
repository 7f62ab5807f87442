//! Runs of two programs on the same inputs.

use crate::args::at_least_one;
use crate::device;
use crate::inputs::Arguments;
use crate::io::{CommandFailure, Io, USAGE};
use crate::results::tolerance;
use crate::source::load;
use stablo::{DType, DeviceSpec, Limits, Program, RunOptions, RuntimeValue, Tolerance};
use std::path::{Path, PathBuf};

/// Flags on inputs and tolerances.
#[derive(clap::Args)]
pub(crate) struct TrialFlags {
    /// The function to run
    #[arg(long, value_name = "NAME", default_value = "main")]
    entry: String,
    /// An argument, in order or as NAME=VALUE, as for `stablo run`; by default all are random
    #[arg(long, value_name = "INPUT", allow_hyphen_values = true)]
    input: Vec<String>,
    /// Read the arguments that --input does not name from this .npz or safetensors file, or from
    /// input_0.npy, input_1.npy, … in this directory
    #[arg(long, value_name = "PATH")]
    inputs: Option<PathBuf>,
    /// Seed of the first random inputs: floats from [0, 1) for 0, from [-2, 2) for others, small
    /// integers
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with_all = ["input", "inputs"])]
    seed: u32,
    /// Number of seeds to try
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with_all = ["input", "inputs"],
        value_parser = at_least_one::<u32>)]
    tries: u32,
    /// Allowed distance in units in the last place
    #[arg(long, value_name = "N", default_value_t = 0)]
    ulps: u64,
    /// Allowed distance
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = tolerance)]
    atol: f64,
    /// Allowed distance in proportion to the number of the first program
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = tolerance)]
    rtol: f64,
    /// Run the second program, or the only one, on a device, as for `stablo run`; the allowed
    /// distance is then by default that of `stablo run --expect`
    #[arg(long, value_name = "DEVICE", value_parser = device::spec)]
    pub device: Option<DeviceSpec>,
    /// Fail if a run executes more ops than this, counting repetitions in loops and functions
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
}

/// Inputs, and what they are for messages.
pub(crate) struct Trial {
    /// Such as `seed 0`.
    pub name: String,
    /// The seed, if they are random.
    pub seed: Option<u32>,
    /// One for each argument.
    pub inputs: Vec<RuntimeValue>,
}

impl TrialFlags {
    /// How far results may be from each other.
    pub(crate) fn tolerance(&self, dtype: DType) -> Tolerance {
        let given = Tolerance { absolute: self.atol, relative: self.rtol, ulps: self.ulps };
        // Other compilers have other orders of sums, and other functions.
        if self.device.is_some() && given == Tolerance::EXACT {
            return Tolerance::of(dtype);
        }
        given
    }

    /// The name of the function to run.
    pub(crate) fn entry(&self) -> &str {
        self.entry.strip_prefix('@').unwrap_or(&self.entry)
    }

    /// Reads and prepares both programs.
    ///
    /// # Errors
    /// If one cannot be read or is not valid, or they have other arguments or results.
    pub(crate) fn programs(
        &self,
        files: [&Path; 2],
        io: &mut Io<'_>,
    ) -> Result<[Program; 2], CommandFailure> {
        let programs = [self.program(files[0], io)?, self.program(files[1], io)?];
        stablo::same_signature(&programs[0], &programs[1])?;
        Ok(programs)
    }

    /// Reads and prepares a program.
    ///
    /// # Errors
    /// If it cannot be read or is not valid.
    pub(crate) fn program(&self, file: &Path, io: &mut Io<'_>) -> Result<Program, CommandFailure> {
        let module = load(file, io)?;
        let limits = Limits { steps: self.max_steps, ..Limits::default() };
        let options = RunOptions { limits, ..RunOptions::default() };
        Ok(Program::prepare(module, self.entry(), options)?)
    }

    /// The inputs to run the programs on, one after the other; random ones are made when it is
    /// their turn.
    ///
    /// # Errors
    /// If inputs cannot be read or do not fit.
    pub(crate) fn trials(
        &self,
        program: &Program,
        io: &mut Io<'_>,
    ) -> Result<Trials, CommandFailure> {
        if self.input.is_empty() && self.inputs.is_none() {
            return Ok(Trials::Random(self.seed, self.tries));
        }
        let function = stablo::entry_function(program.module(), self.entry())?;
        let arguments = Arguments::of(function);
        let inputs = arguments.inputs(&self.input, self.inputs.as_deref(), io)?;
        Ok(Trials::Given(Some(inputs)))
    }
}

/// The inputs of all trials.
pub(crate) enum Trials {
    /// The inputs of the user, until they are taken.
    Given(Option<Vec<RuntimeValue>>),
    /// The next seed and how many are left.
    Random(u32, u32),
}

impl Trials {
    /// The next trial.
    ///
    /// # Errors
    /// If there can be no random values of an argument.
    pub(crate) fn next(&mut self, program: &Program) -> Result<Option<Trial>, CommandFailure> {
        match self {
            Trials::Given(inputs) => Ok(inputs.take().map(|inputs| Trial {
                name: "the inputs".into(),
                seed: None,
                inputs,
            })),
            Trials::Random(_, 0) => Ok(None),
            Trials::Random(seed, left) => {
                let own = *seed;
                (*seed, *left) = (seed.wrapping_add(1), *left - 1);
                let inputs = stablo::random_inputs(program.signature().0, own)?;
                Ok(Some(Trial { name: format!("seed {own}"), seed: Some(own), inputs }))
            }
        }
    }
}

/// Refuses to read standard input twice.
///
/// # Errors
/// If more than one file is standard input.
pub(crate) fn check_files<'f>(
    files: impl IntoIterator<Item = &'f PathBuf>,
) -> Result<(), CommandFailure> {
    match files.into_iter().filter(|file| *file == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(CommandFailure::usage("only one of the programs can be standard input")),
    }
}

/// The exit code of trouble, for programs whose exit code 1 says that they found a difference.
pub(crate) fn trouble(failure: CommandFailure) -> CommandFailure {
    CommandFailure { code: USAGE, ..failure }
}
