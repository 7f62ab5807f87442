//! The order of elements: sorts, the largest elements, the index of the largest one.

use super::elementwise::apart;
use super::movement::transposed;
use super::{Op, Ruled};
use crate::alternatives::{MAX_ALTERNATIVES, of_tensors, rotations, with_exchanges};
use crate::array::{Array, Elements, Number};
use crate::ball::Ball;
use crate::bounds::Bounds;
use crate::doubts::Kind;
use crate::machine::Machine;
use numerics::{DType, Tensor};
use program::primitives;
use program::{EvalError, Extremum};
use std::ops::Range;

/// An array with some dimensions last, in order, and the sizes of the others.
pub(super) fn rows(array: &Array, dimensions: &[usize]) -> Result<(Array, Vec<usize>), EvalError> {
    let kept: Vec<usize> = (0..array.shape.len()).filter(|d| !dimensions.contains(d)).collect();
    let shape = kept.iter().map(|&d| array.shape[d]).collect();
    let mut reduced = dimensions.to_vec();
    reduced.sort_unstable();
    Ok((transposed(array, &[kept, reduced].concat())?, shape))
}

/// Elements of rows that are rearranged, with the elements of other operands.
struct RearrangedRows {
    arrays: Vec<Array>,
}

/// The numbers and doubts of one operand.
struct Column {
    numbers: Vec<Number>,
    doubts: Vec<u32>,
    /// The elements as they are, if all are exact.
    tensor: Option<Tensor>,
}

