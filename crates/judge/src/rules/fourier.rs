//! Discrete Fourier transforms.
//!
//! Any algorithm that factors the length has an error of at most about `(p + 4) u` for each prime
//! factor `p`, in proportion to the sum of absolute values, with factors rounded once and operations
//! that are off by at most `u` of their results. So true values of large transforms are computed
//! without radii, as sums of two `f64`.

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
use numerics::math::double::Double;
use program::primitives::{Fft, Fourier};
use std::ops::{Add, Mul, Neg, Sub};

/// An upper bound of the errors of sums and products of two [`Double`]s in proportion to their
/// size, which are up to 3 and 7 units.
const DOUBLE_ERROR: f64 = 8.0 * U * U;

/// Transforms with more products of true values are computed without radii.
const MAX_BALL_PRODUCTS: f64 = 4096.0;

/// The real numbers of a transform: balls, or numbers whose error follows from the number of
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

impl TransformNumber for Double {
    fn of(ball: Ball) -> Double {
        Double::new(ball.hi, ball.lo)
    }

    fn over_count(self, count: f64) -> Double {
        self.over(Double::from(count))
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

/// The largest error of operations with [`Double`]s and of the roots of unity of a transform, in
/// proportion to their size.
fn double_error(fft: &Fft) -> f64 {
    let roots = fft.lengths.iter().flat_map(|&n| roots::<Ball>(n, false));
    roots.flatten().map(|part| part.radius).fold(DOUBLE_ERROR, f64::max)
}

fn smallest_factor(n: usize) -> usize {
    (2..).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p)).unwrap_or(n)
}

/// A transform of a length.
struct LineTransform<R> {
    roots: Vec<Complex<R>>,
    zero: Complex<R>,
}

impl<R: TransformNumber> LineTransform<R> {
    fn new(length: usize, inverse: bool) -> LineTransform<R> {
        LineTransform { roots: roots(length, inverse), zero: [R::of(Ball::ZERO); 2] }
    }

    /// Transforms the elements of `line` at every `stride`-th place, by every `stride`-th root.
    fn apply(&self, line: &[Complex<R>], stride: usize, results: &mut [Complex<R>]) {
        let n = results.len();
        if n <= 1 {
            results.copy_from_slice(&line[..n]);
            return;
        }
        let p = smallest_factor(n);
        let m = n / p;
        for (r, part) in results.chunks_exact_mut(m).enumerate() {
            self.apply(&line[r * stride..], stride * p, part);
        }
        let mut terms = vec![self.zero; p];
        for k in 0..m {
            for (r, term) in terms.iter_mut().enumerate() {
                *term = results[r * m + k];
            }
            if p == 2 {
                let turned = times(terms[1], self.roots[k * stride]);
                results[k] = plus(terms[0], turned);
                results[m + k] = plus(terms[0], turned.map(R::neg));
                continue;
            }
            for own in 0..p {
                // The powers of a root, whose exponents are taken modulo their number.
                let (step, mut at, mut sum) = ((own * m + k) * stride, 0, terms[0]);
                for &term in &terms[1..] {
                    at += step;
                    at -= if at >= self.roots.len() { self.roots.len() } else { 0 };
                    sum = plus(sum, times(term, self.roots[at]));
                }
                results[own * m + k] = sum;
            }
        }
    }
}

/// The number of products of transforms of all lines along dimensions.
fn products(fft: &Fft, shape: &[usize]) -> f64 {
    let of_line = |mut n: usize| {
        let mut sum = 0;
        while n > 1 {
            let p = smallest_factor(n);
            sum += p;
            n /= p;
        }
        sum as f64
    };
    let outer: usize = shape[..shape.len() - fft.lengths.len()].iter().product();
    let block: usize = fft.lengths.iter().product();
    outer as f64 * block as f64 * fft.lengths.iter().map(|&n| of_line(n)).sum::<f64>()
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
        let transform = LineTransform::<R>::new(length, inverse);
        let mut shape = self.shape.clone();
        shape[dimension] = length;
        let mut values = vec![transform.zero; outer * length * inner];
        let [mut line, mut results] = [(); 2].map(|()| vec![transform.zero; length]);
        for o in 0..outer {
            for i in 0..inner {
                for (k, value) in line.iter_mut().enumerate().take(size) {
                    *value = self.values[(o * size + k) * inner + i];
                }
                transform.apply(&line, 1, &mut results);
                for (k, &value) in results.iter().enumerate() {
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
            true => {
                let error = |row: usize| sizes[row] * roundings * U;
                self.without_radii(fft, operand, &middles, &error, Ball::exact)
            }
            false => {
                let _pause = precise::pause();
                fourier(fft, &operand.shape, middles)
            }
        };
        let truths = complex(&numbers, operand, |n| n.truth);
        let is_finite = numbers.iter().all(|n| n.truth.is_finite());
        let is_large = products(fft, &operand.shape) > MAX_BALL_PRODUCTS && !precise::is_on();
        let sizes_of = |value: fn(Ball) -> f64| sum(&|n| value(n.truth));
        let truth = if machine.is_quick(dtype) && is_finite {
            let (sizes, rests) = (sizes_of(Ball::magnitude), sizes_of(super::slopes::rest));
            let error = |row: usize| sizes[row] * roundings * U + rests[row];
            self.without_radii(fft, operand, &truths, &error, Ball::exact)
        } else if !machine.has_truth {
            ComplexLines {
                shape: image.shape.clone(),
                values: vec![[Ball::UNKNOWN; 2]; image.values.len()],
            }
        } else if is_large && is_finite {
            let (sizes, radii) = (sizes_of(Ball::magnitude), sizes_of(|truth| truth.radius));
            let unit = double_error(fft);
            let error = |row: usize| sizes[row] * roundings * unit + radii[row];
            let ball = |sum: Double| Ball::constant(sum.hi, sum.lo, 0.0);
            self.without_radii(fft, operand, &truths, &error, ball)
        } else {
            fourier(fft, &operand.shape, truths)
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

    /// The transform with numbers whose errors are bounded by the block that is transformed.
    fn without_radii<R: TransformNumber>(
        &self,
        fft: &Fft,
        operand: &Array,
        values: &[Complex<Ball>],
        error: &dyn Fn(usize) -> f64,
        ball: impl Fn(R) -> Ball,
    ) -> ComplexLines<Ball> {
        let values = values.iter().map(|value| value.map(R::of)).collect();
        let ComplexLines { shape, values } = fourier::<R>(fft, &operand.shape, values);
        let first = operand.shape.len() - fft.lengths.len();
        let block: usize = shape[first..].iter().product();
        let ball = |(at, value): (usize, Complex<R>)| {
            let error = error(at / block) * 1.01;
            // Products may be below the range.
            let error = if error == 0.0 { 0.0 } else { up(error + 1e-300) };
            value.map(|part| match ball(part) {
                ball if ball.hi.is_finite() && ball.lo.is_finite() => ball.widened(error),
                _ => Ball::UNKNOWN,
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
