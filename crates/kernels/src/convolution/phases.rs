//! Convolutions of inputs with holes.
//!
//! If the base dilation is `d`, as in transposed convolutions and gradients of strided ones, a
//! window has elements under every `d`-th tap and zeros under the others. Windows at a distance of
//! `d` have elements under the same taps: they are the windows of a convolution of the input
//! without holes by a kernel of these taps. Their chains have the products of the whole kernel
//! without the zeros, which change no sum if the kernel is finite.

use super::{Convolution, PreparedConvolution, SomeWindows};
use crate::conv_kernels::KernelView;
use crate::conv_sizes::ConvSizes;
use crate::copies::{CopyPart, copy};
use crate::padded::{PaddedWindows, Taps};
use numerics::budget::reserve;
use numerics::math::AlignedBytes;
use numerics::shape::{Runs, StridedView, num_elements};
use numerics::{AlignedMemory, DType, TensorError};
use program::WindowDim;
use std::sync::Arc;

/// The maximum number of phases.
const MAX_PHASES: usize = 64;

/// The windows of a convolution by the taps that have elements under them.
#[derive(Debug)]
pub(super) struct Phases {
    dtype: DType,
    phases: Vec<WindowPhase>,
}

/// Windows that have elements under the same taps.
#[derive(Debug)]
struct WindowPhase {
    /// None if there are no elements under them.
    convolution: Option<PreparedConvolution>,
    /// The number of results, and where they are.
    results: usize,
    places: Runs,
}

/// The windows along a dimension that have elements under the same taps.
#[derive(Clone, Copy)]
struct PhaseDim {
    /// Over the input without holes.
    window: WindowDim,
    taps: Taps,
    /// The first window, the distance between them, and their number.
    first: usize,
    step: usize,
    count: usize,
}

impl Phases {
    /// The parts of a convolution, given where the elements of kernel and output are; `None` if the
    /// input has no holes, or windows do not move by single steps there.
    ///
    /// # Errors
    /// If there is no memory for their places.
    pub(super) fn new(
        convolution: &Convolution<'_>,
        sizes: &ConvSizes,
        lens: [Option<usize>; 2],
        (kernel, output): (&StridedView, &StridedView),
        dtype: DType,
    ) -> Result<Option<Phases>, TensorError> {
        if convolution.window.iter().all(|dim| dim.base_dilation == 1) {
            return Ok(None);
        }
        let mut all: Vec<Vec<PhaseDim>> = vec![Vec::new()];
        for (dim, &outputs) in convolution.window.iter().zip(&sizes.output_spatial) {
            let Some(phases) = phases_of(dim, outputs) else { return Ok(None) };
            let with = |phase: &Vec<PhaseDim>, dim: PhaseDim| [&phase[..], &[dim]].concat();
            all = all.iter().flat_map(|phase| phases.iter().map(|&dim| with(phase, dim))).collect();
            if all.len() > MAX_PHASES {
                return Ok(None);
            }
        }
        let phase = |dims: &Vec<PhaseDim>| {
            WindowPhase::new(convolution, sizes, lens, dims, (kernel, output), dtype).transpose()
        };
        let phases: Option<Result<Vec<WindowPhase>, TensorError>> = all.iter().map(phase).collect();
        phases.map(|phases| Ok(Phases { dtype, phases: phases? })).transpose()
    }

    fn convolutions(&self) -> impl Iterator<Item = &PreparedConvolution> {
        self.phases.iter().filter_map(|phase| phase.convolution.as_ref())
    }

    /// As [`PreparedConvolution::is_packable`].
    pub(super) fn is_packable(&self) -> bool {
        self.convolutions().all(PreparedConvolution::is_packable)
    }

    /// As [`PreparedConvolution::pack`]: the panels of each part.
    ///
    /// # Errors
    /// As there.
    pub(super) fn pack(&self, rhs: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        let packed: Option<Vec<AlignedMemory>> =
            self.convolutions().map(|part| part.pack(rhs)).collect::<Result<_, _>>()?;
        let Some(packed) = packed else { return Ok(None) };
        let mut all = AlignedMemory::try_zeros(packed.iter().map(|panels| panels.len()).sum())?;
        let mut rest = &mut all[..];
        for panels in &packed {
            let (part, after) = rest.split_at_mut(panels.len());
            part.copy_from_slice(panels);
            rest = after;
        }
        Ok(Some(all))
    }

    /// As [`PreparedConvolution::packed_bytes`].
    pub(super) fn packed_bytes(&self) -> usize {
        self.convolutions().map(PreparedConvolution::packed_bytes).sum()
    }

