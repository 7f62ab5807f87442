//! The error type of this crate.

use numerics::TensorError;
use std::fmt;

/// Why a file could not be read or written, as a message for people.
#[derive(Debug)]
pub struct ArrayError {
    message: String,
    cause: Option<std::io::Error>,
}

impl ArrayError {
    pub(crate) fn new(message: impl Into<String>) -> ArrayError {
        ArrayError { message: message.into(), cause: None }
    }
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ArrayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

impl From<TensorError> for ArrayError {
    fn from(error: TensorError) -> ArrayError {
        ArrayError::new(error.to_string())
    }
}

impl From<std::io::Error> for ArrayError {
    fn from(error: std::io::Error) -> ArrayError {
        ArrayError { message: error.to_string(), cause: Some(error) }
    }
}
