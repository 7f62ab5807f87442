//! Sums and sums of products of balls, by kernels on `f64`.
//!
//! Numbers are cut into slices, narrow enough that the kernel's sums of them, in whatever order,
//! are exact (K. Ozaki, T. Ogita, S. Oishi and S. M. Rump, *Error-free transformations of matrix
//! multiplication by using fast routines of matrix multiplication and its applications*, 2012). The
//! digits that are left and the radii bound the error. So no kernel is written twice: products,
//! convolutions, reductions and scattered sums all are what the interpreter computes.

use crate::array::tensor;
use crate::ball::{Ball, U, up};
use crate::precise;
use numerics::Tensor;
use numerics::math::double::{Double, two_sum};
use program::EvalError;

/// A sum over elements of operands: a kernel on tensors of `f64`.
pub(crate) type Kernel<'a> = dyn FnMut(Vec<Tensor>) -> Result<Tensor, EvalError> + 'a;

/// At most this many slices are cut from each operand.
const MAX_SLICES: usize = 6;

/// Likewise, with more digits than balls have.
const MANY_SLICES: usize = 24;

/// The parts of numbers with more digits.
const MANY_PARTS: usize = 20;

/// Numbers of larger exponents are not cut.
const MAX_EXPONENT: i32 = 480;

/// The least product of slices whose digits are in the range of `f64`.
const MIN_EXPONENT: i32 = -1000;

/// Numbers as sums of slices, and what is left of each.
struct Slices {
    slices: Vec<Vec<f64>>,
    /// The exponent of the unit of the last slice.
    unit: i32,
    /// Bounds of the rests with radii; empty if all are zero.
    rests: Vec<f64>,
}

/// Cuts numbers into slices of integers of at most `bits` bits, times powers of two.
fn cut(numbers: &[Ball], bits: i32) -> Slices {
    match numbers.iter().any(|ball| ball.handle != 0) {
        true => cut_parts::<MANY_PARTS>(numbers.iter().map(|&ball| precise::parts(ball)), bits),
        false => cut_parts(numbers.iter().map(|ball| ([ball.hi, ball.lo], ball.radius)), bits),
    }
}

/// Cuts numbers, given as parts, each below the last digit of the one before, and radii.
fn cut_parts<const N: usize>(numbers: impl Iterator<Item = ([f64; N], f64)>, bits: i32) -> Slices {
    let mut rest: Vec<([f64; N], f64)> = numbers.collect();
    let largest = rest.iter().map(|(parts, _)| parts[0].abs()).fold(0.0, f64::max);
    let (mut slices, mut unit) = (Vec::new(), 0);
    let top = if largest > 0.0 { libm::ilogb(largest) + 1 } else { 0 };
    // Sums and products of larger numbers may leave the range; these are bounded, not computed.
    if largest > 0.0 && top < MAX_EXPONENT {
        for number in 1..=max_slices() as i32 {
            let next = top - bits * number;
            // Digits that are far below the radius tell nothing.
            let is_cut = |(parts, radius): &([f64; N], f64)| parts[0].abs() <= radius / 64.0;
            if next < MIN_EXPONENT || rest.iter().all(is_cut) {
                break;
            }
            unit = next;
            // Added to it, numbers are rounded to multiples of 2^unit.
            let magic = libm::scalbn(1.5, unit + 52);
            let slice = rest.iter_mut().map(|(parts, _)| {
                let part = (parts[0] + magic) - magic;
                parts[0] -= part;
                for at in 1..N {
                    let left = two_sum(parts[at - 1], parts[at]);
                    (parts[at - 1], parts[at]) = (left.hi, left.lo);
                }
                part
            });
            slices.push(slice.collect());
        }
    }
    let error = |(parts, radius): &([f64; N], f64)| {
        let left: f64 = parts.iter().map(|part| part.abs()).sum();
        if left + radius == 0.0 { 0.0 } else { up(left + radius) }
    };
    let mut rests: Vec<f64> = rest.iter().map(error).collect();
    if rests.iter().all(|&rest| rest == 0.0) {
        rests.clear();
    }
    Slices { slices, unit, rests }
}

/// The number of slices that are cut from each operand.
fn max_slices() -> usize {
    if precise::is_on() { MANY_SLICES } else { MAX_SLICES }
}

