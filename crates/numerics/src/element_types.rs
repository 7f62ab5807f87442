//! The table of element types. All lists of them are made of it: [`DType`](crate::DType) and its
//! properties, the formats and Rust types of small floats, the `dispatch_*!` macros, and MLIR's
//! types with their spelling and bytecode. A new float of at most eight bits is a row here, and one
//! in the versioned dialect.

/// Calls a macro with the rows of all element types, after what else it takes:
/// `element_types!([macro] arguments)` is
/// `macro! { arguments [booleans] [signed] [unsigned] [floats] [complex] }`.
///
/// A row is `(Variant, "name", (RustType), { details })`, with MLIR's spelling as the name. Details
/// are the number of bits of an integer; of a float, how its Rust type is made (`small` by the
/// table, else `primitive`), its [`FloatFormat`](crate::FloatFormat) and its code in MLIR's builtin
/// bytecode; of a complex type, its parts; and a documentation comment at the end.
#[doc(hidden)]
#[macro_export]
macro_rules! element_types {
    ([$($callback:tt)*] $($arguments:tt)*) => {
        $($callback)*! {
            $($arguments)*
            [
                (I1, "i1", ($crate::I1), { 1, "Booleans." })
            ]
            [
                (I2, "i2", ($crate::I2), { 2, "Two-bit signed integers." })
                (I4, "i4", ($crate::I4), { 4, "Four-bit signed integers." })
                (I8, "i8", (i8), { 8, "Eight-bit signed integers." })
                (I16, "i16", (i16), { 16, "Sixteen-bit signed integers." })
                (I32, "i32", (i32), { 32, "Thirty-two-bit signed integers." })
                (I64, "i64", (i64), { 64, "Sixty-four-bit signed integers." })
            ]
            [
                (U2, "ui2", ($crate::U2), { 2, "Two-bit unsigned integers." })
                (U4, "ui4", ($crate::U4), { 4, "Four-bit unsigned integers." })
                (U8, "ui8", (u8), { 8, "Eight-bit unsigned integers." })
                (U16, "ui16", (u16), { 16, "Sixteen-bit unsigned integers." })
                (U32, "ui32", (u32), { 32, "Thirty-two-bit unsigned integers." })
                (U64, "ui64", (u64), { 64, "Sixty-four-bit unsigned integers." })
            ]
            [
                (F4E2M1FN, "f4E2M1FN", ($crate::F4E2M1FN), {
                    small, finite(2, 1), code 29,
                    "Four-bit floats without infinities and NaNs."
                })
                (F6E2M3FN, "f6E2M3FN", ($crate::F6E2M3FN), {
                    small, finite(2, 3), code 30,
                    "Six-bit floats without infinities and NaNs, three mantissa bits."
                })
                (F6E3M2FN, "f6E3M2FN", ($crate::F6E3M2FN), {
                    small, finite(3, 2), code 31,
                    "Six-bit floats without infinities and NaNs, two mantissa bits."
                })
                (F8E3M4, "f8E3M4", ($crate::F8E3M4), {
                    small, ieee(3, 4), code 28,
                    "Eight-bit floats as IEEE 754 would define them, four mantissa bits."
                })
                (F8E4M3, "f8E4M3", ($crate::F8E4M3), {
                    small, ieee(4, 3), code 23,
                    "Eight-bit floats as IEEE 754 would define them, three mantissa bits."
                })
                (F8E4M3B11FNUZ, "f8E4M3B11FNUZ", ($crate::F8E4M3B11FNUZ), {
                    small, fnuz(4, 3, 11), code 27,
                    "Eight-bit floats with bias 11, one NaN, no infinities, no negative zero."
                })
                (F8E4M3FN, "f8E4M3FN", ($crate::F8E4M3FN), {
                    small, without_infinities(4, 3), code 24,
                    "Eight-bit floats with three mantissa bits, without infinities."
                })
                (F8E4M3FNUZ, "f8E4M3FNUZ", ($crate::F8E4M3FNUZ), {
                    small, fnuz(4, 3, 8), code 26,
                    "Eight-bit floats with bias 8, one NaN, no infinities, no negative zero."
                })
                (F8E5M2, "f8E5M2", ($crate::F8E5M2), {
                    small, ieee(5, 2), code 22,
                    "Eight-bit floats as IEEE 754 would define them, two mantissa bits."
                })
                (F8E5M2FNUZ, "f8E5M2FNUZ", ($crate::F8E5M2FNUZ), {
                    small, fnuz(5, 2, 16), code 25,
                    "Eight-bit floats with bias 16, one NaN, no infinities, no negative zero."
                })
                (F8E8M0FNU, "f8E8M0FNU", ($crate::F8E8M0FNU), {
                    small, unsigned(8), code 32,
                    // Upstream's interpreter makes the smallest number of zero; XLA makes NaN.
                    "Powers of two from 2^-127 to 2^127, and NaN. Zero becomes the smallest number."
                })
                (BF16, "bf16", ($crate::bf16), {
                    primitive, ieee(8, 7), code 3,
                    "The upper half of a 32-bit float."
                })
                (F16, "f16", ($crate::f16), {
                    primitive, ieee(5, 10), code 4,
                    "IEEE 754 binary16."
                })
                (TF32, "tf32", ($crate::Tf32), {
                    primitive, ieee(8, 10), code 21,
                    "The upper 19 bits of a 32-bit float, stored in 32 bits."
                })
                (F32, "f32", (f32), { primitive, ieee(8, 23), code 5, "IEEE 754 binary32." })
                (F64, "f64", (f64), { primitive, ieee(11, 52), code 6, "IEEE 754 binary64." })
            ]
            [
                (C64, "complex<f32>", ($crate::Complex32), { F32, "Pairs of binary32 numbers." })
                (C128, "complex<f64>", ($crate::Complex64), { F64, "Pairs of binary64 numbers." })
            ]
        }
    };
}
