//! The types in which products are summed.

use numerics::simd::{ColumnSums, Tile, Windowed};
use numerics::{Complex32, Complex64, Number};

/// The types in which products are summed.
pub trait Accumulator: Number + Tile + Windowed + ColumnSums<Self> {
    /// `self + a * b`. Rounded once for floating-point numbers; for complex ones, each part adds
    /// its two real products in turn, that of `a`'s real part first.
    fn multiply_add(self, a: Self, b: Self) -> Self;

    /// The number, or the quiet NaN without sign and payload for any NaN.
    fn quiet(self) -> Self;

    /// The sum as a result: quiet, and zero is positive.
    fn finish(self) -> Self;
}

macro_rules! floats {
    ($($ty:ident $nan:literal)*) => {$(
        impl Accumulator for $ty {
            #[inline(always)]
            fn multiply_add(self, a: $ty, b: $ty) -> $ty {
                a.mul_add(b, self)
            }
            #[inline(always)]
            fn quiet(self) -> $ty {
                if self.is_nan() { $ty::from_bits($nan) } else { self }
            }
            #[inline(always)]
            fn finish(self) -> $ty {
                self.quiet() + 0.0
            }
        }
    )*};
}

macro_rules! complex {
    ($($ty:ident)*) => {$(
        impl Accumulator for $ty {
            #[inline(always)]
            fn multiply_add(self, a: $ty, b: $ty) -> $ty {
                $ty::new(
                    self.re.multiply_add(a.re, b.re).multiply_add(-a.im, b.im),
                    self.im.multiply_add(a.re, b.im).multiply_add(a.im, b.re),
                )
            }
            #[inline(always)]
            fn quiet(self) -> $ty {
                $ty::new(self.re.quiet(), self.im.quiet())
            }
            #[inline(always)]
            fn finish(self) -> $ty {
                $ty::new(self.re.finish(), self.im.finish())
            }
        }
    )*};
}

macro_rules! exact {
    ($($ty:ident)*) => {$(
        impl Accumulator for $ty {
            #[inline(always)]
            fn multiply_add(self, a: $ty, b: $ty) -> $ty {
                self.add(a.multiply(b))
            }
            #[inline(always)]
            fn quiet(self) -> $ty {
                self
            }
            #[inline(always)]
            fn finish(self) -> $ty {
                self
            }
        }
    )*};
}

floats!(f32 0x7FC0_0000 f64 0x7FF8_0000_0000_0000);
complex!(Complex32 Complex64);
exact!(i32 i64);
