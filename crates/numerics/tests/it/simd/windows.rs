//! Tests of `simd/windows.rs`.

use numerics::simd::{FeatureWindows, Isa, Tap, Windowed};

#[test]
fn windows_are_chains_of_fused_multiply_adds() {
    let number = |i: usize| 1.0 / (1 + i * 37 % 101) as f32 - 0.3;
    for features in [1, 8, 16, 19, 32, 40, 75] {
        for count in [1, 3, 4, 5, 8, 14] {
            for step in [features, 2 * features] {
                let taps = [[0, 0], [1, 2], [4, 3], [5, 1]]
                    .map(|[i, w]| Tap { input: i * features, weight: w * features });
                let input: Vec<f32> = (0..(2 * count + 5) * features).map(number).collect();
                let weights: Vec<f32> = (0..4 * features).map(|i| number(5 * i)).collect();
                for isa in Isa::available() {
                    let mut out = vec![f32::NAN; count * features];
                    let mut windows = FeatureWindows {
                        input: &input,
                        weights: &weights,
                        taps: &taps,
                        step,
                        features,
                        out: &mut out,
                    };
                    if !f32::sum_windows(isa, &mut windows) {
                        assert!(!isa.has_vectors() || features < 8);
                        continue;
                    }
                    for (at, found) in out.iter().enumerate() {
                        let (window, feature) = (at / features, at % features);
                        let expected = taps.iter().fold(0.0, |sum: f32, tap| {
                            let element = input[window * step + tap.input + feature];
                            element.mul_add(weights[tap.weight + feature], sum)
                        });
                        assert_eq!(found.to_bits(), expected.to_bits(), "{isa:?} {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn windows_beyond_the_input() {
    let (input, weights) = ([1.0; 40], [2.0; 16]);
    for (taps, step, len) in [
        ([Tap { input: 9, weight: 0 }], 16, 32),
        ([Tap { input: 0, weight: 1 }], 16, 32),
        ([Tap { input: usize::MAX, weight: 0 }], 16, 32),
        ([Tap { input: 0, weight: 0 }], usize::MAX, 48),
    ] {
        let out = &mut vec![0.0; len][..];
        let (input, weights, taps) = (&input[..], &weights[..], &taps[..]);
        let mut windows = FeatureWindows { input, weights, taps, step, features: 16, out };
        assert!(!f32::sum_windows(Isa::best(), &mut windows));
    }
}
