//! QR iteration of complex matrices, with single shifts. LAPACK: `lahqr`.
//!
//! The last step for an eigenvalue makes a subdiagonal element real when only rounding errors are
//! left of it, so the phase of a Schur vector depends on implementation and machine.

use crate::NoConvergence;
use crate::householder::reflector;
use crate::matrix::{Matrix, MatrixEntry, Precision, Scalar};
use crate::schur_real::{EXCEPTIONAL, Limits, MAX_STEPS, PATIENCE, is_negligible};
use num_complex::Complex64;
use std::ops::Range;

/// Scales row `i` from column `from` on, and column `i` before row `rows`, by a number and its
/// conjugate, whose absolute value is one; and column `i` of `z` by the latter.
fn rephase(
    h: &mut Matrix<Complex64>,
    z: &mut Matrix<Complex64>,
    i: usize,
    from: usize,
    rows: usize,
    phase: Complex64,
) {
    for x in &mut h.row_mut(i)[from..] {
        *x *= phase;
    }
    for j in 0..rows {
        h[(j, i)] *= phase.conj();
    }
    for j in 0..z.rows() {
        z[(j, i)] *= phase.conj();
    }
}

pub(crate) fn iterate(
    h: &mut Matrix<Complex64>,
    z: &mut Matrix<Complex64>,
    rows: Range<usize>,
    precision: Precision,
) -> Result<(), NoConvergence> {
    let limits = Limits::new(rows, precision);
    let Limits { low, high, .. } = limits;
    // The iteration keeps the elements below the diagonal real.
    for i in low + 1..high {
        let below = h[(i, i - 1)];
        if below.im != 0.0 {
            let phase = (below / below.abs1()).conj();
            let phase = phase / Scalar::abs(phase);
            h[(i, i - 1)] = Complex64::real(Scalar::abs(below));
            rephase(h, z, i, i, high.min(i + 2), phase);
        }
    }
    let mut steps_left = MAX_STEPS * (high - low).max(10);
    let mut end = high;
    while end > low {
        let i = end - 1;
        let mut failures = 0;
        let l = loop {
            let l = (low + 1..=i).rev().find(|&k| is_zero(h, k, limits)).unwrap_or(low);
            if l > low {
                h[(l, l - 1)] = Complex64::ZERO;
            }
            if l >= i {
                break l;
            }
            if steps_left == 0 {
                return Err(NoConvergence);
            }
            steps_left -= 1;
            failures += 1;
            step(h, z, l, i, failures, limits.ulp);
        };
        end = l;
    }
    Ok(())
}

fn is_zero(h: &Matrix<Complex64>, k: usize, limits: Limits) -> bool {
    let below = h[(k, k - 1)].abs1();
    if below <= limits.tiny {
        return true;
    }
    let mut scale = h[(k - 1, k - 1)].abs1() + h[(k, k)].abs1();
    if scale == 0.0 {
        if k >= limits.low + 2 {
            scale += h[(k - 1, k - 2)].re.abs();
        }
        if k + 1 < limits.high {
            scale += h[(k + 1, k)].re.abs();
        }
    }
    let difference = (h[(k - 1, k - 1)] - h[(k, k)]).abs1();
    h[(k, k - 1)].re.abs() <= limits.ulp * scale
        && is_negligible(below, h[(k - 1, k)].abs1(), h[(k, k)].abs1(), difference, limits)
}

/// The square root with a real part that is not negative.
fn square_root(z: Complex64) -> Complex64 {
    let t = ((z.re.abs() + Scalar::abs(z)) / 2.0).sqrt();
    if t == 0.0 {
        Complex64::ZERO
    } else if z.re >= 0.0 {
        Complex64::new(t, z.im / (2.0 * t))
    } else {
        Complex64::new(z.im.abs() / (2.0 * t), t.copysign(z.im))
    }
}

fn shift(h: &Matrix<Complex64>, l: usize, i: usize, failures: usize) -> Complex64 {
    if failures.is_multiple_of(2 * PATIENCE) {
        return h[(i, i)] + EXCEPTIONAL[0] * h[(i, i - 1)].re.abs();
    }
    if failures.is_multiple_of(PATIENCE) {
        return h[(l, l)] + EXCEPTIONAL[0] * h[(l + 1, l)].re.abs();
    }
    // Wilkinson's: the eigenvalue of the last two rows that is nearer to the end of the diagonal.
    let t = h[(i, i)];
    let u = square_root(h[(i - 1, i)]) * square_root(h[(i, i - 1)]);
    if u.abs1() == 0.0 {
        return t;
    }
    let x = (h[(i - 1, i - 1)] - t) * 0.5;
    let sx = x.abs1();
    let s = u.abs1().max(sx);
    let (xs, us) = (x / s, u / s);
    let mut y = square_root(xs * xs + us * us) * s;
    if sx > 0.0 && (x.re / sx) * y.re + (x.im / sx) * y.im < 0.0 {
        y = -y;
    }
    t - u * u.over(x + y)
}

fn step(
    h: &mut Matrix<Complex64>,
    z: &mut Matrix<Complex64>,
    l: usize,
    i: usize,
    failures: usize,
    ulp: f64,
) {
    let (n, vectors) = (h.rows(), z.rows());
    let t = shift(h, l, i, failures);
    let mut m = i - 1;
    let mut v;
    loop {
        let (h11, h22) = (h[(m, m)], h[(m + 1, m + 1)]);
        let below = h[(m + 1, m)].re;
        let s = (h11 - t).abs1() + below.abs();
        v = [(h11 - t) / s, Complex64::real(below / s)];
        if m == l {
            break;
        }
        let before = h[(m, m - 1)].re.abs();
        if before * v[1].re.abs() <= ulp * (v[0].abs1() * (h11.abs1() + h22.abs1())) {
            break;
        }
        m -= 1;
    }
    for k in m..i {
        if k > m {
            v = [h[(k, k - 1)], h[(k + 1, k - 1)]];
        }
        let [mut alpha, second] = v;
        let mut rest = [second];
        let t1 = reflector(&mut alpha, &mut rest);
        if k > m {
            h[(k, k - 1)] = alpha;
            h[(k + 1, k - 1)] = Complex64::ZERO;
        }
        let v2 = rest[0];
        let t2 = (t1 * v2).re;
        for j in k..n {
            let sum = t1.conj() * h[(k, j)] + h[(k + 1, j)] * t2;
            h[(k, j)] -= sum;
            h[(k + 1, j)] -= sum * v2;
        }
        let turn = |a: &mut Matrix<Complex64>, rows: usize| {
            for j in 0..rows {
                let sum = t1 * a[(j, k)] + a[(j, k + 1)] * t2;
                a[(j, k)] -= sum;
                a[(j, k + 1)] -= sum * v2.conj();
            }
        };
        turn(h, (k + 3).min(i + 1));
        turn(z, vectors);
        if k == m && m > l {
            // The element before the block is no longer real: other phases make it so.
            let phase = Complex64::ONE - t1;
            let phase = phase / Scalar::abs(phase);
            h[(m + 1, m)] *= phase.conj();
            if m + 2 <= i {
                h[(m + 2, m + 1)] *= phase;
            }
            for j in (m..=i).filter(|&j| j != m + 1) {
                rephase(h, z, j, j + 1, j, phase);
            }
        }
    }
    let below = h[(i, i - 1)];
    if below.im != 0.0 {
        let size = Scalar::abs(below);
        h[(i, i - 1)] = Complex64::real(size);
        rephase(h, z, i, i + 1, i, (below / size).conj());
    }
}
