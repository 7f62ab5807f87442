//! Windows of a convolution where they are in the input.
//!
//! A window is a row of a matrix product whose elements are in a few runs, at the same distances
//! for all windows: in the input, or in a copy with zeros around it and between its elements.

use super::accumulator::Accumulator;
use super::conv_sizes::ConvSizes;
use super::convolution::Convolution;
use super::matmul::{BLOCK, FEW};
use super::parallel::{parts_in_parallel, task_size};
use super::rows::{RowScratch, Rows, Segments, SomeRows};
use numerics::TensorError;
use numerics::budget::{Reserved, reserve};
use program::WindowDim;
use std::ops::Range;
use std::sync::Arc;

/// No memory holds windows of more blocks of products.
const MAX_BLOCKS: usize = 1 << 20;

/// Taps of a kernel along a dimension: every `step`-th one from `first` on, of `all`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taps {
    pub first: usize,
    pub step: usize,
    pub all: usize,
}

/// Windows as rows in segments, of inputs with the features last.
#[derive(Debug)]
pub(crate) struct PaddedWindows {
    sizes: Arc<ConvSizes>,
    window: Vec<WindowDim>,
    layout: Layout,
    segments: Segments,
    _charge: Reserved,
    /// The number of batches of a group and of windows along each spatial dimension, and how far
    /// each step moves a window.
    steps: Vec<[usize; 2]>,
    /// True if each window is the element at the same position.
    are_elements: bool,
}

