//! Products of matrices, which blocked decompositions subtract.
//!
//! Each element loses one product after the other, in order and without fused operations: so a
//! block has the bits of separate steps.

use crate::matrix::MatrixEntry;
use numerics::simd::{Doubles, DoublesArray, DoublesKernel, Isa};

/// Elements of the right factor that are packed together, if it has no more: the second-level cache
/// holds these, and the rows of the result are then read in order.
const MAX_PACKED: usize = 1 << 14;

/// A product that is subtracted from a matrix with `columns` columns: `a * b`.
pub(crate) struct Subtraction<'a, T> {
    /// The matrix, and the distance between its rows.
    pub c: (&'a mut [T], usize),
    /// The number of its columns.
    pub columns: usize,
    /// Rows of `depth` adjacent elements each.
    pub a: &'a [T],
    /// `depth` rows of `columns` elements each, and the distance between rows.
    pub b: (&'a [T], usize),
    /// The number of products of each element.
    pub depth: usize,
}

/// Subtracts a product.
pub(crate) fn subtract<T: MatrixEntry>(
    c: (&mut [T], usize),
    columns: usize,
    a: &[T],
    b: (&[T], usize),
    depth: usize,
) {
    if depth > 0 && columns > 0 && !a.is_empty() {
        T::subtract_product(Subtraction { c, columns, a, b, depth });
    }
}

impl<T: MatrixEntry> Subtraction<'_, T> {
    /// Subtracts row by row.
    pub(crate) fn by_rows(self) {
        let Subtraction { c: (c, stride), columns, a, b: (b, b_stride), depth } = self;
        for (a, row) in a.chunks_exact(depth).zip(c.chunks_mut(stride)) {
            for (&factor, y) in a.iter().zip(b.chunks(b_stride)) {
                for (x, &y) in row[..columns].iter_mut().zip(y) {
                    *x = *x - factor * y;
                }
            }
        }
    }
}

impl Subtraction<'_, f64> {
    /// Subtracts tile by tile, with the vectors of the machine.
    pub(crate) fn by_tiles(self) {
        let isa = Isa::best();
        if <[f64; 8]>::is_compiled(isa) {
            isa.run_doubles(VectorTiles::<8, 8>(self));
        } else if <[f64; 4]>::is_compiled(isa) {
            isa.run_doubles(VectorTiles::<4, 4>(self));
        } else {
            self.by_rows();
        }
    }
}

/// A subtraction with vectors of `L` numbers. A tile of `ROWS` rows and two vectors of columns
/// stays in registers.
struct VectorTiles<'a, const L: usize, const ROWS: usize>(Subtraction<'a, f64>);

/// A row of some columns of the right factor.
type StripRow<const L: usize> = [[f64; L]; 2];

impl<const L: usize, const ROWS: usize> DoublesKernel for VectorTiles<'_, L, ROWS>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let Subtraction { c: (c, stride), columns, a, b: (b, b_stride), depth } = self.0;
        let are_few = depth.saturating_mul(columns) <= MAX_PACKED;
        let together = if are_few { columns.next_multiple_of(2 * L) } else { 2 * L };
        // Strips of columns of `b`, packed, which all rows of `a` meet.
        let mut strips: Vec<StripRow<L>> = vec![[[0.0; L]; 2]; depth * together / (2 * L)];
        for part in (0..columns).step_by(together) {
            let end = columns.min(part + together);
            for (first, strip) in (part..end).step_by(2 * L).zip(strips.chunks_exact_mut(depth)) {
                let width = (2 * L).min(columns - first);
                for (lanes, row) in strip.iter_mut().zip(b.chunks(b_stride)) {
                    lanes.as_flattened_mut()[..width].copy_from_slice(&row[first..first + width]);
                }
            }
            for (a, c) in a.chunks(ROWS * depth).zip(c.chunks_mut(ROWS * stride)) {
                for (first, strip) in (part..end).step_by(2 * L).zip(strips.chunks_exact(depth)) {
                    let width = (2 * L).min(columns - first);
                    if a.len() == ROWS * depth && width == 2 * L {
                        whole_tile::<V, L, ROWS>((&mut c[first..], stride), a, strip);
                    } else {
                        part_of_tile::<V, L, ROWS>((&mut c[first..], stride, width), a, strip);
                    }
                }
            }
        }
    }
}

/// Subtracts the products of rows of `a` with a strip from a tile.
#[inline(always)]
fn whole_tile<V: Doubles<Array = [f64; L]>, const L: usize, const ROWS: usize>(
    (c, stride): (&mut [f64], usize),
    a: &[f64],
    strip: &[StripRow<L>],
) {
    let depth = strip.len();
    let mut rows = [&a[..depth]; ROWS];
    let mut sums = [[V::splat(0.0); 2]; ROWS];
    for i in 0..ROWS {
        rows[i] = &a[i * depth..][..depth];
        if let [low, high] = c[i * stride..][..2 * L].as_chunks::<L>().0 {
            sums[i] = [V::read(low), V::read(high)];
        }
    }
    subtract_products(&mut sums, rows, strip);
    for (i, sums) in sums.iter().enumerate() {
        if let [low, high] = c[i * stride..][..2 * L].as_chunks_mut::<L>().0 {
            (*low, *high) = (sums[0].array(), sums[1].array());
        }
    }
}

