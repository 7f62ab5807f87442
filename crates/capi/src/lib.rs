//! `libstablo`, the C interface. `include/stablo.h` documents the functions.

#![allow(unsafe_code)] // a C interface is made of pointers; each block gives its reason

use stablo::{LoadOptions, Module, PrintOptions, SerializeOptions, Version};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

/// A program, opaque to C.
#[allow(non_camel_case_types)] // the name in C
pub struct stablo_module(Module);

/// The text of an error, as the command line shows it.
fn text_of(error: stablo::Error) -> String {
    format!("{error}\n")
}

/// A string for C, truncated at the first zero byte.
fn c_string(text: String) -> *mut c_char {
    let mut bytes = text.into_bytes();
    bytes.truncate(bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default().into_raw()
}

/// Runs `work`. On failure, stores the error text and returns `None`. A panic is an error, too: it
/// must not unwind into C.
///
/// # Safety
/// `error` is null or valid for writes.
unsafe fn attempt<T>(
    error: *mut *mut c_char,
    work: impl FnOnce() -> Result<T, String>,
) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    let (value, message) = match result {
        Ok(Ok(value)) => (Some(value), None),
        Ok(Err(message)) => (None, Some(message)),
        Err(_) => (None, Some("stablo failed; this is a bug".to_string())),
    };
    if !error.is_null() {
        let text = message.map_or(std::ptr::null_mut(), c_string);
        // SAFETY: the caller guarantees that `error` is null or valid for writes.
        unsafe { *error = text };
    }
    value
}

/// The string at a pointer; `default` for null.
///
/// # Safety
/// `text` is null or points to a zero-terminated string that outlives the result.
unsafe fn text_at(text: *const c_char, default: &str) -> Result<&str, String> {
    if text.is_null() {
        return Ok(default);
    }
    // SAFETY: the caller guarantees that there is such a string.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| "a text given is not UTF-8".to_string())
}

/// See `stablo.h`.
///
/// # Safety
/// `data` points to `size` bytes or `size` is 0; `name` and `error` are as the header requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_load(
    data: *const u8,
    size: usize,
    name: *const c_char,
    error: *mut *mut c_char,
) -> *mut stablo_module {
    let load = || {
        // SAFETY: the caller guarantees that `name` is null or a string.
        let name = unsafe { text_at(name, "<memory>") }?;
        let bytes = match (data.is_null(), size) {
            (_, 0) => Vec::new(),
            (true, _) => return Err("there are no bytes at NULL".to_string()),
            // SAFETY: the caller guarantees that `data` points to `size` bytes.
            (false, _) => unsafe { std::slice::from_raw_parts(data, size) }.to_vec(),
        };
        let loaded = LoadOptions::default().verify(false).load(name, bytes);
        loaded.into_result().map_err(text_of)
    };
    // SAFETY: the caller guarantees that `error` is null or valid for writes.
    let module = unsafe { attempt(error, load) };
    module.map_or(std::ptr::null_mut(), |module| Box::into_raw(Box::new(stablo_module(module))))
}

/// See `stablo.h`.
///
/// # Safety
/// `module` is null or comes from `stablo_load`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_module_free(module: *mut stablo_module) {
    if !module.is_null() {
        // SAFETY: it was made by `Box::into_raw` in `stablo_load`, and the caller gives up
        // ownership.
        drop(unsafe { Box::from_raw(module) });
    }
}

/// The module at a pointer.
///
/// # Safety
/// `module` is null or comes from `stablo_load`, and is not freed while the result lives.
unsafe fn module_at<'a>(module: *const stablo_module) -> Result<&'a Module, String> {
    // SAFETY: the caller guarantees that it is null or points to a module.
    unsafe { module.as_ref() }
        .map(|module| &module.0)
        .ok_or_else(|| "there is no module at NULL".to_string())
}

/// See `stablo.h`.
///
/// # Safety
/// `module` and `error` are as the header requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_verify(
    module: *const stablo_module,
    error: *mut *mut c_char,
) -> bool {
    let verify = || {
        // SAFETY: the caller passes a live module.
        let module = unsafe { module_at(module) }?;
        stablo::verify(module).map_err(text_of)
    };
    // SAFETY: the caller guarantees that `error` is null or valid for writes.
    unsafe { attempt(error, verify) }.is_some()
}

/// See `stablo.h`.
///
/// # Safety
/// `module` is as the header requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_to_text(
    module: *const stablo_module,
    debug_info: bool,
) -> *mut c_char {
    let print = || {
        // SAFETY: the caller passes a live module.
        let module = unsafe { module_at(module) }?;
        stablo::print(module, &PrintOptions { debug_info, ..PrintOptions::default() })
            .map_err(text_of)
    };
    // SAFETY: a null `error` is not written.
    let text = unsafe { attempt(std::ptr::null_mut(), print) };
    text.map_or(std::ptr::null_mut(), c_string)
}

/// See `stablo.h`.
///
/// # Safety
/// `module`, `target` and `error` are as the header requires; `data` and `size` are valid for
/// writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_serialize(
    module: *const stablo_module,
    target: *const c_char,
    data: *mut *mut u8,
    size: *mut usize,
    error: *mut *mut c_char,
) -> bool {
    let serialize = || {
        if data.is_null() || size.is_null() {
            return Err("there is no place for the artifact at NULL".to_string());
        }
        // SAFETY: the caller passes a live module and a string.
        let (module, target) = unsafe { (module_at(module)?, text_at(target, "")?) };
        let target = stablo::target_version(target).map_err(text_of)?;
        let options = SerializeOptions::from(target).allow_other_dialects(true);
        let artifact = stablo::serialize(module, options).map_err(text_of)?;
        Ok(artifact.into_boxed_slice())
    };
    // SAFETY: the caller guarantees that `error` is null or valid for writes.
    let Some(artifact) = (unsafe { attempt(error, serialize) }) else { return false };
    // SAFETY: both were checked to be non-null, and the caller guarantees that they are valid for
    // writes.
    unsafe {
        *size = artifact.len();
        *data = Box::into_raw(artifact).cast();
    }
    true
}

/// The texts of versions, zero-terminated.
static VERSIONS: LazyLock<[CString; 2]> = LazyLock::new(|| {
    [Version::CURRENT, Version::MINIMUM].map(|v| CString::new(v.to_string()).unwrap_or_default())
});

/// See `stablo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn stablo_current_version() -> *const c_char {
    VERSIONS[0].as_ptr()
}

/// See `stablo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn stablo_minimum_version() -> *const c_char {
    VERSIONS[1].as_ptr()
}

/// See `stablo.h`.
///
/// # Safety
/// `text` is null or comes from a function of this library, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: it was made by `CString::into_raw`, and the caller gives up ownership.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// See `stablo.h`.
///
/// # Safety
/// `data` is null or comes, with `size`, from `stablo_serialize`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_bytes_free(data: *mut u8, size: usize) {
    if !data.is_null() {
        // SAFETY: it was made by `Box::into_raw` from that many bytes, and the caller gives up
        // ownership.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(data, size)) });
    }
}
