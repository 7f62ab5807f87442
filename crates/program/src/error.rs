//! Errors at run time.

use crate::{Origin, RuntimeValue};
use numerics::TensorError;
use std::borrow::Cow;
use std::fmt;

/// The position of an error or note: an op of the program, or unknown.
pub type Place = Option<Origin>;

/// An error at run time. The executor adds the op and the calls that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError(Box<ErrorParts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorParts {
    label: Cow<'static, str>,
    message: String,
    place: Place,
    notes: Vec<(String, Place)>,
}

/// The results of evaluating an op, one value each.
pub type EvalResult = Result<Vec<RuntimeValue>, EvalError>;

impl EvalError {
    /// An error that breaks the rule `label`: a constraint of the specification or a check.
    pub fn new(label: impl Into<Cow<'static, str>>, message: impl Into<String>) -> EvalError {
        let (label, message) = (label.into(), message.into());
        EvalError(Box::new(ErrorParts { label, message, place: None, notes: Vec::new() }))
    }

    /// The rule that is broken.
    pub fn label(&self) -> &Cow<'static, str> {
        &self.0.label
    }

    /// Description of the error: the value found and the one required.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The op that failed, once added by the executor.
    pub fn place(&self) -> Place {
        self.0.place
    }

    /// Notes, such as calls that led to the error, innermost first.
    pub fn notes(&self) -> &[(String, Place)] {
        &self.0.notes
    }

    /// The same error at an op.
    #[must_use]
    pub fn at(mut self, origin: Origin) -> EvalError {
        self.0.place = Some(origin);
        self
    }

    /// The same error with one more note.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>, place: Place) -> EvalError {
        self.0.notes.push((message.into(), place));
        self
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.0.label, self.0.message)
    }
}

impl std::error::Error for EvalError {}

impl From<TensorError> for EvalError {
    fn from(error: TensorError) -> EvalError {
        let label = match error {
            TensorError::Budget(_) => "memory_limit",
            TensorError::OutOfMemory { .. } => "memory",
            _ => "tensor",
        };
        EvalError::new(label, error.to_string())
    }
}
