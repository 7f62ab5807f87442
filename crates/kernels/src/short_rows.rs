//! Folds of short rows, and of the columns of small matrices.

use super::sums::{BLOCK, Combine, ROWS, SHORT_ROW, TINY, combine_columns, copy_strided};
use numerics::Element;
use numerics::simd::transpose;

/// Short rows that are transposed at a time.
const TRANSPOSED: usize = 128;
/// Matrices of few rows and more columns have their columns combined apart.
const SMALL_COLUMNS: usize = 32;

/// Combines each row of a matrix: the rows are `row_len` neighbouring elements each, and there is a
/// place in `out` for each. Rows of no elements leave `out` as it is.
pub fn combine_rows<T: Element>(
    elements: &[T],
    row_len: usize,
    operation: &dyn Combine<T>,
    out: &mut [T],
) {
    // A part of the rows may come with later ones.
    let elements = &elements[..out.len() * row_len];
    // The levels of long rows, if they are even, are combined for many rows at a time.
    let is_short = row_len < SHORT_ROW || (row_len < 2 * SHORT_ROW && row_len % 2 == 1);
    if row_len > TINY && is_short && out.len() >= ROWS {
        match transposed_rows::<T>(row_len, out.len()) {
            Some(size) => {
                let mut columns = vec![T::ZERO; size * row_len];
                for (out, rows) in out.chunks_mut(size).zip(elements.chunks(size * row_len)) {
                    let size = out.len();
                    let columns = &mut columns[..size * row_len];
                    transpose((rows, row_len), (columns, size), [size, row_len]);
                    combine_columns(columns, 1, row_len, &|i| i * size, operation, out);
                }
            }
            None => combine_small(elements, [row_len, 1], operation, out),
        }
    } else {
        operation.combine_rows(elements, row_len, out);
    }
}

/// Short rows that are transposed at a time, to be combined as columns, if there are enough of them
/// and instructions for it.
pub(super) fn transposed_rows<T>(row_len: usize, rows: usize) -> Option<usize> {
    let is_fast = const { size_of::<T>() == size_of::<f32>() } && row_len >= ROWS;
    (is_fast && rows >= 2 * ROWS).then_some(TRANSPOSED)
}

/// The largest of the `count` elements from each position on, given the elements in the first of
/// two rooms of their number: maxima of 1, 2, 4, … elements, and then of all.
#[inline(always)]
pub(super) fn largest_from_each<K: Ord + Copy>(
    [mut from, mut to]: [&mut [K]; 2],
    count: usize,
) -> &[K] {
    let len = from.len();
    let mut size = 1;
    while size < count {
        let step = size.min(count - size);
        let results = &mut to[..len - size - step + 1];
        for ((to, &x), &y) in results.iter_mut().zip(&from[..]).zip(&from[step..]) {
            *to = x.max(y);
        }
        std::mem::swap(&mut from, &mut to);
        size += step;
    }
    from
}

/// True if [`combine_small`] is for the columns of matrices of these sizes.
pub(super) fn are_small([count, columns]: [usize; 2]) -> bool {
    columns <= SMALL_COLUMNS && count.saturating_mul(columns) <= BLOCK && count < 2 * SHORT_ROW
}

/// Combines the columns of matrices of `count` rows of `columns` neighbouring elements each, with a
/// place in `out` for each: the elements from each position on are combined, also from positions
/// within columns, as vectors of all positions need no shuffles.
pub(super) fn combine_small<T: Element>(
    elements: &[T],
    [count, columns]: [usize; 2],
    operation: &dyn Combine<T>,
    out: &mut [T],
) {
    let size = count * columns;
    let matrices = (BLOCK / size).max(1);
    let mut room = vec![T::ZERO; 4 * (matrices * size).min(elements.len())];
    let parts = out.chunks_mut(matrices * columns).zip(elements.chunks(matrices * size));
    for (out, elements) in parts {
        let len = elements.len();
        // Complete subtrees of the height of this level and of the next one, and what is below a
        // subtree in a column, without and with it. They are from each position on.
        let (complete, rests) = room.split_at_mut(2 * len);
        let (mut next, mut last) = complete.split_at_mut(len);
        let (mut rest, mut joined) = rests[..2 * len].split_at_mut(len);
        let (mut rows, mut rest_rows) = (1, 0);
        loop {
            let step = rows * columns;
            let subtrees = if rows == 1 { elements } else { &last[..len - step + columns] };
            if count & rows != 0 {
                let places = len - (rows + rest_rows - 1) * columns;
                let (subtrees, joined_places) = (&subtrees[..places], &mut joined[..places]);
                match rest_rows {
                    0 => joined_places.copy_from_slice(subtrees),
                    _ => operation.merge_into(subtrees, &rest[step..][..places], joined_places),
                }
                std::mem::swap(&mut rest, &mut joined);
                rest_rows += rows;
            }
            if 2 * rows > count {
                break;
            }
            let places = len - 2 * step + columns;
            operation.merge_into(
                &subtrees[..places],
                &subtrees[step..][..places],
                &mut next[..places],
            );
            std::mem::swap(&mut next, &mut last);
            rows *= 2;
        }
        match columns {
            1 => copy_strided(rest, count, out),
            _ => {
                for (out, sums) in out.chunks_exact_mut(columns).zip(rest.chunks(size)) {
                    out.copy_from_slice(&sums[..columns]);
                }
            }
        }
    }
}
