//! Windows of a convolution, from tables of the positions that they see.

use super::accumulator::Accumulator;
use super::contract::invalid;
use super::conv_sizes::ConvSizes;
use super::convolution::Convolution;
use super::rows::{RowScratch, Rows, SomeRows};
use numerics::budget::Scratch;
use program::EvalError;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use std::sync::Arc;

/// The positions in an image under the windows of a convolution.
#[derive(Debug)]
pub(crate) struct Windows {
    /// The sizes of the convolution.
    pub sizes: Arc<ConvSizes>,
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
pub(crate) struct Run {
    /// The first position in the window.
    pub to: usize,
    /// The first position in the input.
    pub from: usize,
    /// How many they are.
    pub len: usize,
}

impl Windows {
    /// The windows of a convolution of these sizes.
    ///
    /// # Errors
    /// If there is no memory for the tables.
    pub(crate) fn new(
        convolution: &Convolution<'_>,
        sizes: Arc<ConvSizes>,
    ) -> Result<Windows, EvalError> {
        let Some(last) = convolution.window.len().checked_sub(1) else {
            let mut ends = Scratch::new(1)?;
            ends.push(1);
            let runs = Scratch::filled(1, Run { to: 0, from: 0, len: 1 })?;
            return Ok(Windows { sizes, outer: Vec::new(), runs, ends });
        };
        let mut outer = Vec::with_capacity(last);
        for axis in 0..last {
            outer.push(positions(convolution, &sizes, axis)?);
        }
        let [outputs, width] = [sizes.output_spatial[last], sizes.kernel_spatial[last]];
        let dim = &convolution.window[last];
        if (dim.base_dilation, dim.window_dilation) == (1, 1) {
            // A run each, or none.
            let (mut runs, mut ends) = (Scratch::new(outputs)?, Scratch::new(outputs)?);
            let size = sizes.input_spatial[last] as i128;
            let mut start = -i128::from(dim.pad_low);
            for _ in 0..outputs {
                let (from, end) = (start.max(0), (start + width as i128).min(size));
                if from < end {
                    let [to, from, len] = [from - start, from, end - from].map(|at| at as usize);
                    runs.push(Run { to, from, len });
                }
                ends.push(runs.len());
                start += i128::from(dim.stride);
            }
            return Ok(Windows { sizes, outer, runs, ends });
        }
        let last = positions(convolution, &sizes, last)?;
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
        Ok(Windows { sizes, outer, runs, ends })
    }

    /// The number of results along the last spatial dimension.
    pub(crate) fn line_len(&self) -> usize {
        self.ends.len()
    }

    /// The runs of the window at `x` along the last spatial dimension.
    pub(crate) fn runs(&self, x: usize) -> &[Run] {
        let start = if x == 0 { 0 } else { self.ends[x - 1] };
        &self.runs[start..self.ends[x]]
    }

    /// Where the lines of the input begin that the windows of a line of results see, for each
    /// position of the window along all spatial dimensions but the last one; `None` for padding.
    pub(crate) fn lines(&self, line: usize, first_batch: usize, starts: &mut Vec<Option<usize>>) {
        let sizes = &self.sizes;
        let mut rest = line;
        let mut output: SmallVec<[usize; 4]> = smallvec![0; self.outer.len()];
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
    /// the same positions of the window, and the distance between these runs.
    pub(crate) fn alike(&self, x: usize) -> (usize, usize) {
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
    let count =
        outputs.checked_mul(window).ok_or_else(|| invalid("convolution_c25", "too large"))?;
    let mut table = Scratch::new(count)?;
    for output in 0..outputs as i128 {
        for w in 0..window_size {
            let at: i128 = output * stride + w * window_dilation - low;
            // Divisions of this size take long.
            let at = match base_dilation {
                1 => Some(at),
                _ => (at % base_dilation == 0).then(|| at / base_dilation),
            };
            let inside = at.filter(|&at| at >= 0 && at < size);
            table.push(inside.map(|at| at as usize));
        }
    }
    Ok(table)
}

/// The windows of a group of features as rows of a matrix.
pub(crate) struct Patches<'a, T> {
    /// The windows,
    pub windows: &'a Windows,
    /// The input, with the features last.
    pub input: &'a [T],
    /// The first batch and the first feature of the group.
    pub first: [usize; 2],
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
                self.windows.lines(row / width, self.first[0], &mut starts);
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
        let sizes = &self.windows.sizes;
        let (features, all) = (sizes.kernel_features, sizes.input_features);
        // Lines without elements have no runs.
        let line = self.input.get(start + self.first[1]..).unwrap_or_default();
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
