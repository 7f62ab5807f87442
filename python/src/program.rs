//! Programs: reading, changing, writing and running them.

use crate::arrays::{Array, Inputs, Outputs, result, tensor};
use crate::attributes::value_of;
use crate::errors::{json, message, raised};
use crate::profile::Profile;
use crate::settings::{Given, Settings};
use crate::stack::on_large_stack;
use programs::profile::MAX_EXECUTIONS;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyTuple};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use stablo::dialects::func::FuncOp;
use stablo::ir::{DYNAMIC, OpId, OpRef, ValueDef};
use stablo::{
    ArgumentNames, BytecodeOptions, Bytes, DType, Doubt, Exported, Host, LastValues, LoadOptions,
    Module, Observer, PrintOptions, ProcessId, Profiling, Progress, RefineOptions, RunOptions,
    RuntimeValue, SerializeOptions, Tensor, Type, Unobserved, ViewOptions, Work, is_bytecode,
};

/// An argument or a result: its name, its type as text, and the element type and the sizes of a
/// tensor, where the size of a dynamic dimension is `None`.
pub type Value = (Option<String>, String, Option<&'static str>, Option<Vec<Option<i64>>>);

/// How often a run looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// A program. It does not change; what transforms it returns another one.
#[pyclass(frozen, module = "stablo")]
pub struct Program {
    module: Arc<Module>,
    /// False if it was read without verifying it.
    is_verified: bool,
    /// How it is run.
    settings: Settings,
    /// Ready to run, as soon as it has run once.
    prepared: OnceLock<Prepared>,
}

/// A program that is ready to run.
pub struct Prepared {
    /// The program that runs.
    pub program: stablo::Program,
    settings: Settings,
    /// True if runs are so short and shallow that the thread of the caller takes them, without
    /// looking for signals: two threads cost more than they do.
    is_small: bool,
}

/// Largest work of a small program, in operations and bytes.
const SMALL_WORK: u64 = 1 << 21;

/// Largest number of ops that a run of a small program executes.
const SMALL_RUNS: u64 = 1 << 12;

/// Largest nesting of blocks of a small program: each level takes a few kilobytes of the stack.
const SMALL_DEPTH: usize = 16;

/// True if runs of a function are short and shallow, for all that its types tell.
fn is_small(module: &Module, entry: &str) -> bool {
    let Ok(cost) = stablo::cost(module, entry) else { return false };
    let is_exact = cost.doubts.iter().all(|(doubt, _)| *doubt == Doubt::Branch);
    let runs = cost.ops.iter().map(|op| op.runs).fold(0, u64::saturating_add);
    let Work { flops, transcendentals, bytes } = cost.total;
    let work = flops.saturating_add(transcendentals.saturating_mul(16)).saturating_add(bytes);
    let depth = |op: OpRef<'_>| std::iter::successors(op.parent(), |op| op.parent()).count();
    let nesting = stablo::walk(module).map(depth).max().unwrap_or(0);
    let functions = stablo::walk(module).filter(|op| op.symbol_name().is_some()).count();
    is_exact
        && work <= SMALL_WORK
        && runs <= SMALL_RUNS
        && nesting.saturating_mul(functions) <= SMALL_DEPTH
}

/// Reads and verifies a program in any format: `name` stands for it in errors. Constants stay in
/// `data`. One that was exported for several `platforms`, which `jax.export` writes, too, becomes
/// one for `platform`.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    data: PyBackedBytes,
    name: &str,
    verify: bool,
    platform: Option<&str>,
    platforms: Option<Vec<String>>,
) -> PyResult<Program> {
    let options = LoadOptions::default().verify(verify);
    let data = Bytes::from_owner(Arc::new(data));
    let module = detached(py, || {
        let written = || Exported::read(&data).map(|exported| exported.platforms);
        let platforms = platforms.or_else(|| if is_bytecode(&data) { None } else { written() });
        let mut module = options.load(name, data.clone()).into_result()?;
        match (platforms, platform) {
            // Programs that are not valid are only looked at.
            (Some(_), None) if !verify => {}
            (Some(platforms), _) => stablo::select_platform(&mut module, &platforms, platform)?,
            (None, None) => {}
            (None, Some(_)) => {
                let message = format!(
                    "{name} names no platforms to choose from: only programs that `jax.export` \
                     wrote or exported do"
                );
                return Err(stablo::Error::message("platform", message));
            }
        }
        Ok(module)
    })?;
    Ok(Program { is_verified: verify, ..Program::of(module) })
}