impl PaddedWindows {
    /// The windows of a convolution, with all taps of the kernel: see [`PaddedWindows::new`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn whole(
        convolution: &Convolution<'_>,
        sizes: Arc<ConvSizes>,
    ) -> Result<Option<PaddedWindows>, TensorError> {
        let all = |&all: &usize| Taps { first: 0, step: 1, all };
        let taps: Vec<Taps> = sizes.kernel_spatial.iter().map(all).collect();
        PaddedWindows::new(convolution, sizes, &taps)
    }

    /// The windows of a convolution whose kernel has these taps of another one, by which products
    /// are divided into blocks; `None` if a copy of the input would be larger than all windows, or
    /// these have few elements.
    ///
    /// # Errors
    /// If there is no memory for their places.
    pub(crate) fn new(
        convolution: &Convolution<'_>,
        sizes: Arc<ConvSizes>,
        taps: &[Taps],
    ) -> Result<Option<PaddedWindows>, TensorError> {
        let depth = sizes.depth();
        let whole = taps.iter().fold(sizes.kernel_features, |n, taps| n.saturating_mul(taps.all));
        let (blocks, is_whole) = (whole / BLOCK, whole == depth);
        // Products of few elements are of neighbours.
        let is_row = depth > FEW || (is_whole && sizes.taps() == 1);
        let layout = Layout::new(convolution, &sizes).filter(|_| blocks <= MAX_BLOCKS && is_row);
        let Some(layout) = layout else { return Ok(None) };
        let charge = reserve::<Range<usize>>(sizes.taps().saturating_add(blocks))?;
        let windows: usize = sizes.output_spatial.iter().product();
        let elements = layout.image.checked_mul(sizes.batch);
        let all = windows.saturating_mul(depth).saturating_mul(sizes.group_batch * sizes.groups);
        let most = all.max(sizes.input_len());
        if !layout.is_input && elements.is_none_or(|elements| elements > most) {
            return Ok(None);
        }
        let mut segments = Segments::default();
        layout.push_taps(convolution, taps, [0, 0], sizes.kernel_features, &mut segments);
        segments.extend_to(whole);
        let outputs = sizes.output_spatial.iter().zip(convolution.window).zip(&layout.strides);
        let moves = outputs.map(|((&count, dim), &stride)| {
            [count, if count > 1 { dim.stride as usize * stride } else { 0 }]
        });
        let steps: Vec<[usize; 2]> =
            std::iter::once([sizes.group_batch, layout.image]).chain(moves).collect();
        let are_elements = is_whole
            && layout.is_input
            && sizes.taps() == 1
            && sizes.input_spatial == sizes.output_spatial
            && convolution.window.iter().all(|dim| dim.stride == 1);
        let window = convolution.window.to_vec();
        let _charge = charge;
        Ok(Some(PaddedWindows { sizes, window, layout, segments, _charge, steps, are_elements }))
    }

    /// True if each window is the element at the same position in the input.
    pub(crate) fn are_elements(&self) -> bool {
        self.are_elements
    }

    /// The number of elements of a copy of the input with zeros, if windows see any.
    pub(crate) fn copied(&self) -> usize {
        if self.layout.is_input { 0 } else { self.layout.image * self.sizes.batch }
    }

    /// The windows of an input, given memory for a copy with zeros.
    ///
    /// # Errors
    /// If there is no memory on the way.
    pub(crate) fn over<'a, T: Accumulator>(
        &'a self,
        input: &'a [T],
        copy: &'a mut [T],
    ) -> Result<Padded<'a, T>, TensorError> {
        if self.layout.is_input {
            return Ok(Padded { windows: self, elements: input, first: 0 });
        }
        self.layout.fill(&self.window, &self.sizes, input, copy)?;
        Ok(Padded { windows: self, elements: copy, first: 0 })
    }

    /// The part of a copy of the input with zeros that the windows of some rows see, if they see
    /// any.
    pub(crate) fn part(&self, rows: &Range<usize>) -> Range<usize> {
        if self.layout.is_input || rows.is_empty() { 0..0 } else { self.seen(rows) }
    }

    /// The elements from the first to the last line, or plane and so on, that some windows see.
    fn seen(&self, rows: &Range<usize>) -> Range<usize> {
        let image = self.layout.image;
        // All of an image, or only the lines, planes and so on of the outermost dimension.
        let (Some((dim, &[count, step])), true) =
            (self.window.first().zip(self.steps.get(1)), self.window.len() > 1)
        else {
            let windows: usize = self.steps[1..].iter().map(|[count, _]| count).product();
            return rows.start / windows * image..((rows.end - 1) / windows + 1) * image;
        };
        let inner: usize = self.steps[2..].iter().map(|[count, _]| count).product();
        let start = |row: usize| row / inner / count * image + row / inner % count * step;
        let seen = (dim.size - 1) * dim.window_dilation + 1;
        let end = start(rows.end - 1) + seen as usize * self.layout.strides[0];
        start(rows.start)..end
    }

    /// The windows of these rows, given memory for the [part](PaddedWindows::part) of a copy with
    /// zeros that they see.
    pub(crate) fn over_part<'a, T: Accumulator>(
        &'a self,
        rows: &Range<usize>,
        input: &'a [T],
        copy: &'a mut [T],
    ) -> Padded<'a, T> {
        let first = self.part(rows).start;
        if self.layout.is_input {
            return Padded { windows: self, elements: input, first };
        }
        self.layout.fill_part(&self.window, &self.sizes, input, first, copy);
        Padded { windows: self, elements: copy, first }
    }
}

/// Windows over an input.
pub(crate) struct Padded<'a, T> {
    windows: &'a PaddedWindows,
    /// The input, or a copy with zeros, or a part of that,
    elements: &'a [T],
    /// The elements of the copy before it.
    first: usize,
}

impl<'a, T> Padded<'a, T> {
    /// The windows of a group, from a batch and a feature on.
    pub(crate) fn group(&self, first_batch: usize, first_feature: usize) -> PaddedGroup<'a, T> {
        let first = first_batch * self.windows.steps[0][1] + first_feature;
        let elements = self.elements.get(first..).unwrap_or_default();
        PaddedGroup { windows: self.windows, elements, first: self.first }
    }
}

