//! Movement of elements: parts, padding, concatenation.

use super::kernel::{Kernel, expect_bytes};
use super::parallel::task_size;
use numerics::shape::{Runs, StridedView};
use numerics::{DType, IotaElements, Tensor, TensorError};
use program::EvalError;

/// Rows of the result that threads transpose at a time are a multiple of this, the rows of the
/// widest tile that is transposed in registers.
const ROWS: usize = 16;

/// The operand with its dimensions in the order of `permutation`, on several threads where that
/// pays.
///
/// # Errors
/// If it is no permutation of the dimensions.
pub fn transpose(operand: &Tensor, permutation: &[usize]) -> Result<Tensor, EvalError> {
    let view = StridedView::dense(operand.shape())?.permute(permutation)?;
    let dtype = operand.dtype();
    if task_rows(&view.squeezed(), dtype).is_none() || view.is_dense() {
        return Ok(operand.gather(&view)?);
    }
    let mut result = Tensor::zeros(dtype, view.shape())?;
    gather(&view, dtype, operand.bytes(), result.bytes_mut()?)?;
    Ok(result)
}

/// A view of elements of a type, in any order, that becomes a tensor.
#[derive(Debug)]
pub struct Rearrangement {
    view: StridedView,
    dtype: DType,
    bytes: usize,
}

impl Rearrangement {
    /// The view of a tensor of this many elements; `None` if it reaches outside of it.
    pub fn new(view: StridedView, dtype: DType, elements: usize) -> Option<Rearrangement> {
        Runs::new(&view, elements).ok()?;
        Some(Rearrangement { view, dtype, bytes: elements.checked_mul(dtype.bytes())? })
    }

    /// Writes the elements, on several threads where that pays.
    ///
    /// # Errors
    /// If operand or result do not have the size of their types.
    pub fn run(&self, operand: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        if operand.len() != self.bytes {
            return Err(TensorError::OutOfBounds);
        }
        gather(&self.view, self.dtype, operand, out)
    }
}

impl Kernel for Rearrangement {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([operand], result) = expect_bytes(operands, results)?;
        self.run(operand, result)
    }
}

impl Kernel for IotaElements {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([], result) = expect_bytes(operands, results)?;
        write_iota(self, result)
    }
}

/// Writes the elements of a view, given as bytes, to `out`, on several threads where that pays.
///
/// # Errors
/// If the view reaches outside of the elements, or `out` has another size.
pub(crate) fn gather(
    view: &StridedView,
    dtype: DType,
    elements: &[u8],
    out: &mut [u8],
) -> Result<(), TensorError> {
    let squeezed = view.squeezed();
    let (Some(count), Some((&rows, inner))) =
        (task_rows(&squeezed, dtype), squeezed.shape().split_first())
    else {
        return view.gather_bytes(dtype, elements, out);
    };
    let row_bytes = inner.iter().product::<usize>() * dtype.bytes();
    if row_bytes.checked_mul(rows) != Some(out.len()) {
        return Err(TensorError::OutOfBounds);
    }
    let tasks = out.chunks_mut(count * row_bytes).enumerate();
    host::parallel(tasks.collect(), |(task, out): (usize, &mut [u8])| {
        let first = task * count;
        let part = squeezed.rows(first, count.min(rows - first))?;
        part.gather_bytes(dtype, elements, out)
    })
}

/// Writes the elements of an iota as bytes, on several threads where that pays.
///
/// # Errors
/// If `out` is no memory of such elements.
fn write_iota(iota: &IotaElements, out: &mut [u8]) -> Result<(), TensorError> {
    let bytes = iota.dtype().bytes();
    let elements = task_size(out.len() / bytes, 4, 1);
    let tasks = out.chunks_mut(elements * bytes).enumerate();
    host::parallel(tasks.collect(), |(task, out): (usize, &mut [u8])| {
        iota.write(task * elements, out)
    })
}

/// How many rows of a view a task gathers; `None` if one does them all.
fn task_rows(view: &StridedView, dtype: DType) -> Option<usize> {
    let (&rows, inner) = view.shape().split_first()?;
    let row = inner.iter().copied().fold(dtype.bytes(), usize::saturating_mul);
    let count = task_size(rows, row, if rows < 2 * ROWS { 1 } else { ROWS });
    (count < rows).then_some(count)
}

/// Start indices of a dynamic slice: scalar tensors, each clamped so that a slice of `sizes` stays
/// within `shape`.
///
/// # Errors
/// If an index is no integer scalar, or their number is not that of the dimensions.
pub fn clamped_starts(
    starts: &[Tensor],
    shape: &[usize],
    sizes: &[usize],
) -> Result<Vec<usize>, EvalError> {
    if starts.len() != shape.len() || sizes.len() != shape.len() {
        return Err(EvalError::new("operands", "one start index for each dimension is required"));
    }
    let clamp = |(axis, start): (usize, &Tensor)| -> Result<usize, EvalError> {
        let values = start.to_i64s()?;
        let value =
            *values.first().ok_or_else(|| EvalError::new("operands", "a start index is empty"))?;
        let last = shape[axis].saturating_sub(sizes[axis]);
        // Unsigned 64-bit indices beyond i64 are far beyond any dimension.
        let beyond = start.dtype() == DType::U64 && value < 0;
        Ok(if beyond { last } else { usize::try_from(value).unwrap_or(0).min(last) })
    };
    starts.iter().enumerate().map(clamp).collect()
}

