//! Products of matrices of small integers, whose sums have 32 bits.
//!
//! Both factors are copied as pairs of 16 bits, the left one in rows, the right one in panels of
//! the columns of a tile: products of pairs take half the instructions of those of `f32`.

use super::parallel::task_size;
use super::widened::WidenedFactor;
use numerics::budget::Scratch;
use numerics::simd::{Isa, PAIR_COLUMNS, PAIR_ROWS, Pair, multiply_pairs, transpose};
use numerics::{DType, TensorError};
use std::ops::Range;

/// Fewer rows or columns than these are multiplied as vectors, and fewer products are copied for
/// longer than they take.
const MIN_SIZES: [usize; 3] = [4, 8, 8];

/// True if products of these types and sizes, `m` x `k` x `n`, are computed here.
pub(crate) fn are_pairs(types: [DType; 2], sum: DType, [m, n, k]: [usize; 3]) -> bool {
    let is_small = |dtype| matches!(dtype, DType::I8 | DType::U8 | DType::I16);
    let are_enough = [m, n, k].iter().zip(MIN_SIZES).all(|(&size, least)| size >= least);
    sum == DType::I32 && types.into_iter().all(is_small) && are_enough
}

/// Writes the products of two factors, each of which has the matrices of all of them, to `out`.
///
/// # Errors
/// If there is no memory for the copies, or a matrix is not in its memory.
pub(crate) fn multiply(
    [m, n, k]: [usize; 3],
    [lhs, rhs]: [WidenedFactor<'_>; 2],
    out: &mut [i32],
) -> Result<(), TensorError> {
    if !(lhs.is_inside(m, k) && rhs.is_inside(n, k)) || out.len() != lhs.starts.len() * m * n {
        return Err(TensorError::OutOfBounds);
    }
    let (isa, depth) = (Isa::best(), k.div_ceil(2));
    let panels = n.div_ceil(PAIR_COLUMNS);
    let mut left: Scratch<Pair> = Scratch::filled(m.saturating_mul(depth), 0)?;
    let mut right: Scratch<[Pair; PAIR_COLUMNS]> =
        Scratch::filled(panels.saturating_mul(depth), [0; PAIR_COLUMNS])?;
    for (product, out) in out.chunks_exact_mut(m * n).enumerate() {
        let rows = task_size(m, k, 1);
        let tasks = left.chunks_mut(rows * depth).enumerate().collect();
        host::parallel(tasks, |(task, left): (usize, &mut [Pair])| {
            let mut elements = vec![0; 2 * depth];
            for (row, pairs) in (task * rows..).zip(left.chunks_exact_mut(depth)) {
                lhs.widen_row(lhs.at(product, row, 0), lhs.strides[1], &mut elements[..k]);
                join(&elements, pairs);
            }
            Ok::<_, TensorError>(())
        })?;
        let some = task_size(panels, k * PAIR_COLUMNS, 1);
        let tasks = right.chunks_mut(some * depth).enumerate().collect();
        host::parallel(tasks, |(task, right): (usize, &mut [[Pair; PAIR_COLUMNS]])| {
            let mut copies = Vec::new();
            for (panel, rows) in (task * some..).zip(right.chunks_exact_mut(depth)) {
                let first = panel * PAIR_COLUMNS;
                let width = PAIR_COLUMNS.min(n - first);
                rhs.fill_panel(product, first..first + width, k, &mut copies, rows);
            }
            Ok::<_, TensorError>(())
        })?;
        let tile_rows = task_size(m, n * k, PAIR_ROWS);
        let tasks = out.chunks_mut(tile_rows * n).enumerate().collect();
        host::parallel(tasks, |(task, out): (usize, &mut [i32])| {
            let first = task * tile_rows;
            for (panel, columns) in right.chunks_exact(depth).enumerate() {
                let at = panel * PAIR_COLUMNS;
                let width = PAIR_COLUMNS.min(n - at);
                for (tile, out) in out.chunks_mut(PAIR_ROWS * n).enumerate() {
                    let row = first + tile * PAIR_ROWS;
                    // If there are fewer rows, the last one is repeated.
                    let rows =
                        std::array::from_fn(|r| &left[(row + r).min(m - 1) * depth..][..depth]);
                    let sums = multiply_pairs(isa, rows, columns);
                    for (out, sums) in out.chunks_exact_mut(n).zip(&sums) {
                        out[at..at + width].copy_from_slice(&sums[..width]);
                    }
                }
            }
            Ok::<_, TensorError>(())
        })?;
    }
    Ok(())
}

impl WidenedFactor<'_> {
    /// Where an element of a row is.
    fn at(&self, product: usize, row: usize, k: usize) -> usize {
        self.starts[product] + row * self.strides[0] + k * self.strides[1]
    }

    /// Elements at a distance from each other, as integers of 16 bits.
    fn widen_row(&self, start: usize, stride: usize, out: &mut [i16]) {
        fn widen<const N: usize>(
            elements: &[[u8; N]],
            stride: usize,
            out: &mut [i16],
            element: impl Fn([u8; N]) -> i16,
        ) {
            if stride == 1 {
                out.iter_mut().zip(elements).for_each(|(out, &bytes)| *out = element(bytes));
            } else {
                let elements = elements.iter().step_by(stride);
                out.iter_mut().zip(elements).for_each(|(out, &bytes)| *out = element(bytes));
            }
        }
        let single = self.bytes.as_chunks::<1>().0;
        match self.dtype {
            DType::I16 => {
                let elements = &self.bytes.as_chunks::<2>().0[start..];
                widen(elements, stride, out, i16::from_ne_bytes);
            }
            DType::U8 => widen(&single[start..], stride, out, |[byte]| i16::from(byte)),
            _ => widen(&single[start..], stride, out, |[byte]| i16::from(byte as i8)),
        }
    }

    /// Fills a panel with the pairs of some rows, each of which is a column of it.
    fn fill_panel(
        &self,
        product: usize,
        rows: Range<usize>,
        k: usize,
        copies: &mut Vec<Pair>,
        panel: &mut [[Pair; PAIR_COLUMNS]],
    ) {
        let (depth, count) = (panel.len(), rows.len());
        if self.strides[0] == 1 && self.strides[1] != 1 {
            let [mut low, mut high] = [[0; PAIR_COLUMNS]; 2];
            for (at, pairs) in panel.iter_mut().enumerate() {
                let start = |k| self.at(product, rows.start, k);
                self.widen_row(start(2 * at), 1, &mut low[..count]);
                match 2 * at + 1 < k {
                    true => self.widen_row(start(2 * at + 1), 1, &mut high[..count]),
                    false => high.fill(0),
                }
                for (pair, (low, high)) in pairs.iter_mut().zip(low.into_iter().zip(high)) {
                    *pair = pair_of(low, high);
                }
            }
            return;
        }
        let mut elements = vec![0; 2 * depth];
        copies.resize(count * depth, 0);
        for (row, pairs) in rows.zip(copies.chunks_exact_mut(depth)) {
            self.widen_row(self.at(product, row, 0), self.strides[1], &mut elements[..k]);
            join(&elements, pairs);
        }
        transpose((copies, depth), (panel.as_flattened_mut(), PAIR_COLUMNS), [count, depth]);
    }
}

fn pair_of(low: i16, high: i16) -> Pair {
    Pair::from(low as u16) | Pair::from(high as u16) << 16
}

/// Writes neighbouring elements as pairs.
fn join(elements: &[i16], pairs: &mut [Pair]) {
    for (pair, &[low, high]) in pairs.iter_mut().zip(elements.as_chunks::<2>().0) {
        *pair = pair_of(low, high);
    }
}
