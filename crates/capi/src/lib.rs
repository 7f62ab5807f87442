//! `libstablo`, the C interface. `include/stablo.h` documents the functions.
//!
//! Every function that reads, writes or drops a program does so on a thread with a large stack:
//! programs may nest deeper than the stack of the caller allows.

#![allow(unsafe_code, reason = "a C interface is made of pointers; each block gives its reason")]

mod arrays;
mod callbacks;
mod devices;
mod failure;
mod into;
mod options;
mod signature;

pub use arrays::stablo_array;
pub use callbacks::{stablo_custom_call, stablo_custom_call_function};
pub use devices::{stablo_device, stablo_device_free, stablo_device_open, stablo_device_run};
pub use failure::{ErrorCode, stablo_last_error_code, stablo_last_error_label};
pub use into::{stablo_buffer, stablo_program_run_into};
pub use options::{stablo_load_options, stablo_refine_options, stablo_run_options};
pub use signature::{
    stablo_program_input_type, stablo_program_num_inputs, stablo_program_num_outputs,
    stablo_program_output_type, stablo_value_type,
};

use callbacks::Cancellation;
use failure::{CallFailure, Failable, c_string, report};
use signature::ProgramSignature;
use stablo::{LoadOptions, Module, PrintOptions, Program, RuntimeValue, Version, with_large_stack};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

/// A program, opaque to C.
#[allow(non_camel_case_types, reason = "the name in C")]
pub struct stablo_module(Module);

/// Runs `work` on a large stack and returns its result, with errors as [`report`] reports them.
///
/// # Safety
/// `error` is null or may be written.
unsafe fn attempt<T: Send>(
    error: *mut *mut c_char,
    work: impl FnOnce() -> Failable<T> + Send,
) -> Option<T> {
    // SAFETY: as the caller says.
    unsafe { report(error, || with_large_stack(work)) }
}

/// Bytes of stack within which a program that does not nest runs, with a wide margin.
const ENOUGH_STACK: usize = 256 << 10;

/// True if this thread is known to have enough stack left to run a program that does not nest.
fn has_enough_stack() -> bool {
    stablo::stack_left().is_some_and(|bytes| bytes >= ENOUGH_STACK)
}

/// As [`attempt`], for runs of a program: runs that need no large stack stay on the calling thread,
/// as starting a thread takes longer than a run of a small program.
///
/// # Safety
/// As there.
unsafe fn attempt_in<T: Send>(
    program: Option<&stablo_program>,
    error: *mut *mut c_char,
    work: impl FnOnce() -> Failable<T> + Send,
) -> Option<T> {
    if program.is_some_and(|program| program.program.runs_in_place()) && has_enough_stack() {
        // SAFETY: as the caller says.
        unsafe { report(error, work) }
    } else {
        // SAFETY: as the caller says.
        unsafe { attempt(error, work) }
    }
}

/// Drops a value on a large stack. The error of the last call stays as it is.
fn free(value: impl Send) {
    // A panic must not cross into C, and there is no one to tell.
    let _ = catch_unwind(AssertUnwindSafe(|| with_large_stack(move || drop(value))));
}

/// The string at a pointer; `default` for null.
///
/// # Safety
/// `text` is null or leads to a text with a zero byte at its end, which lives as long as the
/// result.
unsafe fn text_at(text: *const c_char, default: &str) -> Failable<&str> {
    if text.is_null() {
        return Ok(default);
    }
    // SAFETY: the caller guarantees that the string is there.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| "a text given is not UTF-8".into())
}

/// The values that a pointer leads to.
///
/// # Safety
/// `data` leads to `size` values, which live as long as the result, or `size` is 0.
unsafe fn slice_at<'a, T>(data: *const T, size: usize) -> Failable<&'a [T]> {
    match (data.is_null(), size) {
        (_, 0) => Ok(&[]),
        (true, _) => Err("there is nothing at NULL".into()),
        // SAFETY: the caller guarantees the number of values.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data, size) }),
    }
}