/// As [`whole_tile`], for fewer rows or columns.
#[inline(always)]
fn part_of_tile<V: Doubles<Array = [f64; L]>, const L: usize, const ROWS: usize>(
    (c, stride, width): (&mut [f64], usize, usize),
    a: &[f64],
    strip: &[StripRow<L>],
) {
    let depth = strip.len();
    let count = a.len() / depth;
    // Rows that there are not have the factors of the last one.
    let mut rows = [&a[(count - 1) * depth..]; ROWS];
    let mut sums = [[V::splat(0.0); 2]; ROWS];
    for (i, row) in a.chunks_exact(depth).enumerate() {
        rows[i] = row;
        let mut lanes = [[0.0; L]; 2];
        lanes.as_flattened_mut()[..width].copy_from_slice(&c[i * stride..][..width]);
        sums[i] = [V::read(&lanes[0]), V::read(&lanes[1])];
    }
    subtract_products(&mut sums, rows, strip);
    for (i, sums) in sums.iter().enumerate().take(count) {
        let lanes = [sums[0].array(), sums[1].array()];
        c[i * stride..][..width].copy_from_slice(&lanes.as_flattened()[..width]);
    }
}

/// Subtracts the products of rows with a strip from sums.
#[inline(always)]
fn subtract_products<V: Doubles<Array = [f64; L]>, const L: usize, const ROWS: usize>(
    sums: &mut [[V; 2]; ROWS],
    rows: [&[f64]; ROWS],
    strip: &[StripRow<L>],
) {
    let rows = rows.map(|row| &row[..strip.len()]);
    let mut tile = *sums;
    for (k, y) in strip.iter().enumerate() {
        let (low, high) = (V::read(&y[0]), V::read(&y[1]));
        for i in 0..ROWS {
            let factor = V::splat(rows[i][k]);
            tile[i][0] = tile[i][0] - factor * low;
            tile[i][1] = tile[i][1] - factor * high;
        }
    }
    *sums = tile;
}

/// Products of rows with a vector, each a chain in the order of the elements. Several rows are
/// transposed at a time, so that each has a lane.
pub(crate) struct RowProducts<'a> {
    /// Rows, of which the elements from the first one on are multiplied, and the distance between
    /// them.
    pub rows: (&'a [f64], usize),
    /// The vector.
    pub v: &'a [f64],
    /// A sum for each row.
    pub sums: &'a mut [f64],
}

impl RowProducts<'_> {
    /// Computes the sums.
    pub(crate) fn run(self) {
        let isa = Isa::best();
        if <[f64; 8]>::is_compiled(isa) {
            isa.run_doubles(TransposedRows::<8>(self));
        } else if <[f64; 4]>::is_compiled(isa) {
            isa.run_doubles(TransposedRows::<4>(self));
        } else {
            let RowProducts { rows: (rows, stride), v, sums } = self;
            for (sum, row) in sums.iter_mut().zip(rows.chunks(stride)) {
                *sum = row.iter().zip(v).fold(0.0, |sum, (x, v)| sum + x * v);
            }
        }
    }
}

/// [`RowProducts`] with vectors of `L` numbers.
struct TransposedRows<'a, const L: usize>(RowProducts<'a>);

impl<const L: usize> DoublesKernel for TransposedRows<'_, L>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let RowProducts { rows: (rows, stride), v, sums } = self.0;
        let (blocks, rest) = v.as_chunks::<L>();
        for (sums, rows) in sums.chunks_mut(2 * L).zip(rows.chunks(2 * L * stride)) {
            let count = sums.len();
            let mut all = [V::splat(0.0); 2];
            for (number, v) in blocks.iter().enumerate() {
                for (half, sum) in all.iter_mut().enumerate() {
                    if half * L >= count {
                        continue;
                    }
                    let mut lines = [V::splat(0.0); L];
                    for (i, line) in lines.iter_mut().enumerate() {
                        // Rows that there are not have the elements of the last one.
                        let row = (half * L + i).min(count - 1);
                        let from = &rows[row * stride + number * L..];
                        if let Some(elements) = from.first_chunk::<L>() {
                            *line = V::read(elements);
                        }
                    }
                    V::transpose(&mut lines);
                    let mut next = *sum;
                    for (line, &v) in lines.iter().zip(v) {
                        next = next + *line * V::splat(v);
                    }
                    *sum = next;
                }
            }
            let found = [all[0].array(), all[1].array()];
            for (i, sum) in sums.iter_mut().enumerate() {
                let elements = &rows[i * stride + blocks.len() * L..];
                *sum = found.as_flattened()[i];
                for (x, v) in elements.iter().zip(rest) {
                    *sum += x * v;
                }
            }
        }
    }
}
