//! Plane rotations, and the closed forms for matrices of two rows.

use crate::matrix::{Matrix, Scalar, hypot};
use numerics::simd::{Doubles, DoublesArray, DoublesKernel, Isa};
use std::array::from_fn;

/// A rotation `[c s; -s c]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    pub c: f64,
    pub s: f64,
}

impl Rotation {
    /// The rotation that makes `(f, g)` be `(r, 0)`, and `r`, which has the sign of `f`. LAPACK:
    /// `lartg`.
    pub(crate) fn zeroing(f: f64, g: f64) -> (Rotation, f64) {
        if g == 0.0 {
            (Rotation { c: 1.0, s: 0.0 }, f)
        } else if f == 0.0 {
            (Rotation { c: 0.0, s: 1f64.copysign(g) }, g.abs())
        } else {
            let r = hypot(f, g).copysign(f);
            (Rotation { c: f.abs() / r.abs(), s: g / r }, r)
        }
    }

    /// Replaces row `i` by `c * i + s * j`, and row `j` by `c * j - s * i`.
    #[inline(always)]
    pub(crate) fn rows<T: Scalar>(self, matrix: &mut Matrix<T>, i: usize, j: usize) {
        let (x, y) = matrix.two_rows(i, j);
        // Arrays by value become vectors.
        let (fours, x) = x.as_chunks_mut::<4>();
        let (fours_of_y, y) = y.as_chunks_mut::<4>();
        for (x, y) in fours.iter_mut().zip(fours_of_y) {
            (*x, *y) = self.pairs(*x, *y);
        }
        for (x, y) in x.iter_mut().zip(y) {
            (*x, *y) = self.pair(*x, *y);
        }
    }

    /// As [`Rotation::rows`], for columns, in the first `rows` rows.
    pub(crate) fn columns<T: Scalar>(
        self,
        matrix: &mut Matrix<T>,
        i: usize,
        j: usize,
        rows: usize,
    ) {
        for row in 0..rows {
            let row = matrix.row_mut(row);
            (row[i], row[j]) = self.pair(row[i], row[j]);
        }
    }

    #[inline(always)]
    pub(crate) fn pair<T: Scalar>(self, x: T, y: T) -> (T, T) {
        (x * self.c + y * self.s, y * self.c - x * self.s)
    }

    /// [`Rotation::pair`] of each pair of elements.
    #[inline(always)]
    fn pairs<T: Scalar, const N: usize>(self, x: [T; N], y: [T; N]) -> ([T; N], [T; N]) {
        (
            from_fn(|lane| self.pair(x[lane], y[lane]).0),
            from_fn(|lane| self.pair(x[lane], y[lane]).1),
        )
    }

    /// The rotation in the other direction.
    pub(crate) fn inverse(self) -> Rotation {
        Rotation { c: self.c, s: -self.s }
    }
}

/// Number of elements from which rows are turned later, by many rotations at a time.
const MIN_DEFERRED: usize = 96;
/// Number of rotations for each row that are kept until then.
const KEPT_TURNS: usize = 32;

/// Rotations of the rows of a matrix in their order. All are applied to some columns, which a cache
/// close to the processor holds, before the next ones: columns are independent.
pub(crate) struct Turns<'a> {
    matrix: &'a mut Matrix<f64>,
    kept: Vec<(Rotation, usize, usize)>,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(matrix: &'a mut Matrix<f64>) -> Turns<'a> {
        Turns { matrix, kept: Vec::new() }
    }

    /// [`Rotation::rows`], now or later; without effect on a matrix without rows.
    #[inline(always)]
    pub(crate) fn turn(&mut self, rotation: Rotation, i: usize, j: usize) {
        if self.matrix.rows() > 0 {
            self.keep(rotation, i, j);
        }
    }

    #[inline(never)]
    fn keep(&mut self, rotation: Rotation, i: usize, j: usize) {
        if self.matrix.columns() < MIN_DEFERRED {
            return rotation.rows(self.matrix, i, j);
        }
        self.kept.push((rotation, i, j));
        if self.kept.len() >= KEPT_TURNS * self.matrix.rows() {
            self.finish();
        }
    }

    /// The matrix after all rotations.
    pub(crate) fn finish(&mut self) -> &mut Matrix<f64> {
        if !self.kept.is_empty() {
            let (matrix, turns, isa) = (&mut *self.matrix, &self.kept[..], Isa::best());
            if <[f64; 8]>::is_compiled(isa) {
                isa.run_doubles(VectorTurns::<8> { matrix, turns });
            } else if <[f64; 4]>::is_compiled(isa) {
                isa.run_doubles(VectorTurns::<4> { matrix, turns });
            } else {
                turns.iter().for_each(|&(rotation, i, j)| rotation.rows(matrix, i, j));
            }
            self.kept.clear();
        }
        self.matrix
    }
}

