//! Elements of the types that kernels compute in.

use numerics::math::{self, AlignedBytes};
use numerics::{DType, Element, TensorError};

/// More elements are converted as tensors, whose memory is charged to the budget.
pub(crate) const MAX_CONVERTED: usize = 1 << 12;

/// True if elements of the first type can be converted to the second one.
pub(crate) fn is_convertible(from: DType, to: DType) -> bool {
    from == to || math::conversion(from, to).is_some()
}

/// The elements converted to another type: themselves, or in `room`.
///
/// # Errors
/// If the types are not convertible, or the bytes not aligned.
pub(crate) fn converted<'a>(
    elements: &'a [u8],
    [from, to]: [DType; 2],
    room: &'a mut AlignedBytes,
) -> Result<&'a [u8], TensorError> {
    if from == to {
        return Ok(elements);
    }
    room.resize(elements.len() / from.bytes() * to.bytes());
    convert_into(elements, [from, to], room)?;
    Ok(room)
}

/// Writes elements converted to another type.
///
/// # Errors
/// As [`converted`], and if `out` has another number of elements.
pub(crate) fn convert_into(
    elements: &[u8],
    [from, to]: [DType; 2],
    out: &mut [u8],
) -> Result<(), TensorError> {
    match math::conversion(from, to) {
        Some(kernel) => kernel.apply(out, &[elements]),
        None => Err(TensorError::Unsupported { op: "convert", dtype: from }),
    }
}

/// The first `len` elements in the bytes.
///
/// # Errors
/// If there are fewer, or the bytes are not aligned.
pub(crate) fn elements<S: Element>(bytes: &[u8], len: usize) -> Result<&[S], TensorError> {
    let elements = bytemuck::try_cast_slice(bytes).map_err(|_| TensorError::OutOfBounds)?;
    elements.get(..len).ok_or(TensorError::OutOfBounds)
}

/// As [`elements`], to be written.
///
/// # Errors
/// As there.
pub(crate) fn elements_mut<S: Element>(
    bytes: &mut [u8],
    len: usize,
) -> Result<&mut [S], TensorError> {
    let elements = bytemuck::try_cast_slice_mut(bytes).map_err(|_| TensorError::OutOfBounds)?;
    elements.get_mut(..len).ok_or(TensorError::OutOfBounds)
}
