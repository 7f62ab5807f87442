//! Products of small matrices, which are many: without tiles.

use super::accumulator::Accumulator;
use super::matmul::{BLOCK, FEW};
use super::parallel::{parts_in_parallel, task_size};
use numerics::simd::{Isa, Kernel, transpose};
use numerics::{DType, TensorError};
use std::array::from_fn;
use std::ops::Range;

/// Matrices are tiny if a product of two takes at most this many multiplications.
const TINY: usize = 1 << 8;
/// All products of tiny matrices together take at most this many.
const MAX_TINY: usize = 1 << 14;
/// Matrices are small if a product of two takes at most this many.
const SMALL: usize = 1 << 11;
/// The same if there are few columns, or few products of each result: tiles of usual sizes would be
/// mostly empty.
const SMALL_NARROW: usize = 1 << 17;
/// Results of up to three columns are computed this many rows at a time, whose sums are
/// independent.
const ROWS: usize = 8;
/// Elements of a vector with one column each.
const LANES: usize = 4;
/// Columns that are multiplied at a time,
const COLUMNS: usize = 16;
/// Maximum number of their elements.
const DEPTH: usize = 64;

/// True for `count` products of `m` x `k` and `k` x `n` elements so small that each result may have
/// separate code.
pub(crate) fn are_tiny(count: usize, m: usize, k: usize, n: usize) -> bool {
    let products = m.saturating_mul(n).saturating_mul(k);
    products <= TINY && k <= BLOCK && products.saturating_mul(count) <= MAX_TINY
}

/// True for products of `m` x `k` and `k` x `n` elements that [`multiply`] computes best.
pub(crate) fn are_small(m: usize, k: usize, n: usize) -> bool {
    let products = m.saturating_mul(n).saturating_mul(k);
    let is_narrow = k <= FEW || (k <= BLOCK && (2..=LANES).contains(&n));
    products <= SMALL && k <= DEPTH || products <= SMALL_NARROW && is_narrow
}

const _: () = assert!(DEPTH <= BLOCK);

/// True if a product of a sum of `k` is added with one rounding.
pub(crate) fn is_fused(k: usize) -> bool {
    k > FEW
}

/// Matrices of the same sizes in memory.
pub(crate) struct MatrixBatch<'a, T> {
    /// The memory.
    pub elements: &'a [T],
    /// Where each matrix begins.
    pub starts: &'a [usize],
    /// Distances between rows and between columns.
    pub strides: [usize; 2],
}

impl<'a, T> MatrixBatch<'a, T> {
    /// Some of the matrices.
    fn part(&self, range: Range<usize>) -> MatrixBatch<'a, T> {
        MatrixBatch { starts: self.starts.get(range).unwrap_or_default(), ..*self }
    }
}

/// Writes the products of matrices of `m` x `k` elements, and `k` x `n` ones whose rows and columns
/// are swapped, to `out`, consecutively, as [`matmul`](super::matmul) defines them: on several
/// threads where that pays.
///
/// # Errors
/// If an element is outside of the memory.
pub(crate) fn multiply<T: Accumulator>(
    sizes: [usize; 3],
    a: MatrixBatch<'_, T>,
    b: MatrixBatch<'_, T>,
    out: &mut [T],
) -> Result<(), TensorError> {
    let [m, k, n] = sizes;
    let work = (m * n * k / host::machine().products_per_operation()).max(1);
    let together = task_size(a.starts.len(), work, 1);
    if together >= a.starts.len() {
        return multiply_here(sizes, a, b, out);
    }
    parts_in_parallel(out, (together * m * n).max(1), |task, out| {
        let matrices = task * together..task * together + out.len() / (m * n);
        multiply_here(sizes, a.part(matrices.clone()), b.part(matrices), out)
    })
}

