//! Columns of the right factor of a product, in panels of the width of a tile of results.

use super::accumulator::Accumulator;
use super::rows::Matrix;
use numerics::simd::{Kernel, prefetch, transpose};
use smallvec::SmallVec;

/// Rows of `b` that are copied at a time, if neither rows nor columns are adjacent.
const PACKED_ROWS: usize = 8;

/// Rows of `b` that are transposed at a time: both sides of a tile of vectors.
const TRANSPOSED_ROWS: usize = 16;

/// The rows of `b` in the order of memory, where the distances between them are not all equal: the
/// weights of a convolution are in any order of dimensions.
#[derive(Debug)]
pub struct RowOrder {
    /// The rows, consecutive runs of `run` rows that are adjacent in memory.
    rows: Vec<u32>,
    run: usize,
    /// Where the first element of each run is.
    starts: Vec<usize>,
}

impl RowOrder {
    /// The order of rows whose number is an index of an array of this shape, in row-major order,
    /// with these distances in memory along its dimensions. Of a dimension whose distance is
    /// negative, the last index is the first in memory.
    pub fn new(shape: &[usize], strides: &[isize]) -> Option<RowOrder> {
        let mut dims: SmallVec<[(usize, usize, u32, bool); 4]> = SmallVec::new();
        let mut step = 1_u32;
        for (&size, &stride) in shape.iter().zip(strides).rev() {
            dims.push((stride.unsigned_abs(), size, step, stride < 0));
            step = step.checked_mul(u32::try_from(size).ok()?)?;
        }
        dims.retain(|&mut (_, size, ..)| size > 1);
        dims.sort_unstable();
        let (mut rows, mut starts, mut run) = (vec![0], vec![0], 1);
        for (stride, size, step, is_reversed) in dims {
            let is_run = stride == run && starts.len() == 1;
            let (some_rows, some_starts) = (rows.clone(), starts.clone());
            (rows, starts) = (Vec::new(), if is_run { starts } else { Vec::new() });
            for (i, place) in (0..size).zip(0..) {
                let index = if is_reversed { size as u32 - 1 - place } else { place };
                rows.extend(some_rows.iter().map(|row| row + index * step));
                if !is_run {
                    starts.extend(some_starts.iter().map(|start| start + i * stride));
                }
            }
            if is_run {
                run = rows.len();
            }
        }
        Some(RowOrder { rows, run, starts })
    }

    /// Each row, with the place of its first element, in the order of memory.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let runs = self.rows.chunks(self.run).zip(&self.starts);
        runs.flat_map(|(rows, &start)| rows.iter().map(|&row| row as usize).zip(start..))
    }
}

/// Columns of `b`: each panel has the columns of a tile.
pub(crate) enum Panels<'a, T, const C: usize> {
    /// Copies of all panels.
    Copied(&'a [[T; C]]),
    /// Columns where they are, and room for a copy of a panel.
    InPlace(Matrix<'a, T>, &'a mut [[T; C]]),
}

/// The rows of the next panels, each a line of the cache, before they are copied.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'a, T> {
    /// The columns after the ones that are copied now.
    pub elements: &'a [T],
    /// The distance between their rows.
    pub stride: usize,
    /// The number of rows.
    pub depth: usize,
    /// The number of panels.
    pub panels: usize,
    /// The next panel.
    pub panel: usize,
    /// Its next row.
    pub row: usize,
}

impl<T> Ahead<'_, T> {
    /// Asks for some more of them.
    #[inline(always)]
    pub(crate) fn prefetch<const C: usize>(&mut self, count: usize) {
        for _ in 0..count {
            let at = self.row * self.stride + self.panel * C;
            match self.elements.get(at) {
                Some(element) if self.panel < self.panels => prefetch(element),
                _ => return,
            }
            // A row of a panel is two lines of a cache where it is long.
            self.elements.get(at + C / 2).into_iter().for_each(prefetch);
            self.row += 1;
            if self.row == self.depth {
                (self.panel, self.row) = (self.panel + 1, 0);
            }
        }
    }
}

