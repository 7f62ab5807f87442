//! Selected elements of windows, and updates that are not added.

use super::elementwise::extreme;
use super::order::choice;
use super::sums::{SumRounding, ball, first_tensor, product_of};
use super::{Op, Ruled};
use crate::array::{Array, Number, tensor};
use crate::ball::{Ball, up};
use crate::machine::Machine;
use numerics::math::{BinaryOp, Direction};
use numerics::{DType, Tensor};
use program::primitives;
use program::{Body, BodyShape, EvalError, Primitive, RuntimeValue, Window};

/// The places in a tensor that each window sees, in row-major order.
pub(super) fn places(shape: &[usize], counts: &[usize], window: &Window) -> Vec<Vec<usize>> {
    let mut all = vec![vec![0usize; 1]; 1];
    for (dim, (&size, &count)) in window.iter().zip(shape.iter().zip(counts)) {
        let mut next = Vec::with_capacity(all.len() * count);
        for before in &all {
            for number in 0..count as i64 {
                let mut seen = Vec::new();
                for place in before {
                    for tap in 0..dim.size {
                        let at = number * dim.stride - dim.pad_low + tap * dim.window_dilation;
                        // Of a dilated base, the elements between are padding.
                        let is_element = at % dim.base_dilation == 0;
                        if let Ok(at) = usize::try_from(at / dim.base_dilation)
                            && at < size
                            && is_element
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
        let BodyShape::Binary { op, .. } = parameters.scatter.shape else {
            return Ok(None);
        };
        if !operand.dtype.is_float() {
            return self.exact_kernel(machine, operands);
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
            let all: Vec<Number> = window.iter().map(value).collect();
            let Some(choice) = choice(&all, None, first, machine.has_truth) else { continue };
            let Some(chosen) = choice.chosen else { continue };
            if !choice.is_open {
                added[window[chosen]].push(source);
                continue;
            }
            let pair = choice.nearest.map(|at| numbers[window[at]]);
            let code = self.order_doubt(machine, pair, operand.dtype);
            if op == BinaryOp::Add && choice.is_true {
                // Each candidate may be the one.
                let zero = Number::exact(0.0);
                for &at in &choice.candidates {
                    let truth = if at == chosen { source.truth } else { zero.truth };
                    let bounds = source.bounds.hull(zero.bounds);
                    added[window[at]].push(Number { truth, bounds });
                }
                continue;
            }
            added[window[chosen]].push(source);
            let open = choice.candidates.iter().chain(&choice.nearest);
            open.for_each(|&at| doubts[window[at]] = code);
        }
        let dtype = operand.dtype;
        if !is_combined(op) {
            return Ok(None);
        }
        let sums = SumRounding::new(self, machine, dtype, false);
        let total = |own: &Vec<Number>| {
            if own.is_empty() {
                return init;
            }
            let all = || own.iter().chain(std::iter::once(&init));
            if op != BinaryOp::Add {
                let all: Vec<Number> = all().copied().collect();
                return combined(&all, op, dtype, &sums);
            }
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

    /// The numbers of the updates of each element, in ascending order.
    pub(super) fn updates_of(
        &self,
        scatter: &primitives::Scatter,
        input: &[usize],
        updates: &[usize],
        indices: &Tensor,
    ) -> Result<Vec<Vec<usize>>, EvalError> {
        // Found by scattering numbers: each round finds the largest number that is left for each
        // element.
        let body = Body {
            dtypes: vec![Some(DType::F64); 2],
            shape: BodyShape::Binary { op: BinaryOp::Maximum, swapped: false },
            extremum: None,
            choice: None,
            ..(*scatter.body).clone()
        };
        let dims = primitives::ScatterDims::clone(&scatter.dims);
        let primitive =
            Primitive::Scatter(primitives::Scatter { dims: Box::new(dims), body: Box::new(body) });
        let mut numbers: Vec<f64> =
            (0..updates.iter().product::<usize>()).map(|i| i as f64 + 1.0).collect();
        let mut found: Vec<Vec<usize>> = vec![Vec::new(); input.iter().product()];
        loop {
            let values: [RuntimeValue; 3] = [
                Tensor::zeros(DType::F64, input)?.into(),
                indices.clone().into(),
                tensor(updates, numbers.clone())?.into(),
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
        found.iter_mut().for_each(|own| own.reverse());
        Ok(found)
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
        let found = self.updates_of(scatter, &input.shape, &updates.shape, indices)?;
        let (inputs, news) = (input.numbers()?, updates.numbers()?);
        let rounding = self.rounding(machine, op.name(), input.dtype);
        let roundoff = machine.model.sum_roundoff(input.dtype);
        let sums = SumRounding {
            rounding,
            roundoff,
            ..SumRounding::new(self, machine, input.dtype, false)
        };
        let combine = |element: usize| {
            let own = found[element].iter().map(|&i| news[i]);
            let all: Vec<Number> = own.chain(std::iter::once(inputs[element])).collect();
            combined(&all, op, input.dtype, &sums)
        };
        let results = (0..input.len()).map(combine).collect();
        let array = Array::of_numbers(input.dtype, input.shape.clone(), results)?;
        self.with_any_doubt(&[input, updates], array)
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

/// True for operations that combine updates in any order.
pub(super) fn is_combined(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Multiply)
}

/// Numbers combined in any order by a maximum, minimum or product.
fn combined(all: &[Number], op: BinaryOp, dtype: DType, sums: &SumRounding) -> Number {
    let extreme_of = |smaller: bool| {
        let extreme = all.iter().copied().reduce(|a, b| extreme(a, b, smaller));
        extreme.unwrap_or(Number::UNKNOWN)
    };
    match (all, op) {
        ([one], _) => *one,
        (_, BinaryOp::Maximum) => extreme_of(false),
        (_, BinaryOp::Minimum) => extreme_of(true),
        (_, BinaryOp::Multiply) => product_of(all, dtype, sums.roundoff, sums.rounding),
        _ => Number::UNKNOWN,
    }
}
