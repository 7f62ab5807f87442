//! Errors of the library as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stablo::LimitKind;

create_exception!(
    stablo,
    Error,
    PyValueError,
    "A program, an input or an option is not valid. `diagnostics` says what was found, as dictionaries."
);

/// The exception of an error: its text with source lines and carets, and its diagnostics as data.
pub fn raised(py: Python<'_>, error: &stablo::Error) -> PyErr {
    let class = error.limit().map(|limit| match limit {
        LimitKind::Memory => "MemoryLimitError",
        LimitKind::Steps => "StepLimitError",
        LimitKind::Time => "TimeLimitError",
        _ => "LimitError",
    });
    exception(py, class, error.to_string(), &error.to_json())
}

/// An exception of a message alone.
pub fn message(text: impl Into<String>) -> PyErr {
    Error::new_err(text.into())
}

fn exception(
    py: Python<'_>,
    class: Option<&'static str>,
    text: String,
    diagnostics: &str,
) -> PyErr {
    let error = match class {
        None => Error::new_err(text),
        Some(class) => {
            let errors = py.import("stablo._errors");
            match errors.and_then(|errors| errors.getattr(class)?.call1((text,))) {
                Ok(error) => PyErr::from_value(error),
                Err(other) => return other,
            }
        }
    };
    let with_data = json(py, diagnostics)
        .and_then(|diagnostics| error.value(py).setattr("diagnostics", diagnostics));
    match with_data {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// The value of a JSON text.
pub fn json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}
