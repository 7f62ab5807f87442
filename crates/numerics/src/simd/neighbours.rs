//! Sums of neighbours.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::Isa;

/// Numbers that are added at once.
const BLOCK: usize = 64;

/// Writes the sums of each eight neighbours, added in pairs, these in pairs, and these again.
///
/// # Panics
/// If there is no room for one of each 64 elements.
pub fn add_eights(elements: &[f32], sums: &mut [f32]) {
    let (blocks, rest) = elements.as_chunks::<BLOCK>();
    let (of_blocks, of_rest) = sums.split_at_mut(blocks.len() * BLOCK / 8);
    add_rest(rest, of_rest);
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if Isa::best().has_vectors() {
        // SAFETY: the instructions were detected.
        return unsafe { vectors::add_eights(blocks, of_blocks.as_chunks_mut().0) };
    }
    add_rest(blocks.as_flattened(), of_blocks);
}

fn add_rest(elements: &[f32], sums: &mut [f32]) {
    for (sum, [a, b, c, d, e, f, g, h]) in sums.iter_mut().zip(elements.as_chunks().0) {
        *sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::BLOCK;
    use std::arch::x86_64::{__m256, _mm256_add_ps, _mm256_permute2f128_ps, _mm256_shuffle_ps};

    #[target_feature(enable = "avx2")]
    pub(crate) fn add_eights(blocks: &[[f32; BLOCK]], sums: &mut [[f32; 8]]) {
        for (block, sums) in blocks.iter().zip(sums) {
            let [a, b, c, d, e, f, g, h]: [__m256; 8] = bytemuck::cast(*block);
            let low = add_pairs(add_pairs(a, b), add_pairs(c, d));
            let high = add_pairs(add_pairs(e, f), add_pairs(g, h));
            // Of each vector, the sum of its low half and that of its high half.
            let first = _mm256_permute2f128_ps::<0x20>(low, high);
            let second = _mm256_permute2f128_ps::<0x31>(low, high);
            *sums = bytemuck::cast(_mm256_add_ps(first, second));
        }
    }

    /// The sums of neighbours, by halves of registers: two of `x`, then two of `y`.
    #[target_feature(enable = "avx2")]
    fn add_pairs(x: __m256, y: __m256) -> __m256 {
        let even = _mm256_shuffle_ps::<0x88>(x, y);
        _mm256_add_ps(even, _mm256_shuffle_ps::<0xDD>(x, y))
    }
}

#[cfg(target_arch = "aarch64")]
mod vectors {
    use super::BLOCK;
    use std::arch::aarch64::{float32x4_t, vpaddq_f32};

    #[target_feature(enable = "neon")]
    pub(crate) fn add_eights(blocks: &[[f32; BLOCK]], sums: &mut [[f32; 8]]) {
        for (block, sums) in blocks.iter().zip(sums) {
            let [a, b, c, d]: [[float32x4_t; 4]; 4] = bytemuck::cast(*block);
            let first = vpaddq_f32(add_fours(a), add_fours(b));
            let second = vpaddq_f32(add_fours(c), add_fours(d));
            *sums = bytemuck::cast([first, second]);
        }
    }

    /// The sums of each four neighbours.
    #[target_feature(enable = "neon")]
    fn add_fours([a, b, c, d]: [float32x4_t; 4]) -> float32x4_t {
        vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d))
    }
}
