//! The one definition of sums: how many numbers are combined into one with an associative
//! operation.
//!
//! Elements are the leaves of a [`Tree`] over neighbours: both halves of the elements, the left one
//! having a power of two of them, are combined on their own, and then with each other. The rounding
//! error of a sum grows with the depth of the tree, the logarithm of the number of elements. All
//! kernels here, by rows or by columns, give the bits that this definition gives;
//! `docs/accuracy.md` states it for other implementations.

use numerics::Element;
use std::convert::Infallible;

/// Elements of a row that are combined in registers before the tree sees them.
const BLOCK: usize = 256;
/// Columns that are combined at a time: a few rows of them fit into the first cache.
const COLUMNS: usize = 512;
/// So few columns are combined in registers.
const NARROW: usize = 16;
/// Rows that are combined at a time, in registers.
const ROWS: usize = 8;

/// Combines values in a balanced tree over neighbours, as they come.
///
/// Holds the results of complete subtrees of decreasing sizes, one for each one bit of the number
/// of leaves.
pub struct Tree<V> {
    subtrees: Vec<V>,
    leaves: usize,
}

impl<V> Tree<V> {
    /// A tree without leaves.
    pub const fn new() -> Tree<V> {
        Tree { subtrees: Vec::new(), leaves: 0 }
    }

    /// Appends a leaf. `combine` takes a left and a right subtree.
    pub fn push(&mut self, leaf: V, mut combine: impl FnMut(V, V) -> V) {
        let Ok(()) = self.try_push(leaf, |left, right| Ok::<V, Infallible>(combine(left, right)));
    }

    /// As [`Tree::push`], for operations that may fail.
    ///
    /// # Errors
    /// The first error of `combine`.
    pub fn try_push<E>(
        &mut self,
        leaf: V,
        mut combine: impl FnMut(V, V) -> Result<V, E>,
    ) -> Result<(), E> {
        let mut subtree = leaf;
        // Every one bit that the addition of one carries over is a subtree of the size of this one.
        for _ in 0..self.leaves.trailing_ones() {
            let Some(left) = self.subtrees.pop() else { break };
            subtree = combine(left, subtree)?;
        }
        self.subtrees.push(subtree);
        self.leaves += 1;
        Ok(())
    }

    /// Combines all leaves, and leaves an empty tree. `None` if there were none.
    pub fn finish(&mut self, mut combine: impl FnMut(V, V) -> V) -> Option<V> {
        let Ok(result) = self.try_finish(|left, right| Ok::<V, Infallible>(combine(left, right)));
        result
    }

    /// As [`Tree::finish`], for operations that may fail.
    ///
    /// # Errors
    /// The first error of `combine`.
    pub fn try_finish<E>(
        &mut self,
        mut combine: impl FnMut(V, V) -> Result<V, E>,
    ) -> Result<Option<V>, E> {
        self.leaves = 0;
        let Some(mut result) = self.subtrees.pop() else { return Ok(None) };
        while let Some(left) = self.subtrees.pop() {
            result = combine(left, result)?;
        }
        Ok(Some(result))
    }
}

/// Functions on as many elements as their names say, which combine neighbours and hand on half as
/// many, and functions on less than twice as many, which combine what these give with the rest.
macro_rules! combine_neighbours {
    ($(
        $exact:ident $rest:ident $len:literal, $next_exact:ident $next_rest:ident $half:literal;
    )*) => {$(
        fn $exact<T: Element>(elements: &[T; $len], f: impl Fn(T, T) -> T + Copy) -> T {
            let mut pairs = [T::ZERO; $half];
            for (pair, x) in pairs.iter_mut().zip(elements.chunks_exact(2)) {
                *pair = f(x[0], x[1]);
            }
            $next_exact(&pairs, f)
        }

        fn $rest<T: Element>(elements: &[T], f: impl Fn(T, T) -> T + Copy) -> Option<T> {
            match elements.split_first_chunk::<$len>() {
                None => $next_rest(elements, f),
                Some((first, rest)) => {
                    let first = $exact(first, f);
                    Some($next_rest(rest, f).map_or(first, |rest| f(first, rest)))
                }
            }
        }
    )*};
}

