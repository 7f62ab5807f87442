//! Sorts by any comparator, which is tried on all pairs of elements of a row.

use super::movement::transposed;
use super::order::{exchanged, first, inverse_of_rows, rows};
use super::{Op, Ruled, flat};
use crate::alternatives::{rotations, with_exchanges};
use crate::array::{Array, Elements, Value};
use crate::doubts::Kind;
use crate::machine::{Machine, is_inexact};
use numerics::I1;
use program::primitives::Sort;
use program::{EvalError, Primitive, RuntimeValue};
use std::ops::Range;

/// At most this many pairs are tried, which takes about as many steps as the comparator has.
const MAX_PAIRS: usize = 1 << 22;

/// The comparisons of the elements of a row.
struct Comparisons {
    length: usize,
    /// For each pair, true if the first element comes before the second.
    before: Vec<bool>,
    /// For each pair, true if rounding can flip that.
    is_open: Vec<bool>,
}

impl Comparisons {
    fn at(&self, i: usize, j: usize) -> (bool, bool) {
        let at = i * self.length + j;
        (self.before[at], self.is_open[at])
    }

    /// The elements in order. Comparators that are no orders give some permutation.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::with_capacity(self.length);
        for element in 0..self.length {
            // Behind the last one that it does not come before, which keeps equal ones in order.
            let at = order.partition_point(|&other| !self.at(element, other).0);
            order.insert(at, element);
        }
        order
    }

    /// True if the order of two elements, of which `i` is placed before `j`, is certain.
    fn is_certain(&self, i: usize, j: usize, is_stable: bool) -> bool {
        match (self.at(i, j), self.at(j, i)) {
            ((true, false), _) => true,
            ((false, false), (false, false)) => is_stable && i < j,
            _ => false,
        }
    }
}