/// As [`multiply`], on this thread.
///
/// # Errors
/// As there.
pub(crate) fn multiply_here<T: Accumulator>(
    [m, k, n]: [usize; 3],
    a: MatrixBatch<'_, T>,
    b: MatrixBatch<'_, T>,
    out: &mut [T],
) -> Result<(), TensorError> {
    let is_inside = |matrices: &MatrixBatch<'_, T>, rows: usize| {
        let [row, column] = matrices.strides;
        let last = row.checked_mul(rows - 1)?.checked_add(column.checked_mul(k - 1)?)?;
        let last = matrices.starts.iter().max()?.checked_add(last)?;
        Some(last < matrices.elements.len())
    };
    let is_counted = out.len() == a.starts.len() * m * n && a.starts.len() == b.starts.len();
    if m * n * k == 0
        || !is_counted
        || is_inside(&a, m) != Some(true)
        || is_inside(&b, n) != Some(true)
    {
        return Err(TensorError::OutOfBounds);
    }
    // Exact sums are the same with one rounding and with two: there is no second loop for them.
    if is_fused(k)
        && const { matches!(T::DTYPE, DType::F32 | DType::F64 | DType::C64 | DType::C128) }
    {
        Isa::best().run(SmallProducts::<T, true> { m, k, n, a, b, out });
    } else {
        Isa::best().run(SmallProducts::<T, false> { m, k, n, a, b, out });
    }
    Ok(())
}

/// `FUSED` if products are added with one rounding.
struct SmallProducts<'a, 'o, T, const FUSED: bool> {
    m: usize,
    k: usize,
    n: usize,
    a: MatrixBatch<'a, T>,
    b: MatrixBatch<'a, T>,
    out: &'o mut [T],
}

impl<T: Accumulator, const FUSED: bool> Kernel for SmallProducts<'_, '_, T, FUSED> {
    #[inline(always)]
    fn run(self) {
        if const { !matches!(T::DTYPE, DType::F32 | DType::F64 | DType::C64) } {
            if self.n < LANES || self.k > DEPTH {
                return self.by_results();
            }
        } else {
            // Dense square matrices, such as rotations, whose loops are unrolled.
            let is_dense = self.a.strides == [self.k, 1] && self.b.strides == [1, self.n];
            let is_square = self.m == self.k && self.k == self.n && is_dense && !FUSED;
            match self.n {
                2 if is_square => return self.squares::<2>(),
                3 if is_square => return self.squares::<3>(),
                4 if is_square => return self.squares::<4>(),
                1 => return self.by_rows::<1>(),
                2 => return self.by_rows::<2>(),
                3 => return self.by_rows::<3>(),
                4 => return self.by_rows::<4>(),
                n if self.b.strides[0] == 1 && n >= 2 * COLUMNS => {
                    return self.in_place::<{ 2 * COLUMNS }>();
                }
                n if self.b.strides[0] == 1 && n >= COLUMNS => return self.in_place::<COLUMNS>(),
                _ => {}
            }
        }
        let SmallProducts { m, k, n, a, b, out } = self;
        let mut tile = [[T::ZERO; COLUMNS]; DEPTH];
        let starts = a.starts.iter().zip(b.starts);
        for (out, (&a_start, &b_start)) in out.chunks_exact_mut(m * n).zip(starts) {
            let (a_elements, b_elements) = (&a.elements[a_start..], &b.elements[b_start..]);
            for first in (0..n).step_by(COLUMNS) {
                let columns = COLUMNS.min(n - first);
                let b_elements = &b_elements[first * b.strides[0]..];
                if b.strides[1] == 1 && columns >= 8 {
                    let to = (tile.as_flattened_mut(), COLUMNS);
                    transpose((b_elements, b.strides[0]), to, [columns, k]);
                } else {
                    for (l, row) in tile[..k].iter_mut().enumerate() {
                        let elements = &b_elements[l * b.strides[1]..];
                        if b.strides[0] == 1 {
                            row[..columns].copy_from_slice(&elements[..columns]);
                        } else {
                            for (j, x) in row[..columns].iter_mut().enumerate() {
                                *x = elements[j * b.strides[0]];
                            }
                        }
                    }
                }
                for (i, out) in out.chunks_exact_mut(n).enumerate() {
                    let row = &a_elements[i * a.strides[0]..];
                    let mut sums = [T::ZERO; COLUMNS];
                    for (l, b) in tile[..k].iter().enumerate() {
                        let x = row[l * a.strides[1]];
                        for (sum, &y) in sums.iter_mut().zip(b) {
                            let next =
                                if FUSED { sum.multiply_add(x, y) } else { sum.add(x.multiply(y)) };
                            *sum = next;
                        }
                    }
                    for sum in &mut sums {
                        *sum = sum.finish();
                    }
                    out[first..first + columns].copy_from_slice(&sums[..columns]);
                }
            }
        }
    }

    fn run_shared(self) {
        self.by_results();
    }
}

