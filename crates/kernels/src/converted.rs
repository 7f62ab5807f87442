//! Elements of the types that kernels compute in.

use numerics::math::{self, AlignedBytes};
use numerics::{DType, TensorError};

/// More elements are converted as tensors, whose memory is charged to the budget.
pub(crate) const MAX_CONVERTED: usize = 1 << 12;

/// True if elements of the first type can be converted to the second one.
pub(crate) fn is_convertible(from: DType, to: DType) -> bool {
    from == to || math::conversion(from, to).is_some()
}

/// The elements as those of another type: themselves, or in `room`.
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

/// Writes elements as those of another type.
///
/// # Errors
/// As [`converted`], and if there are not as many in `out`.
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
