//! Floating-point and complex elements: the primitive types, the types of `half`, and the small
//! formats.

use crate::element::{Arithmetic, ComplexElement, Element, Float, Number, Real, u64_to_f64_sticky};
use crate::float_format::Specials;
use crate::math::{complex, one};
use crate::{DType, FloatFormat};
use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use num_complex::Complex;
use std::cmp::Ordering;

/// A `tf32` number: a 32-bit float whose 13 low bits are zero.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Tf32(f32);

impl Tf32 {
    const SPARE_BITS: u32 = 13;
}

/// `Float` for a type given by the conversions between it and its encoding and value.
macro_rules! float {
    (
        $ty:ty, $format:ident, $zero:expr, $one:expr, canonical $canonical:expr,
        to_raw $to_raw:expr, from_raw $from_raw:expr, to_f64 $to_f64:expr
    ) => {
        impl Element for $ty {
            const DTYPE: DType = DType::$format;
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            #[inline]
            fn canonical(self) -> Self {
                $canonical(self)
            }
        }

        impl Float for $ty {
            const FORMAT: FloatFormat = FloatFormat::$format;

            #[inline]
            fn to_raw(self) -> u64 {
                $to_raw(self)
            }
            #[inline]
            fn from_raw(raw: u64) -> Self {
                $from_raw(raw)
            }
            #[inline]
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }
        }

        impl Real for $ty {
            #[inline]
            fn remainder(self, rhs: Self) -> Self {
                Self::from_float(self.to_f64() % rhs.to_f64())
            }
            #[inline]
            fn abs(self) -> Self {
                if const { Self::FORMAT.is_nan(Self::FORMAT.sign_mask()) } && self.is_nan() {
                    return self;
                }
                Self::from_raw(self.to_raw() & !Self::FORMAT.sign_mask())
            }
            #[inline]
            fn sign(self) -> Self {
                let value = self.to_f64();
                if value == 0.0 || value.is_nan() { self } else { Self::from_float(value.signum()) }
            }
            fn power(self, exponent: Self) -> Self {
                // Types of at most 16 bits: others have functions of their own.
                Self::from_float(one::pow(self.to_f64(), exponent.to_f64()))
            }
        }
    };
}

/// Arithmetic in the type's own operators.
macro_rules! native_arithmetic {
    ($($ty:ident)*) => {$(
        impl Number for $ty {
            #[inline]
            fn add(self, rhs: Self) -> Self {
                self + rhs
            }
            #[inline]
            fn multiply(self, rhs: Self) -> Self {
                self * rhs
            }
            #[inline]
            fn maximum(self, rhs: Self) -> Self {
                // Zeros of both signs are equal, too. Choices without branches become vectors.
                let both = $ty::from_bits(self.to_bits() & rhs.to_bits());
                let larger = if self > rhs { self } else { rhs };
                let larger = if self == rhs { both } else { larger };
                if self.is_nan() { self } else { larger }
            }
            #[inline]
            fn minimum(self, rhs: Self) -> Self {
                let both = $ty::from_bits(self.to_bits() | rhs.to_bits());
                let smaller = if self < rhs { self } else { rhs };
                let smaller = if self == rhs { both } else { smaller };
                if self.is_nan() { self } else { smaller }
            }
            #[inline]
            fn from_float(value: f64) -> Self {
                value as $ty
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                value as $ty
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                value as $ty
            }
        }

        impl Arithmetic for $ty {
            #[inline]
            fn subtract(self, rhs: Self) -> Self {
                self - rhs
            }
            #[inline]
            fn divide(self, rhs: Self) -> Self {
                self / rhs
            }
            #[inline]
            fn negate(self) -> Self {
                -self
            }
        }
    )*};
}

