//! Sums of products of neighbouring windows with weights of their features, in registers.

use super::Isa;
use crate::{Complex32, Complex64};

/// Where the factors of a product are, for the first feature of the first window.
#[derive(Clone, Copy, Debug)]
pub struct Tap {
    /// In the input.
    pub input: usize,
    /// Among the weights.
    pub weight: usize,
}

/// Windows of features that are adjacent, all with the same weights.
pub struct FeatureWindows<'a, T> {
    /// The input,
    pub input: &'a [T],
    /// The weights.
    pub weights: &'a [T],
    /// The products of a sum, in order.
    pub taps: &'a [Tap],
    /// The distance between windows in the input.
    pub step: usize,
    /// The number of features.
    pub features: usize,
    /// The results: of all features of each window.
    pub out: &'a mut [T],
}

/// A type whose windows are summed in vector registers.
pub trait Windowed: Sized {
    /// Writes, for each window and feature, the sum of its products: a chain of fused
    /// multiply-adds from zero on, as a result: zeros are positive, and each NaN is the quiet one
    /// without sign and payload. False, and nothing is written, if there are no instructions for
    /// the type, there are fewer features than lanes, or something is too short.
    #[inline(always)]
    fn sum_windows(_isa: Isa, _windows: &mut FeatureWindows<'_, Self>) -> bool {
        false
    }
}

