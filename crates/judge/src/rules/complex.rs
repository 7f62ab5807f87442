//! Elementwise arithmetic of complex numbers: pairs of real and imaginary parts.
//!
//! The specification defines no rounding of complex operations. Sums are rounded by parts; products
//! are computed as `(ac - bd) + (ad + bc)i`, each operation rounded or fused. Other functions may
//! be off by units of the last place of the absolute value.

use super::elementwise::{Elementwise, Outcomes, rounded};
use super::functions::function;
use super::sums::ball;
use super::{Op, common_doubts, common_shape};
use crate::array::{Array, Number};
use crate::ball::Ball;
use crate::ball::up;
use crate::bounds::{Bounds, Image, Rounding, largest, smallest_normal};
use crate::functions::HALF_PI_BALL;
use crate::machine::Machine;
use numerics::DType;
use numerics::math::{BinaryOp, Direction, UnaryOp};
use numerics::ulp::unit_in_the_last_place as ulp;
use program::EvalError;
use program::primitives::Comparison;

/// The least error of a function of complex numbers, in units of the last place of the absolute
/// value.
const ULPS: f64 = 8.0;

type Pair = [Number; 2];

/// The pairs of a complex array.
fn pairs(numbers: &[Number]) -> impl Iterator<Item = Pair> {
    numbers.chunks_exact(2).map(|pair| [pair[0], pair[1]])
}

/// The real parts of a complex array, or the imaginary ones; arrays of other types as they are.
pub(super) fn part_of(array: &Array, part: usize) -> Result<Array, EvalError> {
    if !array.dtype.is_complex() {
        return Ok(array.clone());
    }
    let numbers = array.numbers()?.iter().skip(part).step_by(2).copied().collect();
    let own = Array::of_numbers(array.dtype.part(), array.shape.clone(), numbers)?;
    Ok(own.with_doubts(array.doubts.clone()))
}

fn array(like: &[&Array], dtype: DType, numbers: Vec<Number>) -> Elementwise {
    let array = Array::of_numbers(dtype, common_shape(like), numbers)?;
    Ok(Some(array.with_doubts(common_doubts(like)?)))
}

/// A sum of two products of bounds: each rounded, or one of them fused.
fn products(a: [Bounds; 2], b: [Bounds; 2], subtracts: bool, dtype: DType, r: Rounding) -> Bounds {
    let part = dtype.part();
    let product = |pair: [Bounds; 2]| {
        let image = pair[0].times(pair[1]);
        image.rounded(part, r).hull(image.unrounded())
    };
    let (x, y) = (product(a), product(b));
    let y = if subtracts { y.negated() } else { y };
    rounded(x.plus(y), dtype, r)
}

/// The product of two complex numbers.
pub(super) fn times(x: Pair, y: Pair, dtype: DType, rounding: Rounding) -> Pair {
    let [a, b] = x;
    let [c, d] = y;
    let bounds = |p: [Number; 2], q: [Number; 2], subtracts| {
        let [p, q] = [p, q].map(|pair| pair.map(|n| n.bounds));
        products(p, q, subtracts, dtype, rounding)
    };
    [
        Number {
            truth: a.truth * c.truth - b.truth * d.truth,
            bounds: bounds([a, c], [b, d], true),
        },
        Number {
            truth: a.truth * d.truth + b.truth * c.truth,
            bounds: bounds([a, d], [b, c], false),
        },
    ]
}

