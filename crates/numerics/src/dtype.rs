//! The table of element types.

use crate::FloatFormat;
use std::fmt;

/// The kind of numbers of an element type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// `i1`.
    Boolean,
    /// Signed integers of at least two bits.
    Signed,
    /// Unsigned integers of at least two bits.
    Unsigned,
    /// Floating-point numbers.
    Float,
    /// Pairs of floating-point numbers.
    Complex,
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $bits:literal $bytes:literal $family:ident $doc:literal)*) => {
        /// An element type of a tensor.
        ///
        /// Integers named `I*` are signed, which is the meaning that StableHLO gives to MLIR's
        /// signless integers; [`DType::I1`] is the boolean type.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType {
            $(#[doc = $doc] $variant,)*
        }

        impl DType {
            /// Every element type, in declaration order.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];
        }

        const ROWS: &[Row] = &[$(Row {
            name: $name,
            bits: $bits,
            bytes: $bytes,
            family: Family::$family,
        }),*];
    };
}

struct Row {
    name: &'static str,
    bits: u32,
    bytes: usize,
    family: Family,
}

dtypes! {
    I1 "i1" 1 1 Boolean "Booleans."
    I2 "i2" 2 1 Signed "Two-bit signed integers."
    I4 "i4" 4 1 Signed "Four-bit signed integers."
    I8 "i8" 8 1 Signed "Eight-bit signed integers."
    I16 "i16" 16 2 Signed "Sixteen-bit signed integers."
    I32 "i32" 32 4 Signed "Thirty-two-bit signed integers."
    I64 "i64" 64 8 Signed "Sixty-four-bit signed integers."
    U2 "ui2" 2 1 Unsigned "Two-bit unsigned integers."
    U4 "ui4" 4 1 Unsigned "Four-bit unsigned integers."
    U8 "ui8" 8 1 Unsigned "Eight-bit unsigned integers."
    U16 "ui16" 16 2 Unsigned "Sixteen-bit unsigned integers."
    U32 "ui32" 32 4 Unsigned "Thirty-two-bit unsigned integers."
    U64 "ui64" 64 8 Unsigned "Sixty-four-bit unsigned integers."
    F4E2M1FN "f4E2M1FN" 4 1 Float "Four-bit floats without infinities and NaNs."
    F6E2M3FN "f6E2M3FN" 6 1 Float "Six-bit floats without infinities and NaNs, three mantissa bits."
    F6E3M2FN "f6E3M2FN" 6 1 Float "Six-bit floats without infinities and NaNs, two mantissa bits."
    F8E3M4 "f8E3M4" 8 1 Float "Eight-bit floats as IEEE 754 would define them, four mantissa bits."
    F8E4M3 "f8E4M3" 8 1 Float "Eight-bit floats as IEEE 754 would define them, three mantissa bits."
    F8E4M3B11FNUZ "f8E4M3B11FNUZ" 8 1 Float "Eight-bit floats with bias 11, one NaN, no infinities, no negative zero."
    F8E4M3FN "f8E4M3FN" 8 1 Float "Eight-bit floats with three mantissa bits, without infinities."
    F8E4M3FNUZ "f8E4M3FNUZ" 8 1 Float "Eight-bit floats with bias 8, one NaN, no infinities, no negative zero."
    F8E5M2 "f8E5M2" 8 1 Float "Eight-bit floats as IEEE 754 would define them, two mantissa bits."
    F8E5M2FNUZ "f8E5M2FNUZ" 8 1 Float "Eight-bit floats with bias 16, one NaN, no infinities, no negative zero."
    F8E8M0FNU "f8E8M0FNU" 8 1 Float "Powers of two from 2^-127 to 2^127, and NaN."
    BF16 "bf16" 16 2 Float "The upper half of a 32-bit float."
    F16 "f16" 16 2 Float "IEEE 754 binary16."
    TF32 "tf32" 19 4 Float "The upper 19 bits of a 32-bit float, stored in 32 bits."
    F32 "f32" 32 4 Float "IEEE 754 binary32."
    F64 "f64" 64 8 Float "IEEE 754 binary64."
    C64 "complex<f32>" 64 8 Complex "Pairs of binary32 numbers."
    C128 "complex<f64>" 128 16 Complex "Pairs of binary64 numbers."
}