/// The contents of a file, as a dictionary.
#[pyfunction]
pub fn inspect<'py>(py: Python<'py>, data: Vec<u8>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let inspection = detached(py, || stablo::inspect(name, data))?;
    json(py, &inspection.to_json())
}

/// The file with the program of a folder that another framework saved.
#[pyfunction]
pub fn program_in_folder(py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
    stablo::program_in_folder(&folder).map_err(|error| raised(py, &error))
}

/// Runs `work` without the interpreter lock, with stack for any program.
pub fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> stablo::Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| on_large_stack(work)).map_err(|error| raised(py, &error))
}

impl Program {
    /// A verified program.
    pub fn of(module: Module) -> Program {
        Program {
            module: Arc::new(module),
            is_verified: true,
            settings: Settings::default(),
            prepared: OnceLock::new(),
        }
    }

    /// The module, which is verified now if it was not before.
    pub fn verified(&self) -> stablo::Result<&Arc<Module>> {
        if !self.is_verified {
            stablo::verify(&self.module)?;
        }
        Ok(&self.module)
    }

    /// The name of the function that runs.
    pub fn entry(&self) -> &str {
        &self.settings.entry
    }

    /// A changed copy.
    fn changed<T>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Module) -> stablo::Result<T> + Send,
    ) -> PyResult<Program> {
        detached(py, || {
            let mut module = Module::clone(self.verified()?);
            change(&mut module)?;
            Ok(module)
        })
        .map(|module| Program { settings: self.settings.clone(), ..Program::of(module) })
    }

    /// As [`Program::changed`], by a change of the entry function: other functions than `main` are
    /// made the only public one.
    fn changed_entry<T>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Module) -> stablo::Result<T> + Send,
    ) -> PyResult<Program> {
        let entry = self.settings.entry.clone();
        self.changed(py, move |module| {
            if entry != "main" {
                stablo::set_entry(module, &entry)?;
            }
            change(module)
        })
    }

    fn prepare(&self, profiling: Profiling) -> stablo::Result<Prepared> {
        let module = Arc::clone(self.verified()?);
        let settings = self.settings.clone();
        let is_small = !settings.is_watched() && is_small(&module, &settings.entry);
        let host = is_small.then(|| Host::current().without_threads());
        let options = RunOptions { host, profiling, ..settings.options() };
        let program = stablo::Program::prepare(module, &settings.entry, options)?;
        Ok(Prepared { program, settings, is_small })
    }

    /// The program, ready to run.
    pub fn prepared(&self, py: Python<'_>) -> PyResult<&Prepared> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let prepared = detached(py, || self.prepare(Profiling::Off))?;
        // Another thread may have been faster; both are the same.
        Ok(self.prepared.get_or_init(|| prepared))
    }

    /// The function that runs.
    fn function(&self, py: Python<'_>) -> PyResult<FuncOp<'_>> {
        let function = stablo::entry_function(&self.module, &self.settings.entry);
        function.map_err(|error| raised(py, &error))
    }

    /// The values of a trace.
    fn last_values(&self, trace: Vec<(PyRef<'_, Op>, usize, Array<'_>)>) -> PyResult<LastValues> {
        // A run that expands ops has a module of its own.
        let prepared = self.prepared.get().map(|prepared| prepared.program.module());
        let modules: Vec<_> = prepared.into_iter().chain([&self.module]).collect();
        let mut values = LastValues::default();
        for (op, index, array) in trace {
            if !modules.iter().any(|module| Arc::ptr_eq(module, &op.module)) {
                return Err(message("the trace is one of another program"));
            }
            values.add(op.op(), index, &tensor(array)?);
        }
        Ok(values)
    }

    /// Objects that are buffers of the element types of the arguments; none if they are not.
    fn buffers(&self, py: Python<'_>, arrays: &Bound<'_, PyTuple>) -> PyResult<Option<Inputs>> {
        let types = self.prepared(py)?.program.signature().0;
        if types.len() != arrays.len() {
            return Ok(None);
        }
        let mut inputs = Inputs::with_capacity(types.len());
        for (array, ty) in arrays.iter_borrowed().zip(types) {
            let Some(dtype) = stablo::storage_dtype(ty) else { return Ok(None) };
            if !inputs.try_push(&array, dtype)? {
                return Ok(None);
            }
        }
        Ok(Some(inputs))
    }

    fn run_in(&self, py: Python<'_>, inputs: Inputs, outputs: &Outputs) -> PyResult<()> {
        let prepared = self.prepared(py)?;
        outputs.with(inputs, |inputs, outputs| {
            let run = |observer: &mut dyn Observer| {
                prepared.program.run_into_observed(inputs, outputs, observer)
            };
            run_until_interrupted(py, prepared, None, run)
        })
    }

    fn run_on<'py>(&self, py: Python<'py>, inputs: Inputs) -> PyResult<Bound<'py, PyTuple>> {
        let results = run_on_inputs(py, self.prepared(py)?, inputs, None)?;
        let results: PyResult<Vec<_>> = results.into_iter().map(|v| result(py, v)).collect();
        PyTuple::new(py, results?)
    }
}