impl<T: Accumulator, const FUSED: bool> SmallProducts<'_, '_, T, FUSED> {
    /// One result at a time.
    #[inline(always)]
    fn by_results(self) {
        let SmallProducts { m, k, n, a, b, out } = self;
        for (row, out) in out.chunks_exact_mut(n).enumerate() {
            let a_stride = a.strides[1];
            let a = &a.elements[a.starts[row / m] + row % m * a.strides[0]..];
            for (column, out) in out.iter_mut().enumerate() {
                let b_elements = &b.elements[b.starts[row / m] + column * b.strides[0]..];
                let step = |sum: T, l: usize| {
                    let (x, y) = (a[l * a_stride], b_elements[l * b.strides[1]]);
                    if FUSED { sum.multiply_add(x, y) } else { sum.add(x.multiply(y)) }
                };
                *out = (0..k).fold(T::ZERO, step).finish();
            }
        }
    }

    /// Products of matrices with `N` rows and columns.
    #[inline(always)]
    fn squares<const N: usize>(self) {
        let SmallProducts { a, b, out, .. } = self;
        let starts = a.starts.iter().zip(b.starts);
        let results = out.as_chunks_mut::<N>().0.as_chunks_mut::<N>().0;
        for (results, (&a_start, &b_start)) in results.iter_mut().zip(starts) {
            let rows = a.elements[a_start..].as_chunks::<N>().0.first_chunk::<N>();
            let others = b.elements[b_start..].as_chunks::<N>().0.first_chunk::<N>();
            let (Some(rows), Some(others)) = (rows, others) else { continue };
            for (row, results) in rows.iter().zip(results) {
                let mut sums = [T::ZERO; N];
                for (&x, other) in row.iter().zip(others) {
                    for (sum, &y) in sums.iter_mut().zip(other) {
                        *sum = sum.add(x.multiply(y));
                    }
                }
                *results = sums.map(T::finish);
            }
        }
    }

    /// Results of at least `N` columns that are neighbours, which are read where they are. The last
    /// `N` ones overlap with earlier ones.
    #[inline(always)]
    fn in_place<const N: usize>(self) {
        let SmallProducts { m, k, n, a, b, out } = self;
        let starts = a.starts.iter().zip(b.starts);
        for (out, (&a_start, &b_start)) in out.chunks_exact_mut(m * n).zip(starts) {
            for (i, out) in out.chunks_exact_mut(n).enumerate() {
                let row = &a.elements[a_start + i * a.strides[0]..];
                for first in (0..n).step_by(N) {
                    let first = first.min(n - N);
                    let columns = &b.elements[b_start + first..];
                    let mut sums = [T::ZERO; N];
                    for l in 0..k {
                        let x = row[l * a.strides[1]];
                        let columns = &columns[l * b.strides[1]..][..N];
                        for (sum, &y) in sums.iter_mut().zip(columns) {
                            let next =
                                if FUSED { sum.multiply_add(x, y) } else { sum.add(x.multiply(y)) };
                            *sum = next;
                        }
                    }
                    for sum in &mut sums {
                        *sum = sum.finish();
                    }
                    out[first..first + N].copy_from_slice(&sums);
                }
            }
        }
    }

