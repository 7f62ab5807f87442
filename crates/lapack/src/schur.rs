//! Schur forms, and the balancing that comes before them.

use crate::NoConvergence;
use crate::householder::{gehrd, product};
use crate::matrix::{Matrix, Precision, Scalar, norm};
use crate::{schur_complex, schur_real};
use num_complex::Complex64;
use std::ops::Range;

/// Matrix elements for which there is an iteration to the Schur form.
pub trait SchurForm: Scalar {
    /// Makes `h`, zero below its first subdiagonal, triangular (for real numbers: with blocks of
    /// two rows for pairs of complex eigenvalues). Rows and columns outside of `rows` are
    /// triangular already. `z`, which may have no rows, becomes `z * q`. LAPACK: `hseqr`.
    ///
    /// # Errors
    /// If the iteration does not converge.
    fn iterate(
        h: &mut Matrix<Self>,
        z: &mut Matrix<Self>,
        rows: Range<usize>,
        precision: Precision,
    ) -> Result<(), NoConvergence>;

    /// The eigenvalues of a Schur form.
    fn eigenvalues(t: &Matrix<Self>) -> Vec<Complex64>;

    /// The number as a complex one.
    fn complex(self) -> Complex64;
}

impl SchurForm for f64 {
    fn iterate(
        h: &mut Matrix<f64>,
        z: &mut Matrix<f64>,
        rows: Range<usize>,
        precision: Precision,
    ) -> Result<(), NoConvergence> {
        schur_real::iterate(h, z, rows, precision)
    }

    fn eigenvalues(t: &Matrix<f64>) -> Vec<Complex64> {
        let n = t.rows();
        let mut values = Vec::with_capacity(n);
        while values.len() < n {
            let k = values.len();
            let below = if k + 1 < n { t[(k + 1, k)] } else { 0.0 };
            if below == 0.0 {
                values.push(Complex64::new(t[(k, k)], 0.0));
            } else {
                let im = below.abs().sqrt() * t[(k, k + 1)].abs().sqrt();
                values.extend([
                    Complex64::new(t[(k, k)], im),
                    Complex64::new(t[(k + 1, k + 1)], -im),
                ]);
            }
        }
        values
    }

    fn complex(self) -> Complex64 {
        Complex64::new(self, 0.0)
    }
}

impl SchurForm for Complex64 {
    fn iterate(
        h: &mut Matrix<Complex64>,
        z: &mut Matrix<Complex64>,
        rows: Range<usize>,
        precision: Precision,
    ) -> Result<(), NoConvergence> {
        schur_complex::iterate(h, z, rows, precision)
    }

    fn eigenvalues(t: &Matrix<Complex64>) -> Vec<Complex64> {
        (0..t.rows()).map(|i| t[(i, i)]).collect()
    }

    fn complex(self) -> Complex64 {
        self
    }
}

/// `a = z * t * z^H` with a triangular `t` (of real numbers: with blocks of two rows).
#[derive(Clone, Debug, PartialEq)]
pub struct Schur<T> {
    /// The Schur form.
    pub t: Matrix<T>,
    /// The Schur vectors in its columns; no rows if not requested.
    pub z: Matrix<T>,
    /// The eigenvalues.
    pub values: Vec<Complex64>,
}

/// [`crate::gees`].
pub(crate) fn gees<T: SchurForm>(
    mut a: Matrix<T>,
    vectors: bool,
    precision: Precision,
) -> Result<Schur<T>, NoConvergence> {
    if !a.is_finite() {
        return Err(NoConvergence);
    }
    let scale = a.normalize();
    let balance = Balance::permute(&mut a);
    let mut schur = reduce(a, &balance, vectors, precision)?;
    if vectors {
        balance.undo(&mut schur.z, false);
    }
    schur.t.scale(1.0 / scale);
    schur.values.iter_mut().for_each(|x| *x /= scale);
    Ok(schur)
}

/// The Schur decomposition of a balanced matrix, with or without the vectors.
pub(crate) fn reduce<T: SchurForm>(
    mut a: Matrix<T>,
    balance: &Balance,
    vectors: bool,
    precision: Precision,
) -> Result<Schur<T>, NoConvergence> {
    let n = a.rows();
    let taus = gehrd(&mut a, balance.low, balance.high);
    let mut z = Matrix::zeros(0, n);
    if vectors {
        // Below `high` the columns hold no vectors.
        let mut reflections = a.clone();
        for j in 0..n {
            for i in (j + 1).max(balance.high)..n {
                reflections[(i, j)] = T::ZERO;
            }
        }
        z = product(&reflections, &taus, 1, n);
    }
    for i in 2..n {
        a.row_mut(i)[..i - 1].fill(T::ZERO);
    }
    T::iterate(&mut a, &mut z, balance.low..balance.high, precision)?;
    Ok(Schur { values: T::eigenvalues(&a), t: a, z })
}

