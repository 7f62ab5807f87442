//! Products of a vector with the columns of a matrix whose rows are read from where they are.

use super::matmul::{Accumulator, BLOCK, Matrix};
use super::sums::Tree;
use numerics::Number;
use numerics::simd::Kernel;

/// Results that are summed at a time: they stay in the cache while the rows of `b` are read.
const RESULTS: usize = 1024;

/// The products of a vector with the columns of `b`, as [`Product`](super::matmul::Product) defines
/// them. The elements of a row of `b` are neighbours.
pub struct VectorProduct<'a, T> {
    pub a: &'a [T],
    pub b: Matrix<'a, T>,
    pub out: &'a mut [T],
}

impl<T: Accumulator> Kernel for VectorProduct<'_, T> {
    #[inline(always)]
    fn run(self) {
        let VectorProduct { a, b: Matrix { elements, strides: [row_stride, _] }, out } = self;
        for (chunk, out) in out.chunks_mut(RESULTS).enumerate() {
            let b = &elements[chunk * RESULTS..];
            out.fill(T::ZERO);
            if a.len() <= BLOCK {
                add_rows_scaled(out, a, b, row_stride);
                continue;
            }
            let mut tree = Tree::new();
            for (block, a) in a.chunks(BLOCK).enumerate() {
                let mut sums = vec![T::ZERO; out.len()];
                add_rows_scaled(&mut sums, a, &b[block * BLOCK * row_stride..], row_stride);
                tree.push(sums, add_rows);
            }
            if let Some(sums) = tree.finish(add_rows) {
                out.copy_from_slice(&sums);
            }
        }
        for sum in out {
            *sum = sum.finish();
        }
    }
}

/// Adds the products of the elements of `a` with rows of `b`, in order.
#[inline(always)]
fn add_rows_scaled<T: Accumulator>(sums: &mut [T], a: &[T], b: &[T], row_stride: usize) {
    let (quads, rest) = a.as_chunks::<4>();
    for (quad, a) in quads.iter().enumerate() {
        let k = 4 * quad;
        let rows = [k, k + 1, k + 2, k + 3].map(|k| &b[k * row_stride..]);
        add_scaled(sums, *a, rows);
    }
    for (i, &a) in rest.iter().enumerate() {
        add_scaled(sums, [a], [&b[(4 * quads.len() + i) * row_stride..]]);
    }
}

/// Adds the products of a few elements of `a` with rows of `b`, in order.
#[inline(always)]
fn add_scaled<T: Accumulator, const N: usize>(sums: &mut [T], a: [T; N], b: [&[T]; N]) {
    let b = b.map(|b| &b[..sums.len()]);
    for (j, sum) in sums.iter_mut().enumerate() {
        for (a, b) in a.iter().zip(b) {
            *sum = sum.multiply_add(*a, b[j]);
        }
    }
}

/// The sums of two rows, in the place of the left one.
fn add_rows<T: Number>(mut left: Vec<T>, right: Vec<T>) -> Vec<T> {
    for (x, &y) in left.iter_mut().zip(&right) {
        *x = x.add(y);
    }
    left
}
