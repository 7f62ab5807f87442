//! `stablo run`: runs a function of a program and prints or saves its results.

use super::machine::check_model;
use crate::args::at_least_one;
use crate::device;
use crate::display::display;
use crate::folders::with_weights;
use crate::inputs::Arguments;
use crate::io::{CommandFailure, Io};
use crate::limits::{Deadline, LimitFlags};
use crate::probes::Probes;
use crate::profile;
use crate::results::{ResultFlags, RunResults, folder};
use crate::source::{program_name, read_program, report, select_platform};
use crate::timings::{Timings, timed};
use crate::trace::ValueTrace;
use crate::watch::Watcher;
use stablo::dialects::func::FuncOp;
use stablo::{
    Conventions, DeviceSpec, Engine, Grid, LoadOptions, MAX_PROCESSES, Module, Profiling, Program,
    RunOptions, RuntimeValue,
};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  stablo run model.mlir --input random --input 'x=[[1, 2], [3, 4]]'
  stablo run model.mlir --inputs weights.safetensors --input tokens=zeros:1x16
  stablo run model.mlir --inputs in.npz --expect out.npz --rtol 1e-4
  stablo run model.mlir --inputs in.npz --outputs out.npz --trace values";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// The program, as MLIR text or bytecode, or a folder that torch_xla (with its weights) or
    /// TensorFlow saved; `-` is standard input
    file: PathBuf,
    /// The function to run
    #[arg(long, value_name = "NAME", default_value = "main")]
    entry: String,
    /// An argument, in order or as NAME=VALUE: a number, a list such as `[[1, 2], [3, 4]]`,
    /// `zeros`, `ones`, `iota` (0, 1, 2, … in row-major order) or `random` (a fixed sequence:
    /// floats from [0, 1), small integers), with sizes as in `zeros:2x3` where the type has none, a
    /// .npy file, FILE:NAME of a .npz or safetensors file, or `dense<…>`
    #[arg(long, value_name = "INPUT", allow_hyphen_values = true)]
    input: Vec<String>,
    /// Read the arguments that --input does not name from this .npz or safetensors file, by their
    /// names or as input_0, input_1, …, or from input_0.npy, input_1.npy, … in this directory;
    /// those of each process from its subdirectory process_R_P, if that exists
    #[arg(long, value_name = "PATH", visible_alias = "input-dir")]
    inputs: Option<PathBuf>,
    #[command(flatten)]
    results: ResultFlags,
    /// Number of replicas to run as separate processes, each with its own inputs and outputs
    #[arg(long, value_name = "R", value_parser = at_least_one::<u32>)]
    replicas: Option<u32>,
    /// Number of partitions of each replica to run as separate processes, each with its own inputs
    /// and outputs
    #[arg(long, value_name = "P", value_parser = at_least_one::<u32>)]
    partitions: Option<u32>,
    /// The platform, for a program that was exported for several; otherwise `cpu`
    #[arg(long, value_name = "NAME")]
    platform: Option<String>,
    /// Run on a device of a PJRT plugin, such as XLA's for CPUs, GPUs and TPUs: its shared library,
    /// with options of the plugin as in `pjrt:PLUGIN.so,name=value`
    #[arg(
        long,
        value_name = "DEVICE",
        value_parser = device::spec,
        conflicts_with_all = ["replicas", "partitions", "engine", "like", "threads", "explain_plan",
            "dump_plan_after", "max_steps", "trace", "probe_output_dir", "profile"]
    )]
    device: Option<DeviceSpec>,
    /// The engine that runs the program
    #[arg(long, value_name = "NAME", default_value = Engine::default().name(), value_parser = engines())]
    engine: String,
    /// Compute what a compiler computes where it is known to differ from the specification: `xla`
    /// leaves padding out of `reduce_window`, skips scattered windows that are partly outside, and
    /// takes subnormal numbers of arithmetic as zeros
    #[arg(long, value_name = "COMPILER")]
    like: Option<Compiler>,
    /// Number of threads that the engine `fast` uses; by default one for each core
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    threads: Option<usize>,
    /// Print the steps that runs take, fused loops and views included, in place of running; of a
    /// program with dynamic shapes, for those of the inputs, if there are some
    #[arg(long)]
    explain_plan: bool,
    /// Print what a pass over the plan leaves instead of running: a graph of values and operations,
    /// from `schedule` on a plan
    #[arg(long, value_name = "PASS", value_parser = plan_passes(), conflicts_with = "explain_plan")]
    dump_plan_after: Option<String>,
    /// Compare results with bounds that are derived from the program and its inputs, instead of
    /// the expected values and tolerances of its `check` ops; a model of rounding, as for `stablo
    /// judge`
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["device", "replicas", "partitions"])]
    within: Option<String>,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one::<u32>)]
    repeat: u32,
    #[command(flatten)]
    limits: LimitFlags,
    /// Save every value in this directory, with an index.jsonl of their ops and locations
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
    /// Save only values whose name, op or location matches this regular expression
    #[arg(long, value_name = "REGEX", requires = "trace")]
    trace_match: Option<String>,
    /// Save the values of `interpreter.probe` ops in this directory, with an index.csv
    #[arg(long, value_name = "DIR")]
    probe_output_dir: Option<PathBuf>,
    /// Print a table of the steps of all runs to standard error: their time, bytes and arithmetic;
    /// or write each execution of a step to this file, whose name ends in .json, for
    /// ui.perfetto.dev and chrome://tracing
    #[arg(
        long,
        value_name = "FILE",
        value_parser = profile::trace_file,
        conflicts_with_all = ["trace", "explain_plan"]
    )]
    profile: Option<Option<PathBuf>>,
    /// Write the duration of each phase to this file, as JSON in milliseconds; `-` is standard
    /// output
    #[arg(long, value_name = "FILE")]
    timings: Option<PathBuf>,
}

