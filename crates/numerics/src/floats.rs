//! Floating-point and complex elements: the primitive types, those of `half`, and the small
//! formats.

use crate::element::{Arithmetic, ComplexElement, Element, Float, Number, Real, u64_to_f64_sticky};
use crate::math::{complex, scalar};
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
                if self.is_nan() && Self::FORMAT.is_nan(Self::FORMAT.sign_mask()) {
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
                Self::from_float(scalar::power(self.to_f64(), exponent.to_f64()))
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

/// Arithmetic in `f64`, rounded once to the type. The formats have at most 11 significant bits, of
/// which `f64` has more than twice as many, so the result is the correctly rounded one.
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
// Without branches, so that loops become vector instructions.
widened_arithmetic!(f16, from_float #[inline] |value| {
    let bits = to_f32_sticky(value).to_bits();
    let (sign, magnitude) = ((bits >> 16) as u16 & 0x8000, bits & 0x7FFF_FFFF);
    let is_odd = magnitude >> F16_SPARE_BITS & 1;
    let half = (1 << (F16_SPARE_BITS - 1)) - 1;
    // All that is too large becomes infinity.
    let rebiased = (magnitude.min(F16_OVERFLOW) + half + is_odd).wrapping_sub(F16_REBIAS);
    let normal = rebiased >> F16_SPARE_BITS;
    // The sum has the spacing of subnormal numbers.
    let offset = f32::from_bits(F16_SPACING);
    let subnormal = (f32::from_bits(magnitude) + offset).to_bits().wrapping_sub(F16_SPACING);
    let rounded = if magnitude < F16_MIN_NORMAL { subnormal } else { normal } as u16;
    let nan = FloatFormat::F16.nan() as u16;
    f16::from_bits(sign | if value.is_nan() { nan } else { rounded })
});
widened_arithmetic!(bf16, from_float #[inline] |value| {
    let bits = to_f32_sticky(value).to_bits();
    let is_odd = bits >> 16 & 1;
    let rounded = (bits.wrapping_add(0x7FFF + is_odd) >> 16) as u16;
    let nan = (bits >> 16) as u16 & 0x8000 | FloatFormat::BF16.nan() as u16;
    bf16::from_bits(if value.is_nan() { nan } else { rounded })
});

/// The bits of the mantissa that an `f32` has and an `f16` has not.
const F16_SPARE_BITS: u32 = 13;
/// The difference of the biases, in the place of the exponent of an `f32`.
const F16_REBIAS: u32 = (127 - 15) << 23;
/// The bits of the smallest normal number of `f16` as an `f32`, 2^-14; and those of 2^16, which is
/// beyond all numbers of `f16`.
const F16_MIN_NORMAL: u32 = (127 - 14) << 23;
const F16_OVERFLOW: u32 = (127 + 16) << 23;
/// The bits of 2^-1, whose last one counts 2^-24, as that of subnormal numbers of `f16`.
const F16_SPACING: u32 = (127 - 1) << 23;

