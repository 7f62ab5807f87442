//! `argmax` and `argmin` as kernels.

use super::converted::converted;
use super::extremum::{ReducedLines, dispatch_extremum, extrema_of_type, wide_type};
use super::kernel::Kernel;
use numerics::budget::{Scratch, reserve};
use numerics::math::AlignedBytes;
use numerics::shape::{StridedView, num_elements};
use numerics::{DType, Element, TensorError};
use program::Extremum;

/// The largest or smallest element along neighbouring dimensions, or its index.
#[derive(Debug)]
pub(crate) struct ExtremumKernel {
    kind: Extremum,
    /// The types of elements and indices.
    dtypes: [DType; 2],
    /// The lines of elements and of indices.
    lines: [ReducedLines; 2],
    lens: [usize; 2],
    /// True if the result is the index, otherwise the element.
    is_index: bool,
}

impl ExtremumKernel {
    /// The kernel for elements of this shape, and indices that are a view of memory of `len`
    /// elements: dense, or broadcast along the dimensions that are kept. `None` for other views,
    /// dimensions and types.
    pub(crate) fn new(
        kind: Extremum,
        (dtype, shape): (DType, &[usize]),
        (index, view, len): (DType, &StridedView, usize),
        dimensions: &[usize],
        is_index: bool,
    ) -> Option<ExtremumKernel> {
        let is_known = dispatch_extremum!(wide_type(dtype), index, T, I => {
            [T::DTYPE, I::DTYPE] == [wide_type(dtype), index]
        }, else false);
        let (&first, &last) = (dimensions.first()?, dimensions.last()?);
        let is_run = dimensions.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        if !is_known || !is_run || view.shape() != shape {
            return None;
        }
        let sizes = [&shape[..first], &shape[first..=last], &shape[last + 1..]].map(num_elements);
        let [outer, count, inner] = [sizes[0]?, sizes[1]?, sizes[2]?];
        let elements = num_elements(shape)?;
        let lines = ReducedLines::new([outer, count, inner], [elements; 2]).ok()?;
        let along = StridedView::dense(&shape[first..=last]).ok()?;
        let strides = view.strides();
        let repeats = |range: std::ops::Range<usize>| {
            range.into_iter().all(|d| shape[d] == 1 || strides[d] == 0)
        };
        let index_lines = if view.is_dense() && len == elements {
            lines
        } else if view.offset() == 0
            && len == count
            && repeats(0..first)
            && repeats(last + 1..shape.len())
            && &strides[first..=last] == along.strides()
        {
            lines.repeated()
        } else {
            return None;
        };
        let lens = [elements, len];
        Some(ExtremumKernel {
            kind,
            dtypes: [dtype, index],
            lines: [lines, index_lines],
            lens,
            is_index,
        })
    }

    /// The type of the result.
    pub(crate) fn dtype(&self) -> DType {
        self.dtypes[usize::from(self.is_index)]
    }
}

impl Kernel for ExtremumKernel {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        fn cast<T: bytemuck::Pod>(bytes: &[u8]) -> Result<&[T], TensorError> {
            bytemuck::try_cast_slice(bytes).map_err(|_| TensorError::OutOfBounds)
        }
        let (&[values, indices, value, index], [result]) = (operands, results) else {
            return Err(TensorError::OutOfBounds);
        };
        let &ExtremumKernel { kind, dtypes: [dtype, place], lines, lens, is_index } = self;
        let (wide, mut room) = (wide_type(dtype), AlignedBytes::new());
        let value = converted(value, [dtype, wide], &mut room)?;
        dispatch_extremum!(wide, place, T, I => {
            let init = (cast::<T>(value)?.first(), cast::<I>(index)?.first());
            let (Some(&value), Some(&index)) = init else { return Err(TensorError::OutOfBounds) };
            let (indices, init) = (cast::<I>(indices)?, (value, index));
            let count = result.len() / self.dtype().bytes();
            let found = [values.len() / dtype.bytes(), indices.len()];
            if found != lens || count != lines[0].results() {
                return Err(TensorError::OutOfBounds);
            }
            let elements = (values, indices);
            if is_index {
                let mut best = AlignedBytes::new();
                let _reserved = reserve::<u8>(count * dtype.bytes())?;
                best.try_resize(count * dtype.bytes())?;
                let places = bytemuck::try_cast_slice_mut(result);
                let outs = (&mut best[..], places.map_err(|_| TensorError::OutOfBounds)?);
                extrema_of_type::<T, I>(kind, dtype, elements, init, lines, outs)
            } else {
                let mut places = Scratch::filled(count, I::default())?;
                let outs = (&mut **result, &mut places[..]);
                extrema_of_type::<T, I>(kind, dtype, elements, init, lines, outs)
            }
        }, else Err(TensorError::OutOfBounds))
    }
}