/// Arithmetic in `f64`, rounded once to the type. The formats have at most 11 significant bits, and
/// `f64` has more than twice that number, so the result is the correctly rounded one.
macro_rules! widened_arithmetic {
    ($ty:ident, from_float $(#[$attribute:meta])* |$value:ident| $from_float:expr) => {
        impl Number for $ty {
            #[inline]
            fn add(self, rhs: Self) -> Self {
                Number::from_float(Float::to_f64(self) + Float::to_f64(rhs))
            }
            #[inline]
            fn multiply(self, rhs: Self) -> Self {
                Number::from_float(Float::to_f64(self) * Float::to_f64(rhs))
            }
            #[inline]
            fn maximum(self, rhs: Self) -> Self {
                if self > rhs || Float::is_nan(self) || (self == rhs && self.to_raw() < rhs.to_raw()) {
                    self
                } else {
                    rhs
                }
            }
            #[inline]
            fn minimum(self, rhs: Self) -> Self {
                if self < rhs || Float::is_nan(self) || (self == rhs && self.to_raw() > rhs.to_raw()) {
                    self
                } else {
                    rhs
                }
            }
            $(#[$attribute])*
            fn from_float($value: f64) -> Self {
                $from_float
            }
            fn from_i64(value: i64) -> Self {
                let magnitude = u64_to_f64_sticky(value.unsigned_abs());
                Number::from_float(if value < 0 { -magnitude } else { magnitude })
            }
            fn from_u64(value: u64) -> Self {
                Number::from_float(u64_to_f64_sticky(value))
            }
        }

        impl Arithmetic for $ty {
            #[inline]
            fn subtract(self, rhs: Self) -> Self {
                Number::from_float(Float::to_f64(self) - Float::to_f64(rhs))
            }
            #[inline]
            fn divide(self, rhs: Self) -> Self {
                Number::from_float(Float::to_f64(self) / Float::to_f64(rhs))
            }
            #[inline]
            fn negate(self) -> Self {
                Number::from_float(-Float::to_f64(self))
            }
        }
    };
}

float!(
    f64, F64, 0.0, 1.0, canonical std::convert::identity,
    to_raw f64::to_bits, from_raw f64::from_bits, to_f64 std::convert::identity
);
float!(
    f32, F32, 0.0, 1.0, canonical std::convert::identity,
    to_raw |x: f32| u64::from(x.to_bits()), from_raw |raw| f32::from_bits(raw as u32), to_f64 f64::from
);
float!(
    Tf32, TF32, Tf32(0.0), Tf32(1.0), canonical |x: Tf32| Tf32::from_raw(x.to_raw()),
    to_raw |x: Tf32| u64::from(x.0.to_bits() >> Tf32::SPARE_BITS),
    from_raw |raw| Tf32(f32::from_bits((raw as u32) << Tf32::SPARE_BITS)),
    to_f64 |x: Tf32| f64::from(x.0)
);
float!(
    f16, F16, f16::ZERO, f16::ONE, canonical std::convert::identity,
    to_raw |x: f16| u64::from(x.to_bits()), from_raw |raw| f16::from_bits(raw as u16),
    to_f64 |x: f16| f64::from(f16_to_f32(x))
);
float!(
    bf16, BF16, bf16::ZERO, bf16::ONE, canonical std::convert::identity,
    to_raw |x: bf16| u64::from(x.to_bits()), from_raw |raw| bf16::from_bits(raw as u16),
    to_f64 |x: bf16| f64::from(x.to_f32())
);
native_arithmetic!(f32 f64);
widened_arithmetic!(Tf32, from_float | value | Float::from_raw(FloatFormat::TF32.encode(value)));
widened_arithmetic!(f16, from_float #[inline] |value| {
    f16::from_bits(encode_small(FloatFormat::F16, value) as u16)
});
widened_arithmetic!(bf16, from_float #[inline] |value| {
    bf16_of_single(to_f32_sticky(value))
});

/// The number rounded to nearest, as [`Number::from_float`] rounds it; without branches, so that
/// loops become vector instructions.
#[inline(always)]
pub(crate) fn bf16_of_single(value: f32) -> bf16 {
    let bits = value.to_bits();
    let is_odd = bits >> 16 & 1;
    let rounded = (bits.wrapping_add(0x7FFF + is_odd) >> 16) as u16;
    let nan = (bits >> 16) as u16 & 0x8000 | FloatFormat::BF16.nan() as u16;
    bf16::from_bits(if value.is_nan() { nan } else { rounded })
}