impl Op<'_> {
    /// The code of a doubt about which of two numbers is the larger one.
    pub(super) fn order_doubt(
        &self,
        machine: &mut Machine<'_>,
        pair: [Number; 2],
        dtype: DType,
    ) -> u32 {
        let distance = apart(pair[0], pair[1], dtype);
        machine.doubts.code(self.origin(), Kind::Order, false, distance, || {
            let [a, b] = pair.map(super::elementwise::shown);
            format!("{a} and {b}")
        })
    }

    pub(super) fn reduce_extremum(
        &self,
        machine: &mut Machine<'_>,
        reduce: &primitives::Reduce,
        operands: &[&Array],
    ) -> Ruled {
        let (&[values, indices, _, start], Some(kind)) = (operands, reduce.body.extremum) else {
            return Ok(None);
        };
        if !values.dtype.is_float() || indices.tensor().is_none() {
            return self.exact_kernel(machine, operands);
        }
        let (values, shape) = rows(values, &reduce.dimensions)?;
        let (indices, _) = rows(indices, &reduce.dimensions)?;
        let outer: usize = shape.iter().product();
        let length = values.len().checked_div(outer).unwrap_or(0);
        let numbers = values.numbers()?;
        let init = operands[2].numbers()?[0];
        let Some(tensor) = indices.tensor() else { return Ok(None) };
        let of = |n: &Number| match kind {
            Extremum::Maximum => *n,
            Extremum::Minimum => Number { truth: -n.truth, bounds: n.bounds.negated() },
        };
        let mut found = Vec::with_capacity(outer);
        let size = tensor.dtype().bytes();
        let (mut bytes, mut doubts) = (Vec::with_capacity(outer * size), vec![0u32; outer]);
        // By row: the places of elements that may be the largest, that of the true one first.
        let mut options: Vec<Vec<usize>> = Vec::with_capacity(outer);
        for (row, doubt) in doubts.iter_mut().enumerate() {
            let row = row * length..(row + 1) * length;
            let all: Vec<Number> = numbers[row.clone()].iter().map(of).collect();
            let Some(choice) = choice(&all, Some(of(&init)), true, machine.has_truth) else {
                return Ok(None);
            };
            match choice.chosen {
                Some(at) => {
                    let place = row.start + at;
                    bytes.extend_from_slice(&tensor.bytes()[place * size..(place + 1) * size]);
                }
                // Nothing exceeds the initial value.
                None => match start.tensor() {
                    Some(start) => bytes.extend_from_slice(start.bytes()),
                    None => return Ok(None),
                },
            }
            let mut own: Vec<usize> = choice.chosen.into_iter().collect();
            if choice.is_open {
                let pair = choice.nearest.map(|at| numbers[row.start + at]);
                *doubt = self.order_doubt(machine, pair, values.dtype);
                let others = choice.candidates.iter().filter(|&&at| Some(at) != choice.chosen);
                own.extend(others);
                // Nothing may exceed the initial value, or what is largest is none of these.
                let is_initial = of(&init).bounds.high >= choice.largest.bounds.low;
                if choice.chosen.is_none() || !choice.is_true || is_initial {
                    own.resize(MAX_ALTERNATIVES + 1, 0);
                }
            }
            options.push(own.into_iter().map(|at| row.start + at).collect());
            found.push(of(&choice.largest));
        }
        let values = Array::of_numbers(values.dtype, shape.clone(), found)?;
        let indices = Tensor::from_bytes(tensor.dtype(), &shape, bytes.into())?;
        let followed = indices_of(&indices, tensor, &options, &doubts)?;
        let doubts = crate::array::tensor(&shape, doubts)?;
        let indices = followed.unwrap_or(Array::exact(indices).with_doubts(Some(doubts)));
        let mut results = vec![values, indices];
        let doubt = super::any_doubt(operands)?;
        if doubt != 0 {
            for result in &mut results {
                let doubts = Tensor::splat(&shape, doubt)?;
                *result = result.clone().with_doubts(Some(doubts));
            }
        }
        Ok(Some(results))
    }

    pub(super) fn sort(
        &self,
        machine: &mut Machine<'_>,
        sort: &primitives::Sort,
        operands: &[&Array],
    ) -> Ruled {
        let [key] = &sort.comparator.keys[..] else {
            return self.sort_by_pairs(machine, sort, operands, true);
        };
        if key.part.is_some() || key.input >= operands.len() {
            return self.sort_by_pairs(machine, sort, operands, true);
        }
        let rank = operands[0].shape.len();
        let Some(dimension) = kernels::from_end(sort.dimension, rank) else { return Ok(None) };
        let Some(sorted) = self.sorted(machine, operands, key.input, dimension, key.descending)?
        else {
            return self.sort_by_pairs(machine, sort, operands, true);
        };
        let limit = sort.limit.unwrap_or(usize::MAX);
        sorted
            .into_iter()
            .map(|array| first(&array, dimension, limit))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    pub(super) fn top_k(
        &self,
        machine: &mut Machine<'_>,
        top_k: &primitives::TopK,
        operands: &[&Array],
    ) -> Ruled {
        let (Some(k), Some(&input)) = (top_k.k, operands.first()) else { return Ok(None) };
        let Some(dimension) = input.shape.len().checked_sub(1) else { return Ok(None) };
        let indices = kernels::iota(&input.shape, DType::I32, dimension)?;
        let indices = Array::exact(indices);
        let both = [input, &indices];
        let Some(sorted) = self.sorted(machine, &both, 0, dimension, top_k.largest)? else {
            return Ok(None);
        };
        sorted
            .into_iter()
            .map(|array| first(&array, dimension, k))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Operands sorted by one of them along a dimension.
    fn sorted(
        &self,
        machine: &mut Machine<'_>,
        operands: &[&Array],
        key: usize,
        dimension: usize,
        descending: bool,
    ) -> Result<Option<Vec<Array>>, EvalError> {
        if !operands[key].dtype.is_float() || operands.iter().any(|array| array.width() != 1) {
            return Ok(None);
        }
        let length = operands[key].shape[dimension];
        let arrays = operands.iter().map(|array| Ok(rows(array, &[dimension])?.0));
        let rows = RearrangedRows { arrays: arrays.collect::<Result<_, EvalError>>()? };
        let mut columns = Vec::new();
        for array in &rows.arrays {
            columns.push(Column {
                numbers: array.numbers()?.to_vec(),
                doubts: array.doubt_codes()?.unwrap_or_else(|| vec![0; array.len()]),
                tensor: array.tensor().cloned(),
            });
        }
        if columns[key].numbers.iter().any(|n| n.bounds.nan) {
            return Ok(None);
        }
        let n = rows.arrays[key].len();
        let mut order: Vec<usize> = Vec::with_capacity(n);
        let (mut codes, mut clusters) = (vec![0u32; n], Vec::new());
        let mut keys: Vec<Number> = Vec::with_capacity(n);
        for start in (0..n).step_by(length.max(1)) {
            let numbers = &columns[key].numbers[start..start + length];
            let value = |n: &Number| {
                let value = if n.truth.is_unknown() { n.bounds.low } else { n.truth.hi };
                if descending { -value } else { value }
            };
            let mut own: Vec<usize> = (0..length).collect();
            own.sort_by(|&a, &b| {
                value(&numbers[a])
                    .partial_cmp(&value(&numbers[b]))
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
            keys.extend(order_statistics(numbers, &own, descending));
            let found = self.clusters(machine, numbers, &own, (descending, operands[key].dtype));
            for (range, code) in found {
                let range = start + range.start..start + range.end;
                codes[range.clone()].fill(code);
                clusters.push(range);
            }
            order.extend(own.into_iter().map(|i| start + i));
        }
        let mut results = Vec::new();
        let inverse = inverse_of_rows(operands[0].shape.len(), dimension);
        for (index, (column, array)) in columns.iter().zip(&rows.arrays).enumerate() {
            let mut doubts: Vec<u32> = order.iter().map(|&i| column.doubts[i]).collect();
            let sorted = match &column.tensor {
                Some(tensor) if index != key && !array.dtype.is_float() => {
                    let own = rotations(n, &clusters).filter(|_| array.doubts.is_none());
                    let places = own.unwrap_or_else(|| vec![(0..n).collect()]);
                    let open = doubts.iter_mut().zip(&codes).filter(|(own, _)| **own == 0);
                    open.for_each(|(own, &code)| *own = code);
                    exchanged(tensor, &order, &places, &doubts)?
                }
                _ => {
                    let numbers = match index == key {
                        true => keys.clone(),
                        false => order.iter().map(|&i| column.numbers[i]).collect(),
                    };
                    let elements = Elements::Numbers(numbers.into());
                    let sorted = Array { elements, others: Vec::new(), ..array.clone() };
                    let exchanges = if index == key { &[][..] } else { &clusters };
                    let doubts = crate::array::tensor(&array.shape, doubts)?;
                    with_exchanges(&sorted, exchanges)?.with_doubts(Some(doubts))
                }
            };
            let sorted = transposed(&sorted, &inverse)?;
            results.push(match &sorted.elements {
                Elements::Numbers(numbers) => {
                    let (dtype, shape) = (sorted.dtype, sorted.shape.clone());
                    let doubts = sorted.doubts.clone();
                    Array::of_numbers(dtype, shape, numbers.to_vec())?.with_doubts(doubts)
                }
                Elements::Exact(_) => sorted,
            });
        }
        Ok(Some(results))
    }

    /// The ranges of positions of a sorted row whose elements rounding can exchange, with their
    /// doubts.
    fn clusters(
        &self,
        machine: &mut Machine<'_>,
        numbers: &[Number],
        order: &[usize],
        (descending, dtype): (bool, DType),
    ) -> Vec<(Range<usize>, u32)> {
        let (mut found, mut start) = (Vec::new(), 0);
        while start < order.len() {
            // A cluster of elements whose bounds overlap.
            let (mut end, mut bounds) = (start + 1, numbers[order[start]].bounds);
            while end < order.len() {
                let next = numbers[order[end]].bounds;
                let is_apart = match descending {
                    true => next.high < bounds.low,
                    false => next.low > bounds.high,
                };
                if is_apart {
                    break;
                }
                bounds = bounds.hull(next);
                end += 1;
            }
            if end - start > 1 && bounds.value().is_none() {
                let mut code = 0;
                for at in start..end - 1 {
                    let pair = [at, at + 1].map(|i| numbers[order[i]]);
                    code = self.order_doubt(machine, pair, dtype);
                }
                found.push((start..end, code));
            }
            start = end;
        }
        found
    }
}

/// The elements of a tensor in a new order, in its shape.
pub(super) fn permuted(tensor: &Tensor, order: &[usize]) -> Result<Tensor, EvalError> {
    let size = tensor.dtype().bytes();
    let bytes = order.iter().flat_map(|&i| &tensor.bytes()[i * size..(i + 1) * size]);
    let bytes: Vec<u8> = bytes.copied().collect();
    Ok(Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes.into())?)
}

/// The elements of a tensor in a new order, some of which may be exchanged: `places` has the
/// positions of each rotation of these, `codes` the doubts by position.
pub(super) fn exchanged(
    tensor: &Tensor,
    order: &[usize],
    places: &[Vec<usize>],
    codes: &[u32],
) -> Result<Array, EvalError> {
    let rotated = |places: &Vec<usize>| {
        permuted(tensor, &places.iter().map(|&at| order[at]).collect::<Vec<_>>())
    };
    if places.len() > 1 {
        let tensors = places.iter().map(rotated).collect::<Result<Vec<Tensor>, EvalError>>()?;
        if let Some(array) = of_tensors(&tensors, &|i| codes[i])? {
            return Ok(array);
        }
    }
    let doubts = crate::array::tensor(tensor.shape(), codes.to_vec())?;
    Ok(Array::exact(permuted(tensor, order)?).with_doubts(Some(doubts)))
}

/// The largest of several numbers, and all candidates for it.
pub(super) struct Choice {
    /// The largest number.
    pub largest: Number,
    /// The places of numbers that may be the largest.
    pub candidates: Vec<usize>,
    /// The place of the one with the largest true value among them.
    pub chosen: Option<usize>,
    /// True if that has the largest true value of all.
    pub is_true: bool,
    /// True if rounding may choose another one.
    pub is_open: bool,
    /// The places of the chosen one and of the one that is closest to it.
    pub nearest: [usize; 2],
}

/// The largest of some numbers and of an initial one, the first of equal ones or the last. `None`
/// if there are no numbers.
pub(super) fn choice(
    all: &[Number],
    initial: Option<Number>,
    is_first: bool,
    has_truth: bool,
) -> Option<Choice> {
    let largest = all.iter().chain(&initial).copied();
    let largest = largest.reduce(|x, y| super::elementwise::extreme(x, y, false))?;
    let is_candidate =
        |&at: &usize| all[at].bounds.nan || all[at].bounds.high >= largest.bounds.low;
    let candidates: Vec<usize> = (0..all.len()).filter(is_candidate).collect();
    // Zeros of both signs are equal.
    let key = |at: usize| all[at].truth.hi + 0.0;
    let order = |a: &usize, b: &usize| key(*a).total_cmp(&key(*b));
    let best = |places: &mut dyn DoubleEndedIterator<Item = usize>| match is_first {
        true => places.rev().max_by(order),
        false => places.max_by(order),
    };
    let chosen = best(&mut candidates.iter().copied());
    let truest = best(&mut (0..all.len()));
    let is_true = truest.is_none() || truest == chosen || !has_truth;
    let tied = candidates.first().and_then(|&at| all[at].bounds.value());
    let ties = tied.is_some() && candidates.iter().all(|&at| all[at].bounds.value() == tied);
    let is_open = candidates.len() > 1 && !ties || !is_true && !candidates.is_empty();
    let own = chosen.or(truest).unwrap_or(0);
    let near = candidates.iter().copied().filter(|&at| at != own).max_by(order);
    let nearest = [own, near.or(truest).unwrap_or(own)];
    Some(Choice { largest, candidates, chosen, is_true, is_open, nearest })
}

/// Indices of extrema, with the indices of all candidates if they are few.
fn indices_of(
    indices: &Tensor,
    all: &Tensor,
    options: &[Vec<usize>],
    doubts: &[u32],
) -> Result<Option<Array>, EvalError> {
    let longest = options.iter().map(Vec::len).max().unwrap_or(0);
    if longest > MAX_ALTERNATIVES {
        return Ok(None);
    }
    let size = all.dtype().bytes();
    let mut tensors = vec![indices.clone()];
    for number in 1..longest {
        let mut bytes = indices.bytes().to_vec();
        for (row, own) in options.iter().enumerate() {
            if let Some(&at) = own.get(number) {
                let element = &all.bytes()[at * size..(at + 1) * size];
                bytes[row * size..(row + 1) * size].copy_from_slice(element);
            }
        }
        tensors.push(Tensor::from_bytes(indices.dtype(), indices.shape(), bytes.into())?);
    }
    of_tensors(&tensors, &|row| doubts[row])
}

/// The sorted numbers. The bounds at a position are the lower and the upper bound that sorting the
/// bounds puts there.
fn order_statistics(numbers: &[Number], order: &[usize], descending: bool) -> Vec<Number> {
    let sorted = |value: &dyn Fn(&Number) -> f64| {
        let mut values: Vec<f64> = numbers.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        if descending {
            values.reverse();
        }
        values
    };
    let (low, high) = (sorted(&|n| n.bounds.low), sorted(&|n| n.bounds.high));
    let (below, above) = (sorted(&|n| n.truth.lower()), sorted(&|n| n.truth.upper()));
    let number = |(i, &at): (usize, &usize)| {
        let own = numbers[at].truth;
        // The truth at a place is that of the element, if its place is certain.
        let is_own = own.lower() == below[i] && own.upper() == above[i];
        let truth = if is_own { own } else { Ball::between(below[i], above[i]) };
        Number { truth, bounds: Bounds { low: low[i], high: high[i], nan: false } }
    };
    order.iter().enumerate().map(number).collect()
}

/// The permutation that brings the last dimension back to `dimension`.
pub(super) fn inverse_of_rows(rank: usize, dimension: usize) -> Vec<usize> {
    let mut permutation: Vec<usize> = (0..rank - 1).collect();
    permutation.insert(dimension, rank - 1);
    permutation
}

/// The first elements along a dimension.
pub(super) fn first(array: &Array, dimension: usize, limit: usize) -> Result<Array, EvalError> {
    if array.shape[dimension] <= limit {
        return Ok(array.clone());
    }
    let rank = array.shape.len();
    let (mut limits, starts, steps) = (array.shape.clone(), vec![0; rank], vec![1; rank]);
    limits[dimension] = limit;
    let cut = |tensor: &Tensor| program::operands::slice(tensor, &starts, &limits, &steps);
    let doubts = array.doubts.as_ref().map(cut).transpose()?;
    let elements = match &array.elements {
        Elements::Exact(tensor) => Elements::Exact(cut(tensor)?),
        Elements::Numbers(numbers) => {
            let places = crate::array::tensor(&array.shape, (0..numbers.len() as u32).collect())?;
            let places = cut(&places)?;
            let moved = places.as_slice::<u32>()?.iter().map(|&i| numbers[i as usize]);
            Elements::Numbers(moved.collect::<Vec<_>>().into())
        }
    };
    let others = array.moved_others(cut)?;
    Ok(Array { dtype: array.dtype, shape: limits, elements, doubts, others })
}