/// A compiler whose conventions are known.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Compiler {
    /// XLA on CPUs
    Xla,
}

fn engines() -> clap::builder::PossibleValuesParser {
    Engine::ALL
        .iter()
        .map(|e| clap::builder::PossibleValue::new(e.name()).help(e.description()))
        .collect::<Vec<_>>()
        .into()
}

fn plan_passes() -> clap::builder::PossibleValuesParser {
    stablo::plan_passes()
        .map(|(name, about)| clap::builder::PossibleValue::new(name).help(about))
        .collect::<Vec<_>>()
        .into()
}

/// Runs the command.
///
/// # Errors
/// If the program or an input cannot be read or is not valid, the run fails, or the results cannot
/// be written.
pub(crate) fn run(options: &RunArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    options.limits.enforce(io, |io, deadline| options.run(io, deadline))
}

impl RunArgs {
    /// Runs the command within its limits.
    fn run(&self, io: &mut Io<'_>, deadline: &Deadline) -> Result<(), CommandFailure> {
        self.results.check(io)?;
        self.check_outputs(io)?;
        check_model()?;
        let mut timings = Timings::default();
        let bytes = read_program(io, &self.file)?;
        let name = program_name(&self.file);
        let load = LoadOptions::default().verify(false);
        let (loaded, parse) = timed(|| load.load(&name, bytes.clone()));
        timings.parse = parse;
        let mut module = loaded.module;
        report(loaded.diagnostics, &module, io)?;
        let (verified, verify) = timed(|| stablo::verify(&module));
        timings.verify = verify;
        verified?;
        select_platform(&mut module, &bytes, self.platform.as_deref())?;
        if let Some(model) = &self.within
            && stablo::judging::check_within(&mut module, model)? == 0
        {
            let message = "the program has no `check` ops that compare floating-point numbers";
            return Err(CommandFailure::input(message));
        }
        let module = Arc::new(module);

        let name = self.entry.strip_prefix('@').unwrap_or(&self.entry);
        let function = stablo::entry_function(&module, name)?;
        if let Some(device) = &self.device {
            let results = self.run_on_device(device, &module, function, &mut timings, deadline, io);
            RunResults::new(function, None, vec![results?]).output(&self.results, io)?;
            return self.write_timings(&timings, io);
        }
        let run = self.run_options()?;
        let (prepared, prepare) = timed(|| Program::prepare(module.clone(), name, run));
        timings.compile = prepare;
        let program = prepared?;
        let grid = self.grid();
        if self.inputs.is_none() && self.input.is_empty() {
            if self.explain_plan {
                return io.write(Path::new("-"), program.explain_plan().as_bytes());
            }
            if let Some(pass) = &self.dump_plan_after {
                let text = program.plan_after(pass, None)?;
                return io.write(Path::new("-"), text.as_bytes());
            }
        }
        let inputs = self.inputs(function, grid, io)?;
        // That of the files that they were read from.
        self.limits.return_free_memory(io);
        if self.explain_plan {
            let first = inputs.first().map_or(&[][..], Vec::as_slice);
            let plan = program.explain_plan_for(first)?;
            return io.write(Path::new("-"), plan.as_bytes());
        }
        if let Some(pass) = &self.dump_plan_after {
            let first = inputs.first().map_or(&[][..], Vec::as_slice);
            let text = program.plan_after(pass, Some(first))?;
            return io.write(Path::new("-"), text.as_bytes());
        }
        let mut outcome = Ok(Vec::new());
        for _ in 0..self.repeat {
            deadline.restart();
            let execute;
            // The results of the run before leave their memory to this one.
            outcome.iter_mut().for_each(Vec::clear);
            (outcome, execute) = timed(|| self.execute(&program, grid, inputs.clone(), io));
            timings.execute.push(execute);
            if outcome.is_err() {
                break;
            }
        }
        deadline.restart();
        // That of a run that fails, too; its error comes first.
        let profiled = self.write_profile(&program, io);
        let results = outcome?;
        profiled?;
        RunResults::new(function, grid, results).output(&self.results, io)?;
        self.write_timings(&timings, io)
    }

