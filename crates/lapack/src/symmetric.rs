//! Eigenvalues of symmetric and Hermitian matrices.

use crate::NoConvergence;
use crate::householder::{reflect_by, reflect_left, reflector};
use crate::lanes::for_panels;
use crate::matrix::{Matrix, Precision, Scalar, hypot};
use crate::rotation::{Rotation, Turns, symmetric_pair};
use numerics::simd::{Isa, Kernel};
use std::array::from_fn;

/// Steps for each eigenvalue after which the iteration gives up, as in LAPACK.
const MAX_STEPS: usize = 30;

/// `a = q * t * q^H` with a real tridiagonal `t`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tridiagonalized<T> {
    /// The diagonal of `t`.
    pub diagonal: Vec<f64>,
    /// The elements beside the diagonal.
    pub beside: Vec<f64>,
    /// The factors of the reflections whose product is `q`.
    pub taus: Vec<T>,
}

/// The rows of the vector of reflection `k`, and the column where it stands.
fn place(n: usize, k: usize, lower: bool) -> (std::ops::Range<usize>, usize) {
    if lower { (k + 1..n, k) } else { (0..k + 1, k + 1) }
}

/// The order in which the reflections are made.
fn steps(n: usize, lower: bool) -> impl Iterator<Item = usize> {
    let count = n.saturating_sub(1);
    (0..count).map(move |nth| if lower { nth } else { count - 1 - nth })
}

/// [`crate::sytrd`].
///
/// A reflection of both sides subtracts `v * w^H + w * v^H`. The next vector needs one column of
/// it. The other columns are subtracted while the products with that vector are added up: the matrix
/// is read and written once for each reflection.
pub(crate) fn sytrd<T: Scalar>(a: &mut Matrix<T>, lower: bool) -> Tridiagonalized<T> {
    let n = a.rows();
    // The upper triangle, read from its end, is reflected as the lower one.
    let place = |i: usize| if lower { i } else { n - 1 - i };
    let mut full = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..i {
            let x = a[(place(i), place(j))];
            (full[(i, j)], full[(j, i)]) = (x, x.conj());
        }
        full[(i, i)] = T::real(a[(place(i), place(i))].re());
    }
    let count = n.saturating_sub(1);
    let (mut diagonal, mut beside, mut taus) =
        (vec![0.0; n], vec![0.0; count], vec![T::ZERO; count]);
    // The vectors of the last reflection, not yet subtracted from the remaining rows and columns.
    let (mut v, mut w) = (vec![T::ZERO; n], vec![T::ZERO; n]);
    let (mut next, mut sums) = (Vec::with_capacity(n), vec![T::ZERO; n]);
    for k in 0..n {
        let row = &full.row(k)[k..];
        let lost = |i: usize| v[i] * w[0].conj() + w[i] * v[0].conj();
        diagonal[place(k)] = row[0].re() - lost(0).re();
        a[(place(k), place(k))] = T::real(diagonal[place(k)]);
        next.clear();
        next.extend((1..row.len()).map(|i| row[i].conj() - lost(i)));
        // The element beside the diagonal comes first.
        let Some((alpha, x)) = next.split_first_mut() else { break };
        let tau = reflector(alpha, x);
        let number = if lower { k } else { n - 2 - k };
        (beside[number], taus[number]) = (alpha.re(), tau);
        for (i, &x) in (k + 1..).zip(&next) {
            a[(place(i), place(k))] = x;
        }
        a[(place(k + 1), place(k))] = T::real(beside[number]);
        next[0] = T::ONE;
        let sums = &mut sums[..next.len()];
        sums.fill(T::ZERO);
        let rows = &mut full.elements_mut()[(k + 1) * n + k + 1..];
        Isa::best().run(RankTwo { rows, stride: n, v: &v[1..], w: &w[1..], next: &next, sums });
        // The products of the matrix with the vector, which are adjoints of these.
        w.clear();
        w.extend(sums.iter().map(|sum| sum.conj() * tau));
        let products = w.iter().zip(&next).map(|(w, v)| w.conj() * *v);
        let half = products.fold(T::ZERO, |sum, x| sum + x) * tau * -0.5;
        w.iter_mut().zip(&next).for_each(|(w, &v)| *w += half * v);
        std::mem::swap(&mut v, &mut next);
    }
    Tridiagonalized { diagonal, beside, taus }
}