/// Rotations with vectors of `L` numbers.
struct VectorTurns<'a, const L: usize> {
    matrix: &'a mut Matrix<f64>,
    turns: &'a [(Rotation, usize, usize)],
}

/// Vectors of the columns that are turned together.
const WIDTH: usize = 3;

impl<const L: usize> DoublesKernel for VectorTurns<'_, L>
where
    [f64; L]: DoublesArray,
{
    type Array = [f64; L];

    #[inline(always)]
    fn run<V: Doubles<Array = [f64; L]>, Q: Doubles<Array = [f64; 4]>>(self) {
        let VectorTurns { matrix, turns } = self;
        let columns = matrix.columns();
        let mut panel = vec![[[0.0; L]; WIDTH]; matrix.rows()];
        for first in (0..columns).step_by(WIDTH * L) {
            let width = (WIDTH * L).min(columns - first);
            for (part, row) in panel.iter_mut().zip(matrix.elements().chunks_exact(columns)) {
                part.as_flattened_mut()[..width].copy_from_slice(&row[first..first + width]);
            }
            turn_panel::<V, L>(&mut panel, turns);
            let rows = matrix.elements_mut().chunks_exact_mut(columns);
            for (part, row) in panel.iter().zip(rows) {
                row[first..first + width].copy_from_slice(&part.as_flattened()[..width]);
            }
        }
    }
}

/// Applies rotations to rows. Most share a row with the next one, which stays in registers.
#[inline(always)]
fn turn_panel<V: Doubles<Array = [f64; L]>, const L: usize>(
    rows: &mut [[[f64; L]; WIDTH]],
    turns: &[(Rotation, usize, usize)],
) {
    let mut turns = turns.iter().copied().peekable();
    while let Some(mut turn) = turns.next() {
        // The second row of each is the first one of the next, or the other way round.
        let ascends = turns.peek().is_some_and(|next| next.1 == turn.2);
        let start = if ascends { turn.1 } else { turn.2 };
        let mut shared: [V; WIDTH] = from_fn(|part| V::read(&rows[start][part]));
        loop {
            let (Rotation { c, s }, i, j) = turn;
            let (c, s) = (V::splat(c), V::splat(s));
            let (to, from) = if ascends { (i, j) } else { (j, i) };
            let other: [V; WIDTH] = from_fn(|part| V::read(&rows[from][part]));
            for part in 0..WIDTH {
                let (x, y) = match ascends {
                    true => (shared[part], other[part]),
                    false => (other[part], shared[part]),
                };
                let (x, y) = (x * c + y * s, y * c - x * s);
                let (last, next) = if ascends { (x, y) } else { (y, x) };
                rows[to][part] = last.array();
                shared[part] = next;
            }
            match turns.peek() {
                Some(next) if (if ascends { next.1 } else { next.2 }) == from => {
                    turn = *next;
                    turns.next();
                }
                _ => {
                    for part in 0..WIDTH {
                        rows[from][part] = shared[part].array();
                    }
                    break;
                }
            }
        }
    }
}

