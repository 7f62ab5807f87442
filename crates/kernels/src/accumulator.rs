//! The types in which products are summed.

use super::complex_products;
use super::matmul::{Call, Product, Results};
use numerics::simd::{ColumnSums, Isa, TILE_ROWS, Tile, Windowed};
use numerics::{Complex32, Complex64, Number, TensorError};
use std::ops::Range;

/// The types in which products are summed.
pub trait Accumulator: Number + Tile + Windowed + ColumnSums<Self> {
    /// `self + a * b`. Rounded once for floating-point numbers; for complex ones, each part adds
    /// its two real products in turn, that of `a`'s real part first.
    fn multiply_add(self, a: Self, b: Self) -> Self;

    /// The number, or the quiet NaN without sign and payload for any NaN.
    fn quiet(self) -> Self;

    /// The sum as a result: quiet, and zero is positive.
    fn finish(self) -> Self;

    /// Writes a part of a product, `R` rows and `C` columns of results at a time. Copies of columns
    /// are used again in the same call.
    ///
    /// # Errors
    /// If there is no memory for a copy of columns.
    fn compute<const R: usize, const C: usize>(
        product: &Product<'_, Self>,
        isa: Isa,
        rows: Range<usize>,
        columns: Range<usize>,
        out: &mut Results<'_, Self>,
        call: Option<Call>,
    ) -> Result<(), TensorError> {
        product.compute_tiles::<R, C>(isa, rows, columns, out, call)
    }
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
    ($($ty:ident $columns:literal)*) => {$(
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
            fn compute<const R: usize, const C: usize>(
                product: &Product<'_, $ty>,
                isa: Isa,
                rows: Range<usize>,
                columns: Range<usize>,
                out: &mut Results<'_, $ty>,
                _call: Option<Call>,
            ) -> Result<(), TensorError> {
                let compute = complex_products::compute::<_, TILE_ROWS, $columns>;
                compute(product, isa, rows, columns, out)
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
complex!(Complex32 32 Complex64 16);
exact!(i32 i64);
