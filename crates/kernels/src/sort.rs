//! `sort`: stable, with any comparator, which runs on vectors.

use crate::evaluate::from_end;
use crate::kernel::{Kernel, expect_bytes};
use crate::order::{self, Keys, TensorLines, permute_bytes, permuted};
use numerics::budget;
use numerics::shape::{StridedView, num_elements};
use numerics::{DType, I1, Tensor, TensorError};
use program::{Comparator, EvalError, Evaluator, SortKey};
use smallvec::SmallVec;

/// Results of [`sort`], by keys that have an order whatever the elements are, prepared for the
/// types of operands: all of each, or its first elements along the dimension.
#[derive(Debug)]
pub struct Sorting {
    rows: TensorLines,
    /// Number of elements of the operands.
    len: usize,
    keys: Vec<(DType, SortKey)>,
    /// The elements of each row of the result.
    count: usize,
    /// For each result, the operand that is sorted and its type; none for indices along the
    /// dimension as `i32`.
    sorted: SmallVec<[Option<(usize, DType)>; 1]>,
}

/// The operand of a sort that a result is made of.
#[derive(Clone, Copy, Debug)]
pub enum Sorted {
    /// That at a position.
    Operand(usize),
    /// An operand that counts along the dimension, whose size fits `i32`. It is not read.
    Indices,
}

impl Sorting {
    /// Sorts some of the operands, which have these types and one shape, up to an element along the
    /// dimension if there is a `limit`. `None` if the order depends on the comparator.
    pub fn new(
        dtypes: &[DType],
        shape: &[usize],
        dimension: i64,
        comparator: &Comparator,
        sorted: &[Sorted],
        limit: Option<usize>,
    ) -> Option<Sorting> {
        let dimension = from_end(dimension, shape.len())?;
        let len = num_elements(shape)?;
        if len == 0 || comparator.keys.is_empty() {
            return None;
        }
        let mut keys = Vec::with_capacity(comparator.keys.len());
        for key in &comparator.keys {
            let dtype = *dtypes.get(key.input)?;
            let is_float = dtype.is_float() || dtype.is_complex() && key.part.is_some();
            let is_ordered =
                dtype.is_integer() || dtype == DType::I1 || is_float && key.total_order;
            if !is_ordered {
                return None;
            }
            keys.push((dtype, *key));
        }
        let rows = TensorLines::along(shape, dimension);
        let sorted = sorted.iter().map(|sorted| match *sorted {
            Sorted::Operand(position) => Some(Some((position, *dtypes.get(position)?))),
            Sorted::Indices => Some(None),
        });
        let sorted = sorted.collect::<Option<_>>()?;
        let count = limit.unwrap_or(rows.size).min(rows.size);
        Some(Sorting { rows, len, keys, count, sorted })
    }

    /// The operands that it reads: the keys, and the operands that are sorted.
    pub fn operands(&self) -> impl Iterator<Item = usize> {
        let keys = self.keys.iter().map(|(_, key)| key.input);
        keys.chain(self.sorted.iter().flatten().map(|&(position, _)| position))
    }
    /// The function from an operand of a type and the indices that this one gives to the operand in
    /// their order.
    pub fn permutation(&self, dtype: DType) -> Permutation {
        let &Sorting { rows, len, count, .. } = self;
        Permutation { rows, len, count, dtype }
    }
}

impl Kernel for Sorting {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let is_sized = |(bytes, dtype): (&&[u8], DType)| bytes.len() == self.len * dtype.bytes();
        let sorted = self.sorted.iter().flatten().map(|&(_, dtype)| dtype);
        let types = self.keys.iter().map(|&(dtype, _)| dtype).chain(sorted);
        if operands.len() != self.operands().count()
            || !operands.iter().zip(types).all(is_sized)
            || results.len() != self.sorted.len()
        {
            return Err(TensorError::OutOfBounds);
        }
        let (keys, mut sorted) = operands.split_at(self.keys.len());
        let keys = keys.iter().zip(&self.keys);
        let keys = keys.map(|(bytes, (dtype, key))| Keys::of_bytes(*dtype, bytes, key));
        let keys = keys.collect::<Result<Option<Vec<Keys>>, _>>()?;
        let ranks = order::ranks(&keys.ok_or(TensorError::OutOfBounds)?, self.rows, self.count)?;
        for (ty, result) in self.sorted.iter().zip(results) {
            let dtype = ty.map_or(DType::I32, |(_, dtype)| dtype);
            if result.len() != ranks.len() * dtype.bytes() {
                return Err(TensorError::OutOfBounds);
            }
            match (ty, sorted.split_first()) {
                (Some(_), Some((from, rest))) => {
                    permute_bytes(dtype, from, result, self.rows, &ranks)?;
                    sorted = rest;
                }
                _ => order::write_ranks(&ranks, self.rows, result)?,
            }
        }
        Ok(())
    }
}

