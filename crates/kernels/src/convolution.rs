//! `convolution`: products of windows and kernels.
//!
//! Windows are rows of a matrix, which is multiplied with the kernel: where they are in the input,
//! or in a [copy with zeros](super::padded), if they are there in runs that pay; else a few rows at
//! a time are copied.

use super::contract::{accumulation, dispatch_sum, distinct, invalid};
use super::depthwise::depthwise;
use super::matmul::{Accumulator, BLOCK, Product, Results, multiply};
use super::padded::Padded;
use super::parallel::task_size;
use super::rows::{Matrix, RowScratch, Rows, SomeRows};
use numerics::budget::{Scratch, reserve};
use numerics::shape::StridedView;
use numerics::simd::Isa;
use numerics::{DType, Tensor, math};
use program::{ConvDims, EvalError, WindowDim};
use std::ops::Range;

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

/// The sizes of a convolution on operands in the order batch, spatial dimensions, features (for the
/// kernel: spatial dimensions, input features, output features).
pub(super) struct ConvSizes {
    pub(super) input_spatial: Vec<usize>,
    pub(super) kernel_spatial: Vec<usize>,
    pub(super) output_spatial: Vec<usize>,
    /// Batches of the input, and of a group of batches.
    pub(super) batch: usize,
    pub(super) group_batch: usize,
    /// Features of the input, and of one kernel.
    pub(super) input_features: usize,
    pub(super) kernel_features: usize,
    /// Features of the output, and of one group.
    pub(super) output_features: usize,
    pub(super) group_features: usize,
    pub(super) groups: usize,
}

impl ConvSizes {
    /// The number of positions of a window.
    pub(super) fn taps(&self) -> usize {
        self.kernel_spatial.iter().product()
    }
}

impl Convolution<'_> {
    /// The convolution of `lhs` with the kernel `rhs`, with elements of type `dtype`.
    ///
    /// # Errors
    /// If the attributes do not fit the shapes.
    pub fn eval(&self, lhs: Tensor, rhs: Tensor, dtype: DType) -> Result<Tensor, EvalError> {
        let sum_type = accumulation(lhs.dtype(), rhs.dtype(), dtype);
        let (lhs, rhs) = (math::convert(lhs, sum_type)?, math::convert(rhs, sum_type)?);
        let d = self.dims;
        let order =
            |first: &[i64], last: &[i64], t: &Tensor, label| -> Result<Vec<usize>, EvalError> {
                let order = distinct(label, &[first, last].concat(), t.rank())?;
                if order.len() == t.rank() {
                    Ok(order)
                } else {
                    Err(invalid(label, "not all dimensions are listed"))
                }
            };
        let spatial = &d.input_spatial_dimensions[..];
        let input_order = order(
            &[&[d.input_batch_dimension], spatial].concat(),
            &[d.input_feature_dimension],
            &lhs,
            "convolution_c13",
        )?;
        let kernel_features = [d.kernel_input_feature_dimension, d.kernel_output_feature_dimension];
        let kernel_order =
            order(&d.kernel_spatial_dimensions, &kernel_features, &rhs, "convolution_c18")?;
        let input = lhs.gather(&StridedView::dense(lhs.shape())?.permute(&input_order)?)?;
        let kernel = rhs.gather(&StridedView::dense(rhs.shape())?.permute(&kernel_order)?)?;
        drop((lhs, rhs));
        let sizes = self.sizes(input.shape(), kernel.shape())?;
        let shape =
            [&[sizes.group_batch], &sizes.output_spatial[..], &[sizes.output_features]].concat();
        let mut result = Tensor::zeros(sum_type, &shape)?;
        if result.num_elements() > 0 && kernel.num_elements() > 0 {
            dispatch_sum!(sum_type, T, R, C => {
                let operands = [input.as_slice::<T>()?, kernel.as_slice::<T>()?];
                Ok(compute::<T, R, C>(self, &sizes, operands, result.make_mut::<T>()?))
            })??;
        }
        let output_order = order(
            &[&[d.output_batch_dimension], &d.output_spatial_dimensions[..]].concat(),
            &[d.output_feature_dimension],
            &result,
            "convolution_c20",
        )?;
        let mut inverse = vec![0; output_order.len()];
        for (from, &to) in output_order.iter().enumerate() {
            inverse[to] = from;
        }
        Ok(math::convert(result.gather(&StridedView::dense(&shape)?.permute(&inverse)?)?, dtype)?)
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

/// The positions in an image under the windows of a convolution.
pub(super) struct Windows<'a> {
    pub(super) sizes: &'a ConvSizes,
    /// For each spatial dimension but the last one, output position and window position: the input
    /// position, or `None` for padding. Window positions vary fastest.
    outer: Vec<Scratch<Option<usize>>>,
    /// Input positions along the last spatial dimension, window by window.
    runs: Scratch<Run>,
    /// Where the runs of each window end.
    ends: Scratch<usize>,
}