/// Bits of a slice of which `terms` are added without an error, or products of two.
fn slice_bits(terms: f64, factors: i32) -> i32 {
    let carry = terms.max(1.0).log2().ceil() as i32 + 1;
    ((52 - carry) / factors).max(1)
}

/// An upper bound of a sum that a kernel has made of numbers that are not negative.
pub(crate) fn bounded(sum: f64, terms: f64) -> f64 {
    if sum == 0.0 { 0.0 } else { up(sum * (1.0 + (2.0 * terms + 4.0) * U)) }
}

/// Replaces what is not finite by zero.
pub(crate) fn finite(numbers: &[Ball]) -> (Vec<Ball>, Option<Vec<f64>>) {
    if numbers.iter().all(|ball| ball.is_finite()) {
        return (numbers.to_vec(), None);
    }
    let kept = |ball: &Ball| if ball.is_finite() { *ball } else { Ball::ZERO };
    let missing = numbers.iter().map(|ball| if ball.is_finite() { 0.0 } else { 1.0 });
    (numbers.iter().map(kept).collect(), Some(missing.collect()))
}

/// Sums of the results of a kernel for slices, or pairs of slices.
enum SliceSums {
    /// With the errors of adding low parts.
    Doubles(Vec<(Double, f64)>),
    /// With more digits.
    Balls(Vec<Ball>),
}

impl SliceSums {
    fn new() -> SliceSums {
        match precise::is_on() {
            true => SliceSums::Balls(Vec::new()),
            false => SliceSums::Doubles(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            SliceSums::Doubles(sums) => sums.len(),
            SliceSums::Balls(sums) => sums.len(),
        }
    }

    fn add(&mut self, part: &Tensor) -> Result<(), EvalError> {
        let part = part.as_slice::<f64>()?;
        match self {
            SliceSums::Balls(sums) => {
                sums.resize(part.len(), Ball::ZERO);
                sums.iter_mut().zip(part).for_each(|(sum, &x)| *sum = *sum + Ball::exact(x));
            }
            SliceSums::Doubles(sums) => {
                sums.resize(part.len(), (Double::ZERO, 0.0));
                for ((sum, error), &x) in sums.iter_mut().zip(part) {
                    let high = two_sum(sum.hi, x);
                    let low = two_sum(sum.lo, high.lo);
                    *sum = Double::new(high.hi, low.hi);
                    *error += low.lo.abs();
                }
            }
        }
        Ok(())
    }

    fn into_balls(self) -> Vec<Ball> {
        let ball = |(sum, error): (Double, f64)| {
            let sum = two_sum(sum.hi, sum.lo);
            // There are fewer than a thousand errors.
            let error = if error == 0.0 { 0.0 } else { up(error * (1.0 + 1024.0 * U)) };
            Ball::constant(sum.hi, sum.lo, error)
        };
        match self {
            SliceSums::Doubles(sums) => sums.into_iter().map(ball).collect(),
            SliceSums::Balls(sums) => sums,
        }
    }
}

/// The sums that a linear kernel makes of its operands, each of at most `terms` terms. Sums of
/// anything that is not finite are unknown.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn linear(
    operands: &[(&[usize], &[Ball])],
    terms: f64,
    kernel: &mut Kernel<'_>,
) -> Result<Vec<Ball>, EvalError> {
    let all: Vec<Ball> = operands.iter().flat_map(|(_, numbers)| numbers.iter().copied()).collect();
    let (all, missing) = finite(&all);
    let mut run = |values: &[f64]| -> Result<Tensor, EvalError> {
        let mut start = 0;
        let part = |&(shape, numbers): &(&[usize], &[Ball])| {
            start += numbers.len();
            tensor(shape, values[start - numbers.len()..start].to_vec())
        };
        kernel(operands.iter().map(part).collect::<Result<_, _>>()?)
    };
    let Slices { slices, rests, .. } = cut(&all, slice_bits(terms, 1));
    let mut sums = SliceSums::new();
    for slice in &slices {
        sums.add(&run(slice)?)?;
    }
    if slices.is_empty() {
        sums.add(&run(&vec![0.0; all.len()])?)?;
    }
    let mut sums = sums.into_balls();
    if !rests.is_empty() {
        let errors = run(&rests)?;
        for (sum, &error) in sums.iter_mut().zip(errors.as_slice::<f64>()?) {
            *sum = sum.widened(bounded(error, terms));
        }
    }
    if let Some(missing) = missing {
        let missing = run(&missing)?;
        for (sum, &missing) in sums.iter_mut().zip(missing.as_slice::<f64>()?) {
            if missing != 0.0 {
                *sum = Ball::UNKNOWN;
            }
        }
    }
    Ok(sums)
}

