//! Householder reflections, and the decompositions that are sequences of them.
//!
//! A reflection is `I - tau * v * v^H` with `v[0] = 1`; its adjoint takes a column to a multiple of
//! the first axis.

use crate::block_reflector::{BLOCK, BlockReflector};
use crate::lanes::{add_products, for_panels, in_lanes, read_panel, write_panel};
use crate::matrix::{Matrix, Scalar, hypot, largest, norm, norm_beside, power_of_two_near};
use numerics::simd::{Isa, Kernel};
use std::array::from_fn;
use std::ops::Range;

/// Makes `x` the rest of `v` and `alpha` the real number (`beta`) that its adjoint leaves in place
/// of both. Returns `tau`. LAPACK: `larfg`.
pub(crate) fn reflector<T: Scalar>(alpha: &mut T, x: &mut [T]) -> T {
    // Very small numbers lose digits, and then the reflection would not be unitary; the vector does
    // not depend on the scale.
    let mut most = largest(x);
    let scale = power_of_two_near(most.max(alpha.abs1()));
    if scale != 1.0 {
        x.iter_mut().for_each(|x| *x = *x * scale);
        *alpha = *alpha * scale;
        most = largest(x);
    }
    let rest = norm_beside(x, most);
    if rest == 0.0 && alpha.im() == 0.0 {
        *alpha = *alpha * (1.0 / scale);
        return T::ZERO;
    }
    let beta = -hypot(alpha.abs(), rest).copysign(alpha.re());
    let tau = T::from_parts((beta - alpha.re()) / beta, -alpha.im() / beta);
    let pivot = *alpha - T::real(beta);
    for x in x {
        *x = x.over(pivot);
    }
    *alpha = T::real(beta / scale);
    tau
}

/// `a[rows from first, columns] = (I - tau * v * v^H) * a[…]`.
pub(crate) fn reflect_left<T: Scalar>(
    a: &mut Matrix<T>,
    first: usize,
    columns: Range<usize>,
    v: &[T],
    tau: T,
) {
    if tau == T::ZERO || columns.is_empty() {
        return;
    }
    Isa::best().run(Left { a, first, columns, v, tau });
}

/// [`reflect_left`], some columns at a time, whose products with `v` stay in registers.
struct Left<'a, T> {
    a: &'a mut Matrix<T>,
    first: usize,
    columns: Range<usize>,
    v: &'a [T],
    tau: T,
}

impl<T: Scalar> Kernel for Left<'_, T> {
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        let Left { a, first, columns, v, tau } = self;
        let stride = a.columns();
        let by_rows = is_large(a) && a.elements().len() >= MIN_BY_ROWS;
        let rows = &mut a.elements_mut()[first * stride..];
        if by_rows {
            return reflect_by_rows(rows, stride, columns, v, tau);
        }
        for_panels!(columns, |column, N| {
            reflect_panel::<T, N>(rows.get_mut(column..).unwrap_or_default(), stride, v, tau);
        });
    }
}

/// Number of elements from which matrices are reflected in the order of memory.
const MIN_BY_ROWS: usize = 1 << 15;
/// Rows whose products are added to the sums of columns at a time, in that order.
const ROWS: usize = 8;

/// [`reflect_left`], for rows that are `stride` elements apart: memory is read in its order.
#[inline(always)]
fn reflect_by_rows<T: Scalar>(
    rows: &mut [T],
    stride: usize,
    columns: Range<usize>,
    v: &[T],
    tau: T,
) {
    let mut sums = vec![T::ZERO; columns.len()];
    for (rows, v) in rows.chunks(ROWS * stride).zip(v.chunks(ROWS)) {
        for_panels!(0..columns.len(), |column, N| {
            let rows = rows.get(columns.start + column..).unwrap_or_default();
            if let Some(sums) = sums[column..].first_chunk_mut::<N>() {
                *sums = add_products(*sums, rows, stride, v.iter().map(|v| v.conj()));
            }
        });
    }
    for (row, &v) in rows.chunks_mut(stride).zip(v) {
        let factor = tau * v;
        in_lanes(&mut row[columns.clone()], &sums, |x, sum| x - factor * sum);
    }
}