#[pymethods]
impl Program {
    /// The MLIR text.
    fn text(&self, py: Python<'_>, debug_info: bool, generic: bool) -> PyResult<String> {
        let options = PrintOptions { debug_info, generic, ..PrintOptions::default() };
        detached(py, || stablo::print(&self.module, &options))
    }

    /// The same program, run in another way.
    fn with_settings(&self, py: Python<'_>, given: Given) -> PyResult<Program> {
        let settings = Settings::of(given)?;
        if settings.entry != self.settings.entry {
            let function = stablo::entry_function(&self.module, &settings.entry);
            function.map_err(|error| raised(py, &error))?;
        }
        Ok(Program {
            module: Arc::clone(&self.module),
            is_verified: self.is_verified,
            settings,
            prepared: OnceLock::new(),
        })
    }

    /// False if it was read without verifying it.
    #[getter]
    fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// Checks the program against the specification.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || stablo::verify(&self.module))
    }

    /// The arguments and the results of the function that runs.
    fn signature(&self, py: Python<'_>) -> PyResult<(Vec<Value>, Vec<Value>)> {
        let function = self.function(py)?;
        let (inputs, results) = function.signature();
        let names = ArgumentNames::of(function);
        let names = names.iter().map(|name| name.map(str::to_string)).collect();
        Ok((values(names, inputs), values(stablo::result_names(function), results)))
    }

    /// The position of the argument of a name.
    fn argument(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        ArgumentNames::of(self.function(py)?).find(name).map_err(message)
    }

    /// All ops, parents before children.
    fn ops(&self) -> Vec<Op> {
        stablo::walk(&self.module)
            .map(|op| Op { module: Arc::clone(&self.module), id: op.id() })
            .collect()
    }

    /// A static program.
    fn refine(
        &self,
        py: Python<'_>,
        dimensions: BTreeMap<String, i64>,
        batch: Option<i64>,
        types: Option<&str>,
    ) -> PyResult<Program> {
        let mut options = RefineOptions::default();
        if let Some(types) = types {
            let types = stablo::parse_types(types).map_err(|error| raised(py, &error))?;
            options = options.input_types(types);
        }
        if let Some(batch) = batch {
            options = options.batch(batch);
        }
        for (name, size) in dimensions {
            options = options.dimension(name, size);
        }
        self.changed_entry(py, |module| stablo::refine(module, &options))
    }

    /// The program with constants in the place of arguments, by number.
    fn bind(&self, py: Python<'_>, values: Vec<(usize, Array<'_>)>) -> PyResult<Program> {
        let value = |(index, array)| Ok((index, tensor(array)?));
        let values = values.into_iter().map(value).collect::<PyResult<Vec<_>>>()?;
        self.changed_entry(py, |module| stablo::bind_arguments(module, &values))
    }

    /// The program with its constants prepacked.
    fn compile(&self, py: Python<'_>) -> PyResult<Program> {
        let entry = self.settings.entry.clone();
        self.changed(py, move |module| {
            *module = stablo::compile(module.clone(), &entry)?;
            Ok(())
        })
    }

    /// The program after passes.
    fn run_passes(&self, py: Python<'_>, pipeline: &str) -> PyResult<Program> {
        self.changed(py, |module| {
            stablo::run_pipeline(module, pipeline)?;
            stablo::verify(module)
        })
    }

    /// The portable artifact for a version.
    fn serialize(&self, py: Python<'_>, target: &str) -> PyResult<Vec<u8>> {
        detached(py, || {
            let options = SerializeOptions::from(stablo::target_version(target)?);
            stablo::serialize(self.verified()?, options)
        })
    }

    /// The bytecode, of the dialects as they are.
    fn bytecode(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        detached(py, || stablo::write_bytecode(&self.module, &BytecodeOptions::default()))
    }

    /// The bytecode with the names that arguments have in text.
    fn named_bytecode(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        detached(py, || {
            let mut module = Module::clone(&self.module);
            stablo::keep_argument_names(&mut module);
            stablo::write_bytecode(&module, &BytecodeOptions::default())
        })
    }

    /// Runs `main` on arrays.
    fn run<'py>(&self, py: Python<'py>, inputs: Vec<Array<'_>>) -> PyResult<Bound<'py, PyTuple>> {
        self.run_on(py, Inputs::new(inputs)?)
    }

    /// As `run`, on objects that are buffers of the element types of the arguments; none if they
    /// are not.
    fn call<'py>(
        &self,
        py: Python<'py>,
        arrays: &Bound<'_, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match self.buffers(py, arrays)? {
            Some(inputs) => self.run_on(py, inputs).map(Some),
            None => Ok(None),
        }
    }

    /// Runs `main` on arrays, and writes its results into memory for their bytes.
    fn run_into(
        &self,
        py: Python<'_>,
        inputs: Vec<Array<'_>>,
        outputs: Vec<Array<'_>>,
    ) -> PyResult<()> {
        self.run_in(py, Inputs::new(inputs)?, &Outputs::new(outputs)?)
    }

    /// As `run_into`, on objects that are buffers of the element types of the arguments, and arrays
    /// of those of the results; returns false if they are not.
    fn call_into(
        &self,
        py: Python<'_>,
        arrays: &Bound<'_, PyTuple>,
        results: &Bound<'_, PyTuple>,
    ) -> PyResult<bool> {
        let types = self.prepared(py)?.program.signature().1;
        let dtypes = types.iter().map(stablo::storage_dtype).collect::<Option<Vec<_>>>();
        let Some(dtypes) = dtypes.filter(|dtypes| dtypes.len() == results.len()) else {
            return Ok(false);
        };
        let Some(inputs) = self.buffers(py, arrays)? else { return Ok(false) };
        let Some(outputs) = Outputs::of(results, &dtypes)? else { return Ok(false) };
        self.run_in(py, inputs, &outputs).map(|()| true)
    }

    /// Runs `main` and returns the value of each op as it is computed: the op, the index of the
    /// result, and the array.
    fn trace<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Array<'_>>,
    ) -> PyResult<Vec<(Op, usize, Bound<'py, PyAny>)>> {
        let (prepared, mut values) = (self.prepared(py)?, Vec::new());
        run_on_inputs(py, prepared, Inputs::new(inputs)?, Some(&mut values))?;
        let value = |(id, index, tensor): (OpId, usize, Tensor)| {
            let module = Arc::clone(prepared.program.module());
            Ok((Op { module, id }, index, result(py, tensor.into())?))
        };
        values.into_iter().map(value).collect()
    }

    /// Runs `main` several times and returns the profile of the runs.
    fn profile(
        &self,
        py: Python<'_>,
        inputs: Vec<Array<'_>>,
        runs: NonZeroUsize,
    ) -> PyResult<Profile> {
        let kept = Profiling::Executions(MAX_EXECUTIONS);
        let prepared = detached(py, || self.prepare(kept))?;
        for _ in 1..runs.get() {
            run_on_inputs(py, &prepared, Inputs::new(inputs.clone())?, None)?;
        }
        run_on_inputs(py, &prepared, Inputs::new(inputs)?, None)?;
        let program = &prepared.program;
        let (profile, roofline) = py.detach(|| (program.profile(), program.roofline()));
        Ok(Profile { module: Arc::clone(&self.module), profile, roofline })
    }

    /// The cost of a run, as a dictionary.
    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let cost = detached(py, || stablo::cost(self.verified()?, &self.settings.entry))?;
        json(py, &cost.to_json())
    }

    /// The differences to another program, as a dictionary.
    fn diff<'py>(
        &self,
        py: Python<'py>,
        other: &Program,
        ignored: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let diff =
            detached(py, || Ok(stablo::diff(self.verified()?, other.verified()?, &ignored)))?;
        json(py, &diff.to_json())
    }

    /// The page that shows the program, and another one beside it; names stand for them there. With
    /// the times of a profile, and statistics of the values of a trace.
    fn view(
        &self,
        py: Python<'_>,
        name: &str,
        beside: Option<(&str, PyRef<'_, Program>)>,
        profile: Option<PyRef<'_, Profile>>,
        trace: Option<Vec<(PyRef<'_, Op>, usize, Array<'_>)>>,
    ) -> PyResult<String> {
        let values = trace.map(|trace| self.last_values(trace)).transpose()?;
        let profile = profile.as_deref();
        if profile.is_some_and(|profile| !Arc::ptr_eq(&profile.module, &self.module)) {
            return Err(message("the profile is one of another program"));
        }
        let beside = beside.as_ref().map(|(name, program)| (*name, &**program));
        detached(py, || {
            let module = self.verified()?;
            let profile = profile.map(|profile| &profile.profile);
            let options = ViewOptions::default().values(values.as_ref()).profile(profile);
            let mut view = stablo::view(module, name, options)?;
            if let Some((name, other)) = beside {
                let other = other.verified()?;
                let diff = stablo::diff(module, other, &[]);
                view = view.beside(stablo::view(other, name, ViewOptions::default())?, &diff);
            }
            Ok(view.to_html())
        })
    }

    /// Warnings, as a list of dictionaries.
    fn lint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = detached(py, || {
            let module = self.verified()?;
            Ok(stablo::Error::in_module(stablo::lint(module), module).to_json())
        })?;
        json(py, &found)
    }

    /// The program without what the warnings are about, where that can be mended.
    fn without_lint(&self, py: Python<'_>) -> PyResult<Program> {
        self.changed(py, |module| stablo::fix_lints(module).map(drop))
    }
}