/// The sums of products that a kernel makes of two operands, each of at most `terms` products. Sums
/// with anything that is not finite are unknown.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn bilinear(
    [lhs, rhs]: [(&[usize], &[Ball]); 2],
    terms: f64,
    kernel: &mut Kernel<'_>,
) -> Result<Vec<Ball>, EvalError> {
    let (a, a_missing) = finite(lhs.1);
    let (b, b_missing) = finite(rhs.1);
    let mut run = |a: &[f64], b: &[f64]| -> Result<Tensor, EvalError> {
        kernel(vec![tensor(lhs.0, a.to_vec())?, tensor(rhs.0, b.to_vec())?])
    };
    let (bits, most) = (slice_bits(terms, 2), max_slices());
    let (a_cut, b_cut) = (cut(&a, bits), cut(&b, bits));
    let size = |numbers: &[Ball]| -> Vec<f64> {
        numbers
            .iter()
            .map(|ball| if ball.hi == 0.0 { ball.radius } else { ball.magnitude() })
            .collect()
    };
    let mut sums = SliceSums::new();
    // Pairs of late slices are below the digits that are kept.
    let mut skipped = false;
    for (i, x) in a_cut.slices.iter().enumerate() {
        for (j, y) in b_cut.slices.iter().enumerate() {
            if i + j >= most {
                skipped = true;
                continue;
            }
            sums.add(&run(x, y)?)?;
            // A product takes about a nanosecond.
            precise::spend((sums.len() as f64 * terms / 500.0) as u64);
        }
    }
    if a_cut.slices.is_empty() || b_cut.slices.is_empty() {
        sums.add(&run(&vec![0.0; a.len()], &vec![0.0; b.len()])?)?;
    }
    let mut sums = sums.into_balls();
    // Digits of products that are below the range.
    if a_cut.unit + b_cut.unit < MIN_EXPONENT {
        let count = (most * most) as f64;
        sums.iter_mut().for_each(|sum| *sum = sum.widened(terms * count * 1e-322));
    }
    let mut widen = |x: &[f64], y: &[f64]| -> Result<(), EvalError> {
        let errors = run(x, y)?;
        for (sum, &error) in sums.iter_mut().zip(errors.as_slice::<f64>()?) {
            *sum = sum.widened(bounded(error, terms));
        }
        Ok(())
    };
    // (a + r)(b + s) - ab = r (b + s) + a s, with what was cut off for a and b.
    if !a_cut.rests.is_empty() {
        widen(&a_cut.rests, &size(&b))?;
    }
    if !b_cut.rests.is_empty() {
        widen(&size(&a), &b_cut.rests)?;
    }
    if skipped {
        let below = |slices: &Slices, from: usize| -> Vec<f64> {
            let n = slices.slices[0].len();
            let sum = |i: usize| slices.slices.iter().skip(from).map(|slice| slice[i].abs()).sum();
            (0..n).map(sum).map(up).collect()
        };
        for i in 1..a_cut.slices.len() {
            let single: Vec<f64> = a_cut.slices[i].iter().map(|x| x.abs()).collect();
            widen(&single, &below(&b_cut, most - i))?;
        }
    }
    for (missing, is_left) in [(a_missing, true), (b_missing, false)] {
        let Some(missing) = missing else { continue };
        let ones = vec![1.0; if is_left { b.len() } else { a.len() }];
        let found = if is_left { run(&missing, &ones)? } else { run(&ones, &missing)? };
        for (sum, &missing) in sums.iter_mut().zip(found.as_slice::<f64>()?) {
            if missing != 0.0 {
                *sum = Ball::UNKNOWN;
            }
        }
    }
    Ok(sums)
}