/// Neighbouring positions of a window that see neighbouring positions of the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// The first position in the window.
    pub(super) to: usize,
    /// The first position in the input.
    pub(super) from: usize,
    pub(super) len: usize,
}

impl<'a> Windows<'a> {
    fn new(convolution: &Convolution<'_>, sizes: &'a ConvSizes) -> Result<Windows<'a>, EvalError> {
        let mut tables = Vec::with_capacity(convolution.window.len());
        for axis in 0..convolution.window.len() {
            tables.push(positions(convolution, sizes, axis)?);
        }
        let last = match tables.pop() {
            Some(table) => table,
            None => Scratch::filled(1, Some(0))?,
        };
        let width = sizes.kernel_spatial.last().map_or(1, |&width| width);
        let (mut runs, mut ends) = (Scratch::new(last.len())?, Scratch::new(last.len())?);
        for window in last.chunks_exact(width.max(1)) {
            let mut run: Option<Run> = None;
            for (to, &from) in window.iter().enumerate() {
                match (&mut run, from) {
                    (Some(run), Some(from)) if run.from + run.len == from => run.len += 1,
                    (_, from) => {
                        runs.extend(run);
                        run = from.map(|from| Run { to, from, len: 1 });
                    }
                }
            }
            runs.extend(run);
            ends.push(runs.len());
        }
        Ok(Windows { sizes, outer: tables, runs, ends })
    }

    /// The number of results along the last spatial dimension.
    pub(super) fn line_len(&self) -> usize {
        self.ends.len()
    }

    /// The runs of the window at `x` along the last spatial dimension.
    pub(super) fn runs(&self, x: usize) -> &[Run] {
        let start = if x == 0 { 0 } else { self.ends[x - 1] };
        &self.runs[start..self.ends[x]]
    }

    /// Where the lines of the input begin that the windows of a line of results see, for each
    /// position of the window along all spatial dimensions but the last one; `None` for padding.
    pub(super) fn lines(&self, line: usize, first_batch: usize, starts: &mut Vec<Option<usize>>) {
        let sizes = self.sizes;
        let mut rest = line;
        let mut output = vec![0; self.outer.len()];
        for (position, size) in output.iter_mut().zip(&sizes.output_spatial).rev() {
            *position = rest % size;
            rest /= size;
        }
        starts.clear();
        starts.push(Some(first_batch + rest));
        for (axis, table) in self.outer.iter().enumerate() {
            let window = sizes.kernel_spatial[axis];
            let row = &table[output[axis] * window..][..window];
            let size = sizes.input_spatial[axis];
            for base in std::mem::take(starts) {
                starts.extend(row.iter().map(|&at| Some(base? * size + at?)));
            }
        }
        let line = sizes.input_spatial.last().map_or(1, |&size| size) * sizes.input_features;
        for start in starts {
            *start = start.map(|start| start * line);
        }
    }

    /// The number of windows from `x` on along the last spatial dimension that see a run each, of
    /// the same positions of the window, and the distance between those runs.
    pub(super) fn alike(&self, x: usize) -> (usize, usize) {
        let [first] = self.runs(x) else { return (1, 0) };
        let mut step = None;
        let mut count = 1;
        while x + count < self.line_len() {
            let [run] = self.runs(x + count) else { break };
            let distance = run.from.checked_sub(first.from + (count - 1) * step.unwrap_or(0));
            let is_alike = (run.to, run.len) == (first.to, first.len);
            if !is_alike || distance.is_none() || step.is_some_and(|step| distance != Some(step)) {
                break;
            }
            step = distance;
            count += 1;
        }
        (count, step.unwrap_or(0))
    }
}

