//! `stablo judge`: says of results of a backend if they are within the bounds of correct rounding.

use crate::array_files::{Arrays, Wanted};
use crate::device;
use crate::format::output_format;
use crate::inputs::Arguments;
use crate::io::{CommandFailure, Io};
use crate::limits::LimitFlags;
use crate::op_measurement::MeasureArgs;
use crate::recorded::RecordedRun;
use crate::report_folder::{self, JudgedRun, ReducedCase};
use crate::source::{load, program_name};
use crate::trials::trouble;
use stablo::arrays::npz;
use stablo::judging::{self, Enclosure, Judgement, Model, Verdict};
use stablo::{
    DType, Device, DeviceSpec, Engine, Host, Module, Program, RunOptions, RuntimeValue, Tensor,
    counted,
};
use std::io::Cursor;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo judge model.mlir --inputs inputs.npz --results outputs.npz
  stablo judge model.mlir --inputs in --results out --model xla-cpu --trace values
  stablo judge model.mlir --input 'x=[1, 2]' --results out.npy --model chip.toml --format sarif
  stablo judge model.mlir --inputs in --results out --trace values --report finding
  stablo judge model.mlir --inputs inputs.npz --bounds bounds.npz
  stablo judge model.mlir --inputs inputs.npz --device pjrt:plugin.so --model xla-cpu
  stablo judge test.mlir
  stablo judge --ops --device pjrt:plugin.so --measured ops.jsonl > plugin.toml

The results are those of another program. True values and bounds are proven, not measured. Exit code:
0 if all results are inside of the bounds, 1 if some are outside, 3 if it cannot be decided, 2 for
trouble.";

/// The exit code where it cannot be decided if results are right.
const UNDECIDED: i32 = 3;

/// Largest number of programs that are tested to find the smallest.
const MAX_TESTS: usize = 1000;

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JudgeArgs {
    /// The program, in any format; `-` is standard input
    #[arg(required_unless_present = "ops")]
    file: Option<PathBuf>,
    /// Measure each elementwise op of the device, or of our interpreter, and how it makes sums, in
    /// place of judging a program: print a model file of largest errors in units in the last place,
    /// or with `--format table` a table
    #[arg(long, conflicts_with_all = ["file", "results", "input", "inputs", "trace", "bounds",
        "report", "view"])]
    ops: bool,
    #[command(flatten)]
    measurement: MeasureArgs,
    /// The function that was run
    #[arg(long, value_name = "NAME", default_value = "main")]
    entry: String,
    /// An argument, in order or as NAME=VALUE, as for `stablo run`
    #[arg(long, value_name = "INPUT", allow_hyphen_values = true)]
    input: Vec<String>,
    /// Read the arguments that --input does not name from this .npz or safetensors file, or from
    /// input_0.npy, input_1.npy, … in this directory
    #[arg(long, value_name = "PATH")]
    inputs: Option<PathBuf>,
    /// The results to judge, in a directory, as output_0.npy, output_1.npy, …, or in this .npy,
    /// .npz or safetensors file; without results and device, the values that the program's own
    /// `check` ops expect are judged
    #[arg(long, value_name = "PATH")]
    results: Option<PathBuf>,
    /// Judge the results that a device of a PJRT plugin computes now: its shared library, with
    /// options of the plugin as in `pjrt:PLUGIN.so,name=value`
    #[arg(long, value_name = "DEVICE", value_parser = device::spec, conflicts_with = "results")]
    device: Option<DeviceSpec>,
    /// How the backend may round: a model that is built in, or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "ieee")]
    model: String,
    /// Find the ops to blame with the values of the run in this directory, as `stablo run --trace`
    /// saves them
    #[arg(long, value_name = "DIR", requires = "results")]
    trace: Option<PathBuf>,
    /// Write true values and bounds of all results to this .npz file
    #[arg(long, value_name = "FILE")]
    bounds: Option<PathBuf>,
    /// Where results are outside, write a smaller program that shows it to this file: of a device,
    /// the smallest found that still has some for random inputs, as `stablo reduce` does; of
    /// recorded values (--trace), the op to blame
    #[arg(long, value_name = "OUT")]
    reduce: Option<PathBuf>,
    /// Write all about the judgement to this directory: reports as text, JSON, JUnit, SARIF and a
    /// page for browsers, the program with its inputs and results, and in `reproducer` a smaller
    /// program that shows what is outside, as far as there is one
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Write a page for browsers to this file, as `stablo view` does, with the errors of ops and of
    /// elements as heat maps
    #[arg(long, value_name = "FILE")]
    view: Option<PathBuf>,
    /// Bounds that are wider than this, in units in the last place of the largest element, say
    /// nothing about results within; by default, bounds that are further apart than that is large
    #[arg(long, value_name = "ULPS", value_parser = width)]
    widest: Option<f64>,
    /// The most runs with random rounding where bounds are too wide; four suffice where all
    /// results are near them
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: usize,
    /// The most bits of true values: 48 is a quick run of types narrower than `f64`, 106 one that
    /// is proven without the interpreter's functions, and more are computed where these are needed
    #[arg(long, value_name = "N", default_value_t = 1000,
        value_parser = clap::value_parser!(u16).range(48..=1000))]
    bits: u16,
    #[command(flatten)]
    limits: LimitFlags,
    /// Output format
    #[arg(long, default_value = "human")]
    format: ReportFormat,
}

