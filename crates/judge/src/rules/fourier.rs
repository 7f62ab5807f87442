//! Discrete Fourier transforms.
//!
//! Any algorithm that factors the length has an error of at most about `(p + 4) u` for each prime
//! factor `p`, in proportion to the sum of absolute values, with factors rounded once.

use super::Op;
use super::Ruled;
use super::sums::ball;
use crate::array::{Array, Number};
use crate::ball::{Ball, U, up};
use crate::bounds::{Bounds, Image, Rounding};
use crate::functions::HALF_PI_BALL;
use crate::machine::Machine;
use crate::precise;
use numerics::DType;
use program::primitives::{Fft, Fourier};
use std::ops::{Add, Mul, Neg, Sub};

/// The real numbers of a transform: balls, or floats whose error follows from the number of
/// roundings.
trait TransformNumber:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// The nearest number to a ball.
    fn of(ball: Ball) -> Self;

    /// The quotient by a natural number.
    fn over_count(self, count: f64) -> Self;
}

impl TransformNumber for Ball {
    fn of(ball: Ball) -> Ball {
        ball
    }

    fn over_count(self, count: f64) -> Ball {
        self.over(Ball::exact(count))
    }
}

impl TransformNumber for f64 {
    fn of(ball: Ball) -> f64 {
        ball.hi
    }

    fn over_count(self, count: f64) -> f64 {
        self / count
    }
}

type Complex<R> = [R; 2];

fn plus<R: TransformNumber>(a: Complex<R>, b: Complex<R>) -> Complex<R> {
    [a[0] + b[0], a[1] + b[1]]
}

fn times<R: TransformNumber>([a, b]: Complex<R>, [c, d]: Complex<R>) -> Complex<R> {
    [a * c - b * d, a * d + b * c]
}

/// The roots of unity `exp(±2πi k / n)`.
fn roots<R: TransformNumber>(n: usize, inverse: bool) -> Vec<Complex<R>> {
    let half_pi = precise::half_pi().unwrap_or(HALF_PI_BALL);
    let root = |k: usize| {
        let angle = (half_pi * Ball::exact(4.0 * k as f64)).over(Ball::exact(n as f64));
        // Multiples of a right angle are exact.
        let (sin, cos) = match (4 * k) % n {
            0 => [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)]
                .map(|(s, c)| (Ball::exact(s), Ball::exact(c)))[4 * k / n % 4],
            _ => angle.sin_cos(),
        };
        [cos, if inverse { sin } else { -sin }].map(R::of)
    };
    (0..n).map(root).collect()
}

fn smallest_factor(n: usize) -> usize {
    (2..).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p)).unwrap_or(n)
}

/// The transform of `line`, of every `step`-th root.
fn transform<R: TransformNumber>(
    line: &[Complex<R>],
    roots: &[Complex<R>],
    step: usize,
) -> Vec<Complex<R>> {
    let n = line.len();
    if n <= 1 {
        return line.to_vec();
    }
    let p = smallest_factor(n);
    let m = n / p;
    let parts: Vec<Vec<Complex<R>>> = (0..p)
        .map(|r| {
            let own: Vec<Complex<R>> = line.iter().copied().skip(r).step_by(p).collect();
            transform(&own, roots, step * p)
        })
        .collect();
    let total = roots.len();
    let output = |k: usize| {
        let term = |r: usize| times(parts[r][k % m], roots[r * k % n * step % total]);
        (1..p).map(term).fold(parts[0][k % m], plus)
    };
    (0..n).map(output).collect()
}

/// The number of roundings of a transform, in proportion to the sum of absolute values.
fn depth(mut n: usize) -> f64 {
    let mut depth = 2.0;
    while n > 1 {
        let p = smallest_factor(n);
        depth += p as f64 + 4.0;
        n /= p;
    }
    depth
}

/// A tensor of complex numbers.
struct ComplexLines<R> {
    shape: Vec<usize>,
    values: Vec<Complex<R>>,
}

