//! Factors that elimination finds, and systems that it solves.

use crate::lanes::{InlineBuffer, in_lanes, subtract_product};
use crate::matrix::{Matrix, MatrixEntry, Precision, Scalar};
use numerics::simd::{Isa, Kernel};

/// The Cholesky factor in place: the lower one, `l` where `a = l * l^H`, or else its adjoint in the
/// upper triangle. The other triangle is neither read nor written.
///
/// # Errors
/// The order, from 1, of the first leading part that is not positive definite.
pub fn potrf<T: Scalar>(a: &mut Matrix<T>, lower: bool) -> Result<(), usize> {
    if !lower {
        return factor_upper(a);
    }
    let mut adjoint = a.adjoint();
    let outcome = factor_upper(&mut adjoint);
    for i in 0..a.rows() {
        for (j, x) in a.row_mut(i)[..=i].iter_mut().enumerate() {
            *x = adjoint[(j, i)].conj();
        }
    }
    outcome
}

/// [`potrf`] of the upper triangle, row by row.
fn factor_upper<T: Scalar>(a: &mut Matrix<T>) -> Result<(), usize> {
    let mut outcome = Ok(());
    Isa::best().run(Upper { a, outcome: &mut outcome });
    outcome
}

struct Upper<'a, T> {
    a: &'a mut Matrix<T>,
    outcome: &'a mut Result<(), usize>,
}

impl<T: Scalar> Kernel for Upper<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Upper { a, outcome } = self;
        let n = a.rows();
        for k in 0..n {
            let square = a[(k, k)].re();
            if square.is_nan() || square <= 0.0 {
                *outcome = Err(k + 1);
                return;
            }
            let diagonal = T::real(square.sqrt());
            a[(k, k)] = diagonal;
            a.row_mut(k)[k + 1..].iter_mut().for_each(|x| *x = x.over(diagonal));
            let (head, rest) = a.elements_mut().split_at_mut((k + 1) * n);
            let above = &head[k * n..];
            for (i, row) in (k + 1..).zip(rest.chunks_exact_mut(n)) {
                let factor = above[i].conj();
                in_lanes(&mut row[i..], &above[i..], |x, y| x - factor * y);
            }
        }
    }
}

/// Which triangular systems to solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// `op(a) * x = b` rather than `x * op(a) = b`.
    pub left_side: bool,
    /// Only the lower triangle of `a` is read, rather than the upper one.
    pub lower: bool,
    /// The diagonal of `a` is not read: it is taken to be one.
    pub unit_diagonal: bool,
    /// `op` transposes.
    pub transposed: bool,
    /// `op` conjugates.
    pub conjugated: bool,
}

/// Replaces `b` by the solution of triangular systems.
pub fn trsm<T: MatrixEntry>(a: &Matrix<T>, b: &mut Matrix<T>, system: System) {
    if a.rows() > 0 {
        Isa::best().run(Solve { a, b, system });
    }
}

struct Solve<'a, T> {
    a: &'a Matrix<T>,
    b: &'a mut Matrix<T>,
    system: System,
}

impl<T: MatrixEntry> Kernel for Solve<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Solve { a, b, system } = self;
        let n = a.rows();
        // x * op(a) = b is op(a)^T * x^T = b^T.
        let transposed = system.transposed == system.left_side;
        let forward = system.lower != transposed;
        let element = |i: usize, j: usize| {
            let x = if transposed { a[(j, i)] } else { a[(i, j)] };
            if system.conjugated { x.conj() } else { x }
        };
        let order = |nth: usize| if forward { nth } else { n - 1 - nth };
        let left = |i: usize| if forward { i + 1..n } else { 0..i };
        if system.left_side {
            let stride = b.columns();
            if stride == 0 {
                return;
            }
            let mut factors = InlineBuffer::new(n);
            for i in (0..n).map(order) {
                if !system.unit_diagonal {
                    let diagonal = element(i, i);
                    b.row_mut(i).iter_mut().for_each(|x| *x = x.over(diagonal));
                }
                let (before, from) = b.elements_mut().split_at_mut(i * stride);
                let (solved, after) = from.split_at_mut(stride);
                let (rest, solved) = (if forward { after } else { before }, &*solved);
                let factors = factors.first(left(i).len());
                let step = if transposed { 1 } else { n };
                let first = if transposed { i * n + left(i).start } else { left(i).start * n + i };
                let column = a.elements()[first.min(n * n)..].iter().step_by(step);
                for (factor, &x) in factors.iter_mut().zip(column) {
                    *factor = if system.conjugated { x.conj() } else { x };
                }
                match *solved {
                    [y] => in_lanes(rest, factors, |x, factor| x - factor * y),
                    _ => subtract_product(rest, stride, 0..stride, factors, solved),
                }
            }
            return;
        }
        // The factors of each solved element in a row.
        let mut factors = Matrix::zeros(n, n);
        for i in 0..n {
            let row = factors.row_mut(i)[left(i)].iter_mut();
            row.zip(left(i)).for_each(|(x, j)| *x = element(j, i));
        }
        for line in 0..b.rows() {
            let row = b.row_mut(line);
            for i in (0..n).map(order) {
                if !system.unit_diagonal {
                    row[i] = row[i].over(element(i, i));
                }
                let solved = row[i];
                let factors = &factors.row(i)[left(i)];
                in_lanes(&mut row[left(i)], factors, |x, factor| x - factor * solved);
            }
        }
    }
}

