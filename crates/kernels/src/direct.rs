//! Products of matrices without copies: of few products each, or small.

use super::accumulator::Accumulator;
use super::matmul::FEW;
use super::rows::Matrix;
use numerics::simd::{Isa, Kernel, PanelColumns};

/// A row of results without any copy, for sums of few products and for small matrices.
pub(crate) struct DirectRow<'a, T> {
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
        let DirectRow { a, b: Matrix { elements, strides }, out } = self;
        let (mut elements, [row_stride, column_stride]) = (elements, strides);
        if column_stride == 1 && elements.len() >= (a.len().max(1) - 1) * row_stride + out.len() {
            match *a {
                [a] => return few_products([a], elements, row_stride, out),
                [a, b] => return few_products([a, b], elements, row_stride, out),
                [a, b, c] => return few_products([a, b, c], elements, row_stride, out),
                [a, b, c, d] => return few_products([a, b, c, d], elements, row_stride, out),
                _ => {}
            }
        }
        let is_short = a.len() <= FEW;
        let mut out = out;
        // Where loops do not become vectors with fused multiply-adds.
        if cfg!(target_family = "wasm") && column_stride == 1 && !is_short {
            let whole = out.len() / T::COLUMNS * T::COLUMNS;
            let columns = PanelColumns { elements, stride: row_stride, distance: T::COLUMNS };
            if T::row_chains(Isa::best(), a, columns, &mut out[..whole]) {
                let (sums, rest) = std::mem::take(&mut out).split_at_mut(whole);
                sums.iter_mut().for_each(|sum| *sum = sum.finish());
                elements = elements.get(whole..).unwrap_or_default();
                out = rest;
            }
        }
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

    /// One loop for all distances and numbers of products.
    fn run_shared(self) {
        let DirectRow { a, b: Matrix { elements, strides: [row_stride, column_stride] }, out } =
            self;
        let is_short = a.len() <= FEW;
        for (column, out) in out.iter_mut().enumerate() {
            let step = |sum: T, (k, &a): (usize, &T)| {
                let b = elements[k * row_stride + column * column_stride];
                if is_short { sum.add(a.multiply(b)) } else { sum.multiply_add(a, b) }
            };
            *out = a.iter().enumerate().fold(T::ZERO, step).finish();
        }
    }
}

/// Sums of `K` rounded products with columns whose rows are adjacent.
#[inline(always)]
fn few_products<T: Accumulator, const K: usize>(
    a: [T; K],
    elements: &[T],
    row_stride: usize,
    out: &mut [T],
) {
    const { assert!(K <= FEW) }
    let rows: [&[T]; K] = std::array::from_fn(|k| &elements[k * row_stride..][..out.len()]);
    for (j, out) in out.iter_mut().enumerate() {
        let mut sum = T::ZERO;
        for (a, row) in a.iter().zip(rows) {
            sum = sum.add(a.multiply(row[j]));
        }
        *out = sum.finish();
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
