//! Runs StableHLO programs in WebAssembly, without an operating system: [`run`] takes a program and
//! tensors as bytes and gives tensors back. `stablo.mjs` is the JavaScript around it.
//!
//! Buffers hold records: a length of four bytes, little-endian, and that many bytes. A tensor is
//! two records, its type (`tensor<2xf32>`) and its elements in row-major order. A result begins
//! with a byte: 1 and the tensors, or 0 and the rendered diagnostics.

mod editor;

use stablo::{Bytes, Error, Host, Limits, Program, RunOptions, RuntimeValue, Tensor};
use std::fmt::Write;
use std::time::Duration;

// Functions that JavaScript provides.
#[link(wasm_import_module = "host")]
unsafe extern "C" {
    // Milliseconds since a fixed point in the past.
    safe fn now() -> f64;
}

/// The function that fused multiply-adds call: that of the compiler's library takes ten times as
/// long.
#[unsafe(no_mangle)]
pub extern "C" fn fma(x: f64, y: f64, z: f64) -> f64 {
    stablo::numerics::math::fused::fused_multiply_add(x, y, z)
}

/// Likewise for 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn fmaf(x: f32, y: f32, z: f32) -> f32 {
    stablo::numerics::math::fused::fused_multiply_add_f32(x, y, z)
}

/// Maximum nesting of calls and regions: JavaScript engines have stacks of less than a megabyte.
const MAX_DEPTH: usize = 100;

/// Allocates a buffer for the host to write to.
#[unsafe(no_mangle)]
pub extern "C" fn stablo_alloc(len: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; len].into_boxed_slice()).cast()
}

/// Frees a buffer of [`stablo_alloc`], or a result of [`stablo_run`] with its length.
///
/// # Safety
/// The buffer has that length, and nothing uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_free(buffer: *mut u8, len: usize) {
    // SAFETY: by contract this is a box that was given away.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(buffer, len)) });
}

/// Runs the function `main` of a program. Limits of zero are none. The result is a record.
///
/// # Safety
/// Both buffers are of [`stablo_alloc`] and have those lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_run(
    program: *const u8,
    program_len: usize,
    inputs: *const u8,
    inputs_len: usize,
    max_memory: usize,
    max_steps: f64,
    max_seconds: f64,
) -> *mut u8 {
    // SAFETY: by contract these are slices.
    let program = unsafe { std::slice::from_raw_parts(program, program_len) };
    // SAFETY: as above.
    let inputs = unsafe { std::slice::from_raw_parts(inputs, inputs_len) };
    let limits = Limits {
        depth: MAX_DEPTH,
        memory: Some(max_memory).filter(|&bytes| bytes > 0),
        steps: Some(max_steps as u64).filter(|&steps| steps > 0),
        time: Duration::try_from_secs_f64(max_seconds).ok().filter(|time| !time.is_zero()),
        ..Limits::default()
    };
    let result = match run(program, inputs, limits) {
        Ok(tensors) => [&[1][..], &tensors].concat(),
        Err(error) => [&[0][..], error.to_string().as_bytes()].concat(),
    };
    let mut buffer = Vec::new();
    push_record(&mut buffer, &result);
    Box::into_raw(buffer.into_boxed_slice()).cast()
}

/// Answers a request of an editor, which may come with bytes: see [`editor::answer`]. The result is
/// a record of two: the answer, and bytes that belong to it.
///
/// # Safety
/// Both buffers are of [`stablo_alloc`] and have those lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_edit(
    request: *const u8,
    request_len: usize,
    payload: *const u8,
    payload_len: usize,
) -> *mut u8 {
    // SAFETY: by contract these are slices.
    let request = unsafe { std::slice::from_raw_parts(request, request_len) };
    // SAFETY: as above.
    let payload = unsafe { std::slice::from_raw_parts(payload, payload_len) };
    let clock = || Duration::try_from_secs_f64(now() / 1e3).unwrap_or_default();
    let host = Host::default().with_clock(clock);
    let _entered = host.enter();
    let (answer, bytes) = editor::answer(request, payload);
    let mut both = Vec::new();
    push_record(&mut both, answer.as_bytes());
    push_record(&mut both, &bytes);
    let mut buffer = Vec::new();
    push_record(&mut buffer, &both);
    Box::into_raw(buffer.into_boxed_slice()).cast()
}

/// Runs a program on tensors in records.
fn run(program: &[u8], inputs: &[u8], limits: Limits) -> Result<Vec<u8>, Error> {
    let clock = || Duration::try_from_secs_f64(now() / 1e3).unwrap_or_default();
    let host = Host::default().with_clock(clock);
    let _entered = host.enter();
    let module = stablo::load("program", program.to_vec())?;
    let values = values(inputs)?;
    let mut outputs = Vec::new();
    let program = Program::prepare(module, "main", RunOptions::from(limits))?;
    for value in program.run(values)? {
        push_tensor(&mut outputs, value.tensor()?);
    }
    Ok(outputs)
}

/// The values in records.
fn values(inputs: &[u8]) -> Result<Vec<RuntimeValue>, Error> {
    let mut records = Records(inputs);
    let mut values = Vec::new();
    while let Some(ty) = records.next() {
        let elements = records.next().unwrap_or_default();
        values.push(RuntimeValue::Tensor(tensor(ty, elements)?));
    }
    Ok(values)
}

/// Appends the records of a tensor.
fn push_tensor(buffer: &mut Vec<u8>, tensor: &Tensor) {
    let mut ty = String::from("tensor<");
    tensor.shape().iter().for_each(|size| {
        let _ = write!(ty, "{size}x");
    });
    let _ = write!(ty, "{}>", tensor.dtype());
    push_record(buffer, ty.as_bytes());
    push_record(buffer, tensor.bytes());
}

/// The tensor of a type with those elements.
fn tensor(ty: &[u8], elements: &[u8]) -> Result<Tensor, Error> {
    let ty = stablo::parse_type(&String::from_utf8_lossy(ty))?;
    let invalid = || Error::message("input", format!("a {ty} is no tensor of static shape"));
    let dtype = stablo::storage_dtype(&ty).ok_or_else(invalid)?;
    let size = |&size: &i64| usize::try_from(size).ok();
    let shape: Option<Vec<usize>> =
        ty.shape().and_then(|shape| shape.iter().map(size).collect());
    Ok(Tensor::from_bytes(dtype, shape.ok_or_else(invalid)?, Bytes::from(elements.to_vec()))?)
}

fn push_record(buffer: &mut Vec<u8>, record: &[u8]) {
    // A memory of 32 bits holds no longer record.
    let len = u32::try_from(record.len()).unwrap_or(u32::MAX);
    buffer.extend(len.to_le_bytes());
    buffer.extend(record);
}

/// The records in a buffer, up to the first that is not whole.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk::<4>()?;
        let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        self.0 = rest;
        Some(record)
    }
}
