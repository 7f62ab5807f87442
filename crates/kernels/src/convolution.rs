//! `convolution`: products of windows and kernels.
//!
//! Windows are rows of a matrix, which is multiplied with the kernel: where they are in the input,
//! or in a [copy with zeros](super::padded), if they are there in runs that pay; else a few rows at
//! a time are copied.

use super::contract::{accumulation, dispatch_sum, distinct, invalid};
use super::conv_windows::{Patches, Windows};
use super::depthwise::{Alike, depthwise};
use super::matmul::{Accumulator, BLOCK, Product, Results, multiply};
use super::padded::PaddedWindows;
use super::parallel::task_size;
use super::rows::{Matrix, Rows};
use numerics::budget::{Scratch, reserve};
use numerics::shape::{StridedView, num_elements};
use numerics::simd::Isa;
use numerics::{DType, Element, Tensor, TensorError, math};
use program::{ConvDims, EvalError, WindowDim};
use std::borrow::Cow;
use std::sync::Arc;

/// At most so many places of windows are kept.
const MAX_PREPARED: usize = 1 << 16;

/// The windows of a convolution.
pub struct Convolution<'a> {
    /// Which dimensions are batch, feature and spatial ones.
    pub dims: &'a ConvDims,
    /// One entry a spatial dimension.
    pub window: &'a [WindowDim],
    /// Spatial dimensions along which windows are reversed; empty for none.
    pub reversal: &'a [bool],
    /// Number of groups of features, each convolved on its own.
    pub feature_groups: usize,
    /// Number of groups of batches, each convolved on its own.
    pub batch_groups: usize,
}

impl<'a> Convolution<'a> {
    fn new(parameters: &'a program::Convolution, window: &'a [WindowDim]) -> Convolution<'a> {
        let program::Convolution { dims, reversal, feature_groups, batch_groups, .. } = parameters;
        let (feature_groups, batch_groups) = (*feature_groups, *batch_groups);
        Convolution { dims, window, reversal, feature_groups, batch_groups }
    }
}

/// A window of the size of a kernel of shape `kernel`.
fn sized(window: &[WindowDim], dims: &ConvDims, kernel: &[usize]) -> Vec<WindowDim> {
    let sizes = dims.kernel_spatial_dimensions.iter().map(|&d| {
        usize::try_from(d).ok().and_then(|d| kernel.get(d)).map_or(0, |&size| size as i64)
    });
    window.iter().zip(sizes).map(|(&dim, size)| WindowDim { size, ..dim }).collect()
}

/// A convolution with a window of the size of the kernel.
///
/// # Errors
/// If the attributes do not fit the shapes.
pub fn evaluate(
    parameters: &program::Convolution,
    window: &[WindowDim],
    lhs: Tensor,
    rhs: Tensor,
) -> Result<Tensor, EvalError> {
    let window = sized(window, &parameters.dims, rhs.shape());
    Convolution::new(parameters, &window).eval(lhs, rhs, parameters.dtype)
}

/// The sizes of a convolution on operands in the order batch, spatial dimensions, features (for the
/// kernel: spatial dimensions, input features, output features).
#[derive(Debug)]
pub struct ConvSizes {
    /// The spatial dimensions of the input,
    pub input_spatial: Vec<usize>,
    /// of the kernel,
    pub kernel_spatial: Vec<usize>,
    /// and of the output.
    pub output_spatial: Vec<usize>,
    /// Batches of the input,
    pub batch: usize,
    /// and of a group of batches.
    pub group_batch: usize,
    /// Features of the input,
    pub input_features: usize,
    /// and of one kernel.
    pub kernel_features: usize,
    /// Features of the output,
    pub output_features: usize,
    /// and of one group.
    pub group_features: usize,
    /// The number of groups.
    pub groups: usize,
}

impl ConvSizes {
    /// The number of positions of a window.
    pub fn taps(&self) -> usize {
        self.kernel_spatial.iter().product()
    }

    /// The number of products of a sum.
    fn depth(&self) -> usize {
        self.taps() * self.kernel_features
    }

    /// The number of places in tables of windows.
    fn places(&self) -> usize {
        let positions = self.output_spatial.iter().zip(&self.kernel_spatial);
        let tables = positions.map(|(outputs, taps)| outputs.saturating_mul(*taps));
        tables.fold(self.taps(), usize::saturating_add)
    }

