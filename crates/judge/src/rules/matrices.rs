//! Decompositions of matrices and triangular systems, by their formulas: each element is a sum of
//! products in any order, divided or under a root.

use super::sums::{SumRounding, ball};
use super::{Op, Ruled};
use crate::array::{Array, Number};
use crate::ball::{Ball, up};
use crate::bounds::{Bounds, Image};
use crate::machine::Machine;
use program::primitives;

/// A number less a sum of products, before it is rounded: its true value, its image with the error
/// of the sum in any order.
fn rest(
    start: Number,
    products: impl Iterator<Item = (Number, Number)>,
    roundoff: f64,
) -> (Ball, Ball) {
    let (mut truth, mut image) = (start.truth, ball(start.bounds));
    let (mut size, mut terms) = (start.bounds.magnitude(), 1.0);
    for (a, b) in products {
        truth = truth - a.truth * b.truth;
        let product = ball(a.bounds) * ball(b.bounds);
        size += a.bounds.magnitude() * b.bounds.magnitude();
        terms += 1.0;
        image = image - product;
    }
    let error = if terms > 1.0 { up(size * terms * roundoff) } else { 0.0 };
    (truth, if error.is_finite() { image.widened(error) } else { Ball::UNKNOWN })
}

impl Op<'_> {
    /// A number from its true value and its image, with two more roundings.
    fn divided(&self, sums: &SumRounding, truth: Ball, image: Ball, roundoff: f64) -> Number {
        let image = match image.is_finite() {
            true => image.widened(up(image.magnitude() * roundoff * 2.0)),
            false => Ball::UNKNOWN,
        };
        let bounds = match image.is_finite() {
            true => Image::between(image, image).rounded(sums.dtype, sums.rounding),
            false => Bounds::ANY,
        };
        Number { truth, bounds }
    }

    pub(super) fn cholesky(
        &self,
        machine: &mut Machine<'_>,
        cholesky: &primitives::Cholesky,
        operands: &[&Array],
    ) -> Ruled {
        let &[a] = operands else { return Ok(None) };
        let [.., _, n] = a.shape[..] else { return Ok(None) };
        if !a.dtype.is_float() || n == 0 {
            return Ok(None);
        }
        let (numbers, lower) = (a.numbers()?, cholesky.lower);
        let sums = SumRounding::new(self, machine, a.dtype, true);
        let roundoff = sums.roundoff;
        let mut results = vec![Number::exact(0.0); numbers.len()];
        for start in (0..numbers.len()).step_by(n * n) {
            // Places of the lower triangle, or of the transposed upper one.
            let at = |i: usize, j: usize| start + if lower { i * n + j } else { j * n + i };
            for j in 0..n {
                for i in j..n {
                    let products = (0..j).map(|k| (results[at(i, k)], results[at(j, k)]));
                    let (truth, image) = rest(numbers[at(i, j)], products, roundoff);
                    let (truth, image) = match i == j {
                        true => (truth.sqrt(), image.sqrt()),
                        false => {
                            let diagonal = results[at(j, j)];
                            (truth.over(diagonal.truth), image.over(ball(diagonal.bounds)))
                        }
                    };
                    results[at(i, j)] = self.divided(&sums, truth, image, roundoff);
                }
            }
        }
        self.with_any_doubt(operands, Array::of_numbers(a.dtype, a.shape.clone(), results)?)
    }

    pub(super) fn triangular_solve(
        &self,
        machine: &mut Machine<'_>,
        system: &primitives::TriangularSolve,
        operands: &[&Array],
    ) -> Ruled {
        let &[a, b] = operands else { return Ok(None) };
        let ([.., _, n], [.., rows, columns]) = (&a.shape[..], &b.shape[..]) else {
            return Ok(None);
        };
        let (n, rows, columns) = (*n, *rows, *columns);
        if !a.dtype.is_float() || n == 0 || rows * columns == 0 {
            return Ok(None);
        }
        let (matrix, sides) = (a.numbers()?, b.numbers()?);
        let sums = SumRounding::new(self, machine, a.dtype, true);
        let roundoff = sums.roundoff;
        let mut results = vec![Number::exact(0.0); sides.len()];
        // x op(a) = b is op(a)ᵀ xᵀ = bᵀ.
        let transposed = system.transposed == system.left_side;
        let lower = system.lower != transposed;
        let count = if system.left_side { columns } else { rows };
        for batch in 0..sides.len() / (rows * columns) {
            let (matrix, start) =
                (&matrix[batch * n * n..(batch + 1) * n * n], batch * rows * columns);
            let entry = |i: usize, j: usize| matrix[if transposed { j * n + i } else { i * n + j }];
            for c in 0..count {
                let at = |i: usize| {
                    start + if system.left_side { i * columns + c } else { c * columns + i }
                };
                for step in 0..n {
                    let i = if lower { step } else { n - 1 - step };
                    let done = if lower { 0..i } else { i + 1..n };
                    let products = done.map(|k| (entry(i, k), results[at(k)]));
                    let (mut truth, mut image) = rest(sides[at(i)], products, roundoff);
                    if !system.unit_diagonal {
                        truth = truth.over(entry(i, i).truth);
                        image = image.over(ball(entry(i, i).bounds));
                    }
                    results[at(i)] = self.divided(&sums, truth, image, roundoff);
                }
            }
        }
        self.with_any_doubt(operands, Array::of_numbers(b.dtype, b.shape.clone(), results)?)
    }
}
