//! Convolutions of each feature with a separate kernel.

use super::accumulator::Accumulator;
use super::conv_windows::Windows;
use super::matmul::FEW;
use numerics::simd::{FeatureWindows, Isa, Kernel, Tap};
use std::ops::Range;

/// Fewer windows of one feature are computed one by one.
const FEW_WINDOWS: usize = 4;

/// Neighbouring windows along the last spatial dimension that see the same positions.
#[derive(Debug)]
pub(crate) struct Alike {
    /// The first one,
    first: usize,
    /// Their number.
    count: usize,
    /// The distance between them in the input.
    step: usize,
}

impl Alike {
    /// All windows along the last spatial dimension.
    pub(crate) fn all(windows: &Windows) -> Vec<Alike> {
        let (mut all, mut first) = (Vec::new(), 0);
        while first < windows.line_len() {
            let (count, step) = windows.alike(first);
            all.push(Alike { first, count, step });
            first += count;
        }
        all
    }
}

/// Each feature convolved with a separate finite kernel: the results of some windows.
pub(crate) fn depthwise<T: Accumulator, const C: usize>(
    windows: &Windows,
    alike: &[Alike],
    [input, kernel]: [&[T]; 2],
    range: Range<usize>,
    mut out: &mut [T],
) {
    let isa = Isa::best();
    let features = windows.sizes.output_features;
    let width = windows.line_len();
    let is_short = windows.sizes.taps() <= FEW;
    let (mut starts, mut taps) = (Vec::new(), Vec::new());
    let mut next = range.start;
    while next < range.end {
        let line = next / width;
        windows.lines(line, 0, &mut starts);
        let positions = windows.sizes.taps() / starts.len();
        let in_line = next - line * width..width.min(range.end - line * width);
        next = (line + 1) * width;
        for alike in alike {
            let first = in_line.start.max(alike.first);
            let count = in_line.end.min(alike.first + alike.count).saturating_sub(first);
            if count == 0 {
                continue;
            }
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
            let results;
            (results, out) = std::mem::take(&mut out).split_at_mut(count * features);
            let (weights, step) = (kernel, alike.step * features);
            let taps = &taps;
            let mut line = FeatureWindows { input, weights, taps, step, features, out: results };
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
    fn run(self) {
        match (self.is_short, self.line.features) {
            (true, 1) => self.sum_neighbours(|sum, x, weight| sum.add(x.multiply(weight))),
            (true, _) => self.sum(|sum, x, weight| sum.add(x.multiply(weight))),
            (false, 1) => self.sum_neighbours(T::multiply_add),
            (false, _) => self.sum(T::multiply_add),
        }
    }

    /// One loop for all numbers of features.
    fn run_shared(self) {
        let is_short = self.is_short;
        self.sum(|sum, x, weight| match is_short {
            true => sum.add(x.multiply(weight)),
            false => sum.multiply_add(x, weight),
        });
    }
}

impl<T: Accumulator, const C: usize> DepthwiseLine<'_, T, C> {
    /// Computes up to `C` features of a window at a time.
    #[inline(always)]
    fn sum(self, step: impl Fn(T, T, T) -> T) {
        let FeatureWindows { input, weights, taps, step: distance, features, out } = self.line;
        for (window, out) in out.chunks_exact_mut(features).enumerate() {
            for (first, out) in (0..).step_by(C).zip(out.chunks_mut(C)) {
                let mut sums = [T::ZERO; C];
                let sums = &mut sums[..out.len()];
                for tap in taps {
                    let input = &input[tap.input + window * distance + first..][..sums.len()];
                    let weights = &weights[tap.weight + first..][..sums.len()];
                    for ((sum, &x), &weight) in sums.iter_mut().zip(input).zip(weights) {
                        *sum = step(*sum, x, weight);
                    }
                }
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = sum.finish();
                }
            }
        }
    }

    /// Computes up to `C` neighbouring windows of the only feature at a time.
    #[inline(always)]
    fn sum_neighbours(self, step: impl Fn(T, T, T) -> T) {
        let FeatureWindows { input, weights, taps, step: distance, out, .. } = self.line;
        if distance == 1 && out.len() >= C {
            // The last ones are computed with some before them. Sums whose number is a constant
            // stay in registers.
            for start in (0..out.len()).step_by(C) {
                let first = start.min(out.len() - C);
                let mut sums = adjacent_sums::<T, C>((input, first), weights, taps, &step);
                for sum in &mut sums {
                    *sum = sum.finish();
                }
                out[first..first + C].copy_from_slice(&sums);
            }
            return;
        }
        let furthest = taps.iter().map(|tap| tap.input).max().unwrap_or(0);
        for (first, out) in (0..).step_by(C).zip(out.chunks_mut(C)) {
            if out.len() < FEW_WINDOWS {
                // At the edges of a line, for example.
                for (window, out) in (first..).zip(out) {
                    let products = taps
                        .iter()
                        .map(|tap| (input[tap.input + window * distance], weights[tap.weight]));
                    *out = products.fold(T::ZERO, |sum, (x, weight)| step(sum, x, weight)).finish();
                }
                continue;
            }
            // Windows after the last one may be computed, too, where there is input for them.
            let has_input = distance == 1 && furthest + first + C <= input.len();
            let sums = if has_input {
                adjacent_sums::<T, C>((input, first), weights, taps, &step)
            } else {
                let mut sums = [T::ZERO; C];
                for tap in taps {
                    let weight = weights[tap.weight];
                    let input = &input[tap.input + first * distance..];
                    let input = input.iter().step_by(distance.max(1));
                    for (sum, &x) in sums[..out.len()].iter_mut().zip(input) {
                        *sum = step(*sum, x, weight);
                    }
                }
                sums
            };
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = sum.finish();
            }
        }
    }
}

/// The sums of `C` adjacent windows of one feature, from window number `first` on.
#[inline(always)]
fn adjacent_sums<T: Accumulator, const C: usize>(
    (input, first): (&[T], usize),
    weights: &[T],
    taps: &[Tap],
    step: &impl Fn(T, T, T) -> T,
) -> [T; C] {
    let mut sums = [T::ZERO; C];
    for tap in taps {
        let weight = weights[tap.weight];
        let mut next = [T::ZERO; C];
        next.copy_from_slice(&input[tap.input + first..][..C]);
        for (sum, &x) in sums.iter_mut().zip(&next) {
            *sum = step(*sum, x, weight);
        }
    }
    sums
}
