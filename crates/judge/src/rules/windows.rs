//! Selected elements of windows, and updates that are not added.

use super::elementwise::extreme;
use super::sums::{Sums, ball, first_tensor, product_of};
use super::{Op, Ruled};
use crate::array::{Array, Number, tensor};
use crate::ball::{Ball, up};
use crate::doubts::Kind;
use crate::machine::Machine;
use numerics::math::{BinaryOp, Direction};
use numerics::{DType, Tensor};
use program::primitives;
use program::{Body, BodyShape, EvalError, Primitive, RuntimeValue, Window};

/// The places in a tensor that each window sees, in row-major order.
fn places(shape: &[usize], counts: &[usize], window: &Window) -> Vec<Vec<usize>> {
    let mut all = vec![vec![0usize; 1]; 1];
    for (d, (dim, (&size, &count))) in window.iter().zip(shape.iter().zip(counts)).enumerate() {
        let _ = d;
        let mut next = Vec::with_capacity(all.len() * count);
        for before in &all {
            for number in 0..count as i64 {
                let mut seen = Vec::new();
                for place in before {
                    for tap in 0..dim.size {
                        let at = number * dim.stride - dim.pad_low + tap * dim.window_dilation;
                        if let Ok(at) = usize::try_from(at)
                            && at < size
                        {
                            seen.push(place * size + at);
                        }
                    }
                }
                next.push(seen);
            }
        }
        all = next;
    }
    all
}

