//! Philox-4x32-10 (Salmon et al., 2011) of many counters.

use super::parallel::task_size;
use numerics::simd::{Isa, Kernel};
use std::convert::Infallible;

const ROUNDS: usize = 10;
/// Words of a counter.
const WORDS: usize = 4;
/// Counters at a time.
const LANES: usize = 16;
/// The work for a counter, in elementary operations.
const WORK: usize = 128;

/// The number of counters for some words.
pub(crate) fn counters(words: usize) -> usize {
    words.div_ceil(WORDS)
}

/// Fills `words` with the words of counters from `counter` on, on several threads where that pays.
pub fn fill(key: u64, counter: u128, words: &mut [u32]) {
    let count = task_size(counters(words.len()), WORK, LANES);
    let tasks = words.chunks_mut(count.saturating_mul(WORDS)).enumerate();
    let done = host::parallel(tasks.collect(), |(task, words): (usize, &mut [u32])| {
        let counter = counter.wrapping_add((task * count) as u128);
        Isa::best().run(PhiloxFill { key: [key as u32, (key >> 32) as u32], counter, words });
        Ok::<_, Infallible>(())
    });
    let Ok(()) = done;
}

struct PhiloxFill<'a> {
    key: [u32; 2],
    counter: u128,
    words: &'a mut [u32],
}

impl Kernel for PhiloxFill<'_> {
    #[inline(always)]
    fn run(self) {
        self.run_with::<LANES>();
    }

    fn run_shared(self) {
        self.run_with::<1>();
    }
}

impl PhiloxFill<'_> {
    /// Computes `N` counters at a time.
    #[inline(always)]
    fn run_with<const N: usize>(self) {
        for (group, words) in self.words.chunks_mut(N * WORDS).enumerate() {
            let first = self.counter.wrapping_add((group * N) as u128);
            let lanes = lanes::<N>(self.key, first);
            for (lane, words) in words.chunks_mut(WORDS).enumerate() {
                for (word, lanes) in words.iter_mut().zip(&lanes) {
                    *word = lanes[lane];
                }
            }
        }
    }
}

/// The four words of each counter from `first` on.
#[inline(always)]
fn lanes<const N: usize>(mut key: [u32; 2], first: u128) -> [[u32; N]; WORDS] {
    const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let mut x = [[0; N]; WORDS];
    for lane in 0..N {
        let counter = first.wrapping_add(lane as u128);
        for (part, x) in x.iter_mut().enumerate() {
            x[lane] = (counter >> (32 * part)) as u32;
        }
    }
    let [a, b, c, d] = &mut x;
    for _ in 0..ROUNDS {
        for lane in 0..N {
            // Without `map`, which some builds call for each lane.
            let left = MULTIPLIERS[0] * u64::from(a[lane]);
            let right = MULTIPLIERS[1] * u64::from(c[lane]);
            a[lane] = (right >> 32) as u32 ^ b[lane] ^ key[0];
            b[lane] = right as u32;
            c[lane] = (left >> 32) as u32 ^ d[lane] ^ key[1];
            d[lane] = left as u32;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    x
}
