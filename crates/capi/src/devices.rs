//! Devices of PJRT plugins.

use crate::failure::{CallFailure, ErrorCode, Failable};
use crate::{arrays, attempt, free, module_at, run, stablo_array, stablo_module, text_at};
use stablo::Device;
use std::ffi::c_char;

/// A device, opaque to C.
#[allow(non_camel_case_types, reason = "the name in C")]
pub struct stablo_device(Device);

/// See `stablo.h`.
///
/// # Safety
/// All pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_device_open(
    device: *const c_char,
    error: *mut *mut c_char,
) -> *mut stablo_device {
    // SAFETY: the caller gives a text or null.
    let text = unsafe { text_at(device, "") };
    let open = || -> Failable<Device> {
        let spec = text?.parse().map_err(CallFailure::of(ErrorCode::InvalidArgument))?;
        Device::open(&spec).map_err(CallFailure::of(ErrorCode::RunFailed))
    };
    // SAFETY: the caller lets `error` be written unless it is null.
    let device = unsafe { attempt(error, open) };
    device.map_or(std::ptr::null_mut(), |device| Box::into_raw(Box::new(stablo_device(device))))
}

/// See `stablo.h`.
///
/// # Safety
/// All pointers are as the header says.
#[allow(
    clippy::too_many_arguments,
    reason = "a C function has no other way to return several values"
)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_device_run(
    device: *const stablo_device,
    module: *const stablo_module,
    entry: *const c_char,
    inputs: *const stablo_array,
    num_inputs: usize,
    outputs: *mut *mut stablo_array,
    num_outputs: *mut usize,
    error: *mut *mut c_char,
) -> bool {
    // SAFETY: the caller gives a device that lives or null.
    let device = unsafe { device.as_ref() };
    // SAFETY: the caller gives a module that lives, a text or null, and that number of arrays.
    let (module, entry, inputs) =
        unsafe { (module_at(module), text_at(entry, "main"), arrays::read(inputs, num_inputs)) };
    let work = move || {
        let device = &device.ok_or("there is no device at NULL")?.0;
        let (module, inputs) = (module?, inputs?);
        stablo::verify(module).map_err(CallFailure::of(ErrorCode::InvalidProgram))?;
        device.run(module, entry?, &inputs).map_err(CallFailure::of(ErrorCode::RunFailed))
    };
    // SAFETY: as the caller says.
    unsafe { run(None, outputs, num_outputs, error, work) }
}

/// See `stablo.h`.
///
/// # Safety
/// `device` is null or comes from `stablo_device_open`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_device_free(device: *mut stablo_device) {
    if !device.is_null() {
        // SAFETY: it was made by `Box::into_raw` above, and the caller gives it up.
        free(unsafe { Box::from_raw(device) });
    }
}
