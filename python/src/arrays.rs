//! Arrays: the memory of arguments is borrowed, that of results is given away, without copies.

use crate::errors::message;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::ffi::{CStr, c_int};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use stablo::{Bytes, DType, RuntimeValue, Tensor, TensorError, TensorMut, TensorRef};

/// An array: its element type as MLIR spells it, its shape, and a buffer of its bytes.
pub type Array<'py> = (String, Vec<usize>, Bound<'py, PyAny>);

/// A buffer of Python in row-major order, which it keeps alive.
struct Borrowed(PyUntypedBuffer);

impl AsRef<[u8]> for Borrowed {
    #[expect(unsafe_code)]
    fn as_ref(&self) -> &[u8] {
        if self.0.len_bytes() == 0 {
            return &[];
        }
        let start = self.0.buf_ptr().cast::<u8>();
        // SAFETY: the exporter keeps the memory in place until the buffer is released, and
        // `over` takes only buffers without gaps. As with functions of NumPy that release
        // the interpreter lock, the caller answers for no other thread writing there meanwhile.
        unsafe { std::slice::from_raw_parts(start, self.0.len_bytes()) }
    }
}

/// Arguments of a run.
pub struct Inputs {
    values: Vec<RuntimeValue>,
    /// The buffers that the values borrow. They are released together, while the interpreter lock
    /// is held: a run that drops them would take it for each.
    buffers: Vec<Arc<Borrowed>>,
}

impl Inputs {
    /// No arguments yet, with room for `count`.
    pub fn with_capacity(count: usize) -> Inputs {
        Inputs { values: Vec::with_capacity(count), buffers: Vec::with_capacity(count) }
    }

    /// Arguments given as bytes.
    pub fn new(arrays: Vec<Array<'_>>) -> PyResult<Inputs> {
        let mut inputs = Inputs::with_capacity(arrays.len());
        for array in arrays {
            let (tensor, buffer) = borrow(array)?;
            inputs.values.push(tensor.into());
            inputs.buffers.push(buffer);
        }
        Ok(inputs)
    }

    /// Adds an object that exports a buffer in row-major order with elements of this type. Returns
    /// false if it does not.
    pub fn try_push(&mut self, array: &Bound<'_, PyAny>, dtype: DType) -> PyResult<bool> {
        let py = array.py();
        // Masks, of classes of their own, are not in the buffer.
        if !array.get_type().is(ndarray(py)?) && array.hasattr("mask")? {
            return Ok(false);
        }
        let Some((buffer, shape)) = buffer(array)? else { return Ok(false) };
        let is_suitable = element_type(buffer.format(), buffer.item_size()) == Some(dtype)
            && buffer.is_c_contiguous();
        if is_suitable {
            let (tensor, buffer) = over(buffer, dtype, &shape)?;
            self.values.push(tensor.into());
            self.buffers.push(buffer);
        }
        Ok(is_suitable)
    }

    /// The values, and what to drop after their use.
    pub fn into_parts(self) -> (Vec<RuntimeValue>, impl Sized) {
        (self.values, self.buffers)
    }
}

/// Memory of Python for the results of a run.
pub struct Outputs(Vec<Output>);

/// A buffer in row-major order that may be written, and what it holds.
struct Output {
    dtype: DType,
    shape: Vec<usize>,
    buffer: PyUntypedBuffer,
}

impl Outputs {
    /// Results given as memory for their bytes.
    pub fn new(arrays: Vec<Array<'_>>) -> PyResult<Outputs> {
        let mut outputs = Outputs(Vec::with_capacity(arrays.len()));
        for (dtype, shape, array) in arrays {
            let found = DType::from_name(&dtype);
            let dtype = found.ok_or_else(|| message(format!("there is no dtype `{dtype}`")))?;
            let buffer = PyUntypedBuffer::get(&array)?;
            if buffer.readonly() || !buffer.is_c_contiguous() {
                return Err(PyBufferError::new_err("the memory cannot be written in order"));
            }
            outputs.0.push(Output { dtype, shape, buffer });
        }
        Ok(outputs)
    }

