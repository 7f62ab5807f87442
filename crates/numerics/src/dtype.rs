//! Element types as data.

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

struct TypeRow {
    name: &'static str,
    bits: u32,
    bytes: usize,
    family: Family,
}

macro_rules! dtypes {
    (
        [($boolean:ident, $boolean_name:literal, ($boolean_type:ty), {
            $boolean_bits:literal, $boolean_doc:literal
        })]
        [$(($signed:ident, $signed_name:literal, ($signed_type:ty), {
            $signed_bits:literal, $signed_doc:literal
        }))*]
        [$(($unsigned:ident, $unsigned_name:literal, ($unsigned_type:ty), {
            $unsigned_bits:literal, $unsigned_doc:literal
        }))*]
        [$(($float:ident, $float_name:literal, ($float_type:ty), {
            $kind:ident, $format:ident $parameters:tt, code $code:literal, $float_doc:literal
        }))*]
        [$(($complex:ident, $complex_name:literal, ($complex_type:ty), {
            $part:ident, $complex_doc:literal
        }))*]
    ) => {
        /// An element type of a tensor.
        ///
        /// Integers named `I*` are signed, which is the meaning that StableHLO gives to MLIR's
        /// signless integers; [`DType::I1`] is the boolean type.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType {
            #[doc = $boolean_doc]
            $boolean,
            $(#[doc = $signed_doc] $signed,)*
            $(#[doc = $unsigned_doc] $unsigned,)*
            $(#[doc = $float_doc] $float,)*
            $(#[doc = $complex_doc] $complex,)*
        }

        impl DType {
            /// Every element type, in declaration order.
            pub const ALL: &'static [DType] = &[
                DType::$boolean,
                $(DType::$signed,)*
                $(DType::$unsigned,)*
                $(DType::$float,)*
                $(DType::$complex,)*
            ];

            /// The integer type, or the boolean one, of this many bits.
            pub fn integer(bits: u32, is_signed: bool) -> Option<DType> {
                match (bits, is_signed) {
                    ($boolean_bits, _) => Some(DType::$boolean),
                    $(($signed_bits, true) => Some(DType::$signed),)*
                    $(($unsigned_bits, false) => Some(DType::$unsigned),)*
                    _ => None,
                }
            }

            /// The type of the real and imaginary parts of a complex type; other types are their
            /// only part.
            pub fn part(self) -> DType {
                match self {
                    $(DType::$complex => DType::$part,)*
                    other => other,
                }
            }

            /// The complex type whose parts have this type.
            pub fn complex(self) -> Option<DType> {
                match self {
                    $(DType::$part => Some(DType::$complex),)*
                    _ => None,
                }
            }

            /// The layout of a floating-point type, or of the parts of a complex type.
            pub fn float_format(self) -> Option<&'static FloatFormat> {
                match self.part() {
                    $(DType::$float => Some(&FloatFormat::$float),)*
                    _ => None,
                }
            }
        }

        const ROWS: &[TypeRow] = &[
            row::<$boolean_type>($boolean_name, $boolean_bits, Family::Boolean),
            $(row::<$signed_type>($signed_name, $signed_bits, Family::Signed),)*
            $(row::<$unsigned_type>($unsigned_name, $unsigned_bits, Family::Unsigned),)*
            $(row::<$float_type>($float_name, FloatFormat::$float.bits(), Family::Float),)*
            $(row::<$complex_type>(
                $complex_name,
                2 * FloatFormat::$part.bits(),
                Family::Complex,
            ),)*
        ];
    };
}

const fn row<T>(name: &'static str, bits: u32, family: Family) -> TypeRow {
    TypeRow { name, bits, bytes: size_of::<T>(), family }
}

crate::element_types!([dtypes]);

impl DType {
    const fn row(self) -> &'static TypeRow {
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
    pub const fn bits(self) -> u32 {
        self.row().bits
    }

    /// The number of bytes of an element in a [`Tensor`](crate::Tensor). Types narrower than a byte
    /// take a byte each; `tf32` takes four.
    pub const fn bytes(self) -> usize {
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

    /// True for types that many vector instructions compute with; small floats are computed as
    /// `f32`.
    pub const fn is_vectorized(self) -> bool {
        use DType::{BF16, F16, F32, F64, I32, U32};
        matches!(self, F32 | F64 | I32 | U32 | F16 | BF16)
    }

    /// True for the types of one byte or less that programs convert, but hardly compute with:
    /// integers and floats of few bits.
    pub(crate) const fn is_rare(self) -> bool {
        use DType::{
            BF16, C64, C128, F16, F32, F64, I1, I8, I16, I32, I64, TF32, U8, U16, U32, U64,
        };
        let is_common = matches!(self, I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
            || matches!(self, I1 | BF16 | F16 | TF32 | F32 | F64 | C64 | C128);
        !is_common
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
