//! Threefry-2x32-20 (Salmon et al., 2011) of many counters.

use super::parallel::task_size;
use numerics::simd::{Isa, Kernel};
use std::convert::Infallible;

/// Counters at a time.
const LANES: usize = 16;
/// The work for a counter, in elementary operations.
const WORK: usize = 64;

/// Fills `words`, which are in rows of `inner`, and these in groups of `size`: the two words of a
/// counter are in the same column of neighbouring rows of a group. The second word of the counters
/// for the last of an odd number of rows is not used. Returns the number of counters, from
/// `counter` on.
pub fn fill(key: u64, counter: u64, size: usize, inner: usize, words: &mut [u32]) -> usize {
    // A counter for each column of two rows.
    let own = size.div_ceil(2) * inner;
    let Some(groups) = words.len().checked_div(size * inner) else { return 0 };
    let count = task_size(groups, own.saturating_mul(WORK), LANES);
    let tasks = words.chunks_mut(count.saturating_mul(size * inner)).enumerate();
    let done = host::parallel(tasks.collect(), |(task, words): (usize, &mut [u32])| {
        let counter = counter.wrapping_add((task * count * own) as u64);
        Isa::best().run(ThreefryFill { key: halves(key), counter, size, inner, words });
        Ok::<_, Infallible>(())
    });
    let Ok(()) = done;
    groups * own
}

struct ThreefryFill<'a> {
    key: [u32; 2],
    counter: u64,
    size: usize,
    inner: usize,
    words: &'a mut [u32],
}

impl Kernel for ThreefryFill<'_> {
    #[inline(always)]
    fn run(self) {
        self.run_with::<LANES>();
    }

    fn run_shared(self) {
        self.run_with::<1>();
    }
}

impl ThreefryFill<'_> {
    /// Computes `N` counters at a time.
    #[inline(always)]
    fn run_with<const N: usize>(self) {
        let ThreefryFill { key, mut counter, size, inner, words } = self;
        if (size, inner) == (2, 1) {
            for words in words.chunks_mut(2 * N) {
                let [first, second] = lanes::<N>(key, counter);
                let pairs = words.chunks_exact_mut(2).zip(first.iter().zip(&second));
                pairs.for_each(|(pair, (&first, &second))| pair.copy_from_slice(&[first, second]));
                counter = counter.wrapping_add(N as u64);
            }
            return;
        }
        // The number of a row in its group, where the row begins, and a column.
        let (mut row, mut start, mut column) = (0, 0, 0);
        while start < words.len() {
            let [first, second] = lanes::<N>(key, counter);
            counter = counter.wrapping_add(N as u64);
            let mut lane = 0;
            while lane < N && start < words.len() {
                let count = (N - lane).min(inner - column);
                let at = start + column;
                words[at..at + count].copy_from_slice(&first[lane..lane + count]);
                let rows = (size - row).min(2);
                if rows == 2 {
                    words[at + inner..at + inner + count]
                        .copy_from_slice(&second[lane..lane + count]);
                }
                (lane, column) = (lane + count, column + count);
                if column == inner {
                    (column, start, row) = (0, start + rows * inner, row + rows);
                    row = if row == size { 0 } else { row };
                }
            }
        }
    }
}

/// The low and the high half.
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// The first and the second word of each counter from `first` on.
#[inline(always)]
fn lanes<const N: usize>(key: [u32; 2], first: u64) -> [[u32; N]; 2] {
    let (mut x, mut y) = ([0; N], [0; N]);
    for lane in 0..N {
        [x[lane], y[lane]] = halves(first.wrapping_add(lane as u64));
    }
    rounds(key, [x, y])
}

/// The two words of a counter that is two words.
pub fn block(key: [u32; 2], [x, y]: [u32; 2]) -> [u32; 2] {
    rounds(key, [[x], [y]]).map(|[word]| word)
}

/// The first and the second word of counters, given by their first and their second words.
#[inline(always)]
fn rounds<const N: usize>(key: [u32; 2], [mut x, mut y]: [[u32; N]; 2]) -> [[u32; N]; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    const PARITY: u32 = 0x1BD1_1BDA;
    let keys = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    for (x, y) in x.iter_mut().zip(&mut y) {
        *x = x.wrapping_add(keys[0]);
        *y = y.wrapping_add(keys[1]);
    }
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            for (x, y) in x.iter_mut().zip(&mut y) {
                *x = x.wrapping_add(*y);
                *y = y.rotate_left(rotation) ^ *x;
            }
        }
        let [to_x, to_y] = [keys[(group + 1) % 3], keys[(group + 2) % 3]];
        for (x, y) in x.iter_mut().zip(&mut y) {
            *x = x.wrapping_add(to_x);
            *y = y.wrapping_add(to_y).wrapping_add(group as u32 + 1);
        }
    }
    [x, y]
}