/// For each output position along a spatial dimension and each position of the window: the input
/// position, or `None` for padding.
fn positions(
    convolution: &Convolution<'_>,
    sizes: &ConvSizes,
    axis: usize,
) -> Result<Scratch<Option<usize>>, EvalError> {
    let dim = &convolution.window[axis];
    let (outputs, window) = (sizes.output_spatial[axis], sizes.kernel_spatial[axis]);
    let [size, window_size] = [sizes.input_spatial[axis], window].map(|size| size as i128);
    let [stride, low] = [dim.stride, dim.pad_low].map(i128::from);
    let [base_dilation, window_dilation] = [dim.base_dilation, dim.window_dilation].map(i128::from);
    let reversed = convolution.reversal.get(axis).copied().unwrap_or(false);
    let count =
        outputs.checked_mul(window).ok_or_else(|| invalid("convolution_c25", "too large"))?;
    let mut table = Scratch::new(count)?;
    for output in 0..outputs as i128 {
        for w in 0..window_size {
            let w = if reversed { window_size - 1 - w } else { w };
            let at: i128 = output * stride + w * window_dilation - low;
            let inside = at >= 0 && at % base_dilation == 0 && at / base_dilation < size;
            table.push(inside.then_some((at / base_dilation) as usize));
        }
    }
    Ok(table)
}

/// Writes the results of a convolution of `input`, with the features last, and `kernel`, with the
/// output features last.
fn compute<T: Accumulator, const R: usize, const C: usize>(
    convolution: &Convolution<'_>,
    sizes: &ConvSizes,
    [input, kernel]: [&[T]; 2],
    out: &mut [T],
) -> Result<(), EvalError> {
    let features = sizes.output_features;
    let depth = sizes.taps() * sizes.kernel_features;
    let is_depthwise = sizes.kernel_features == 1
        && sizes.group_features == 1
        && convolution.batch_groups == 1
        && depth <= BLOCK
        // Otherwise padding counts: zero times infinity is not zero.
        && kernel.iter().all(|&weight| weight.multiply(T::ZERO) == T::ZERO);
    if is_depthwise {
        let windows = &Windows::new(convolution, sizes)?;
        let line = windows.line_len() * features;
        let lines = task_size(out.len() / line, windows.line_len() * depth * features / 4, 1);
        let tasks = out.chunks_mut(lines * line).enumerate();
        return host::parallel(tasks.collect(), |(task, out)| {
            depthwise::<T, C>(windows, [input, kernel], task * lines, out);
            Ok(())
        });
    }
    let groups = (0..sizes.groups).map(|group| match convolution.feature_groups {
        1 => [group * sizes.group_batch, 0],
        _ => [0, group * sizes.kernel_features],
    });
    let image = input.len() / sizes.batch;
    // Windows over an empty input have padding only.
    let elements =
        |[batch, feature]: [usize; 2]| input.get(batch * image + feature..).unwrap_or_default();
    match Padded::new(convolution, sizes, input)? {
        Some(padded) if padded.are_elements() => {
            let strides = [sizes.input_features, 1];
            let matrices = groups.map(|first| Matrix { elements: elements(first), strides });
            multiply_groups::<T, R, C, _>(sizes, &matrices.collect::<Vec<_>>(), kernel, out)
        }
        Some(padded) => {
            let groups = groups.map(|[batch, feature]| padded.group(batch, feature));
            multiply_groups::<T, R, C, _>(sizes, &groups.collect::<Vec<_>>(), kernel, out)
        }
        None => {
            let windows = &Windows::new(convolution, sizes)?;
            // The input positions of a part of the windows.
            let _reserved = reserve::<Option<usize>>(sizes.taps())?;
            let patches = groups.map(|[first_batch, first_feature]| Patches {
                windows,
                input,
                first_batch,
                first_feature,
            });
            multiply_groups::<T, R, C, _>(sizes, &patches.collect::<Vec<_>>(), kernel, out)
        }
    }
}

