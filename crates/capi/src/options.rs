//! Options as C gives them: structures whose first field is their size, so that programs that were
//! compiled against an older header, whose structures are shorter, keep working.

use crate::callbacks::{Cancellation, custom_calls, stablo_custom_call};
use crate::failure::{CallFailure, ErrorCode, Failable};
use crate::{slice_at, text_at};
use stablo::{Limits, RefineOptions, RunOptions};
use std::ffi::{c_char, c_void};
use std::time::Duration;

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct stablo_load_options {
    #[allow(dead_code, reason = "read through a pointer")]
    struct_size: usize,
    pub(crate) allow_unregistered_dialects: bool,
}

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct stablo_run_options {
    #[allow(dead_code, reason = "read through a pointer")]
    struct_size: usize,
    max_memory: usize,
    max_steps: u64,
    max_seconds: f64,
    is_cancelled: Option<extern "C" fn(*mut c_void) -> bool>,
    cancel_context: *mut c_void,
    custom_calls: *const stablo_custom_call,
    num_custom_calls: usize,
}

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct stablo_refine_options {
    #[allow(dead_code, reason = "read through a pointer")]
    struct_size: usize,
    input_types: *const c_char,
    batch: i64,
    dimension_names: *const *const c_char,
    dimension_sizes: *const i64,
    num_dimensions: usize,
    constant_arguments: *const usize,
    constant_values: *const i64,
    num_constants: usize,
}

/// A structure that begins with its size, and for which all zeros are the defaults.
///
/// # Safety
/// The type is `repr(C)`, its first field is its size as a `usize`, and any bytes that C programs
/// write into its fields, as well as zeros, are values of it.
pub(crate) unsafe trait Options: Copy {}

// SAFETY: so it is declared above; C writes 0 or 1 into a `bool`.
unsafe impl Options for stablo_load_options {}
// SAFETY: so it is declared above.
unsafe impl Options for stablo_run_options {}
// SAFETY: so it is declared above.
unsafe impl Options for stablo_refine_options {}

/// The options behind a pointer; the defaults for null, and for fields beyond the size given.
/// Refuses fields beyond those of the type that are not zero.
///
/// # Safety
/// `options` is null or has the size in bytes that its first field says.
pub(crate) unsafe fn read<T: Options>(options: *const T) -> Failable<T> {
    let mut read = std::mem::MaybeUninit::<T>::zeroed();
    if !options.is_null() {
        // SAFETY: the structure has at least its first field.
        let size = unsafe { options.cast::<usize>().read() };
        if size < size_of::<usize>() {
            return Err("the options do not say their size: set struct_size".into());
        }
        let (size, all) = (size.min(size_of::<T>()), size);
        // A caller with a newer header may ask for what this version would silently not do.
        // SAFETY: the structure has that many bytes.
        if (size..all).any(|at| unsafe { options.cast::<u8>().add(at).read() } != 0) {
            return Err("the options set fields of a newer version of the library".into());
        }
        // SAFETY: both places have that size, and do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(options.cast::<u8>(), read.as_mut_ptr().cast(), size);
        }
    }
    // SAFETY: zeros are the defaults, and what was copied are fields of the type.
    Ok(unsafe { read.assume_init() })
}

impl stablo_run_options {
    /// The limits; zeros are none.
    fn limits(&self) -> Failable<Limits> {
        let time = match self.max_seconds {
            0.0 => None,
            seconds => Some(
                Duration::try_from_secs_f64(seconds)
                    .map_err(|e| CallFailure::from(format!("max_seconds: {e}")))?,
            ),
        };
        Ok(Limits {
            memory: Some(self.max_memory).filter(|&bytes| bytes > 0),
            steps: Some(self.max_steps).filter(|&steps| steps > 0),
            time,
            ..Limits::default()
        })
    }
}

/// The options of a run, and what ends it.
///
/// # Safety
/// `options` is null or has the size in bytes that its first field says; its pointers are as the
/// header says.
pub(crate) unsafe fn run(
    options: *const stablo_run_options,
) -> Failable<(RunOptions, Cancellation)> {
    // SAFETY: as the caller says.
    let options = unsafe { read(options)? };
    // SAFETY: as the caller says.
    let calls = unsafe { slice_at(options.custom_calls, options.num_custom_calls)? };
    // SAFETY: as the caller says.
    let custom_calls = unsafe { custom_calls(calls)? };
    let cancellation = Cancellation::new(options.is_cancelled, options.cancel_context);
    let limits = options.limits()?;
    Ok((RunOptions { limits, custom_calls, ..RunOptions::default() }, cancellation))
}

/// The options of a refinement.
///
/// # Safety
/// `options` is null or has the size in bytes that its first field says; its pointers lead to as
/// many values as it says.
pub(crate) unsafe fn refine(options: *const stablo_refine_options) -> Failable<RefineOptions> {
    let mut refine = RefineOptions::default();
    // SAFETY: as the caller says.
    let options = unsafe { read(options)? };
    if !options.input_types.is_null() {
        // SAFETY: as the caller says.
        let types = unsafe { text_at(options.input_types, "")? };
        refine = refine.input_types(
            stablo::parse_types(types).map_err(CallFailure::of(ErrorCode::InvalidArgument))?,
        );
    }
    if options.batch != 0 {
        refine = refine.batch(options.batch);
    }
    // SAFETY: as the caller says.
    let (names, sizes, arguments, values) = unsafe {
        (
            slice_at(options.dimension_names, options.num_dimensions)?,
            slice_at(options.dimension_sizes, options.num_dimensions)?,
            slice_at(options.constant_arguments, options.num_constants)?,
            slice_at(options.constant_values, options.num_constants)?,
        )
    };
    for (&name, &size) in names.iter().zip(sizes) {
        // SAFETY: as the caller says.
        refine = refine.dimension(unsafe { text_at(name, "")? }, size);
    }
    for (&argument, &value) in arguments.iter().zip(values) {
        refine = refine.constant(argument, value);
    }
    Ok(refine)
}