    /// The number of elements of the input.
    pub fn input_len(&self) -> usize {
        self.batch * self.input_spatial.iter().product::<usize>() * self.input_features
    }
}

/// A convolution of operands of known shapes, whose type is that of its sums.
#[derive(Debug)]
pub struct PreparedConvolution {
    dtype: DType,
    sizes: Arc<ConvSizes>,
    /// Elements in the order of [`ConvSizes`], where operands have another one,
    input: Option<StridedView>,
    kernel: Option<StridedView>,
    /// and those of results in that of the output.
    output: Option<StridedView>,
    shape: Vec<usize>,
    has_feature_groups: bool,
    windows: SomeWindows,
    /// If each feature has a kernel of its own: what is used where that is finite.
    depthwise: Option<(Windows, Vec<Alike>)>,
}

/// The windows as rows of a matrix.
#[derive(Debug)]
enum SomeWindows {
    /// Where they are in the input, or in a copy with zeros.
    Padded(PaddedWindows),
    /// Copied a few at a time.
    Patches(Windows),
}

impl Convolution<'_> {
    /// The convolution of `lhs` with the kernel `rhs`, with elements of type `dtype`.
    ///
    /// # Errors
    /// If the attributes do not fit the shapes.
    pub fn eval(&self, lhs: Tensor, rhs: Tensor, dtype: DType) -> Result<Tensor, EvalError> {
        let sum_type = accumulation(lhs.dtype(), rhs.dtype(), dtype);
        let (lhs, rhs) = (math::convert(lhs, sum_type)?, math::convert(rhs, sum_type)?);
        let prepared = self.prepare([lhs.shape(), rhs.shape()], sum_type, usize::MAX)?;
        let mut result = Tensor::zeros(sum_type, &prepared.shape)?;
        prepared.run(lhs.bytes(), rhs.bytes(), result.bytes_mut()?)?;
        Ok(math::convert(result, dtype)?)
    }

    /// Prepares the convolution of operands of these shapes, with elements of type `dtype`, which
    /// is one in which products are summed.
    ///
    /// # Errors
    /// If the attributes do not fit the shapes, or it would keep more than `most` places.
    fn prepare(
        &self,
        [lhs, rhs]: [&[usize]; 2],
        dtype: DType,
        most: usize,
    ) -> Result<PreparedConvolution, EvalError> {
        let d = self.dims;
        let order = |first: &[i64], last: &[i64], rank, label| -> Result<Vec<usize>, EvalError> {
            let order = distinct(label, &[first, last].concat(), rank)?;
            if order.len() == rank {
                Ok(order)
            } else {
                Err(invalid(label, "not all dimensions are listed"))
            }
        };
        let in_order = |shape: &[usize], order: &[usize]| -> Result<_, EvalError> {
            let view = StridedView::dense(shape)?.permute(order)?;
            let sizes = view.shape().to_vec();
            Ok((sizes, (!view.is_dense()).then_some(view)))
        };
        let batch = &[&[d.input_batch_dimension], &d.input_spatial_dimensions[..]].concat();
        let input_order = order(batch, &[d.input_feature_dimension], lhs.len(), "convolution_c13")?;
        let features = &[d.kernel_input_feature_dimension, d.kernel_output_feature_dimension];
        let kernel_order =
            order(&d.kernel_spatial_dimensions, features, rhs.len(), "convolution_c18")?;
        let (input_sizes, input) = in_order(lhs, &input_order)?;
        let (kernel_sizes, kernel) = in_order(rhs, &kernel_order)?;
        let sizes = Arc::new(self.sizes(&input_sizes, &kernel_sizes)?);
        if sizes.places() > most {
            return Err(invalid("convolution_c25", "too large"));
        }
        let shape =
            [&[sizes.group_batch], &sizes.output_spatial[..], &[sizes.output_features]].concat();
        let batch = &[&[d.output_batch_dimension], &d.output_spatial_dimensions[..]].concat();
        let output_order =
            order(batch, &[d.output_feature_dimension], shape.len(), "convolution_c20")?;
        let mut inverse = vec![0; output_order.len()];
        for (from, &to) in output_order.iter().enumerate() {
            inverse[to] = from;
        }
        let (shape, output) = in_order(&shape, &inverse)?;
        let is_depthwise = sizes.kernel_features == 1
            && sizes.group_features == 1
            && self.batch_groups == 1
            && sizes.depth() <= BLOCK;
        let windows = || Windows::new(self, Arc::clone(&sizes));
        let depthwise = match is_depthwise {
            true => Some(windows()?).map(|windows| {
                let alike = Alike::all(&windows);
                (windows, alike)
            }),
            false => None,
        };
        let windows = match PaddedWindows::new(self, Arc::clone(&sizes))? {
            Some(padded) => SomeWindows::Padded(padded),
            None => SomeWindows::Patches(windows()?),
        };
        let has_feature_groups = self.feature_groups > 1;
        Ok(PreparedConvolution {
            dtype,
            sizes,
            input,
            kernel,
            output,
            shape,
            has_feature_groups,
            windows,
            depthwise,
        })
    }

    fn sizes(&self, input: &[usize], kernel: &[usize]) -> Result<ConvSizes, EvalError> {
        let rank = self.window.len();
        if input.len() != rank + 2 || kernel.len() != rank + 2 {
            return Err(invalid(
                "convolution_c1",
                "operands must have two dimensions more than the window",
            ));
        }
        let (feature_groups, batch_groups) = (self.feature_groups, self.batch_groups);
        if feature_groups == 0 || batch_groups == 0 || (feature_groups > 1 && batch_groups > 1) {
            return Err(invalid("convolution_c23", "groups must be positive and of one kind"));
        }
        let groups = feature_groups.max(batch_groups);
        let (batch, features) = (input[0], input[rank + 1]);
        let (kernel_features, output_features) = (kernel[rank], kernel[rank + 1]);
        for (label, what, size, groups) in [
            ("convolution_c10", "batches of the input", batch, batch_groups),
            ("convolution_c15", "output features of the kernel", output_features, batch_groups),
            ("convolution_c16", "output features of the kernel", output_features, feature_groups),
        ] {
            if size % groups != 0 {
                return Err(invalid(
                    label,
                    format!("there are {size} {what}, which {groups} groups do not divide"),
                ));
            }
        }
        if Some(features) != kernel_features.checked_mul(feature_groups) {
            let message = format!(
                "there are {features} input features in {feature_groups} groups, and {kernel_features} of the kernel for each"
            );
            return Err(invalid("convolution_c14", message));
        }
        let mut output_spatial = Vec::with_capacity(rank);
        for (axis, dim) in self.window.iter().enumerate() {
            let positive = dim.stride > 0 && dim.base_dilation > 0 && dim.window_dilation > 0;
            let count = i64::try_from(input[axis + 1])
                .ok()
                .filter(|_| positive)
                .and_then(|n| dim.num_windows(n));
            let count = count.and_then(|n| usize::try_from(n).ok());
            if dim.size != kernel[axis] as i64 {
                return Err(invalid(
                    "convolution_c25",
                    "the window has not the size of the kernel",
                ));
            }
            output_spatial
                .push(count.ok_or_else(|| invalid("convolution_c25", "the window does not fit"))?);
        }
        Ok(ConvSizes {
            input_spatial: input[1..=rank].to_vec(),
            kernel_spatial: kernel[..rank].to_vec(),
            output_spatial,
            batch,
            group_batch: batch / batch_groups,
            input_features: features,
            kernel_features,
            output_features,
            group_features: output_features / groups,
            groups,
        })
    }
}