    /// Runs on a device: its compiler makes the program ready, once for all runs.
    fn run_on_device(
        &self,
        device: &DeviceSpec,
        module: &Module,
        function: FuncOp<'_>,
        timings: &mut Timings,
        deadline: &Deadline,
        io: &mut Io<'_>,
    ) -> Result<Vec<RuntimeValue>, CommandFailure> {
        let inputs = self.inputs(function, None, io)?.pop().unwrap_or_default();
        let entry = function.symbol_name().unwrap_or_default();
        let _guard = device::guard(device, io);
        let device = device::open(device, io)?;
        let (program, compile) = timed(|| device.compile_for(module, entry, Some(&inputs)));
        timings.compile = compile;
        let program = program?;
        let mut results = Vec::new();
        for _ in 0..self.repeat {
            deadline.restart();
            let (outcome, execute) = timed(|| program.run(&inputs));
            timings.execute.push(execute);
            results = outcome?;
        }
        deadline.restart();
        Ok(results)
    }

    fn write_timings(&self, timings: &Timings, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        match &self.timings {
            Some(file) => io.write(file, timings.to_json().as_bytes()),
            None => Ok(()),
        }
    }

    /// The grid of separate processes, if requested.
    fn grid(&self) -> Option<Grid> {
        let count = |n: Option<u32>| n.map_or(1, |n| n as usize);
        let asked = self.replicas.is_some() || self.partitions.is_some();
        asked.then(|| Grid { replicas: count(self.replicas), partitions: count(self.partitions) })
    }

    /// Fails if the directory of a file that is written after the runs does not exist.
    fn check_outputs(&self, io: &Io<'_>) -> Result<(), CommandFailure> {
        let trace = self.profile.iter().flatten();
        if let (Some(timings), Some(trace)) = (&self.timings, trace.clone().next())
            && let [Ok(timings), Ok(trace)] =
                [timings, trace].map(|file| std::path::absolute(io.path(file)))
            && timings == trace
        {
            return Err(CommandFailure::usage("--timings and --profile name the same file"));
        }
        let outputs = self.timings.iter().chain(trace);
        for file in outputs.filter(|file| *file != Path::new("-")) {
            let path = io.path(file);
            if path.is_dir() {
                return Err(CommandFailure::input(format!(
                    "cannot write {}: it is a directory",
                    file.display()
                )));
            }
            let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
            if directory.is_some_and(|directory| !directory.is_dir()) {
                return Err(CommandFailure::input(format!(
                    "cannot write {}: there is no such directory",
                    file.display()
                )));
            }
        }
        Ok(())
    }