/// Subtracts `v * w^H + w * v^H` from a square matrix, and adds its rows, each with the conjugate
/// of a factor, to sums.
struct RankTwo<'a, T> {
    /// Rows, and the distance between them.
    rows: &'a mut [T],
    stride: usize,
    v: &'a [T],
    w: &'a [T],
    /// The factors.
    next: &'a [T],
    sums: &'a mut [T],
}

impl<T: Scalar> Kernel for RankTwo<'_, T> {
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        /// Rows at a time, which read the same parts of the vectors.
        const ROWS: usize = 4;
        let RankTwo { rows, stride, v, w, next, sums } = self;
        let n = v.len();
        let factors = v.chunks(ROWS).zip(w.chunks(ROWS)).zip(next.chunks(ROWS));
        for (rows, ((row_v, row_w), row_next)) in rows.chunks_mut(ROWS * stride).zip(factors) {
            for_panels!(0..n, |column, N| {
                let parts = (v[column..].first_chunk(), w[column..].first_chunk());
                if let (Some(v), Some(w)) = parts
                    && let Some(sums) = sums[column..].first_chunk_mut::<N>()
                {
                    let rows = rows.chunks_mut(stride);
                    let factors = row_v.iter().zip(row_w).zip(row_next);
                    for (row, ((&row_v, &row_w), &next)) in rows.zip(factors) {
                        if let Some(row) = row[column..].first_chunk_mut() {
                            rank_two::<T, N>(row, (v, w), (row_v, row_w), (next.conj(), sums));
                        }
                    }
                }
            });
        }
    }
}

/// [`RankTwo`] for `N` elements of a row.
#[inline(always)]
fn rank_two<T: Scalar, const N: usize>(
    row: &mut [T; N],
    (v, w): (&[T; N], &[T; N]),
    (row_v, row_w): (T, T),
    (factor, sums): (T, &mut [T; N]),
) {
    let (before, old) = (*row, *sums);
    // The other element of the pair loses the conjugate of the same sum.
    *row = from_fn(|lane| before[lane] - (row_v * w[lane].conj() + row_w * v[lane].conj()));
    *sums = from_fn(|lane| old[lane] + factor * row[lane]);
}

/// `z = q * z`, where `q` is the product of the reflections that [`sytrd`] left in `a`.
fn ormtr<T: Scalar>(a: &Matrix<T>, taus: &[T], lower: bool, z: &mut Matrix<T>) {
    if lower {
        return reflect_by((a, 1), taus, z, true, false);
    }
    let order: Vec<usize> = steps(a.rows(), lower).collect();
    for &k in order.iter().rev() {
        let (rows, column) = place(a.rows(), k, lower);
        let mut v: Vec<T> = rows.clone().map(|i| a[(i, column)]).collect();
        if let Some(one) = v.last_mut() {
            *one = T::ONE;
        }
        reflect_left(z, rows.start, 0..z.columns(), &v, taus[k]);
    }
}

/// [`crate::syevd`].
pub(crate) fn syevd<T: Scalar>(
    a: &mut Matrix<T>,
    lower: bool,
    vectors: bool,
    precision: Precision,
) -> Result<Vec<f64>, NoConvergence> {
    let n = a.rows();
    if !(0..n).all(|i| (0..=i).all(|j| if lower { a[(i, j)] } else { a[(j, i)] }.is_finite())) {
        return Err(NoConvergence);
    }
    let scale = a.normalize();
    let Tridiagonalized { mut diagonal, mut beside, taus } = sytrd(a, lower);
    // Its rows are the vectors.
    let mut z = Matrix::identity(if vectors { n } else { 0 }, n);
    steqr(&mut diagonal, &mut beside, &mut Turns::new(&mut z), precision)?;
    if vectors {
        let elements = z.adjoint().into_elements().into_iter().map(T::real).collect();
        let mut z = Matrix::new(n, n, elements);
        ormtr(a, &taus, lower, &mut z);
        *a = z;
    }
    Ok(diagonal.into_iter().map(|x| x / scale).collect())
}