impl PreparedConvolution {
    /// Prepares a convolution of operands of these types and shapes; `None` if elements have to be
    /// converted before or after, it would keep many places, or the attributes do not fit.
    pub fn new(
        parameters: &program::Convolution,
        [lhs, rhs]: [(DType, &[usize]); 2],
    ) -> Option<PreparedConvolution> {
        let dtype = accumulation(lhs.0, rhs.0, parameters.dtype);
        let window = sized(&parameters.window, &parameters.dims, rhs.1);
        let convolution = Convolution::new(parameters, &window);
        let is_converted = [lhs.0, rhs.0, parameters.dtype] != [dtype; 3];
        if is_converted {
            return None;
        }
        convolution.prepare([lhs.1, rhs.1], dtype, MAX_PREPARED).ok()
    }

    /// The number of places that it keeps.
    pub fn listed(&self) -> usize {
        self.sizes.places()
    }

    /// Writes the results of operands that are given as the bytes of their elements.
    ///
    /// # Errors
    /// If these are not those of the shapes, or there is no memory for copies.
    pub fn run(&self, lhs: &[u8], rhs: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        fn elements<T: Element>(bytes: &[u8]) -> Result<&[T], TensorError> {
            bytemuck::try_cast_slice(bytes).map_err(|_| TensorError::OutOfBounds)
        }
        let results = num_elements(&self.shape).ok_or(TensorError::OutOfBounds)?;
        dispatch_sum!(self.dtype, T, R, C => {
            let input = in_order(elements::<T>(lhs)?, self.input.as_ref())?;
            let kernel = in_order(elements::<T>(rhs)?, self.kernel.as_ref())?;
            let out = bytemuck::try_cast_slice_mut(out).map_err(|_| TensorError::OutOfBounds)?;
            let depth = self.sizes.depth();
            if input.len() != self.sizes.input_len()
                || kernel.len() != depth * self.sizes.output_features
                || out.len() != results
            {
                return Err(TensorError::OutOfBounds);
            }
            if kernel.is_empty() {
                out.fill(T::ZERO);
            }
            if out.is_empty() || kernel.is_empty() {
                return Ok(());
            }
            match &self.output {
                None => self.compute::<T, R, C>([&input, &kernel], out),
                Some(order) => {
                    let mut results = Scratch::filled(out.len(), T::ZERO)?;
                    self.compute::<T, R, C>([&input, &kernel], &mut results)?;
                    order.gather_into(&results, out)
                }
            }
        })
    }