impl<T> FeatureWindows<'_, T> {
    /// The number of taps in each run of taps whose inputs are as far apart as windows are; 1 if
    /// runs have different lengths.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn neighbouring_taps(&self) -> usize {
        let is_next = |pair: &[Tap]| pair[0].input.checked_add(self.step) == Some(pair[1].input);
        let together = 1 + self.taps.windows(2).take_while(|pair| is_next(pair)).count();
        let are_even = self.taps.len().is_multiple_of(together)
            && self.taps.chunks(together).all(|taps| taps.windows(2).all(is_next));
        if are_even { together } else { 1 }
    }

    /// The number of windows, if all of them are within the input, the weights and the results.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
    fn checked(&self) -> Option<usize> {
        let count = self.out.len().checked_div(self.features)?;
        let end = count.saturating_sub(1).checked_mul(self.step)?.checked_add(self.features)?;
        let fits = |tap: &Tap| {
            tap.input.checked_add(end).is_some_and(|end| end <= self.input.len())
                && tap.weight.checked_add(self.features).is_some_and(|n| n <= self.weights.len())
        };
        self.taps.iter().all(fits).then_some(count)
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"))]
mod vectors {
    use super::{FeatureWindows, Isa, Windowed};
    use crate::simd::registers;

    /// Sums four windows at a time, or one. Loops over vectors are written out: a build for size
    /// keeps loops, and with them all sums in memory.
    #[cfg(target_family = "wasm")]
    macro_rules! written_out {
        ($features:literal $ty:ident $module:ident) => {
            use super::FeatureWindows;
            use crate::simd::registers::$module::{
                LANES, fused_multiply_add, load, results, store, zero,
            };

            /// # Safety
            /// The windows are checked, and there are `count` of them, with the features as a
            /// vector has lanes.
            #[target_feature(enable = $features)]
            pub(crate) unsafe fn sum(windows: &mut FeatureWindows<'_, $ty>, count: usize) {
                let features = windows.features;
                let whole = count - count % 4;
                for first in (0..features).step_by(LANES) {
                    // The last vector has features of the one before if there are fewer.
                    let feature = first.min(features - LANES);
                    // SAFETY: the windows and features are in the slices.
                    unsafe {
                        for window in (0..whole).step_by(4) {
                            written_out!(windows [window, feature]: 0 1 2 3);
                        }
                        for window in whole..count {
                            written_out!(windows [window, feature]: 0);
                        }
                    }
                }
            }
        };
        ($windows:ident [$window:ident, $feature:ident]: $($w:literal)*) => {
            let FeatureWindows { input, weights, taps, step, features, out } = &mut *$windows;
            let (step, features) = (*step, *features);
            let input = input.as_ptr().wrapping_add($window * step + $feature);
            let weights = weights.as_ptr().wrapping_add($feature);
            let mut sums = [$({ let _ = $w; zero() }),*];
            for tap in *taps {
                let factor = load(weights.wrapping_add(tap.weight));
                let element = input.wrapping_add(tap.input);
                $(
                    let elements = load(element.wrapping_add($w * step));
                    sums[$w] = fused_multiply_add(elements, factor, sums[$w]);
                )*
            }
            let out = out.as_mut_ptr().wrapping_add($window * features + $feature);
            $(store(out.wrapping_add($w * features), results(sums[$w]));)*
        };
    }

    /// A module that sums up to `$most` windows at a time.
    #[cfg(not(target_family = "wasm"))]
    macro_rules! windows {
        ($($module:ident $features:literal $ty:ident $most:literal;)*) => {$(
            mod $module {
                use super::FeatureWindows;
                use crate::simd::registers::$module::{
                    LANES, fused_multiply_add, load, results, store, zero,
                };

                /// True if there are 32 registers: of AVX-512, or of NEON.
                const HAS_MANY_REGISTERS: bool =
                    LANES * size_of::<$ty>() == 64 || cfg!(target_arch = "aarch64");

                /// # Safety
                /// The windows are checked, and there are `count` of them, with the features
                /// as a vector has lanes.
                #[target_feature(enable = $features)]
                pub(crate) unsafe fn sum(windows: &mut FeatureWindows<'_, $ty>, count: usize) {
                    let features = windows.features;
                    // With few registers, weights of several taps would be read for each window.
                    let neighbours = match HAS_MANY_REGISTERS {
                        true => windows.neighbouring_taps(),
                        false => 1,
                    };
                    let mut window = 0;
                    while window < count {
                        let group = match count - window {
                            $most.. => $most,
                            4.. => 4,
                            2.. => 2,
                            _ => 1,
                        };
                        let mut feature = 0;
                        while feature < features {
                            // Fewer windows have more vectors, so that no sum waits for another.
                            let vectors = match (features - feature) / LANES {
                                4.. if group <= 2 => 4,
                                2.. => 2,
                                _ => 1,
                            };
                            // The last vector has features of the one before if there are fewer.
                            let at = [window, feature.min(features - vectors * LANES)];
                            // SAFETY: the windows and features are in the slices from here on.
                            unsafe {
                                match (group, vectors, neighbours) {
                                    ($most, 2, 3) => sliding::<$most, 2, 3>(windows, at),
                                    ($most, 2, 5) => sliding::<$most, 2, 5>(windows, at),
                                    ($most, 2, _) => block::<$most, 2>(windows, at),
                                    ($most, _, 3) => sliding::<$most, 1, 3>(windows, at),
                                    ($most, _, 5) => sliding::<$most, 1, 5>(windows, at),
                                    ($most, ..) => block::<$most, 1>(windows, at),
                                    (4, 2, _) => block::<4, 2>(windows, at),
                                    (4, ..) => block::<4, 1>(windows, at),
                                    (2, 4, _) => block::<2, 4>(windows, at),
                                    (2, 2, _) => block::<2, 2>(windows, at),
                                    (2, ..) => block::<2, 1>(windows, at),
                                    (_, 4, _) => block::<1, 4>(windows, at),
                                    (_, 2, _) => block::<1, 2>(windows, at),
                                    _ => block::<1, 1>(windows, at),
                                }
                            }
                            feature += vectors * LANES;
                        }
                        window += group;
                    }
                }

                /// Sums `W` windows with `V` vectors of features each, for which `K` taps at a time
                /// see neighbouring windows' elements: each of these is read once.
                ///
                /// # Safety
                /// As `block`.
                #[target_feature(enable = $features)]
                unsafe fn sliding<const W: usize, const V: usize, const K: usize>(
                    windows: &mut FeatureWindows<'_, $ty>,
                    [window, feature]: [usize; 2],
                ) {
                    let FeatureWindows { input, weights, taps, step, features, out } = windows;
                    let step = *step;
                    let input = input.as_ptr().wrapping_add(window * step + feature);
                    let weights = weights.as_ptr().wrapping_add(feature);
                    let mut sums = [[zero(); V]; W];
                    for taps in taps.as_chunks::<K>().0 {
                        let mut first = input.wrapping_add(taps[0].input);
                        let mut factors = [[zero(); V]; K];
                        for (factors, tap) in factors.iter_mut().zip(taps) {
                            for (v, factor) in factors.iter_mut().enumerate() {
                                // SAFETY: each tap has weights of all features.
                                *factor = unsafe { load(weights.add(tap.weight + v * LANES)) };
                            }
                        }
                        for at in 0..W + K - 1 {
                            let mut elements = [zero(); V];
                            for (v, element) in elements.iter_mut().enumerate() {
                                // SAFETY: some window has an element there.
                                *element = unsafe { load(first.add(v * LANES)) };
                            }
                            for (k, factors) in factors.iter().enumerate() {
                                // Products are added in the order of taps: windows before this one
                                // have had theirs.
                                let sums = at.checked_sub(k).and_then(|w| sums.get_mut(w));
                                let Some(sums) = sums else { continue };
                                let factors = elements.iter().zip(factors);
                                for (sum, (&element, &factor)) in sums.iter_mut().zip(factors) {
                                    *sum = fused_multiply_add(element, factor, *sum);
                                }
                            }
                            first = first.wrapping_add(step);
                        }
                    }
                    let out = out.as_mut_ptr().wrapping_add(window * *features + feature);
                    for (w, sums) in sums.into_iter().enumerate() {
                        for (v, sum) in sums.into_iter().enumerate() {
                            // SAFETY: each window has results of all features.
                            unsafe { store(out.add(w * *features + v * LANES), results(sum)) };
                        }
                    }
                }

                /// Sums `W` windows with `V` vectors of features each.
                ///
                /// # Safety
                /// The windows are checked, and the windows and features are in the slices.
                #[target_feature(enable = $features)]
                unsafe fn block<const W: usize, const V: usize>(
                    windows: &mut FeatureWindows<'_, $ty>,
                    [window, feature]: [usize; 2],
                ) {
                    let FeatureWindows { input, weights, taps, step, features, out } = windows;
                    let step = *step;
                    let input = input.as_ptr().wrapping_add(window * step + feature);
                    let weights = weights.as_ptr().wrapping_add(feature);
                    let mut sums = [[zero(); V]; W];
                    for tap in *taps {
                        let mut first = input.wrapping_add(tap.input);
                        let weights = weights.wrapping_add(tap.weight);
                        let mut factors = [zero(); V];
                        for (v, factor) in factors.iter_mut().enumerate() {
                            // SAFETY: each tap has weights of all features.
                            *factor = unsafe { load(weights.add(v * LANES)) };
                        }
                        for sums in &mut sums {
                            for (v, (sum, factor)) in sums.iter_mut().zip(factors).enumerate() {
                                // SAFETY: each window has an element there.
                                let element = unsafe { load(first.add(v * LANES)) };
                                *sum = fused_multiply_add(element, factor, *sum);
                            }
                            first = first.wrapping_add(step);
                        }
                    }
                    let out = out.as_mut_ptr().wrapping_add(window * *features + feature);
                    for (w, sums) in sums.into_iter().enumerate() {
                        for (v, sum) in sums.into_iter().enumerate() {
                            // SAFETY: each window has results of all features.
                            unsafe { store(out.add(w * *features + v * LANES), results(sum)) };
                        }
                    }
                }
            }
        )*};
    }

    macro_rules! windowed {
        ($($ty:ident $has:ident $narrow:ident $wide:ident;)*) => {$(
            impl Windowed for $ty {
                #[inline(always)]
                fn sum_windows(isa: Isa, windows: &mut FeatureWindows<'_, $ty>) -> bool {
                    let Some(count) = windows.checked() else { return false };
                    // SAFETY: the instructions were detected, and the rest is checked.
                    unsafe {
                        #[cfg(target_arch = "x86_64")]
                        if isa.has_avx512() && windows.features >= registers::$wide::LANES {
                            $wide::sum(windows, count);
                            return true;
                        }
                        if isa.$has() && windows.features >= registers::$narrow::LANES {
                            $narrow::sum(windows, count);
                            return true;
                        }
                    }
                    false
                }
            }
        )*};
    }

    windowed! {
        f32 has_vectors_of_32_bits single wide_single;
        f64 has_vectors double wide_double;
    }

    #[cfg(target_arch = "x86_64")]
    windows! {
        single "avx2,fma" f32 5;
        wide_single "avx512f" f32 8;
        double "avx2,fma" f64 5;
        wide_double "avx512f" f64 8;
    }
    #[cfg(target_arch = "aarch64")]
    windows! {
        single "neon" f32 5;
        double "neon" f64 5;
    }
    #[cfg(target_family = "wasm")]
    mod fused_single {
        written_out! { "relaxed-simd" f32 single }
    }
    #[cfg(target_family = "wasm")]
    mod exact_single {
        written_out! { "simd128" f32 exact_single }
    }
    /// Sums of relaxed SIMD where that is fused, or of exact multiply-adds.
    #[cfg(target_family = "wasm")]
    mod single {
        use super::{FeatureWindows, exact_single, fused_single};
        use crate::simd::relaxed::is_fused;

        /// # Safety
        /// That of [`fused_single::sum`].
        pub(super) unsafe fn sum(windows: &mut FeatureWindows<'_, f32>, count: usize) {
            // SAFETY: the caller says so.
            unsafe {
                match is_fused() {
                    true => fused_single::sum(windows, count),
                    false => exact_single::sum(windows, count),
                }
            }
        }
    }
    #[cfg(target_family = "wasm")]
    mod double {
        written_out! { "relaxed-simd" f64 double }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Windowed for f32 {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm")))]
impl Windowed for f64 {}
impl Windowed for i32 {}
impl Windowed for i64 {}
impl Windowed for Complex32 {}
impl Windowed for Complex64 {}