impl<R: TransformNumber> ComplexLines<R> {
    /// Transforms the lines along a dimension, each padded or cut to `length`.
    fn along(&self, dimension: usize, length: usize, inverse: bool) -> ComplexLines<R> {
        let inner: usize = self.shape[dimension + 1..].iter().product();
        let size = self.shape[dimension];
        let outer: usize = self.shape[..dimension].iter().product();
        let (roots, zero) = (roots::<R>(length, inverse), R::of(Ball::ZERO));
        let mut shape = self.shape.clone();
        shape[dimension] = length;
        let mut values = vec![[zero; 2]; outer * length * inner];
        for o in 0..outer {
            for i in 0..inner {
                let at = |k: usize| match k < size {
                    true => self.values[(o * size + k) * inner + i],
                    false => [zero; 2],
                };
                let line: Vec<Complex<R>> = (0..length).map(at).collect();
                for (k, value) in transform(&line, &roots, 1).into_iter().enumerate() {
                    values[(o * length + k) * inner + i] = value;
                }
            }
        }
        ComplexLines { shape, values }
    }
}

/// The transform of numbers, as complex values of the shape of the result's complex side.
fn fourier<R: TransformNumber>(
    fft: &Fft,
    shape: &[usize],
    values: Vec<Complex<R>>,
) -> ComplexLines<R> {
    let rank = shape.len();
    let first = rank - fft.lengths.len();
    let mut lines = ComplexLines { shape: shape.to_vec(), values };
    let inverse = matches!(fft.transform, Fourier::Inverse | Fourier::RealInverse);
    let last = rank - 1;
    if fft.transform == Fourier::RealInverse {
        // Other dimensions first, then the half is completed.
        for d in first..last {
            lines = lines.along(d, fft.lengths[d - first], inverse);
        }
        let (half, length) = (lines.shape[last], fft.lengths[fft.lengths.len() - 1]);
        let rows = lines.values.len().checked_div(half).unwrap_or(0);
        let mut values = Vec::with_capacity(rows * length);
        for row in 0..rows {
            let own = &lines.values[row * half..(row + 1) * half];
            for k in 0..length {
                let kept = k <= length / 2;
                let [re, im] = own[if kept { k } else { length - k }];
                // The first and the middle one are real.
                let is_real = k == 0 || 2 * k == length;
                let im = if is_real { R::of(Ball::ZERO) } else { im };
                values.push([re, if kept { im } else { -im }]);
            }
        }
        lines.shape[last] = length;
        lines.values = values;
        lines = lines.along(last, length, inverse);
    } else {
        for d in first..rank {
            lines = lines.along(d, fft.lengths[d - first], inverse);
        }
    }
    if inverse {
        let count: usize = fft.lengths.iter().product();
        for value in &mut lines.values {
            *value = value.map(|part| part.over_count(count as f64));
        }
    }
    if fft.transform == Fourier::RealForward {
        let (length, half) = (lines.shape[last], lines.shape[last] / 2 + 1);
        let rows = lines.values.chunks_exact(length.max(1));
        lines.values = rows.flat_map(|row| row[..half].to_vec()).collect();
        lines.shape[last] = half;
    }
    lines
}

