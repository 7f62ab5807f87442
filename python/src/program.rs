//! Programs: reading, changing, writing and running them.

use crate::attributes::value_of;
use crate::errors::{json, message, raised};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stablo::ir::{DYNAMIC, OpId, OpRef};
use stablo::{
    BytecodeOptions, Bytes, DType, Limits, LoadOptions, Module, Observer, PrintOptions, Progress,
    RefineOptions, RuntimeValue, SerializeOptions, Tensor, Type,
};

/// An argument or a result: its name, its type as text, and the element type and the sizes of a
/// tensor, where the size of a dynamic dimension is `None`.
type Value = (Option<String>, String, Option<&'static str>, Option<Vec<Option<i64>>>);

/// An array: its element type as MLIR spells it, its shape and its bytes.
type Array = (String, Vec<usize>, PyBuffer<u8>);

/// A result: its element type as MLIR spells it, its shape and its bytes, which are the caller's.
type ResultArray<'py> = (&'static str, Vec<usize>, Bound<'py, PyByteArray>);

/// How often a run looks for signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// A program. It does not change; what transforms it returns another one.
#[pyclass(frozen, module = "stablo")]
pub struct Program {
    module: Arc<Module>,
    /// False if it was read without verifying it.
    is_verified: bool,
    /// Ready to run, as soon as it has run once.
    prepared: OnceLock<stablo::Program>,
}

/// Reads and verifies a program in any format: `name` stands for it in errors.
#[pyfunction]
pub fn load(py: Python<'_>, data: Vec<u8>, name: &str, verify: bool) -> PyResult<Program> {
    let options = LoadOptions::default().verify(verify);
    let module = detached(py, || options.load(name, data).into_result())?;
    Ok(Program { is_verified: verify, ..Program::of(module) })
}

/// The contents of a file, as a dictionary.
#[pyfunction]
pub fn inspect<'py>(py: Python<'py>, data: Vec<u8>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let inspection = detached(py, || stablo::inspect(name, data))?;
    json(py, &inspection.to_json())
}

/// Runs `work` without the interpreter lock, on a large stack.
fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> stablo::Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| stablo::with_large_stack(work)).map_err(|error| raised(py, &error))
}

impl Program {
    /// A verified program.
    fn of(module: Module) -> Program {
        Program { module: Arc::new(module), is_verified: true, prepared: OnceLock::new() }
    }

    /// The module, which is verified now if it was not before.
    fn verified(&self) -> stablo::Result<&Arc<Module>> {
        if !self.is_verified {
            stablo::verify(&self.module)?;
        }
        Ok(&self.module)
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
        .map(Program::of)
    }

    fn prepared(&self) -> stablo::Result<&stablo::Program> {
        if let Some(program) = self.prepared.get() {
            return Ok(program);
        }
        let module = Arc::clone(self.verified()?);
        let prepare = || stablo::Program::prepare(module, "main", Limits::default());
        let program = stablo::with_large_stack(prepare)?;
        // Another thread may have been faster; both are the same.
        Ok(self.prepared.get_or_init(|| program))
    }
}

#[pymethods]
impl Program {
    /// The MLIR text.
    fn text(&self, py: Python<'_>, debug_info: bool, generic: bool) -> PyResult<String> {
        let options = PrintOptions { debug_info, generic, ..PrintOptions::default() };
        detached(py, || stablo::print(&self.module, &options))
    }

    /// Checks the program against the specification.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || stablo::verify(&self.module))
    }

    /// The arguments and the results of `main`.
    fn signature(&self, py: Python<'_>) -> PyResult<(Vec<Value>, Vec<Value>)> {
        let signature = || {
            let function = stablo::entry_function(&self.module, "main")?;
            let (inputs, results) = function.signature();
            let names = (stablo::argument_names(function), stablo::result_names(function));
            Ok((values(names.0, inputs), values(names.1, results)))
        };
        signature().map_err(|error: stablo::Error| raised(py, &error))
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
        self.changed(py, |module| stablo::refine(module, &options))
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

    /// Runs `main` on arrays.
    fn run<'py>(&self, py: Python<'py>, inputs: Vec<Array>) -> PyResult<Vec<ResultArray<'py>>> {
        let inputs: PyResult<Vec<RuntimeValue>> =
            inputs.into_iter().map(|array| tensor(py, array)).collect();
        let results = run_until_interrupted(py, self, inputs?)?;
        let array = |value: &RuntimeValue| match value {
            RuntimeValue::Tensor(tensor) => Ok((
                tensor.dtype().name(),
                tensor.shape().to_vec(),
                PyByteArray::new(py, tensor.bytes()),
            )),
            _ => Err(message("a result is a token or a tuple, which arrays do not stand for")),
        };
        results.iter().map(array).collect()
    }
}

fn values(names: Vec<Option<String>>, types: &[Type]) -> Vec<Value> {
    let value = |(name, ty): (Option<String>, &Type)| {
        let size = |&size: &i64| (size != DYNAMIC).then_some(size);
        let shape = ty.shape().map(|shape| shape.iter().map(size).collect());
        (name, ty.to_string(), ty.element_type().dtype().map(DType::name), shape)
    };
    names.into_iter().zip(types).map(value).collect()
}

fn tensor(py: Python<'_>, (dtype, shape, buffer): Array) -> PyResult<RuntimeValue> {
    let dtype =
        DType::from_name(&dtype).ok_or_else(|| message(format!("there is no dtype `{dtype}`")))?;
    let bytes = Bytes::from(buffer.to_vec(py)?);
    let tensor = Tensor::from_bytes(dtype, shape, bytes).map_err(|e| message(e.to_string()))?;
    Ok(RuntimeValue::Tensor(tensor))
}

/// Stops a run when the flag is set.
struct Interrupter<'a>(&'a AtomicBool);

impl Observer for Interrupter<'_> {
    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        match self.0.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Runs a program without the interpreter lock; a signal whose handler raises, such as Ctrl-C,
/// stops it.
fn run_until_interrupted(
    py: Python<'_>,
    program: &Program,
    inputs: Vec<RuntimeValue>,
) -> PyResult<Vec<RuntimeValue>> {
    let is_interrupted = AtomicBool::new(false);
    let (outcome, signal) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let is_interrupted = &is_interrupted;
            scope.spawn(move || {
                let run =
                    || program.prepared()?.run_observed(inputs, &mut Interrupter(is_interrupted));
                // The receiver waits until it has the result.
                let _ = sender.send(run());
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
        (None, Some(outcome)) => outcome.map_err(|error| raised(py, &error)),
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

    fn __str__(&self) -> String {
        stablo::print_op(self.op(), &PrintOptions::default())
    }

    fn __repr__(&self) -> String {
        let results: Vec<String> = self.result_types();
        format!("<stablo.Op {} -> ({})>", self.name(), results.join(", "))
    }
}