/// Copies the first `width` columns of `b` to panels of `C` columns each.
pub(crate) struct Pack<'a, T, const C: usize> {
    /// The factor, from the first column that is copied on.
    pub b: Matrix<'a, T>,
    /// Where its rows are, if the distances between them are not all equal.
    pub order: Option<&'a RowOrder>,
    /// The number of columns.
    pub width: usize,
    /// The number of rows.
    pub depth: usize,
    /// Where they go: `depth` rows for each panel.
    pub panels: &'a mut [[T; C]],
}

impl<T: Accumulator, const C: usize> Kernel for Pack<'_, T, C> {
    #[inline(always)]
    fn run(self) {
        if let Some(order) = self.order {
            return self.run_in(order);
        }
        let Pack { b: Matrix { elements, strides }, width, depth, panels, .. } = self;
        let [row_stride, column_stride] = strides;
        if column_stride == 1 {
            // Whole rows, in the order of memory.
            for k in 0..depth {
                let (full, rest) = elements[k * row_stride..][..width].as_chunks::<C>();
                for (panel, columns) in full.iter().enumerate() {
                    panels[panel * depth + k] = *columns;
                }
                if !rest.is_empty() {
                    panels[full.len() * depth + k][..rest.len()].copy_from_slice(rest);
                }
            }
            return;
        }
        for (panel, column) in panels.chunks_exact_mut(depth).zip((0..).step_by(C)) {
            let count = C.min(width - column);
            let columns = &elements[column * column_stride..];
            if row_stride == 1 {
                let panel = (panel.as_flattened_mut(), C);
                transpose((columns, column_stride), panel, [count, depth]);
                continue;
            }
            // A few rows at a time, which stay in the cache.
            for (part, panel) in panel.chunks_mut(PACKED_ROWS).enumerate() {
                let rows = &columns[part * PACKED_ROWS * row_stride..];
                for j in 0..count {
                    for (k, packed) in panel.iter_mut().enumerate() {
                        packed[j] = rows[j * column_stride + k * row_stride];
                    }
                }
            }
        }
    }

    /// One element at a time.
    fn run_shared(self) {
        let Pack { b: Matrix { elements, strides }, order, width, depth, panels } = self;
        let mut copy = |row: usize, start: usize| {
            for column in 0..width {
                let packed = &mut panels[column / C * depth + row];
                packed[column % C] = elements[start + column * strides[1]];
            }
        };
        let Some(order) = order else {
            return (0..depth).for_each(|row| copy(row, row * strides[0]));
        };
        for (rows, &start) in order.rows.chunks(order.run).zip(&order.starts) {
            rows.iter().enumerate().for_each(|(i, &row)| copy(row as usize, start + i));
        }
    }
}

impl<T: Accumulator, const C: usize> Pack<'_, T, C> {
    /// Copies rows in the order of memory.
    #[inline(always)]
    fn run_in(self, order: &RowOrder) {
        let Pack { b: Matrix { elements, strides }, width, depth, panels, .. } = self;
        let column_stride = strides[1];
        let mut part = [[T::ZERO; C]; TRANSPOSED_ROWS];
        for (panel, column) in panels.chunks_exact_mut(depth).zip((0..).step_by(C)) {
            let count = C.min(width - column);
            let columns = &elements[column * column_stride..];
            for (rows, &start) in order.rows.chunks(order.run).zip(&order.starts) {
                if column_stride == 1 {
                    for (i, &row) in rows.iter().enumerate() {
                        panel[row as usize][..count]
                            .copy_from_slice(&columns[start + i..][..count]);
                    }
                    continue;
                }
                for (rows, i) in rows.chunks(TRANSPOSED_ROWS).zip((0..).step_by(TRANSPOSED_ROWS)) {
                    let columns = &columns[start + i..];
                    // Whole tiles of vectors, even if some of their rows are of no use.
                    let has_tile = columns.len() >= (count - 1) * column_stride + TRANSPOSED_ROWS;
                    let height = if has_tile { TRANSPOSED_ROWS } else { rows.len() };
                    transpose(
                        (columns, column_stride),
                        (part.as_flattened_mut(), C),
                        [count, height],
                    );
                    for (&row, part) in rows.iter().zip(&part) {
                        panel[row as usize] = *part;
                    }
                }
            }
        }
    }
}
