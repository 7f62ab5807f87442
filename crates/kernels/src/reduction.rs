//! Reductions that are prepared for a type and a shape.

use super::converted::MAX_CONVERTED;
use super::fused::Registers;
use super::kernel::{Form, Kernel, RowOperand, RowWise, expect_bytes};
use super::least_or_largest;
use super::parallel::task_size;
use super::reduce::{Layout, combine_converted, is_common, sum_type};
use super::reduce_parts::{combine_in_parts, may_have_parts};
use numerics::budget::reserve;
use numerics::math::{AlignedBytes, BinaryOp};
use numerics::shape::num_elements;
use numerics::{DType, TensorError};
use program::BodyShape;
use std::ops::Range;

/// A reduction of tensors of a known type and shape by a common operation, whose elements are
/// combined where they are, or few enough to be converted before.
#[derive(Debug)]
pub struct Reduction {
    op: BinaryOp,
    dtype: DType,
    /// The type in which elements are combined.
    wide: DType,
    /// Number of results, none of them of no elements.
    rows: usize,
    /// Number of elements.
    elements: usize,
    /// Elements between two elements of one result.
    inner: usize,
    /// If results are between the dimensions that are reduced, as those of channels that come
    /// before the lines of an image: the sizes of what is reduced, of results and of what is
    /// reduced after these.
    between: Option<[usize; 3]>,
}

/// Bytes of the elements of results that are brought together at a time: a third of the first-level
/// cache.
fn together_bytes() -> usize {
    host::machine().l1.bytes / 3
}

impl Reduction {
    /// Prepares a reduction; `None` if the elements have to be copied before, or many of them
    /// converted, or the operation is not a common one.
    pub fn new(
        shape: BodyShape,
        dtype: DType,
        operand: &[usize],
        dimensions: &[usize],
    ) -> Option<Reduction> {
        let BodyShape::Binary { op, .. } = shape else { return None };
        let wide = sum_type(dtype);
        let mut reduced = dimensions.to_vec();
        reduced.sort_unstable();
        // Without a dimension, each element is the only one of its sum.
        let end = reduced.last().map_or(operand.len(), |&axis| axis + 1);
        if end > operand.len() {
            return None;
        }
        // Products of some of the sizes fit if that of all does, and none is 0.
        let elements = num_elements(operand).filter(|&n| n > 0)?;
        let count: usize = reduced.iter().map(|&axis| operand[axis]).product();
        let is_run = reduced.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let inner = operand[end..].iter().product();
        let needs_no_memory = least_or_largest::is_computed(op, dtype) || may_have_parts(op, inner);
        if wide != dtype && elements > MAX_CONVERTED && !(is_run && needs_no_memory) {
            return None;
        }
        let between = match is_run {
            true => None,
            false => Some(between(operand, &reduced)?),
        };
        let rows = elements / count;
        let reduction = Reduction { op, dtype, wide, rows, elements, inner, between };
        Some(reduction).filter(|_| is_common(op, wide))
    }

    /// Computes it on the bytes of elements.
    ///
    /// # Errors
    /// If their sizes do not match the types and shapes.
    pub fn run(&self, input: &[u8], init: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        let size = self.dtype.bytes();
        if input.len() != self.elements * size || out.len() != self.rows * size {
            return Err(TensorError::OutOfBounds);
        }
        if let Some(sizes) = self.between {
            return self.run_between(sizes, input, init, out);
        }
        let (types, layout) = ([self.dtype, self.wide], Layout::Columns(self.inner));
        if least_or_largest::combine(self.op, self.dtype, [input, init], self.inner, out)? {
            return Ok(());
        }
        if self.is_converted()
            && self.elements > MAX_CONVERTED
            && combine_in_parts(self.op, types, [self.rows, self.inner], input, init, out)?
        {
            return Ok(());
        }
        let copied = if self.is_converted() { self.elements * self.wide.bytes() } else { 0 };
        let _reserved = reserve::<u8>(copied)?;
        combine_converted(self.op, types, input, init, &layout, out)
    }