/// The number, exactly; without branches. A NaN keeps its payload, and becomes quiet.
#[inline(always)]
pub(crate) fn single_of_bf16(x: bf16) -> f32 {
    let bits = u32::from(x.to_bits());
    let quiet = if bits & 0x7FFF > 0x7F80 { 0x40_0000 } else { 0 };
    f32::from_bits(bits << 16 | quiet)
}

/// Rounds to nearest, as [`bf16_of_single`] does.
#[inline(always)]
pub(crate) fn f16_of_single(value: f32) -> f16 {
    f16::from_bits(encode_single(FloatFormat::F16, value) as u16)
}

/// The number, exactly; without branches and calls. A NaN keeps its payload, and becomes quiet.
#[inline(always)]
pub(crate) fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let (sign, magnitude) = ((bits & 0x8000) << 16, bits & 0x7FFF);
    let subnormal = (magnitude as i32 as f32 * (1.0 / (1 << 24) as f32)).to_bits();
    let normal = (magnitude << 13) + (112 << 23);
    let quiet = if magnitude > 0x7C00 { 0x40_0000 } else { 0 };
    let finite = if magnitude < 0x400 { subnormal } else { normal };
    let special = 0x7F80_0000 | magnitude << 13 | quiet;
    f32::from_bits(sign | if magnitude < 0x7C00 { finite } else { special })
}

/// [`FloatFormat::encode`] for formats with a sign whose numbers are normal ones of `f32`; without
/// branches, so that loops become vector instructions.
#[inline(always)]
fn encode_small(format: FloatFormat, value: f64) -> u32 {
    encode_single(format, to_f32_sticky(value))
}

/// Likewise, of an `f32`.
#[inline(always)]
fn encode_single(format: FloatFormat, value: f32) -> u32 {
    let bits = value.to_bits();
    let (is_negative, magnitude) = (bits >> 31 != 0, bits & 0x7FFF_FFFF);
    let sign = if is_negative { format.sign_mask() as u32 } else { 0 };
    let cut = 23 - format.mantissa_bits;
    let is_odd = magnitude >> cut & 1;
    let rounded = magnitude.wrapping_add((1 << (cut - 1)) - 1 + is_odd) >> cut;
    let normal = rounded.wrapping_sub(((127 - format.bias) as u32) << format.mantissa_bits);
    // The last place of this number is that of the subnormal ones, so a sum with it is rounded to
    // these.
    let exponent = format.min_exponent() - format.mantissa_bits as i32 + 23;
    let unit = ((exponent + 127) as u32) << 23;
    let sum = f32::from_bits(magnitude) + f32::from_bits(unit);
    let subnormal = sum.to_bits().wrapping_sub(unit);
    let smallest_normal = ((format.min_exponent() + 127) as u32) << 23;
    let encoded = if magnitude < smallest_normal { subnormal } else { normal };
    let (largest, nan) = (format.max_finite() as u32, format.nan() as u32);
    let (overflow, nan) = match format.specials {
        Specials::Ieee => (sign | (largest + 1), sign | nan),
        Specials::NanAllOnes => (sign | nan, sign | nan),
        Specials::NanNegativeZero => (nan, nan),
        Specials::None => (sign | largest, nan),
    };
    let is_unsigned = matches!(format.specials, Specials::NanNegativeZero) && encoded == 0;
    let finite = if is_unsigned { 0 } else { sign | encoded };
    let rounded = if encoded > largest { overflow } else { finite };
    if value.is_nan() { nan } else { rounded }
}

/// A wider number as an `f32` that leaves the rounding to a narrower format open: truncated, with
/// the last bit set where anything was cut off (rounding to odd).
#[inline]
fn to_f32_sticky(value: f64) -> f32 {
    let nearest = value as f32;
    let bits = nearest.to_bits();
    // One less is the next one towards zero, of infinity as well.
    let truncated =
        if f64::from(nearest).abs() > value.abs() { bits.wrapping_sub(1) } else { bits };
    f32::from_bits(if f64::from(nearest) == value { bits } else { truncated | 1 })
}