/// [`reflect_left`], for the first `N` columns of rows that are `stride` elements apart.
#[inline(always)]
fn reflect_panel<T: Scalar, const N: usize>(rows: &mut [T], stride: usize, v: &[T], tau: T) {
    let sums = add_products([T::ZERO; N], rows, stride, v.iter().map(|v| v.conj()));
    for (row, &v) in rows.chunks_mut(stride).zip(v) {
        let factor = tau * v;
        if let Some(row) = row.first_chunk_mut::<N>() {
            let before = *row;
            *row = from_fn(|lane| before[lane] - factor * sums[lane]);
        }
    }
}

/// Reflections whose vectors are in the rows of a matrix, that of row `k` from column `k + offset`
/// on.
pub(crate) struct Reflections<'a, T> {
    pub vectors: &'a Matrix<T>,
    pub offset: usize,
    pub taus: &'a [T],
}

impl<T: Scalar> Reflections<'_, T> {
    /// Reflects some columns of `a`, as [`reflect_left`] does, by one reflection after the other:
    /// the last one first if `reversed`, and their adjoints if `adjoint`.
    pub(crate) fn reflect(
        &self,
        a: &mut Matrix<T>,
        columns: Range<usize>,
        reversed: bool,
        adjoint: bool,
    ) {
        if is_large(a) && self.taus.len() >= MIN_TOGETHER && columns.len() >= MIN_TOGETHER {
            for block in blocks(self.taus.len(), reversed) {
                self.block(block, reversed, adjoint).apply(a, columns.clone());
            }
            return;
        }
        if is_large(a) {
            return Isa::best().run(LeftAll { reflections: self, a, columns, reversed, adjoint });
        }
        for (k, tau) in in_order(self.taus, reversed, adjoint) {
            let first = k + self.offset;
            reflect_left(a, first, columns.clone(), &self.vectors.row(k)[first..], tau);
        }
    }

    /// The product of some of the reflections.
    fn block(&self, range: Range<usize>, reversed: bool, adjoint: bool) -> BlockReflector<T> {
        let first = range.start + self.offset;
        let vector = |k: usize| &self.vectors.row(range.start + k)[first + k..];
        let tau = |tau: &T| if adjoint { tau.conj() } else { *tau };
        let taus: Vec<T> = self.taus[range.clone()].iter().map(tau).collect();
        BlockReflector::new(first, self.vectors.columns() - first, vector, &taus, reversed)
    }
}

/// Fewer reflections, or reflections of fewer columns, are applied one by one.
const MIN_TOGETHER: usize = 8;

/// Parts of some reflections that are applied together: the last ones first if `reversed`.
fn blocks(count: usize, reversed: bool) -> impl Iterator<Item = Range<usize>> {
    let number = count.div_ceil(BLOCK);
    (0..number).map(move |nth| {
        let start = BLOCK * if reversed { number - 1 - nth } else { nth };
        start..(start + BLOCK).min(count)
    })
}

/// True if a cache close to the processor does not hold a matrix. The kernel of complex numbers is
/// no faster with parts of it.
fn is_large<T: Scalar>(a: &Matrix<T>) -> bool {
    T::DIMENSIONS == 1 && a.elements().len() >= 1 << 12
}

/// Reflections by number, with their factors: the last one first if `reversed`, and their adjoints
/// if `adjoint`.
fn in_order<T: Scalar>(
    taus: &[T],
    reversed: bool,
    adjoint: bool,
) -> impl Iterator<Item = (usize, T)> {
    (0..taus.len()).map(move |nth| {
        let k = if reversed { taus.len() - 1 - nth } else { nth };
        (k, if adjoint { taus[k].conj() } else { taus[k] })
    })
}

/// [`Reflections::reflect`], all of them on some columns, which a cache close to the processor
/// holds, before the next ones: columns are independent.
struct LeftAll<'a, T> {
    reflections: &'a Reflections<'a, T>,
    a: &'a mut Matrix<T>,
    columns: Range<usize>,
    reversed: bool,
    adjoint: bool,
}

impl<T: Scalar> Kernel for LeftAll<'_, T> {
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        let LeftAll { reflections, a, columns, reversed, adjoint } = self;
        let &Reflections { vectors, offset, taus } = reflections;
        let mut panel = Vec::new();
        for_panels!(columns, |column, N| {
            read_panel::<T, N>(a, column, &mut panel);
            for (k, tau) in in_order(taus, reversed, adjoint) {
                if tau != T::ZERO {
                    let (first, v) = (k + offset, &vectors.row(k)[k + offset..]);
                    reflect_panel::<T, N>(&mut panel[first * N..], N, v, tau);
                }
            }
            write_panel::<T, N>(&panel, a, column);
        });
    }
}