/// The elements of rows at indices, as a [`Sorting`] gives them.
#[derive(Debug)]
pub struct Permutation {
    rows: TensorLines,
    len: usize,
    count: usize,
    dtype: DType,
}

impl Permutation {
    /// Computes the bytes of the result.
    ///
    /// # Errors
    /// If these and the operand's bytes do not have the sizes of their types.
    ///
    /// # Panics
    /// If an index is none of an element of a row.
    pub fn run(
        &self,
        operand: &[u8],
        indices: &[u8],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let size = self.dtype.bytes();
        let indices = bytemuck::try_cast_slice::<u8, i32>(indices);
        let indices = indices.map_err(|_| TensorError::OutOfBounds)?;
        let count = self.len / self.rows.size.max(1) * self.count;
        if operand.len() != self.len * size
            || indices.len() != count
            || result.len() != count * size
        {
            return Err(TensorError::OutOfBounds);
        }
        order::take_along(self.dtype, operand, result, self.rows, indices)
    }
}

impl Kernel for Permutation {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([operand, indices], result) = expect_bytes(operands, results)?;
        self.run(operand, indices, result)
    }
}

/// A comparator with the environment that runs it.
struct ComparatorOrder<'e> {
    comparator: &'e Comparator,
    env: &'e mut dyn Evaluator,
}

impl ComparatorOrder<'_> {
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

/// `inputs`, of one shape, sorted together along `dimension`.
///
/// # Errors
/// If shapes differ, there is no such dimension, or the comparator fails.
pub fn sort(
    inputs: Vec<Tensor>,
    dimension: usize,
    comparator: &Comparator,
    env: &mut dyn Evaluator,
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
    let rows = TensorLines::along(&shape, dimension);
    let keys = comparator.keys.iter().map(|key| match inputs.get(key.input) {
        Some(input) => Keys::of(input, key),
        None => Ok(None),
    });
    let keys = keys.collect::<Result<Option<Vec<Keys>>, _>>()?.filter(|keys| !keys.is_empty());
    let ranks = match keys {
        Some(keys) => order::ranks(&keys, rows, size)?,
        None => {
            // Rows to sort become neighbours.
            let mut axes: Vec<usize> = (0..rank).filter(|&axis| axis != dimension).collect();
            axes.push(dimension);
            let view = StridedView::dense(&shape)?.permute(&axes)?;
            let lines = inputs.iter().map(|t| t.gather(&view)).collect::<Result<Vec<_>, _>>()?;
            let mut sorted =
                sort_by_merging(&lines, size, &mut ComparatorOrder { comparator, env })?;
            sorted.iter_mut().for_each(|at| *at %= size);
            sorted
        }
    };
    let _reserved = budget::reserve::<usize>(ranks.len())?;
    Ok(inputs.iter().map(|t| permuted(t, &shape, rows, &ranks)).collect::<Result<_, _>>()?)
}

/// The flat positions of elements in sorted order: merge sort with runs of 1, 2, 4, … elements of
/// all rows at a time, where the position of each element of a left run in the right run is found
/// by bisection. The result is a permutation for any comparator.
fn sort_by_merging(
    rows: &[Tensor],
    size: usize,
    order: &mut ComparatorOrder<'_>,
) -> Result<Vec<usize>, EvalError> {
    let len = rows.first().map_or(0, Tensor::num_elements);
    // All searches, the active ones, the elements that they compare, and what is merged.
    let _reserved = budget::reserve::<[usize; 4]>(len)?;
    let mut sorted: Vec<usize> = (0..len).collect();
    let mut width = 1;
    while width < size {
        // Every element of a left run with a right run beside it, and the range of its place there.
        let mut searches: Vec<PlaceSearch> = Vec::with_capacity(len / 2 + 1);
        for row in (0..len).step_by(size) {
            for left in (row..row + size).step_by(2 * width) {
                let right = left + width;
                let end = (right + width).min(row + size);
                searches.extend(
                    (left..right.min(end)).filter(|_| right < end).map(|at| PlaceSearch {
                        at,
                        low: right,
                        high: end,
                    }),
                );
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
struct PlaceSearch {
    at: usize,
    low: usize,
    high: usize,
}
