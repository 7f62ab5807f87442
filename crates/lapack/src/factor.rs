//! Factors that elimination finds, and systems that it solves.

use crate::lanes::{InlineBuffer, in_lanes, subtract_product};
use crate::matrix::{Matrix, MatrixEntry, Precision, Scalar};
use crate::product::subtract;
use numerics::simd::{Isa, Kernel};
use std::ops::Range;

/// Rows, or unknowns, whose products with others are subtracted from the rest together.
const BLOCK: usize = 32;

/// [`crate::potrf`].
pub(crate) fn potrf<T: Scalar>(a: &mut Matrix<T>, lower: bool) -> Result<(), usize> {
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
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        let Upper { a, outcome } = self;
        let n = a.rows();
        // The first row of the block that is computed: later rows wait for its products.
        let mut start = 0;
        for k in 0..n {
            if k == start + BLOCK {
                subtract_block(a, start..k);
                start = k;
            }
            let end = (start + BLOCK).min(n);
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
            for (i, row) in (k + 1..end).zip(rest.chunks_exact_mut(n)) {
                let factor = above[i].conj();
                in_lanes(&mut row[i..], &above[i..], |x, y| x - factor * y);
            }
        }
    }
}

/// Subtracts the products of some rows of the factor from the upper triangle of the rows below.
#[inline(always)]
fn subtract_block<T: Scalar>(a: &mut Matrix<T>, rows: Range<usize>) {
    let (n, depth) = (a.rows(), rows.len());
    let (head, rest) = a.elements_mut().split_at_mut(rows.end * n);
    let above = &head[rows.start * n..];
    let mut factors = Vec::with_capacity(BLOCK * depth);
    for (nth, part) in rest.chunks_mut(BLOCK * n).enumerate() {
        let first = rows.end + nth * BLOCK;
        let after = (first + BLOCK).min(n);
        factors.clear();
        for i in first..after {
            factors.extend(above.iter().skip(i).step_by(n).map(|x| x.conj()));
        }
        for (i, row) in (first..after).zip(part.chunks_exact_mut(n)) {
            for above in above.chunks_exact(n) {
                let factor = above[i].conj();
                in_lanes(&mut row[i..after], &above[i..after], |x, y| x - factor * y);
            }
        }
        if after < n {
            subtract((&mut part[after..], n), n - after, &factors, (&above[after..], n), depth);
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
        let block = if T::IS_BLOCKED && n > 2 * BLOCK { BLOCK } else { n };
        // The unknowns of the block that begins with number `nth`, and the remaining ones.
        let within = |nth: usize| match forward {
            true => nth..(nth + block).min(n),
            false => (n - nth).saturating_sub(block)..n - nth,
        };
        let after = |nth: usize| match forward {
            true => within(nth).end..n,
            false => 0..within(nth).start,
        };
        if system.left_side {
            let stride = b.columns();
            if stride == 0 {
                return;
            }
            let mut factors = InlineBuffer::new(n);
            let (mut many, mut solved_rows) = (Vec::new(), Vec::new());
            for start in (0..n).step_by(block) {
                let range = within(start);
                for i in (start..start + range.len()).map(order) {
                    if !system.unit_diagonal {
                        let diagonal = element(i, i);
                        b.row_mut(i).iter_mut().for_each(|x| *x = x.over(diagonal));
                    }
                    let (before, from) = b.elements_mut().split_at_mut(i * stride);
                    let (solved, after) = from.split_at_mut(stride);
                    let left = if forward { i + 1..range.end } else { range.start..i };
                    let (rest, solved) = match forward {
                        true => (&mut after[..left.len() * stride], &*solved),
                        false => (&mut before[left.start * stride..], &*solved),
                    };
                    let factors = factors.first(left.len());
                    let step = if transposed { 1 } else { n };
                    let first = if transposed { i * n + left.start } else { left.start * n + i };
                    let column = a.elements()[first.min(n * n)..].iter().step_by(step);
                    for (factor, &x) in factors.iter_mut().zip(column) {
                        *factor = if system.conjugated { x.conj() } else { x };
                    }
                    match *solved {
                        [y] => in_lanes(rest, factors, |x, factor| x - factor * y),
                        _ => subtract_product(rest, stride, 0..stride, factors, solved),
                    }
                }
                // From all other rows, in the order in which they were solved.
                let rest = after(start);
                let solved = (start..start + range.len()).map(order);
                many.clear();
                rest.clone().for_each(|i| many.extend(solved.clone().map(|j| element(i, j))));
                solved_rows.clear();
                solved.for_each(|j| solved_rows.extend_from_slice(b.row(j)));
                let rows = &mut b.elements_mut()[rest.start * stride..rest.end * stride];
                subtract((rows, stride), stride, &many, (&solved_rows, stride), range.len());
            }
            return;
        }
        // The factors of each solved element in a row.
        let mut factors = Matrix::zeros(n, n);
        for i in 0..n {
            let row = factors.row_mut(i)[left(i)].iter_mut();
            row.zip(left(i)).for_each(|(x, j)| *x = element(j, i));
        }
        let (mut many, mut rows) = (Vec::new(), Vec::new());
        for start in (0..n).step_by(block) {
            let range = within(start);
            let solved = (start..start + range.len()).map(order);
            for line in 0..b.rows() {
                let row = b.row_mut(line);
                for i in solved.clone() {
                    if !system.unit_diagonal {
                        row[i] = row[i].over(element(i, i));
                    }
                    let solved = row[i];
                    let left = if forward { i + 1..range.end } else { range.start..i };
                    let factors = &factors.row(i)[left.clone()];
                    in_lanes(&mut row[left], factors, |x, factor| x - factor * solved);
                }
            }
            let rest = after(start);
            if rest.is_empty() {
                continue;
            }
            many.clear();
            (0..b.rows()).for_each(|line| many.extend(solved.clone().map(|j| b[(line, j)])));
            rows.clear();
            solved.for_each(|j| rows.extend_from_slice(&factors.row(j)[rest.clone()]));
            let columns = rest.len();
            let b = (b.elements_mut().get_mut(rest.start..).unwrap_or_default(), n);
            subtract(b, columns, &many, (&rows, columns), range.len());
        }
    }
}

/// [`crate::getrf`].
pub(crate) fn getrf<T: Scalar>(a: &mut Matrix<T>) -> (Vec<i32>, i32) {
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
    const IS_WIDE: bool = T::DIMENSIONS == 1;

    #[inline(always)]
    fn run(self) {
        let Eliminate { a, pivots, info } = self;
        let (m, n) = (a.rows(), a.columns());
        let mut factors = InlineBuffer::new(m);
        let steps = m.min(n);
        // Large matrices lose the products of some rows together.
        let block = if T::IS_BLOCKED && steps > 2 * BLOCK { BLOCK } else { steps.max(1) };
        for start in (0..steps).step_by(block) {
            let end = (start + block).min(steps);
            let until = if block < steps { end } else { n };
            let mut is_regular = true;
            for k in start..end {
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
                    is_regular = false;
                    continue;
                }
                let factors = factors.first(m - 1 - k);
                for (below, factor) in rest.chunks_exact_mut(n).zip(&mut *factors) {
                    below[k] = below[k].over(diagonal);
                    *factor = below[k];
                }
                subtract_product(rest, n, k + 1..until, factors, &row[k + 1..until]);
            }
            if until < n {
                eliminate_rest(a, start..end, is_regular);
            }
        }
    }
}

