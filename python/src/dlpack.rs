//! Arrays of DLPack whose element types NumPy does not read, without copies.
//!
//! Layouts and numbers: `dlpack.h`, version 1.

use crate::errors::message;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;
use std::slice;

use stablo::DType;

/// The name of a capsule that nothing has taken, and that of one that is taken.
const NAMES: [&CStr; 2] = [c"dltensor", c"used_dltensor"];

/// The same for records with a version.
const VERSIONED_NAMES: [&CStr; 2] = [c"dltensor_versioned", c"used_dltensor_versioned"];

/// The flag of arrays that must not be written.
const READ_ONLY: u64 = 1;

/// The number of the processor's memory among devices.
const CPU: i32 = 1;

/// `DLTensor`.
#[repr(C)]
struct View {
    data: *mut u8,
    device: i32,
    device_number: i32,
    rank: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    view: View,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    view: View,
}

/// A record that a capsule held.
#[derive(Clone, Copy)]
enum Record {
    Plain(NonNull<Managed>),
    Versioned(NonNull<Versioned>),
}

/// The memory of an array of another library, as a buffer of bytes.
#[pyclass(frozen, module = "stablo")]
pub struct Lent {
    record: Record,
    start: *mut u8,
    len: usize,
    is_writable: bool,
}

#[expect(unsafe_code)]
// SAFETY: nothing but the buffer protocol and `drop` use the pointers; DLPack lets any thread call
// the deleter.
unsafe impl Send for Lent {}

#[expect(unsafe_code)]
// SAFETY: as above; the fields do not change.
unsafe impl Sync for Lent {}

impl Drop for Lent {
    #[expect(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the taker of a capsule calls its deleter, once.
        unsafe {
            match self.record {
                Record::Plain(record) => {
                    if let Some(deleter) = record.as_ref().deleter {
                        deleter(record.as_ptr());
                    }
                }
                Record::Versioned(record) => {
                    if let Some(deleter) = record.as_ref().deleter {
                        deleter(record.as_ptr());
                    }
                }
            }
        }
    }
}

#[pymethods]
impl Lent {
    #[expect(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let lent = slf.get();
        let len = isize::try_from(lent.len)?;
        // The memory is read-only unless its owner says otherwise.
        let read_only = c_int::from(!lent.is_writable);
        // SAFETY: Python gives a view to fill, which refers to the object, and the object keeps the
        // memory as long as it lives.
        match unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), lent.start.cast(), len, read_only, flags)
        } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}

