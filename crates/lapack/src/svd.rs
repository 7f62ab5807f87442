//! Singular values.

use crate::NoConvergence;
use crate::householder::{
    MatrixSide, Reflections, geqrf, ormqr, reflect_column, reflect_left, reflect_right, reflector,
};
use crate::matrix::{Matrix, Precision, Scalar};
use crate::rotation::{Rotation, Turns, sign, singular_pair, singular_pair_values};

/// Steps for each singular value and other value of it after which the iteration gives up, as in
/// LAPACK.
const MAX_STEPS: usize = 6;

/// The number of singular vectors to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// None.
    None,
    /// The vectors of the singular values.
    Some,
    /// A square matrix of vectors, by rows (columns).
    All,
}

/// `a = u * diag(values) * v^H`.
#[derive(Clone, Debug, PartialEq)]
pub struct Svd<T> {
    /// The singular values, descending.
    pub values: Vec<f64>,
    /// The left singular vectors in its columns; no columns if not requested.
    pub u: Matrix<T>,
    /// The right singular vectors, conjugated, in its rows; no rows if not requested.
    pub vh: Matrix<T>,
}

/// The LAPACK routine whose signs to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// `gesdd`, which divides large problems.
    DivideAndConquer,
    /// `gesvd`, which iterates.
    Iteration,
}

impl Driver {
    /// From this ratio of the sides on a QR decomposition comes first.
    fn ratio(self, is_complex: bool) -> f64 {
        match (self, is_complex) {
            (Driver::Iteration, _) => 1.6,
            (Driver::DivideAndConquer, false) => 11.0 / 6.0,
            (Driver::DivideAndConquer, true) => 17.0 / 9.0,
        }
    }
}

/// [`crate::gesdd`].
pub(crate) fn gesdd<T: Scalar>(
    mut a: Matrix<T>,
    vectors: Vectors,
    driver: Driver,
    precision: Precision,
) -> Result<Svd<T>, NoConvergence> {
    if !a.is_finite() {
        return Err(NoConvergence);
    }
    let scale = a.normalize();
    let (m, n) = (a.rows(), a.columns());
    let (many, few) = (m.max(n), m.min(n));
    let tall = m >= n;
    if !tall {
        a = a.adjoint();
    }
    let mut work = a;
    let count = match vectors {
        Vectors::None => 0,
        Vectors::Some => few,
        Vectors::All => many,
    };
    let is_long = many >= (few as f64 * driver.ratio(T::DIMENSIONS == 2)) as usize;
    let core = if is_long {
        let taus = geqrf(&mut work);
        let mut r = work.leading(few, few);
        for i in 0..few {
            r.row_mut(i)[..i].fill(T::ZERO);
        }
        let bidiagonal = Bidiagonal::new(if tall { r } else { r.adjoint() });
        let core = bidiagonal.decompose(false, count > 0, driver, precision)?;
        let u = bidiagonal.times_q(core.u, count.min(few));
        let (first, second) = if tall { (u, core.v) } else { (core.v, u) };
        let mut first = padded(first, many, count);
        ormqr(&work, &taus, &mut first, MatrixSide::Left, false);
        Core { values: core.values, u: first, v: second }
    } else {
        let bidiagonal = Bidiagonal::new(work);
        let core = bidiagonal.decompose(!tall, count > 0, driver, precision)?;
        Core { u: bidiagonal.times_q(core.u, count), ..core }
    };
    // A wide matrix has the vectors of its adjoint: a^H = u s v^H is a = v s u^H.
    let (u, v) = if tall { (core.u, core.v) } else { (core.v, core.u) };
    let values = core.values.into_iter().map(|x| x / scale).collect();
    Ok(Svd { values, u, vh: v.adjoint() })
}

/// A square matrix in the upper corner of `rows x columns` with ones on the rest of the diagonal.
fn padded<T: Scalar>(square: Matrix<T>, rows: usize, columns: usize) -> Matrix<T> {
    let mut result = Matrix::identity(rows, columns);
    for i in 0..square.rows().min(if columns > 0 { rows } else { 0 }) {
        result.row_mut(i)[..square.columns()].copy_from_slice(square.row(i));
    }
    result
}

