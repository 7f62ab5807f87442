//! Element types that buffers may have.

use crate::error::{Code, Failure, Outcome};
use stablo::DType;
use std::ffi::c_int;

/// The element type of a number.
///
/// # Errors
/// If no such type exists.
pub(crate) fn dtype(number: c_int) -> Outcome<DType> {
    pjrt_abi::dtype(number).ok_or_else(|| {
        let message = format!("buffers of the element type number {number} are not implemented");
        Failure::new(Code::Unimplemented, message)
    })
}

/// The number of an element type.
///
/// # Errors
/// If no such type exists.
pub(crate) fn number(dtype: DType) -> Outcome<c_int> {
    pjrt_abi::number(dtype).ok_or_else(|| {
        let message = format!("PJRT has no element type for {}", dtype.name());
        Failure::new(Code::Unimplemented, message)
    })
}
