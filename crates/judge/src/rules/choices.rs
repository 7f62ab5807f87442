//! Comparisons, and choices between values.

use super::elementwise::{Elementwise, Flushing, Outcomes, extreme};
use super::{Op, common_doubts, reshaped};
use crate::array::{Array, Number};
use crate::bounds::Bounds;
use crate::machine::Machine;
use crate::parallel::collect;
use numerics::I1;
use numerics::math::Direction;
use program::EvalError;
use program::primitives::Comparison;

/// The possible orders of two numbers.
fn outcomes(direction: Direction, a: Bounds, b: Bounds) -> Outcomes {
    let mut outcomes = Outcomes::default();
    if a.nan || b.nan {
        outcomes.add(direction == Direction::Ne);
    }
    if a.is_empty() || b.is_empty() {
        return outcomes;
    }
    let (less, greater) = (a.low < b.high, a.high > b.low);
    let equal = a.low <= b.high && b.low <= a.high;
    for (is_possible, holds) in [
        (less, matches!(direction, Direction::Lt | Direction::Le | Direction::Ne)),
        (greater, matches!(direction, Direction::Gt | Direction::Ge | Direction::Ne)),
        (equal, matches!(direction, Direction::Eq | Direction::Le | Direction::Ge)),
    ] {
        if is_possible {
            outcomes.add(holds);
        }
    }
    outcomes
}

/// The order of true values, if it is known.
fn truth(direction: Direction, a: Number, b: Number) -> Option<bool> {
    if a.truth.is_unknown() || b.truth.is_unknown() {
        return None;
    }
    let [a, b] = [a, b].map(|n| match n.truth.is_nan() {
        true => Bounds::NAN,
        false => Bounds { low: n.truth.lower(), high: n.truth.upper(), nan: false },
    });
    match outcomes(direction, a, b) {
        Outcomes { is_true: true, is_false: true } => None,
        Outcomes { is_true, .. } => Some(is_true),
    }
}