/// An array: its element type, its shape, its strides in bytes, and its memory.
type Array = (&'static str, Vec<usize>, Vec<usize>, Lent);

/// Takes an array in the processor's memory from a capsule of `__dlpack__`.
#[pyfunction]
pub fn from_dlpack(capsule: &Bound<'_, PyCapsule>) -> PyResult<Array> {
    let record = take(capsule)?;
    #[expect(unsafe_code)]
    // SAFETY: capsules of these names hold such records, which live until their deleter is called.
    let (view, is_writable) = unsafe {
        match &record {
            Record::Plain(record) => (&record.as_ref().view, false),
            Record::Versioned(record) => {
                let Versioned { view, flags, .. } = record.as_ref();
                (view, flags & READ_ONLY == 0)
            }
        }
    };
    let mut lent = Lent { record, start: std::ptr::null_mut(), len: 0, is_writable };
    let unsuitable = |what: String| Err(message(format!("an array of DLPack {what}")));
    if view.device != CPU {
        return unsuitable(format!("is on device {}, not in the processor's memory", view.device));
    }
    let Some(dtype) = element_type(view.code, view.bits).filter(|_| view.lanes == 1) else {
        let View { code, bits, lanes, .. } = view;
        return unsuitable(format!("has elements of code {code}, {bits} bits and {lanes} lanes"));
    };
    let rank = usize::try_from(view.rank).unwrap_or_default();
    let numbers = |start: *const i64| {
        #[expect(unsafe_code)]
        // SAFETY: where there are sizes and strides, there are as many as the rank says.
        let numbers = unsafe { slice::from_raw_parts(start, rank) };
        numbers.iter().map(|&number| usize::try_from(number).ok()).collect::<Option<Vec<usize>>>()
    };
    let shape = if rank == 0 { Some(Vec::new()) } else { numbers(view.shape) };
    let Some(shape) = shape else { return unsuitable("has a negative size".into()) };
    let strides = match view.strides.is_null() || rank == 0 {
        true => row_major(&shape),
        false => numbers(view.strides),
    };
    let is_empty = shape.contains(&0);
    let bytes = strides.and_then(|strides| {
        let strides: Option<Vec<usize>> =
            strides.iter().map(|stride| stride.checked_mul(dtype.bytes())).collect();
        let strides = strides?;
        let last = |(&size, &stride): (&usize, &usize)| size.saturating_sub(1).checked_mul(stride);
        let mut last = shape.iter().zip(&strides).map(last);
        let last = last.try_fold(0usize, |sum, at| sum.checked_add(at?))?;
        Some((strides, if is_empty { 0 } else { last.checked_add(dtype.bytes())? }))
    });
    let Some((strides, len)) = bytes else { return unsuitable("runs backwards".into()) };
    let offset = usize::try_from(view.byte_offset)?;
    if len > 0 {
        lent.start = view.data.wrapping_add(offset);
    }
    lent.len = len;
    Ok((dtype.name(), shape, strides, lent))
}

/// Takes the record out of a capsule, which is then marked as taken.
fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Record> {
    if let Some(record) = take_as::<Versioned>(capsule, VERSIONED_NAMES)? {
        #[expect(unsafe_code)]
        // SAFETY: every version begins with its number.
        let [major, minor] = unsafe { record.as_ref().version };
        if major != 1 {
            let text = format!("the capsule is of DLPack {major}.{minor}, not of version 1");
            return Err(PyBufferError::new_err(text));
        }
        return Ok(Record::Versioned(record));
    }
    let record = take_as::<Managed>(capsule, NAMES)?;
    let missing = || PyBufferError::new_err("this is no capsule of DLPack that can be taken");
    record.map(Record::Plain).ok_or_else(missing)
}

/// Takes a record of a type out of a capsule that has the name for these; `None` if it has not.
#[expect(unsafe_code)]
fn take_as<T>(capsule: &Bound<'_, PyCapsule>, names: [&CStr; 2]) -> PyResult<Option<NonNull<T>>> {
    let [fresh, taken] = names.map(CStr::as_ptr);
    // SAFETY: the names are static, and the capsule is one.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), fresh) == 0 {
            return Ok(None);
        }
        let record = ffi::PyCapsule_GetPointer(capsule.as_ptr(), fresh).cast::<T>();
        let record = NonNull::new(record).ok_or_else(|| PyErr::fetch(capsule.py()))?;
        match ffi::PyCapsule_SetName(capsule.as_ptr(), taken) {
            0 => Ok(Some(record)),
            _ => Err(PyErr::fetch(capsule.py())),
        }
    }
}

fn row_major(shape: &[usize]) -> Option<Vec<usize>> {
    let mut strides = vec![1usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].checked_mul(shape[axis].max(1))?;
    }
    Some(strides)
}

/// The element type of a code and a number of bits.
fn element_type(code: u8, bits: u8) -> Option<DType> {
    let bits = u32::from(bits);
    match (code, bits) {
        (0, 8..) => DType::integer(bits, true),
        (1, 8..) => DType::integer(bits, false),
        (2, 16) => Some(DType::F16),
        (2, 32) => Some(DType::F32),
        (2, 64) => Some(DType::F64),
        (4, 16) => Some(DType::BF16),
        (5, 64) => DType::F32.complex(),
        (5, 128) => DType::F64.complex(),
        (6, 8) => Some(DType::I1),
        (7..=14, 8) => {
            let names = [
                "f8E3M4",
                "f8E4M3",
                "f8E4M3B11FNUZ",
                "f8E4M3FN",
                "f8E4M3FNUZ",
                "f8E5M2",
                "f8E5M2FNUZ",
                "f8E8M0FNU",
            ];
            DType::from_name(names[usize::from(code) - 7])
        }
        _ => None,
    }
}
