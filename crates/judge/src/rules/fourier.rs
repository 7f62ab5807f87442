//! Discrete Fourier transforms.
//!
//! Any algorithm that factors the length has an error of at most about `(p + 4) u` for each prime
//! factor `p`, in proportion to the sum of absolute values, with factors rounded once.

use super::Op;
use super::Ruled;
use super::sums::ball;
use crate::array::{Array, Number};
use crate::ball::{Ball, up};
use crate::bounds::{Bounds, Image, Rounding};
use crate::functions::HALF_PI_BALL;
use crate::machine::Machine;
use crate::precise;
use program::primitives::{Fft, Fourier};

type Complex = [Ball; 2];

fn plus(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

fn times([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

/// The roots of unity `exp(±2πi k / n)`.
fn roots(n: usize, inverse: bool) -> Vec<Complex> {
    let half_pi = precise::half_pi().unwrap_or(HALF_PI_BALL);
    let root = |k: usize| {
        let angle = (half_pi * Ball::exact(4.0 * k as f64)).over(Ball::exact(n as f64));
        // Multiples of a right angle are exact.
        let (sin, cos) = match (4 * k) % n {
            0 => [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)]
                .map(|(s, c)| (Ball::exact(s), Ball::exact(c)))[4 * k / n % 4],
            _ => angle.sin_cos(),
        };
        [cos, if inverse { sin } else { -sin }]
    };
    (0..n).map(root).collect()
}

fn smallest_factor(n: usize) -> usize {
    (2..).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p)).unwrap_or(n)
}

/// The transform of `line`, of every `step`-th root.
fn transform(line: &[Complex], roots: &[Complex], step: usize) -> Vec<Complex> {
    let n = line.len();
    if n <= 1 {
        return line.to_vec();
    }
    let p = smallest_factor(n);
    let m = n / p;
    let parts: Vec<Vec<Complex>> = (0..p)
        .map(|r| {
            let own: Vec<Complex> = line.iter().copied().skip(r).step_by(p).collect();
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

/// A tensor of complex numbers with the sum of absolute values that its elements depend on.
struct ComplexLines {
    shape: Vec<usize>,
    values: Vec<Complex>,
}

impl ComplexLines {
    /// Transforms the lines along a dimension, each padded or cut to `length`.
    fn along(&self, dimension: usize, length: usize, inverse: bool) -> ComplexLines {
        let inner: usize = self.shape[dimension + 1..].iter().product();
        let size = self.shape[dimension];
        let outer: usize = self.shape[..dimension].iter().product();
        let roots = roots(length, inverse);
        let mut shape = self.shape.clone();
        shape[dimension] = length;
        let mut values = vec![[Ball::ZERO; 2]; outer * length * inner];
        for o in 0..outer {
            for i in 0..inner {
                let at = |k: usize| match k < size {
                    true => self.values[(o * size + k) * inner + i],
                    false => [Ball::ZERO; 2],
                };
                let line: Vec<Complex> = (0..length).map(at).collect();
                for (k, value) in transform(&line, &roots, 1).into_iter().enumerate() {
                    values[(o * length + k) * inner + i] = value;
                }
            }
        }
        ComplexLines { shape, values }
    }
}

/// The transform of numbers, as complex values of the shape of the result's complex side.
fn fourier(fft: &Fft, shape: &[usize], values: Vec<Complex>) -> ComplexLines {
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
                let im = if is_real { Ball::ZERO } else { im };
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
        let count = Ball::exact(count as f64);
        for value in &mut lines.values {
            *value = value.map(|part| part.over(count));
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
        let complex = |value: &dyn Fn(&Number) -> Ball| -> Vec<Complex> {
            match operand.width() {
                2 => numbers.chunks_exact(2).map(|z| [value(&z[0]), value(&z[1])]).collect(),
                _ => numbers.iter().map(|x| [value(x), Ball::ZERO]).collect(),
            }
        };
        let truth = fourier(fft, &operand.shape, complex(&|n| n.truth));
        let image = {
            let _pause = precise::pause();
            fourier(fft, &operand.shape, complex(&|n| ball(n.bounds).middle()))
        };
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
            Number { truth: truth.values[at][part], bounds }
        };
        let parts = if dtype.is_complex() { 2 } else { 1 };
        let results = (0..truth.values.len()).flat_map(|at| (0..parts).map(move |p| (at, p)));
        let results = results.map(|(at, part)| number(at, part)).collect();
        self.with_any_doubt(operands, Array::of_numbers(dtype, truth.shape.clone(), results)?)
    }
}