/// The module behind a pointer.
///
/// # Safety
/// `module` is null or comes from `stablo_load` and is not freed while the result lives.
unsafe fn module_at<'a>(module: *const stablo_module) -> Failable<&'a Module> {
    // SAFETY: the caller says that it is null or leads to a module.
    unsafe { module.as_ref() }
        .map(|module| &module.0)
        .ok_or_else(|| "there is no module at NULL".into())
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
    // SAFETY: as the caller says; no options are given.
    unsafe { stablo_load_with(data, size, name, std::ptr::null(), error) }
}

/// See `stablo.h`.
///
/// # Safety
/// `data` leads to `size` bytes or `size` is 0; the other pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_load_with(
    data: *const u8,
    size: usize,
    name: *const c_char,
    options: *const stablo_load_options,
    error: *mut *mut c_char,
) -> *mut stablo_module {
    // SAFETY: the caller says that `name` is null or a text, and guarantees the number of bytes.
    let given = unsafe { (text_at(name, "<memory>"), slice_at(data, size)) };
    // SAFETY: the caller says that `options` is null or as long as it says.
    let options = unsafe { options::read(options) };
    let load = move || {
        let (name, bytes, options) = (given.0?, given.1?, options?);
        let load = LoadOptions::default()
            .verify(false)
            .allow_unregistered_dialects(options.allow_unregistered_dialects);
        load.load(name, bytes).into_result().map_err(CallFailure::of(ErrorCode::InvalidProgram))
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
        // SAFETY: it was made by `Box::into_raw` in `stablo_load`, and the caller gives it up.
        free(unsafe { Box::from_raw(module) });
    }
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
    // SAFETY: the caller gives a module that lives.
    let module = unsafe { module_at(module) };
    // SAFETY: the caller lets `error` be written unless it is null.
    unsafe {
        attempt(error, || {
            stablo::verify(module?).map_err(CallFailure::of(ErrorCode::InvalidProgram))
        })
    }
    .is_some()
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
    // SAFETY: the caller gives a module that lives.
    let module = unsafe { module_at(module) };
    let options = PrintOptions { debug_info, ..PrintOptions::default() };
    let print =
        || stablo::print(module?, &options).map_err(CallFailure::of(ErrorCode::ConversionFailed));
    // SAFETY: there is no error to write.
    let text = unsafe { attempt(std::ptr::null_mut(), print) };
    text.map_or(std::ptr::null_mut(), c_string)
}

/// See `stablo.h`.
///
/// # Safety
/// `data` leads to `size` bytes or `size` is 0; `name` and `error` are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_inspect(
    data: *const u8,
    size: usize,
    name: *const c_char,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller says that `name` is null or a text, and guarantees the number of bytes.
    let given = unsafe { (text_at(name, "<memory>"), slice_at(data, size)) };
    let inspect = move || {
        let inspection = stablo::inspect(given.0?, given.1?)
            .map_err(CallFailure::of(ErrorCode::InvalidProgram))?;
        Ok(inspection.to_json())
    };
    // SAFETY: the caller lets `error` be written unless it is null.
    let text = unsafe { attempt(error, inspect) };
    text.map_or(std::ptr::null_mut(), c_string)
}

/// Changes a module through a copy, so that it stays as it is if that fails.
///
/// # Safety
/// `module` is null or comes from `stablo_load` and is used by no other thread; `error` is null or
/// may be written.
unsafe fn change(
    module: *mut stablo_module,
    error: *mut *mut c_char,
    change: impl FnOnce(&mut Module) -> Failable<()> + Send,
) -> bool {
    // SAFETY: the caller gives a module that lives.
    let old = unsafe { module_at(module) };
    let work = || {
        let mut new = old?.clone();
        change(&mut new).map(|()| new)
    };
    // SAFETY: the caller lets `error` be written unless it is null.
    let Some(new) = (unsafe { attempt(error, work) }) else { return false };
    // SAFETY: the module is not null, or there would be no new one, and only this thread uses it.
    free(std::mem::replace(unsafe { &mut (*module).0 }, new));
    true
}

