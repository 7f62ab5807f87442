//! Errors of plugins, and errors about them.

use std::ffi::c_int;
use std::fmt;

/// The reason for which a plugin cannot be used, or for which it refused a call.
#[derive(Clone, Debug)]
pub struct Error {
    message: String,
    code: Option<c_int>,
}

/// Names of codes, from 1 on.
const CODES: [&str; 16] = [
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), code: None }
    }

    /// The error that a function of the plugin returned.
    pub(crate) fn of_plugin(function: &str, code: c_int, message: &str) -> Error {
        let name = usize::try_from(code).ok().and_then(|code| CODES.get(code.wrapping_sub(1)));
        let name = name.map_or_else(|| format!("code {code}"), ToString::to_string);
        let message = message.trim_end();
        Error { message: format!("PJRT_{function} failed: {name}: {message}"), code: Some(code) }
    }

    /// The code that the plugin gave, of `absl::StatusCode`. `None` if the error is one about the
    /// plugin.
    pub fn code(&self) -> Option<c_int> {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
