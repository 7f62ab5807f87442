//! Tensors as C gives and takes them: element type, shape and bytes.

use crate::failure::{CallFailure, Failable};
use crate::into::stablo_buffer;
use crate::{slice_at, text_at};
use stablo::{Bytes, DType, RuntimeValue, Tensor};
use std::ffi::{CString, c_char, c_void};
use std::sync::LazyLock;

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
#[repr(C)]
pub struct stablo_array {
    dtype: *const c_char,
    shape: *const i64,
    rank: usize,
    data: *const c_void,
    size: usize,
}

/// Storage unit of arrays for C; its alignment suffices for every element type.
type Unit = u128;

/// The tensors of arrays.
///
/// # Safety
/// There are `count` arrays, whose pointers are as the header says.
pub(crate) unsafe fn read(
    arrays: *const stablo_array,
    count: usize,
) -> Failable<Vec<RuntimeValue>> {
    // SAFETY: as the caller says.
    let arrays = unsafe { slice_at(arrays, count)? };
    let tensor = |(index, array): (usize, &stablo_array)| {
        // SAFETY: as the caller says.
        unsafe { array.elements() }
            .and_then(|ArrayParts { dtype, shape, bytes }| {
                Tensor::from_bytes(dtype, shape, Bytes::from(bytes))
                    .map_err(|error| error.to_string().into())
            })
            .map(RuntimeValue::Tensor)
            .map_err(|failure: CallFailure| failure.about(format_args!("input {index}")))
    };
    arrays.iter().enumerate().map(tensor).collect()
}

/// The element type, the shape and the bytes of a tensor.
pub(crate) struct ArrayParts<'a> {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub bytes: &'a [u8],
}

impl ArrayParts<'_> {
    /// The element type of a name, and the shape of `rank` sizes.
    ///
    /// # Safety
    /// The pointers are as the header says.
    pub(crate) unsafe fn type_of(
        dtype: *const c_char,
        shape: *const i64,
        rank: usize,
    ) -> Failable<(DType, Vec<usize>)> {
        // SAFETY: as the caller says.
        let (name, shape) = unsafe { (text_at(dtype, "")?, slice_at(shape, rank)?) };
        let dtype = DType::from_name(name).ok_or_else(|| format!("there is no dtype `{name}`"))?;
        let size = |&size: &i64| {
            usize::try_from(size).map_err(|_| CallFailure::from(format!("{size} is not a size")))
        };
        Ok((dtype, shape.iter().map(size).collect::<Failable<_>>()?))
    }
}

impl stablo_array {
    /// The elements of the array.
    ///
    /// # Safety
    /// The pointers of the array are as the header says, while the result lives.
    pub(crate) unsafe fn elements<'a>(&self) -> Failable<ArrayParts<'a>> {
        // SAFETY: as the caller says.
        let ((dtype, shape), bytes) = unsafe {
            (
                ArrayParts::type_of(self.dtype, self.shape, self.rank)?,
                slice_at(self.data.cast::<u8>(), self.size)?,
            )
        };
        Ok(ArrayParts { dtype, shape, bytes })
    }
}

/// The names of the element types, with the zero byte that C wants.
static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
    DType::ALL.iter().map(|dtype| CString::new(dtype.name()).unwrap_or_default()).collect()
});

/// The name of an element type, for C.
pub(crate) fn name_of(dtype: DType) -> *const c_char {
    let number = DType::ALL.iter().position(|&other| other == dtype);
    number.map_or(std::ptr::null(), |number| NAMES[number].as_ptr())
}

/// Type and shape of a tensor that is lent to C.
pub(crate) struct ArrayOf {
    dtype: *const c_char,
    shape: Vec<i64>,
}

impl ArrayOf {
    pub(crate) fn new(dtype: DType, shape: &[usize]) -> ArrayOf {
        ArrayOf { dtype: name_of(dtype), shape: shape.iter().map(|&size| size as i64).collect() }
    }

    /// An array of elements, to be read while both live.
    pub(crate) fn array(&self, bytes: &[u8]) -> stablo_array {
        let ArrayOf { dtype, shape } = self;
        let data = bytes.as_ptr().cast();
        stablo_array {
            dtype: *dtype,
            shape: shape.as_ptr(),
            rank: shape.len(),
            data,
            size: bytes.len(),
        }
    }

    /// A buffer for elements, to be written while both live.
    pub(crate) fn buffer(&self, bytes: &mut [u8]) -> stablo_buffer {
        stablo_buffer::new(self.dtype, &self.shape, bytes)
    }
}

/// Arrays of tensors, to be freed with [`free`].
pub(crate) fn write(tensors: &[Tensor]) -> Box<[stablo_array]> {
    let array = |tensor: &Tensor| {
        let shape: Box<[i64]> = tensor.shape().iter().map(|&size| size as i64).collect();
        let bytes = tensor.bytes();
        let mut data = vec![0 as Unit; bytes.len().div_ceil(size_of::<Unit>())].into_boxed_slice();
        let start = data.as_mut_ptr().cast::<u8>();
        // SAFETY: the units have at least that size, and nothing else refers to them yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        stablo_array {
            dtype: name_of(tensor.dtype()),
            rank: shape.len(),
            shape: Box::into_raw(shape).cast(),
            data: Box::into_raw(data).cast(),
            size: bytes.len(),
        }
    };
    tensors.iter().map(array).collect()
}

/// Frees arrays.
///
/// # Safety
/// They come from [`write`], and are not used again.
pub(crate) unsafe fn free(arrays: *mut stablo_array, count: usize) {
    let slice = std::ptr::slice_from_raw_parts_mut(arrays, count);
    // SAFETY: they were made by `Box::into_raw` of that many, and the caller gives them up.
    for array in unsafe { Box::from_raw(slice) } {
        let shape = std::ptr::slice_from_raw_parts_mut(array.shape.cast_mut(), array.rank);
        let units = array.size.div_ceil(size_of::<Unit>());
        let data = std::ptr::slice_from_raw_parts_mut(array.data.cast_mut().cast::<Unit>(), units);
        // SAFETY: `write` made both by `Box::into_raw` of boxes of these lengths.
        unsafe {
            drop(Box::from_raw(shape));
            drop(Box::from_raw(data));
        }
    }
}