/// `a[rows, columns from first] = a[…] * (I - tau * v * v^H)`.
pub(crate) fn reflect_right<T: Scalar>(
    a: &mut Matrix<T>,
    rows: Range<usize>,
    first: usize,
    v: &[T],
    tau: T,
) {
    if tau == T::ZERO {
        return;
    }
    let stride = a.columns();
    if v.len() >= MIN_TRANSPOSED && rows.len() >= MIN_TRANSPOSED {
        let part = &mut a.elements_mut()[rows.start * stride + first..rows.end * stride];
        let mut products = vec![T::ZERO; rows.len()];
        if T::row_products((part, stride), v, &mut products) {
            return Isa::best().run(RightBy { part, stride, v, products: &products, tau });
        }
    }
    Isa::best().run(Right { a, rows, first, v, tau });
}

/// The rows and columns from which products of rows are computed in lanes.
const MIN_TRANSPOSED: usize = 16;

/// [`reflect_right`] with known products of the rows with `v`.
struct RightBy<'a, T> {
    part: &'a mut [T],
    stride: usize,
    v: &'a [T],
    products: &'a [T],
    tau: T,
}

impl<T: Scalar> Kernel for RightBy<'_, T> {
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        let RightBy { part, stride, v, products, tau } = self;
        for (row, &product) in part.chunks_mut(stride).zip(products) {
            let factor = product * tau;
            in_lanes(&mut row[..v.len()], v, |x, v| x - factor * v.conj());
        }
    }
}

/// [`reflect_right`], four rows at a time: each has a sum of its own.
struct Right<'a, T> {
    a: &'a mut Matrix<T>,
    rows: Range<usize>,
    first: usize,
    v: &'a [T],
    tau: T,
}

impl<T: Scalar> Right<'_, T> {
    #[inline(always)]
    fn reflect<const N: usize>(rows: [&mut [T]; N], v: &[T], tau: T) {
        let rows = rows.map(|row| &mut row[..v.len()]);
        let mut products = [T::ZERO; N];
        for (k, &v) in v.iter().enumerate() {
            for (sum, row) in products.iter_mut().zip(&rows) {
                *sum += row[k] * v;
            }
        }
        for (row, product) in rows.into_iter().zip(products) {
            let factor = product * tau;
            in_lanes(row, v, |x, v| x - factor * v.conj());
        }
    }
}

impl<T: Scalar> Kernel for Right<'_, T> {
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        let Right { a, rows, first, v, tau } = self;
        let stride = a.columns();
        let part = &mut a.elements_mut()[rows.start * stride..rows.end * stride];
        let mut rows = part.chunks_exact_mut(stride).map(|row| &mut row[first..][..v.len()]);
        while rows.len() >= 4 {
            Self::reflect::<4>(from_fn(|_| rows.next().unwrap_or_default()), v, tau);
        }
        rows.for_each(|row| Self::reflect([row], v, tau));
    }
}

/// Replaces `v` by the elements of column `j` in some rows.
fn read_column<T: Scalar>(a: &Matrix<T>, rows: Range<usize>, j: usize, v: &mut Vec<T>) {
    let n = a.columns();
    let rows = a.elements()[rows.start * n..rows.end.max(rows.start) * n].chunks_exact(n.max(1));
    v.clear();
    v.extend(rows.map(|row| row[j]));
}

/// Makes column `j` in some rows a multiple of the first axis, leaving `v` below: returns `tau`,
/// and `v` in place of the argument.
pub(crate) fn reflect_column<T: Scalar>(
    a: &mut Matrix<T>,
    rows: Range<usize>,
    j: usize,
    v: &mut Vec<T>,
) -> T {
    read_column(a, rows.clone(), j, v);
    let Some((alpha, x)) = v.split_first_mut() else { return T::ZERO };
    let tau = reflector(alpha, x);
    let n = a.columns();
    let part = &mut a.elements_mut()[rows.start * n..rows.end * n];
    part.chunks_exact_mut(n).zip(&*v).for_each(|(row, &x)| row[j] = x);
    v[0] = T::ONE;
    tau
}

/// Replaces `v` by the vector of reflection `k` of those that stand in the columns of `a`, shifted
/// down by `offset`.
fn read_vector<T: Scalar>(a: &Matrix<T>, k: usize, offset: usize, v: &mut Vec<T>) {
    read_column(a, k + offset..a.rows(), k, v);
    if let Some(first) = v.first_mut() {
        *first = T::ONE;
    }
}

