//! Convolutions whose results have the features before batch and positions, such as gradients by
//! the kernel.
//!
//! The product of kernel and windows is computed instead of that of windows and kernel: its rows
//! are the features of all results. Windows are its columns, copied to panels. The sums of real
//! numbers are the same both ways.

use super::accumulator::Accumulator;
use super::conv_sizes::ConvSizes;
use super::matmul::{FEW, Product, multiply, result_work};
use super::parallel::{parts_in_parallel, task_size};
use super::rows::{Matrix, RowScratch, Rows, SomeRows};
use numerics::budget::reserve;
use numerics::math::AlignedBytes;
use numerics::shape::StridedView;
use numerics::simd::transpose;
use numerics::{DType, TensorError};

/// Copying an element of a window takes as long as moving this part of a result to another place.
const COPIES: usize = 2;

/// How to compute results with the features first.
#[derive(Debug)]
pub(super) struct FeaturesFirst {
    /// The kernel with the features of results first.
    pub kernel: StridedView,
}

impl FeaturesFirst {
    /// Returns the way for a kernel, with its features last, and results with these places in
    /// memory; `None` if results have another order, or there is more to copy for the windows than
    /// for these.
    pub(crate) fn new(
        dtype: DType,
        kernel: &StridedView,
        output: &StridedView,
        sizes: &ConvSizes,
    ) -> Option<FeaturesFirst> {
        let features = sizes.output_features;
        let windows = sizes.windows();
        let matrix = output.reshaped(&[windows, features])?;
        let is_first = matrix.strides() == [1, isize::try_from(windows).ok()?];
        let pays = windows > 1 && sizes.depth() <= COPIES.saturating_mul(features);
        let is_usual = matches!(dtype, DType::F32 | DType::F64) && sizes.groups == 1;
        if !(is_first && pays && is_usual && sizes.depth() > FEW) {
            return None;
        }
        let last = kernel.shape().len() - 1;
        let order: Vec<usize> = std::iter::once(last).chain(0..last).collect();
        Some(FeaturesFirst { kernel: kernel.permute(&order).ok()? })
    }
}

/// Writes the products of a kernel, a row for each feature, with windows, given memory for copies
/// of these.
///
/// # Errors
/// If there is no memory for copies of the windows.
pub(super) fn multiply_windows<T: Accumulator, const R: usize, const C: usize>(
    kernel: &[T],
    windows: &dyn Rows<T>,
    sizes: &ConvSizes,
    room: &mut AlignedBytes,
    out: &mut [T],
) -> Result<(), TensorError> {
    let (depth, features, count) = (sizes.depth(), sizes.output_features, sizes.windows());
    let elements = count.next_multiple_of(C).saturating_mul(depth);
    let _reserved = reserve::<T>(elements)?;
    room.try_resize(elements.saturating_mul(size_of::<T>()))?;
    let panels: &mut [T] = bytemuck::cast_slice_mut(room);
    let at_a_time = task_size(count.div_ceil(C), C * depth, 1);
    parts_in_parallel(panels, at_a_time * C * depth, |task, panels| {
        let (mut scratch, mut row) = (RowScratch::default(), Vec::new());
        for (panel, first) in
            panels.chunks_exact_mut(C * depth).zip((task * at_a_time * C..).step_by(C))
        {
            let range = first..count.min(first + C);
            let width = range.len();
            let (source, stride) = match windows.rows(range, depth, &mut scratch) {
                SomeRows::Neighbours(elements, stride) => (elements, stride),
                SomeRows::Segments { elements, starts, segments } => {
                    row.clear();
                    for &start in starts {
                        for run in segments.runs() {
                            row.extend_from_slice(&elements[start + run.start..start + run.end]);
                        }
                    }
                    (&row[..], depth)
                }
            };
            transpose((source, stride), (panel, C), [width, depth]);
        }
        Ok::<(), TensorError>(())
    })?;
    let product = Product {
        rows: features,
        depth,
        columns: count,
        a: &Matrix { elements: kernel, strides: [depth, 1] },
        // It is in the panels.
        b: Matrix { elements: &[], strides: [0, 0] },
        order: None,
        panels: Some(bytemuck::cast_slice(room)),
    };
    multiply::<T, R, C>(&[product], result_work::<T>(features, depth), out)
}
