//! Householder reflections, and the decompositions that are sequences of them.
//!
//! A reflection is `I - tau * v * v^H` with `v[0] = 1`; its adjoint takes a column to a multiple of
//! the first axis.

use crate::matrix::{Matrix, Scalar, hypot, norm, power_of_two_near};

/// Makes `x` the rest of `v` and `alpha` the real number (`beta`) that its adjoint leaves in place
/// of both. Returns `tau`. LAPACK: `larfg`.
pub(crate) fn reflector<T: Scalar>(alpha: &mut T, x: &mut [T]) -> T {
    // Very small numbers lose digits, and then the reflection would not be unitary; the vector does
    // not depend on the scale.
    let largest = x.iter().fold(alpha.abs1(), |most, x| most.max(x.abs1()));
    let scale = power_of_two_near(largest);
    if scale != 1.0 {
        x.iter_mut().for_each(|x| *x = *x * scale);
        *alpha = *alpha * scale;
    }
    let rest = norm(x.iter().copied());
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
    columns: std::ops::Range<usize>,
    v: &[T],
    tau: T,
) {
    if tau == T::ZERO || columns.is_empty() {
        return;
    }
    let mut products = vec![T::ZERO; columns.len()];
    for (i, &v) in v.iter().enumerate() {
        for (sum, &x) in products.iter_mut().zip(&a.row(first + i)[columns.clone()]) {
            *sum += v.conj() * x;
        }
    }
    for (i, &v) in v.iter().enumerate() {
        let factor = tau * v;
        for (x, &product) in a.row_mut(first + i)[columns.clone()].iter_mut().zip(&products) {
            *x -= factor * product;
        }
    }
}

/// `a[rows, columns from first] = a[…] * (I - tau * v * v^H)`.
pub(crate) fn reflect_right<T: Scalar>(
    a: &mut Matrix<T>,
    rows: std::ops::Range<usize>,
    first: usize,
    v: &[T],
    tau: T,
) {
    if tau == T::ZERO {
        return;
    }
    for i in rows {
        let row = &mut a.row_mut(i)[first..first + v.len()];
        let mut product = T::ZERO;
        for (&x, &v) in row.iter().zip(v) {
            product += x * v;
        }
        let factor = product * tau;
        for (x, &v) in row.iter_mut().zip(v) {
            *x -= factor * v.conj();
        }
    }
}

/// The elements of column `j` from row `i` on, below `end`.
fn column<T: Scalar>(a: &Matrix<T>, i: usize, end: usize, j: usize) -> Vec<T> {
    (i..end).map(|i| a[(i, j)]).collect()
}

/// Makes column `j` from row `i` up to `end` a multiple of the first axis, leaving `v` below:
/// returns `v` and `tau`.
pub(crate) fn reflect_column<T: Scalar>(
    a: &mut Matrix<T>,
    i: usize,
    end: usize,
    j: usize,
) -> (Vec<T>, T) {
    let mut v = column(a, i, end, j);
    let Some((alpha, x)) = v.split_first_mut() else { return (v, T::ZERO) };
    let tau = reflector(alpha, x);
    for (k, &x) in v.iter().enumerate() {
        a[(i + k, j)] = x;
    }
    v[0] = T::ONE;
    (v, tau)
}

/// The vector of reflection `k` of those that stand in the columns of `a`, shifted down by
/// `offset`.
fn stored<T: Scalar>(a: &Matrix<T>, k: usize, offset: usize) -> Vec<T> {
    let mut v = column(a, k + offset, a.rows(), k);
    if let Some(first) = v.first_mut() {
        *first = T::ONE;
    }
    v
}

/// `a = q * r`: returns the factors of the reflections whose vectors stand below the diagonal; `r`
/// stands above.
pub fn geqrf<T: Scalar>(a: &mut Matrix<T>) -> Vec<T> {
    let (m, n) = (a.rows(), a.columns());
    let factor = |k| {
        let (v, tau) = reflect_column(a, k, m, k);
        reflect_left(a, k, k + 1..n, &v, tau.conj());
        tau
    };
    (0..m.min(n)).map(factor).collect()
}

/// `a * p = q * r`, as [`geqrf`], where the column with the largest rest comes next. Columns with a
/// nonzero number in `order` come first, as they are. `order` becomes the number, from 1, of the
/// column that stands at each place.
pub fn geqp3<T: Scalar>(a: &mut Matrix<T>, order: &mut [i32]) -> Vec<T> {
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
    let mut taus = Vec::new();
    for k in 0..m.min(n) {
        if k >= fixed {
            let size = |j: usize| norm((k..m).map(|i| a[(i, j)]));
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
        let (v, tau) = reflect_column(a, k, m, k);
        reflect_left(a, k, k + 1..n, &v, tau.conj());
        taus.push(tau);
    }
    taus
}

/// The first `columns` columns of the product of the reflections in the columns of `a`, in that
/// order.
pub fn orgqr<T: Scalar>(a: &Matrix<T>, taus: &[T], columns: usize) -> Matrix<T> {
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
    for (k, &tau) in taus.iter().enumerate().rev() {
        reflect_left(&mut q, k + offset, 0..columns, &stored(a, k, offset), tau);
    }
    q
}

/// On which side of a matrix another one stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On its left.
    Left,
    /// On its right.
    Right,
}

/// The product `q * c` or `c * q`, where `q`, or its adjoint, is the product of the reflections in
/// the columns of `a`.
pub fn ormqr<T: Scalar>(a: &Matrix<T>, taus: &[T], c: &mut Matrix<T>, side: Side, adjoint: bool) {
    let mut apply = |(k, &tau): (usize, &T)| {
        let (v, tau) = (stored(a, k, 0), if adjoint { tau.conj() } else { tau });
        match side {
            Side::Left => reflect_left(c, k, 0..c.columns(), &v, tau),
            Side::Right => reflect_right(c, 0..c.rows(), k, &v, tau),
        }
    };
    // The factor that stands next to `c` comes first.
    if adjoint == (side == Side::Left) {
        taus.iter().enumerate().for_each(&mut apply);
    } else {
        taus.iter().enumerate().rev().for_each(apply);
    }
}

/// `a = q * h * q^H` where `h` has zeros below its first subdiagonal: returns the factors of the
/// reflections, whose vectors stand there. Rows and columns before `low` and from `high` on are
/// triangular already.
pub fn gehrd<T: Scalar>(a: &mut Matrix<T>, low: usize, high: usize) -> Vec<T> {
    let n = a.columns();
    let mut taus = vec![T::ZERO; n.saturating_sub(1)];
    for (k, tau) in taus.iter_mut().enumerate().take(high.saturating_sub(1)).skip(low) {
        let v;
        (v, *tau) = reflect_column(a, k + 1, high, k);
        reflect_right(a, 0..high, k + 1, &v, *tau);
        reflect_left(a, k + 1, k + 1..n, &v, tau.conj());
    }
    taus
}