impl DType {
    fn row(self) -> &'static Row {
        // `ROWS` has one row per variant, in the order of the variants.
        &ROWS[self as usize]
    }

    /// The type as MLIR spells it, such as `i32`, `ui8`, `f8E4M3FN` or `complex<f32>`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The element type that MLIR spells `name`. `si32` and the like are not among them.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// The number of bits that carry the value (19 for `tf32`, both parts for complex types).
    pub fn bits(self) -> u32 {
        self.row().bits
    }

    /// The number of bytes of an element in a [`Tensor`](crate::Tensor). Types narrower than a byte
    /// take a byte each; `tf32` takes four.
    pub fn bytes(self) -> usize {
        self.row().bytes
    }

    /// The number of bytes of an element in MLIR's raw dense data, except `i1`, which MLIR packs
    /// eight to a byte there: as [`bytes`](DType::bytes), but three for `tf32`.
    pub fn dense_bytes(self) -> usize {
        if self == DType::TF32 { 3 } else { self.bytes() }
    }

    /// The kind of numbers of the type.
    pub fn family(self) -> Family {
        self.row().family
    }

    /// True for `i1`.
    pub fn is_boolean(self) -> bool {
        self.family() == Family::Boolean
    }

    /// True for integer types. `i1` is not one.
    pub fn is_integer(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// True for signed integer types. `i1` is not one.
    pub fn is_signed(self) -> bool {
        self.family() == Family::Signed
    }

    /// True for unsigned integer types. `i1` is not one.
    pub fn is_unsigned(self) -> bool {
        self.family() == Family::Unsigned
    }

    /// True for floating-point types.
    pub fn is_float(self) -> bool {
        self.family() == Family::Float
    }

    /// True for complex types.
    pub fn is_complex(self) -> bool {
        self.family() == Family::Complex
    }

    /// The type of the real and imaginary parts of a complex type; other types are their own part.
    pub fn part(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex type whose parts have this type.
    pub fn complex(self) -> Option<DType> {
        match self {
            DType::F32 => Some(DType::C64),
            DType::F64 => Some(DType::C128),
            _ => None,
        }
    }

    /// The layout of a floating-point type, or of the parts of a complex type.
    pub fn float_format(self) -> Option<&'static FloatFormat> {
        Some(match self.part() {
            DType::F4E2M1FN => &FloatFormat::F4E2M1FN,
            DType::F6E2M3FN => &FloatFormat::F6E2M3FN,
            DType::F6E3M2FN => &FloatFormat::F6E3M2FN,
            DType::F8E3M4 => &FloatFormat::F8E3M4,
            DType::F8E4M3 => &FloatFormat::F8E4M3,
            DType::F8E4M3B11FNUZ => &FloatFormat::F8E4M3B11FNUZ,
            DType::F8E4M3FN => &FloatFormat::F8E4M3FN,
            DType::F8E4M3FNUZ => &FloatFormat::F8E4M3FNUZ,
            DType::F8E5M2 => &FloatFormat::F8E5M2,
            DType::F8E5M2FNUZ => &FloatFormat::F8E5M2FNUZ,
            DType::F8E8M0FNU => &FloatFormat::F8E8M0FNU,
            DType::BF16 => &FloatFormat::BF16,
            DType::F16 => &FloatFormat::F16,
            DType::TF32 => &FloatFormat::TF32,
            DType::F32 => &FloatFormat::F32,
            DType::F64 => &FloatFormat::F64,
            _ => return None,
        })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for &dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
        }
        assert_eq!(DType::from_name("f128"), None);
    }

    #[test]
    fn formats_fill_the_bits() {
        for &dtype in DType::ALL {
            let Some(format) = dtype.float_format() else {
                assert!(!dtype.is_float() && !dtype.is_complex());
                continue;
            };
            let parts = if dtype.is_complex() { 2 } else { 1 };
            assert_eq!(format.bits() * parts, dtype.bits(), "{dtype}");
        }
    }

    #[test]
    fn parts() {
        assert_eq!(DType::C64.part(), DType::F32);
        assert_eq!(DType::F64.complex(), Some(DType::C128));
        assert_eq!(DType::I8.part(), DType::I8);
    }
}
