//! Runs in memory of the caller.

use crate::arrays::{ArrayParts, stablo_array};
use crate::failure::{CallFailure, ErrorCode, Failable};
use crate::{attempt_in, slice_at, stablo_program};
use stablo::{Bytes, DType, Tensor, TensorMut, TensorRef};
use std::ffi::{c_char, c_void};
use std::ops::Range;

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
#[repr(C)]
pub struct stablo_buffer {
    dtype: *const c_char,
    shape: *const i64,
    rank: usize,
    data: *mut c_void,
    size: usize,
}

impl stablo_buffer {
    /// A buffer of a type and shape that live as long as it is used, and the same bytes.
    pub(crate) fn new(dtype: *const c_char, shape: &[i64], bytes: &mut [u8]) -> stablo_buffer {
        let (data, size) = (bytes.as_mut_ptr().cast(), bytes.len());
        stablo_buffer { dtype, shape: shape.as_ptr(), rank: shape.len(), data, size }
    }
}

/// An input of a run.
enum InputBytes<'a> {
    /// Its elements are where the caller has them.
    Borrowed(DType, Vec<usize>, &'a [u8]),
    Copied(Tensor),
}

impl<'a> InputBytes<'a> {
    /// The input of an array; a copy if it overlaps one of the outputs, or its elements are not as
    /// the library has them.
    fn of(elements: ArrayParts<'a>, outputs: &[Range<usize>]) -> Failable<InputBytes<'a>> {
        let ArrayParts { dtype, shape, bytes } = elements;
        let is_alone = outputs.iter().all(|output| !overlap(output, &addresses(bytes)));
        if is_alone && TensorRef::from_bytes(dtype, &shape, bytes).is_ok() {
            return Ok(InputBytes::Borrowed(dtype, shape, bytes));
        }
        let copy = Tensor::from_bytes(dtype, shape, Bytes::from(bytes));
        copy.map(InputBytes::Copied).map_err(|error| error.to_string().into())
    }

    fn as_ref(&self) -> Failable<TensorRef<'_>> {
        match self {
            InputBytes::Borrowed(dtype, shape, bytes) => {
                TensorRef::from_bytes(*dtype, shape, bytes).map_err(|e| e.to_string().into())
            }
            InputBytes::Copied(tensor) => Ok(tensor.into()),
        }
    }
}

fn addresses(bytes: &[u8]) -> Range<usize> {
    let Range { start, end } = bytes.as_ptr_range();
    start.addr()..end.addr()
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

/// The bytes of an output, which no other value has.
struct OutputBytes<'a> {
    dtype: DType,
    shape: Vec<usize>,
    bytes: &'a mut [u8],
}

impl OutputBytes<'_> {
    fn as_mut(&mut self, index: usize) -> Failable<TensorMut<'_>> {
        let OutputBytes { dtype, shape, bytes } = self;
        TensorMut::from_bytes(*dtype, shape, bytes)
            .map_err(|e| CallFailure::from(format!("output {index}: {e}")))
    }
}

/// See `stablo.h`.
///
/// # Safety
/// All pointers are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stablo_program_run_into(
    program: *const stablo_program,
    inputs: *const stablo_array,
    num_inputs: usize,
    outputs: *const stablo_buffer,
    num_outputs: usize,
    error: *mut *mut c_char,
) -> bool {
    // SAFETY: the caller gives a program that lives or null.
    let program = unsafe { program.as_ref() };
    // SAFETY: the caller gives arrays and buffers of these numbers, which no one else writes.
    let values = unsafe { read(inputs, num_inputs, outputs, num_outputs) };
    let work = || {
        let program = program.ok_or("there is no program at NULL")?;
        let (inputs, mut outputs) = values?;
        let inputs = inputs.iter().map(InputBytes::as_ref).collect::<Failable<Vec<_>>>()?;
        let outputs = outputs.iter_mut().enumerate().map(|(index, output)| output.as_mut(index));
        let outputs = outputs.collect::<Failable<Vec<_>>>();
        program
            .program
            .run_into_observed(&inputs, &mut outputs?, &mut program.cancellation.clone())
            .map_err(CallFailure::of(ErrorCode::RunFailed))
    };
    // SAFETY: the caller lets `error` be written unless it is null.
    unsafe { attempt_in(program, error, work) }.is_some()
}

/// The values of a call.
///
/// # Safety
/// The numbers of arrays and buffers are right, and their pointers are as the header says.
unsafe fn read<'a>(
    inputs: *const stablo_array,
    num_inputs: usize,
    outputs: *const stablo_buffer,
    num_outputs: usize,
) -> Failable<(Vec<InputBytes<'a>>, Vec<OutputBytes<'a>>)> {
    // SAFETY: as the caller says.
    let (inputs, outputs) =
        unsafe { (slice_at(inputs, num_inputs)?, slice_at(outputs, num_outputs)?) };
    let places = outputs.iter().map(|output| {
        let start = output.data.addr();
        start..start.saturating_add(output.size)
    });
    let places: Vec<Range<usize>> = places.collect();
    for (index, place) in places.iter().enumerate() {
        if let Some(other) = places[..index].iter().position(|other| overlap(other, place)) {
            return Err(format!("outputs {other} and {index} overlap").into());
        }
    }
    let input = |(index, array): (usize, &stablo_array)| {
        // SAFETY: as the caller says.
        let elements = unsafe { array.elements() };
        elements
            .and_then(|elements| InputBytes::of(elements, &places))
            .map_err(|failure| failure.about(format_args!("input {index}")))
    };
    let inputs = inputs.iter().enumerate().map(input).collect::<Failable<_>>()?;
    let output = |(index, buffer): (usize, &stablo_buffer)| {
        let stablo_buffer { dtype, shape, rank, size, data } = *buffer;
        let failed = |failure: CallFailure| failure.about(format_args!("output {index}"));
        // SAFETY: as the caller says; without bytes, none are read.
        let (dtype, shape) = unsafe { ArrayParts::type_of(dtype, shape, rank).map_err(failed)? };
        let bytes: &mut [u8] = match (data.is_null(), size) {
            (_, 0) => &mut [],
            (true, _) => return Err(failed("there is nothing at NULL".into())),
            // SAFETY: the caller gives that number of bytes, which neither an input that is
            // borrowed nor another output has, as was found above.
            (false, _) => unsafe { std::slice::from_raw_parts_mut(data.cast(), size) },
        };
        Ok(OutputBytes { dtype, shape, bytes })
    };
    let outputs = outputs.iter().enumerate().map(output).collect::<Failable<_>>()?;
    Ok((inputs, outputs))
}