/// A similarity by a permutation and a diagonal matrix. LAPACK: `gebal`, `gebak`.
pub(crate) struct Balance {
    /// Rows and columns before are triangular.
    pub low: usize,
    /// Rows and columns from here on are triangular.
    pub high: usize,
    /// The exchanges, in the order in which they were made.
    exchanges: Vec<(usize, usize)>,
    /// The diagonal matrix.
    factors: Vec<f64>,
}

impl Balance {
    /// Moves eigenvalues that stand alone to the ends of the diagonal.
    pub(crate) fn permute<T: Scalar>(a: &mut Matrix<T>) -> Balance {
        let n = a.rows();
        let mut balance = Balance { low: 0, high: n, exchanges: vec![], factors: vec![1.0; n] };
        let exchange = |a: &mut Matrix<T>, exchanges: &mut Vec<_>, i: usize, j: usize| {
            a.swap_columns(i, j);
            a.swap_rows(i, j);
            exchanges.push((i, j));
        };
        // Rows with zeros but for the diagonal go to the end,
        let mut found = true;
        while found && balance.high > 0 {
            let high = balance.high;
            let alone = |i: &usize| (0..high).all(|j| j == *i || a[(*i, j)] == T::ZERO);
            let row = (0..high).rev().find(alone);
            found = row.is_some();
            if let Some(row) = row {
                balance.high -= 1;
                exchange(a, &mut balance.exchanges, row, balance.high);
            }
        }
        // and columns to the start.
        let mut found = true;
        while found && balance.low < balance.high {
            let (low, high) = (balance.low, balance.high);
            let alone = |j: &usize| (low..high).all(|i| i == *j || a[(i, *j)] == T::ZERO);
            let column = (low..high).find(alone);
            found = column.is_some();
            if let Some(column) = column {
                exchange(a, &mut balance.exchanges, column, balance.low);
                balance.low += 1;
            }
        }
        balance
    }

    /// Makes rows and columns of about the same norm, by powers of two, in which there is no
    /// rounding.
    pub(crate) fn equilibrate<T: Scalar>(&mut self, a: &mut Matrix<T>) {
        const RADIX: f64 = 2.0;
        const ENOUGH: f64 = 0.95;
        let smallest = f64::MIN_POSITIVE / f64::EPSILON * RADIX;
        let largest = 1.0 / smallest;
        let (low, high, n) = (self.low, self.high, a.rows());
        let mut changed = true;
        while changed {
            changed = false;
            for i in low..high {
                let column: Vec<T> = (low..high).map(|k| a[(k, i)]).collect();
                let mut c = norm(&column);
                let mut r = norm(&a.row(i)[low..high]);
                let mut ca = (0..high).map(|k| a[(k, i)].abs()).fold(0.0, f64::max);
                let mut ra = (low..n).map(|k| a[(i, k)].abs()).fold(0.0, f64::max);
                if c == 0.0 || r == 0.0 {
                    continue;
                }
                let (mut f, sum) = (1f64, c + r);
                let mut g = r / RADIX;
                while c < g && f.max(c).max(ca) < largest && r.min(g).min(ra) > smallest {
                    (f, c, ca) = (f * RADIX, c * RADIX, ca * RADIX);
                    (r, g, ra) = (r / RADIX, g / RADIX, ra / RADIX);
                }
                g = c / RADIX;
                while g >= r && r.max(ra) < largest && f.min(c).min(g).min(ca) > smallest {
                    (f, c, g, ca) = (f / RADIX, c / RADIX, g / RADIX, ca / RADIX);
                    (r, ra) = (r * RADIX, ra * RADIX);
                }
                let overflows = f > 1.0 && self.factors[i] >= largest / f;
                let underflows = f < 1.0 && self.factors[i] <= smallest / f;
                if c + r >= ENOUGH * sum || overflows || underflows {
                    continue;
                }
                self.factors[i] *= f;
                changed = true;
                a.row_mut(i).iter_mut().skip(low).for_each(|x| *x = *x * (1.0 / f));
                for k in 0..high {
                    a[(k, i)] = a[(k, i)] * f;
                }
            }
        }
    }

    /// Converts right (or left) vectors of the balanced matrix to vectors of the given one.
    pub(crate) fn undo<T: Scalar>(&self, z: &mut Matrix<T>, left: bool) {
        for (i, &factor) in self.factors.iter().enumerate() {
            let factor = if left { 1.0 / factor } else { factor };
            z.row_mut(i).iter_mut().for_each(|x| *x = *x * factor);
        }
        for &(i, j) in self.exchanges.iter().rev() {
            z.swap_rows(i, j);
        }
    }
}
