//! `argmax` and `argmin` as kernels.

use super::extremum::{ReducedLines, are_known, extrema};
use super::kernel::Kernel;
use numerics::budget::reserve;
use numerics::math::AlignedBytes;
use numerics::shape::{StridedView, num_elements};
use numerics::{DType, TensorError};
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
        let (&first, &last) = (dimensions.first()?, dimensions.last()?);
        let is_run = dimensions.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        if !are_known([dtype, index]) || !is_run || view.shape() != shape {
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
            lines.repeated(1)
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
        let (&[values, indices, value, index], [result]) = (operands, results) else {
            return Err(TensorError::OutOfBounds);
        };
        let &ExtremumKernel { kind, dtypes, lines, lens, is_index } = self;
        let count = result.len() / self.dtype().bytes();
        let found = [values.len() / dtypes[0].bytes(), indices.len() / dtypes[1].bytes()];
        if found != lens || count != lines[0].results() {
            return Err(TensorError::OutOfBounds);
        }
        // The other result.
        let mut room = AlignedBytes::new();
        let len = count * dtypes[usize::from(!is_index)].bytes();
        let _reserved = reserve::<u8>(len)?;
        room.try_resize(len)?;
        let outs = match is_index {
            true => [&mut room[..], &mut **result],
            false => [&mut **result, &mut room[..]],
        };
        extrema(kind, dtypes, [values, indices], [value, index], lines, outs, is_index)
    }
}