    /// How the program is run.
    fn run_options(&self) -> Result<RunOptions, CommandFailure> {
        // The command line allows only engines that exist.
        let engine = Engine::from_name(&self.engine)
            .ok_or_else(|| CommandFailure::usage("unknown engine"))?;
        let limits = self.limits.of_run();
        let conventions = match self.like {
            Some(Compiler::Xla) => Conventions::Xla,
            None => Conventions::Specification,
        };
        let profiling = match &self.profile {
            None => Profiling::Off,
            Some(None) => Profiling::Steps,
            Some(Some(_)) => Profiling::Executions(profile::MAX_EXECUTIONS),
        };
        let threads = self.threads.and_then(NonZeroUsize::new);
        let options =
            RunOptions { engine, threads, profiling, limits, conventions, ..Default::default() };
        Ok(options)
    }

    /// Prints or writes the profile of the runs, if it is asked for.
    fn write_profile(&self, program: &Program, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        match &self.profile {
            None => {}
            Some(None) => io.report(profile::table(&program.profile(), program.roofline())),
            Some(Some(file)) => {
                let profile = program.profile();
                io.write_file(file, |out| profile.write_trace(out))?;
                if profile.lost > 0 {
                    io.report(format_args!(
                        "note: {} has the first {} executions of steps, but not the {} after them; \
                         `--profile` prints a table of all\n",
                        file.display(),
                        profile::MAX_EXECUTIONS,
                        profile.lost,
                    ));
                }
            }
        }
        Ok(())
    }

    /// The inputs of each process; of the single one, if there is no grid.
    fn inputs(
        &self,
        function: FuncOp<'_>,
        grid: Option<Grid>,
        io: &mut Io<'_>,
    ) -> Result<Vec<Vec<RuntimeValue>>, CommandFailure> {
        let arguments = Arguments::of(function);
        let weights = with_weights(&self.file, &self.input, io)?;
        let given = weights.as_ref().unwrap_or(&self.input);
        let (Some(path), Some(grid)) = (&self.inputs, grid) else {
            let inputs = arguments.inputs(given, self.inputs.as_deref(), io)?;
            return Ok(vec![inputs; size(grid)?]);
        };
        let mut all = Vec::new();
        for process in (0..size(Some(grid))?).filter_map(|number| grid.process(number)) {
            let own = path.join(folder(process));
            let path = if io.path(&own).is_dir() { &own } else { path };
            all.push(arguments.inputs(given, Some(path), io)?);
        }
        Ok(all)
    }

    /// Runs once. The program's output goes to standard output as it comes.
    fn execute(
        &self,
        program: &Program,
        grid: Option<Grid>,
        mut inputs: Vec<Vec<RuntimeValue>>,
        io: &mut Io<'_>,
    ) -> Result<Vec<Vec<RuntimeValue>>, CommandFailure> {
        let mut probes =
            self.probe_output_dir.clone().map(|directory| Probes::new(directory, io.cwd.clone()));
        let pattern = self.trace_match.as_deref();
        let module = program.module();
        let trace = |directory: &PathBuf| ValueTrace::new(module, io.path(directory), pattern);
        let mut trace =
            self.trace.as_ref().map(trace).transpose().map_err(CommandFailure::input)?;
        let mut watcher = Watcher::new(module.top(), io.stdout, display);
        watcher.outfeed = true;
        watcher.probes = probes.as_mut();
        watcher.trace = trace.as_mut();
        if io.terminal {
            watcher.show_progress();
        }
        let results = match grid {
            Some(grid) => program.run_grid(grid, inputs, &mut watcher),
            None => program
                .run_observed(inputs.pop().unwrap_or_default(), &mut watcher)
                .map(|results| vec![results]),
        };
        drop(watcher);
        probes.map_or(Ok(()), |probes| probes.finish()).map_err(CommandFailure::input)?;
        trace.map_or(Ok(()), |trace| trace.finish()).map_err(CommandFailure::input)?;
        Ok(results?)
    }
}

/// Number of processes.
fn size(grid: Option<Grid>) -> Result<usize, CommandFailure> {
    let size = grid.map_or(Some(1), Grid::size).filter(|&size| size <= MAX_PROCESSES);
    size.ok_or_else(|| CommandFailure::usage(format!("at most {MAX_PROCESSES} processes can run")))
}
