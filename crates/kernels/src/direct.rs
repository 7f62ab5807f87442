//! Products of matrices without copies: of few products each, or small.

use super::accumulator::Accumulator;
use super::matmul::FEW;
use super::rows::Matrix;
use numerics::simd::Kernel;

/// A row of results without any copy, for sums of few products and for small matrices.
pub struct DirectRow<'a, T> {
    /// The row of the left factor.
    pub a: &'a [T],
    /// The right one.
    pub b: Matrix<'a, T>,
    /// The results.
    pub out: &'a mut [T],
}

impl<T: Accumulator> Kernel for DirectRow<'_, T> {
    #[inline(always)]
    fn run(self) {
        let DirectRow { a, b: Matrix { elements, strides: [row_stride, column_stride] }, out } =
            self;
        let is_short = a.len() <= FEW;
        out.fill(T::ZERO);
        for (k, &a) in a.iter().enumerate() {
            let b = &elements[k * row_stride..];
            let a = std::iter::repeat(a);
            match (column_stride, is_short) {
                (1, true) => add_products(out, a, b.iter().copied()),
                (1, false) => add_fused(out, a, b.iter().copied()),
                (_, true) => add_products(out, a, b.iter().step_by(column_stride).copied()),
                (_, false) => add_fused(out, a, b.iter().step_by(column_stride).copied()),
            }
        }
        for sum in out {
            *sum = sum.finish();
        }
    }
}

/// Adds a rounded product to each sum.
#[inline(always)]
fn add_products<T: Accumulator>(
    sums: &mut [T],
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum = sum.add(a.multiply(b));
    }
}

/// Adds a product to each sum, rounded once.
#[inline(always)]
fn add_fused<T: Accumulator>(
    sums: &mut [T],
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        *sum = sum.multiply_add(a, b);
    }
}