    /// Results with elements of these types; none if an object does not export a buffer that can be
    /// written in row-major order.
    pub fn of(arrays: &Bound<'_, PyTuple>, dtypes: &[DType]) -> PyResult<Option<Outputs>> {
        let py = arrays.py();
        let mut outputs = Outputs(Vec::with_capacity(dtypes.len()));
        for (array, &dtype) in arrays.iter_borrowed().zip(dtypes) {
            if !array.get_type().is(ndarray(py)?) {
                return Ok(None);
            }
            let Some((buffer, shape)) = buffer(&array)? else { return Ok(None) };
            let is_suitable = element_type(buffer.format(), buffer.item_size()) == Some(dtype)
                && buffer.is_c_contiguous()
                && !buffer.readonly();
            if !is_suitable {
                return Ok(None);
            }
            outputs.0.push(Output { dtype, shape, buffer });
        }
        Ok(Some(outputs))
    }

    /// Calls `run` with inputs and the memory for results, which is not that of any input then:
    /// inputs that share some are copied.
    pub fn with<T>(
        &self,
        inputs: Inputs,
        run: impl FnOnce(&[TensorRef<'_>], &mut [TensorMut<'_>]) -> PyResult<T>,
    ) -> PyResult<T> {
        let failed = |error: TensorError| message(error.to_string());
        let places: Vec<Range<usize>> = self.0.iter().map(Output::place).collect();
        for (index, place) in places.iter().enumerate() {
            if let Some(other) = places[..index].iter().position(|other| overlap(other, place)) {
                return Err(message(format!("results {other} and {index} share memory")));
            }
        }
        let (values, _buffers) = inputs.into_parts();
        let input = |value: RuntimeValue| {
            let tensor = value.into_tensor().map_err(|error| message(error.to_string()))?;
            let Range { start, end } = tensor.bytes().as_ptr_range();
            if !places.iter().any(|place| overlap(place, &(start.addr()..end.addr()))) {
                return Ok(tensor);
            }
            let shape = tensor.shape().to_vec();
            Tensor::copied(tensor.dtype(), shape, tensor.bytes()).map_err(failed)
        };
        let inputs = values.into_iter().map(input).collect::<PyResult<Vec<_>>>()?;
        let inputs: Vec<TensorRef<'_>> = inputs.iter().map(TensorRef::from).collect();
        let mut outputs = self.0.iter().map(Output::as_mut).collect::<PyResult<Vec<_>>>()?;
        run(&inputs, &mut outputs)
    }
}

impl Output {
    /// The memory, of which there is no other reference.
    fn as_mut(&self) -> PyResult<TensorMut<'_>> {
        let Output { dtype, shape, buffer } = self;
        let bytes: &mut [u8] = match buffer.len_bytes() {
            0 => &mut [],
            #[expect(unsafe_code)]
            // SAFETY: the exporter keeps the memory in place until the buffer is released. It has
            // no gaps, as was found when it was taken, and neither inputs nor other results are
            // there, as `with` found. As with functions of NumPy that release the interpreter lock,
            // the caller answers for no other thread using it meanwhile.
            len => unsafe { std::slice::from_raw_parts_mut(buffer.buf_ptr().cast(), len) },
        };
        TensorMut::from_bytes(*dtype, shape, bytes).map_err(|error| message(error.to_string()))
    }

    fn place(&self) -> Range<usize> {
        let start = self.buffer.buf_ptr().addr();
        start..start.saturating_add(self.buffer.len_bytes())
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

/// The buffer of an object and the shape of what is in it; none if it exports none.
fn buffer(array: &Bound<'_, PyAny>) -> PyResult<Option<(PyUntypedBuffer, Vec<usize>)>> {
    let py = array.py();
    if let Ok(buffer) = PyUntypedBuffer::get(array) {
        let shape = buffer.shape().to_vec();
        return Ok(Some((buffer, shape)));
    }
    // Buffers of arrays without dimensions have no shape, which PyO3 insists on.
    if !array.get_type().is(ndarray(py)?)
        || array.getattr(intern!(py, "ndim"))?.extract::<usize>()? > 0
    {
        return Ok(None);
    }
    let array = array.call_method1(intern!(py, "reshape"), (1,))?;
    Ok(PyUntypedBuffer::get(&array).ok().map(|buffer| (buffer, Vec::new())))
}

/// The tensor of an array that nothing will change.
pub fn tensor(array: Array<'_>) -> PyResult<Tensor> {
    borrow(array).map(|(tensor, _)| tensor)
}

/// The tensor of an array given as bytes, and the buffer that it borrows.
fn borrow((dtype, shape, array): Array<'_>) -> PyResult<(Tensor, Arc<Borrowed>)> {
    let found = DType::from_name(&dtype);
    let dtype = found.ok_or_else(|| message(format!("there is no dtype `{dtype}`")))?;
    let buffer = PyUntypedBuffer::get(&array)?;
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("the bytes of an array have gaps"));
    }
    over(buffer, dtype, &shape)
}

