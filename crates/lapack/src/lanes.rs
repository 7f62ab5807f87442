//! Loops over parts of rows, some elements at a time, which are the same for any vector
//! instructions: the caller is compiled for those of the machine.

use crate::matrix::{Matrix, MatrixEntry, Scalar};
use std::array::from_fn;
use std::ops::Range;

/// Maximum number of elements of a panel, which a cache close to the processor holds.
const MAX_PANELS: usize = 1 << 12;

/// Room for a list, which is not allocated for a short one.
pub(crate) struct InlineBuffer<T> {
    few: [T; 32],
    many: Vec<T>,
}

impl<T: MatrixEntry> InlineBuffer<T> {
    /// Room for `len` elements.
    #[inline(always)]
    pub(crate) fn new(len: usize) -> InlineBuffer<T> {
        let few = [T::default(); 32];
        InlineBuffer {
            many: if len > few.len() { vec![T::default(); len] } else { Vec::new() },
            few,
        }
    }

    /// The first `len` elements of it.
    #[inline(always)]
    pub(crate) fn first(&mut self, len: usize) -> &mut [T] {
        if self.many.is_empty() { &mut self.few[..len] } else { &mut self.many[..len] }
    }
}

/// Changes each element of `x`, given the one of `y` at its place.
#[inline(always)]
pub(crate) fn in_lanes<T: Copy>(x: &mut [T], y: &[T], change: impl Fn(T, T) -> T) {
    // Of arrays, the compiler would read every eighth element, with the vectors of AVX-512.
    for (x, &y) in x.iter_mut().zip(y) {
        *x = change(*x, y);
    }
}

/// Calls `$work::<N>($column)` for panels of `N` columns of a range, the widest first, until none
/// is left.
macro_rules! for_panels {
    ($columns:expr, |$column:ident, $width:ident| $work:expr) => {{
        let columns: std::ops::Range<usize> = $columns;
        let mut $column = columns.start;
        $crate::lanes::for_panels!(@ columns, $column, $width, $work, 16 8 4 2 1);
    }};
    (@ $columns:ident, $column:ident, $width:ident, $work:expr, $($size:literal)*) => {$(
        while $columns.end - $column >= $size {
            const $width: usize = $size;
            $work;
            $column += $size;
        }
    )*};
}
pub(crate) use for_panels;

/// `rows[i][columns] -= factors[i] * y`, for rows that are `stride` elements apart.
#[inline(always)]
pub(crate) fn subtract_product<T: MatrixEntry>(
    rows: &mut [T],
    stride: usize,
    columns: Range<usize>,
    factors: &[T],
    y: &[T],
) {
    if rows.len() > MAX_PANELS {
        for (row, &factor) in rows.chunks_mut(stride).zip(factors) {
            in_lanes(&mut row[columns.clone()], y, |x, y| x - factor * y);
        }
        return;
    }
    let first = columns.start;
    for_panels!(columns, |column, N| {
        if let Some(rows) = rows.get_mut(column..) {
            panel::<T, N>(rows, stride, factors, &y[column - first..]);
        }
    });
}

/// [`subtract_product`], for the first `N` columns.
#[inline(always)]
fn panel<T: MatrixEntry, const N: usize>(rows: &mut [T], stride: usize, factors: &[T], y: &[T]) {
    let Some(&y) = y.first_chunk::<N>() else { return };
    for (row, &factor) in rows.chunks_mut(stride).zip(factors) {
        if let Some(row) = row.first_chunk_mut::<N>() {
            let before = *row;
            *row = from_fn(|lane| before[lane] - factor * y[lane]);
        }
    }
}

/// Replaces `panel` by `N` columns of all rows.
#[inline(always)]
pub(crate) fn read_panel<T: Scalar, const N: usize>(
    a: &Matrix<T>,
    column: usize,
    panel: &mut Vec<T>,
) {
    panel.clear();
    let rows = a.elements().chunks_exact(a.columns());
    rows.for_each(|row| panel.extend_from_slice(&row[column..column + N]));
}

/// Puts `N` columns back.
#[inline(always)]
pub(crate) fn write_panel<T: Scalar, const N: usize>(
    panel: &[T],
    a: &mut Matrix<T>,
    column: usize,
) {
    let n = a.columns();
    for (row, part) in a.elements_mut().chunks_exact_mut(n).zip(panel.as_chunks::<N>().0) {
        row[column..column + N].copy_from_slice(part);
    }
}

/// Adds `factors[i] * rows[i]` to sums, in the order of the rows, for the first `N` columns.
#[inline(always)]
pub(crate) fn add_products<T: Scalar, const N: usize>(
    mut sums: [T; N],
    rows: &[T],
    stride: usize,
    factors: impl Iterator<Item = T>,
) -> [T; N] {
    for (row, factor) in rows.chunks(stride).zip(factors) {
        if let Some(row) = row.first_chunk::<N>() {
            let row = *row;
            sums = from_fn(|lane| sums[lane] + factor * row[lane]);
        }
    }
    sums
}