/// The places of elements of an input with zeros.
#[derive(Debug)]
struct Layout {
    /// Sizes of the spatial dimensions.
    spatial: Vec<usize>,
    /// Their strides.
    strides: Vec<usize>,
    /// The elements of a batch.
    image: usize,
    /// True if it is the input as it is.
    is_input: bool,
}

impl Layout {
    /// `None` if its size overflows.
    fn new(convolution: &Convolution<'_>, sizes: &ConvSizes) -> Option<Layout> {
        let dims = convolution.window.iter().zip(&sizes.output_spatial);
        let seen: Vec<usize> = dims
            .map(|(dim, &outputs)| {
                let last_window = i64::try_from(outputs).ok()?.checked_sub(1)?;
                let last_tap = (dim.size - 1).checked_mul(dim.window_dilation)?;
                let end = last_window.checked_mul(dim.stride)?.checked_add(last_tap)?;
                usize::try_from(end.checked_add(1)?).ok()
            })
            .collect::<Option<_>>()?;
        let is_input = convolution.window.iter().all(|d| d.pad_low == 0 && d.base_dilation == 1)
            && seen.iter().zip(&sizes.input_spatial).all(|(seen, size)| seen <= size);
        let spatial = if is_input { sizes.input_spatial.clone() } else { seen };
        let mut strides = vec![0; spatial.len()];
        let mut image = sizes.input_features;
        for (stride, &size) in strides.iter_mut().zip(&spatial).rev() {
            *stride = image;
            image = image.checked_mul(size)?;
        }
        Some(Layout { spatial, strides, image, is_input })
    }

    /// Adds the features under the taps of a window along the last dimensions, given how far the
    /// others move the first tap, and its place among the taps of the kernel.
    fn push_taps(
        &self,
        convolution: &Convolution<'_>,
        taps: &[Taps],
        [at, place]: [usize; 2],
        features: usize,
        segments: &mut Segments,
    ) {
        let Some((&Taps { first, step, all }, inner)) = taps.split_first() else {
            return segments.push(at..at + features, place * features);
        };
        let axis = self.strides.len() - taps.len();
        let dim = convolution.window[axis];
        for tap in 0..dim.size as usize {
            let at = at + tap * dim.window_dilation as usize * self.strides[axis];
            let place = place * all + first + tap * step;
            self.push_taps(convolution, inner, [at, place], features, segments);
        }
    }

    /// The elements of a line along the last spatial dimension.
    fn line(&self, sizes: &ConvSizes) -> usize {
        self.spatial.last().map_or(1, |&width| width) * sizes.input_features
    }

    /// Copies the elements of the input to their places, with zeros elsewhere.
    fn fill<T: Accumulator>(
        &self,
        window: &[WindowDim],
        sizes: &ConvSizes,
        input: &[T],
        copy: &mut [T],
    ) -> Result<(), TensorError> {
        let line = self.line(sizes).max(1);
        let lines = task_size(copy.len() / line, line, 1);
        parts_in_parallel(copy, lines * line, |task, copy| {
            self.fill_part(window, sizes, input, task * lines * line, copy);
            Ok(())
        })
    }

