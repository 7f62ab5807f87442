//! Kernels of StableHLO's primitives: functions on tensors and slices, without IR.
//!
//! [`evaluate`] computes a [`Primitive`](program::Primitive) with them. It is the only meaning of
//! each op: the interpreter runs programs with it, and folding passes run single ops.

pub mod accumulator; // For the tests of `matmul`.
mod batch_norm;
mod blocking;
mod body;
mod collective;
mod column_sums;
mod complex_products;
mod contract;
mod conv_features_first;
mod conv_kernels;
mod conv_sizes;
mod conv_windows;
mod converted;
mod convolution;
mod copies;
mod depthwise;
mod direct;
mod einsum;
mod evaluate;
#[doc(hidden)]
pub mod extremum; // For its tests.
mod extremum_kernel;
mod extremum_places;
#[doc(hidden)]
pub mod features; // For its tests.
mod few_results;
mod fft;
#[doc(hidden)]
pub mod fft_lines; // For its tests.
mod fft_moves;
pub mod fused;
mod index_select;
mod index_vectors;
mod kernel;
mod key_order;
mod least_or_largest;
mod levels;
pub mod linalg;
pub mod long_windows; // For its tests.
mod loops;
#[doc(hidden)]
pub mod matmul; // For its tests.
mod movement;
#[doc(hidden)]
pub mod narrow; // For its tests.
mod narrow_integers;
mod operations;
mod order;
mod padded;
mod panels;
mod parallel;
#[doc(hidden)]
pub mod philox; // For its tests.
mod prepare;
mod quantize;
mod random_numbers;
#[doc(hidden)]
pub mod reduce; // For its tests.
mod reduce_parts;
mod reduction;
#[doc(hidden)]
pub mod rng; // For its tests.
pub mod row_loops;
mod row_sums;
mod row_windows;
#[doc(hidden)]
pub mod rows; // For the tests of `matmul`.
#[doc(hidden)]
pub mod scatter; // For its tests.
#[doc(hidden)]
pub mod select_and_scatter; // For its tests.
#[doc(hidden)]
pub mod short_rows; // For its tests.
mod small_products;
mod sort;
mod subnormals;
#[doc(hidden)]
pub mod sums; // For its tests.
#[doc(hidden)]
pub mod threefry; // For its tests.
mod top_k;
mod tree;
mod vector_products;
mod widened;
mod window;

pub use batch_norm::{Normalization, batch_norm_grad, batch_norm_inference, batch_norm_training};
pub use body::Combiner;
pub use contract::{DotKernel, ProductTerms, ScaleLayout, ScaledDot, accumulation, dot_general};
pub use convolution::{Convolution, PreparedConvolution};
pub use copies::{CopyPart, copy};
pub use einsum::einsum;
pub use evaluate::{evaluate, from_end};
pub use fft::{FourierTransform, fourier};
pub use index_vectors::{GatherKernel, gather};
pub use kernel::{Form, Kernel, RowOperand, RowWise};
pub use loops::{Fused, Layout, Load, LoopOp, LoopOutput, Stage, TilePlace};
pub use movement::{Rearrangement, clamped_starts, concatenate, iota, pad, transpose};
pub use prepare::{KernelOperand, Prepared, prepare};
pub use quantize::{dequantize, quantize};
pub use random_numbers::Stream;
pub use reduce::{SHORT_WINDOW, reduce};
pub use reduction::Reduction;
pub use rng::RandomBitsKernel;
pub use scatter::{ScatterKernel, apply_updates, scatter};
pub use select_and_scatter::select_and_scatter;
pub use sort::{Permutation, Sorted, Sorting, sort};
pub use top_k::top_k;
pub use tree::Tree;
pub use window::{WindowReduction, num_windows, reduce_window, reduce_window_inside};

use numerics::Tensor;
use program::{DYNAMIC, EvalError};

/// Scalars among `tensors` repeated over the shape of the others: elementwise functions run on
/// vectors where they are declared on scalars.
///
/// # Errors
/// If there is no memory for the result.
fn broadcast_scalars<const N: usize>(mut tensors: [Tensor; N]) -> Result<[Tensor; N], EvalError> {
    let Some(shape) = tensors.iter().find(|t| t.rank() > 0).map(|t| t.shape().to_vec()) else {
        return Ok(tensors);
    };
    for tensor in tensors.iter_mut().filter(|t| t.rank() == 0) {
        *tensor = tensor.broadcast_scalar(&shape)?;
    }
    Ok(tensors)
}

/// A shape found at run time fits the sizes that the result type declares, if it has a rank.
///
/// # Errors
/// If it does not.
fn fits_declared(declared: Option<&[i64]>, shape: &[usize]) -> Result<(), EvalError> {
    let fits = |(&found, &declared): (&usize, &i64)| {
        declared == DYNAMIC || usize::try_from(declared) == Ok(found)
    };
    match declared {
        Some(declared)
            if declared.len() != shape.len() || !shape.iter().zip(declared).all(fits) =>
        {
            let shown = declared.iter().map(|&size| match size {
                DYNAMIC => "?".to_string(),
                size => size.to_string(),
            });
            let shown = shown.collect::<Vec<_>>().join("x");
            Err(EvalError::new(
                "shape",
                format!("the result has shape {shape:?}, which does not fit its type, {shown}"),
            ))
        }
        _ => Ok(()),
    }
}