/// A function of complex numbers in ball arithmetic, if there is one here.
fn complex_function(op: UnaryOp) -> Option<fn([Ball; 2]) -> [Ball; 2]> {
    Some(match op {
        UnaryOp::Exponential => |[x, y]| {
            let (size, (sin, cos)) = (x.exp(), y.sin_cos());
            [size * cos, size * sin]
        },
        UnaryOp::ExponentialMinusOne => |[x, y]| {
            // exp(x) cos y - 1 = expm1(x) cos y - 2 sin²(y / 2).
            let (size, (sin, cos)) = (x.exp(), y.sin_cos());
            let half = (y * Ball::exact(0.5)).sin();
            [x.exp_m1() * cos - (half.square() + half.square()), size * sin]
        },
        UnaryOp::Log => |[x, y]| {
            let square = x.square() + y.square();
            [square.log() * Ball::exact(0.5), y.atan2(x)]
        },
        UnaryOp::Sine => |[x, y]| {
            let (sin, cos) = x.sin_cos();
            [sin * y.cosh(), cos * y.sinh()]
        },
        UnaryOp::Cosine => |[x, y]| {
            let (sin, cos) = x.sin_cos();
            [cos * y.cosh(), -(sin * y.sinh())]
        },
        UnaryOp::LogPlusOne => |[x, y]| {
            let square = x * (x + Ball::exact(2.0)) + y.square();
            [square.log_1p() * Ball::exact(0.5), y.atan2(x + Ball::ONE)]
        },
        UnaryOp::Sign => |[x, y]| {
            let size = (x.square() + y.square()).sqrt();
            match size.sign() {
                Some(0) => [Ball::ZERO; 2],
                _ => [x.over(size), y.over(size)],
            }
        },
        UnaryOp::Sinh => |[x, y]| {
            let (sin, cos) = y.sin_cos();
            [x.sinh() * cos, x.cosh() * sin]
        },
        UnaryOp::Cosh => |[x, y]| {
            let (sin, cos) = y.sin_cos();
            [x.cosh() * cos, x.sinh() * sin]
        },
        UnaryOp::Tan => |[x, y]| {
            // (sin 2x + i sinh 2y) / (cos 2x + cosh 2y).
            let two = Ball::exact(2.0);
            let (sin, cos) = (x * two).sin_cos();
            let divisor = (y * two).cosh() + cos;
            [sin.over(divisor), (y * two).sinh().over(divisor)]
        },
        UnaryOp::Asin => asin,
        UnaryOp::Acos => |z| {
            let [re, im] = asin(z);
            [HALF_PI_BALL - re, -im]
        },
        UnaryOp::Asinh => |[x, y]| {
            let [re, im] = asin([-y, x]);
            [im, -re]
        },
        UnaryOp::Acosh => |z| {
            let [re, im] = asin(z);
            let [re, im] = [HALF_PI_BALL - re, -im];
            // The one of ±i acos(z) whose real part is not negative.
            match im.sign() {
                Some(-1) => [-im, re],
                Some(_) => [im, -re],
                None => [Ball::UNKNOWN; 2],
            }
        },
        UnaryOp::Atanh => atanh,
        UnaryOp::Atan => |[x, y]| {
            let [re, im] = atanh([-y, x]);
            [im, -re]
        },
        UnaryOp::Sqrt => |[x, y]| {
            let size = (x.square() + y.square()).sqrt();
            let half = Ball::exact(0.5);
            match x.sign() {
                Some(1 | 0) => {
                    let re = ((size + x) * half).sqrt();
                    [re, y.over(re + re)]
                }
                Some(_) => {
                    let im = ((size - x) * half).sqrt();
                    let im = if y.hi.is_sign_negative() { -im } else { im };
                    match y.sign() {
                        None => [Ball::UNKNOWN; 2],
                        _ => [y.over(im + im), im],
                    }
                }
                None => [Ball::UNKNOWN; 2],
            }
        },
        UnaryOp::Square => |[x, y]| {
            let product = x * y;
            [(x - y) * (x + y), product + product]
        },
        UnaryOp::Tanh => |[x, y]| {
            // (sinh 2x + i sin 2y) / (cosh 2x + cos 2y).
            let ((x, y), two) = ((x, y), Ball::exact(2.0));
            let (sin, cos) = (y * two).sin_cos();
            let divisor = (x * two).cosh() + cos;
            [(x * two).sinh().over(divisor), sin.over(divisor)]
        },
        UnaryOp::Rsqrt => |z| {
            let sqrt = complex_function(UnaryOp::Sqrt).map_or([Ball::UNKNOWN; 2], |sqrt| sqrt(z));
            over([Ball::ONE, Ball::ZERO], sqrt)
        },
        UnaryOp::Logistic => |[x, y]| {
            let [e, f] = {
                let (size, (sin, cos)) = ((-x).exp(), (-y).sin_cos());
                [size * cos, size * sin]
            };
            over([Ball::ONE, Ball::ZERO], [Ball::ONE + e, f])
        },
        _ => return None,
    })
}

/// The square root of a number that is not negative, though its ball may reach below zero.
fn root(x: Ball) -> Ball {
    match x.sign() {
        None if x.is_finite() => Ball::between(0.0, x.upper().sqrt().next_up()),
        _ => x.sqrt(),
    }
}

