//! Batch normalization, by the formulas of the specification.

use super::sums::{SumRounding, ball};
use super::{Op, Ruled};
use crate::array::{Array, Number};
use crate::ball::{Ball, up};
use crate::machine::Machine;
use program::primitives;

impl Op<'_> {
    pub(super) fn batch_norm(
        &self,
        machine: &mut Machine<'_>,
        parameters: &primitives::BatchNorm,
        operands: &[&Array],
    ) -> Ruled {
        use primitives::BatchNormKind::{Grad, Inference, Training};
        if !operands[0].dtype.is_float() {
            return Ok(None);
        }
        if parameters.kind == Grad {
            return self.batch_norm_grad(machine, parameters, operands);
        }
        let input = operands[0];
        let numbers = input.numbers()?;
        let (index, dtype) = (parameters.feature_index, input.dtype);
        let features = input.shape[index];
        let inner: usize = input.shape[index + 1..].iter().product();
        let feature = |i: usize| i / inner % features;
        let rest = operands[1..].iter().map(|array| array.numbers());
        let rest = rest.collect::<Result<Vec<_>, _>>()?;
        let count = input.len().checked_div(features).unwrap_or(0) as f64;
        let roundoff = machine.model.sum_roundoff(dtype);
        let sums = SumRounding::new(self, machine, dtype, false);
        let epsilon = Ball::exact(parameters.epsilon);
        let mut statistics: Vec<[Number; 2]> = Vec::new();
        if parameters.kind == Training {
            for f in 0..features {
                let own = || (0..input.len()).filter(|&i| feature(i) == f).map(|i| numbers[i]);
                let moments = |value: &dyn Fn(&Number) -> Ball| {
                    let n = Ball::exact(count);
                    let mean = own().fold(Ball::ZERO, |s, x| s + value(&x)).over(n);
                    let square = own().fold(Ball::ZERO, |s, x| s + (value(&x) - mean).square());
                    (mean, square.over(n))
                };
                let (mean, variance) = moments(&|n| n.truth);
                let (mean_image, variance_image) = moments(&|n| ball(n.bounds));
                let size = up(own().map(|n| n.bounds.magnitude()).sum::<f64>() / count);
                let squares = up(own().map(|n| n.bounds.magnitude().powi(2)).sum::<f64>() / count);
                // Of the mean of squares, less the square of the mean, which is the worst formula.
                let error = up(squares * (2.0 * count + 8.0) * roundoff);
                statistics.push([
                    Number { truth: mean, bounds: sums.of(mean_image, size, count + 1.0) },
                    Number {
                        truth: variance,
                        bounds: sums.of(variance_image.widened(error), 0.0, 0.0),
                    },
                ]);
            }
        } else {
            statistics = (0..features).map(|f| [rest[2][f], rest[3][f]]).collect();
        }
        let output = |(i, x): (usize, &Number)| {
            let (f, [mean, variance]) = (feature(i), statistics[feature(i)]);
            let (scale, offset) = (rest[0][f], rest[1][f]);
            let value = |part: &dyn Fn(&Number) -> Ball| {
                let deviation = (part(&variance) + epsilon).sqrt();
                let scaled = (part(x) - part(&mean)) * part(&scale).over(deviation);
                (scaled, part(&offset))
            };
            let (scaled, own_offset) = value(&|n| n.truth);
            let truth = scaled + own_offset;
            let (scaled, own_offset) = value(&|n| ball(n.bounds));
            // Six roundings of factors, the mean's that cancels, and the last addition.
            let spread = x.bounds.magnitude() + mean.bounds.magnitude();
            let factor = {
                let deviation = (ball(variance.bounds) + epsilon).sqrt();
                ball(scale.bounds).over(deviation).magnitude()
            };
            let error = up(roundoff
                * (8.0 * scaled.magnitude() + 2.0 * spread * factor + own_offset.magnitude()));
            let image = (scaled + own_offset).widened(error);
            Number { truth, bounds: sums.of(image, 0.0, 0.0) }
        };
        let results = numbers.iter().enumerate().map(output).collect();
        let mut arrays = vec![Array::of_numbers(dtype, input.shape.clone(), results)?];
        if parameters.kind != Inference {
            for part in 0..2 {
                let column = statistics.iter().map(|pair| pair[part]).collect();
                arrays.push(Array::of_numbers(dtype, vec![features], column)?);
            }
        }
        self.all_with_any_doubt(operands, arrays)
    }

    /// The gradients: of the operand, `s / (N σ) (N g - Σg - (x - μ) Σg(x - μ) / σ²)`, of the scale,
    /// `Σg(x - μ) / σ`, and of the offset, `Σg`.
    fn batch_norm_grad(
        &self,
        machine: &mut Machine<'_>,
        parameters: &primitives::BatchNorm,
        operands: &[&Array],
    ) -> Ruled {
        let &[input, scale, mean, variance, gradient] = operands else { return Ok(None) };
        let (index, dtype) = (parameters.feature_index, input.dtype);
        let features = input.shape[index];
        let inner: usize = input.shape[index + 1..].iter().product();
        let [x, scale, mean, variance, gradient] = {
            let [x, s] = [input.numbers()?, scale.numbers()?];
            [x, s, mean.numbers()?, variance.numbers()?, gradient.numbers()?]
        };
        let count = input.len().checked_div(features).unwrap_or(0) as f64;
        let roundoff = machine.model.sum_roundoff(dtype);
        let sums = SumRounding::new(self, machine, dtype, false);
        let epsilon = Ball::exact(parameters.epsilon);
        let mut results = vec![Number::UNKNOWN; x.len()];
        let (mut of_scale, mut of_offset) = (Vec::new(), Vec::new());
        for f in 0..features {
            let own: Vec<usize> = (0..x.len()).filter(|i| i / inner % features == f).collect();
            // For the numbers, and for intervals with the errors that rounding makes of them.
            let formulas = |part: &dyn Fn(&Number) -> Ball| -> (Vec<Ball>, Ball, Ball) {
                let square = part(&variance[f]) + epsilon;
                let deviation = square.sqrt();
                let centered = |i: usize| part(&x[i]) - part(&mean[f]);
                let total = own.iter().fold(Ball::ZERO, |sum, &i| sum + part(&gradient[i]));
                let moment =
                    own.iter().fold(Ball::ZERO, |sum, &i| sum + part(&gradient[i]) * centered(i));
                let n = Ball::exact(count);
                let factor = part(&scale[f]).over(deviation * n);
                let value = |&i: &usize| {
                    let rest = (moment * centered(i)).over(square);
                    factor * (n * part(&gradient[i]) - total - rest)
                };
                (own.iter().map(value).collect(), moment.over(deviation), total)
            };
            let truth = formulas(&|n| n.truth);
            let image = formulas(&|n| ball(n.bounds));
            // Sums of n terms, and at most 16 other roundings, of terms that may cancel.
            let roundings = (count + 16.0) * roundoff;
            let spread = |i: usize| x[i].bounds.magnitude() + mean[f].bounds.magnitude();
            let square = ball(variance[f].bounds) + epsilon;
            let deviation = square.sqrt();
            let size = |i: usize| gradient[i].bounds.magnitude();
            let total: f64 = own.iter().map(|&i| size(i)).sum();
            let moment: f64 = own.iter().map(|&i| size(i) * spread(i)).sum();
            let factor = ball(scale[f].bounds).over(deviation * Ball::exact(count)).magnitude();
            let least = square.mignitude();
            for (k, &i) in own.iter().enumerate() {
                let error =
                    factor * (count * size(i) + total + moment * spread(i) / least) * roundings;
                let bounds = sums.of(image.0[k].widened(up(error * 1.1)), 0.0, 0.0);
                results[i] = Number { truth: truth.0[k], bounds };
            }
            let error = up(moment / deviation.mignitude() * roundings * 1.1);
            let bounds = sums.of(image.1.widened(error), 0.0, 0.0);
            of_scale.push(Number { truth: truth.1, bounds });
            of_offset.push(Number { truth: truth.2, bounds: sums.of(image.2, up(total), count) });
        }
        let arrays = vec![
            Array::of_numbers(dtype, input.shape.clone(), results)?,
            Array::of_numbers(dtype, vec![features], of_scale)?,
            Array::of_numbers(dtype, vec![features], of_offset)?,
        ];
        self.all_with_any_doubt(operands, arrays)
    }
}
