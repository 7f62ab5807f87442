//! Loops that measure the machine: fused multiply-adds that wait for nothing, additions and reads.

use super::{Isa, Kernel};

/// Chains of fused multiply-adds that run side by side: enough for two a cycle, with a latency of
/// up to five.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const CHAINS: usize = 12;

impl Isa {
    /// Runs `rounds` of fused multiply-adds of `f32` in registers, with the vectors of this
    /// instruction set, and returns the number of multiplications and additions. `None` if there
    /// are no loops for its vectors.
    pub fn multiply_adds(self, rounds: usize) -> Option<usize> {
        if !self.has_vectors() {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        if self.has_avx512() {
            // SAFETY: the instructions were detected.
            return Some(unsafe { wide_single(rounds) });
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        // SAFETY: likewise.
        return Some(unsafe { single(rounds) });
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = rounds;
            None
        }
    }

    /// Adds elements of slices.
    pub fn add(self, x: &[f32], y: &[f32], out: &mut [f32]) {
        self.run(Add { x, y, out });
    }

    /// Reads all words, and returns the bits that any of them has.
    pub fn read(self, words: &[u64]) -> u64 {
        let mut bits = 0;
        self.run(Read { words, bits: &mut bits });
        bits
    }
}

struct Add<'a> {
    x: &'a [f32],
    y: &'a [f32],
    out: &'a mut [f32],
}

impl Kernel for Add<'_> {
    #[inline(always)]
    fn run(self) {
        for ((out, x), y) in self.out.iter_mut().zip(self.x).zip(self.y) {
            *out = x + y;
        }
    }
}

struct Read<'a> {
    words: &'a [u64],
    bits: &'a mut u64,
}

impl Kernel for Read<'_> {
    #[inline(always)]
    fn run(self) {
        let mut all = [0u64; 32];
        let (chunks, rest) = self.words.as_chunks::<32>();
        for chunk in chunks {
            for (bits, word) in all.iter_mut().zip(chunk) {
                *bits |= word;
            }
        }
        *self.bits = rest.iter().chain(&all).fold(0, |bits, word| bits | word);
    }
}

/// A function with the loop for vectors of a module of registers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! multiply_adds {
    ($($module:ident $features:literal;)*) => {$(
        #[target_feature(enable = $features)]
        fn $module(rounds: usize) -> usize {
            use super::registers::$module::{LANES, fused_multiply_add, splat, zero};
            let (a, b) = (std::hint::black_box(splat(0.5)), splat(0.25));
            let mut sums = [zero(); CHAINS];
            for _ in 0..rounds {
                for sum in &mut sums {
                    *sum = fused_multiply_add(a, *sum, b);
                }
            }
            std::hint::black_box(sums);
            2 * LANES * CHAINS * rounds
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
multiply_adds! {
    single "avx2,fma";
    wide_single "avx512f";
}
#[cfg(target_arch = "aarch64")]
multiply_adds! {
    single "neon";
}