/// Values that count up from zero along `dimension`.
///
/// # Errors
/// If there is no such dimension, or no memory.
pub fn iota(shape: &[usize], dtype: DType, dimension: usize) -> Result<Tensor, EvalError> {
    let none = || {
        let message = format!("there is no dimension {dimension} in a rank of {}", shape.len());
        EvalError::new("iota_c1", message)
    };
    let iota = IotaElements::new(dtype, shape, dimension).ok_or_else(none)?;
    let mut result = Tensor::zeros(dtype, shape)?;
    write_iota(&iota, result.bytes_mut()?)?;
    Ok(result)
}

/// `operand` with `padding` around and between its elements; negative edges cut.
///
/// # Errors
/// If the lists do not fit the rank, the result is too large, or the interior padding is negative.
pub fn pad(
    operand: &Tensor,
    padding: &Tensor,
    low: &[i64],
    high: &[i64],
    interior: &[i64],
) -> Result<Tensor, EvalError> {
    let rank = operand.rank();
    if [low.len(), high.len(), interior.len()] != [rank; 3] {
        return Err(EvalError::new(
            "pad_c2",
            format!("each padding list must have {rank} entries"),
        ));
    }
    let too_large =
        || EvalError::new("pad_c4", "the padded size of a dimension is negative or too large");
    let views = StridedView::padded(operand.shape(), low, high, interior);
    let (source, target, shape) = views.ok_or_else(too_large)?;
    let mut result = padding.broadcast_scalar(&shape)?;
    if !source.shape().contains(&0) {
        result.scatter(&target, &operand.gather(&source)?)?;
    }
    Ok(result)
}

/// Concatenates tensors along a dimension.
///
/// # Errors
/// If the list is empty, or their shapes are incompatible.
pub fn concatenate(inputs: &[&Tensor], dimension: usize) -> Result<Tensor, EvalError> {
    let first =
        inputs.first().ok_or_else(|| EvalError::new("concatenate_c1", "there are no inputs"))?;
    if dimension >= first.rank() {
        return Err(EvalError::new("concatenate_c4", format!("there is no dimension {dimension}")));
    }
    let mut shape = first.shape().to_vec();
    let sizes = inputs.iter().map(|t| t.shape().get(dimension).copied().unwrap_or(0));
    let total = sizes.clone().try_fold(0usize, usize::checked_add);
    shape[dimension] =
        total.ok_or_else(|| EvalError::new("concatenate_c6", "the result is too large"))?;
    let mut result = Tensor::zeros(first.dtype(), &shape)?;
    let mut start = vec![0; shape.len()];
    for (input, size) in inputs.iter().zip(sizes) {
        let view = StridedView::window(&shape, &start, input.shape(), &vec![1; shape.len()])?;
        result.scatter(&view, input)?;
        start[dimension] += size;
    }
    Ok(result)
}

/// The elements backwards along `dimensions`.
///
/// # Errors
/// If there is no memory for the result.
pub(crate) fn reverse(operand: &Tensor, dimensions: &[usize]) -> Result<Tensor, EvalError> {
    let (mut starts, mut steps) = (vec![0; operand.rank()], vec![1; operand.rank()]);
    for (d, &size) in operand.shape().iter().enumerate().filter(|(d, _)| dimensions.contains(d)) {
        starts[d] = size.saturating_sub(1);
        steps[d] = -1;
    }
    let view = StridedView::window(operand.shape(), &starts, operand.shape(), &steps)?;
    Ok(operand.gather(&view)?)
}

/// The operand with dimension `i` as dimension `dimensions[i]` of `shape`, repeated along the
/// others.
///
/// # Errors
/// If the dimensions do not fit, or there is no memory for the result.
pub(crate) fn broadcast(
    operand: &Tensor,
    shape: &[usize],
    dimensions: &[usize],
) -> Result<Tensor, EvalError> {
    let view = StridedView::dense(operand.shape())?.broadcast(shape, dimensions)?;
    Ok(operand.gather(&view)?)
}

/// The part of `operand` of shape `sizes` from the scalar indices `starts`, clamped to fit.
///
/// # Errors
/// If indices are no integers, or their number is not that of the dimensions.
pub(crate) fn dynamic_slice(
    operand: &Tensor,
    starts: &[Tensor],
    sizes: &[usize],
) -> Result<Tensor, EvalError> {
    let starts = clamped_starts(starts, operand.shape(), sizes)?;
    let view = StridedView::window(operand.shape(), &starts, sizes, &vec![1; sizes.len()])?;
    Ok(operand.gather(&view)?)
}

/// `operand` with `update` at the scalar indices `starts`, clamped to fit.
///
/// # Errors
/// As [`dynamic_slice`].
pub(crate) fn dynamic_update_slice(
    mut operand: Tensor,
    update: &Tensor,
    starts: &[Tensor],
) -> Result<Tensor, EvalError> {
    let starts = clamped_starts(starts, operand.shape(), update.shape())?;
    let steps = vec![1; update.rank()];
    let view = StridedView::window(operand.shape(), &starts, update.shape(), &steps)?;
    operand.scatter(&view, update)?;
    Ok(operand)
}
