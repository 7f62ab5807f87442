//! Devices: the plugin's own tests run programs on them, here are errors.

#![allow(unsafe_code, reason = "functions for C; each block gives its reason")]

use stablo_c::{ErrorCode, stablo_device_free, stablo_device_open, stablo_device_run};
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

fn text(error: *mut c_char) -> String {
    // SAFETY: the library wrote a text, which is freed once.
    unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        stablo_c::stablo_string_free(error);
        text
    }
}

#[test]
fn what_is_no_device_is_an_error() {
    for (device, expected, code) in [
        (c"cpu".as_ptr(), "it does not begin with `pjrt:`", ErrorCode::InvalidArgument),
        (null(), "it does not begin with `pjrt:`", ErrorCode::InvalidArgument),
        (c"pjrt:/missing.so".as_ptr(), "/missing.so: it cannot be loaded", ErrorCode::RunFailed),
    ] {
        let mut error = null_mut();
        // SAFETY: a text or null, and a place for the error.
        let opened = unsafe { stablo_device_open(device, &mut error) };
        assert!(opened.is_null());
        assert_eq!(stablo_c::stablo_last_error_code(), code);
        let error = text(error);
        assert!(error.contains(expected), "{error}");
    }
    let (mut outputs, mut count, mut error) = (null_mut(), 0, null_mut());
    // SAFETY: nulls where they are allowed or reported.
    let done = unsafe {
        stablo_device_run(null(), null(), null(), null(), 0, &mut outputs, &mut count, &mut error)
    };
    assert!(!done && text(error).contains("there is no device at NULL"));
    // SAFETY: null is allowed.
    unsafe { stablo_device_free(null_mut()) };
}