/// See `stablo.h`.
///
/// # Safety
/// `module`, `options` and `error` are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_refine(
    module: *mut stablo_module,
    options: *const stablo_refine_options,
    error: *mut *mut c_char,
) -> bool {
    // SAFETY: the caller says that `options` is null or as the header says.
    let options = unsafe { options::refine(options) };
    // SAFETY: as the caller says.
    unsafe {
        change(module, error, move |module| {
            stablo::refine(module, &options?)
                .map(drop)
                .map_err(CallFailure::of(ErrorCode::ConversionFailed))
        })
    }
}

/// See `stablo.h`.
///
/// # Safety
/// `module`, `pipeline` and `error` are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_run_pipeline(
    module: *mut stablo_module,
    pipeline: *const c_char,
    error: *mut *mut c_char,
) -> bool {
    // SAFETY: the caller gives a text or null.
    let pipeline = unsafe { text_at(pipeline, "") };
    // SAFETY: as the caller says.
    unsafe {
        change(module, error, move |module| {
            stablo::run_pipeline(module, pipeline?)
                .map(drop)
                .map_err(CallFailure::of(ErrorCode::ConversionFailed))
        })
    }
}

/// Verifies a module and prepares a function of it.
fn prepare(
    module: Failable<&Module>,
    entry: Failable<&str>,
    options: Failable<(stablo::RunOptions, Cancellation)>,
) -> Failable<stablo_program> {
    let (module, (options, cancellation)) = (module?, options?);
    stablo::verify(module).map_err(CallFailure::of(ErrorCode::InvalidProgram))?;
    let program = Program::prepare(module.clone(), entry?, options)
        .map_err(CallFailure::of(ErrorCode::InvalidProgram))?;
    let signature = ProgramSignature::of(&program);
    Ok(stablo_program { program, cancellation, signature })
}

/// Runs `work`, for which a program may be prepared already, for its tensors, and gives them to C.
///
/// # Safety
/// Each pointer is null or may be written.
unsafe fn run(
    program: Option<&stablo_program>,
    outputs: *mut *mut stablo_array,
    num_outputs: *mut usize,
    error: *mut *mut c_char,
    work: impl FnOnce() -> Failable<Vec<RuntimeValue>> + Send,
) -> bool {
    let has_place = !outputs.is_null() && !num_outputs.is_null();
    let run = move || {
        if !has_place {
            return Err("there is no place for the outputs at NULL".into());
        }
        let tensor = |value: RuntimeValue| {
            value.into_tensor().map_err(|error| CallFailure::of(ErrorCode::RunFailed)(error.into()))
        };
        work()?.into_iter().map(tensor).collect()
    };
    // SAFETY: the caller lets `error` be written unless it is null.
    let Some(tensors): Option<Vec<stablo::Tensor>> = (unsafe { attempt_in(program, error, run) })
    else {
        return false;
    };
    let arrays = arrays::write(&tensors);
    // SAFETY: neither is null, or there would be no results; the caller lets them be written.
    unsafe {
        *num_outputs = arrays.len();
        *outputs = Box::into_raw(arrays).cast();
    }
    true
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
pub unsafe extern "C" fn stablo_run(
    module: *const stablo_module,
    entry: *const c_char,
    inputs: *const stablo_array,
    num_inputs: usize,
    options: *const stablo_run_options,
    outputs: *mut *mut stablo_array,
    num_outputs: *mut usize,
    error: *mut *mut c_char,
) -> bool {
    // SAFETY: the caller gives a module that lives, a text or null, and that number of arrays.
    let (module, entry, inputs) =
        unsafe { (module_at(module), text_at(entry, "main"), arrays::read(inputs, num_inputs)) };
    // SAFETY: the caller says that `options` is null or as the header says.
    let options = unsafe { options::run(options) };
    let work = move || {
        let inputs = inputs?;
        prepare(module, entry, options)?.run(inputs)
    };
    // SAFETY: as the caller says.
    unsafe { run(None, outputs, num_outputs, error, work) }
}

/// A prepared program, opaque to C.
#[allow(non_camel_case_types, reason = "the name in C")]
pub struct stablo_program {
    program: Program,
    cancellation: Cancellation,
    signature: ProgramSignature,
}

impl stablo_program {
    fn run(&self, inputs: Vec<RuntimeValue>) -> Failable<Vec<RuntimeValue>> {
        let results = self.program.run_observed(inputs, &mut self.cancellation.clone());
        results.map_err(CallFailure::of(ErrorCode::RunFailed))
    }
}

/// See `stablo.h`.
///
/// # Safety
/// All pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_prepare(
    module: *const stablo_module,
    entry: *const c_char,
    options: *const stablo_run_options,
    error: *mut *mut c_char,
) -> *mut stablo_program {
    // SAFETY: the caller gives a module that lives, and a text or null.
    let (module, entry) = unsafe { (module_at(module), text_at(entry, "main")) };
    // SAFETY: the caller says that `options` is null or as the header says.
    let options = unsafe { options::run(options) };
    // SAFETY: the caller lets `error` be written unless it is null.
    let program = unsafe { attempt(error, || prepare(module, entry, options)) };
    program.map_or(std::ptr::null_mut(), |program| Box::into_raw(Box::new(program)))
}

