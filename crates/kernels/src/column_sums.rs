//! Columns of matrices that are combined into one number each, as [`sums`](super::sums) defines it.

use super::sums::{Combine, ROWS};
use super::tree::Tree;
use numerics::Element;
use numerics::simd::read_strided;
use std::cell::RefCell;

/// Columns that are combined at a time: a third of the first-level cache holds [`ROWS`] rows of
/// them as `f32`.
fn columns_at_a_time() -> usize {
    (host::machine().l1.bytes / (3 * ROWS * size_of::<f32>())).max(ROWS)
}

/// Combines each column of a matrix of `count` rows, with a place in `out` for each: row `i` has in
/// column `j` the element at `row(i) + j * stride`. Does nothing for no rows.
///
/// # Panics
/// If one of these is outside of `elements`.
#[inline(never)]
pub fn combine_columns<T: Element>(
    elements: &[T],
    stride: usize,
    count: usize,
    row: &dyn Fn(usize) -> usize,
    operation: &dyn Combine<T>,
    out: &mut [T],
) {
    let mut tree = Tree::new();
    let mut copies = Vec::new();
    let columns = columns_at_a_time();
    for (chunk, out) in out.chunks_mut(columns).enumerate() {
        let first = chunk * columns * stride;
        let len = out.len();
        let row = |i: usize| &elements[row(i) + first..];
        // Rows of results that have been merged, for the next ones.
        let spare: RefCell<Vec<Vec<T>>> = RefCell::default();
        let merge = |mut left: Vec<T>, right: Vec<T>| {
            operation.merge(&mut left, &right);
            spare.borrow_mut().push(right);
            left
        };
        let complete = count - count % ROWS;
        for start in (0..complete).step_by(ROWS) {
            let mut results = spare.borrow_mut().pop().unwrap_or_else(|| vec![T::ZERO; len]);
            if stride == 1 {
                let rows = std::array::from_fn(|i| &row(start + i)[..len]);
                operation.merge_rows(rows, &mut results);
            } else {
                copies.resize(ROWS * len, T::ZERO);
                for (i, copy) in copies.chunks_exact_mut(len).enumerate() {
                    copy_strided(row(start + i), stride, copy);
                }
                let rows = std::array::from_fn(|i| &copies[i * len..][..len]);
                operation.merge_rows(rows, &mut results);
            }
            if count == ROWS {
                out.copy_from_slice(&results);
            } else {
                tree.push(results, merge);
            }
        }
        // Rows that are left: smaller subtrees.
        let mut rest = Tree::new();
        for i in complete..count {
            let mut copy = vec![T::ZERO; len];
            copy_strided(row(i), stride, &mut copy);
            rest.push(copy, merge);
        }
        if let Some(sums) = rest.finish(merge) {
            tree.push_last(sums);
        }
        if let Some(results) = tree.finish(merge) {
            out.copy_from_slice(&results);
        }
    }
}

/// Fills `out` with elements that are `stride` apart.
pub fn copy_strided<T: Element>(elements: &[T], stride: usize, out: &mut [T]) {
    if stride == 1 {
        out.copy_from_slice(&elements[..out.len()]);
        return;
    }
    read_strided(elements, stride, out);
}