    /// Results of `N` columns.
    #[inline(always)]
    fn by_rows<const N: usize>(self) {
        let SmallProducts { m, k, a, b, out, .. } = self;
        if N > 1 && m >= 2 * ROWS {
            // Columns become neighbours for many rows.
            let mut tile = [[T::ZERO; LANES]; BLOCK];
            let starts = a.starts.iter().zip(b.starts);
            for (out, (&a_start, &b_start)) in out.chunks_exact_mut(m * N).zip(starts) {
                let columns = &b.elements[b_start..];
                for (l, row) in tile[..k].iter_mut().enumerate() {
                    for (j, x) in row[..N].iter_mut().enumerate() {
                        *x = columns[j * b.strides[0] + l * b.strides[1]];
                    }
                }
                let a = (&a.elements[a_start..], a.strides);
                times_tile::<T, N, FUSED>(a, &tile[..k], out.as_chunks_mut().0);
            }
            return;
        }
        let (rows, _) = out.as_chunks_mut::<N>();
        // Rows of all matrices, consecutively. Dividing their numbers by `m` takes longer than the
        // products of short rows.
        let (mut matrix, mut line) = (0, 0);
        for out in rows.chunks_mut(ROWS) {
            let (mut a_rows, mut b_columns) = ([&[][..]; ROWS], [&[][..]; ROWS]);
            for r in 0..ROWS {
                if r >= out.len() {
                    (a_rows[r], b_columns[r]) = (a_rows[r - 1], b_columns[r - 1]);
                    continue;
                }
                a_rows[r] = &a.elements[a.starts[matrix] + line * a.strides[0]..];
                b_columns[r] = &b.elements[b.starts[matrix]..];
                line += 1;
                if line == m {
                    (matrix, line) = (matrix + 1, 0);
                }
            }
            // Neighbouring columns are read as vectors, if there are elements beyond the last.
            let [column, row] = b.strides;
            let have_more = b_columns.iter().all(|columns| columns.len() >= (k - 1) * row + LANES);
            let a_rows = (a_rows, a.strides[1]);
            let mut sums = [[T::ZERO; N]; ROWS];
            if N > 1 && column == 1 && have_more {
                let lanes = chains::<T, LANES, FUSED>(k, a_rows, (b_columns, 1, row));
                for (sums, lanes) in sums.iter_mut().zip(&lanes) {
                    sums.copy_from_slice(&lanes[..N]);
                }
            } else {
                sums = chains::<T, N, FUSED>(k, a_rows, (b_columns, column, row));
            }
            for (out, sums) in out.iter_mut().zip(sums) {
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = sum.finish();
                }
            }
        }
    }
}

/// Writes the products of rows with the first `N` columns of a tile.
#[inline(always)]
fn times_tile<T: Accumulator, const N: usize, const FUSED: bool>(
    (a, [row_stride, column_stride]): (&[T], [usize; 2]),
    tile: &[[T; LANES]],
    out: &mut [[T; N]],
) {
    let k = tile.len();
    let step = |sums: &mut [T; LANES], x: T, columns: &[T; LANES]| {
        for (sum, &y) in sums.iter_mut().zip(columns) {
            *sum = if FUSED { sum.multiply_add(x, y) } else { sum.add(x.multiply(y)) };
        }
    };
    for (first, out) in (0..).step_by(ROWS).zip(out.chunks_mut(ROWS)) {
        let mut sums = [[T::ZERO; LANES]; ROWS];
        let a = &a[first * row_stride..];
        if row_stride == 1 && out.len() == ROWS {
            for (l, columns) in tile.iter().enumerate() {
                let rows = &a[l * column_stride..][..ROWS];
                for (sums, &x) in sums.iter_mut().zip(rows) {
                    step(sums, x, columns);
                }
            }
        } else if column_stride == 1 {
            // Rows that there are not repeat the last one.
            let row = |r: usize| &a[r.min(out.len() - 1) * row_stride..][..k];
            let rows: [&[T]; ROWS] = from_fn(row);
            for (l, columns) in tile.iter().enumerate() {
                for (sums, row) in sums.iter_mut().zip(rows) {
                    step(sums, row[l], columns);
                }
            }
        } else {
            for (l, columns) in tile.iter().enumerate() {
                for (sums, r) in sums.iter_mut().zip(0..out.len()) {
                    step(sums, a[r * row_stride + l * column_stride], columns);
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(&sums) {
            *out = from_fn(|j| sums[j].finish());
        }
    }
}

/// Sums of `k` products of rows with `N` columns of a matrix each.
#[inline(always)]
fn chains<T: Accumulator, const N: usize, const FUSED: bool>(
    k: usize,
    (a_rows, a_stride): ([&[T]; ROWS], usize),
    (b_columns, column_stride, row_stride): ([&[T]; ROWS], usize, usize),
) -> [[T; N]; ROWS] {
    let mut sums = [[T::ZERO; N]; ROWS];
    for l in 0..k {
        let (a_at, b_at) = (l * a_stride, l * row_stride);
        for ((sums, a), b) in sums.iter_mut().zip(a_rows).zip(b_columns) {
            let x = a[a_at];
            let b = &b[b_at..][..(N - 1) * column_stride + 1];
            for (j, sum) in sums.iter_mut().enumerate() {
                let y = b[j * column_stride];
                *sum = if FUSED { sum.multiply_add(x, y) } else { sum.add(x.multiply(y)) };
            }
        }
    }
    sums
}
