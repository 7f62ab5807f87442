//! Eigenvalues and eigenvectors of general matrices.

use crate::NoConvergence;
use crate::matrix::{Matrix, MatrixEntry, Precision, Scalar, norm};
use crate::rotation::Rotation;
use crate::schur::{Balance, Schur, SchurForm, reduce};
use num_complex::Complex64;

/// Elements of eigenvectors are scaled down from here on.
const LARGE: f64 = 1e100;

/// Eigenvalues, with vectors in columns: `a * right = right * diag(values)`,
/// `left^H * a = diag(values) * left^H`.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// The eigenvalues.
    pub values: Vec<Complex64>,
    /// The left eigenvectors, if requested.
    pub left: Option<Matrix<Complex64>>,
    /// The right eigenvectors, if requested.
    pub right: Option<Matrix<Complex64>>,
}

/// [`crate::geev`].
pub(crate) fn geev<T: SchurForm>(
    mut a: Matrix<T>,
    left: bool,
    right: bool,
    precision: Precision,
) -> Result<Eigen, NoConvergence> {
    if !a.is_finite() {
        return Err(NoConvergence);
    }
    let scale = a.normalize();
    let mut balance = Balance::permute(&mut a);
    balance.equilibrate(&mut a);
    let Schur { t, z, values } = reduce(a, &balance, left || right, precision)?;
    if !(left || right) {
        return Ok(Eigen { values: unscaled(&values, scale), left: None, right: None });
    }
    let (t, z) = (lift(t), lift(z));
    let is_real = |k: usize| T::DIMENSIONS == 1 && values[k].im == 0.0;
    let vectors = |left: bool| {
        let mut vectors =
            z.times(&triangular_vectors(&t, &values, left, T::DIMENSIONS == 1, precision));
        balance.undo(&mut vectors, left);
        for k in 0..vectors.columns() {
            normalize(&mut vectors, k, is_real(k), T::DIMENSIONS == 1);
        }
        vectors
    };
    Ok(Eigen {
        left: left.then(|| vectors(true)),
        right: right.then(|| vectors(false)),
        values: unscaled(&values, scale),
    })
}

fn unscaled(values: &[Complex64], scale: f64) -> Vec<Complex64> {
    values.iter().map(|x| x / scale).collect()
}

/// The matrix of complex numbers, in the same memory if the elements are.
fn lift<T: SchurForm>(a: Matrix<T>) -> Matrix<Complex64> {
    let (rows, columns) = (a.rows(), a.columns());
    Matrix::new(rows, columns, a.into_elements().into_iter().map(T::complex).collect())
}

/// Gives column `k` the norm one and makes its largest element real: by a rotation of the two parts
/// that keeps the sign of its real part for eigenvectors of a real matrix, positive for those of a
/// complex one.
fn normalize(vectors: &mut Matrix<Complex64>, k: usize, is_real: bool, of_real: bool) {
    let n = vectors.rows();
    let mut column: Vec<Complex64> = (0..n).map(|i| vectors[(i, k)]).collect();
    let scale = 1.0 / norm(&column);
    column.iter_mut().for_each(|x| *x *= scale);
    if !is_real {
        // The first of the largest.
        let largest =
            (0..n).fold(
                0,
                |best, i| if column[i].norm_sqr() > column[best].norm_sqr() { i } else { best },
            );
        if of_real {
            let (rotation, _) = Rotation::zeroing(column[largest].re, column[largest].im);
            for x in &mut column {
                let (re, im) = rotation.pair(x.re, x.im);
                *x = Complex64::new(re, im);
            }
        } else {
            let phase = column[largest].conj() / Scalar::abs(column[largest]);
            column.iter_mut().for_each(|x| *x *= phase);
        }
        column[largest].im = 0.0;
    }
    for (i, x) in column.into_iter().enumerate() {
        vectors[(i, k)] = x;
    }
}

