//! Options of callers with another version of the header.

#![allow(unsafe_code, reason = "functions for C; each block gives its reason")]

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

/// Loads a program with options of eight words, the size first; on failure, the text of the error.
fn load(mut options: [usize; 8]) -> Result<(), String> {
    let text = "func.func @main() { return }";
    options[0] = size_of_val(&options);
    let mut error: *mut c_char = null_mut();
    // SAFETY: the text and the options have the sizes given, and `error` may be written.
    let module = unsafe {
        let (name, options) = (std::ptr::null(), options.as_ptr().cast());
        stablo_c::stablo_load_with(text.as_ptr(), text.len(), name, options, &mut error)
    };
    if module.is_null() {
        // SAFETY: after a failure, it is a text that is to be freed.
        let message = unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned();
        // SAFETY: as above.
        unsafe { stablo_c::stablo_string_free(error) };
        return Err(message);
    }
    // SAFETY: the module is used no more.
    unsafe { stablo_c::stablo_module_free(module) };
    Ok(())
}

#[test]
fn fields_of_newer_versions_must_be_zero() {
    assert_eq!(load([0; 8]), Ok(()));
    let message = load([0, 0, 0, 0, 0, 0, 0, 1]).unwrap_err();
    assert!(message.contains("fields of a newer version"), "{message}");
}