/// `-1` or `1`, with the sign of `x`.
pub(crate) fn sign(x: f64) -> f64 {
    1f64.copysign(x)
}

/// The eigenvalues of `[a b; b c]`, the one of larger absolute value first, and the rotation whose
/// first row is its eigenvector. LAPACK: `laev2`.
pub(crate) fn symmetric_pair(a: f64, b: f64, c: f64) -> (f64, f64, Rotation) {
    let (sum, difference, twice) = (a + c, a - c, b + b);
    let (more, less) = if a.abs() > c.abs() { (a, c) } else { (c, a) };
    let root = hypot(difference, twice);
    let second = if sum < 0.0 { -1.0 } else { 1.0 };
    let (first, other) = if sum == 0.0 {
        (0.5 * root, -0.5 * root)
    } else {
        let first = 0.5 * (sum + second * root);
        (first, (more / first) * less - (b / first) * b)
    };
    let upper = if difference >= 0.0 { 1.0 } else { -1.0 };
    let cs = difference + upper * root;
    let rotation = if cs.abs() > twice.abs() {
        let cotangent = -twice / cs;
        let s = 1.0 / (1.0 + cotangent * cotangent).sqrt();
        Rotation { c: cotangent * s, s }
    } else if twice == 0.0 {
        Rotation { c: 1.0, s: 0.0 }
    } else {
        let tangent = -cs / twice;
        let c = 1.0 / (1.0 + tangent * tangent).sqrt();
        Rotation { c, s: tangent * c }
    };
    let rotation =
        if second == upper { Rotation { c: -rotation.s, s: rotation.c } } else { rotation };
    (first, other, rotation)
}

/// The singular values of `[f g; 0 h]`, smaller one first. LAPACK: `las2`.
pub(crate) fn singular_pair_values(f: f64, g: f64, h: f64) -> (f64, f64) {
    let (f, g, h) = (f.abs(), g.abs(), h.abs());
    let (low, high) = (f.min(h), f.max(h));
    if low == 0.0 {
        return (0.0, hypot(high, g));
    }
    let (sum, difference) = (1.0 + low / high, (high - low) / high);
    if g < high {
        let square = (g / high) * (g / high);
        let c = 2.0 / ((sum * sum + square).sqrt() + (difference * difference + square).sqrt());
        (low * c, high / c)
    } else {
        let ratio = high / g;
        if ratio == 0.0 {
            return (low * high / g, g);
        }
        let (x, y) = (sum * ratio, difference * ratio);
        let c = 1.0 / ((1.0 + x * x).sqrt() + (1.0 + y * y).sqrt());
        (2.0 * (low * c) * ratio, g / (c + c))
    }
}

/// The singular values of `[f g; 0 h]`, larger one first and with signs, and the rotations `left`
/// and `right` that make `left * [f g; 0 h] * right^T` the diagonal matrix of them. LAPACK:
/// `lasv2`.
pub(crate) fn singular_pair(f: f64, g: f64, h: f64) -> (f64, f64, Rotation, Rotation) {
    let swapped = h.abs() > f.abs();
    let (ft, ht) = if swapped { (h, f) } else { (f, h) };
    let (fa, ga, ha) = (ft.abs(), g.abs(), ht.abs());
    let (small, large, left, right);
    if ga == 0.0 {
        (small, large) = (ha, fa);
        (left, right) = (Rotation { c: 1.0, s: 0.0 }, Rotation { c: 1.0, s: 0.0 });
    } else if ga > fa && fa / ga < f64::EPSILON / 2.0 {
        large = ga;
        small = if ha > 1.0 { fa / (ga / ha) } else { (fa / ga) * ha };
        left = Rotation { c: 1.0, s: ht / g };
        right = Rotation { c: ft / g, s: 1.0 };
    } else {
        let difference = fa - ha;
        let l = if difference == fa { 1.0 } else { difference / fa };
        let m = g / ft;
        let t = 2.0 - l;
        let (mm, tt) = (m * m, t * t);
        let s = (tt + mm).sqrt();
        let r = if l == 0.0 { m.abs() } else { (l * l + mm).sqrt() };
        let a = 0.5 * (s + r);
        (small, large) = (ha / a, fa * a);
        let t = match (mm == 0.0, l == 0.0) {
            (false, _) => (m / (s + t) + m / (r + l)) * (1.0 + a),
            (true, false) => g / difference.copysign(ft) + m / t,
            (true, true) => 2.0 * sign(ft) * sign(g),
        };
        let l = (t * t + 4.0).sqrt();
        right = Rotation { c: 2.0 / l, s: t / l };
        left = Rotation { c: (right.c + right.s * m) / a, s: (ht / ft) * right.s / a };
    }
    let (left, right) = if swapped {
        (Rotation { c: right.s, s: right.c }, Rotation { c: left.s, s: left.c })
    } else {
        (left, right)
    };
    let of_large = if ga > fa {
        sign(right.s) * sign(left.c) * sign(g)
    } else if swapped {
        sign(right.s) * sign(left.s) * sign(h)
    } else {
        sign(right.c) * sign(left.c) * sign(f)
    };
    (large.copysign(of_large), small.copysign(of_large * sign(f) * sign(h)), left, right)
}