/// The inverse sine, by the distances from 1 and -1. Unknown on its cuts.
fn asin([x, y]: [Ball; 2]) -> [Ball; 2] {
    let square = y.square();
    let [right, left] = [Ball::ONE, -Ball::ONE].map(|at| root((x + at).square() + square));
    let a = (right + left) * Ball::exact(0.5);
    let on_axis = y.sign() != Some(1) && y.sign() != Some(-1);
    if on_axis && !(y.is_exact() && x.magnitude() <= 1.0) {
        return [Ball::UNKNOWN; 2];
    }
    if y.is_exact() && y.hi == 0.0 {
        return [x.asin(), y];
    }
    let re = x.atan2(root((a - x) * (a + x)));
    // a - 1 is (y² / (r + x + 1) + y² / (l + 1 - x)) / 2 within the unit strip, without loss.
    let less = match x.magnitude() < 1.0 {
        true => {
            let parts = square.over(right + (x + Ball::ONE)) + square.over(left + (Ball::ONE - x));
            parts * Ball::exact(0.5)
        }
        false => a - Ball::ONE,
    };
    let im = (less + root(less * (a + Ball::ONE))).log_1p();
    [re, if y.hi < 0.0 { -im } else { im }]
}

/// The inverse hyperbolic tangent. Unknown on its cuts.
fn atanh([x, y]: [Ball; 2]) -> [Ball; 2] {
    let on_axis = y.sign() != Some(1) && y.sign() != Some(-1);
    if on_axis && !(y.is_exact() && x.magnitude() < 1.0) {
        return [Ball::UNKNOWN; 2];
    }
    if y.is_exact() && y.hi == 0.0 {
        return [x.atanh(), y];
    }
    let square = y.square();
    let below = Ball::ONE - x;
    let four = (x * Ball::exact(4.0)).over(below.square() + square);
    let re = four.log_1p() * Ball::exact(0.25);
    let angle = (y + y).atan2(below * (Ball::ONE + x) - square);
    [re, angle * Ball::exact(0.5)]
}

/// A power, `exp(w log z)`. Unknown for zero.
fn power(z: [Ball; 2], [c, d]: [Ball; 2]) -> [Ball; 2] {
    let function = |op| complex_function(op).unwrap_or(|_| [Ball::UNKNOWN; 2]);
    let [a, b] = function(UnaryOp::Log)(z);
    function(UnaryOp::Exponential)([a * c - b * d, a * d + b * c])
}

/// `-i log((x + i y) / √(x² + y²))`.
fn atan2(y: [Ball; 2], x: [Ball; 2]) -> [Ball; 2] {
    let function = |op| complex_function(op).unwrap_or(|_| [Ball::UNKNOWN; 2]);
    let square = function(UnaryOp::Square);
    let ([a, b], [c, d]) = (square(x), square(y));
    let size = function(UnaryOp::Sqrt)([a + c, b + d]);
    let [re, im] = function(UnaryOp::Log)(over([x[0] - y[1], x[1] + y[0]], size));
    [im, -re]
}

/// The quotient of complex numbers.
fn over([a, b]: [Ball; 2], [c, d]: [Ball; 2]) -> [Ball; 2] {
    let divisor = c.square() + d.square();
    [(a * c + b * d).over(divisor), (b * c - a * d).over(divisor)]
}

/// The absolute value of an exponent times a logarithm, about.
fn exponent_size(x: Pair, y: Pair) -> f64 {
    let size = |z: Pair| z[0].bounds.magnitude().hypot(z[1].bounds.magnitude());
    size(y) * (size(x).ln().abs() + 4.0)
}

/// The numbers around a pair of values of bounds, off by `ulps` units of the absolute value.
fn around(image: [Ball; 2], truth: [Ball; 2], dtype: DType, ulps: f64) -> Pair {
    let size = image[0].magnitude().max(image[1].magnitude());
    let error = match dtype.float_format() {
        Some(format) if size.is_finite() => ulps * ulp(size * 1.42, format),
        _ => f64::INFINITY,
    };
    let rounding = Rounding { unrounded: true, ..Rounding::NEAREST };
    let number = |i: usize| {
        let image: Ball = image[i];
        let bounds = match image.is_finite() && error.is_finite() {
            true => {
                let wide = image.widened(error);
                let image = Image::between(wide, wide);
                image.rounded(dtype.part(), rounding)
            }
            false => Bounds::ANY,
        };
        Number { truth: truth[i], bounds }
    };
    [number(0), number(1)]
}