    /// Writes the results for operands in the order of [`ConvSizes`].
    fn compute<T: Accumulator, const R: usize, const C: usize>(
        &self,
        [input, kernel]: [&[T]; 2],
        out: &mut [T],
    ) -> Result<(), TensorError> {
        let sizes = &*self.sizes;
        let (features, depth) = (sizes.output_features, sizes.depth());
        // Padding counts where weights are not finite: zero times infinity is not zero.
        let is_finite = |&weight: &T| weight.multiply(T::ZERO) == T::ZERO;
        if let Some((windows, alike)) = &self.depthwise
            && kernel.iter().all(is_finite)
        {
            let line = windows.line_len() * features;
            let lines = task_size(out.len() / line, windows.line_len() * depth * features / 4, 1);
            let tasks = out.chunks_mut(lines * line).enumerate();
            return host::parallel(tasks.collect(), |(task, out)| {
                depthwise::<T, C>(windows, alike, [input, kernel], task * lines, out);
                Ok(())
            });
        }
        let groups = (0..sizes.groups).map(|group| match self.has_feature_groups {
            false => [group * sizes.group_batch, 0],
            true => [0, group * sizes.kernel_features],
        });
        let image = input.len() / sizes.batch;
        // Windows over an empty input have padding only.
        let elements =
            |[batch, feature]: [usize; 2]| input.get(batch * image + feature..).unwrap_or_default();
        match &self.windows {
            SomeWindows::Padded(windows) if windows.are_elements() => {
                let strides = [sizes.input_features, 1];
                let matrices = groups.map(|first| Matrix { elements: elements(first), strides });
                multiply_groups::<T, R, C, _>(sizes, &matrices.collect::<Vec<_>>(), kernel, out)
            }
            SomeWindows::Padded(windows) => {
                let padded = windows.over(input)?;
                let groups = groups.map(|[batch, feature]| padded.group(batch, feature));
                multiply_groups::<T, R, C, _>(sizes, &groups.collect::<Vec<_>>(), kernel, out)
            }
            SomeWindows::Patches(windows) => {
                // The input positions of a part of the windows.
                let _reserved = reserve::<Option<usize>>(sizes.taps())?;
                let patches = groups.map(|first| Patches { windows, input, first });
                multiply_groups::<T, R, C, _>(sizes, &patches.collect::<Vec<_>>(), kernel, out)
            }
        }
    }
}

/// The elements in another order, if there is one.
fn in_order<'a, T: Element>(
    elements: &'a [T],
    order: Option<&StridedView>,
) -> Result<Cow<'a, [T]>, TensorError> {
    Ok(match order {
        None => Cow::Borrowed(elements),
        Some(order) => Cow::Owned(order.gather(elements)?),
    })
}