/// Parses a width in units in the last place.
fn width(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(width) if width >= 0.0 => Ok(width),
        _ => Err("this is not a number from 0 on".to_string()),
    }
}

/// How a judgement is printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    Human,
    Json,
    Junit,
    Sarif,
    Table,
}

/// Runs the command.
///
/// # Errors
/// If results are outside or cannot be decided, or something cannot be read.
pub(crate) fn run(options: &JudgeArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    if options.ops {
        return options.limits.enforce(io, |io, _| options.measure(io)).map_err(trouble);
    }
    if options.measurement.is_given() {
        let message = "--points, --op, --seconds and --measured are of measurements: give --ops";
        return Err(CommandFailure::usage(message.to_string()));
    }
    let verdict = options.limits.enforce(io, |io, _| options.run(io)).map_err(trouble)?;
    match verdict {
        Verdict::Inside => Ok(()),
        Verdict::Outside => Err(CommandFailure::reported()),
        Verdict::Undecided => Err(CommandFailure { code: UNDECIDED, ..CommandFailure::reported() }),
    }
}

impl JudgeArgs {
    fn run(&self, io: &mut Io<'_>) -> Result<Verdict, CommandFailure> {
        if self.reduce.is_some() && self.device.is_none() && self.trace.is_none() {
            let message = "a program is reduced with a device, or with values of a run: give --device or \
                 --trace";
            return Err(CommandFailure::usage(message.to_string()));
        }
        let model = self.model(io)?;
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        let module = load(file, io)?;
        let entry = self.entry.strip_prefix('@').unwrap_or(&self.entry);
        let run = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
        let program = Program::prepare(module, entry, run)?;
        let function = stablo::entry_function(program.module(), entry)?;
        let arguments = Arguments::of(function);
        let inputs = arguments.inputs(&self.input, self.inputs.as_deref(), io)?;
        let own = self.limits.of_run();
        let end = own.time.and_then(|time| Host::current().now()?.checked_add(time));
        let limits = judging::Limits { steps: own.steps, end, ..judging::Limits::default() };
        let options = judging::Options::default()
            .model(model)
            .limits(limits)
            .widest(self.widest)
            .samples(self.samples)
            .bits(self.bits.into());
        if let Some(path) = &self.bounds {
            let enclosure = stablo::enclose(&program, inputs.clone(), &options)?;
            save(&enclosure, path, io)?;
            if self.results.is_none() && self.device.is_none() {
                return self.describe(&enclosure, io);
            }
        }
        let name = program_name(file);
        if self.results.is_none() && self.device.is_none() {
            if self.report.is_some() || self.view.is_some() {
                let message = "a report and a page are of results: give --results or --device";
                return Err(CommandFailure::usage(message.to_string()));
            }
            let judgement = stablo::judge_expectations(&program, inputs, &options)?;
            if judgement.outputs.is_empty() {
                let message = "there are neither results to judge nor values that check ops expect";
                return Err(CommandFailure::usage(message.to_string()));
            }
            self.print(&judgement, &name, io)?;
            return Ok(Judgement::verdict(&judgement));
        }
        let names = stablo::result_names(function);
        let (program, found) = match &self.device {
            Some(spec) => {
                let _guard = device::guard(spec, io);
                on_device(&device::open(spec, io)?, program.module(), entry, &inputs)?
            }
            None => {
                let found = self.found(&program, &inputs, &names, io)?;
                (program, found)
            }
        };
        let mut recorded = match &self.trace {
            Some(directory) => Some(RecordedRun::open(directory, program.module(), io)?),
            None => None,
        };
        let record = recorded.as_mut().map(|recorded| recorded as &mut dyn judging::Record);
        let judgement = stablo::judge(&program, inputs.clone(), &found, record, &options)?;
        let is_outside = judgement.verdict() == Verdict::Outside;
        let mut reproducer = None;
        if is_outside && self.device.is_some() && (self.reduce.is_some() || self.report.is_some()) {
            reproducer = self.smallest(program.module(), &options, io)?;
        } else if let Some(recorded) = recorded.as_mut().filter(|_| is_outside) {
            reproducer = report_folder::isolated(&program, entry, &inputs, &judgement, recorded);
        }
        if let (Some(path), Some(case)) = (&self.reduce, &reproducer) {
            io.write(path, &output_format(path, None)?.write(&case.module, true)?)?;
        }
        let judged = JudgedRun {
            name: &name,
            program: &program,
            inputs: &inputs,
            results: &found,
            judgement: &judgement,
        };
        if let Some(directory) = &self.report {
            judged.write(directory, reproducer.as_ref(), &options, io)?;
        }
        if let Some(path) = &self.view {
            io.write(path, judged.page()?.as_bytes())?;
        }
        self.print(&judgement, &name, io)?;
        Ok(Judgement::verdict(&judgement))
    }

