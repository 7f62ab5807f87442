//! Columns of the right factor of a product, in panels of the width of a tile of results.

use super::matmul::Accumulator;
use super::rows::Matrix;
use numerics::simd::{Kernel, prefetch, transpose};

/// Rows of `b` that are copied at a time, if neither rows nor columns are adjacent.
const PACKED_ROWS: usize = 8;

/// Columns of `b`: each panel has the columns of a tile.
pub enum Panels<'a, T, const C: usize> {
    /// Copies of all panels.
    Copied(&'a [[T; C]]),
    /// Columns where they are, and room for a copy of a panel.
    InPlace(Matrix<'a, T>, &'a mut [[T; C]]),
}

/// The rows of the next panels, each a line of the cache, before they are copied.
#[derive(Clone, Copy)]
pub struct Ahead<'a, T> {
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
    pub fn prefetch<const C: usize>(&mut self, count: usize) {
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
pub struct Pack<'a, T, const C: usize> {
    /// The factor, from the first column that is copied on.
    pub b: Matrix<'a, T>,
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
        let Pack { b: Matrix { elements, strides }, width, depth, panels } = self;
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
}
