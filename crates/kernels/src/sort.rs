//! `sort`: stable, with any comparator, which runs on vectors.

use numerics::budget;
use numerics::math;
use numerics::shape::StridedView;
use numerics::{DType, Float, I1, Tensor, TensorError, dispatch};
use program::{Canonical, Comparator, Env, EvalError, SortKey};
use std::cmp::Ordering;

/// A comparator with the environment that runs it.
struct Order<'e> {
    comparator: &'e Comparator,
    env: &'e mut dyn Env,
}

impl Order<'_> {
    /// For each lane, true if the element at `left` is ordered before that at `right`.
    fn before(
        &mut self,
        inputs: &[Tensor],
        left: &[usize],
        right: &[usize],
    ) -> Result<Tensor, EvalError> {
        let mut arguments = Vec::with_capacity(2 * inputs.len());
        for input in inputs {
            for at in [left, right] {
                let used = self.comparator.used.get(arguments.len()).copied().unwrap_or(true);
                arguments.push(if used {
                    input.take(at)?
                } else {
                    input.take(&at[..1])?.into_shape([])?
                });
            }
        }
        let mut results = self.env.scalar_block(self.comparator.block, left.len(), arguments)?;
        let verdict = results
            .pop()
            .ok_or_else(|| EvalError::new("sort_c5", "the comparator returns nothing"))?;
        Ok(if verdict.rank() == 0 { verdict.broadcast_scalar([left.len()])? } else { verdict })
    }
}

/// The positions of floats in the total order, after canonicalization; `None` for other elements.
pub fn places(floats: &Tensor, canonical: Canonical) -> Result<Vec<i64>, TensorError> {
    fn place<T: Float>(x: T, canonical: Canonical) -> i64 {
        let replacement = if x.is_nan() {
            canonical.nan
        } else if x == T::ZERO {
            canonical.zero
        } else {
            None
        };
        replacement.unwrap_or_else(|| math::compare::total_order_key(x))
    }
    dispatch!(
        floats.dtype(),
        [float] T => Ok(floats.as_slice::<T>()?.iter().map(|&x| place(x, canonical)).collect()),
        else Ok(Vec::new())
    )
}

/// `inputs`, of one shape, sorted together along `dimension`.
///
/// # Errors
/// If shapes differ, there is no such dimension, or the comparator fails.
pub fn sort(
    inputs: Vec<Tensor>,
    dimension: usize,
    comparator: &Comparator,
    env: &mut dyn Env,
) -> Result<Vec<Tensor>, EvalError> {
    let Some(first) = inputs.first() else { return Ok(inputs) };
    let (shape, rank) = (first.shape().to_vec(), first.rank());
    if inputs.iter().any(|t| t.shape() != shape) {
        return Err(EvalError::new("sort_c2", "inputs must have one shape"));
    }
    if dimension >= rank {
        return Err(EvalError::new(
            "sort_c4",
            format!("there is no dimension {dimension} in a rank of {rank}"),
        ));
    }
    let size = shape[dimension];
    if first.num_elements() == 0 || size < 2 {
        return Ok(inputs);
    }
    // Rows to sort become neighbours.
    let mut order: Vec<usize> = (0..rank).filter(|&axis| axis != dimension).collect();
    order.push(dimension);
    let view = StridedView::dense(&shape)?.permute(&order)?;
    let rows: Vec<Tensor> = inputs.iter().map(|t| t.gather(&view)).collect::<Result<_, _>>()?;
    drop(inputs);
    // The positions of elements in sorted order.
    let _reserved = budget::reserve::<usize>(rows.first().map_or(0, Tensor::num_elements))?;
    let sorted = match comparator.key {
        Some(key) => sort_by_key(&rows, key, size)?,
        None => None,
    };
    let sorted = match sorted {
        Some(sorted) => sorted,
        None => sort_by_merging(&rows, size, &mut Order { comparator, env })?,
    };
    let mut inverse = vec![0; rank];
    for (from, &to) in order.iter().enumerate() {
        inverse[to] = from;
    }
    let back = StridedView::dense(view.shape())?.permute(&inverse)?;
    let result = |t: &Tensor| t.take(&sorted)?.into_shape(view.shape())?.gather(&back);
    Ok(rows.iter().map(result).collect::<Result<_, _>>()?)
}