/// The vectors of `count` reflections that stand in the columns of `a`, shifted down by `offset`,
/// as rows.
fn vectors_of<T: Scalar>(a: &Matrix<T>, count: usize, offset: usize) -> Matrix<T> {
    let mut vectors = Matrix::zeros(count, a.rows());
    for k in 0..count {
        let row = &mut vectors.row_mut(k)[k + offset..];
        let rows = a.elements()[(k + offset) * a.columns()..].chunks_exact(a.columns());
        row.iter_mut().zip(rows).for_each(|(to, row)| *to = row[k]);
        if let Some(first) = row.first_mut() {
            *first = T::ONE;
        }
    }
    vectors
}

/// Reflects `c` by the reflections whose vectors stand in the columns of `a`, shifted down by
/// `offset`, as [`Reflections::reflect`] does.
pub(crate) fn reflect_by<T: Scalar>(
    (a, offset): (&Matrix<T>, usize),
    taus: &[T],
    c: &mut Matrix<T>,
    reversed: bool,
    adjoint: bool,
) {
    let columns = 0..c.columns();
    if is_large(c) {
        let vectors = vectors_of(a, taus.len(), offset);
        let all = Reflections { vectors: &vectors, offset, taus };
        return all.reflect(c, columns, reversed, adjoint);
    }
    let mut v = Vec::with_capacity(a.rows());
    for (k, tau) in in_order(taus, reversed, adjoint) {
        read_vector(a, k, offset, &mut v);
        reflect_left(c, k + offset, columns.clone(), &v, tau);
    }
}

/// [`crate::geqrf`].
pub(crate) fn geqrf<T: Scalar>(a: &mut Matrix<T>) -> Vec<T> {
    let (m, n) = (a.rows(), a.columns());
    let mut taus = Vec::with_capacity(m.min(n));
    let mut v = Vec::with_capacity(m);
    if !is_large(a) || n < 2 * BLOCK {
        for k in 0..m.min(n) {
            let tau = reflect_column(a, k..m, k, &mut v);
            reflect_left(a, k, k + 1..n, &v, tau.conj());
            taus.push(tau);
        }
        return taus;
    }
    for start in (0..m.min(n)).step_by(BLOCK) {
        let (end, rows) = ((start + BLOCK).min(m.min(n)), m - start);
        // Some columns by themselves, and then the others by all reflections of these.
        let columns = if end == m { start..n } else { start..end };
        let part = a.elements()[start * n..].chunks_exact(n);
        let part = part.flat_map(|row| &row[columns.clone()]).copied().collect();
        let mut panel = Matrix::new(rows, columns.len(), part);
        let mut vectors = Matrix::zeros(end - start, rows);
        for k in 0..end - start {
            let tau = reflect_column(&mut panel, k..rows, k, &mut v);
            reflect_rest(&mut panel, k, &v, tau.conj());
            vectors.row_mut(k)[k..].copy_from_slice(&v);
            taus.push(tau);
        }
        let places = a.elements_mut()[start * n..].chunks_exact_mut(n);
        for (row, part) in places.zip(panel.elements().chunks_exact(columns.len())) {
            row[columns.clone()].copy_from_slice(part);
        }
        if columns.end < n {
            let adjoints: Vec<T> = taus[start..].iter().map(|tau| tau.conj()).collect();
            let vector = |k: usize| &vectors.row(k)[k..];
            let block = BlockReflector::new(start, rows, vector, &adjoints, false);
            block.apply(a, columns.end..n);
        }
    }
    taus
}

/// Reflects the columns after column `k`, from row `k` on.
fn reflect_rest<T: Scalar>(a: &mut Matrix<T>, k: usize, v: &[T], tau: T) {
    if a.columns() == BLOCK {
        return Isa::best().run(Rest { a, k, v, tau });
    }
    reflect_left(a, k, k + 1..a.columns(), v, tau);
}

/// [`reflect_rest`] of a matrix of [`BLOCK`] columns: all of them in
/// registers, where the first columns stay as they are.
struct Rest<'a, T> {
    a: &'a mut Matrix<T>,
    k: usize,
    v: &'a [T],
    tau: T,
}

