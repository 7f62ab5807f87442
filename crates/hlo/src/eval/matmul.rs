//! Products of matrices, and what reduces to them: `dot_general` and `convolution`.

use super::index::positions;
use crate::attrs::{ConvDims, DotDims};
use crate::window::WindowDim;
use mlir::eval::EvalError;
use numerics::math;
use numerics::shape::{StridedView, strides};
use numerics::{DType, Number, Tensor, dispatch_all};

/// `out[m][n] += sum over k of a[m][k] * b[k][n]`, in the order of `k`.
fn matmul<T: Number>(a: &[T], b: &[T], out: &mut [T], k: usize, n: usize) {
    if n == 0 || k == 0 {
        return;
    }
    for (row, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        for (&x, b) in row.iter().zip(b.chunks_exact(n)) {
            for (sum, &y) in out.iter_mut().zip(b) {
                *sum = sum.add(x.multiply(y));
            }
        }
    }
}

/// The type in which products are summed: small floats are summed in f32 and rounded once.
fn accumulation(dtype: DType) -> DType {
    if dtype.is_float() && dtype.bits() < 32 { DType::F32 } else { dtype }
}

fn usizes(values: &[i64]) -> Vec<usize> {
    values.iter().map(|&v| usize::try_from(v).unwrap_or(usize::MAX)).collect()
}

fn product(shape: &[usize], dims: &[usize]) -> usize {
    dims.iter().map(|&d| shape[d]).product()
}

/// `dot_general` with a result of element type `dtype`: batch dimensions, then free ones of `lhs`, then of `rhs`.
/// Source: specification, section "dot_general".
///
/// # Errors
/// Dimension numbers that do not fit the operands.
pub fn dot_general(lhs: &Tensor, rhs: &Tensor, dims: DotDims<'_>, dtype: DType) -> Result<Tensor, EvalError> {
    let (lhs_batch, rhs_batch) = (usizes(dims.lhs_batching_dimensions), usizes(dims.rhs_batching_dimensions));
    let (lhs_sum, rhs_sum) = (usizes(dims.lhs_contracting_dimensions), usizes(dims.rhs_contracting_dimensions));
    let free = |t: &Tensor, batch: &[usize], sum: &[usize]| -> Vec<usize> {
        (0..t.rank()).filter(|d| !batch.contains(d) && !sum.contains(d)).collect()
    };
    let (lhs_free, rhs_free) = (free(lhs, &lhs_batch, &lhs_sum), free(rhs, &rhs_batch, &rhs_sum));
    let sum_type = accumulation(dtype);
    let arranged = |t: &Tensor, order: [&[usize]; 3]| -> Result<Tensor, EvalError> {
        let view = StridedView::dense(t.shape())?.permute(&order.concat())?;
        Ok(math::convert(t.gather(&view)?, sum_type)?)
    };
    let a = arranged(lhs, [&lhs_batch, &lhs_free, &lhs_sum])?;
    let b = arranged(rhs, [&rhs_batch, &rhs_sum, &rhs_free])?;
    let (m, n) = (product(lhs.shape(), &lhs_free), product(rhs.shape(), &rhs_free));
    let (k, batch) = (product(lhs.shape(), &lhs_sum), product(lhs.shape(), &lhs_batch));
    if k != product(rhs.shape(), &rhs_sum) || batch != product(rhs.shape(), &rhs_batch) {
        return Err(EvalError::new("dot_general_c10", "batching or contracting dimensions have different sizes"));
    }
    let dims_of = |t: &Tensor, dims: &[usize]| dims.iter().map(|&d| t.shape()[d]).collect::<Vec<_>>();
    let shape = [dims_of(lhs, &lhs_batch), dims_of(lhs, &lhs_free), dims_of(rhs, &rhs_free)].concat();
    let mut result = Tensor::zeros(sum_type, &shape)?;
    dispatch_all!(sum_type, T => {
        let (a, b, out) = (a.as_slice::<T>()?, b.as_slice::<T>()?, result.make_mut::<T>()?);
        for i in 0..batch {
            matmul(&a[i * m * k..][..m * k], &b[i * k * n..][..k * n], &mut out[i * m * n..][..m * n], k, n);
        }
    });
    Ok(math::convert(result, dtype)?)
}