/// The flat positions of elements in the order of one input; `None` if it has NaNs that are
/// unordered.
fn sort_by_key(
    rows: &[Tensor],
    key: SortKey,
    size: usize,
) -> Result<Option<Vec<usize>>, TensorError> {
    fn typed<K: PartialOrd>(keys: &[K], size: usize, descending: bool) -> Option<Vec<usize>> {
        if keys.iter().any(|k| k.partial_cmp(k).is_none()) {
            return None;
        }
        let compare =
            |&i: &usize, &j: &usize| keys[i].partial_cmp(&keys[j]).unwrap_or(Ordering::Equal);
        let mut sorted: Vec<usize> = (0..keys.len()).collect();
        for row in sorted.chunks_exact_mut(size) {
            if descending { row.sort_by(|i, j| compare(j, i)) } else { row.sort_by(compare) }
        }
        Some(sorted)
    }
    let Some(tensor) = rows.get(key.input) else { return Ok(None) };
    let dtype = tensor.dtype();
    // Keys that are no tensor, and what sorting a row takes.
    let _reserved = budget::reserve::<[usize; 2]>(tensor.num_elements())?;
    if key.total_order && dtype.is_float() {
        let keys = places(tensor, key.canonical)?;
        return Ok(typed(&keys, size, key.descending));
    }
    // Wide types hold every number of the narrow ones.
    let wide = match dtype {
        _ if dtype.is_float() => DType::F64,
        _ if dtype.is_signed() => DType::I64,
        _ if dtype.is_complex() => return Ok(None),
        _ => DType::U64,
    };
    let keys = math::convert(tensor.clone(), wide)?;
    Ok(match wide {
        DType::F64 => typed(keys.as_slice::<f64>()?, size, key.descending),
        DType::I64 => typed(keys.as_slice::<i64>()?, size, key.descending),
        _ => typed(keys.as_slice::<u64>()?, size, key.descending),
    })
}

/// The flat positions of elements in sorted order: merge sort with runs of 1, 2, 4, … elements of
/// all rows at a time, where the position of each element of a left run in the right run is found
/// by bisection. The result is a permutation for any comparator.
fn sort_by_merging(
    rows: &[Tensor],
    size: usize,
    order: &mut Order<'_>,
) -> Result<Vec<usize>, EvalError> {
    let len = rows.first().map_or(0, Tensor::num_elements);
    // Searches, those that go on, the elements that they compare, and what is merged.
    let _reserved = budget::reserve::<[usize; 4]>(len)?;
    let mut sorted: Vec<usize> = (0..len).collect();
    let mut width = 1;
    while width < size {
        // Every element of a left run with a right run beside it, and the range of its place there.
        let mut searches: Vec<Search> = Vec::with_capacity(len / 2 + 1);
        for row in (0..len).step_by(size) {
            for left in (row..row + size).step_by(2 * width) {
                let right = left + width;
                let end = (right + width).min(row + size);
                searches.extend((left..right.min(end)).filter(|_| right < end).map(|at| Search {
                    at,
                    low: right,
                    high: end,
                }));
            }
        }
        let mut active: Vec<usize> = (0..searches.len()).collect();
        while !active.is_empty() {
            let middle =
                |&s: &usize| sorted[searches[s].low + (searches[s].high - searches[s].low) / 2];
            let left: Vec<usize> = active.iter().map(middle).collect();
            let right: Vec<usize> = active.iter().map(|&s| sorted[searches[s].at]).collect();
            let before = order.before(rows, &left, &right)?;
            for (&s, before) in active.iter().zip(before.as_slice::<I1>()?) {
                let search = &mut searches[s];
                let middle = search.low + (search.high - search.low) / 2;
                if before.get() { search.low = middle + 1 } else { search.high = middle }
            }
            active.retain(|&s| searches[s].low < searches[s].high);
        }
        // Merge: the right elements ordered before a left one, the left one, and so on.
        let mut merged = Vec::with_capacity(len);
        let mut next = searches.iter().peekable();
        for row in (0..len).step_by(size) {
            for left in (row..row + size).step_by(2 * width) {
                let right = left + width;
                let end = (right + width).min(row + size);
                if right >= end {
                    merged.extend_from_slice(&sorted[left..end.max(left).min(row + size)]);
                    continue;
                }
                let mut from = right;
                while let Some(search) = next.next_if(|s| s.at < right) {
                    let to = search.low.max(from);
                    merged.extend_from_slice(&sorted[from..to]);
                    merged.push(sorted[search.at]);
                    from = to;
                }
                merged.extend_from_slice(&sorted[from..end]);
            }
        }
        sorted = merged;
        width *= 2;
    }
    Ok(sorted)
}

/// The search of the element at `at` for its place between `low` and `high`.
struct Search {
    at: usize,
    low: usize,
    high: usize,
}