/// The same number, without branches and calls.
#[inline]
fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let magnitude = (bits & 0x7FFF) << F16_SPARE_BITS;
    // The product also normalizes subnormal numbers; 2^112 is the difference of the biases.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let special = magnitude | 0x7F80_0000;
    let magnitude = if bits & 0x7C00 == 0x7C00 { special } else { scaled.to_bits() };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
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
        widened_arithmetic!($name, from_float |value| Float::from_raw(FloatFormat::$name.encode(value)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_rounds_as_its_format() {
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Numbers of all magnitudes of f32, near and at midpoints of bf16.
            let middle = f64::from(f32::from_bits((state >> 32) as u32 & 0xFFFF_8000));
            for x in [middle, middle.next_up(), middle.next_down(), f64::from_bits(state)] {
                let (fast, slow) = (<bf16 as Number>::from_float(x), FloatFormat::BF16.encode(x));
                assert_eq!(fast.to_raw(), slow, "{x:e}");
            }
        }
    }

    #[test]
    fn f16_converts_as_its_format() {
        for bits in 0..=u16::MAX {
            let x = f16::from_bits(bits);
            let (fast, slow) = (Float::to_f64(x), FloatFormat::F16.decode(u64::from(bits)));
            let is_same = fast.to_bits() == slow.to_bits();
            assert!(is_same || (fast.is_nan() && slow.is_nan()), "{bits:#x}");
            if !fast.is_finite() {
                continue;
            }
            // The number itself, the midpoint to the next one, and those beside.
            let next = FloatFormat::F16.decode(u64::from(bits) + 1);
            let middle =
                if next.is_finite() { (fast + next) / 2.0 } else { fast.signum() * 65520.0 };
            for x in [fast, middle, middle.next_up(), middle.next_down()] {
                let (fast, slow) = (<f16 as Number>::from_float(x), FloatFormat::F16.encode(x));
                assert_eq!(fast.to_raw(), slow, "{x:e}");
            }
        }
        for x in [f64::INFINITY, f64::NAN, -f64::NAN, 1e300, 1e-300, 65519.99, 2f64.powi(-25)] {
            for x in [x, -x] {
                let (fast, slow) = (<f16 as Number>::from_float(x), FloatFormat::F16.encode(x));
                assert_eq!(fast.to_raw(), slow, "{x:e}");
            }
        }
    }

    #[test]
    fn arithmetic_rounds_once() {
        // The exact product 2^-132 * (1 + 2^-7)(1 + 2^-7) * 2^-1 is just above a midpoint of
        // subnormal numbers that an intermediate f32 would lose: in units of 2^-133 it is 1 + 2^-6
        // + 2^-14 over 2^k.
        let x = bf16::from_bits(0x1F81);
        let y = bf16::from_bits(0x1F81);
        let exact = Float::to_f64(x) * Float::to_f64(y);
        assert_eq!(x.multiply(y).to_raw(), FloatFormat::BF16.encode(exact));
        // 240 + 8 is a midpoint between 240 and 256, which is beyond the largest f8E4M3.
        let (x, y) = (F8E4M3::from_bits(0x77), F8E4M3::from_bits(0x50));
        assert_eq!((x.to_f32(), y.to_f32()), (240.0, 8.0));
        assert_eq!(x.add(y).to_bits(), 0x78);
        assert_eq!(x.subtract(y).to_f32(), 224.0);
    }

    #[test]
    fn extremes_follow_ieee() {
        fn check<T: Float>() {
            let (minus, plus, nan) =
                (T::from_float(-0.0), T::from_float(0.0), T::from_float(f64::NAN));
            for (x, y) in [(minus, plus), (plus, minus)] {
                assert_eq!(Number::maximum(x, y).to_raw(), plus.to_raw());
                assert_eq!(Number::minimum(x, y).to_raw(), minus.to_raw());
            }
            if nan.is_nan() {
                for (x, y) in [(nan, T::ONE), (T::ONE, nan)] {
                    assert!(Number::maximum(x, y).is_nan());
                    assert!(Number::minimum(x, y).is_nan());
                }
            }
            assert_eq!(Number::maximum(T::ONE, T::ONE.negate()), T::ONE);
            assert_eq!(T::ONE.negate().abs(), T::ONE);
            assert_eq!(T::ONE.add(T::ONE).negate().sign(), T::ONE.negate());
            assert_eq!(minus.sign().to_raw(), minus.to_raw());
            assert_eq!(nan.abs().is_nan(), nan.is_nan());
        }
        check::<f32>();
        check::<f64>();
        check::<bf16>();
        check::<f16>();
        check::<Tf32>();
        check::<F8E5M2>();
        check::<F8E4M3FN>();
        check::<F8E4M3FNUZ>();
        check::<F4E2M1FN>();
    }

    #[test]
    fn remainders_have_the_sign_of_the_dividend() {
        assert_eq!((-7.5f32).remainder(2.0), -1.5);
        assert_eq!(bf16::from_f32(7.5).remainder(bf16::from_f32(-2.0)), bf16::from_f32(1.5));
        assert!(1.0f64.remainder(0.0).is_nan());
        assert_eq!(1.0f64.remainder(f64::INFINITY), 1.0);
    }

    #[test]
    fn complex_numbers() {
        let (x, y) = (Complex::new(1.0f32, 2.0), Complex::new(3.0f32, -4.0));
        assert_eq!(x.multiply(y), Complex::new(11.0, 2.0));
        assert_eq!(x.divide(y), Complex::new(-0.2, 0.4));
        assert_eq!(Number::maximum(x, y), y);
        assert_eq!(Number::minimum(x, Complex::new(1.0, 1.0)), Complex::new(1.0, 1.0));
    }
}
