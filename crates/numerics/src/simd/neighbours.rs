//! Sums of neighbours.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::Isa;
use crate::{Complex32, Element, Widen, bf16, f16};

/// Numbers whose neighbours are added eight at a time.
pub trait AddEights: Element {
    /// The type of sums.
    type Sum: AddEights<Sum = Self::Sum>;

    /// The number that changes no other one when it is added.
    const NOTHING: Self;

    /// Writes the sums of each eight neighbours, added in pairs, these in pairs, and these again.
    /// Elements after the last eight, and places for which there are no eight, stay as they are.
    fn add_eights(elements: &[Self], sums: &mut [Self::Sum]);
}

/// The sum of eight numbers.
#[inline(always)]
fn sum<S: Copy + std::ops::Add<Output = S>>([a, b, c, d, e, f, g, h]: [S; 8]) -> S {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// [`AddEights`] by loops over whole blocks of elements, each with the instructions that it needs,
/// and by plain code.
macro_rules! add_eights {
    ($($element:ty as $sum:ty, $nothing:expr, [$($loops:ident $has:ident),*];)*) => {$(
        impl AddEights for $element {
            type Sum = $sum;
            const NOTHING: Self = $nothing;

            fn add_eights(elements: &[Self], sums: &mut [$sum]) {
                let eights = (elements.len() / 8).min(sums.len());
                let (elements, sums) = (&elements[..8 * eights], &mut sums[..eights]);
                let done = 0;
                $(
                    let done = done + match Isa::best().$has() {
                        // SAFETY: the instructions were detected.
                        true => unsafe {
                            vectors::$loops(&elements[8 * done..], &mut sums[done..])
                        },
                        false => 0,
                    };
                )*
                let eights = elements.as_chunks().0[done..].iter();
                for (out, eight) in sums[done..].iter_mut().zip(eights) {
                    *out = sum(eight.map(Widen::widen));
                }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
add_eights! {
    f32 as f32, -0.0, [wide_f32 has_avx512, f32 has_avx2];
    f64 as f64, -0.0, [wide_f64 has_avx512, f64 has_avx2];
    Complex32 as Complex32, Complex32::new(-0.0, -0.0),
        [wide_complex has_avx512, complex has_avx2];
    bf16 as f32, bf16::NEG_ZERO, [wide_bf16 has_avx512, bf16 has_avx2];
    f16 as f32, f16::NEG_ZERO, [wide_f16 has_avx512, f16 has_avx2];
}
#[cfg(target_arch = "aarch64")]
add_eights! {
    f32 as f32, -0.0, [f32 has_vectors];
    f64 as f64, -0.0, [f64 has_vectors];
    Complex32 as Complex32, Complex32::new(-0.0, -0.0), [];
    bf16 as f32, bf16::NEG_ZERO, [];
    f16 as f32, f16::NEG_ZERO, [];
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
add_eights! {
    f32 as f32, -0.0, [];
    f64 as f64, -0.0, [];
    Complex32 as Complex32, Complex32::new(-0.0, -0.0), [];
    bf16 as f32, bf16::NEG_ZERO, [];
    f16 as f32, f16::NEG_ZERO, [];
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use crate::{Complex32, bf16, f16};
    use std::arch::x86_64::*;

    /// Functions that write the sums of the eights of whole blocks, and return their number.
    macro_rules! loops {
        (
            $features:literal
            $($name:ident: [$element:ty; $block:literal] as $sum:ty, |$vectors:ident| $add:expr;)*
        ) => {$(
            #[target_feature(enable = $features)]
            pub(crate) fn $name(elements: &[$element], sums: &mut [$sum]) -> usize {
                let blocks = elements.as_chunks::<$block>().0;
                for (block, sums) in blocks.iter().zip(sums.as_chunks_mut::<{ $block / 8 }>().0) {
                    let $vectors = bytemuck::cast(*block);
                    *sums = bytemuck::cast($add);
                }
                blocks.len() * ($block / 8)
            }
        )*};
    }

    loops! {
        "avx2,f16c"
        f32: [f32; 64] as f32, |x| add_eights(x);
        f64: [f64; 32] as f64, |x| {
            add_doubles(x, |x, y| _mm256_add_pd(x, y))
        };
        complex: [Complex32; 32] as Complex32, |x| {
            let add = |x, y| {
                _mm256_castps_pd(_mm256_add_ps(_mm256_castpd_ps(x), _mm256_castpd_ps(y)))
            };
            add_doubles(x, add)
        };
        bf16: [bf16; 64] as f32, |x| {
            let [a, b, c, d]: [__m256i; 4] = x;
            let [low, high] = [
                add_pairs(add_halves(a), add_halves(b)),
                add_pairs(add_halves(c), add_halves(d)),
            ];
            // Of each pair of vectors, the low halves, and then the high ones.
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            _mm256_permutevar8x32_ps(add_pairs(low, high), order)
        };
        f16: [f16; 64] as f32, |x| {
            let x: [__m128i; 8] = x;
            add_eights(x.map(|x| _mm256_cvtph_ps(x)))
        };
    }

    loops! {
        "avx512f,avx512dq"
        wide_f32: [f32; 128] as f32, |x| wide_add_eights(x);
        wide_f64: [f64; 64] as f64, |x| {
            wide_add_doubles(x, |x, y| _mm512_add_pd(x, y))
        };
        wide_complex: [Complex32; 64] as Complex32, |x| {
            let add = |x, y| {
                _mm512_castps_pd(_mm512_add_ps(_mm512_castpd_ps(x), _mm512_castpd_ps(y)))
            };
            wide_add_doubles(x, add)
        };
        wide_bf16: [bf16; 128] as f32, |x| {
            let [a, b, c, d]: [__m512i; 4] = x;
            let [low, high] = [
                wide_add_pairs(wide_add_halves(a), wide_add_halves(b)),
                wide_add_pairs(wide_add_halves(c), wide_add_halves(d)),
            ];
            let order =
                _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_permutexvar_ps(order, wide_add_pairs(low, high))
        };
        wide_f16: [f16; 128] as f32, |x| {
            let x: [__m256i; 8] = x;
            wide_add_eights(x.map(|x| _mm512_cvtph_ps(x)))
        };
    }

    #[target_feature(enable = "avx2")]
    fn add_eights([a, b, c, d, e, f, g, h]: [__m256; 8]) -> __m256 {
        let low = add_pairs(add_pairs(a, b), add_pairs(c, d));
        let high = add_pairs(add_pairs(e, f), add_pairs(g, h));
        // Of each vector, the sum of its low half and that of its high half.
        let first = _mm256_permute2f128_ps::<0x20>(low, high);
        let second = _mm256_permute2f128_ps::<0x31>(low, high);
        _mm256_add_ps(first, second)
    }

    /// The sums of neighbours, by quarters or halves of registers, which have four numbers each:
    /// two of `x`, then two of `y`.
    #[target_feature(enable = "avx2")]
    fn add_pairs(x: __m256, y: __m256) -> __m256 {
        let even = _mm256_shuffle_ps::<0x88>(x, y);
        _mm256_add_ps(even, _mm256_shuffle_ps::<0xDD>(x, y))
    }

    /// The sums of neighbours of `bf16`: the upper halves of numbers of `f32`.
    #[target_feature(enable = "avx2")]
    fn add_halves(pairs: __m256i) -> __m256 {
        let second = _mm256_and_si256(pairs, _mm256_set1_epi32(!0xFFFF));
        let first = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(pairs));
        _mm256_add_ps(first, _mm256_castsi256_ps(second))
    }

    /// The sums of each eight units of 64 bits.
    #[target_feature(enable = "avx2")]
    fn add_doubles(
        [a, b, c, d, e, f, g, h]: [__m256d; 8],
        add: impl Fn(__m256d, __m256d) -> __m256d,
    ) -> __m256d {
        let pairs = |x, y| add(_mm256_unpacklo_pd(x, y), _mm256_unpackhi_pd(x, y));
        let halves = |x, y| {
            let low = _mm256_permute2f128_pd::<0x20>(x, y);
            add(low, _mm256_permute2f128_pd::<0x31>(x, y))
        };
        // The sums of the vectors.
        let (low, high) = (halves(pairs(a, b), pairs(c, d)), halves(pairs(e, f), pairs(g, h)));
        _mm256_permute4x64_pd::<0xD8>(pairs(low, high))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    fn wide_add_eights([a, b, c, d, e, f, g, h]: [__m512; 8]) -> __m512 {
        let low = wide_add_pairs(wide_add_pairs(a, b), wide_add_pairs(c, d));
        let high = wide_add_pairs(wide_add_pairs(e, f), wide_add_pairs(g, h));
        // Of each vector, the sums of its quarters.
        let first = _mm512_shuffle_f32x4::<0x88>(low, high);
        let second = _mm512_shuffle_f32x4::<0xDD>(low, high);
        let order = _mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
        _mm512_permutexvar_ps(order, _mm512_add_ps(first, second))
    }

    /// As [`add_pairs`].
    #[target_feature(enable = "avx512f")]
    fn wide_add_pairs(x: __m512, y: __m512) -> __m512 {
        let even = _mm512_shuffle_ps::<0x88>(x, y);
        _mm512_add_ps(even, _mm512_shuffle_ps::<0xDD>(x, y))
    }

    /// As [`add_halves`].
    #[target_feature(enable = "avx512f")]
    fn wide_add_halves(pairs: __m512i) -> __m512 {
        let second = _mm512_and_si512(pairs, _mm512_set1_epi32(!0xFFFF));
        let first = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(pairs));
        _mm512_add_ps(first, _mm512_castsi512_ps(second))
    }

    /// As [`add_doubles`].
    #[target_feature(enable = "avx512f,avx512dq")]
    fn wide_add_doubles(
        [a, b, c, d, e, f, g, h]: [__m512d; 8],
        add: impl Fn(__m512d, __m512d) -> __m512d,
    ) -> __m512d {
        let pairs = |x, y| add(_mm512_unpacklo_pd(x, y), _mm512_unpackhi_pd(x, y));
        let quarters = |x, y| {
            let even = _mm512_shuffle_f64x2::<0x88>(x, y);
            add(even, _mm512_shuffle_f64x2::<0xDD>(x, y))
        };
        let (low, high) = (quarters(pairs(a, b), pairs(c, d)), quarters(pairs(e, f), pairs(g, h)));
        quarters(low, high)
    }
}

#[cfg(target_arch = "aarch64")]
mod vectors {
    use std::arch::aarch64::{float32x4_t, float64x2_t, vpaddq_f32, vpaddq_f64};

    #[target_feature(enable = "neon")]
    pub(crate) fn f32(elements: &[f32], sums: &mut [f32]) -> usize {
        let blocks = elements.as_chunks::<64>().0;
        for (block, sums) in blocks.iter().zip(sums.as_chunks_mut::<8>().0) {
            let [a, b, c, d]: [[float32x4_t; 4]; 4] = bytemuck::cast(*block);
            let first = vpaddq_f32(add_fours(a), add_fours(b));
            let second = vpaddq_f32(add_fours(c), add_fours(d));
            *sums = bytemuck::cast([first, second]);
        }
        8 * blocks.len()
    }

    /// The sums of each four neighbours.
    #[target_feature(enable = "neon")]
    fn add_fours([a, b, c, d]: [float32x4_t; 4]) -> float32x4_t {
        vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d))
    }

    #[target_feature(enable = "neon")]
    pub(crate) fn f64(elements: &[f64], sums: &mut [f64]) -> usize {
        let blocks = elements.as_chunks::<16>().0;
        for (block, sums) in blocks.iter().zip(sums.as_chunks_mut::<2>().0) {
            let [first, second]: [[float64x2_t; 4]; 2] = bytemuck::cast(*block);
            *sums = bytemuck::cast(vpaddq_f64(add_doubles(first), add_doubles(second)));
        }
        2 * blocks.len()
    }

    /// The sums of each four neighbours.
    #[target_feature(enable = "neon")]
    fn add_doubles([a, b, c, d]: [float64x2_t; 4]) -> float64x2_t {
        vpaddq_f64(vpaddq_f64(a, b), vpaddq_f64(c, d))
    }
}