impl Op<'_> {
    pub(super) fn fft(&self, machine: &mut Machine<'_>, fft: &Fft, operands: &[&Array]) -> Ruled {
        let (&[operand], Some(dtype)) = (operands, self.result_dtype(0)) else { return Ok(None) };
        let rank = operand.shape.len();
        if fft.lengths.is_empty() || fft.lengths.len() > rank || operand.is_empty() {
            return Ok(None);
        }
        let largest = |n: usize| {
            let (mut n, mut largest) = (n, 1);
            while n > 1 {
                largest = smallest_factor(n);
                n /= largest;
            }
            largest
        };
        if fft.lengths.iter().any(|&n| n == 0 || largest(n) > 257) {
            return Ok(None);
        }
        let numbers = operand.numbers()?;
        // The sums of absolute values and of radii over the transformed dimensions.
        let first = rank - fft.lengths.len();
        let block: usize = operand.shape[first..].iter().product();
        let factor = if fft.transform == Fourier::RealInverse { 2.0 } else { 1.0 };
        let scale = match fft.transform {
            Fourier::Inverse | Fourier::RealInverse => {
                fft.lengths.iter().map(|&n| n as f64).product::<f64>()
            }
            Fourier::Forward | Fourier::RealForward => 1.0,
        };
        let width = operand.width();
        let sum = |value: &dyn Fn(&Number) -> f64| -> Vec<f64> {
            let rows = numbers.chunks_exact(block * width);
            rows.map(|row| up(row.iter().map(value).sum::<f64>() * factor / scale)).collect()
        };
        let sizes = sum(&|n| n.bounds.magnitude());
        let radii = sum(&|n| match ball(n.bounds) {
            ball if ball.is_finite() => ball.radius,
            _ => f64::INFINITY,
        });
        let roundings: f64 = fft.lengths.iter().map(|&n| depth(n)).sum();
        let roundoff = machine.model.sum_roundoff(dtype);
        // Errors of f64 are far below rounding to narrower types.
        let is_narrow = dtype.part() != DType::F64;
        let middles = complex(&numbers, operand, |n| ball(n.bounds).middle());
        let image = match is_narrow {
            true => self.with_few_digits(fft, operand, &middles, |row| sizes[row] * roundings),
            false => {
                let _pause = precise::pause();
                fourier(fft, &operand.shape, middles)
            }
        };
        let truths = complex(&numbers, operand, |n| n.truth);
        let is_finite = numbers.iter().all(|n| n.truth.is_finite());
        let truth = match machine.is_quick(dtype) && is_finite {
            true => {
                let sizes = sum(&|n| n.truth.magnitude());
                let rests = sum(&|n| super::slopes::rest(n.truth));
                let error = |row: usize| sizes[row] * roundings + rests[row] / U;
                self.with_few_digits(fft, operand, &truths, error)
            }
            false if machine.has_truth => fourier(fft, &operand.shape, truths),
            false => ComplexLines {
                shape: image.shape.clone(),
                values: vec![[Ball::UNKNOWN; 2]; image.values.len()],
            },
        };
        // Of infinities, algorithms differ in what they make.
        let rows = numbers.chunks_exact(block * width);
        let is_known: Vec<bool> = rows.map(|row| row.iter().all(|n| n.truth.is_finite())).collect();
        let result_block: usize = truth.shape[first..].iter().product();
        let rounding = Rounding { ulps: 0.5, ..self.rounding(machine, "fft", dtype) };
        let number = |at: usize, part: usize| {
            let row = at / result_block;
            let error = up(sizes[row] * roundings * roundoff + radii[row]);
            let image = image.values[at][part];
            let bounds = match error.is_finite() && image.is_finite() {
                true => {
                    let image = image.widened(error);
                    Image::between(image, image).rounded(dtype.part(), rounding)
                }
                false => Bounds::ANY,
            };
            let truth = if is_known[row] { truth.values[at][part] } else { Ball::UNKNOWN };
            Number { truth, bounds }
        };
        let parts = if dtype.is_complex() { 2 } else { 1 };
        let results = (0..truth.values.len()).flat_map(|at| (0..parts).map(move |p| (at, p)));
        let results = results.map(|(at, part)| number(at, part)).collect();
        self.with_any_doubt(operands, Array::of_numbers(dtype, truth.shape.clone(), results)?)
    }

    /// The transform in `f64`, with errors of units roundoff by the block that is transformed.
    fn with_few_digits(
        &self,
        fft: &Fft,
        operand: &Array,
        values: &[Complex<Ball>],
        error: impl Fn(usize) -> f64,
    ) -> ComplexLines<Ball> {
        let values = values.iter().map(|value| value.map(|part| part.hi)).collect();
        let ComplexLines { shape, values } = fourier::<f64>(fft, &operand.shape, values);
        let first = operand.shape.len() - fft.lengths.len();
        let block: usize = shape[first..].iter().product();
        let ball = |(at, value): (usize, [f64; 2])| {
            let error = error(at / block) * U * 1.01;
            // Products may be below the range.
            let error = if error == 0.0 { 0.0 } else { up(error + 1e-300) };
            value.map(|part| match part.is_finite() {
                true => Ball::exact(part).widened(error),
                false => Ball::UNKNOWN,
            })
        };
        let values = values.into_iter().enumerate().map(ball).collect();
        ComplexLines { shape, values }
    }
}

/// The elements of an operand as complex numbers.
fn complex(
    numbers: &[Number],
    operand: &Array,
    value: impl Fn(&Number) -> Ball,
) -> Vec<Complex<Ball>> {
    match operand.width() {
        2 => numbers.chunks_exact(2).map(|z| [value(&z[0]), value(&z[1])]).collect(),
        _ => numbers.iter().map(|x| [value(x), Ball::ZERO]).collect(),
    }
}