    /// As [`Layout::fill`], of the lines of the copy from an element on.
    fn fill_part<T: Accumulator>(
        &self,
        window: &[WindowDim],
        sizes: &ConvSizes,
        input: &[T],
        start: usize,
        copy: &mut [T],
    ) {
        let features = sizes.input_features;
        let (width, input_width, last) =
            match (self.spatial.last(), sizes.input_spatial.last(), window.last()) {
                (Some(&width), Some(&input), Some(last)) => (width, input, *last),
                _ => return,
            };
        let line = self.line(sizes);
        // The elements of a line of the input that have a place, and the first of these.
        let dilation = last.base_dilation;
        let steps = |distance: u64| distance.div_ceil(dilation.unsigned_abs()) as usize;
        let first = steps(last.pad_low.min(0).unsigned_abs());
        let after = (width as i64).saturating_sub(last.pad_low).max(0).unsigned_abs();
        let end = input_width.min(steps(after));
        if first >= end || line == 0 {
            return copy.fill(T::ZERO);
        }
        let place = first as i64 * dilation + last.pad_low;
        for (number, copy) in (start / line..).zip(copy.chunks_exact_mut(line)) {
            let Some(from) = self.input_line(window, sizes, number) else {
                copy.fill(T::ZERO);
                continue;
            };
            let elements = &input[from * input_width * features..][..input_width * features];
            let elements = &elements[first * features..end * features];
            let (before, copy) = copy.split_at_mut(place as usize * features);
            before.fill(T::ZERO);
            if dilation == 1 {
                let (copy, after) = copy.split_at_mut(elements.len());
                copy.copy_from_slice(elements);
                after.fill(T::ZERO);
                continue;
            }
            copy.fill(T::ZERO);
            // There is one element if this is beyond the line.
            let step = features.saturating_mul(dilation as usize);
            for (copy, element) in copy.chunks_mut(step).zip(elements.chunks_exact(features)) {
                copy[..features].copy_from_slice(element);
            }
        }
    }

    /// The line of the input that a line along the last spatial dimension has the elements of.
    fn input_line(&self, window: &[WindowDim], sizes: &ConvSizes, line: usize) -> Option<usize> {
        let outer = self.spatial.len() - 1;
        let (mut rest, mut from, mut lines) = (line, 0, 1);
        for axis in (0..outer).rev() {
            let (dim, size) = (&window[axis], self.spatial[axis]);
            let at = ((rest % size) as i64).saturating_sub(dim.pad_low);
            rest /= size;
            let position = usize::try_from(at / dim.base_dilation).ok();
            let position = position.filter(|&x| x < sizes.input_spatial[axis]);
            from += position.filter(|_| at >= 0 && at % dim.base_dilation == 0)? * lines;
            lines *= sizes.input_spatial[axis];
        }
        Some(rest * lines + from)
    }
}

/// The windows of a group.
pub(crate) struct PaddedGroup<'a, T> {
    windows: &'a PaddedWindows,
    elements: &'a [T],
    /// The elements of the copy with zeros before these.
    first: usize,
}

impl<T: Accumulator> Rows<T> for PaddedGroup<'_, T> {
    fn rows<'s>(
        &'s self,
        range: Range<usize>,
        _depth: usize,
        scratch: &'s mut RowScratch<T>,
    ) -> SomeRows<'s, T> {
        let starts = &mut scratch.starts;
        starts.clear();
        starts.reserve(range.len());
        let Some((&[width, step], outer)) = self.windows.steps.split_last() else {
            return SomeRows::Neighbours(&[], 0);
        };
        // Line by line along the last dimension.
        let mut row = range.start;
        while row < range.end {
            let (mut rest, first) = (row / width, row % width);
            let mut start = first * step;
            for &[count, distance] in outer.iter().rev() {
                start += rest % count * distance;
                rest /= count;
            }
            let count = (width - first).min(range.end - row);
            let start = start - self.first;
            starts.extend((0..count).map(|window| start + window * step));
            row += count;
        }
        SomeRows::Segments { elements: self.elements, starts, segments: &self.windows.segments }
    }

    fn footprint(&self, rows: usize, depth: usize) -> usize {
        let seen = if rows == 0 { 0 } else { self.windows.seen(&(0..rows)).len() };
        rows.saturating_mul(depth).min(seen)
    }

    /// Of rows in segments, only the starts are stored.
    fn copied(&self, rows: usize, _depth: usize) -> usize {
        rows.saturating_mul(size_of::<usize>().div_ceil(size_of::<T>()))
    }

    fn has_segments(&self) -> bool {
        true
    }

    fn blocks(&self, _depth: usize) -> usize {
        self.windows.segments.blocks()
    }
}
