//! Reductions of matrices of few columns.

use super::sums::{Combine, ROWS, combine_columns, copy_strided};
use super::tree::Tree;
use numerics::Element;

/// Matrices of fewer columns are narrow,
pub const NARROW: usize = 8;
/// Number of their rows that are copied at a time: a power of two.
const COPIED: usize = 1024;
/// Matrices of at most this many columns have adjacent rows combined.
pub const FEW_COLUMNS: usize = 64;
/// Number of these rows at a time: a power of [`ROWS`].
const ADJACENT: usize = ROWS * ROWS * ROWS;

/// Combines the columns of matrices of `count` rows of `columns` neighbouring elements each, with a
/// place in `out` for each: as rows of copies, since vectors of few columns are short.
pub fn combine_narrow<T: Element>(
    elements: &[T],
    [count, columns]: [usize; 2],
    operation: &dyn Combine<T>,
    out: &mut [T],
) {
    let mut copies = Vec::new();
    let mut combine = |matrices: &[T], count: usize, out: &mut [T]| {
        copies.resize(matrices.len().max(copies.len()), T::ZERO);
        let copies = &mut copies[..matrices.len()];
        let size = count * columns;
        for (matrix, copies) in matrices.chunks_exact(size).zip(copies.chunks_exact_mut(size)) {
            if columns == 2 {
                split_pairs(matrix, copies);
                continue;
            }
            for (column, copy) in copies.chunks_exact_mut(count).enumerate() {
                copy_strided(&matrix[column..], columns, copy);
            }
        }
        operation.combine_rows(copies, count, out);
    };
    if count <= COPIED {
        let matrices = COPIED / count;
        for (out, elements) in
            out.chunks_mut(matrices * columns).zip(elements.chunks(matrices * columns * count))
        {
            combine(&elements[..out.len() * count], count, out);
        }
        return;
    }
    for (out, matrix) in out.chunks_exact_mut(columns).zip(elements.chunks_exact(count * columns)) {
        let mut tree = Tree::new();
        let merge = |mut left: Vec<T>, right: Vec<T>| {
            operation.merge(&mut left, &right);
            left
        };
        for part in matrix.chunks(COPIED * columns) {
            let mut results = vec![T::ZERO; columns];
            let rows = part.len() / columns;
            combine(part, rows, &mut results);
            // The last part is smaller than the subtrees of the others.
            match rows {
                COPIED => tree.push(results, merge),
                _ => tree.push_last(results),
            }
        }
        if let Some(results) = tree.finish(merge) {
            out.copy_from_slice(&results);
        }
    }
}

/// Copies the first elements of pairs, and then the second ones.
fn split_pairs<T: Element>(elements: &[T], copies: &mut [T]) {
    let pairs = elements.as_chunks::<2>().0;
    let (first, second) = copies.split_at_mut(pairs.len());
    for ((first, second), &[x, y]) in first.iter_mut().zip(second).zip(pairs) {
        (*first, *second) = (x, y);
    }
}

/// As [`combine_narrow`], of a matrix whose columns are as long as vectors: level by level, each of
/// [`ROWS`] neighbouring rows.
pub fn combine_adjacent<T: Element>(
    matrix: &[T],
    [count, columns]: [usize; 2],
    operation: &dyn Combine<T>,
    out: &mut [T],
) {
    let (parts, rest) = matrix.split_at(count / ADJACENT * ADJACENT * columns);
    let mut tree = Tree::new();
    let merge = |mut left: Vec<T>, right: Vec<T>| {
        operation.merge(&mut left, &right);
        left
    };
    let mut levels = [ROWS * ROWS, ROWS].map(|rows| vec![T::ZERO; rows * columns]);
    for part in parts.chunks_exact(ADJACENT * columns) {
        let [first, second] = &mut levels;
        operation.merge_adjacent(part, columns, first);
        operation.merge_adjacent(first, columns, second);
        let mut results = vec![T::ZERO; columns];
        operation.merge_adjacent(second, columns, &mut results);
        tree.push(results, merge);
    }
    if !rest.is_empty() {
        // Fewer rows than each subtree has.
        let mut results = vec![T::ZERO; columns];
        let row = |i: usize| i * columns;
        combine_columns(rest, 1, count % ADJACENT, &row, operation, &mut results);
        tree.push_last(results);
    }
    if let Some(results) = tree.finish(merge) {
        out.copy_from_slice(&results);
    }
}