impl Op<'_> {
    pub(super) fn compare(
        &self,
        machine: &mut Machine<'_>,
        comparison: &Comparison,
        operands: &[&Array],
    ) -> Elementwise {
        let &[x, y] = operands else { return Ok(None) };
        if x.dtype.is_complex() {
            return self.complex_compare(machine, comparison, [x, y]);
        }
        if !x.dtype.is_float() {
            return self.exact_elementwise(machine, operands);
        }
        if comparison.read_as.is_some() {
            return Ok(None);
        }
        let direction = comparison.direction;
        let (lhs, rhs) = (x.numbers()?, y.numbers()?);
        let at = |numbers: &[Number], i: usize| numbers[if numbers.len() == 1 { 0 } else { i }];
        let (is_same, flushing) = (self.is_same, Flushing::new(machine, x.dtype));
        let decide = |i: usize| {
            let (a, b) = (at(&lhs, i), at(&rhs, i));
            if is_same {
                let mut outcomes = Outcomes::default();
                let reflexive = matches!(direction, Direction::Eq | Direction::Ge | Direction::Le);
                if !a.bounds.is_empty() {
                    outcomes.add(reflexive);
                }
                if a.bounds.nan {
                    outcomes.add(direction == Direction::Ne);
                }
                return ((outcomes, Some(reflexive != a.truth.is_nan())), [a, b]);
            }
            let mut found = outcomes(direction, a.bounds, b.bounds);
            let zeros = [a, b].map(|n| flushing.zero_of(n.bounds));
            if zeros.iter().any(Option::is_some) {
                let [first, second] = [zeros[0].unwrap_or(a.bounds), zeros[1].unwrap_or(b.bounds)];
                for (a, b) in [(first, b.bounds), (a.bounds, second), (first, second)] {
                    let own = outcomes(direction, a, b);
                    found.is_true |= own.is_true;
                    found.is_false |= own.is_false;
                }
            }
            let zeros = a.bounds.has_zero() && b.bounds.has_zero();
            if comparison.total_order && (a.bounds.nan || b.bounds.nan || zeros) {
                // The order of zeros and of NaNs goes by their signs.
                found = Outcomes { is_true: true, is_false: true };
            }
            ((found, truth(direction, a, b)), [a, b])
        };
        let n = lhs.len().max(rhs.len());
        let n = if lhs.len() == 1 { rhs.len() } else { n.min(lhs.len()) };
        let none = [Number::UNKNOWN; 2];
        let decisions = collect(n, ((Outcomes::default(), None), none), decide);
        self.decided(machine, &[x, y], decisions.into_iter())
    }

    pub(super) fn select(&self, machine: &mut Machine<'_>, operands: &[&Array]) -> Elementwise {
        let &[predicate, on_true, on_false] = operands else { return Ok(None) };
        let Some(chosen) = predicate.tensor() else { return Ok(None) };
        let chosen = chosen.as_slice::<I1>()?;
        let codes = predicate.doubt_codes()?;
        let shape = super::common_shape(&[on_true, on_false, predicate]);
        let (on_true, on_false) = (&reshaped(on_true, &shape)?, &reshaped(on_false, &shape)?);
        let n = on_true.len();
        let at = |i: usize| if chosen.len() == 1 { 0 } else { i };
        let is_exact = on_true.tensor().is_some() && on_false.tensor().is_some();
        let dtype = on_true.dtype;
        let is_float = dtype.is_float() || dtype.is_complex();
        if !is_float || (is_exact && codes.is_none()) {
            // Doubts about the choice matter where the values differ.
            let result = self.exact_elementwise(machine, &[predicate, on_true, on_false])?;
            let (Some(result), Some(a), Some(b)) = (result, on_true.tensor(), on_false.tensor())
            else {
                return Ok(None);
            };
            let (a_codes, b_codes) = (on_true.doubt_codes()?, on_false.doubt_codes()?);
            let size = dtype.bytes();
            let doubt = |i: usize| {
                let own = codes.as_ref().map_or(0, |codes| codes[at(i)]);
                let same =
                    a.bytes()[i * size..(i + 1) * size] == b.bytes()[i * size..(i + 1) * size];
                let chosen = if chosen[at(i)].get() { &a_codes } else { &b_codes };
                let values = chosen.as_ref().map_or(0, |codes| codes[i]);
                if own != 0 && !same { own } else { values }
            };
            let doubts = crate::array::tensor(&shape, (0..n).map(doubt).collect())?;
            return Ok(Some(result.with_doubts(Some(doubts))));
        }
        let (a, b) = (on_true.numbers()?, on_false.numbers()?);
        let width = on_true.width();
        let mut numbers = Vec::with_capacity(n * width);
        for i in 0..n {
            let own = codes.as_ref().map_or(0, |codes| codes[at(i)]);
            let is_true = chosen[at(i)].get();
            for part in i * width..(i + 1) * width {
                let (a, b) = (a[part], b[part]);
                let value = if is_true { a } else { b };
                numbers.push(match own {
                    0 => value,
                    // Both sides are followed.
                    own => {
                        let both = a.hull(b);
                        let truth = if own & 1 == 1 { both.truth } else { value.truth };
                        Number { truth, bounds: both.bounds }
                    }
                });
            }
        }
        let values = [on_true, on_false];
        let (a_codes, b_codes) = (on_true.doubt_codes()?, on_false.doubt_codes()?);
        let doubts = match (&a_codes, &b_codes) {
            (None, None) => None,
            _ => {
                let doubt = |i: usize| {
                    let of = |codes: &Option<Vec<u32>>| codes.as_ref().map_or(0, |codes| codes[i]);
                    let own = codes.as_ref().map_or(0, |codes| codes[at(i)]);
                    match (own, chosen[at(i)].get()) {
                        (0, true) => of(&a_codes),
                        (0, false) => of(&b_codes),
                        _ => of(&a_codes).max(of(&b_codes)),
                    }
                };
                Some(crate::array::tensor(&shape, (0..values[0].len()).map(doubt).collect())?)
            }
        };
        Ok(Some(Array::of_numbers(dtype, shape, numbers)?.with_doubts(doubts)))
    }

    pub(super) fn clamp(&self, machine: &mut Machine<'_>, operands: &[&Array]) -> Elementwise {
        let &[low, x, high] = operands else { return Ok(None) };
        if !x.dtype.is_float() {
            return self.exact_elementwise(machine, operands);
        }
        let (lows, numbers, highs) = (low.numbers()?, x.numbers()?, high.numbers()?);
        let at = |numbers: &[Number], i: usize| numbers[if numbers.len() == 1 { 0 } else { i }];
        let flushing = Flushing::new(machine, x.dtype);
        let clamp = |i: usize| {
            let above = extreme(at(&lows, i), at(&numbers, i), false);
            flushing.or_zero(extreme(above, at(&highs, i), true))
        };
        let clamped = collect(numbers.len(), Number::UNKNOWN, clamp);
        let result = Array::of_numbers(x.dtype, x.shape.clone(), clamped)?;
        let doubts = common_doubts(&[x, low, high]);
        let doubts = if x.shape.is_empty() { Ok::<_, EvalError>(x.doubts.clone()) } else { doubts };
        Ok(Some(result.with_doubts(doubts?)))
    }
}