/// `a = q * b * p^H`, with `b` real and upper bidiagonal, of a matrix with no more columns than
/// rows. LAPACK: `gebrd`.
struct Bidiagonal<T> {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
    /// The vectors of the reflections: of `q` from the diagonal down, of `p` right of it. The first
    /// element of each is one.
    vectors: Matrix<T>,
    /// The factors of the reflections whose product is `q`.
    q: Vec<T>,
    /// The factors of the reflections whose product is `p`.
    p: Vec<T>,
}

/// Singular values, with left and right vectors in columns.
struct Core<T> {
    values: Vec<f64>,
    u: Matrix<T>,
    v: Matrix<T>,
}

impl<T: Scalar> Bidiagonal<T> {
    fn new(mut a: Matrix<T>) -> Bidiagonal<T> {
        let (m, n) = (a.rows(), a.columns());
        let (mut diagonal, mut beside) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut q, mut p) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut v = Vec::with_capacity(m);
        for k in 0..n {
            let tau = reflect_column(&mut a, k..m, k, &mut v);
            reflect_left(&mut a, k, k + 1..n, &v, tau.conj());
            diagonal.push(a[(k, k)].re());
            q.push(tau);
            v.clear();
            v.extend(a.row(k)[k + 1..].iter().map(|x| x.conj()));
            let Some((alpha, x)) = v.split_first_mut() else { continue };
            let tau = reflector(alpha, x);
            beside.push(alpha.re());
            *alpha = T::ONE;
            a.row_mut(k)[k + 1..].copy_from_slice(&v);
            reflect_right(&mut a, k + 1..m, k + 1, &v, tau);
            p.push(tau);
        }
        Bidiagonal { diagonal, beside, vectors: a, q, p }
    }

    /// The singular value decomposition; of the adjoint, in a way, if `lower`: then `u` and `v` are
    /// such that the adjoint is `v * s * u^H`, with the signs that LAPACK gives to a lower
    /// bidiagonal matrix. `u` lacks the factor `q`.
    fn decompose(
        &self,
        lower: bool,
        vectors: bool,
        driver: Driver,
        precision: Precision,
    ) -> Result<Core<T>, NoConvergence> {
        let n = self.diagonal.len();
        let count = if vectors { n } else { 0 };
        let (mut d, mut e) = (self.diagonal.clone(), self.beside.clone());
        // Rows are vectors.
        let (mut u, mut v) = (Matrix::identity(count, n), Matrix::identity(count, n));
        let mut turns = Vec::new();
        if lower {
            for i in 0..n.saturating_sub(1) {
                let (rotation, r) = Rotation::zeroing(d[i], e[i]);
                d[i] = r;
                e[i] = rotation.s * d[i + 1];
                d[i + 1] *= rotation.c;
                turns.push(rotation);
            }
        }
        let (turns_u, turns_v) = (Turns::new(&mut u), Turns::new(&mut v));
        Iteration { d: &mut d, e: &mut e, u: turns_u, v: turns_v, precision }.run()?;
        let (mut left, mut right) = (u.adjoint(), v.adjoint());
        for (i, rotation) in turns.iter().enumerate().rev() {
            if vectors {
                rotation.inverse().rows(&mut left, i, i + 1);
            }
        }
        if n == 1 && vectors && driver == Driver::DivideAndConquer && self.diagonal[0] < 0.0 {
            // A single value gives its sign to the left.
            left.scale(-1.0);
            right.scale(-1.0);
        }
        if lower {
            std::mem::swap(&mut left, &mut right);
        }
        let lift = |z: Matrix<f64>| {
            let (rows, columns) = (z.rows(), z.columns());
            Matrix::new(rows, columns, z.into_elements().into_iter().map(T::real).collect())
        };
        let mut v = lift(right);
        if vectors {
            let p = Reflections { vectors: &self.vectors, offset: 1, taus: &self.p };
            p.reflect(&mut v, 0..n, true, false);
        }
        Ok(Core { values: d, u: lift(left), v })
    }

    /// The first `count` columns of `q * u`.
    fn times_q(&self, u: Matrix<T>, count: usize) -> Matrix<T> {
        let mut u = padded(u, self.vectors.rows(), count);
        ormqr(&self.vectors, &self.q, &mut u, MatrixSide::Left, false);
        u
    }
}