/// The Rust types of the small formats.
macro_rules! small {
    ($boolean:tt $signed:tt $unsigned:tt [$($float:tt)*] $complex:tt) => {
        $(small! { @row $float })*
    };
    (@row ($name:ident, $spelling:literal, $type:tt, {
        primitive, $format:ident $parameters:tt, code $code:literal, $doc:literal
    })) => {};
    (@row ($name:ident, $spelling:literal, $type:tt, {
        small, $format:ident $parameters:tt, code $code:literal, $doc:literal
    })) => {
        #[doc = $doc]
        ///
        /// The encoding is in the low bits of a byte.
        #[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            const VALUES: [f32; 256] = {
                let mut values = [0.0; 256];
                let mut bits = 0;
                while bits < 256 {
                    values[bits] = FloatFormat::$name.decode(bits as u64) as f32;
                    bits += 1;
                }
                values
            };

            /// The number with this encoding. Bits above the width are ignored.
            #[inline]
            pub const fn from_bits(bits: u8) -> $name {
                $name(bits & (u8::MAX >> (8 - FloatFormat::$name.bits())))
            }

            /// The encoding.
            #[inline]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The number, exactly.
            #[inline]
            pub fn to_f32(self) -> f32 {
                static VALUES: [f32; 256] = $name::VALUES;
                VALUES[usize::from(self.0)]
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &$name) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        float!(
            $name, $name, $name(FloatFormat::$name.encode(0.0) as u8),
            $name(FloatFormat::$name.encode(1.0) as u8), canonical |x: $name| $name::from_bits(x.0),
            to_raw |x: $name| u64::from(x.0), from_raw |raw| $name::from_bits(raw as u8),
            to_f64 |x: $name| f64::from(x.to_f32())
        );
        widened_arithmetic!($name, from_float #[inline] |value| {
            const FORMAT: FloatFormat = FloatFormat::$name;
            if FORMAT.signed {
                $name(encode_small(FORMAT, value) as u8)
            } else {
                Float::from_raw(FORMAT.encode(value))
            }
        });
    };
}

crate::element_types!([small]);

macro_rules! complex {
    ($($part:ident $dtype:ident)*) => {$(
        impl Element for Complex<$part> {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
        }

        impl Number for Complex<$part> {
            #[inline]
            fn add(self, rhs: Self) -> Self {
                self + rhs
            }
            #[inline]
            fn multiply(self, rhs: Self) -> Self {
                self * rhs
            }
            fn maximum(self, rhs: Self) -> Self {
                if (self.re, self.im) > (rhs.re, rhs.im) { self } else { rhs }
            }
            fn minimum(self, rhs: Self) -> Self {
                if (self.re, self.im) < (rhs.re, rhs.im) { self } else { rhs }
            }
            #[inline]
            fn from_float(value: f64) -> Self {
                Complex::new(value as $part, 0.0)
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                Complex::new(value as $part, 0.0)
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                Complex::new(value as $part, 0.0)
            }
        }

        impl Arithmetic for Complex<$part> {
            #[inline]
            fn subtract(self, rhs: Self) -> Self {
                self - rhs
            }
            fn divide(self, rhs: Self) -> Self {
                let (lhs, rhs) = (complex::widen(self), complex::widen(rhs));
                complex::narrow(if size_of::<$part>() == size_of::<f32>() {
                    complex::divide_single(lhs, rhs)
                } else {
                    complex::divide(lhs, rhs)
                })
            }
            #[inline]
            fn negate(self) -> Self {
                -self
            }
        }

        impl ComplexElement for Complex<$part> {
            type Part = $part;

            #[inline]
            fn from_parts(re: $part, im: $part) -> Self {
                Complex::new(re, im)
            }
            #[inline]
            fn re(self) -> $part {
                self.re
            }
            #[inline]
            fn im(self) -> $part {
                self.im
            }
        }
    )*};
}

complex!(f32 C64 f64 C128);
