//! The error functions of `f64` as in `double_lanes.rs`, by Taylor's series around the numbers of a
//! table.

use super::double::Double;
use super::double_lanes::{
    LEAST, Rounded, copysign, negative, only_if, part, plus, product, quick_sum, rounded_functions,
    select, times,
};
use super::elementary::small_exp_m1;
use super::erf::TWO_OVER_ROOT;
use super::lanes::SHIFT;
use super::{double_lanes_outside as outside, erf_rounded};

rounded_functions! {
    erf_rounded:
    Erf erf(x) part(66);
    Erfc erfc(x) part(63);
}

/// The functions at a number, and the derivative of the first.
#[derive(Clone, Copy)]
struct Node {
    erf: Double,
    erfc: Double,
    slope: Double,
}

/// Nodes in an interval of length 1.
const DENSITY: f64 = 64.0;
/// The last node is at 6. The ones after it are not read.
const LAST: usize = 6 * DENSITY as usize;
/// The complementary error function of 6.
const ERFC_OF_6: Double = Double::new(2.151_973_671_249_891_3e-17, 3.189_819_725_359_937_7e-34);

/// Nodes from zero on, with at least 80 bits.
static NODES: [Node; 512] = {
    let d = 1.0 / DENSITY;
    let first = Node { erf: Double::ZERO, erfc: Double::ONE, slope: TWO_OVER_ROOT };
    let mut nodes = [first; 512];
    // exp(-(c + d)^2) = exp(-c^2) exp(-2 c d - d^2).
    let mut factor = Double::ONE.plus(small_exp_m1(Double::new(-d * d, 0.0)));
    let next_factor = Double::ONE.plus(small_exp_m1(Double::new(-2.0 * d * d, 0.0)));
    let mut steps = [Double::ZERO; LAST];
    let mut k = 0;
    while k < LAST {
        let Node { erf, slope, .. } = nodes[k];
        steps[k] = slope.times(series(k as f64 * d, d)).scaled(d);
        nodes[k + 1].erf = erf.plus(steps[k]);
        nodes[k + 1].slope = slope.times(factor);
        factor = factor.times(next_factor);
        k += 1;
    }
    // From the end on, where it is small.
    nodes[k].erfc = ERFC_OF_6;
    while k > 0 {
        nodes[k - 1].erfc = nodes[k].erfc.plus(steps[k - 1]);
        k -= 1;
    }
    nodes
};

/// Taylor's series of `(erf(c + d) - erf(c)) / (d erf'(c))`, whose products are exact.
const fn series(c: f64, d: f64) -> Double {
    let (mut before, mut term) = (Double::ONE, Double::new(-c * d, 0.0));
    let mut sum = before.plus(term);
    let mut n = 1;
    while n < 22 {
        // As f'' = -2 x f'.
        let n_th = Double::new(d * d * n as f64, 0.0);
        let next = term.times(Double::new(c * d * (n + 1) as f64, 0.0)).plus(before.times(n_th));
        let divisor = -0.5 * ((n + 1) * (n + 2)) as f64;
        (before, term) = (term, next.over(Double::new(divisor, 0.0)));
        sum = sum.plus(term);
        n += 1;
    }
    sum
}

/// The number of terms of the series from the quadratic one on.
const TERMS: usize = 10;

/// The nearest node of a number from zero to 6, and the difference of the error function to it.
///
/// The series without `1 - c d` is at most `1.5e-3`, and has the errors of six roundings; the
/// difference is at most 0.1 of the complementary function, so that this has an error below `2^-63`.
/// Of the error function, these terms are at most `2^-15`, and its error `2^-66`. The terms
/// that it lacks are below `2^-72`.
#[inline(always)]
fn node_and_difference(x: f64) -> (&'static Node, Double) {
    let shifted = x.mul_add(DENSITY, SHIFT);
    let c = (shifted - SHIFT) * (1.0 / DENSITY);
    let d = x - c;
    // Coefficients of powers of the difference.
    let mut terms = [0.0; TERMS + 2];
    (terms[0], terms[1]) = (1.0, -c);
    for n in 0..TERMS {
        let count = n as f64;
        let before = terms[n] * (-2.0 * (count + 1.0) / ((count + 2.0) * (count + 3.0)));
        terms[n + 2] = (terms[n + 1] * c).mul_add(-2.0 / (count + 3.0), before);
    }
    let tail = terms[2..].iter().rev().fold(0.0, |sum: f64, &term| sum.mul_add(d, term));
    // Exact: both have few bits.
    let start = quick_sum(1.0, -(c * d));
    let series = quick_sum(start.hi, (d * d).mul_add(tail, start.lo));
    let node = &NODES[(shifted.to_bits() % NODES.len() as u64) as usize];
    let linear = product(node.slope.hi, d);
    let linear = quick_sum(linear.hi, node.slope.lo.mul_add(d, linear.lo));
    (node, times(linear, series))
}

/// The error function.
#[inline(always)]
fn erf(x: f64) -> Double {
    let (node, difference) = node_and_difference(x.abs());
    let is_easy = (x.abs() >= LEAST) & (x.abs() <= 5.9);
    only_if(is_easy, copysign(plus(node.erf, difference), x))
}

/// The complementary error function.
#[inline(always)]
fn erfc(x: f64) -> Double {
    let (node, difference) = node_and_difference(x.abs());
    let value = plus(node.erfc, negative(difference));
    let mirrored = plus(Double::new(2.0, 0.0), negative(value));
    only_if(x.abs() <= 6.0, select(x < 0.0, mirrored, value))
}
