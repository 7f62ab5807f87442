//! Convolutions of each feature with a kernel of its own.

use super::convolution::Windows;
use super::matmul::{Accumulator, FEW};
use numerics::simd::{FeatureWindows, Isa, Kernel, Tap};

/// Groups of results that are summed at a time, in registers.
const GROUPS: usize = 4;

/// Neighbouring windows along the last spatial dimension that see the same positions.
pub struct Alike {
    /// The first one,
    first: usize,
    /// their number,
    count: usize,
    /// and the distance between them in the input.
    step: usize,
}

/// All windows along the last spatial dimension.
pub fn alike(windows: &Windows<'_>) -> Vec<Alike> {
    let (mut all, mut first) = (Vec::new(), 0);
    while first < windows.line_len() {
        let (count, step) = windows.alike(first);
        all.push(Alike { first, count, step });
        first += count;
    }
    all
}

/// Each feature convolved with a finite kernel of its own. `out` has the lines of results from
/// `first_line` on.
pub fn depthwise<T: Accumulator, const C: usize>(
    windows: &Windows<'_>,
    alike: &[Alike],
    [input, kernel]: [&[T]; 2],
    first_line: usize,
    out: &mut [T],
) {
    let isa = Isa::best();
    let features = windows.sizes.output_features;
    let width = windows.line_len();
    let is_short = windows.sizes.taps() <= FEW;
    let (mut starts, mut taps) = (Vec::new(), Vec::new());
    for (line, out) in out.chunks_exact_mut(width * features).enumerate() {
        windows.lines(first_line + line, 0, &mut starts);
        let positions = windows.sizes.taps() / starts.len();
        for &Alike { first, count, step } in alike {
            taps.clear();
            for (outer, start) in starts.iter().enumerate() {
                let Some(start) = start else { continue };
                for run in windows.runs(first) {
                    taps.extend((0..run.len).map(|i| Tap {
                        input: start + (run.from + i) * features,
                        weight: (outer * positions + run.to + i) * features,
                    }));
                }
            }
            let out = &mut out[first * features..][..count * features];
            let (weights, step) = (kernel, step * features);
            let mut line = FeatureWindows { input, weights, taps: &taps, step, features, out };
            if is_short || !T::sum_windows(isa, &mut line) {
                isa.run(DepthwiseLine::<T, C> { line, is_short });
            }
        }
    }
}

/// Results that neighbouring windows of the same shape give.
struct DepthwiseLine<'a, T, const C: usize> {
    line: FeatureWindows<'a, T>,
    /// True if products are rounded.
    is_short: bool,
}

impl<T: Accumulator, const C: usize> Kernel for DepthwiseLine<'_, T, C> {
    #[inline(always)]
    fn run(mut self) {
        if self.is_short {
            self.blocks(|sum, x, weight| sum.add(x.multiply(weight)));
        } else {
            self.blocks(T::multiply_add);
        }
    }
}

impl<T: Accumulator, const C: usize> DepthwiseLine<'_, T, C> {
    /// Computes all results, [`GROUPS`] times `C` at a time: of neighbouring windows where there
    /// are as many, or else of neighbouring features.
    #[inline(always)]
    fn blocks(&mut self, step: impl Fn(T, T, T) -> T + Copy) {
        let (features, count) = (self.line.features, self.line.out.len() / self.line.features);
        let mut window = 0;
        while window < count {
            let windows = if window + GROUPS <= count { GROUPS } else { 1 };
            let mut feature = 0;
            while feature < features {
                if windows > 1 && feature + C <= features {
                    self.block::<true>(window, feature, step);
                    feature += C;
                } else if windows == 1 && feature + GROUPS * C <= features {
                    self.block::<false>(window, feature, step);
                    feature += GROUPS * C;
                } else {
                    let width = C.min(features - feature);
                    for window in window..window + windows {
                        self.part(window, feature, width, step);
                    }
                    feature += width;
                }
            }
            window += windows;
        }
    }

    /// Computes [`GROUPS`] groups of results: of neighbouring windows, or of one.
    #[inline(always)]
    fn block<const WINDOWS: bool>(
        &mut self,
        window: usize,
        feature: usize,
        step: impl Fn(T, T, T) -> T,
    ) {
        let (input_step, out_step) =
            if WINDOWS { (self.line.step, self.line.features) } else { (C, C) };
        let mut sums = [[T::ZERO; C]; GROUPS];
        for tap in self.line.taps {
            let inputs = &self.line.input[tap.input + window * self.line.step + feature..];
            let weights = &self.line.weights[tap.weight + feature..];
            let weights = &weights[..if WINDOWS { C } else { GROUPS * C }];
            for (group, sums) in sums.iter_mut().enumerate() {
                let inputs = &inputs[group * input_step..][..C];
                let weights = if WINDOWS { weights } else { &weights[group * C..][..C] };
                for ((sum, &x), &weight) in sums.iter_mut().zip(inputs).zip(weights) {
                    *sum = step(*sum, x, weight);
                }
            }
        }
        for (group, sums) in sums.iter().enumerate() {
            let start = window * self.line.features + feature + group * out_step;
            for (out, sum) in self.line.out[start..][..C].iter_mut().zip(sums) {
                *out = sum.finish();
            }
        }
    }

    /// Computes `width` features of a window.
    #[inline(always)]
    fn part(&mut self, window: usize, feature: usize, width: usize, step: impl Fn(T, T, T) -> T) {
        let out = &mut self.line.out[window * self.line.features + feature..][..width];
        out.fill(T::ZERO);
        for tap in self.line.taps {
            let input = &self.line.input[tap.input + window * self.line.step + feature..][..width];
            let weights = &self.line.weights[tap.weight + feature..][..width];
            for ((sum, &x), &weight) in out.iter_mut().zip(input).zip(weights) {
                *sum = step(*sum, x, weight);
            }
        }
        for sum in out {
            *sum = sum.finish();
        }
    }
}