/// `p * a = l * u` in place: `l` below the diagonal, which is one there, and `u` elsewhere. Returns
/// the row, from 1, that was exchanged with each of the first `min(m, n)` rows in turn, and the
/// place, from 1, of the first zero on the diagonal of `u`, or 0.
pub fn getrf<T: Scalar>(a: &mut Matrix<T>) -> (Vec<i32>, i32) {
    let (mut pivots, mut info) = (Vec::with_capacity(a.rows().min(a.columns())), 0);
    Isa::best().run(Eliminate { a, pivots: &mut pivots, info: &mut info });
    (pivots, info)
}

struct Eliminate<'a, T> {
    a: &'a mut Matrix<T>,
    pivots: &'a mut Vec<i32>,
    info: &'a mut i32,
}

impl<T: Scalar> Kernel for Eliminate<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Eliminate { a, pivots, info } = self;
        let (m, n) = (a.rows(), a.columns());
        let mut factors = InlineBuffer::new(m);
        for k in 0..m.min(n) {
            // The first of the largest.
            let mut best = (k, a[(k, k)].abs1());
            for (i, row) in (k + 1..).zip(a.elements()[(k + 1) * n..].chunks_exact(n)) {
                let size = row[k].abs1();
                if size > best.1 {
                    best = (i, size);
                }
            }
            pivots.push(best.0 as i32 + 1);
            a.swap_rows(k, best.0);
            let (head, rest) = a.elements_mut().split_at_mut((k + 1) * n);
            let row = &head[k * n..];
            let diagonal = row[k];
            if diagonal == T::ZERO {
                *info = if *info == 0 { k as i32 + 1 } else { *info };
                continue;
            }
            let factors = factors.first(m - 1 - k);
            for (below, factor) in rest.chunks_exact_mut(n).zip(&mut *factors) {
                below[k] = below[k].over(diagonal);
                *factor = below[k];
            }
            subtract_product(rest, n, k + 1..n, factors, &row[k + 1..]);
        }
    }
}

/// A tridiagonal matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Tridiagonal<T> {
    /// Below the diagonal: `n - 1` elements.
    pub lower: Vec<T>,
    /// The diagonal.
    pub diagonal: Vec<T>,
    /// Above the diagonal: `n - 1` elements.
    pub upper: Vec<T>,
}

/// Replaces `b` by the solution of `a * x = b`, and `a` by the factor `u`: its diagonal, the one
/// above it, and in place of the lower one the second one above.
///
/// # Errors
/// The place, from 1, of the first zero on the diagonal of `u`.
pub fn gtsv<T: Scalar>(a: &mut Tridiagonal<T>, b: &mut Matrix<T>) -> Result<(), usize> {
    let n = a.diagonal.len();
    let (dl, d, du) = (&mut a.lower, &mut a.diagonal, &mut a.upper);
    for k in 0..n.saturating_sub(1) {
        let last = k + 2 >= n;
        if dl[k] == T::ZERO {
            if d[k] == T::ZERO {
                return Err(k + 1);
            }
        } else if d[k].abs1() >= dl[k].abs1() {
            let factor = dl[k].over(d[k]);
            d[k + 1] -= factor * du[k];
            let (above, row) = b.two_rows(k, k + 1);
            row.iter_mut().zip(above).for_each(|(x, y)| *x -= factor * *y);
            if !last {
                dl[k] = T::ZERO;
            }
        } else {
            let factor = d[k].over(dl[k]);
            d[k] = dl[k];
            let next = d[k + 1];
            d[k + 1] = du[k] - factor * next;
            if !last {
                dl[k] = du[k + 1];
                du[k + 1] = -factor * dl[k];
            }
            du[k] = next;
            let (above, row) = b.two_rows(k, k + 1);
            row.iter_mut().zip(above).for_each(|(x, y)| (*x, *y) = (*y - factor * *x, *x));
        }
    }
    if n == 0 {
        return Ok(());
    }
    if d[n - 1] == T::ZERO {
        return Err(n);
    }
    for column in 0..b.columns() {
        for k in (0..n).rev() {
            let mut rest = b[(k, column)];
            if k + 1 < n {
                rest -= du[k] * b[(k + 1, column)];
            }
            if k + 2 < n {
                rest -= dl[k] * b[(k + 2, column)];
            }
            b[(k, column)] = rest.over(d[k]);
        }
    }
    Ok(())
}