impl Op<'_> {
    pub(super) fn complex_unary(
        &self,
        machine: &mut Machine<'_>,
        op: UnaryOp,
        x: &Array,
    ) -> Elementwise {
        let (dtype, part) = (x.dtype, x.dtype.part());
        let numbers = x.numbers()?;
        let rounding = self.rounding(machine, op.name(), dtype);
        match op {
            UnaryOp::Negate => {
                let negated = |n: &Number| Number { truth: -n.truth, bounds: n.bounds.negated() };
                array(&[x], dtype, numbers.iter().map(negated).collect())
            }
            UnaryOp::Real => array(&[x], part, pairs(&numbers).map(|[re, _]| re).collect()),
            UnaryOp::Imag => array(&[x], part, pairs(&numbers).map(|[_, im]| im).collect()),
            UnaryOp::Abs => {
                let Some(root) = function(UnaryOp::Sqrt) else { return Ok(None) };
                let ulps = rounding.ulps.max(2.0);
                let abs = |[re, im]: Pair| {
                    let square = |n: Number| Ball::between(n.bounds.low, n.bounds.high).square();
                    let sum = square(re) + square(im);
                    let low = Bounds::new(sum.lower().max(0.0), sum.upper());
                    let truth = root.truth(re.truth.square() + im.truth.square());
                    let image = root.image(low, Ball::NAN, Ball::NAN);
                    let bounds = image.rounded(part, Rounding { ulps, ..rounding });
                    let special = !(re.bounds.magnitude() + im.bounds.magnitude()).is_finite();
                    let bounds = if special { Bounds::ANY } else { bounds };
                    Number { truth, bounds: bounds.or_nan(re.bounds.nan || im.bounds.nan) }
                };
                array(&[x], part, pairs(&numbers).map(abs).collect())
            }
            _ => {
                let Some(function) = complex_function(op) else { return Ok(None) };
                let ulps = rounding.ulps.max(ULPS);
                let value = |pair: Pair| {
                    let truth = function(pair.map(|n| n.truth));
                    let bounds = pair.map(|n| Ball::between(n.bounds.low, n.bounds.high));
                    around(function(bounds), truth, dtype, ulps)
                };
                array(&[x], dtype, pairs(&numbers).flat_map(value).collect())
            }
        }
    }

    pub(super) fn complex_binary(
        &self,
        machine: &mut Machine<'_>,
        op: BinaryOp,
        operands: [&Array; 2],
    ) -> Elementwise {
        let dtype = operands[0].dtype;
        let rounding = self.rounding(machine, op.name(), dtype);
        let (x, y) = (operands[0].numbers()?, operands[1].numbers()?);
        let n = x.len().max(y.len()) / 2;
        let n = if operands[0].shape.is_empty() { y.len() / 2 } else { n.min(x.len() / 2) };
        let at = |numbers: &[Number], i: usize| -> Pair {
            let i = if numbers.len() == 2 { 0 } else { 2 * i };
            [numbers[i], numbers[i + 1]]
        };
        let rule = |i: usize| -> Option<Pair> {
            let (x, y) = (at(&x, i), at(&y, i));
            Some(match op {
                BinaryOp::Add => [0, 1].map(|i| Number {
                    truth: x[i].truth + y[i].truth,
                    bounds: rounded(x[i].bounds.plus(y[i].bounds), dtype, rounding),
                }),
                BinaryOp::Subtract => [0, 1].map(|i| Number {
                    truth: x[i].truth - y[i].truth,
                    bounds: rounded(x[i].bounds.plus(y[i].bounds.negated()), dtype, rounding),
                }),
                BinaryOp::Multiply => times(x, y, dtype, rounding),
                BinaryOp::Divide | BinaryOp::Power | BinaryOp::Atan2 => {
                    let function = match op {
                        BinaryOp::Power => power,
                        BinaryOp::Atan2 => atan2,
                        _ => over,
                    };
                    let balls = |z: Pair| z.map(|n| Ball::between(n.bounds.low, n.bounds.high));
                    let truth = function(x.map(|n| n.truth), y.map(|n| n.truth));
                    let ulps = rounding.ulps.max(ULPS);
                    // Of a power, errors of the logarithm are multiplied by the exponent.
                    let ulps = match op {
                        BinaryOp::Power => ulps * (1.0 + 8.0 * exponent_size(x, y)),
                        _ => ulps,
                    };
                    around(function(balls(x), balls(y)), truth, dtype, ulps)
                }
                _ => return None,
            })
        };
        let results: Option<Vec<Pair>> = (0..n).map(rule).collect();
        match results {
            Some(results) => array(&operands, dtype, results.into_flattened()),
            None => Ok(None),
        }
    }

    pub(super) fn complex_convert(
        &self,
        machine: &mut Machine<'_>,
        to: DType,
        x: &Array,
    ) -> Elementwise {
        let rounding = self.rounding(machine, "convert", to);
        let numbers = x.numbers()?;
        let convert = |n: &Number| {
            let image = n.bounds.plus(Bounds::point(0.0));
            Number { truth: n.truth, bounds: rounded(image, to, rounding) }
        };
        match (x.dtype.is_complex(), to.is_complex()) {
            (true, true) => array(&[x], to, numbers.iter().map(convert).collect()),
            (false, true) => {
                let exactly = |n: &Number| {
                    let image = Image::between(n.truth, n.truth);
                    Number { truth: n.truth, bounds: rounded(image, to, rounding) }
                };
                let pair = |n: &Number| match x.dtype.is_float() {
                    true => [convert(n), Number::exact(0.0)],
                    false => [exactly(n), Number::exact(0.0)],
                };
                array(&[x], to, numbers.iter().flat_map(pair).collect())
            }
            (true, false) if to.is_float() => {
                array(&[x], to, pairs(&numbers).map(|[re, _]| convert(&re)).collect())
            }
            _ => Ok(None),
        }
    }

    /// Comparisons for equality.
    pub(super) fn complex_compare(
        &self,
        machine: &mut Machine<'_>,
        comparison: &Comparison,
        operands: [&Array; 2],
    ) -> Elementwise {
        let differ = match comparison.direction {
            Direction::Eq => false,
            Direction::Ne => true,
            Direction::Ge | Direction::Gt | Direction::Le | Direction::Lt => return Ok(None),
        };
        let (x, y) = (operands[0].numbers()?, operands[1].numbers()?);
        let decide = |(x, y): (Pair, Pair)| {
            let mut outcomes = Outcomes { is_true: differ, is_false: !differ };
            let point = |i: usize| x[i].bounds.value().is_some() && y[i].bounds.value().is_some();
            let equal = |i: usize| x[i].bounds.value() == y[i].bounds.value();
            let apart =
                |i: usize| x[i].bounds.low > y[i].bounds.high || y[i].bounds.low > x[i].bounds.high;
            if (0..2).all(point) {
                let same = (0..2).all(equal) != differ;
                outcomes = Outcomes { is_true: same, is_false: !same };
            } else if !(0..2).any(apart) {
                outcomes = Outcomes { is_true: true, is_false: true };
            }
            ((outcomes, None), [x[0], y[0]])
        };
        if x.len() != y.len() {
            return Ok(None);
        }
        self.decided(machine, &operands, pairs(&x).zip(pairs(&y)).map(decide))
    }
}

