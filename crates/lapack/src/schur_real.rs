//! QR iteration of real matrices, with double shifts. LAPACK: `lahqr`.

use crate::NoConvergence;
use crate::householder::reflector;
use crate::matrix::{Matrix, Precision};
use crate::rotation::standard_pair;
use numerics::simd::{Isa, Kernel};
use std::ops::Range;

/// Steps for each eigenvalue after which the iteration gives up, as in LAPACK.
pub(crate) const MAX_STEPS: usize = 30;

/// Number of steps without success after which exceptional shifts are tried.
pub(crate) const PATIENCE: usize = 10;

/// Factors of exceptional shifts.
pub(crate) const EXCEPTIONAL: [f64; 2] = [0.75, -0.4375];

/// Parameters of an iteration.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The first row that is not triangular.
    pub low: usize,
    /// The row after the last one that is not triangular.
    pub high: usize,
    /// The spacing of numbers at one.
    pub ulp: f64,
    /// Numbers up to this size are negligible.
    pub tiny: f64,
}

impl Limits {
    pub(crate) fn new(rows: Range<usize>, precision: Precision) -> Limits {
        Limits {
            low: rows.start,
            high: rows.end,
            ulp: precision.spacing(),
            tiny: precision.tiny(rows.len()),
        }
    }
}

/// The test of M. Ahues and F. Tisseur, 1997: the absolute values of a subdiagonal element, of the
/// one opposite to it, of the diagonal element below and of the difference of the two next to it on
/// the diagonal.
pub(crate) fn is_negligible(
    below: f64,
    above: f64,
    diagonal: f64,
    difference: f64,
    limits: Limits,
) -> bool {
    let (ab, ba) = (below.max(above), below.min(above));
    let (aa, bb) = (diagonal.max(difference), diagonal.min(difference));
    let s = aa + ab;
    ba * (ab / s) <= limits.tiny.max(limits.ulp * (bb * (aa / s)))
}

pub(crate) fn iterate(
    h: &mut Matrix<f64>,
    z: &mut Matrix<f64>,
    rows: Range<usize>,
    precision: Precision,
) -> Result<(), NoConvergence> {
    let n = h.rows();
    let limits = Limits::new(rows, precision);
    let Limits { low, high, .. } = limits;
    // The columns of `z` are combined: elements of rows are neighbours.
    let mut adjoint = z.adjoint();
    let mut steps_left = MAX_STEPS * (high - low).max(10);
    // `end` eigenvalues from `low` on are not known yet.
    let mut end = high;
    while end > low {
        let i = end - 1;
        let mut failures = 0;
        let l = loop {
            let l = (low + 1..=i).rev().find(|&k| is_zero(h, k, limits)).unwrap_or(low);
            if l > low {
                h[(l, l - 1)] = 0.0;
            }
            if l + 1 >= i {
                break l;
            }
            if steps_left == 0 {
                return Err(NoConvergence);
            }
            steps_left -= 1;
            failures += 1;
            step(h, &mut adjoint, l, i, failures, limits.ulp);
        };
        if l + 1 == i {
            let pair = [h[(l, l)], h[(l, i)], h[(i, l)], h[(i, i)]];
            let ([a, b, c, d], rotation) = standard_pair(pair);
            (h[(l, l)], h[(l, i)], h[(i, l)], h[(i, i)]) = (a, b, c, d);
            for j in end..n {
                (h[(l, j)], h[(i, j)]) = rotation.pair(h[(l, j)], h[(i, j)]);
            }
            rotation.columns(h, l, i, l);
            rotation.rows(&mut adjoint, l, i);
        }
        end = l;
    }
    *z = adjoint.adjoint();
    Ok(())
}

/// True if the element before the diagonal in row `k` is negligible.
fn is_zero(h: &Matrix<f64>, k: usize, limits: Limits) -> bool {
    let below = h[(k, k - 1)].abs();
    if below <= limits.tiny {
        return true;
    }
    let mut scale = h[(k - 1, k - 1)].abs() + h[(k, k)].abs();
    if scale == 0.0 {
        if k >= limits.low + 2 {
            scale += h[(k - 1, k - 2)].abs();
        }
        if k + 1 < limits.high {
            scale += h[(k + 1, k)].abs();
        }
    }
    let difference = (h[(k - 1, k - 1)] - h[(k, k)]).abs();
    below <= limits.ulp * scale
        && is_negligible(below, h[(k - 1, k)].abs(), h[(k, k)].abs(), difference, limits)
}

/// The two shifts: real parts, and the imaginary part of the first one.
fn shifts([h11, h12, h21, h22]: [f64; 4]) -> (f64, f64, f64) {
    let s = h11.abs() + h12.abs() + h21.abs() + h22.abs();
    if s == 0.0 {
        return (0.0, 0.0, 0.0);
    }
    let [h11, h12, h21, h22] = [h11, h12, h21, h22].map(|x| x / s);
    let mean = (h11 + h22) / 2.0;
    let determinant = (h11 - mean) * (h22 - mean) - h12 * h21;
    let root = determinant.abs().sqrt();
    if determinant >= 0.0 {
        return (mean * s, mean * s, root * s);
    }
    // Real: the one nearer to the end of the diagonal, twice.
    let (first, second) = (mean + root, mean - root);
    let shift = if (first - h22).abs() <= (second - h22).abs() { first } else { second } * s;
    (shift, shift, 0.0)
}

