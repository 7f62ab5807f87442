//! Products of matrices, which blocked decompositions subtract.
//!
//! Each element loses one product after the other, in order and without fused operations: so a
//! block has the bits of separate steps.

use crate::matrix::MatrixEntry;
use numerics::simd::{Doubles, DoublesArray, DoublesKernel, Isa};

/// Rows of a tile, which stays in registers with its columns: two vectors.
const ROWS: usize = 4;

/// A product that is subtracted from a matrix with `columns` columns: `a * b`.
pub(crate) struct Subtraction<'a, T> {
    /// The matrix, and the distance between its rows.
    pub c: (&'a mut [T], usize),
    /// The number of its columns.
    pub columns: usize,
    /// Rows of `depth` adjacent elements each.
    pub a: &'a [T],
    /// `depth` rows of `columns` elements each, and the distance between rows.
    pub b: (&'a [T], usize),
    /// The number of products of each element.
    pub depth: usize,
}

/// Subtracts a product.
pub(crate) fn subtract<T: MatrixEntry>(
    c: (&mut [T], usize),
    columns: usize,
    a: &[T],
    b: (&[T], usize),
    depth: usize,
) {
    if depth > 0 && columns > 0 && !a.is_empty() {
        T::subtract_product(Subtraction { c, columns, a, b, depth });
    }
}

impl<T: MatrixEntry> Subtraction<'_, T> {
    /// Subtracts row by row.
    pub(crate) fn by_rows(self) {
        let Subtraction { c: (c, stride), columns, a, b: (b, b_stride), depth } = self;
        for (a, row) in a.chunks_exact(depth).zip(c.chunks_mut(stride)) {
            for (&factor, y) in a.iter().zip(b.chunks(b_stride)) {
                for (x, &y) in row[..columns].iter_mut().zip(y) {
                    *x = *x - factor * y;
                }
            }
        }
    }
}

impl Subtraction<'_, f64> {
    /// Subtracts tile by tile, with the vectors of the machine.
    pub(crate) fn by_tiles(self) {
        let isa = Isa::best();
        if <[f64; 8]>::is_compiled(isa) {
            isa.run_doubles(VectorTiles::<8>(self));
        } else if <[f64; 4]>::is_compiled(isa) {
            isa.run_doubles(VectorTiles::<4>(self));
        } else {
            self.by_rows();
        }
    }
}

/// A subtraction with vectors of `L` numbers.
struct VectorTiles<'a, const L: usize>(Subtraction<'a, f64>);

impl<const L: usize> DoublesKernel for VectorTiles<'_, L>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let Subtraction { c: (c, stride), columns, a, b: (b, b_stride), depth } = self.0;
        // Some columns of `b`, packed, which all rows of `a` meet.
        let mut strip = vec![[[0.0; L]; 2]; depth];
        for first in (0..columns).step_by(2 * L) {
            let width = (2 * L).min(columns - first);
            for (lanes, row) in strip.iter_mut().zip(b.chunks(b_stride)) {
                lanes.as_flattened_mut()[..width].copy_from_slice(&row[first..first + width]);
            }
            for (a, c) in a.chunks(ROWS * depth).zip(c.chunks_mut(ROWS * stride)) {
                let count = a.len() / depth;
                // Rows that there are not have the factors of the last one.
                let mut rows = [&a[(count - 1) * depth..]; ROWS];
                let mut sums = [[V::splat(0.0); 2]; ROWS];
                for (i, row) in a.chunks_exact(depth).enumerate() {
                    rows[i] = row;
                    let mut lanes = [[0.0; L]; 2];
                    let from = &c[i * stride + first..][..width];
                    match from.first_chunk::<L>() {
                        Some(low) if width == 2 * L => {
                            lanes[0] = *low;
                            lanes[1].copy_from_slice(&from[L..]);
                        }
                        _ => lanes.as_flattened_mut()[..width].copy_from_slice(from),
                    }
                    sums[i] = [V::read(&lanes[0]), V::read(&lanes[1])];
                }
                let rows = rows.map(|row| &row[..strip.len()]);
                for (k, y) in strip.iter().enumerate() {
                    let (low, high) = (V::read(&y[0]), V::read(&y[1]));
                    for i in 0..ROWS {
                        let factor = V::splat(rows[i][k]);
                        sums[i][0] = sums[i][0] - factor * low;
                        sums[i][1] = sums[i][1] - factor * high;
                    }
                }
                for (i, sums) in sums.iter().enumerate().take(count) {
                    let lanes = [sums[0].array(), sums[1].array()];
                    let to = &mut c[i * stride + first..][..width];
                    match to.as_chunks_mut::<L>().0 {
                        [low, high] => (*low, *high) = (lanes[0], lanes[1]),
                        _ => to.copy_from_slice(&lanes.as_flattened()[..width]),
                    }
                }
            }
        }
    }
}
