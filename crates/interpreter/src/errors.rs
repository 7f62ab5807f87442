//! Errors of executors.

use program::{EvalError, Origin};

/// At most this many calls are listed under an error.
const LISTED_CALLS: usize = 10;

/// The error that a verified program does not cause.
pub fn internal(what: &str) -> EvalError {
    let message = format!("the module is not valid, or an op broke its contract: {what}");
    EvalError::new("interpreter", message)
}

/// The error that a value is used before it is computed.
pub fn use_before_definition() -> EvalError {
    internal("a value is used before it is computed")
}

/// Adds the op of a call to an error of its callee, unless enough calls are listed.
pub fn called_from(error: EvalError, call: Origin) -> EvalError {
    match error.notes().len() < LISTED_CALLS {
        true => error.note("called from here", Some(call)),
        false => error,
    }
}