/// The eigenvalues of a real symmetric tridiagonal matrix, ascending, which replace its diagonal,
/// by implicit QL or QR iteration, whichever end of a block is the smaller one; the rows of `z` are
/// turned along.
fn steqr(
    d: &mut [f64],
    e: &mut [f64],
    z: &mut Turns<'_>,
    precision: Precision,
) -> Result<(), NoConvergence> {
    let n = d.len();
    let mut steps_left = n * MAX_STEPS;
    let mut start = 0;
    while start < n {
        if start > 0 {
            e[start - 1] = 0.0;
        }
        // A block ends where an element beside the diagonal is negligible.
        let small = |m: &usize| {
            e[*m].abs() <= d[*m].abs().sqrt() * d[*m + 1].abs().sqrt() * precision.roundoff
        };
        let end = (start..n - 1).find(small).unwrap_or(n - 1);
        if end < n - 1 {
            e[end] = 0.0;
        }
        let flipped = d[end].abs() < d[start].abs();
        SplitBlock { d, e, z, start, end, flipped, precision }.iterate(&mut steps_left)?;
        start = end + 1;
    }
    let z = z.finish();
    // Exchanges a minimal number of vectors.
    for i in 0..n {
        let smallest = (i..n).fold(i, |best, j| if d[j] < d[best] { j } else { best });
        if smallest != i {
            d.swap(i, smallest);
            if z.rows() > 0 {
                z.swap_rows(i, smallest);
            }
        }
    }
    Ok(())
}

/// A block of a tridiagonal matrix that is not divided further. QR iteration is QL iteration on the
/// block read from its end.
struct SplitBlock<'a, 'z> {
    d: &'a mut [f64],
    e: &'a mut [f64],
    z: &'a mut Turns<'z>,
    start: usize,
    end: usize,
    flipped: bool,
    precision: Precision,
}

impl SplitBlock<'_, '_> {
    /// Position of the diagonal element `k` of the block.
    fn at(&self, k: usize) -> usize {
        if self.flipped { self.end - k } else { self.start + k }
    }

    fn d(&mut self, k: usize) -> &mut f64 {
        let at = self.at(k);
        &mut self.d[at]
    }

    /// The element between `k` and `k + 1`.
    fn e(&mut self, k: usize) -> &mut f64 {
        let at = self.at(k).min(self.at(k + 1));
        &mut self.e[at]
    }

    fn rotate(&mut self, rotation: Rotation, k: usize) {
        let (i, j) = (self.at(k), self.at(k + 1));
        self.z.turn(rotation, i, j);
    }

    fn iterate(mut self, steps_left: &mut usize) -> Result<(), NoConvergence> {
        let last = self.end - self.start;
        let mut l = 0;
        while l < last {
            let mut m = l;
            while m < last {
                let (x, y, beside) = (*self.d(m), *self.d(m + 1), *self.e(m));
                let Precision { roundoff, smallest } = self.precision;
                if beside * beside <= roundoff * roundoff * x.abs() * y.abs() + smallest {
                    *self.e(m) = 0.0;
                    break;
                }
                m += 1;
            }
            if m == l {
                l += 1;
                continue;
            }
            if m == l + 1 {
                let (i, j) = (self.at(l).min(self.at(m)), self.at(l).max(self.at(m)));
                let (first, second, rotation) = symmetric_pair(self.d[i], self.e[i], self.d[j]);
                self.z.turn(rotation, i, j);
                (self.d[i], self.d[j], self.e[i]) = (first, second, 0.0);
                l += 2;
                continue;
            }
            if *steps_left == 0 {
                return Err(NoConvergence);
            }
            *steps_left -= 1;
            self.step(l, m);
        }
        Ok(())
    }

    /// A step of QL iteration on the elements from `l` to `m`, with Wilkinson's shift.
    fn step(&mut self, l: usize, m: usize) {
        let p = *self.d(l);
        let beside = *self.e(l);
        let g = (*self.d(l + 1) - p) / (2.0 * beside);
        let mut g = *self.d(m) - p + beside / (g + hypot(g, 1.0).copysign(g));
        let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
        // The rotations meet the vectors in the order in which they are found.
        for i in (l..m).rev() {
            let (f, b) = (s * *self.e(i), c * *self.e(i));
            let (rotation, r) = Rotation::zeroing(g, f);
            (c, s) = (rotation.c, rotation.s);
            if i != m - 1 {
                *self.e(i + 1) = r;
            }
            g = *self.d(i + 1) - p;
            let r = (*self.d(i) - g) * s + 2.0 * c * b;
            p = s * r;
            *self.d(i + 1) = g + p;
            g = c * r - b;
            self.rotate(rotation.inverse(), i);
        }
        *self.d(l) -= p;
        *self.e(l) = g;
    }
}