/// A matrix of two rows in the standard form of real Schur factors: `[a b; c d]`, where `c` is
/// zero, or `a` equals `d` and `b` and `c` have different signs; with the rotation that made it so.
/// LAPACK: `lanv2`.
pub(crate) fn standard_pair([a, b, c, d]: [f64; 4]) -> ([f64; 4], Rotation) {
    let none = Rotation { c: 1.0, s: 0.0 };
    if c == 0.0 {
        return ([a, b, c, d], none);
    }
    if b == 0.0 {
        return ([d, -c, 0.0, a], Rotation { c: 0.0, s: 1.0 });
    }
    if a - d == 0.0 && sign(b) != sign(c) {
        return ([a, b, c, d], none);
    }
    let difference = a - d;
    let p = 0.5 * difference;
    let most = b.abs().max(c.abs());
    let least = b.abs().min(c.abs()) * sign(b) * sign(c);
    let scale = p.abs().max(most);
    let z = (p / scale) * p + (most / scale) * least;
    if z >= 4.0 * f64::EPSILON {
        // Two real eigenvalues.
        let z = p + (scale.sqrt() * z.sqrt()).copysign(p);
        let tau = hypot(c, z);
        return ([d + z, b - c, 0.0, d - (most / z) * least], Rotation { c: z / tau, s: c / tau });
    }
    // Complex ones, or two real ones that are nearly equal: make the diagonal equal.
    let sigma = b + c;
    let tau = hypot(sigma, difference);
    let cs = (0.5 * (1.0 + sigma.abs() / tau)).sqrt();
    let sn = -(p / (tau * cs)) * sign(sigma);
    let (aa, bb, cc, dd) = (a * cs + b * sn, b * cs - a * sn, c * cs + d * sn, d * cs - c * sn);
    let (a, b, c, d) = (aa * cs + cc * sn, bb * cs + dd * sn, cc * cs - aa * sn, dd * cs - bb * sn);
    let mean = 0.5 * (a + d);
    let rotation = Rotation { c: cs, s: sn };
    if c == 0.0 {
        return ([mean, b, c, mean], rotation);
    }
    if b == 0.0 {
        return ([mean, -c, 0.0, mean], Rotation { c: -sn, s: cs });
    }
    if sign(b) != sign(c) {
        return ([mean, b, c, mean], rotation);
    }
    let (sab, sac) = (b.abs().sqrt(), c.abs().sqrt());
    let p = (sab * sac).copysign(c);
    let tau = 1.0 / (b + c).abs().sqrt();
    let (cs1, sn1) = (sab * tau, sac * tau);
    let rotation = Rotation { c: cs * cs1 - sn * sn1, s: cs * sn1 + sn * cs1 };
    ([mean + p, b - c, 0.0, mean - p], rotation)
}
