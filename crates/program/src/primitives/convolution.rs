//! Sums of products under a sliding window.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::work::{product, sizes};
use crate::{Window, WindowDim};
use numerics::DType;
use numerics::shape::StridedView;

/// A convolution without the sizes of its window, which the kernel has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// The batch, feature and spatial dimensions.
    pub dims: ConvDims,
    /// The window, one entry a spatial dimension, of any size.
    pub window: Window,
    /// For each spatial dimension, true if the kernel is reversed; empty if none is.
    pub reversal: Vec<bool>,
    /// Groups of features.
    pub feature_groups: usize,
    /// Groups of the batch.
    pub batch_groups: usize,
    /// The element type of the result.
    pub dtype: DType,
}

impl Convolution {
    /// The convolution of an input without that many zeros before and after it in each dimension;
    /// `None` if it does not see these as it sees its own padding.
    pub fn with_padding(&self, low: &[i64], high: &[i64]) -> Option<Convolution> {
        let mut convolution = self.clone();
        let mut spatial = 0;
        for (dim, &d) in convolution.window.iter_mut().zip(&self.dims.input_spatial_dimensions) {
            let d = usize::try_from(d).ok()?;
            let (low, high) = (*low.get(d)?, *high.get(d)?);
            if dim.base_dilation != 1 {
                return None;
            }
            dim.pad_low = dim.pad_low.checked_add(low)?;
            dim.pad_high = dim.pad_high.checked_add(high)?;
            spatial += usize::from((low, high) != (0, 0));
        }
        let count = low.iter().zip(high).filter(|&(low, high)| (*low, *high) != (0, 0)).count();
        (count == spatial).then_some(convolution)
    }

    /// The convolution with the kernel reversed along these of its dimensions; `None` if one of
    /// them is not spatial.
    pub fn with_reversal(&self, dimensions: &[usize]) -> Option<Convolution> {
        let mut convolution = self.clone();
        let spatial = &self.dims.kernel_spatial_dimensions;
        convolution.reversal.resize(spatial.len(), false);
        for &dimension in dimensions {
            let axis = spatial.iter().position(|&d| usize::try_from(d) == Ok(dimension))?;
            let is_reversed = convolution.reversal.get_mut(axis)?;
            *is_reversed = !*is_reversed;
        }
        Some(convolution)
    }
}

/// Dimension numbers of `convolution`, named as in the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub struct ConvDims {
    pub input_batch_dimension: i64,
    pub input_feature_dimension: i64,
    pub input_spatial_dimensions: Vec<i64>,
    pub kernel_input_feature_dimension: i64,
    pub kernel_output_feature_dimension: i64,
    pub kernel_spatial_dimensions: Vec<i64>,
    pub output_batch_dimension: i64,
    pub output_feature_dimension: i64,
    pub output_spatial_dimensions: Vec<i64>,
}

impl Operation for Convolution {
    fn kind(&self) -> Kind {
        Kind::Convolution
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        true
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::operations(self.products(shapes).saturating_mul(2)))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}

impl Convolution {
    /// Number of products, except with padding and holes.
    fn products(&self, shapes: &Shapes<'_>) -> u64 {
        let ConvDims {
            input_batch_dimension,
            input_spatial_dimensions,
            kernel_input_feature_dimension,
            kernel_output_feature_dimension,
            kernel_spatial_dimensions,
            output_spatial_dimensions,
            ..
        } = &self.dims;
        let batch = shapes.size(0, *input_batch_dimension) / (self.batch_groups as u64).max(1);
        // Each output feature sees the input features of its group, a dimension of the kernel.
        let features = [kernel_input_feature_dimension, kernel_output_feature_dimension];
        let features = features.map(|&dimension| shapes.size(1, dimension));
        let output = shapes.results.first().map_or(Vec::new(), |ty| sizes(ty));
        let mut products = product([batch, features[0], features[1]]);
        let spatial = input_spatial_dimensions.iter().zip(kernel_spatial_dimensions);
        for (index, (&input, &kernel)) in spatial.enumerate() {
            let at = output_spatial_dimensions.get(index).and_then(|&d| usize::try_from(d).ok());
            let steps = at.and_then(|at| output.get(at).copied()).unwrap_or(1);
            let line = SpatialLine {
                input: shapes.size(0, input),
                kernel: shapes.size(1, kernel),
                output: steps,
                dim: self.window.get(index),
            };
            products = products.saturating_mul(line.products());
        }
        products
    }
}

/// One spatial dimension of a convolution.
struct SpatialLine<'a> {
    input: u64,
    kernel: u64,
    output: u64,
    dim: Option<&'a WindowDim>,
}

impl SpatialLine<'_> {
    /// Number of pairs of an output position and a kernel position that meet an input element.
    fn products(&self) -> u64 {
        /// Larger lines are not counted one by one; padding is then counted, too.
        const MAX_KERNEL: u64 = 1 << 16;
        let all = self.kernel.saturating_mul(self.output);
        let Some(dim) = self.dim else { return all };
        if self.kernel > MAX_KERNEL {
            return all;
        }
        let [stride, base, dilation] =
            [dim.stride, dim.base_dilation, dim.window_dilation].map(|n| i128::from(n.max(1)));
        let (low, input, output) =
            (i128::from(dim.pad_low), i128::from(self.input), i128::from(self.output));
        let mut count = 0u64;
        for k in 0..i128::from(self.kernel) {
            // Output position o meets input position (o * stride + k * dilation - low) / base.
            let shift = k * dilation - low;
            let last = (input - 1) * base - shift;
            if input == 0 || last < 0 {
                continue;
            }
            let first = if shift < 0 { (-shift + stride - 1) / stride } else { 0 };
            let end = (last / stride + 1).min(output);
            count = count.saturating_add(hits(first, end, stride, shift, base));
        }
        count
    }
}

/// Number of `o` in `first..end` for which `o * stride + shift` is a multiple of `base`.
fn hits(first: i128, end: i128, stride: i128, shift: i128, base: i128) -> u64 {
    let length = (end - first).max(0);
    // Remainders repeat after at most `base` positions.
    let period = base / gcd(stride % base, base);
    let found = (first..first + period.min(1 << 16))
        .position(|o| (o * stride + shift).rem_euclid(base) == 0);
    let Some(found) = found else { return 0 };
    let rest = length - found as i128;
    if rest <= 0 { 0 } else { u64::try_from((rest + period - 1) / period).unwrap_or(u64::MAX) }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}