/// The tensor over a buffer without gaps.
fn over(
    buffer: PyUntypedBuffer,
    dtype: DType,
    shape: &[usize],
) -> PyResult<(Tensor, Arc<Borrowed>)> {
    let buffer = Arc::new(Borrowed(buffer));
    let bytes = Bytes::from_owner(buffer.clone());
    let tensor = Tensor::from_bytes(dtype, shape, bytes).map_err(|e| message(e.to_string()))?;
    Ok((tensor, buffer))
}

/// The element type of a format of the module `struct`, extended by NumPy, in the byte order of the
/// machine.
fn element_type(format: &CStr, size: usize) -> Option<DType> {
    let bits = u32::try_from(size.checked_mul(8)?).ok()?;
    match format.to_bytes() {
        b"?" => Some(DType::I1),
        b"b" | b"h" | b"i" | b"l" | b"q" | b"n" => DType::integer(bits, true),
        b"B" | b"H" | b"I" | b"L" | b"Q" | b"N" => DType::integer(bits, false),
        b"e" => Some(DType::F16),
        b"f" => Some(DType::F32),
        b"d" => Some(DType::F64),
        b"Zf" => DType::F32.complex(),
        b"Zd" => DType::F64.complex(),
        _ => None,
    }
}

/// The memory of a result: bytes that Python reads and writes through the buffer protocol.
#[pyclass(frozen, module = "stablo")]
pub struct Memory {
    /// The start of the bytes, of which this is the only owner.
    start: AtomicPtr<u8>,
    len: usize,
    /// Keeps them.
    _tensor: Tensor,
}

#[pymethods]
impl Memory {
    #[expect(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let memory = slf.get();
        let start = memory.start.load(Ordering::Relaxed).cast();
        let len = isize::try_from(memory.len)?;
        // SAFETY: Python gives a view to fill, which refers to the object, and the object keeps the
        // bytes as long as it lives.
        match unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, 0, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}

/// A result as an array of NumPy. It is copied if something else has its memory: an argument, a
/// constant, another result.
pub fn result(py: Python<'_>, value: RuntimeValue) -> PyResult<Bound<'_, PyAny>> {
    let RuntimeValue::Tensor(mut tensor) = value else {
        return Err(message("a result is a token or a tuple, which arrays do not stand for"));
    };
    let shape = PyTuple::new(py, tensor.shape())?;
    let dtype = numpy_dtype(py, tensor.dtype())?;
    let bytes = tensor.bytes_mut().map_err(|error| message(error.to_string()))?;
    let (start, len) = (AtomicPtr::new(bytes.as_mut_ptr()), bytes.len());
    let memory = Bound::new(py, Memory { start, len, _tensor: tensor })?;
    ndarray(py)?.call1((shape, dtype, memory))
}

/// The class of arrays of NumPy.
fn ndarray(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    NDARRAY.import(py, "numpy", "ndarray")
}

/// The type of NumPy that stands for an element type.
fn numpy_dtype(py: Python<'_>, dtype: DType) -> PyResult<&Bound<'_, PyAny>> {
    static TYPES: [PyOnceLock<Py<PyAny>>; DType::ALL.len()] =
        [const { PyOnceLock::new() }; DType::ALL.len()];
    let find = || {
        let arrays = py.import("stablo._arrays")?;
        arrays.call_method1("numpy_dtype", (dtype.name(),)).map(Bound::unbind)
    };
    // Element types are numbered in the order of `ALL`.
    TYPES[dtype as usize].get_or_try_init(py, find).map(|found| found.bind(py))
}
