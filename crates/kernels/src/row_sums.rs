//! Sums of rows, of which eight neighbours are added at a time.

use super::sums::{Combine, ROWS, WindowLines, combined_by_inner};
use super::tree::Tree;
use numerics::simd::AddEights;

/// Elements of a row that are added at once: its last ones are followed by numbers that change
/// nothing.
const BLOCK: usize = 64;
/// Sums of eight neighbours that are added further at a time,
const EIGHTS: usize = 4096;
/// and the elements of a part of a row with this many.
const LONGEST: usize = 8 * EIGHTS;

/// An addition, by which rows are added eight neighbours at a time.
pub struct Addition<C>(pub C);

impl<T: AddEights<Sum = T>, C: Combine<T>> Combine<T> for Addition<C> {
    combined_by_inner!();

    fn pair(&self, left: T, right: T) -> T {
        self.0.pair(left, right)
    }

    fn merge_adjacent(&self, elements: &[T], columns: usize, out: &mut [T]) {
        self.0.merge_adjacent(elements, columns, out);
    }

    fn combine_rows(&self, elements: &[T], len: usize, out: &mut [T]) {
        if are_long(len) {
            add_rows(elements, len, &self.0, out);
        } else {
            self.0.combine_rows(elements, len, out);
        }
    }
}

/// True for rows that [`add_rows`] adds faster than level by level.
pub(super) fn are_long(len: usize) -> bool {
    len >= if len.is_multiple_of(8) { 2 * 8 } else { BLOCK }
}

/// Writes the sum of each row of `len` neighbouring elements. `addition` is for the levels of the
/// tree above eights.
pub(super) fn add_rows<S: AddEights>(
    elements: &[S],
    len: usize,
    addition: &dyn Combine<S::Sum>,
    out: &mut [S::Sum],
) {
    if len > LONGEST {
        for (out, row) in out.iter_mut().zip(elements.chunks_exact(len)) {
            let mut tree = Tree::new();
            let pair = |left, right| addition.pair(left, right);
            for part in row.chunks(LONGEST) {
                let mut sum = [S::Sum::NOTHING];
                add_rows(part, part.len(), addition, &mut sum);
                // The last part is smaller than the subtrees of the others.
                match part.len() {
                    LONGEST => tree.push(sum[0], pair),
                    _ => tree.push_last(sum[0]),
                }
            }
            if let Some(sum) = tree.finish(pair) {
                *out = sum;
            }
        }
        return;
    }
    let are_eights = len.is_multiple_of(8);
    let eights = if are_eights { len / 8 } else { len.div_ceil(BLOCK) * (BLOCK / 8) };
    let rows = (EIGHTS / eights.max(1)).max(1).min(out.len());
    let mut room = vec![S::Sum::NOTHING; rows * eights];
    for (out, elements) in out.chunks_mut(rows.max(1)).zip(elements.chunks(rows * len)) {
        let sums = &mut room[..out.len() * eights];
        if are_eights {
            S::add_eights(elements, sums);
        } else {
            for (row, sums) in elements.chunks_exact(len).zip(sums.chunks_exact_mut(eights)) {
                let (blocks, rest) = row.as_chunks::<BLOCK>();
                let mut last = [S::NOTHING; BLOCK];
                last[..rest.len()].copy_from_slice(rest);
                S::add_eights(blocks.as_flattened(), sums);
                S::add_eights(&last, &mut sums[blocks.len() * (BLOCK / 8)..]);
            }
        }
        if are_long(eights) {
            add_rows(sums, eights, addition, out);
        } else {
            addition.combine_rows(sums, eights, out);
        }
    }
}