    /// Writes the results of an input in the order of [`ConvSizes`].
    ///
    /// # Errors
    /// As [`PreparedConvolution::run`].
    pub(super) fn run(
        &self,
        [input, kernel]: [&[u8]; 2],
        mut panels: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let size = self.dtype.bytes();
        let _reserved = reserve::<u8>(out.len())?;
        let mut results = AlignedBytes::try_zeros(out.len())?;
        let mut rest = &mut results[..];
        for WindowPhase { convolution, results, .. } in &self.phases {
            let (part, after) =
                rest.split_at_mut_checked(results * size).ok_or(TensorError::OutOfBounds)?;
            rest = after;
            let Some(convolution) = convolution else { continue };
            let own = match &mut panels {
                Some(panels) => {
                    let own = panels.split_off(..convolution.packed_bytes());
                    Some(own.ok_or(TensorError::OutOfBounds)?)
                }
                None => None,
            };
            convolution.run_packed(input, kernel, own, part)?;
        }
        let mut first = 0;
        let parts = self.phases.iter().map(|WindowPhase { results: count, places, .. }| {
            let source = &results[first..][..count * size];
            first += count * size;
            CopyPart { source, elements: *count, read: None, write: Some(places) }
        });
        copy(&parts.collect::<Vec<_>>(), None, self.dtype, out)
    }
}

impl WindowPhase {
    /// The windows of a phase along each dimension; `None` if they cannot be read in place.
    ///
    /// # Errors
    /// If there is no memory for their places.
    fn new(
        convolution: &Convolution<'_>,
        sizes: &ConvSizes,
        lens: [Option<usize>; 2],
        dims: &[PhaseDim],
        (kernel, output): (&StridedView, &StridedView),
        dtype: DType,
    ) -> Result<Option<WindowPhase>, TensorError> {
        // The part of a view, whose spatial dimensions come after `before` others.
        let part = |view: &StridedView, before: usize, of: fn(&PhaseDim) -> [usize; 3]| {
            view.part(|d, size, stride| {
                let dim = d.checked_sub(before).and_then(|d| dims.get(d));
                let [first, size, step] = dim.map_or([0, size, 1], of);
                Some((first, size, stride.checked_mul(isize::try_from(step).ok()?)?))
            })
        };
        let all_results = num_elements(output.shape()).unwrap_or(0);
        let of_kernel = part(kernel, 0, |d| [d.taps.first, d.window.size as usize, d.taps.step]);
        let of_output = part(output, 1, |d| [d.first, d.count, d.step]);
        let (Some(kernel), Some(output)) = (of_kernel, of_output) else { return Ok(None) };
        let results = num_elements(output.shape()).unwrap_or(0);
        let places = Runs::new(&output, all_results)?;
        if kernel.shape().contains(&0) {
            return Ok(Some(WindowPhase { convolution: None, results, places }));
        }
        let sizes = Arc::new(ConvSizes {
            kernel_spatial: dims.iter().map(|dim| dim.window.size as usize).collect(),
            output_spatial: dims.iter().map(|dim| dim.count).collect(),
            ..sizes.clone()
        });
        let window: Vec<WindowDim> = dims.iter().map(|dim| dim.window).collect();
        let taps: Vec<Taps> = dims.iter().map(|dim| dim.taps).collect();
        let convolution = Convolution { window: &window, ..*convolution };
        let windows = PaddedWindows::new(&convolution, Arc::clone(&sizes), &taps)?;
        let prepared = |windows| PreparedConvolution {
            dtype,
            shape: output.shape().to_vec(),
            sizes,
            input: None,
            kernel: Some(KernelView { view: kernel, in_place: None }),
            output: None,
            features_first: None,
            has_feature_groups: convolution.feature_groups > 1,
            lens,
            windows: Some(SomeWindows::Padded(windows)),
            depthwise: None,
            phases: None,
        };
        Ok(windows.map(|windows| WindowPhase {
            convolution: Some(prepared(windows)),
            results,
            places,
        }))
    }
}

/// The windows along a dimension by the taps that have elements under them; `None` if these are not
/// single steps apart, or more than [`MAX_PHASES`].
fn phases_of(dim: &WindowDim, outputs: usize) -> Option<Vec<PhaseDim>> {
    let distance = usize::try_from(dim.base_dilation).ok()?;
    let all = usize::try_from(dim.size).ok()?;
    if distance == 1 {
        let taps = Taps { first: 0, step: 1, all };
        return Some(vec![PhaseDim { window: *dim, taps, first: 0, step: 1, count: outputs }]);
    }
    if (dim.stride, dim.window_dilation) != (1, 1) || distance.min(outputs) > MAX_PHASES {
        return None;
    }
    let phase = |first: usize| {
        // The input, without holes, of which window 0 of the phase sees the first element.
        let start = (first as i64).checked_sub(dim.pad_low)?;
        let tap = (-i128::from(start)).rem_euclid(i128::from(dim.base_dilation)) as usize;
        let size = all.saturating_sub(tap).div_ceil(distance);
        let from = (i128::from(start) + tap as i128) / i128::from(dim.base_dilation);
        let window = WindowDim {
            size: size as i64,
            pad_low: i64::try_from(-from).ok()?,
            base_dilation: 1,
            ..*dim
        };
        let taps = Taps { first: tap.min(all), step: distance, all };
        let count = (outputs - first).div_ceil(distance);
        Some(PhaseDim { window, taps, first, step: distance, count })
    };
    (0..distance.min(outputs)).map(phase).collect()
}