    /// Prints a judgement of the program `name`.
    fn print(
        &self,
        judgement: &Judgement,
        name: &str,
        io: &mut Io<'_>,
    ) -> Result<(), CommandFailure> {
        io.print(match self.format {
            ReportFormat::Human | ReportFormat::Table => judgement.to_text(),
            ReportFormat::Json => judgement.to_json() + "\n",
            ReportFormat::Junit => judgement.to_junit(name),
            ReportFormat::Sarif => judgement.to_sarif(name) + "\n",
        })
    }

    /// The smallest program found whose results on the device are outside, with random inputs.
    fn smallest(
        &self,
        module: &Module,
        options: &judging::Options,
        io: &mut Io<'_>,
    ) -> Result<Option<ReducedCase>, CommandFailure> {
        let Some(spec) = &self.device else { return Ok(None) };
        let _guard = device::guard(spec, io);
        let device = device::open(spec, io)?;
        let options = options.clone().samples(0).licences(false);
        let case = |module: &Module, seed: u32| -> stablo::Result<(ReducedCase, Verdict)> {
            let program = Program::prepare(module.clone(), "main", RunOptions::default())?;
            let inputs = stablo::random_inputs(program.signature().0, seed)?;
            let (program, results) = on_device(&device, module, "main", &inputs)?;
            let judgement = stablo::judge(&program, inputs.clone(), &results, None, &options)?;
            Ok((ReducedCase { module: module.clone(), inputs, results }, judgement.verdict()))
        };
        // A program that the device does not run shows nothing.
        let test = |module: &Module, seed| {
            case(module, seed).is_ok_and(|(_, verdict)| verdict == Verdict::Outside)
        };
        let Some(seed) = (0..4).find(|&seed| test(module, seed)) else {
            io.report("results for random inputs are not outside: the program is not reduced\n");
            return Ok(None);
        };
        let mut test = |module: &Module| Ok::<bool, CommandFailure>(test(module, seed));
        let reduced = stablo::reduce(module.clone(), MAX_TESTS, &mut test)?;
        let count = counted(stablo::walk(&reduced.module).count() as u64, "op");
        io.report(format!("reduced to {count} for random inputs of the seed {seed}\n"));
        Ok(Some(case(&reduced.module, seed)?.0))
    }

    /// Measures elementwise ops and sums.
    fn measure(&self, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        let measured = self.measurement.measure(self.device.as_ref(), io)?;
        let name = if self.device.is_some() { "device" } else { "stablo" };
        io.print(match self.format {
            ReportFormat::Table => measured.to_table(),
            ReportFormat::Json => measured.to_lines(),
            ReportFormat::Human | ReportFormat::Junit | ReportFormat::Sarif => {
                measured.to_model(name)
            }
        })
    }

    /// The model of a name, or in a file.
    fn model(&self, io: &mut Io<'_>) -> Result<Model, CommandFailure> {
        if let Some(model) = Model::built_in(&self.model) {
            return Ok(model);
        }
        if !self.model.ends_with(".toml") {
            let names: Vec<&str> = Model::names().collect();
            return Err(CommandFailure::usage(format!(
                "there is no model `{}`; there are {}, and files that end in .toml",
                self.model,
                names.join(", ")
            )));
        }
        let path = Path::new(&self.model);
        let bytes = io.read(path)?;
        let text = crate::source::text(&bytes, path)?;
        Model::parse(text)
            .map_err(|error| CommandFailure::input(format!("cannot read {}: {error}", self.model)))
    }