/// Subtracts products of some rows from the columns after these of the rows below, with the factors
/// that stand there. A row without a pivot is not subtracted: not all rows of a block have one if
/// it is not regular.
#[inline(always)]
fn eliminate_rest<T: Scalar>(a: &mut Matrix<T>, rows: Range<usize>, is_regular: bool) {
    let n = a.columns();
    for k in rows.clone() {
        let (head, rest) = a.elements_mut().split_at_mut((k + 1) * n);
        let row = &head[k * n..];
        if row[k] == T::ZERO {
            continue;
        }
        let within = if is_regular { rows.end - k - 1 } else { usize::MAX };
        for below in rest.chunks_exact_mut(n).take(within) {
            let factor = below[k];
            in_lanes(&mut below[rows.end..], &row[rows.end..n], |x, y| x - factor * y);
        }
    }
    if !is_regular {
        return;
    }
    let (head, rest) = a.elements_mut().split_at_mut(rows.end * n);
    let columns = rows.end..n;
    let factors: Vec<T> =
        rest.chunks_exact(n).flat_map(|row| &row[rows.clone()]).copied().collect();
    let rest = rest.get_mut(columns.start..).unwrap_or_default();
    let above = &head[rows.start * n + columns.start..];
    subtract((rest, n), columns.len(), &factors, (above, n), rows.len());
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
