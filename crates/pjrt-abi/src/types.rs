//! The numbers that PJRT gives to element types.

use numerics::DType;
use std::ffi::c_int;

/// Element types by their number in `PJRT_Buffer_Type`. Tokens (23) and integers of one bit (30,
/// 31) have none here.
const NUMBERS: &[(c_int, DType)] = &[
    (1, DType::I1),
    (2, DType::I8),
    (3, DType::I16),
    (4, DType::I32),
    (5, DType::I64),
    (6, DType::U8),
    (7, DType::U16),
    (8, DType::U32),
    (9, DType::U64),
    (10, DType::F16),
    (11, DType::F32),
    (12, DType::F64),
    (13, DType::BF16),
    (14, DType::C64),
    (15, DType::C128),
    (16, DType::F8E5M2),
    (17, DType::F8E4M3FN),
    (18, DType::F8E4M3B11FNUZ),
    (19, DType::F8E5M2FNUZ),
    (20, DType::F8E4M3FNUZ),
    (21, DType::I4),
    (22, DType::U4),
    (24, DType::I2),
    (25, DType::U2),
    (26, DType::F8E4M3),
    (27, DType::F8E3M4),
    (28, DType::F8E8M0FNU),
    (29, DType::F4E2M1FN),
    (32, DType::F6E2M3FN),
    (33, DType::F6E3M2FN),
];

/// The number of tokens.
pub const TOKEN: c_int = 23;

/// The element type of a number.
#[must_use]
pub fn dtype(number: c_int) -> Option<DType> {
    NUMBERS.iter().find(|(own, _)| *own == number).map(|(_, dtype)| *dtype)
}

/// The number of an element type.
#[must_use]
pub fn number(dtype: DType) -> Option<c_int> {
    NUMBERS.iter().find(|(_, own)| *own == dtype).map(|(number, _)| *number)
}