/// Writes the products of the windows of each group with its part of the kernel.
fn multiply_groups<T: Accumulator, const R: usize, const C: usize, W: Rows<T>>(
    sizes: &ConvSizes,
    groups: &[W],
    kernel: &[T],
    out: &mut [T],
) -> Result<(), EvalError> {
    let features = sizes.output_features;
    let (rows, depth) = (out.len() / features, sizes.taps() * sizes.kernel_features);
    let product = |group: usize| Product {
        rows,
        depth,
        columns: sizes.group_features,
        a: &groups[group],
        b: Matrix { elements: &kernel[group * sizes.group_features..], strides: [features, 1] },
    };
    if sizes.groups == 1 {
        return Ok(multiply::<T, R, C>(&[product(0)], out)?);
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

/// The windows of a group of features as rows of a matrix.
struct Patches<'a, T> {
    windows: &'a Windows<'a>,
    input: &'a [T],
    first_batch: usize,
    first_feature: usize,
}

impl<T: Accumulator> Rows<T> for Patches<'_, T> {
    fn rows<'s>(
        &'s self,
        range: Range<usize>,
        depth: usize,
        scratch: &'s mut RowScratch<T>,
    ) -> SomeRows<'s, T> {
        let width = self.windows.line_len();
        let copy = &mut scratch.elements;
        copy.resize(range.len() * depth, T::ZERO);
        let mut starts = Vec::new();
        let mut line = None;
        for (row, patch) in range.zip(copy.chunks_exact_mut(depth)) {
            if line != Some(row / width) {
                line = Some(row / width);
                self.windows.lines(row / width, self.first_batch, &mut starts);
            }
            let runs = self.windows.runs(row % width);
            for (patch, &start) in patch.chunks_exact_mut(depth / starts.len()).zip(&starts) {
                match start {
                    Some(start) => self.lay_out(start, runs, patch),
                    None => patch.fill(T::ZERO),
                }
            }
        }
        SomeRows::Neighbours(copy, depth)
    }
}

impl<T: Accumulator> Patches<'_, T> {
    /// Copies what a window sees of a line of the input.
    fn lay_out(&self, start: usize, runs: &[Run], patch: &mut [T]) {
        let sizes = self.windows.sizes;
        let (features, all) = (sizes.kernel_features, sizes.input_features);
        // Lines without elements have no runs.
        let line = self.input.get(start + self.first_feature..).unwrap_or_default();
        if runs.iter().map(|run| run.len).sum::<usize>() * features < patch.len() {
            patch.fill(T::ZERO);
        }
        for &Run { to, from, len } in runs {
            let (line, patch) = (&line[from * all..], &mut patch[to * features..]);
            if features == all {
                patch[..len * features].copy_from_slice(&line[..len * features]);
            } else {
                for (line, patch) in
                    line.chunks(all).zip(patch.chunks_exact_mut(features)).take(len)
                {
                    patch.copy_from_slice(&line[..features]);
                }
            }
        }
    }
}