/// The names, types, element types and sizes of values.
pub fn values(names: Vec<Option<String>>, types: &[Type]) -> Vec<Value> {
    let value = |(name, ty): (Option<String>, &Type)| {
        let size = |&size: &i64| (size != DYNAMIC).then_some(size);
        let shape = ty.shape().map(|shape| shape.iter().map(size).collect());
        (name, ty.to_string(), stablo::storage_dtype(ty).map(DType::name), shape)
    };
    names.into_iter().zip(types).map(value).collect()
}

/// Values of a run: the op, the index of the result, and the tensor.
type Values = Vec<(OpId, usize, Tensor)>;

/// Stops a run in the thread of Python's signals if one of their handlers raises.
struct SignalWatcher {
    /// The time when signals were looked for.
    looked: Instant,
    signal: Option<PyErr>,
}

impl Observer for SignalWatcher {
    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        if self.looked.elapsed() < SIGNALS {
            return ControlFlow::Continue(());
        }
        self.looked = Instant::now();
        self.signal = Python::attach(|py| py.check_signals()).err();
        match self.signal {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Stops a run when the flag is set, and keeps its values if they are wanted.
struct Watcher<'a> {
    is_interrupted: &'a AtomicBool,
    values: Option<&'a mut Values>,
}

impl Observer for Watcher<'_> {
    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        match self.is_interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn traces(&self) -> bool {
        self.values.is_some()
    }