/// See `stablo.h`.
///
/// # Safety
/// All pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_program_run(
    program: *const stablo_program,
    inputs: *const stablo_array,
    num_inputs: usize,
    outputs: *mut *mut stablo_array,
    num_outputs: *mut usize,
    error: *mut *mut c_char,
) -> bool {
    // SAFETY: the caller gives a program that lives or null, and that number of arrays.
    let (program, inputs) = unsafe { (program.as_ref(), arrays::read(inputs, num_inputs)) };
    let work = move || {
        let program = program.ok_or("there is no program at NULL")?;
        program.run(inputs?)
    };
    // SAFETY: as the caller says.
    unsafe { run(program, outputs, num_outputs, error, work) }
}

/// See `stablo.h`.
///
/// # Safety
/// `program` is null or comes from `stablo_prepare`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_program_free(program: *mut stablo_program) {
    if !program.is_null() {
        // SAFETY: it was made by `Box::into_raw` in `stablo_prepare`, and the caller gives it up.
        free(unsafe { Box::from_raw(program) });
    }
}

/// See `stablo.h`.
///
/// # Safety
/// `arrays` is null or comes, with `count`, from `stablo_run` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_arrays_free(arrays: *mut stablo_array, count: usize) {
    if !arrays.is_null() {
        // SAFETY: as the caller says.
        unsafe { arrays::free(arrays, count) };
    }
}

/// See `stablo.h`.
///
/// # Safety
/// `module`, `target` and `error` are as the header says; `data` and `size` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_serialize(
    module: *const stablo_module,
    target: *const c_char,
    data: *mut *mut u8,
    size: *mut usize,
    error: *mut *mut c_char,
) -> bool {
    // SAFETY: the caller gives a module that lives and a text.
    let given = unsafe { (module_at(module), text_at(target, "current")) };
    let has_place = !data.is_null() && !size.is_null();
    let serialize = move || {
        if !has_place {
            return Err("there is no place for the artifact at NULL".into());
        }
        let target = stablo::target_version(given.1?)
            .map_err(CallFailure::of(ErrorCode::InvalidArgument))?;
        let artifact = stablo::serialize(given.0?, target)
            .map_err(CallFailure::of(ErrorCode::ConversionFailed))?;
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

/// See `stablo.h`.
#[unsafe(no_mangle)]
pub extern "C" fn stablo_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
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
    // SAFETY: as the caller says.
    unsafe { failure::free_string(text) };
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