/// The product of complex numbers in any order: each product of two has an error of at most `√5 u`
/// of its absolute value (R. Brent, C. Percival and P. Zimmermann, *Error bounds on complex
/// floating-point multiplication*, 2007).
pub(super) fn product_of(all: &[Pair], dtype: DType, roundoff: f64) -> Pair {
    let times = |[a, b]: [Ball; 2], [c, d]: [Ball; 2]| [a * c - b * d, a * d + b * c];
    let one = [Ball::ONE, Ball::ZERO];
    let truth = all.iter().fold(one, |product, z| times(product, z.map(|n| n.truth)));
    let image = all.iter().fold(one, |product, z| times(product, z.map(|n| ball(n.bounds))));
    let size: f64 = all.iter().map(size_of).product();
    let normal = dtype.part().float_format().map_or(0.0, smallest_normal);
    let partial: f64 = all.iter().map(|z| size_of(z).max(1.0)).product();
    let limit = dtype.part().float_format().map_or(f64::INFINITY, largest);
    let error = up(2.24 * all.len() as f64 * roundoff * size * 1.01 + normal);
    let number = |i: usize| {
        let image: Ball = image[i];
        let bounds = match image.is_finite() && partial < limit {
            true => {
                let image = image.widened(error);
                Image::between(image, image).rounded(dtype.part(), Rounding::NEAREST)
            }
            false => Bounds::ANY,
        };
        Number { truth: truth[i], bounds }
    };
    [number(0), number(1)]
}

/// An upper bound of the absolute value, nearly.
fn size_of(z: &Pair) -> f64 {
    z[0].bounds.magnitude().hypot(z[1].bounds.magnitude()) * (1.0 + 1e-15)
}