    fn value(
        &mut self,
        _: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        if let (Some(values), RuntimeValue::Tensor(tensor)) = (&mut self.values, value) {
            values.push((op.id(), index, tensor.clone()));
        }
        Ok(())
    }
}

/// Runs a program on inputs and returns its results, as [`run_until_interrupted`] does.
pub fn run_on_inputs(
    py: Python<'_>,
    prepared: &Prepared,
    inputs: Inputs,
    values: Option<&mut Values>,
) -> PyResult<Vec<RuntimeValue>> {
    let (inputs, _buffers) = inputs.into_parts();
    let run = |observer: &mut dyn Observer| prepared.program.run_observed(inputs, observer);
    run_until_interrupted(py, prepared, values, run)
}

/// Runs a program, as `run` does, without the interpreter lock; a signal whose handler raises, such
/// as Ctrl-C, stops it, unless it is small.
fn run_until_interrupted<T: Send>(
    py: Python<'_>,
    prepared: &Prepared,
    values: Option<&mut Values>,
    run: impl FnOnce(&mut dyn Observer) -> stablo::Result<T> + Send,
) -> PyResult<T> {
    if prepared.is_small && values.is_none() {
        return py
            .detach(|| run(&mut Unobserved))
            .map_err(|error| prepared.settings.raised(py, &error));
    }
    if prepared.program.runs_in_place() && values.is_none() {
        let mut watcher = SignalWatcher { looked: Instant::now(), signal: None };
        let outcome = py.detach(|| run(&mut watcher));
        return match watcher.signal {
            Some(signal) => Err(signal),
            None => outcome.map_err(|error| prepared.settings.raised(py, &error)),
        };
    }
    let is_interrupted = AtomicBool::new(false);
    let (outcome, signal) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let is_interrupted = &is_interrupted;
            scope.spawn(move || {
                let outcome = run(&mut Watcher { is_interrupted, values });
                // The receiver waits until it has the result.
                let _ = sender.send(outcome);
            });
            let mut signal = None;
            loop {
                match receiver.recv_timeout(SIGNALS) {
                    Ok(outcome) => return (Some(outcome), signal),
                    Err(RecvTimeoutError::Disconnected) => return (None, signal),
                    Err(RecvTimeoutError::Timeout) if signal.is_none() => {
                        signal = Python::attach(|py| py.check_signals()).err();
                        is_interrupted.store(signal.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    match (signal, outcome) {
        (Some(signal), _) => Err(signal),
        (None, Some(outcome)) => outcome.map_err(|error| prepared.settings.raised(py, &error)),
        (None, None) => Err(message("the run ended without a result")),
    }
}

/// An op of a program.
#[pyclass(frozen, module = "stablo")]
pub struct Op {
    module: Arc<Module>,
    id: OpId,
}

impl Op {
    fn op(&self) -> OpRef<'_> {
        self.module.op(self.id)
    }
}

#[pymethods]
impl Op {
    /// Name with its dialect.
    #[getter]
    fn name(&self) -> &str {
        self.op().name()
    }

    /// Attributes by name.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let attributes = PyDict::new(py);
        let op = self.op();
        let declared = op.def().map_or(&[][..], |def| def.attributes);
        for (slot, value) in declared.iter().zip(op.properties()) {
            if let Some(value) = value {
                attributes.set_item(slot.name, value_of(py, value)?)?;
            }
        }
        for (name, value) in op.attributes().iter() {
            attributes.set_item(&**name, value_of(py, value)?)?;
        }
        Ok(attributes)
    }

    /// The operands: the op that computes each, and the index of the result; none for an argument
    /// of a function or region.
    #[getter]
    fn operands(&self) -> Vec<Option<(Op, usize)>> {
        let operand = |&value: &_| match self.module.definition(value) {
            ValueDef::Result { op, index } => {
                Some((Op { module: Arc::clone(&self.module), id: op }, index as usize))
            }
            ValueDef::Argument { .. } => None,
        };
        self.op().operands().iter().map(operand).collect()
    }

    /// Types of the operands.
    #[getter]
    fn operand_types(&self) -> Vec<String> {
        self.op().operand_types().map(Type::to_string).collect()
    }

    /// Types of the results.
    #[getter]
    fn result_types(&self) -> Vec<String> {
        self.op().result_types().map(Type::to_string).collect()
    }

    /// The location.
    #[getter]
    fn location(&self) -> String {
        self.op().location().to_string()
    }

    /// The nesting depth: 0 for the module.
    #[getter]
    fn depth(&self) -> usize {
        std::iter::successors(self.op().parent(), |op| op.parent()).count()
    }

    /// True for the same op of the same program.
    fn __eq__(&self, other: &Op) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.module, &other.module)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.id, Arc::as_ptr(&self.module)).hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        stablo::print_op(self.op(), &PrintOptions::default())
    }

    fn __repr__(&self) -> String {
        let results: Vec<String> = self.result_types();
        format!("<stablo.Op {} -> ({})>", self.name(), results.join(", "))
    }
}