    /// As [`Reduction::run`]: the elements of some results are brought together first.
    fn run_between(
        &self,
        [outer, rows, inner]: [usize; 3],
        input: &[u8],
        init: &[u8],
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let (size, count) = (self.dtype.bytes(), self.count());
        let (line, row) = (inner * size, count * size);
        let part = (together_bytes() / row).max(1);
        let task_rows = task_size(rows, row, 1);
        host::parallel(out.chunks_mut(task_rows * size).enumerate().collect(), |(task, out)| {
            let _reserved = reserve::<u8>(row.saturating_mul(part))?;
            let mut room = AlignedBytes::new();
            room.try_resize(row * part)?;
            for (nth, out) in out.chunks_mut(part * size).enumerate() {
                let first = task * task_rows + nth * part;
                let room = &mut room[..out.len() / size * row];
                for (result, room) in (first..).zip(room.chunks_exact_mut(row)) {
                    for (number, copy) in (0..outer).zip(room.chunks_exact_mut(line)) {
                        let start = (number * rows + result) * line;
                        copy.copy_from_slice(&input[start..start + line]);
                    }
                }
                let (types, layout) = ([self.dtype, self.wide], Layout::Columns(1));
                combine_converted(self.op, types, room, init, &layout, out)?;
            }
            Ok(())
        })
    }

    /// As [`Reduction::run`], of some of the results, whose elements are rows.
    ///
    /// # Errors
    /// If the number of elements differs, or the elements of a result are no neighbours.
    pub fn run_rows(&self, input: &[u8], init: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        if !self.is_of_rows() || input.len() != out.len() * self.count() || out.is_empty() {
            return Err(TensorError::OutOfBounds);
        }
        let layout = Layout::Columns(1);
        combine_converted(self.op, [self.dtype, self.wide], input, init, &layout, out)
    }

    /// True if the elements that are combined to a result are neighbours.
    pub fn is_of_rows(&self) -> bool {
        self.inner == 1 && self.between.is_none()
    }

    /// True if elements are converted to be combined.
    pub fn is_converted(&self) -> bool {
        self.wide != self.dtype
    }

    /// The operation.
    pub fn op(&self) -> BinaryOp {
        self.op
    }

    /// The type of elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The type in which elements are combined.
    pub fn wide(&self) -> DType {
        self.wide
    }

    /// Number of results.
    pub fn results(&self) -> usize {
        self.rows
    }

    /// Number of elements that are combined to a result.
    pub fn count(&self) -> usize {
        self.elements / self.rows
    }

    /// The number of one of the elements that are combined to a result.
    pub fn element(&self, result: usize, number: usize) -> usize {
        if let Some([_, rows, inner]) = self.between {
            return (number / inner * rows + result) * inner + number % inner;
        }
        let (group, column) = (result / self.inner, result % self.inner);
        (group * self.count() + number) * self.inner + column
    }
}

/// The sizes of the first dimensions, which are reduced, of the ones after, which are not, and of
/// the last ones, which are; `None` for other dimensions.
fn between(operand: &[usize], reduced: &[usize]) -> Option<[usize; 3]> {
    let first = reduced.iter().enumerate().take_while(|&(i, &axis)| i == axis).count();
    let last = operand.len() - (reduced.len() - first);
    let are_last = reduced[first..].iter().zip(last..).all(|(&axis, expected)| axis == expected);
    let size = |range: Range<usize>| operand[range].iter().product();
    (are_last && last > first)
        .then(|| [size(0..first), size(first..last), size(last..operand.len())])
}

impl Kernel for Reduction {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([input, init], result) = expect_bytes(operands, results)?;
        self.run(input, init, result)
    }

    fn row_wise(&self) -> Option<&dyn RowWise> {
        self.is_of_rows().then_some(self)
    }

    fn form(&self) -> Form<'_> {
        Form::Reduction(self)
    }
}

impl RowWise for Reduction {
    fn rows(&self) -> Option<usize> {
        Some(self.rows)
    }

    fn row_results(&self, rows: usize) -> Option<usize> {
        self.rows.is_multiple_of(rows).then(|| self.rows / rows)
    }

    fn row_inputs(&self, rows: usize) -> Option<usize> {
        Some(self.row_results(rows)? * self.count())
    }

    fn reads_rows(&self, rows: usize, operand: usize, elements: usize) -> bool {
        operand == 0 && self.row_inputs(rows) == Some(elements)
    }

    fn work(&self) -> usize {
        self.rows.saturating_mul(self.count()).saturating_mul(2)
    }

    fn run_rows(
        &self,
        rows: usize,
        range: Range<usize>,
        operands: &[RowOperand<'_>],
        _: Option<&[u8]>,
        results: &mut [&mut [u8]],
        _: &mut Registers,
    ) -> Result<(), TensorError> {
        let (&[input, init], [result]) = (operands, results) else {
            return Err(TensorError::OutOfBounds);
        };
        let row = self.row_inputs(rows).ok_or(TensorError::OutOfBounds)? * self.dtype.bytes();
        let input = match input.is_part {
            true => Some(input.bytes),
            false => input.bytes.get(range.start * row..range.end * row),
        };
        self.run_rows(input.ok_or(TensorError::OutOfBounds)?, init.whole()?, result)
    }
}
