//! Copies that transpose, block by block.

use crate::dispatch::by_size;
use crate::shape::{Axis, Indices, at};
use crate::simd::{transpose, transpose_streamed};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use std::ops::Range;

/// Rows and columns of the blocks in which transposing copies go, in elements: pages are read and
/// written some lines of the cache at a time.
const BLOCK: [usize; 2] = [512, 128];
/// The same if results are streamed.
const STREAMED_BLOCK: [usize; 2] = [1024, 128];
/// The least side of a matrix that is transposed in blocks.
pub(crate) const MIN_SIDE: usize = 16;

/// A view whose innermost dimension strides over memory while another one runs along it: a
/// transpose. It is walked in blocks of these two dimensions, so that both sides stay in the cache.
pub(crate) struct Blocks {
    outer: Vec<(Axis, usize)>,
    row: (Axis, usize),
    column: Axis,
}

impl Blocks {
    /// The blocks, if the view is a transpose large enough for them. Axes carry their dense
    /// strides.
    pub(crate) fn of(axes: &[Axis]) -> Option<Blocks> {
        let (&column, rest) = axes.split_last()?;
        let row = rest.iter().position(|axis| axis.stride == 1 && axis.size >= MIN_SIDE)?;
        if column.size < MIN_SIDE || column.stride == 0 {
            return None;
        }
        let mut dense = 1;
        let mut strides = vec![0; axes.len()];
        for (stride, axis) in strides.iter_mut().zip(axes).rev() {
            *stride = dense;
            dense *= axis.size;
        }
        let mut outer: Vec<_> = rest.iter().copied().zip(strides).collect();
        let row = outer.remove(row);
        Some(Blocks { outer, row, column })
    }

    /// Writes the elements of the view to `target`.
    pub(crate) fn gather<T: Pod>(&self, offset: usize, source: &[T], target: &mut [T]) {
        by_size!(T, Blocks::gather_plain(self, offset, cast_slice(source), cast_slice_mut(target)));
    }

    /// As [`Blocks::gather`], compiled once for all crates.
    #[inline(never)]
    fn gather_plain<T: Pod>(&self, offset: usize, source: &[T], target: &mut [T]) {
        let (_, row_dense) = self.row;
        // Results of a matrix that no cache keeps are streamed to memory if they are many.
        let machine = host::machine();
        let is_streamed =
            size_of_val(source) >= machine.l3.bytes && size_of_val(target) >= machine.l2.bytes;
        let block = if is_streamed { STREAMED_BLOCK } else { BLOCK };
        self.each(offset, block, |dense, strided, rows, columns| {
            let start = at(strided + rows.start, columns.start, self.column.stride);
            let target = &mut target[dense + rows.start * row_dense + columns.start..];
            if let Ok(stride) = usize::try_from(self.column.stride) {
                let (source, target) = ((&source[start..], stride), (target, row_dense));
                let size = [columns.len(), rows.len()];
                match is_streamed {
                    true => transpose_streamed(source, target, size),
                    false => transpose(source, target, size),
                }
                return;
            }
            for r in 0..rows.len() {
                for c in 0..columns.len() {
                    target[r * row_dense + c] = source[at(start + r, c, self.column.stride)];
                }
            }
        });
    }

    /// Calls `visit(dense, strided)` for every element with its positions on both sides.
    pub(crate) fn walk(&self, offset: usize, mut visit: impl FnMut(usize, usize)) {
        let (_, row_dense) = self.row;
        self.each(offset, BLOCK, |dense, strided, rows, columns| {
            for r in rows {
                for c in columns.clone() {
                    visit(dense + r * row_dense + c, at(strided + r, c, self.column.stride));
                }
            }
        });
    }

    /// Calls `visit(dense, strided, rows, columns)` for every block of this many rows and columns,
    /// with the positions of the first row and column on both sides.
    fn each(
        &self,
        offset: usize,
        block: [usize; 2],
        mut visit: impl FnMut(usize, usize, Range<usize>, Range<usize>),
    ) {
        let shape: Vec<usize> = self.outer.iter().map(|(axis, _)| axis.size).collect();
        let (row, _) = self.row;
        let mut indices = Indices::new(shape);
        while let Some(index) = indices.next_index() {
            let (mut dense, mut strided) = (0, offset);
            for (&i, (axis, stride)) in index.iter().zip(&self.outer) {
                dense += i * stride;
                strided = at(strided, i, axis.stride);
            }
            for rows in (0..row.size).step_by(block[0]) {
                for columns in (0..self.column.size).step_by(block[1]) {
                    let rows = rows..(rows + block[0]).min(row.size);
                    let columns = columns..(columns + block[1]).min(self.column.size);
                    visit(dense, strided, rows, columns);
                }
            }
        }
    }
}