/// QR iteration on an upper bidiagonal matrix: `d` on the diagonal, `e` above it, whose rotations
/// turn the rows of `u` and `v`.
///
/// J. Demmel and W. Kahan, *Accurate Singular Values of Bidiagonal Matrices*, 1990. LAPACK:
/// `bdsqr`.
struct Iteration<'a> {
    d: &'a mut [f64],
    e: &'a mut [f64],
    u: Turns<'a>,
    v: Turns<'a>,
    precision: Precision,
}

/// A block from `low` to `high` read from one of its ends. Read from its end it is the transpose:
/// left and right change places.
#[derive(Clone, Copy, PartialEq)]
struct SingularSpan {
    low: usize,
    high: usize,
    from_end: bool,
}

impl SingularSpan {
    fn at(self, k: usize) -> usize {
        if self.from_end { self.high - k } else { self.low + k }
    }

    /// The element between `k` and `k + 1`.
    fn beside(self, k: usize) -> usize {
        if self.from_end { self.high - k - 1 } else { self.low + k }
    }

    fn last(self) -> usize {
        self.high - self.low
    }
}

impl Iteration<'_> {
    fn run(mut self) -> Result<(), NoConvergence> {
        let n = self.d.len();
        let roundoff = self.precision.roundoff;
        // As LAPACK: between 10 and 100 roundoffs, by the eighth root.
        let tolerance = (1.0 / roundoff).sqrt().sqrt().sqrt().clamp(10.0, 100.0) * roundoff;
        let threshold = self.threshold(tolerance);
        let mut steps_left = MAX_STEPS * n * n;
        let mut previous: Option<SingularSpan> = None;
        let mut high = n.saturating_sub(1);
        while high > 0 {
            let cut = (0..high).rev().find(|&i| self.e[i].abs() <= threshold);
            if let Some(cut) = cut {
                self.e[cut] = 0.0;
            }
            let low = cut.map_or(0, |cut| cut + 1);
            if low == high {
                high -= 1;
                continue;
            }
            if low + 1 == high {
                let (large, small, left, right) =
                    singular_pair(self.d[low], self.e[low], self.d[high]);
                (self.d[low], self.e[low], self.d[high]) = (large, 0.0, small);
                self.v.turn(right, low, high);
                self.u.turn(left, low, high);
                high = low.saturating_sub(1);
                continue;
            }
            // A block that is not part of the last one is read from its larger end.
            let from_end = match previous {
                Some(last) if low <= last.high && high >= last.low => last.from_end,
                _ => self.d[low].abs() < self.d[high].abs(),
            };
            let span = SingularSpan { low, high, from_end };
            let Some(smallest) = self.deflate(span, tolerance) else { continue };
            previous = Some(span);
            let largest = self.d[low..=high]
                .iter()
                .chain(&self.e[low..high])
                .fold(0.0, |m: f64, x| m.max(x.abs()));
            let relative = n as f64 * tolerance * (smallest / largest);
            let shift =
                if relative <= roundoff.max(0.01 * tolerance) { 0.0 } else { self.shift(span) };
            if steps_left < span.last() {
                return Err(NoConvergence);
            }
            steps_left -= span.last();
            if shift == 0.0 {
                self.step_without_shift(span);
            } else {
                self.step(span, shift);
            }
            let end = span.beside(span.last() - 1);
            if self.e[end].abs() <= threshold {
                self.e[end] = 0.0;
            }
        }
        self.sort();
        Ok(())
    }

    /// Elements beside the diagonal below this are zero.
    fn threshold(&self, tolerance: f64) -> f64 {
        let n = self.d.len();
        let Some(first) = self.d.first() else { return 0.0 };
        let mut mu = first.abs();
        let mut smallest = mu;
        for (d, e) in self.d[1..].iter().zip(self.e.iter()) {
            if smallest == 0.0 {
                break;
            }
            mu = d.abs() * (mu / (mu + e.abs()));
            smallest = smallest.min(mu);
        }
        let steps = (MAX_STEPS * n) as f64 * n as f64;
        (tolerance * smallest / (n as f64).sqrt()).max(steps * self.precision.smallest)
    }

    /// A lower bound of the smallest singular value of the block; `None` if the block was divided
    /// at a negligible element.
    fn deflate(&mut self, span: SingularSpan, tolerance: f64) -> Option<f64> {
        let last = span.last();
        let end = span.beside(last - 1);
        if self.e[end].abs() <= tolerance * self.d[span.at(last)].abs() {
            self.e[end] = 0.0;
            return None;
        }
        let mut mu = self.d[span.at(0)].abs();
        let mut smallest = mu;
        for k in 0..last {
            let beside = self.e[span.beside(k)].abs();
            if beside <= tolerance * mu {
                self.e[span.beside(k)] = 0.0;
                return None;
            }
            mu = self.d[span.at(k + 1)].abs() * (mu / (mu + beside));
            smallest = smallest.min(mu);
        }
        Some(smallest)
    }

    /// A shift, or zero where it would be negligible.
    fn shift(&self, span: SingularSpan) -> f64 {
        let last = span.last();
        let (f, h) = (self.d[span.at(last - 1)], self.d[span.at(last)]);
        let (shift, _) = singular_pair_values(f, self.e[span.beside(last - 1)], h);
        let first = self.d[span.at(0)].abs();
        let negligible = first > 0.0 && (shift / first) * (shift / first) < self.precision.roundoff;
        if negligible { 0.0 } else { shift }
    }

    /// Turns the vectors of elements `k` and `k + 1` of the block.
    fn rotate(&mut self, span: SingularSpan, k: usize, right: Rotation, left: Rotation) {
        let (right, left) = if span.from_end { (left, right) } else { (right, left) };
        self.v.turn(right, span.at(k), span.at(k + 1));
        self.u.turn(left, span.at(k), span.at(k + 1));
    }

    fn step_without_shift(&mut self, span: SingularSpan) {
        let last = span.last();
        let (mut cs, mut old) = (1.0, Rotation { c: 1.0, s: 0.0 });
        for k in 0..last {
            let (right, r) = Rotation::zeroing(self.d[span.at(k)] * cs, self.e[span.beside(k)]);
            if k > 0 {
                self.e[span.beside(k - 1)] = old.s * r;
            }
            let (left, d) = Rotation::zeroing(old.c * r, self.d[span.at(k + 1)] * right.s);
            self.d[span.at(k)] = d;
            (cs, old) = (right.c, left);
            self.rotate(span, k, right, left);
        }
        let h = self.d[span.at(last)] * cs;
        self.d[span.at(last)] = h * old.c;
        self.e[span.beside(last - 1)] = h * old.s;
    }

    fn step(&mut self, span: SingularSpan, shift: f64) {
        let last = span.last();
        let first = self.d[span.at(0)];
        let mut f = (first.abs() - shift) * (sign(first) + shift / first);
        let mut g = self.e[span.beside(0)];
        let (mut here, mut between) = (first, g);
        for k in 0..last {
            let (right, r) = Rotation::zeroing(f, g);
            if k > 0 {
                self.e[span.beside(k - 1)] = r;
            }
            let next = self.d[span.at(k + 1)];
            let (turned, beside) = right.pair(here, between);
            let (left, r) = Rotation::zeroing(turned, right.s * next);
            self.d[span.at(k)] = r;
            (f, here) = left.pair(beside, right.c * next);
            if k + 1 < last {
                let beyond = self.e[span.beside(k + 1)];
                (g, between) = (left.s * beyond, left.c * beyond);
            }
            self.rotate(span, k, right, left);
        }
        self.d[span.at(last)] = here;
        self.e[span.beside(last - 1)] = f;
    }

    /// Makes all values positive and puts them in descending order.
    fn sort(&mut self) {
        let n = self.d.len();
        let (u, v) = (self.u.finish(), self.v.finish());
        let vectors = u.rows() > 0;
        for i in 0..n {
            if self.d[i] < 0.0 || (self.d[i] == 0.0 && self.d[i].is_sign_negative()) {
                self.d[i] = -self.d[i];
                if vectors {
                    v.row_mut(i).iter_mut().for_each(|x| *x = -*x);
                }
            }
        }
        for end in (1..n).rev() {
            // The smallest of the rest goes to its end.
            let smallest =
                (0..=end).fold(0, |best, j| if self.d[j] <= self.d[best] { j } else { best });
            if smallest != end {
                self.d.swap(smallest, end);
                if vectors {
                    v.swap_rows(smallest, end);
                    u.swap_rows(smallest, end);
                }
            }
        }
    }
}