combine_neighbours! {
    combine_256 combine_below_512 256, combine_128 combine_below_256 128;
    combine_128 combine_below_256 128, combine_64 combine_below_128 64;
    combine_64 combine_below_128 64, combine_32 combine_below_64 32;
    combine_32 combine_below_64 32, combine_16 combine_below_32 16;
    combine_16 combine_below_32 16, combine_8 combine_below_16 8;
}

#[inline(always)]
fn combine_8<T: Element>(x: &[T; 8], f: impl Fn(T, T) -> T) -> T {
    f(f(f(x[0], x[1]), f(x[2], x[3])), f(f(x[4], x[5]), f(x[6], x[7])))
}

#[inline(always)]
fn combine_below_16<T: Element>(elements: &[T], f: impl Fn(T, T) -> T + Copy) -> Option<T> {
    match elements.split_first_chunk::<8>() {
        None => combine_below_8(elements, f),
        Some((first, rest)) => {
            let first = combine_8(first, f);
            Some(combine_below_8(rest, f).map_or(first, |rest| f(first, rest)))
        }
    }
}

#[inline(always)]
fn combine_below_8<T: Element>(elements: &[T], f: impl Fn(T, T) -> T + Copy) -> Option<T> {
    Some(match *elements {
        [] => return None,
        [a] => a,
        [a, b] => f(a, b),
        [a, b, c] => f(f(a, b), c),
        [a, b, c, d] => f(f(a, b), f(c, d)),
        [a, b, c, d, e] => f(f(f(a, b), f(c, d)), e),
        [a, b, c, d, e, g] => f(f(f(a, b), f(c, d)), f(e, g)),
        [a, b, c, d, e, g, h, ..] => f(f(f(a, b), f(c, d)), f(f(e, g), h)),
    })
}

/// Combines the elements of a row with `f`; `tree` is empty before and after. `None` for an empty
/// row.
#[inline(always)]
fn combine_row<T: Element>(
    row: &[T],
    f: impl Fn(T, T) -> T + Copy,
    tree: &mut Tree<T>,
) -> Option<T> {
    if row.len() < 16 {
        return combine_below_16(row, f);
    }
    if row.len() < 2 * BLOCK {
        return combine_below_512(row, f);
    }
    let (blocks, rest) = row.as_chunks::<BLOCK>();
    for block in blocks {
        tree.push(combine_256(block, f), f);
    }
    // Less than a block is left: smaller subtrees than those of the blocks.
    tree.subtrees.extend(combine_below_256(rest, f));
    tree.finish(f)
}

/// Combines each row of a matrix: the rows are `row_len` neighbouring elements each, and there is a
/// place in `out` for each. Rows of no elements leave `out` as it is.
pub fn combine_rows<T: Element>(
    elements: &[T],
    row_len: usize,
    f: impl Fn(T, T) -> T + Copy,
    out: &mut [T],
) {
    let mut tree = Tree::new();
    for (out, row) in out.iter_mut().zip(elements.chunks_exact(row_len.max(1))) {
        if let Some(result) = combine_row(row, f, &mut tree) {
            *out = result;
        }
    }
}

/// Combines each column of a matrix of `count` rows, with a place in `out` for each: row `i` has in
/// column `j` the element at `row(i) + j * stride`. Does nothing for no rows.
///
/// # Panics
/// If one of these is outside of `elements`.
pub fn combine_columns<T: Element>(
    elements: &[T],
    stride: usize,
    count: usize,
    row: impl Fn(usize) -> usize,
    f: impl Fn(T, T) -> T + Copy,
    out: &mut [T],
) {
    for (chunk, out) in out.chunks_mut(COLUMNS).enumerate() {
        let first = chunk * COLUMNS * stride;
        let len = (out.len() - 1) * stride + 1;
        let row = |i: usize| &elements[row(i) + first..][..len];
        if matches!(count, 1..=4 | ROWS) {
            combine_few(count, row, stride, f, out);
        } else if out.len() <= NARROW {
            let few = |start: usize, count: usize| {
                let mut results = [T::ZERO; NARROW];
                combine_few(count, |i| row(start + i), stride, f, &mut results[..out.len()]);
                results
            };
            if let Some(results) = combine_subtrees(count, few, |left, right| merge(left, right, f))
            {
                out.copy_from_slice(&results[..out.len()]);
            }
        } else {
            let few = |start: usize, count: usize| {
                let mut results = vec![T::ZERO; out.len()];
                combine_few(count, |i| row(start + i), stride, f, &mut results);
                results
            };
            if let Some(results) = combine_subtrees(count, few, |left, right| merge(left, right, f))
            {
                out.copy_from_slice(&results);
            }
        }
    }
}