/// A step of QR iteration on the rows `l..=i`, given the adjoint of the vectors.
fn step(h: &mut Matrix<f64>, z: &mut Matrix<f64>, l: usize, i: usize, failures: usize, ulp: f64) {
    let (n, vectors) = (h.rows(), z.columns());
    let exceptional = |s: f64, d: f64| {
        let diagonal = EXCEPTIONAL[0] * s + d;
        [diagonal, EXCEPTIONAL[1] * s, s, diagonal]
    };
    let (rt1, rt2, im) = shifts(if failures.is_multiple_of(2 * PATIENCE) {
        exceptional(h[(i, i - 1)].abs() + h[(i - 1, i - 2)].abs(), h[(i, i)])
    } else if failures.is_multiple_of(PATIENCE) {
        exceptional(h[(l + 1, l)].abs() + h[(l + 2, l + 1)].abs(), h[(l, l)])
    } else {
        [h[(i - 1, i - 1)], h[(i - 1, i)], h[(i, i - 1)], h[(i, i)]]
    });
    // Two small elements below the diagonal in a row end the block as well.
    let mut v = [0.0; 3];
    let mut m = i - 2;
    loop {
        let (below, d) = (h[(m + 1, m)], h[(m, m)]);
        let s = (d - rt2).abs() + im.abs() + below.abs();
        let ratio = below / s;
        v[0] = ratio * h[(m, m + 1)] + (d - rt1) * ((d - rt2) / s) + im * (im / s);
        v[1] = ratio * (d + h[(m + 1, m + 1)] - rt1 - rt2);
        v[2] = ratio * h[(m + 2, m + 1)];
        let s = v[0].abs() + v[1].abs() + v[2].abs();
        v = v.map(|x| x / s);
        if m == l {
            break;
        }
        let around = h[(m - 1, m - 1)].abs() + d.abs() + h[(m + 1, m + 1)].abs();
        if h[(m, m - 1)].abs() * (v[1].abs() + v[2].abs()) <= ulp * v[0].abs() * around {
            break;
        }
        m -= 1;
    }
    for k in m..i {
        let size = 3.min(i - k + 1);
        if k > m {
            for (r, v) in v[..size].iter_mut().enumerate() {
                *v = h[(k + r, k - 1)];
            }
        }
        let mut alpha = v[0];
        let tau = reflector(&mut alpha, &mut v[1..size]);
        if k > m {
            h[(k, k - 1)] = alpha;
            for r in 1..size {
                h[(k + r, k - 1)] = 0.0;
            }
        } else if m > l {
            h[(k, k - 1)] *= 1.0 - tau;
        }
        v[0] = 1.0;
        let v = &v[..size];
        turn_rows(h, k, k..n, v, tau);
        turn_columns(h, 0..(k + 4).min(i + 1), k, v, tau);
        turn_rows(z, k, 0..vectors, v, tau);
    }
}

/// Reflects the two or three rows from `k` on by `v`, in some columns.
fn turn_rows(a: &mut Matrix<f64>, k: usize, columns: Range<usize>, v: &[f64], tau: f64) {
    let n = a.columns();
    let rows = &mut a.elements_mut()[k * n..(k + v.len()) * n];
    Isa::best().run(TurnRows { rows, n, columns, v, tau });
}

struct TurnRows<'a> {
    rows: &'a mut [f64],
    /// Elements of a row.
    n: usize,
    columns: Range<usize>,
    v: &'a [f64],
    tau: f64,
}

impl Kernel for TurnRows<'_> {
    const IS_WIDE: bool = true;

    #[inline(always)]
    fn run(self) {
        let TurnRows { rows, n, columns, v, tau } = self;
        let (first, rest) = rows.split_at_mut(n);
        let (second, third) = rest.split_at_mut(n);
        let (first, second) = (&mut first[columns.clone()], &mut second[columns.clone()]);
        match *v {
            [v0, v1] => {
                let factors = [tau * v0, tau * v1];
                for (x, y) in first.iter_mut().zip(second) {
                    let sum = v0 * *x + v1 * *y;
                    *x -= sum * factors[0];
                    *y -= sum * factors[1];
                }
            }
            [v0, v1, v2] => {
                let factors = [tau * v0, tau * v1, tau * v2];
                for ((x, y), z) in first.iter_mut().zip(second).zip(&mut third[columns]) {
                    let sum = v0 * *x + v1 * *y + v2 * *z;
                    *x -= sum * factors[0];
                    *y -= sum * factors[1];
                    *z -= sum * factors[2];
                }
            }
            _ => {}
        }
    }
}

fn turn_columns(a: &mut Matrix<f64>, rows: Range<usize>, k: usize, v: &[f64], tau: f64) {
    for j in rows {
        let row = &mut a.row_mut(j)[k..k + v.len()];
        let sum: f64 = row.iter().zip(v).map(|(x, v)| x * v).sum();
        row.iter_mut().zip(v).for_each(|(x, v)| *x -= sum * (tau * v));
    }
}
