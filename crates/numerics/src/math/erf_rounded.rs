//! The error functions of `f64`, correctly rounded.
//!
//! Most numbers are near one at which the coefficients of Taylor's series are known to twice the
//! precision. Where that does not tell to which side a result is rounded, the whole function is
//! computed with twice the precision, and rounded by [`ties`].

use super::double::{Double, two_product};
use super::erf::{TWO_OVER_ROOT, tail};
use super::ties;
use std::sync::LazyLock;

/// The distance of nodes.
const STEP: f64 = 1.0 / 16.0;
/// The number of nodes, from zero.
const NODES: usize = 97;
/// Coefficients with twice the precision, from that of the first power.
const WIDE: usize = 5;
/// The other coefficients.
const NARROW: usize = 14;

/// From here on, the error function rounds to 1.
const ERF_LIMIT: f64 = 5.95;

/// Up to here, the complementary one is a difference from 1.
const DIFFERENCE_LIMIT: f64 = 0.5;

/// Up to here, there are nodes.
const NODE_LIMIT: f64 = 6.0;

/// Taylor's series of the error function around a number.
struct Node {
    erf: Double,
    erfc: Double,
    wide: [Double; WIDE],
    narrow: [f64; NARROW],
}

impl Node {
    fn new(index: usize) -> Node {
        let at = index as f64 * STEP;
        let (exp, exponent) = (-two_product(at, at)).exp();
        let mut coefficients = vec![Double::ZERO, TWO_OVER_ROOT * exp.shifted(exponent)];
        // As f'' = -2 x f'.
        for n in 0..WIDE + NARROW - 1 {
            let (first, second) = (coefficients[n], coefficients[n + 1]);
            let sum = second * Double::from(at * (n + 1) as f64) + first * Double::from(n as f64);
            let divisor = Double::from(-0.5 * ((n + 1) * (n + 2)) as f64);
            coefficients.push(sum / divisor);
        }
        Node {
            erf: wide_erf(at),
            erfc: wide_erfc(at),
            wide: std::array::from_fn(|i| coefficients[i + 1]),
            narrow: std::array::from_fn(|i| coefficients[i + 1 + WIDE].hi),
        }
    }

    /// The series without its first term.
    fn rest(&self, distance: f64) -> Double {
        let narrow = self.narrow.iter().rev().fold(0.0, |sum, c| sum * distance + c);
        let distance = Double::from(distance);
        let start = Double::from(narrow);
        self.wide.iter().rev().fold(start, |sum, &c| sum * distance + c) * distance
    }
}

static TABLE: LazyLock<Vec<Node>> = LazyLock::new(|| (0..NODES).map(Node::new).collect());

/// The nearest node of a number up to [`NODE_LIMIT`], and the distance, which is exact.
fn near(x: f64) -> (&'static Node, f64) {
    let index = (x / STEP).round();
    (&TABLE[(index as usize).min(NODES - 1)], x - index * STEP)
}

/// `2 / sqrt(pi) x (1 + 2 x^2 / 3 (1 + 2 x^2 / 5 (1 + ...)))`, which is the error function times
/// `exp(x^2)`; all terms are positive.
fn grown_erf(x: f64) -> Double {
    let twice = two_product(x, x).scaled(2.0);
    let (mut term, mut sum) = (Double::ONE, Double::ONE);
    let mut k = 1.0;
    while term.hi > sum.hi * 1e-33 {
        term = term * twice / Double::from(2.0 * k + 1.0);
        sum = sum + term;
        k += 1.0;
    }
    TWO_OVER_ROOT * Double::from(x) * sum
}

/// The error function of a number that is not negative, to about 98 bits.
fn wide_erf(x: f64) -> Double {
    let (exp, exponent) = (-two_product(x, x)).exp();
    grown_erf(x) * exp.shifted(exponent)
}

/// The complementary error function of a number from 2 on, to about 95 bits, without a power of
/// two: Laplace's continued fraction, as in [`tail`].
fn wide_tail(x: f64) -> (Double, i32) {
    let levels = 40 + (900.0 / (x * x)) as u32;
    let wide = Double::from(x);
    let rest =
        (1..=levels).rev().fold(wide, |rest, k| wide + Double::from(0.5 * f64::from(k)) / rest);
    let (exp, exponent) = (-two_product(x, x)).exp();
    (TWO_OVER_ROOT.scaled(0.5) * exp / rest, exponent)
}

/// The complementary error function of a number from zero to [`NODE_LIMIT`], to about 90 bits.
fn wide_erfc(x: f64) -> Double {
    if x <= 2.0 {
        return Double::ONE - wide_erf(x);
    }
    let (tail, exponent) = wide_tail(x);
    tail.shifted(exponent)
}

/// True if a number is rounded to the first part, whatever its error, which is a part of half a
/// unit in the last place.
fn is_clear(x: Double, share: f64) -> bool {
    let outward = if x.lo.is_sign_negative() { x.hi.next_down() } else { x.hi.next_up() };
    let half = 0.5 * (outward - x.hi);
    (x.lo - half).abs() > share * half.abs()
}

/// The error function.
pub(crate) fn erf(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() || x == 0.0 {
        return x;
    }
    if size >= ERF_LIMIT {
        return 1f64.copysign(x);
    }
    if size < 1e-20 {
        // The next term is below the precision. The scale keeps the product from vanishing.
        let scaled = TWO_OVER_ROOT * Double::from(libm::scalbn(size, 200));
        return scaled.shifted_value(-200).copysign(x);
    }
    let (node, distance) = near(size);
    let value = node.erf + node.rest(distance);
    let value = match is_clear(value, 1.0 / 1024.0) {
        true => value.hi,
        false => ties::round(wide_erf(size), |y| ties::erf(size, y)),
    };
    value.copysign(x)
}

/// One minus the error function.
pub(crate) fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < -6.0 {
        return 2.0;
    }
    if x > 28.0 {
        return 0.0;
    }
    if x > NODE_LIMIT {
        return erfc_of_large(x);
    }
    let (node, distance) = near(x.abs());
    let rest = node.rest(distance);
    let (value, share) = match x {
        x if x < 0.0 => (Double::ONE + (node.erf + rest), 1.0 / 1024.0),
        x if x < DIFFERENCE_LIMIT => (Double::ONE - (node.erf + rest), 1.0 / 1024.0),
        _ => (node.erfc - rest, 1.0 / 256.0),
    };
    if is_clear(value, share) {
        return value.hi;
    }
    let wide = match x < 0.0 {
        true => Double::ONE + wide_erf(-x),
        false => wide_erfc(x),
    };
    ties::round(wide, |y| ties::erfc(x, y, 0))
}

/// [`erfc`] of a number from [`NODE_LIMIT`] to 28.
fn erfc_of_large(x: f64) -> f64 {
    let (value, exponent) = tail(x);
    let result = value.shifted_value(exponent);
    if result.is_normal() && is_clear(value, 1.0 / 32.0) {
        return result;
    }
    let (value, exponent) = wide_tail(x);
    let result = value.shifted_value(exponent);
    match result.is_normal() {
        true => libm::scalbn(ties::round(value, |y| ties::erfc(x, y, exponent)), exponent),
        false => result,
    }
}