/// Combines what `few` gives for [`ROWS`] leaves from one on, or for four, two or one of those at
/// the end.
#[inline(always)]
fn combine_subtrees<V>(
    count: usize,
    few: impl Fn(usize, usize) -> V,
    combine: impl Fn(V, V) -> V + Copy,
) -> Option<V> {
    let mut tree = Tree::new();
    let complete = count - count % ROWS;
    for start in (0..complete).step_by(ROWS) {
        tree.push(few(start, ROWS), combine);
    }
    let mut start = complete;
    for leaves in [4, 2, 1] {
        if count & leaves != 0 {
            tree.subtrees.push(few(start, leaves));
            start += leaves;
        }
    }
    tree.finish(combine)
}

/// Combines the elements of two rows, in the place of the left one.
#[inline(always)]
fn merge<T: Copy, V: AsRef<[T]> + AsMut<[T]>>(mut left: V, right: V, f: impl Fn(T, T) -> T) -> V {
    for (x, &y) in left.as_mut().iter_mut().zip(right.as_ref()) {
        *x = f(*x, y);
    }
    left
}

/// Combines each column of a matrix with what is in its place in `out`, from left to right; the
/// matrix is as that of [`combine_columns`].
///
/// # Panics
/// As [`combine_columns`].
pub fn chain_columns<T: Element>(
    elements: &[T],
    stride: usize,
    count: usize,
    row: impl Fn(usize) -> usize,
    f: impl Fn(T, T) -> T,
    out: &mut [T],
) {
    let len = out.len().saturating_sub(1) * stride + 1;
    for i in 0..count {
        let row = &elements[row(i)..][..len];
        if stride == 1 {
            for (out, &x) in out.iter_mut().zip(row) {
                *out = f(*out, x);
            }
        } else {
            for (out, &x) in out.iter_mut().zip(row.iter().step_by(stride)) {
                *out = f(*out, x);
            }
        }
    }
}

/// Combines the columns of one to four rows, or of [`ROWS`].
fn combine_few<'a, T: Element>(
    count: usize,
    row: impl Fn(usize) -> &'a [T],
    stride: usize,
    f: impl Fn(T, T) -> T + Copy,
    out: &mut [T],
) {
    match count {
        1 => zip_rows([row(0)], stride, |[a]| a, out),
        2 => zip_rows([row(0), row(1)], stride, |[a, b]| f(a, b), out),
        3 => zip_rows([row(0), row(1), row(2)], stride, |[a, b, c]| f(f(a, b), c), out),
        4 => {
            let rows = [row(0), row(1), row(2), row(3)];
            zip_rows(rows, stride, |[a, b, c, d]| f(f(a, b), f(c, d)), out);
        }
        _ => {
            let rows: [&[T]; ROWS] = std::array::from_fn(row);
            zip_rows(rows, stride, |x| combine_8(&x, f), out);
        }
    }
}