impl<T: Scalar> Kernel for Rest<'_, T> {
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        let Rest { a, k, v, tau } = self;
        let rows = &mut a.elements_mut()[k * BLOCK..];
        let factors = v.iter().map(|v| v.conj());
        let sums = add_products([T::ZERO; BLOCK], rows, BLOCK, factors);
        for (row, &v) in rows.as_chunks_mut::<BLOCK>().0.iter_mut().zip(v) {
            let (before, factor) = (*row, tau * v);
            *row = from_fn(|lane| match lane > k {
                true => before[lane] - factor * sums[lane],
                false => before[lane],
            });
        }
    }
}

/// [`crate::geqp3`].
pub(crate) fn geqp3<T: Scalar>(a: &mut Matrix<T>, order: &mut [i32]) -> Vec<T> {
    let (m, n) = (a.rows(), a.columns());
    let mut fixed = 0;
    let chosen: Vec<bool> = order.iter().map(|&o| o != 0).collect();
    for (j, o) in order.iter_mut().enumerate() {
        *o = j as i32 + 1;
    }
    for (j, chosen) in chosen.into_iter().enumerate() {
        if chosen {
            a.swap_columns(fixed, j);
            order.swap(fixed, j);
            fixed += 1;
        }
    }
    let (mut taus, mut v) = (Vec::with_capacity(m.min(n)), Vec::with_capacity(m));
    for k in 0..m.min(n) {
        if k >= fixed {
            let mut size = |j: usize| {
                read_column(a, k..m, j, &mut v);
                norm(&v)
            };
            // The first of the largest; NaN compares as not larger.
            let mut best = (k, size(k));
            for j in k + 1..n {
                let size = size(j);
                if size > best.1 {
                    best = (j, size);
                }
            }
            a.swap_columns(k, best.0);
            order.swap(k, best.0);
        }
        let tau = reflect_column(a, k..m, k, &mut v);
        reflect_left(a, k, k + 1..n, &v, tau.conj());
        taus.push(tau);
    }
    taus
}

/// [`crate::orgqr`].
pub(crate) fn orgqr<T: Scalar>(a: &Matrix<T>, taus: &[T], columns: usize) -> Matrix<T> {
    product(a, taus, 0, columns)
}

/// As [`orgqr`], where the vectors start `offset` rows below the diagonal.
pub(crate) fn product<T: Scalar>(
    a: &Matrix<T>,
    taus: &[T],
    offset: usize,
    columns: usize,
) -> Matrix<T> {
    let mut q = Matrix::identity(a.rows(), columns);
    if !is_large(a) || taus.len() < MIN_TOGETHER {
        reflect_by((a, offset), taus, &mut q, true, false);
        return q;
    }
    let vectors = vectors_of(a, taus.len(), offset);
    let all = Reflections { vectors: &vectors, offset, taus };
    for block in blocks(taus.len(), true) {
        // Columns before these have zeros from its first row on.
        let first = (block.start + offset).min(columns);
        all.block(block, true, false).apply(&mut q, first..columns);
    }
    q
}

/// On which side of a matrix another one stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixSide {
    /// On its left.
    Left,
    /// On its right.
    Right,
}

/// [`crate::ormqr`].
pub(crate) fn ormqr<T: Scalar>(
    a: &Matrix<T>,
    taus: &[T],
    c: &mut Matrix<T>,
    side: MatrixSide,
    adjoint: bool,
) {
    if c.elements().is_empty() {
        return;
    }
    // The factor that stands next to `c` comes first.
    let reversed = adjoint != (side == MatrixSide::Left);
    if side == MatrixSide::Left {
        return reflect_by((a, 0), taus, c, reversed, adjoint);
    }
    let mut v = Vec::with_capacity(a.rows());
    for (k, tau) in in_order(taus, reversed, adjoint) {
        read_vector(a, k, 0, &mut v);
        reflect_right(c, 0..c.rows(), k, &v, tau);
    }
}

/// [`crate::gehrd`].
pub(crate) fn gehrd<T: Scalar>(a: &mut Matrix<T>, low: usize, high: usize) -> Vec<T> {
    let n = a.columns();
    let mut taus = vec![T::ZERO; n.saturating_sub(1)];
    let mut v = Vec::with_capacity(n);
    for (k, tau) in taus.iter_mut().enumerate().take(high.saturating_sub(1)).skip(low) {
        *tau = reflect_column(a, k + 1..high, k, &mut v);
        reflect_right(a, 0..high, k + 1, &v, *tau);
        reflect_left(a, k + 1, k + 1..n, &v, tau.conj());
    }
    taus
}