/// Writes the products of the windows of each group with its part of the kernel.
fn multiply_groups<T: Accumulator, const R: usize, const C: usize, W: Rows<T>>(
    sizes: &ConvSizes,
    groups: &[W],
    kernel: &[T],
    out: &mut [T],
) -> Result<(), TensorError> {
    let features = sizes.output_features;
    let (rows, depth) = (out.len() / features, sizes.depth());
    let product = |group: usize| Product {
        rows,
        depth,
        columns: sizes.group_features,
        a: &groups[group],
        b: Matrix { elements: &kernel[group * sizes.group_features..], strides: [features, 1] },
    };
    if sizes.groups == 1 {
        return multiply::<T, R, C>(&[product(0)], out);
    }
    let task_rows = task_size(rows, depth * features, R);
    let tasks = out.chunks_mut(task_rows * features).enumerate();
    host::parallel(tasks.collect(), |(task, out)| {
        let first = task * task_rows;
        let rows = first..first + out.len() / features;
        for group in 0..sizes.groups {
            let part = &mut out[group * sizes.group_features..];
            let mut results = Results::Strided(part, features);
            let columns = 0..sizes.group_features;
            product(group).compute::<R, C>(Isa::best(), rows.clone(), columns, &mut results)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    fn tensor(shape: &[usize], values: &[i64]) -> Tensor {
        Tensor::from_vec(shape, values.to_vec()).expect("shape and values agree")
    }

    static NHWC: LazyLock<ConvDims> = LazyLock::new(|| ConvDims {
        input_batch_dimension: 0,
        input_feature_dimension: 3,
        input_spatial_dimensions: vec![1, 2],
        kernel_input_feature_dimension: 2,
        kernel_output_feature_dimension: 3,
        kernel_spatial_dimensions: vec![0, 1],
        output_batch_dimension: 0,
        output_feature_dimension: 3,
        output_spatial_dimensions: vec![1, 2],
    });

    fn conv(feature_groups: usize, window: &[WindowDim]) -> Convolution<'_> {
        Convolution { dims: &NHWC, window, reversal: &[], feature_groups, batch_groups: 1 }
    }

    const WINDOW: WindowDim = WindowDim {
        size: 3,
        stride: 4,
        pad_low: 0,
        pad_high: 0,
        base_dilation: 2,
        window_dilation: 1,
    };

    #[test]
    fn convolution_example_of_the_specification() {
        let lhs = tensor(&[1, 4, 4, 1], &[1, 2, 5, 6, 3, 4, 7, 8, 10, 11, 14, 15, 12, 13, 16, 17]);
        let rhs = tensor(&[3, 3, 1, 1], &[1; 9]);
        let result =
            conv(1, &[WINDOW; 2]).eval(lhs.clone(), rhs.clone(), DType::I64).expect("valid");
        assert_eq!(result, tensor(&[1, 2, 2, 1], &[10, 26, 46, 62]));
        // Two features, each with its own kernel, are two independent convolutions.
        let both = |t: &Tensor, shape: &[usize], factor: i64| {
            let values = t.as_slice::<i64>().expect("i64").iter().flat_map(|&x| [x, x * factor]);
            tensor(shape, &values.collect::<Vec<_>>())
        };
        let (lhs, rhs) = (both(&lhs, &[1, 4, 4, 2], 1), both(&rhs, &[3, 3, 1, 2], 2));
        let result = conv(2, &[WINDOW; 2]).eval(lhs, rhs, DType::I64).expect("valid");
        assert_eq!(result, tensor(&[1, 2, 2, 2], &[10, 20, 26, 52, 46, 92, 62, 124]));
    }

    /// A convolution of numbers that are exact in every order, by the formula of the specification.
    fn by_definition(c: &Convolution<'_>, lhs: &Tensor, rhs: &Tensor, shape: &[usize]) -> Vec<f32> {
        let (input, kernel) = (lhs.as_slice::<f32>().unwrap(), rhs.as_slice::<f32>().unwrap());
        let (x, k) = (lhs.shape(), rhs.shape());
        let at = |shape: &[usize], index: [usize; 4]| {
            index.iter().zip(shape).fold(0, |at, (i, size)| at * size + i)
        };
        let mut results = Vec::new();
        let mut indices = numerics::shape::Indices::new(shape);
        while let Some(&[batch, row, column, feature]) = indices.next_index() {
            let group = feature / (k[3] / c.feature_groups);
            let batch_group = feature / (k[3] / c.batch_groups);
            let first = if c.feature_groups > 1 { group * k[2] } else { 0 };
            let batch = if c.batch_groups > 1 { batch_group * shape[0] + batch } else { batch };
            let mut sum = 0.0;
            let mut taps = numerics::shape::Indices::new(&k[..3]);
            while let Some(&[i, j, f]) = taps.next_index() {
                let place = |axis: usize, output: usize, tap: usize| {
                    let dim = &c.window[axis];
                    let tap = if c.reversal[axis] { k[axis] - 1 - tap } else { tap } as i64;
                    let at = output as i64 * dim.stride + tap * dim.window_dilation - dim.pad_low;
                    let within = at >= 0 && at % dim.base_dilation == 0;
                    let at = (at / dim.base_dilation) as usize;
                    (within && at < x[axis + 1]).then_some(at)
                };
                if let (Some(row), Some(column)) = (place(0, row, i), place(1, column, j)) {
                    sum += input[at(x, [batch, row, column, first + f])]
                        * kernel[at(k, [i, j, f, feature])];
                }
            }
            results.push(sum);
        }
        results
    }

    #[test]
    fn convolutions_follow_the_formula() {
        let mut state = 5u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % limit
        };
        for round in 0..400 {
            let feature_groups = [1, 1, 2, 20][below(4)];
            let batch_groups = if feature_groups == 1 { 1 + below(2) } else { 1 };
            let features = if feature_groups > 2 { 1 } else { [1, 2, 40][below(3)] };
            let results = feature_groups.max(batch_groups) * [1, 2, 9, 16][below(4)];
            let size: [usize; 2] = [1 + below(9), 1 + below(9)];
            let width: [usize; 2] = [1 + below(4), 1 + below(4)];
            let window = width.map(|size| WindowDim {
                size: size as i64,
                stride: 1 + below(3) as i64,
                pad_low: below(4) as i64 - 1,
                pad_high: below(4) as i64 - 1,
                base_dilation: 1 + below(2) as i64,
                window_dilation: 1 + below(2) as i64,
            });
            let reversal = [below(4) == 0, below(4) == 0];
            let c = Convolution {
                dims: &NHWC,
                window: &window,
                reversal: &reversal,
                feature_groups,
                batch_groups,
            };
            let mut tensor = |shape: &[usize]| {
                let count = shape.iter().product();
                let values = (0..count).map(|_| below(9) as f32 - 4.0).collect::<Vec<f32>>();
                Tensor::from_vec(shape, values).unwrap()
            };
            let batch = batch_groups * (1 + round % 2);
            let lhs = tensor(&[batch, size[0], size[1], features * feature_groups]);
            let rhs = tensor(&[width[0], width[1], features, results]);
            let _entered = host::Host::default().with_workers(1 + round % 3).enter();
            let result = c.eval(lhs.clone(), rhs.clone(), DType::F32).unwrap();
            let expected = by_definition(&c, &lhs, &rhs, result.shape());
            assert_eq!(result.as_slice::<f32>().unwrap(), expected, "{window:?} {lhs:?} {rhs:?}");
        }
    }

    /// Of an input of one element, no dilation is too large.
    #[test]
    fn dilations_that_overflow() {
        for base_dilation in [1 << 62, i64::MAX] {
            let dim = WindowDim { size: 1, stride: 1, base_dilation, ..WINDOW };
            let whole = WindowDim { base_dilation: 1, ..dim };
            let lhs = tensor(&[1, 1, 1, 4], &[1, 2, 3, 4]);
            let rhs = tensor(&[1, 1, 4, 1], &[1, 10, 100, 1000]);
            for window in [[dim, whole], [whole, dim], [dim, dim]] {
                let result = conv(1, &window).eval(lhs.clone(), rhs.clone(), DType::I64);
                assert_eq!(result.expect("valid"), tensor(&[1, 1, 1, 1], &[4321]));
            }
        }
    }

    /// Padding is multiplied, and zero times infinity is not a number.
    #[test]
    fn padding_counts_if_weights_are_infinite() {
        let window = [WindowDim { pad_low: 1, stride: 1, base_dilation: 1, ..WINDOW }; 2];
        for groups in [1, 2] {
            let lhs = Tensor::splat([1, 3, 3, 2], 1f32).unwrap();
            let rhs = Tensor::splat([3, 3, 2 / groups, 2], f32::INFINITY).unwrap();
            let result = conv(groups, &window).eval(lhs, rhs, DType::F32).unwrap();
            let inner = |i: usize| [6, 7].contains(&i);
            for (i, x) in result.as_slice::<f32>().unwrap().iter().enumerate() {
                assert_eq!((x.is_nan(), x.is_infinite()), (!inner(i), inner(i)), "{groups} {i}");
            }
        }
    }
}
