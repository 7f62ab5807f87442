//! The error type of the library.

use crate::{Diagnostic, Diagnostics, Module, Severity, Source, render};
use numerics::TensorError;
use program::EvalError;
use std::fmt;
use std::sync::Arc;

/// Why a program could not be read, verified, transformed, written or run.
///
/// An error holds one or more [`Diagnostic`]s, at least one of [`Severity::Error`], and the source
/// text that they point into, if there is one. `Display` renders all of them, each with its source
/// line and a caret; `Debug` does the same, so that a `main` that returns `Result<(), Error>` or
/// `Result<(), Box<dyn std::error::Error>>` shows them as they are meant to be read. Tools use
/// [`Error::diagnostics`] or [`Error::to_json`].
///
/// ```
/// let error = stablo::load("bad.mlir", "func.func @main() -> i32 { return }").unwrap_err();
/// assert_eq!(error.diagnostics().len(), 1);
/// assert!(error.to_string().starts_with("bad.mlir:1:28: error["));
/// ```
#[derive(Clone)]
pub struct Error(Box<Content>);

#[derive(Clone)]
struct Content {
    diagnostics: Diagnostics,
    text: Option<Arc<Source>>,
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// A kind of limit, as in [`Limits`](crate::Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// Bytes of inputs and values.
    Memory,
    /// Executed ops.
    Steps,
    /// Time of a run.
    Time,
}

/// Result of a function of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of diagnostics whose spans, if they have any, are in `text`.
    pub fn new(diagnostics: Diagnostics, text: Option<Arc<Source>>) -> Error {
        Error(Box::new(Content { diagnostics, text, cause: None }))
    }

    /// An error without a position, which breaks the rule `label`.
    pub fn message(label: &'static str, message: impl Into<String>) -> Error {
        Diagnostic::error(label, message).into()
    }

    fn caused(label: &'static str, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        let mut error = Error::message(label, cause.to_string());
        error.0.cause = Some(Arc::new(cause));
        error
    }

    /// An error of diagnostics about a module.
    pub fn in_module(diagnostics: Diagnostics, module: &Module) -> Error {
        Error::new(diagnostics, module.source().cloned())
    }

    /// The diagnostics in the order in which they were found.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// The limit that was reached, if the error is one of memory, steps or time.
    pub fn limit(&self) -> Option<LimitKind> {
        self.0.diagnostics.iter().find_map(|found| match &*found.label {
            "memory_limit" => Some(LimitKind::Memory),
            "step_limit" => Some(LimitKind::Steps),
            "time_limit" => Some(LimitKind::Time),
            _ => None,
        })
    }

    /// The diagnostics by value.
    pub fn into_diagnostics(self) -> Diagnostics {
        self.0.diagnostics
    }

    /// The source text that the diagnostics point into. Not to be confused with
    /// [`std::error::Error::source`], which is the cause of an error.
    pub fn text(&self) -> Option<&Arc<Source>> {
        self.0.text.as_ref()
    }

    /// The diagnostics as a JSON array; see [`diagnostic_to_json`](crate::diagnostic_to_json).
    pub fn to_json(&self) -> String {
        crate::json::diagnostics(&self.0.diagnostics, self.0.text.as_deref())
    }
}

/// `Err` if a diagnostic is an error, else the diagnostics, which are warnings and remarks.
pub(crate) fn check(diagnostics: Diagnostics, module: &Module) -> Result<Diagnostics> {
    if has_errors(&diagnostics) {
        return Err(Error::in_module(diagnostics, module));
    }
    Ok(diagnostics)
}

/// True if a diagnostic is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Content { diagnostics, text, .. } = &*self.0;
        let rendered: String = diagnostics.iter().map(|d| render(d, text.as_deref())).collect();
        f.write_str(rendered.trim_end_matches('\n'))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.0.cause.as_deref()?;
        Some(cause)
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error::new(vec![diagnostic], None)
    }
}

impl From<Diagnostics> for Error {
    fn from(diagnostics: Diagnostics) -> Error {
        Error::new(diagnostics, None)
    }
}

impl From<EvalError> for Error {
    fn from(error: EvalError) -> Error {
        Diagnostic::error(error.label().clone(), error.message()).into()
    }
}

impl From<TensorError> for Error {
    fn from(error: TensorError) -> Error {
        EvalError::from(error).into()
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::caused("io", error)
    }
}

#[cfg(feature = "arrays")]
impl From<arrays::ArrayError> for Error {
    fn from(error: arrays::ArrayError) -> Error {
        Error::caused("arrays", error)
    }
}
