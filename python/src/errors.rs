//! Errors of the library as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    stablo,
    Error,
    PyValueError,
    "A program, an input or an option is not valid. `diagnostics` says what was found, as dictionaries."
);

/// The exception of an error: its text with source lines and carets, and its diagnostics as data.
pub fn raised(py: Python<'_>, error: &stablo::Error) -> PyErr {
    exception(py, error.to_string(), &error.to_json())
}

/// An exception of a message alone.
pub fn message(text: impl Into<String>) -> PyErr {
    Error::new_err(text.into())
}

fn exception(py: Python<'_>, text: String, diagnostics: &str) -> PyErr {
    let error = Error::new_err(text);
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