/// The factors of a tridiagonal matrix whose rows were exchanged by the sizes of pivots relative to
/// their rows, as `lagtf` does.
struct PivotFactors<T> {
    diagonal: Vec<T>,
    above: Vec<T>,
    second_above: Vec<T>,
    /// Of each step: the multiple of the upper row that the lower one lost, and true if they were
    /// exchanged.
    steps: Vec<(T, bool)>,
}

/// `lagtf`: factors a tridiagonal matrix.
fn lagtf<T: Scalar>(a: &Tridiagonal<T>) -> PivotFactors<T> {
    let n = a.diagonal.len();
    let (mut d, mut du, mut du2) =
        (a.diagonal.clone(), a.upper.clone(), vec![T::ZERO; n.saturating_sub(2)]);
    let size = |k: usize, du: &[T]| du.get(k).map_or(0.0, |x| x.abs1());
    let mut steps = Vec::with_capacity(n);
    let mut scale = d.first().map_or(0.0, |d| d.abs1()) + size(0, &du);
    for k in 0..n.saturating_sub(1) {
        let below = a.lower[k];
        let scale_below = below.abs1() + d[k + 1].abs1() + size(k + 1, &du);
        let keeps = below == T::ZERO
            || (d[k] != T::ZERO && below.abs1() / scale_below <= d[k].abs1() / scale);
        if keeps {
            let factor = if below == T::ZERO { T::ZERO } else { below.over(d[k]) };
            d[k + 1] -= factor * du[k];
            steps.push((factor, false));
            scale = scale_below;
        } else {
            let factor = d[k].over(below);
            d[k] = below;
            let next = d[k + 1];
            d[k + 1] = du[k] - factor * next;
            if k + 2 < n {
                du2[k] = du[k + 1];
                du[k + 1] = -factor * du2[k];
            }
            du[k] = next;
            steps.push((factor, true));
        }
    }
    PivotFactors { diagonal: d, above: du, second_above: du2, steps }
}

/// Replaces `b` by the solution of `a * x = b`, where pivots that are too small are enlarged by a
/// rounding error of the largest element of the factor, or more until nothing overflows.
pub fn lagts<T: Scalar>(a: &Tridiagonal<T>, b: &mut Matrix<T>, precision: Precision) {
    let PivotFactors { diagonal, above, second_above, steps } = lagtf(a);
    for (k, &(factor, exchanged)) in steps.iter().enumerate() {
        let (upper, lower) = b.two_rows(k, k + 1);
        for (x, y) in upper.iter_mut().zip(lower) {
            if exchanged {
                (*x, *y) = (*y, *x);
            }
            *y -= factor * *x;
        }
    }
    let elements = diagonal.iter().chain(&above).chain(&second_above);
    let largest = elements.map(|x| x.abs1()).fold(0.0, f64::max);
    let tolerance = (precision.spacing() * largest).max(precision.smallest);
    for k in (0..diagonal.len()).rev() {
        for column in 0..b.columns() {
            for (factors, distance) in [(&above, 1), (&second_above, 2)] {
                if let Some(&factor) = factors.get(k) {
                    let lost = factor * b[(k + distance, column)];
                    b[(k, column)] -= lost;
                }
            }
        }
        let size = (0..b.columns()).map(|column| b[(k, column)].abs1()).fold(0.0, f64::max);
        let mut pivot = diagonal[k];
        let mut change = if pivot.re() < 0.0 { -tolerance } else { tolerance };
        let overflows = |pivot: T| {
            let pivot = pivot.abs1();
            pivot < 1.0
                && (pivot == 0.0
                    || (pivot < precision.smallest && size * precision.smallest > pivot)
                    || (pivot >= precision.smallest && size > pivot / precision.smallest))
        };
        while overflows(pivot) {
            pivot += T::real(change);
            change *= 2.0;
        }
        for column in 0..b.columns() {
            b[(k, column)] = b[(k, column)].over(pivot);
        }
    }
}
