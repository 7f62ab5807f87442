//! How programs are run: the function, threads, limits, conventions, and custom calls in Python.

use crate::arrays::{Array, result, tensor};
use crate::attributes::value_of;
use crate::errors::{message, raised};
use crate::program::{Value, values};
use programs::limits::bytes;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stablo::{
    Conventions, CustomCall, Engine, EvalError, EvalResult, Limits, RunOptions, RuntimeValue,
    Tensor,
};

/// A number of bytes, or text such as `2G`.
#[derive(FromPyObject)]
pub enum Size {
    /// Bytes.
    Bytes(usize),
    /// Text as of the command-line tool.
    Text(String),
}

/// How a program is run.
#[derive(Clone)]
pub struct Settings {
    /// The function that runs.
    pub entry: String,
    /// Number of threads of a run; by default one for each core.
    pub threads: Option<NonZeroUsize>,
    engine: Engine,
    conventions: Conventions,
    limits: Limits,
    functions: Arc<Functions>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            entry: "main".to_string(),
            threads: None,
            engine: Engine::default(),
            conventions: Conventions::Specification,
            limits: Limits::default(),
            functions: Arc::default(),
        }
    }
}

/// The label of errors of custom calls.
const LABEL: &str = "custom_call";

/// Implementations of custom calls, and what they raised.
#[derive(Default)]
struct Functions {
    by_target: Vec<(String, Py<PyAny>)>,
    /// Exceptions of runs that have not ended, by the messages of their errors.
    failures: Mutex<Vec<(String, PyErr)>>,
}

/// The settings as Python gives them: the function, the number of threads, the engine, the compiler
/// whose conventions apply, the limits of memory, seconds and steps, and functions by target of
/// custom calls.
pub type Given = (
    String,
    Option<NonZeroUsize>,
    String,
    Option<String>,
    Option<Size>,
    Option<f64>,
    Option<u64>,
    Vec<(String, Py<PyAny>)>,
);

impl Settings {
    /// The settings that Python gives.
    ///
    /// # Errors
    /// If one has no such value.
    pub fn of(given: Given) -> PyResult<Settings> {
        let (entry, threads, engine, like, memory, time, steps, by_target) = given;
        let engine = Engine::from_name(&engine).ok_or_else(|| {
            let names = Engine::ALL.iter().map(|engine| engine.name()).collect::<Vec<_>>();
            message(format!("there is no engine '{engine}'; the engines are {}", names.join(", ")))
        })?;
        let conventions = match like.as_deref() {
            None => Conventions::Specification,
            Some("xla") => Conventions::Xla,
            Some(other) => {
                return Err(message(format!(
                    "programs run like 'xla' or, for None, as the specification says, not like \
                     '{other}'"
                )));
            }
        };
        let memory = match memory {
            None => None,
            Some(Size::Bytes(bytes)) => Some(bytes),
            Some(Size::Text(text)) => Some(
                bytes(&text).map_err(|error| message(format!("max_memory {text:?}: {error}")))?,
            ),
        };
        let seconds = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| message(format!("max_time is a number of seconds, not {seconds}")))
        };
        let time = time.map(seconds).transpose()?;
        let limits = Limits { memory, time, steps, ..Limits::default() };
        let functions = Arc::new(Functions { by_target, failures: Mutex::default() });
        Ok(Settings { entry, threads, engine, conventions, limits, functions })
    }

    /// Options for running a program.
    pub fn options(&self) -> RunOptions {
        let mut options = RunOptions {
            engine: self.engine,
            threads: self.threads,
            conventions: self.conventions,
            limits: self.limits,
            ..RunOptions::default()
        };
        for (index, (target, _)) in self.functions.by_target.iter().enumerate() {
            let functions = Arc::clone(&self.functions);
            options.custom_calls.register(target.clone(), move |call, operands| {
                Python::attach(|py| functions.call(py, index, call, operands))
            });
        }
        options
    }

    /// True if a run may be stopped by a limit of time, or calls functions of Python.
    pub fn is_watched(&self) -> bool {
        self.limits.time.is_some() || !self.functions.by_target.is_empty()
    }

    /// Converts an error of a run. The exception of a Python function becomes its cause, or, such
    /// as `KeyboardInterrupt`, is raised itself.
    pub fn raised(&self, py: Python<'_>, error: &stablo::Error) -> PyErr {
        let exception = raised(py, error);
        let mut failures = self.functions.failures();
        let is_cause = |(message, _): &(String, PyErr)| {
            error.diagnostics().iter().any(|found| found.message.contains(message.as_str()))
        };
        let Some(index) = failures.iter().position(is_cause) else { return exception };
        let (_, cause) = failures.swap_remove(index);
        if !cause.is_instance_of::<PyException>(py) {
            return cause;
        }
        exception.set_cause(py, Some(cause));
        exception
    }
}

impl Functions {
    fn failures(&self) -> std::sync::MutexGuard<'_, Vec<(String, PyErr)>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the function of that number.
    fn call(
        &self,
        py: Python<'_>,
        index: usize,
        call: &CustomCall,
        operands: Vec<RuntimeValue>,
    ) -> EvalResult {
        let (target, function) = &self.by_target[index];
        self.results(py, function.bind(py), call, operands).map_err(|error| {
            let text = format!("the function for the custom call `{target}` raised {error}");
            let mut failures = self.failures();
            // Runs whose processes fail at once leave some.
            failures.truncate(64);
            failures.push((text.clone(), error));
            EvalError::new(LABEL, text)
        })
    }

    fn results(
        &self,
        py: Python<'_>,
        function: &Bound<'_, PyAny>,
        call: &CustomCall,
        operands: Vec<RuntimeValue>,
    ) -> PyResult<Vec<RuntimeValue>> {
        let operands = operands.into_iter().map(|value| result(py, value));
        let operands = operands.collect::<PyResult<Vec<_>>>()?;
        let attributes = PyDict::new(py);
        for (name, attribute) in &call.attributes {
            attributes.set_item(name, value_of(py, attribute)?)?;
        }
        let of_types = |types: &[stablo::Type]| values(vec![None; types.len()], types);
        let (inputs, outputs): (Vec<Value>, Vec<Value>) =
            (of_types(&call.operand_types), of_types(&call.result_types));
        let helper = py.import("stablo._custom_calls")?.getattr("call")?;
        let arguments =
            (function, &call.target, attributes, PyTuple::new(py, operands)?, inputs, outputs);
        let arrays: Vec<Array<'_>> = helper.call1(arguments)?.extract()?;
        let copied = |array: Array<'_>| {
            // The function may keep its array and change it later.
            let found = tensor(array)?;
            let copy = Tensor::copied(found.dtype(), found.shape(), found.bytes());
            copy.map(RuntimeValue::from).map_err(|error| message(error.to_string()))
        };
        arrays.into_iter().map(copied).collect()
    }
}
