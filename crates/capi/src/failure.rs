//! Failures as C sees them: a text, and for programs a code and the label of the violated rule.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once};

/// The kind of an error. See `stablo.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum ErrorCode {
    /// No error.
    Ok = 0,
    /// A pointer, text, option, input or buffer of the call.
    InvalidArgument = 1,
    /// The program.
    InvalidProgram = 2,
    /// Refinement, passes or the target version.
    ConversionFailed = 3,
    /// An op of the run.
    RunFailed = 4,
    /// A limit of the run.
    LimitExceeded = 5,
    /// The caller ended the run.
    Cancelled = 6,
    /// A bug of the library.
    Internal = 7,
}

/// An error of a call.
pub(crate) struct CallFailure {
    code: ErrorCode,
    label: String,
    text: String,
}

/// Result of a function for C.
pub(crate) type Failable<T> = Result<T, CallFailure>;

impl CallFailure {
    /// Converts errors of the library; `code` is for labels that do not imply one.
    pub(crate) fn of(code: ErrorCode) -> impl Fn(stablo::Error) -> CallFailure {
        move |error| {
            let label = error.diagnostics().first().map_or("", |d| &*d.label).to_string();
            let code = match &*label {
                _ if error.limit().is_some() => ErrorCode::LimitExceeded,
                "interrupted" => ErrorCode::Cancelled,
                "inputs" | "outputs" => ErrorCode::InvalidArgument,
                _ => code,
            };
            // As the command line shows it.
            CallFailure { code, label, text: format!("{error}\n") }
        }
    }

    /// Puts the name of the argument that the error is about before the text.
    pub(crate) fn about(self, argument: impl std::fmt::Display) -> CallFailure {
        CallFailure { text: format!("{argument}: {}", self.text), ..self }
    }
}

impl From<String> for CallFailure {
    fn from(text: String) -> CallFailure {
        CallFailure { code: ErrorCode::InvalidArgument, label: String::new(), text }
    }
}

impl From<&str> for CallFailure {
    fn from(text: &str) -> CallFailure {
        text.to_string().into()
    }
}

thread_local! {
    /// Code and label of the last call that can fail.
    static LAST: RefCell<(ErrorCode, CString)> = RefCell::new((ErrorCode::Ok, CString::default()));
}

/// The place of the last panic, for the text of the error.
static PANIC_PLACE: Mutex<String> = Mutex::new(String::new());

/// Keeps panics from printing: the process belongs to the host. The hook is private to the library,
/// which links a second copy of Rust's standard library.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info.location().map_or(String::new(), |place| format!(" at {place}"));
            *PANIC_PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = place;
        }));
    });
}

/// Does some work and returns its result. On failure returns `None` and sets `error`. A panic is an
/// error, too: it must not cross into C.
///
/// # Safety
/// `error` is null or may be written.
pub(crate) unsafe fn report<T>(
    error: *mut *mut c_char,
    work: impl FnOnce() -> Failable<T>,
) -> Option<T> {
    silence_panics();
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| text.to_string());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        let place = PANIC_PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let text = format!(
            "stablo failed{place}: {}; this is a bug\n",
            message.as_deref().unwrap_or("no message")
        );
        Err(CallFailure { code: ErrorCode::Internal, label: String::new(), text })
    });
    let (value, failure) = match result {
        Ok(value) => (Some(value), None),
        Err(failure) => (None, Some(failure)),
    };
    let (code, label, text) = match failure {
        Some(CallFailure { code, label, text }) => (code, label, c_string(text)),
        None => (ErrorCode::Ok, String::new(), std::ptr::null_mut()),
    };
    LAST.set((code, CString::new(label).unwrap_or_default()));
    if error.is_null() {
        // SAFETY: `c_string` made it, and no other pointer to it exists.
        unsafe { free_string(text) };
    } else {
        // SAFETY: the caller guarantees that `error` may be written.
        unsafe { *error = text };
    }
    value
}

/// Frees a string of [`c_string`]; null is allowed.
///
/// # Safety
/// It comes from there, and is not used again.
pub(crate) unsafe fn free_string(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it was made by `CString::into_raw`, and the caller gives up ownership.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// A string for C, truncated at the first zero byte.
pub(crate) fn c_string(text: String) -> *mut c_char {
    let mut bytes = text.into_bytes();
    bytes.truncate(bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default().into_raw()
}

/// See `stablo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn stablo_last_error_code() -> ErrorCode {
    LAST.with_borrow(|(code, _)| *code)
}

/// See `stablo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn stablo_last_error_label() -> *const c_char {
    LAST.with_borrow(|(_, label)| CStr::as_ptr(label))
}
