//! Errors as PJRT has them: a code and a message.

use crate::handle::{Handle, Resolve, give, parts};
use pjrt_abi::{ErrorDestroy, ErrorForEachPayload, ErrorGetCode, ErrorMessage, PayloadFn};
use std::any::Any;
use std::ffi::{c_char, c_int, c_void};

/// Kinds of errors, with the numbers of `absl::StatusCode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl Code {
    /// The code of a number that a client gave.
    pub fn from_number(number: c_int) -> Code {
        use Code::*;
        let all = [
            Cancelled,
            Unknown,
            InvalidArgument,
            DeadlineExceeded,
            NotFound,
            AlreadyExists,
            PermissionDenied,
            ResourceExhausted,
            FailedPrecondition,
            Aborted,
            OutOfRange,
            Unimplemented,
            Internal,
            Unavailable,
            DataLoss,
            Unauthenticated,
        ];
        all.into_iter().find(|&code| code as c_int == number).unwrap_or(Unknown)
    }
}

/// The reason for which a call or an execution failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
}

/// The outcome of a call.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }

    /// An error of the client's making.
    pub fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(Code::InvalidArgument, message)
    }

    /// The failure of a library call, with its rendered diagnostics.
    pub fn of(code: Code) -> impl Fn(stablo::Error) -> Failure {
        move |error| {
            let is_memory =
                error.diagnostics().iter().any(|d| matches!(&*d.label, "memory" | "memory_limit"));
            let code = if is_memory { Code::ResourceExhausted } else { code };
            Failure::new(code, error.to_string())
        }
    }

    /// The failure of a panic.
    pub fn panic(panic: &(dyn Any + Send)) -> Failure {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("");
        Failure::new(Code::Internal, format!("stablo failed, please report this: {text}"))
    }

    /// Gives the failure to a client.
    pub fn into_error(self) -> Handle<Error> {
        give(Error { table: &TABLE, failure: self })
    }
}

impl From<stablo::TensorError> for Failure {
    fn from(error: stablo::TensorError) -> Failure {
        let code = match error {
            stablo::TensorError::OutOfMemory { .. } => Code::ResourceExhausted,
            _ => Code::InvalidArgument,
        };
        Failure::new(code, error.to_string())
    }
}

/// `PJRT_Error`: begins with a pointer to functions for clients that do not ask the plugin.
#[repr(C)]
pub struct Error {
    table: &'static ErrorTable,
    failure: Failure,
}

/// `PJRT_Error_FunctionTable`.
#[repr(C)]
struct ErrorTable {
    struct_size: usize,
    instance_size: usize,
    extension_start: usize,
    destroy: extern "C" fn(Handle<Error>),
    message: extern "C" fn(Handle<Error>, *mut *const c_char, *mut usize),
    get_code: extern "C" fn(Handle<Error>) -> c_int,
    for_each_payload: extern "C" fn(Handle<Error>, PayloadFn, *mut c_void),
}

static TABLE: ErrorTable = ErrorTable {
    struct_size: size_of::<ErrorTable>(),
    instance_size: size_of::<usize>(),
    extension_start: 0,
    destroy: destroy_by_table,
    message: message_by_table,
    get_code: code_by_table,
    for_each_payload: payloads_by_table,
};

extern "C" fn destroy_by_table(error: Handle<Error>) {
    error.free();
}

extern "C" fn message_by_table(
    error: Handle<Error>,
    message: *mut *const c_char,
    message_size: *mut usize,
) {
    let text = error.get_if_any().map_or("", |error| &error.failure.message);
    let (start, len) = parts(text.as_bytes());
    if message.is_null() || message_size.is_null() {
        return;
    }
    // SAFETY: the client passes places to be written.
    unsafe {
        message.write(start);
        message_size.write(len);
    }
}

extern "C" fn code_by_table(error: Handle<Error>) -> c_int {
    error.get_if_any().map_or(0, |error| error.failure.code as c_int)
}

/// No error has a payload.
extern "C" fn payloads_by_table(_: Handle<Error>, _: PayloadFn, _: *mut c_void) {}

pub(crate) fn destroy(args: &mut ErrorDestroy) -> Outcome {
    args.error.free();
    Ok(())
}

pub(crate) fn message(args: &mut ErrorMessage) -> Outcome {
    let message = args.error.get_if_any().map_or("", |error| &error.failure.message);
    (args.message, args.message_size) = parts(message.as_bytes());
    Ok(())
}

pub(crate) fn get_code(args: &mut ErrorGetCode) -> Outcome {
    args.code = code_by_table(args.error);
    Ok(())
}

/// No error has a payload.
pub(crate) fn for_each_payload(_: &mut ErrorForEachPayload) -> Outcome {
    Ok(())
}