/// The parts of a convolution besides its operands.
pub struct Convolution<'a> {
    /// Which dimension is which.
    pub dims: ConvDims<'a>,
    /// How the window moves, one entry a spatial dimension.
    pub window: &'a [WindowDim],
    /// Whether the window is reversed, one entry a spatial dimension.
    pub reversal: &'a [bool],
    /// Number of groups of features.
    pub feature_groups: usize,
    /// Number of groups of the batch.
    pub batch_groups: usize,
}

impl Convolution<'_> {
    /// The result, of element type `dtype`. Source: specification, section "convolution".
    ///
    /// # Errors
    /// Attributes that do not fit the operands.
    pub fn eval(&self, lhs: &Tensor, rhs: &Tensor, dtype: DType) -> Result<Tensor, EvalError> {
        let sum_type = accumulation(dtype);
        let dims = self.dims;
        let order = |first: i64, second: i64, rest: &[i64]| usizes(&[&[first, second], rest].concat());
        let arranged = |t: &Tensor, order: Vec<usize>| -> Result<Tensor, EvalError> {
            let view = StridedView::dense(t.shape())?.permute(&order)?;
            Ok(math::convert(t.gather(&view)?, sum_type)?)
        };
        let input_order =
            order(dims.input_batch_dimension, dims.input_feature_dimension, dims.input_spatial_dimensions);
        let kernel_order = order(
            dims.kernel_output_feature_dimension,
            dims.kernel_input_feature_dimension,
            dims.kernel_spatial_dimensions,
        );
        // [batch, feature, spatial…] and [output feature, input feature of a group, spatial…]
        let (input, kernel) = (arranged(lhs, input_order)?, arranged(rhs, kernel_order)?);
        let spatial = self.window.len();
        let too_large = || EvalError::new("convolution_c25", "the shape of the result is too large");
        if input.rank() != spatial + 2 || kernel.rank() != spatial + 2 || self.reversal.len() != spatial {
            return Err(EvalError::new("convolution_c1", "the operands and the window have different ranks"));
        }
        let (batch, features) = (input.shape()[0], input.shape()[1]);
        let (outputs, group_features) = (kernel.shape()[0], kernel.shape()[1]);
        let groups = self.feature_groups.max(1) * self.batch_groups.max(1);
        let group_batch = batch / self.batch_groups.max(1);
        let group_outputs = outputs / groups;
        if group_features * self.feature_groups != features || group_outputs * groups != outputs {
            return Err(EvalError::new("convolution_c14", "the features do not divide into groups"));
        }
        let base = &input.shape()[2..];
        let mut out_spatial = Vec::with_capacity(spatial);
        for (dim, &size) in self.window.iter().zip(base) {
            let count = dim.num_windows(size as i64).and_then(|n| usize::try_from(n).ok());
            out_spatial.push(count.ok_or_else(too_large)?);
        }
        let sources = self.sources(base, &out_spatial);
        let taps: usize = kernel.shape()[2..].iter().product();
        let windows: usize = out_spatial.iter().product();
        let plane: usize = base.iter().product();
        let shape = [&[group_batch, outputs][..], &out_spatial].concat();
        let mut result = Tensor::zeros(sum_type, &shape)?;
        let depth = group_features * taps;
        dispatch_all!(sum_type, T => {
            let zero = <T as numerics::Element>::ZERO;
            let (input, kernel, out) = (input.as_slice::<T>()?, kernel.as_slice::<T>()?, result.make_mut::<T>()?);
            let mut patches = vec![zero; windows * depth];
            for group in 0..groups {
                // One of the two numbers of groups is one.
                let feature = if self.feature_groups > 1 { group * group_features } else { 0 };
                let first = if self.batch_groups > 1 { group * group_batch } else { 0 };
                let weights = &kernel[group * group_outputs * depth..][..group_outputs * depth];
                for n in 0..group_batch {
                    for f in 0..group_features {
                        let at = ((first + n) * features + feature + f) * plane;
                        for (tap, sources) in sources.chunks_exact(windows.max(1)).enumerate() {
                            let row = &mut patches[(f * taps + tap) * windows..][..windows];
                            for (element, source) in row.iter_mut().zip(sources) {
                                *element = source.map_or(zero, |s| input[at + s]);
                            }
                        }
                    }
                    let to = (n * outputs + group * group_outputs) * windows;
                    matmul(weights, &patches, &mut out[to..][..group_outputs * windows], depth, windows);
                }
            }
        });
        // From [batch, feature, spatial…] to the order of the result.
        let written = order(dims.output_batch_dimension, dims.output_feature_dimension, dims.output_spatial_dimensions);
        let mut back = vec![0; spatial + 2];
        for (from, &to) in written.iter().enumerate() {
            *back.get_mut(to).ok_or_else(too_large)? = from;
        }
        let view = StridedView::dense(&shape)?.permute(&back)?;
        Ok(math::convert(result.gather(&view)?, dtype)?)
    }

    /// For each element of the window, then each window: the row-major position in the base that it sees, none in the padding and
    /// between dilated elements.
    fn sources(&self, base: &[usize], out: &[usize]) -> Vec<Option<usize>> {
        let sizes: Vec<usize> = self.window.iter().map(|d| d.size as usize).collect();
        let (tap_strides, out_strides, steps) = (strides(&sizes), strides(out), strides(base));
        let taps = positions(&tap_strides, &sizes);
        let windows = positions(&out_strides, out);
        let mut sources = Vec::with_capacity(taps.len() * windows.len());
        for &tap in &taps {
            for &window in &windows {
                let mut source = Some(0);
                for (d, dim) in self.window.iter().enumerate() {
                    let mut at = (tap / tap_strides[d] % sizes[d]) as i64;
                    if self.reversal[d] {
                        at = dim.size - 1 - at;
                    }
                    let origin = (window / out_strides[d] % out[d]) as i64 * dim.stride - dim.pad_low;
                    let dilated = origin + at * dim.window_dilation;
                    let index = dilated / dim.base_dilation;
                    let visible = dilated >= 0 && dilated % dim.base_dilation == 0 && index < base[d] as i64;
                    source = source.filter(|_| visible).map(|s| s + index as usize * steps[d]);
                }
                sources.push(source);
            }
        }
        sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(shape: &[usize], values: &[i64]) -> Tensor {
        Tensor::from_vec(shape, values.to_vec()).expect("shape and values agree")
    }

    #[test]
    fn dot_general_example_of_the_specification() {
        let lhs = ints(&[2, 2, 2], &[1, 2, 3, 4, 5, 6, 7, 8]);
        let rhs = ints(&[2, 2, 2], &[1, 0, 0, 1, 1, 0, 0, 1]);
        let dims = DotDims {
            lhs_batching_dimensions: &[0],
            rhs_batching_dimensions: &[0],
            lhs_contracting_dimensions: &[2],
            rhs_contracting_dimensions: &[1],
        };
        assert_eq!(dot_general(&lhs, &rhs, dims, DType::I64).expect("valid dimensions"), lhs);
    }

    #[test]
    fn convolution_example_of_the_specification() {
        let dims = ConvDims {
            input_batch_dimension: 0,
            input_feature_dimension: 3,
            input_spatial_dimensions: &[1, 2],
            kernel_input_feature_dimension: 2,
            kernel_output_feature_dimension: 3,
            kernel_spatial_dimensions: &[0, 1],
            output_batch_dimension: 0,
            output_feature_dimension: 3,
            output_spatial_dimensions: &[1, 2],
        };
        let dim = WindowDim { size: 3, stride: 4, pad_low: 0, pad_high: 0, base_dilation: 2, window_dilation: 1 };
        let lhs = ints(&[1, 4, 4, 1], &[1, 2, 5, 6, 3, 4, 7, 8, 10, 11, 14, 15, 12, 13, 16, 17]);
        let rhs = ints(&[3, 3, 1, 1], &[1; 9]);
        let window = [dim, dim];
        let convolution =
            Convolution { dims, window: &window, reversal: &[false, false], feature_groups: 1, batch_groups: 1 };
        let result = convolution.eval(&lhs, &rhs, DType::I64).expect("valid attributes");
        assert_eq!(result, ints(&[1, 2, 2, 1], &[10, 26, 46, 62]));
    }
}