    /// The results to judge.
    fn found(
        &self,
        program: &Program,
        inputs: &[RuntimeValue],
        names: &[Option<String>],
        io: &mut Io<'_>,
    ) -> Result<Vec<Tensor>, CommandFailure> {
        let path = self.results.as_deref().unwrap_or(Path::new(""));
        let mut arrays = Arrays::open(path, io)?;
        let mut found = Vec::new();
        // Element types of tuples and dynamic types are those that a run has.
        let plain: Option<Vec<DType>> =
            program.signature().1.iter().map(stablo::storage_dtype).collect();
        let dtypes: Vec<(String, DType)> = match plain {
            Some(dtypes) => {
                dtypes.into_iter().enumerate().map(|(i, dtype)| (i.to_string(), dtype)).collect()
            }
            None => {
                let mut leaves = Vec::new();
                for (index, value) in program.run(inputs.to_vec())?.iter().enumerate() {
                    dtypes_of(value, index.to_string(), &mut leaves);
                }
                leaves
            }
        };
        for (number, dtype) in dtypes {
            let name = number.parse::<usize>().ok().and_then(|i| names.get(i)?.as_deref());
            let wanted = Wanted { stem: "output", number: &number, name };
            let tensor = arrays.find(&wanted, dtype, io);
            found.push(tensor.map_err(|why| {
                CommandFailure::input(format!("output {number} in {}: {why}", path.display()))
            })?);
        }
        Ok(found)
    }

    /// Says how wide bounds are.
    fn describe(&self, enclosure: &Enclosure, io: &mut Io<'_>) -> Result<Verdict, CommandFailure> {
        let mut verdict = Verdict::Inside;
        for (index, array) in enclosure.results.iter().enumerate() {
            let doubts = match &array.doubts {
                Some(doubts) => {
                    verdict = Verdict::Undecided;
                    let doubts = doubts.as_slice::<u32>().map_err(CommandFailure::input)?;
                    doubts.iter().filter(|&&doubt| doubt != 0).count()
                }
                None => 0,
            };
            let (total, dtype) = (array.len(), array.dtype);
            io.print(format!("output {index}: {total} elements of {dtype}, {doubts} in doubt\n"))?;
        }
        for doubt in &enclosure.doubts {
            let place = doubt.location.source.as_deref().unwrap_or("");
            io.print(format!("{place}: {}: {}\n", doubt.description, doubt.text))?;
        }
        Ok(verdict)
    }
}

/// The program as a device gets it, with expansions in place of some ops, and the results that it
/// computes. Composites are their decompositions.
fn on_device(
    device: &Device,
    module: &Module,
    entry: &str,
    inputs: &[RuntimeValue],
) -> stablo::Result<(Program, Vec<Tensor>)> {
    let mut lowered = device.lower(module, entry, Some(inputs))?;
    stablo::run_pipeline(&mut lowered, "stablehlo-legalize-composite-to-call")?;
    let results = device.compile(&lowered, "main")?.run(inputs)?;
    let run = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
    let program = Program::prepare(lowered, "main", run)?;
    let tensors = results.into_iter().filter_map(|value| value.into_tensor().ok());
    Ok((program, tensors.collect()))
}

/// Appends the element types of the tensors of a value.
fn dtypes_of(value: &RuntimeValue, number: String, all: &mut Vec<(String, DType)>) {
    match value {
        RuntimeValue::Tensor(tensor) => all.push((number, tensor.dtype())),
        RuntimeValue::Token => {}
        RuntimeValue::Tuple(values) => {
            for (i, value) in values.iter().enumerate() {
                dtypes_of(value, format!("{number}_{i}"), all);
            }
        }
    }
}

/// A part of a number.
type Part = fn(&judging::Number) -> f64;

/// Writes true values and bounds.
fn save(enclosure: &Enclosure, path: &Path, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let mut arrays: Vec<(String, Tensor)> = Vec::new();
    for (index, array) in enclosure.results.iter().enumerate() {
        let numbers = array.numbers().map_err(CommandFailure::input)?;
        let mut shape = array.shape.clone();
        if array.width() == 2 {
            shape.push(2);
        }
        let columns: [(&str, Part); 5] = [
            ("low", |n| n.bounds.low),
            ("high", |n| n.bounds.high),
            ("truth", |n| n.truth.hi),
            ("rest", |n| n.truth.lo),
            ("error", |n| n.truth.radius),
        ];
        for (name, value) in columns {
            let values = numbers.iter().map(value).collect();
            let tensor = Tensor::from_vec(&shape, values).map_err(CommandFailure::input)?;
            arrays.push((format!("output_{index}_{name}"), tensor));
        }
        let nan = numbers.iter().map(|n| u8::from(n.bounds.nan)).collect();
        let nan = Tensor::from_vec(&shape, nan).map_err(CommandFailure::input)?;
        arrays.push((format!("output_{index}_nan"), nan));
        let doubts = match &array.doubts {
            Some(doubts) => doubts.clone(),
            None => Tensor::zeros(DType::U32, &array.shape).map_err(CommandFailure::input)?,
        };
        arrays.push((format!("output_{index}_doubt"), doubts));
    }
    let mut file = Cursor::new(Vec::new());
    npz::write(arrays.iter().map(|(name, tensor)| (&**name, tensor)), false, &mut file).map_err(
        |error| CommandFailure::input(format!("cannot write {}: {error}", path.display())),
    )?;
    io.write(path, file.get_ref())
}
