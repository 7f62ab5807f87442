//! Sums and sums of products of balls to about 50 bits: one kernel on `f64` for the midpoints, and
//! others for the errors of terms. The error of a sum of `n` terms, in any order, is at most
//! `n U Σ|x|`.

use crate::array::tensor;
use crate::ball::{Ball, U, up};
use crate::exact_sums::{Kernel, bounded, finite};
use numerics::Tensor;
use program::EvalError;

/// Sums of more terms are computed with more digits.
pub(crate) const MAX_QUICK_TERMS: f64 = 65536.0;

/// The largest sum of multiples of a unit whose partial sums all are exact, in such units.
pub(crate) const EXACT: f64 = (1u64 << 53) as f64;

/// An upper bound of the error of sums in proportion to the sum of absolute values of terms, each
/// of which may be a rounded product.
pub(crate) fn roundoff(terms: f64) -> f64 {
    (terms + 4.0) * U * 1.01
}

/// The distance of a number from its first part.
fn rest(ball: &Ball) -> f64 {
    if ball.lo == 0.0 { ball.radius } else { up(ball.lo.abs() + ball.radius) }
}

fn map(shape: &[usize], balls: &[Ball], value: impl Fn(&Ball) -> f64) -> Result<Tensor, EvalError> {
    Ok(tensor(shape, balls.iter().map(value).collect())?)
}

/// The sums of a kernel, widened by errors that are not zero.
fn widened(sums: &Tensor, errors: &[Tensor], terms: f64) -> Result<Vec<Ball>, EvalError> {
    let ball = |&sum: &f64| if sum.is_finite() { Ball::exact(sum) } else { Ball::UNKNOWN };
    let mut balls: Vec<Ball> = sums.as_slice::<f64>()?.iter().map(ball).collect();
    for errors in errors {
        for (ball, &error) in balls.iter_mut().zip(errors.as_slice::<f64>()?) {
            *ball = ball.widened(bounded(error, terms));
        }
    }
    Ok(balls)
}

/// Sums of anything that is not finite are unknown.
fn without_missing(sums: &mut [Ball], missing: &Tensor) -> Result<(), EvalError> {
    for (sum, &missing) in sums.iter_mut().zip(missing.as_slice::<f64>()?) {
        if missing != 0.0 {
            *sum = Ball::UNKNOWN;
        }
    }
    Ok(())
}

/// As [`crate::exact_sums::linear`]; midpoints are multiples of `unit` where balls are exact.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn quick_linear(
    operands: &[(&[usize], &[Ball])],
    terms: f64,
    unit: f64,
    kernel: &mut Kernel<'_>,
) -> Result<Vec<Ball>, EvalError> {
    let kept: Vec<_> = operands.iter().map(|(_, balls)| finite(balls)).collect();
    let mut run = |value: &dyn Fn(&Ball) -> f64| {
        let tensors = operands.iter().zip(&kept);
        let tensors = tensors.map(|((shape, _), (balls, _))| map(shape, balls, value));
        kernel(tensors.collect::<Result<_, _>>()?)
    };
    let sums = run(&|ball| ball.hi)?;
    let all = || kept.iter().flat_map(|(balls, _)| balls);
    let is_exact = all().all(|ball| ball.is_exact() && ball.lo == 0.0);
    let largest = all().map(|ball| ball.hi.abs()).fold(0.0, f64::max);
    let errors = match is_exact && largest * terms <= EXACT * unit {
        true => Vec::new(),
        false => {
            let share = roundoff(terms);
            vec![run(&|ball| rest(ball) + share * ball.hi.abs())?]
        }
    };
    let mut balls = widened(&sums, &errors, terms)?;
    if kept.iter().any(|(_, missing)| missing.is_some()) {
        let tensors = operands.iter().zip(&kept).map(|((shape, balls), (_, missing))| {
            let none = || vec![0.0; balls.len()];
            tensor(shape, missing.clone().unwrap_or_else(none))
        });
        let missing = kernel(tensors.collect::<Result<_, _>>()?)?;
        without_missing(&mut balls, &missing)?;
    }
    Ok(balls)
}

/// As [`crate::exact_sums::bilinear`]; products of midpoints are multiples of `unit` where balls
/// are exact.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn quick_bilinear(
    [lhs, rhs]: [(&[usize], &[Ball]); 2],
    terms: f64,
    unit: f64,
    kernel: &mut Kernel<'_>,
) -> Result<Vec<Ball>, EvalError> {
    let ((a, a_missing), (b, b_missing)) = (finite(lhs.1), finite(rhs.1));
    let mut run = |left: Tensor, right: Tensor| kernel(vec![left, right]);
    let middles = [map(lhs.0, &a, |ball| ball.hi)?, map(rhs.0, &b, |ball| ball.hi)?];
    let sums = run(middles[0].clone(), middles[1].clone())?;
    let largest = |balls: &[Ball]| balls.iter().map(|ball| ball.hi.abs()).fold(0.0, f64::max);
    let is_exact = |balls: &[Ball]| balls.iter().all(|ball| ball.is_exact() && ball.lo == 0.0);
    let (a_exact, b_exact) = (is_exact(&a), is_exact(&b));
    let mut errors = Vec::new();
    if !(a_exact && b_exact && largest(&a) * largest(&b) * terms <= EXACT * unit) {
        // (a + r)(b + s) - ab = r b + (a + r) s, and the rounding of the sum is a part of r.
        let share = roundoff(terms);
        let left = map(lhs.0, &a, |ball| rest(ball) + share * ball.hi.abs())?;
        errors.push(run(left, map(rhs.0, &b, |ball| ball.hi.abs())?)?);
        if !b_exact {
            let left = map(lhs.0, &a, |ball| up(ball.hi.abs() + rest(ball)))?;
            errors.push(run(left, map(rhs.0, &b, rest)?)?);
        }
    }
    let mut balls = widened(&sums, &errors, terms)?;
    let least = |balls: &[Ball]| {
        let sizes = balls.iter().map(|ball| ball.hi.abs()).filter(|&size| size > 0.0);
        sizes.fold(f64::INFINITY, f64::min)
    };
    // Products below the range.
    if least(&a) * least(&b) < 1e-250 {
        balls.iter_mut().for_each(|ball| *ball = ball.widened(terms * 1e-322));
    }
    for (missing, is_left) in [(a_missing, true), (b_missing, false)] {
        let Some(missing) = missing else { continue };
        let (own, others) = if is_left { (lhs, rhs) } else { (rhs, lhs) };
        let (own, ones) = (tensor(own.0, missing)?, Tensor::splat(others.0, 1f64)?);
        let found = if is_left { run(own, ones)? } else { run(ones, own)? };
        without_missing(&mut balls, &found)?;
    }
    Ok(balls)
}