impl Op<'_> {
    /// Sorts rows whose comparator is no simple key, or whose equal elements may be in any order.
    pub(super) fn sort_by_pairs(
        &self,
        machine: &mut Machine<'_>,
        sort: &Sort,
        operands: &[&Array],
        is_stable: bool,
    ) -> Ruled {
        let Some(&input) = operands.first() else { return Ok(None) };
        let rank = input.shape.len();
        let Some(dimension) = kernels::from_end(sort.dimension, rank) else { return Ok(None) };
        let block = sort.comparator.block;
        let length = input.shape[dimension];
        let exact: Option<Vec<RuntimeValue>> =
            operands.iter().map(|array| Some(array.as_exact()?.clone().into())).collect();
        if let Some(exact) = exact {
            return self.sort_exactly(machine, sort, exact, dimension);
        }
        let pairs = input.len().checked_mul(length);
        if pairs.is_none_or(|pairs| pairs > MAX_PAIRS) || !machine.is_vectorizable(block) {
            return Ok(None);
        }
        let mut columns = Vec::new();
        for array in operands {
            columns.push(flat(&rows(array, &[dimension])?.0)?);
        }
        let n = input.len();
        let (mut order, mut clusters) = (Vec::with_capacity(n), vec![0u32; n]);
        for start in (0..n).step_by(length.max(1)) {
            let Some(found) = self.compared(machine, sort, &columns, start, length)? else {
                return Ok(None);
            };
            let own = found.order();
            // Positions from `low` to `high` hold elements that may be exchanged.
            let mut low = 0;
            while low < length {
                let mut high = low;
                let mut position = low;
                while position <= high {
                    let open =
                        |&other: &usize| !found.is_certain(own[position], own[other], is_stable);
                    high = (high + 1..length).rev().find(open).unwrap_or(high);
                    position += 1;
                }
                if high > low {
                    for cluster in &mut clusters[start + low..=start + high] {
                        *cluster = (start + low) as u32 + 1;
                    }
                }
                low = high + 1;
            }
            order.extend(own.into_iter().map(|i| start + i));
        }
        let arrays: Vec<Array> = operands.iter().map(|&array| array.clone()).collect();
        self.gathered(machine, sort, (&columns, &arrays), dimension, &order, &clusters)
    }

    /// The results: rows in a new order, brought back into place.
    fn gathered(
        &self,
        machine: &mut Machine<'_>,
        sort: &Sort,
        (columns, operands): (&[Array], &[Array]),
        dimension: usize,
        order: &[usize],
        clusters: &[u32],
    ) -> Ruled {
        let rank = operands.first().map_or(0, |array| array.shape.len());
        let inverse = inverse_of_rows(rank, dimension);
        let mut results = Vec::new();
        for (column, array) in columns.iter().zip(operands) {
            let sorted = self.rearranged(machine, column, order, clusters)?;
            let shape = rows(array, &[dimension])?.0.shape;
            let sorted = transposed(&super::reshaped(&sorted, &shape)?, &inverse)?;
            let sorted = first(&sorted, dimension, sort.limit.unwrap_or(usize::MAX))?;
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

    /// Sorts exact elements, of which equal ones may be in any order.
    fn sort_exactly(
        &self,
        machine: &mut Machine<'_>,
        sort: &Sort,
        operands: Vec<RuntimeValue>,
        dimension: usize,
    ) -> Ruled {
        let all = Primitive::Sort(Sort { limit: None, ..sort.clone() });
        let sorted = match kernels::evaluate(&all, self.origin(), operands, machine) {
            Err(error) if is_inexact(&error) => return Ok(None),
            sorted => sorted?,
        };
        let arrays = sorted.into_iter().map(|value| Ok(Array::exact(value.into_tensor()?)));
        let arrays = arrays.collect::<Result<Vec<Array>, EvalError>>()?;
        let Some(first_array) = arrays.first() else { return Ok(None) };
        let (n, length) = (first_array.len(), first_array.shape[dimension]);
        let mut columns = Vec::new();
        for array in &arrays {
            columns.push(flat(&rows(array, &[dimension])?.0)?);
        }
        // Neighbours of which neither comes before the other are equal.
        let lhs: Vec<usize> = (0..n).filter(|i| (i + 1) % length != 0).collect();
        let rhs: Vec<usize> = lhs.iter().map(|i| i + 1).collect();
        let Some(found) = self.outcomes(machine, sort, &columns, [&lhs, &rhs])? else {
            return Ok(None);
        };
        let mut clusters = vec![0u32; n];
        for (&i, (before, _)) in lhs.iter().zip(found) {
            if !before {
                let cluster = if clusters[i] == 0 { i as u32 + 1 } else { clusters[i] };
                (clusters[i], clusters[i + 1]) = (cluster, cluster);
            }
        }
        let order: Vec<usize> = (0..n).collect();
        self.gathered(machine, sort, (&columns, &arrays), dimension, &order, &clusters)
    }

    /// Compares all pairs of elements of a row.
    fn compared(
        &self,
        machine: &mut Machine<'_>,
        sort: &Sort,
        columns: &[Array],
        start: usize,
        length: usize,
    ) -> Result<Option<Comparisons>, EvalError> {
        let pairs = length * length;
        let lhs: Vec<usize> = (0..pairs).map(|at| start + at / length).collect();
        let rhs: Vec<usize> = (0..pairs).map(|at| start + at % length).collect();
        let found = self.outcomes(machine, sort, columns, [&lhs, &rhs])?;
        Ok(found.map(|found| {
            let (before, is_open) = found.into_iter().unzip();
            Comparisons { length, before, is_open }
        }))
    }

    /// The comparisons of elements at `places`, in pairs: true if the first element comes before,
    /// and true if rounding can flip that.
    fn outcomes(
        &self,
        machine: &mut Machine<'_>,
        sort: &Sort,
        columns: &[Array],
        places: [&[usize]; 2],
    ) -> Result<Option<Vec<(bool, bool)>>, EvalError> {
        let n = places[0].len();
        if !machine.is_vectorizable(sort.comparator.block) {
            return Ok(None);
        }
        let mut arguments = Vec::with_capacity(2 * columns.len());
        for column in columns {
            for places in places {
                arguments.push(Value::from(super::folds::taken(column, places)?));
            }
        }
        let known = machine.doubts.clone();
        let results = machine.run_lanes(sort.comparator.block, n, arguments)?;
        // Comparisons that can be flipped matter only where they exchange elements.
        machine.doubts = known;
        let Some(Value::Array(found)) = results.first() else { return Ok(None) };
        let found = super::reshaped(found, &[n])?;
        let Some(tensor) = found.tensor() else { return Ok(None) };
        let codes = found.doubt_codes()?.unwrap_or_else(|| vec![0; n]);
        let before = tensor.as_slice::<I1>()?.iter().map(|before| before.get());
        Ok(Some(before.zip(codes.into_iter().map(|code| code != 0)).collect()))
    }

    /// A vector in a new order, in which elements of a cluster may be exchanged.
    fn rearranged(
        &self,
        machine: &mut Machine<'_>,
        column: &Array,
        order: &[usize],
        clusters: &[u32],
    ) -> Result<Array, EvalError> {
        let sorted = super::folds::taken(column, order)?;
        let n = order.len();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, &cluster) in clusters.iter().enumerate().filter(|(_, cluster)| **cluster != 0) {
            match ranges.last_mut() {
                Some(range) if range.end == at && clusters[range.start] == cluster => {
                    range.end += 1
                }
                _ => ranges.push(at..at + 1),
            }
        }
        let mut doubts = sorted.doubt_codes()?.unwrap_or_else(|| vec![0; n]);
        if column.dtype.is_float() || column.dtype.is_complex() {
            let numbers = with_exchanges(&sorted, &ranges)?.numbers()?.to_vec();
            let sorted = Array::of_numbers(column.dtype, vec![n], numbers)?;
            return Ok(sorted.with_doubts(Some(crate::array::tensor(&[n], doubts)?)));
        }
        let (Some(tensor), Some(before)) = (sorted.tensor(), column.tensor()) else {
            return Ok(sorted);
        };
        let size = column.dtype.bytes();
        let element = |i: usize| &tensor.bytes()[i * size..(i + 1) * size];
        ranges.retain(|range| range.clone().any(|i| element(i) != element(range.start)));
        for at in
            ranges.iter().flat_map(Range::clone).filter(|&at| doubts[at] == 0).collect::<Vec<_>>()
        {
            let (origin, kind) = (self.origin(), Kind::Order);
            doubts[at] = machine.doubts.code(origin, kind, true, None, String::new);
        }
        let own = rotations(n, &ranges).filter(|_| sorted.doubts.is_none());
        let places = own.unwrap_or_else(|| vec![(0..n).collect()]);
        exchanged(before, order, &places, &doubts)
    }
}