impl Op<'_> {
    pub(super) fn select_and_scatter(
        &self,
        machine: &mut Machine<'_>,
        parameters: &primitives::SelectAndScatter,
        operands: &[&Array],
    ) -> Ruled {
        let &[operand, source, init] = operands else { return Ok(None) };
        let BodyShape::Binary { op: BinaryOp::Add, .. } = parameters.scatter.shape else {
            return Ok(None);
        };
        let is_plain = parameters.window.iter().all(|dim| dim.base_dilation == 1);
        if !operand.dtype.is_float() || !is_plain {
            return Ok(None);
        }
        let (smaller, first) = match parameters.relation {
            Some(Direction::Ge) => (false, true),
            Some(Direction::Gt) => (false, false),
            Some(Direction::Le) => (true, true),
            Some(Direction::Lt) => (true, false),
            Some(Direction::Eq | Direction::Ne) | None => return Ok(None),
        };
        let (numbers, sources, init) = (operand.numbers()?, source.numbers()?, init.numbers()?[0]);
        let windows = places(&operand.shape, &source.shape, &parameters.window);
        let mut added: Vec<Vec<Number>> = vec![Vec::new(); numbers.len()];
        let mut doubts = vec![0u32; numbers.len()];
        for (window, &source) in windows.iter().zip(sources.iter()) {
            let value = |&at: &usize| match smaller {
                true => Number { truth: -numbers[at].truth, bounds: numbers[at].bounds.negated() },
                false => numbers[at],
            };
            let Some(best) = window.iter().map(value).reduce(|a, b| extreme(a, b, false)) else {
                continue;
            };
            let is_candidate = |at: &&usize| {
                let bounds = value(at).bounds;
                bounds.nan || bounds.high >= best.bounds.low
            };
            let candidates: Vec<usize> = window.iter().filter(is_candidate).copied().collect();
            let order = |a: &usize, b: &usize| value(a).truth.hi.total_cmp(&value(b).truth.hi);
            let chosen = match first {
                true => candidates.iter().copied().rev().max_by(order),
                false => candidates.iter().copied().max_by(order),
            };
            let Some(chosen) = chosen else { continue };
            added[chosen].push(source);
            let tied = value(&candidates[0]).bounds.value();
            let ties =
                tied.is_some() && candidates.iter().all(|at| value(at).bounds.value() == tied);
            let truest = match first {
                true => window.iter().copied().rev().max_by(order),
                false => window.iter().copied().max_by(order),
            };
            let is_true = truest == Some(chosen) || !machine.has_truth;
            if candidates.len() > 1 && !ties || !is_true {
                let code = machine.doubts.code(self.origin(), Kind::Order, false, || {
                    let other = candidates.get(1).copied().or(truest).unwrap_or(chosen);
                    let [a, b] =
                        [candidates[0], other].map(|i| super::elementwise::shown(numbers[i]));
                    format!("{a} and {b}")
                });
                candidates.iter().chain(&truest).for_each(|&at| doubts[at] = code);
            }
        }
        let dtype = operand.dtype;
        let sums = Sums::new(self, machine, dtype, false);
        let total = |own: &Vec<Number>| {
            if own.is_empty() {
                return init;
            }
            let all = || own.iter().chain(std::iter::once(&init));
            let truth = all().fold(Ball::ZERO, |sum, n| sum + n.truth);
            let image = all().fold(Ball::ZERO, |sum, n| sum + ball(n.bounds));
            let size = up(all().map(|n| n.bounds.magnitude()).sum());
            let terms = all().filter(|n| n.bounds.value() != Some(0.0)).count();
            Number { truth, bounds: sums.of(image, size, terms as f64) }
        };
        let results = added.iter().map(total).collect();
        let array = Array::of_numbers(dtype, operand.shape.clone(), results)?;
        let doubt = super::any_doubt(operands)?;
        if doubt != 0 {
            doubts.iter_mut().for_each(|own| *own = doubt);
        }
        let doubts = tensor(&operand.shape, doubts)?;
        Ok(Some(vec![array.with_doubts(Some(doubts))]))
    }

    /// Updates that are combined by a maximum, minimum or product.
    pub(super) fn scatter_by(
        &self,
        machine: &mut Machine<'_>,
        scatter: &primitives::Scatter,
        op: BinaryOp,
        [input, updates]: [&Array; 2],
        indices: &Tensor,
    ) -> Ruled {
        // The updates of each element, found by scattering their numbers: each round finds the
        // largest number that is left for each element.
        let body = Body {
            dtypes: vec![Some(DType::F64); 2],
            shape: BodyShape::Binary { op: BinaryOp::Maximum, swapped: false },
            extremum: None,
            ..(*scatter.body).clone()
        };
        let dims = primitives::ScatterDims::clone(&scatter.dims);
        let primitive =
            Primitive::Scatter(primitives::Scatter { dims: Box::new(dims), body: Box::new(body) });
        let mut numbers: Vec<f64> = (0..updates.len()).map(|i| i as f64 + 1.0).collect();
        let mut found: Vec<Vec<usize>> = vec![Vec::new(); input.len()];
        loop {
            let values: [RuntimeValue; 3] = [
                Tensor::zeros(DType::F64, &input.shape)?.into(),
                indices.clone().into(),
                tensor(&updates.shape, numbers.clone())?.into(),
            ];
            let mut env = program::NoEvaluator;
            let result = kernels::evaluate(&primitive, self.origin(), values.into(), &mut env)?;
            let result = first_tensor(result)?;
            let mut is_done = true;
            for (element, &number) in result.as_slice::<f64>()?.iter().enumerate() {
                if number > 0.0 {
                    found[element].push(number as usize - 1);
                    numbers[number as usize - 1] = 0.0;
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
        let (inputs, news) = (input.numbers()?, updates.numbers()?);
        let rounding = self.rounding(machine, op.name(), input.dtype);
        let roundoff = machine.model.sum_roundoff(input.dtype);
        let combine = |element: usize| -> Option<Number> {
            let own = &found[element];
            let all = || own.iter().map(|&i| news[i]).chain(std::iter::once(inputs[element]));
            if own.is_empty() {
                return Some(inputs[element]);
            }
            match op {
                BinaryOp::Maximum => all().reduce(|a, b| extreme(a, b, false)),
                BinaryOp::Minimum => all().reduce(|a, b| extreme(a, b, true)),
                BinaryOp::Multiply => {
                    let all: Vec<Number> = all().collect();
                    Some(product_of(&all, input.dtype, roundoff, rounding))
                }
                _ => None,
            }
        };
        let results: Option<Vec<Number>> = (0..input.len()).map(combine).collect();
        let Some(results) = results else { return Ok(None) };
        let array = Array::of_numbers(input.dtype, input.shape.clone(), results)?;
        self.with_any_doubt(&[input, updates], array)
    }

    pub(super) fn batch_norm(
        &self,
        machine: &mut Machine<'_>,
        parameters: &primitives::BatchNorm,
        operands: &[&Array],
    ) -> Ruled {
        use primitives::BatchNormKind::{Grad, Inference, Training};
        if parameters.kind == Grad || !operands[0].dtype.is_float() {
            return Ok(None);
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
        let sums = Sums::new(self, machine, dtype, false);
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

    /// Arrays with the doubts of all elements of operands.
    pub(super) fn all_with_any_doubt(&self, operands: &[&Array], arrays: Vec<Array>) -> Ruled {
        let mut results = Vec::new();
        for array in arrays {
            results.extend(self.with_any_doubt(operands, array)?.into_iter().flatten());
        }
        Ok::<_, EvalError>(Some(results))
    }
}