/// The right or left eigenvectors of a Schur form, in columns. LAPACK: `trevc`.
///
/// Left ones are right ones of the transpose, conjugated, and the transpose read from its end is a
/// Schur form again.
fn triangular_vectors(
    t: &Matrix<Complex64>,
    values: &[Complex64],
    left: bool,
    of_real: bool,
    precision: Precision,
) -> Matrix<Complex64> {
    let n = t.rows();
    let at = |i: usize| if left { n - 1 - i } else { i };
    let element = |i: usize, j: usize| if left { t[(at(j), at(i))] } else { t[(i, j)] };
    let is_block = |i: usize| of_real && i > 0 && element(i, i - 1) != Complex64::ZERO;
    let mut vectors = Matrix::zeros(n, n);
    for k in 0..n {
        // Of a pair, the vector of the eigenvalue with the positive imaginary part; the other one
        // is its conjugate.
        let pair = values[at(k)].im != 0.0 && of_real;
        if pair && !is_block(k) {
            continue;
        }
        let value = if pair {
            Complex64::new(values[at(k)].re, values[at(k)].im.abs())
        } else {
            values[at(k)]
        };
        let smallest = (precision.spacing() * value.abs1()).max(precision.tiny(n));
        let mut x = vec![Complex64::ZERO; k + 1];
        let mut rest = k;
        if pair {
            let (above, below) = (element(k - 1, k).re, element(k, k - 1).re);
            if above.abs() >= below.abs() {
                (x[k - 1], x[k]) = (Complex64::ONE, Complex64::new(0.0, value.im / above));
            } else {
                (x[k - 1], x[k]) = (Complex64::real(-value.im / below), Complex64::new(0.0, 1.0));
            }
            rest = k - 1;
            if left {
                x[k - 1] *= Complex64::new(0.0, -1.0);
                x[k] *= Complex64::new(0.0, -1.0);
            }
        } else {
            x[k] = Complex64::ONE;
        }
        substitute(&mut x, rest, value, smallest, element, is_block);
        let mut put = |k: usize, conjugated: bool| {
            for (i, &x) in x.iter().enumerate() {
                vectors[(at(i), at(k))] = if conjugated != left { x.conj() } else { x };
            }
        };
        if pair {
            // In the order of the eigenvalues, the positive imaginary part comes first.
            put(if left { k } else { k - 1 }, false);
            put(if left { k - 1 } else { k }, true);
        } else {
            put(k, false);
        }
    }
    vectors
}

/// Completes an eigenvector for `value` of which the components from `rest` on are known: rows from
/// the last one up. The sums over the known components replace the unknowns.
fn substitute(
    x: &mut [Complex64],
    rest: usize,
    value: Complex64,
    smallest: f64,
    element: impl Fn(usize, usize) -> Complex64,
    is_block: impl Fn(usize) -> bool,
) {
    let mut sums: Vec<Complex64> = (0..rest)
        .map(|i| -(rest..x.len()).map(|j| element(i, j) * x[j]).sum::<Complex64>())
        .collect();
    let mut i = rest;
    while i > 0 {
        let size = if is_block(i - 1) { 2 } else { 1 };
        i -= size;
        if size == 1 {
            x[i] = sums[i].over(away(element(i, i) - value, smallest));
        } else {
            let m = [
                [element(i, i) - value, element(i, i + 1)],
                [element(i + 1, i), element(i + 1, i + 1) - value],
            ];
            (x[i], x[i + 1]) = solve_pair(m, [sums[i], sums[i + 1]], smallest);
        }
        // Solutions that grow without bound are scaled; so are all sums, which are linear in
        // them.
        let largest = x[i..i + size].iter().map(|x| x.abs1()).fold(0.0, f64::max);
        if largest > LARGE {
            let scale = 1.0 / largest;
            x.iter_mut().for_each(|x| *x *= scale);
            sums.iter_mut().for_each(|x| *x *= scale);
        }
        for (row, sum) in sums[..i].iter_mut().enumerate() {
            for (column, &x) in x.iter().enumerate().skip(i).take(size) {
                *sum -= element(row, column) * x;
            }
        }
    }
}

/// The number, moved away from zero.
fn away(x: Complex64, smallest: f64) -> Complex64 {
    if x.abs1() < smallest { Complex64::real(smallest) } else { x }
}

/// The solution of two equations, by elimination with the largest pivot of all.
fn solve_pair(m: [[Complex64; 2]; 2], b: [Complex64; 2], smallest: f64) -> (Complex64, Complex64) {
    let sizes = [m[0][0], m[0][1], m[1][0], m[1][1]].map(Scalar::abs1);
    let best = (0..4).fold(0, |best, i| if sizes[i] > sizes[best] { i } else { best });
    let (row, column) = (best / 2, best % 2);
    let pivot = away(m[row][column], smallest);
    let factor = m[1 - row][column].over(pivot);
    let rest = away(m[1 - row][1 - column] - factor * m[row][1 - column], smallest);
    let second = (b[1 - row] - factor * b[row]).over(rest);
    let first = (b[row] - m[row][1 - column] * second).over(pivot);
    if column == 0 { (first, second) } else { (second, first) }
}