/// Writes what `f` gives for each column of a few rows.
#[inline(always)]
fn zip_rows<T: Element, const R: usize>(
    rows: [&[T]; R],
    stride: usize,
    f: impl Fn([T; R]) -> T,
    out: &mut [T],
) {
    if stride == 1 {
        // Of the same length, so that there is one check for the loop.
        let rows = rows.map(|row| &row[..out.len()]);
        for (j, out) in out.iter_mut().enumerate() {
            *out = f(std::array::from_fn(|r| rows[r][j]));
        }
    } else {
        for (j, out) in out.iter_mut().enumerate() {
            *out = f(std::array::from_fn(|r| rows[r][j * stride]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: halves, the left one with a power of two of the elements.
    fn defined<T: Copy>(elements: &[T], f: &impl Fn(T, T) -> T) -> T {
        match elements {
            [x] => *x,
            _ => {
                let (left, right) = elements.split_at(elements.len().next_power_of_two() / 2);
                f(defined(left, f), defined(right, f))
            }
        }
    }

    /// Neither associative nor commutative, so that it shows every change of order.
    fn mix(x: u64, y: u64) -> u64 {
        (x ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(31).rotate_left(7) ^ y.wrapping_mul(17)
    }

    fn floats(len: usize) -> Vec<f32> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Of both signs, from 2^-12 to 2^12, with 24 bits.
            let exponent = (state >> 40) as u32 % 24 + 115;
            f32::from_bits((state >> 32) as u32 & 0x807F_FFFF | exponent << 23)
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn rows_are_trees() {
        let lengths = (1..=520).chain([767, 768, 1000, 4096, 4097, 70_001]);
        for len in lengths {
            let elements: Vec<u64> = (0..2 * len as u64).collect();
            let mut out = [0; 2];
            combine_rows(&elements, len, mix, &mut out);
            let (first, second) = elements.split_at(len);
            assert_eq!(out, [defined(first, &mix), defined(second, &mix)], "{len}");
        }
        let mut out = [3u64];
        combine_rows(&[], 0, mix, &mut out);
        assert_eq!(out, [3]);
    }

    #[test]
    fn columns_are_trees() {
        for (count, columns, stride) in
            (1..=40).map(|n| (n, 3, 1)).chain([(9, 1, 2), (70, 5, 3), (13, 1100, 1), (6, 600, 2)])
        {
            // Rows overlap, as those of windows do.
            let row = |i: usize| 7 * (i % 5) + i;
            let len = row(count + 4) + columns * stride + 40;
            let elements: Vec<u64> = (0..len as u64).map(|x| x * x).collect();
            let mut out = vec![0; columns];
            combine_columns(&elements, stride, count, row, mix, &mut out);
            for (j, out) in out.into_iter().enumerate() {
                let column: Vec<u64> = (0..count).map(|i| elements[row(i) + j * stride]).collect();
                assert_eq!(out, defined(&column, &mix), "{count} x {columns}");
            }
        }
    }

    #[test]
    fn chains_go_from_left_to_right() {
        let elements: Vec<u64> = (0..12).collect();
        let mut out = [100, 200];
        chain_columns(&elements, 2, 3, |i| 4 * i, mix, &mut out);
        let chain = |init, elements: [u64; 3]| elements.into_iter().fold(init, mix);
        assert_eq!(out, [chain(100, [0, 4, 8]), chain(200, [2, 6, 10])]);
        chain_columns(&elements, 1, 1, |_| 5, mix, &mut out);
        assert_eq!(out[1], mix(chain(200, [2, 6, 10]), 6));
    }

    #[test]
    fn errors_pass_through_a_tree() {
        let mut tree = Tree::new();
        let refuse = |_: u8, _: u8| Err("refused");
        assert_eq!(tree.try_push(1, refuse), Ok(()));
        assert_eq!(tree.try_push(2, refuse), Err("refused"));
        assert_eq!(Tree::<u8>::new().finish(|x, _| x), None);
    }

    /// A hardware reduction may fill its vectors with numbers that change no other number.
    #[test]
    fn neutral_elements_change_nothing() {
        for len in [1usize, 2, 3, 5, 13, 100, 257] {
            for mut elements in [floats(len), vec![-0.0; len]] {
                let sum = defined(&elements, &|x, y| x + y);
                elements.resize(len.next_power_of_two(), -0.0);
                assert_eq!(sum.to_bits(), defined(&elements, &|x, y| x + y).to_bits(), "{len}");
            }
        }
    }

    /// Sums are compared with exact ones: all numbers here are multiples of 2^-36, and an `i128`
    /// holds the sums of these.
    #[test]
    fn errors_grow_with_the_logarithm() {
        let exact = |x: f32| (f64::from(x) * 2f64.powi(36)) as i128;
        for len in [1usize, 2, 10, 1000, 65_536, 1_000_000] {
            let elements = floats(len);
            let mut out = [0.0];
            combine_rows(&elements, len, |x: f32, y| x + y, &mut out);
            let sum: i128 = elements.iter().map(|&x| exact(x)).sum();
            let magnitude: i128 = elements.iter().map(|&x| exact(x.abs())).sum();
            let depth = f64::from(len.next_power_of_two().trailing_zeros());
            let bound = depth * 2f64.powi(-24) * (1.0 + 1e-6) * magnitude as f64;
            assert!((exact(out[0]) - sum).abs() as f64 <= bound, "{len}");
        }
    }
}
