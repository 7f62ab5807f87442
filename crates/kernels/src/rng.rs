//! Counter-based random number generators, bit for bit as XLA runs them.
//!
//! Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), for the
//! functions; XLA on CPU for how the state is counted up and how words are spread over a tensor.

use numerics::shape::{Indices, num_elements, strides};
use numerics::{Bytes, DType, Tensor};
use program::{EvalError, Generator};

/// The state after, and a tensor of `shape` filled with random bits.
///
/// # Errors
/// If the state has another number of words or is not `ui64`, or there is no memory for the tensor.
pub fn random_bits(
    generator: Generator,
    state: &Tensor,
    shape: &[usize],
    dtype: DType,
) -> Result<(Tensor, Tensor), EvalError> {
    let too_large = || EvalError::new("rng_bit_generator", format!("shape {shape:?} is too large"));
    let count = num_elements(shape)
        .filter(|n| isize::try_from(n.saturating_mul(16)).is_ok())
        .ok_or_else(too_large)?;
    // Refuses what does not fit into memory.
    Tensor::zeros(dtype, shape)?;
    let wide = match dtype.bytes() {
        _ if dtype.is_complex() => None,
        1 | 2 | 4 => Some(false),
        8 => Some(true),
        _ => None,
    };
    let wide = wide.ok_or_else(|| {
        EvalError::new("rng_bit_generator", format!("no random bits of type {dtype}"))
    })?;
    let words = if wide { 2 * count } else { count };
    let given = state.as_slice::<u64>()?;
    let (after, words) = match (generator, given) {
        (Generator::ThreeFry, &[key, counter]) => {
            let (steps, words) = if wide {
                (count, threefry_run(key, counter, count).flatten().collect())
            } else {
                threefry_words(key, counter, shape, count)
            };
            (vec![key, counter.wrapping_add(steps as u64)], words)
        }
        (Generator::Philox, &[key, low]) => {
            let (_, words) = philox_words(key, u128::from(key) << 64 | u128::from(low), words);
            (vec![key, low.wrapping_add(words.len().div_ceil(4) as u64)], words)
        }
        (Generator::Philox, &[key, low, high]) => {
            let (after, words) = philox_words(key, u128::from(high) << 64 | u128::from(low), words);
            (vec![key, after as u64, (after >> 64) as u64], words)
        }
        _ => {
            let message = format!("a state of {} words does not fit {generator:?}", given.len());
            return Err(EvalError::new("rng_bit_generator_c2", message));
        }
    };
    // Narrow elements are the low bits of a word.
    let bytes: Vec<u8> = match dtype.bytes() {
        1 => words.iter().map(|&w| w as u8).collect(),
        2 => words.iter().flat_map(|&w| (w as u16).to_ne_bytes()).collect(),
        4 => words.iter().flat_map(|&w| w.to_ne_bytes()).collect(),
        _ => words
            .chunks_exact(2)
            .flat_map(|w| (u64::from(w[1]) << 32 | u64::from(w[0])).to_ne_bytes())
            .collect(),
    };
    let output = Tensor::from_bytes(dtype, shape, Bytes::from_vec(bytes))?;
    Ok((Tensor::from_vec(state.shape(), after)?, output))
}

/// The low and the high half.
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Threefry-2x32-20 of `counter`.
fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    const PARITY: u32 = 0x1BD1_1BDA;
    let keys = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let [mut x, mut y] = [counter[0].wrapping_add(keys[0]), counter[1].wrapping_add(keys[1])];
    for group in 0..5 {
        for rotation in ROTATIONS[group % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        x = x.wrapping_add(keys[(group + 1) % 3]);
        y = y.wrapping_add(keys[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    [x, y]
}

/// Pairs of words for `count` counters from `counter` on.
fn threefry_run(key: u64, counter: u64, count: usize) -> impl Iterator<Item = [u32; 2]> {
    (0..count as u64).map(move |i| threefry(halves(key), halves(counter.wrapping_add(i))))
}

/// The dimension that is divided into pairs of indices: the first that is even, else the largest. 0
/// for scalars.
pub(super) fn paired_dimension(shape: &[usize]) -> usize {
    let even = shape.iter().position(|size| size % 2 == 0);
    let largest = || (0..shape.len()).rev().max_by_key(|&d| shape[d]);
    even.or_else(largest).unwrap_or(0)
}

/// One word for each element of a shape, and the number of counters that this took.
///
/// One dimension is divided into pairs of indices. There is a counter for each index of the shape
/// of the pairs, and the two words of a pair are for its two indices. The last pair of an odd size
/// discards one word.
fn threefry_words(key: u64, counter: u64, shape: &[usize], count: usize) -> (usize, Vec<u32>) {
    if count == 0 {
        return (0, Vec::new());
    }
    let shape = if shape.is_empty() { &[1] } else { shape };
    let paired = paired_dimension(shape);
    let mut pairs = shape.to_vec();
    pairs[paired] = shape[paired].div_ceil(2);
    let strides = strides(shape);
    let steps = pairs.iter().product();
    let mut words = vec![0; count];
    let mut indices = Indices::new(pairs);
    for [first, second] in threefry_run(key, counter, steps) {
        // As many counters as indices.
        let Some(index) = indices.next_index() else { break };
        let doubled = |d: usize| if d == paired { 2 * index[d] } else { index[d] };
        let at: usize = (0..shape.len()).map(|d| doubled(d) * strides[d]).sum();
        words[at] = first;
        if 2 * index[paired] + 1 < shape[paired] {
            words[at + strides[paired]] = second;
        }
    }
    (steps, words)
}

/// Philox-4x32-10 of `counter`.
fn philox(mut key: [u32; 2], counter: u128) -> [u32; 4] {
    const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let mut x: [u32; 4] = std::array::from_fn(|i| (counter >> (32 * i)) as u32);
    for _ in 0..10 {
        let [low0, high0] = halves(MULTIPLIERS[0] * u64::from(x[0]));
        let [low1, high1] = halves(MULTIPLIERS[1] * u64::from(x[2]));
        x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0];
        key = std::array::from_fn(|i| key[i].wrapping_add(WEYL[i]));
    }
    x
}

/// The counter after, and `count` words of a Philox generator, four for each counter.
pub(super) fn philox_words(key: u64, counter: u128, count: usize) -> (u128, Vec<u32>) {
    let blocks = count.div_ceil(4);
    let mut words = Vec::with_capacity(4 * blocks);
    words.extend((0..blocks as u128).flat_map(|i| philox(halves(key), counter.wrapping_add(i))));
    words.truncate(count);
    (counter.wrapping_add(blocks as u128), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use numerics::Element;

    fn run<T: Element>(generator: Generator, state: &[u64], shape: &[usize]) -> (Vec<u64>, Vec<T>) {
        let state = Tensor::from_vec([state.len()], state.to_vec()).unwrap();
        let (state, bits) = random_bits(generator, &state, shape, T::DTYPE).unwrap();
        (state.to_vec().unwrap(), bits.to_vec().unwrap())
    }

    #[test]
    fn example_of_the_specification() {
        let bits = vec![
            9236835810183407956u64,
            16087790271692313299,
            18212823393184779219,
            2658481902456610144,
        ];
        assert_eq!(run(Generator::ThreeFry, &[1, 2], &[2, 2]), (vec![1, 6], bits));
    }

    #[test]
    fn known_answers_of_the_paper() {
        assert_eq!(threefry([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(philox([0, 0], 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 2], u128::MAX),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
    }

    #[test]
    fn philox_as_xla_counts() {
        let words = vec![
            0x7d34_a749u32,
            0xa9b8_bbe8,
            0x7ba4_23d7,
            0x2fb3_24d9,
            0x6cf9_23fe,
            0xbadf_79c3,
            0xecca_e2d7,
        ];
        assert_eq!(run(Generator::Philox, &[1, 2], &[7]), (vec![1, 4], words));
        let words = vec![0xa9b8_bbe8_7d34_a749u64, 0x2fb3_24d9_7ba4_23d7, 0xbadf_79c3_6cf9_23fe];
        assert_eq!(run(Generator::Philox, &[1, 2], &[3]), (vec![1, 4], words));
        assert_eq!(run::<u16>(Generator::Philox, &[1, 2], &[2]).1, [0xa749, 0xbbe8]);
        let (state, words) = run::<u32>(Generator::Philox, &[1, u64::MAX, 1], &[8]);
        assert_eq!((state, words[0]), (vec![1, 1, 2], philox([1, 0], (2 << 64) - 1)[0]));
    }

    #[test]
    fn threefry_pairs_one_dimension() {
        let (state, words) = run::<u32>(Generator::ThreeFry, &[1, 2], &[3, 3]);
        let expected = [
            0x0296_e954,
            0xed34_92d3,
            0x63b4_0bd3,
            0x802f_d53b,
            0xdf43_5003,
            0xfcc0_f261,
            0x7dbb_1d60,
            0x9718_c0ad,
            0xaafe_5a17,
        ];
        assert_eq!((state, &words[..]), (vec![1, 8], &expected[..]));
        let (state, words) = run::<u32>(Generator::ThreeFry, &[1, 2], &[3, 4]);
        assert_eq!(
            (state, &words[..3]),
            (vec![1, 8], &[0x0296_e954, 0x802f_d53b, 0xed34_92d3][..])
        );
        assert_eq!(run::<u32>(Generator::ThreeFry, &[1, 2], &[]), (vec![1, 3], vec![0x0296_e954]));
        assert_eq!(run::<u32>(Generator::ThreeFry, &[1, 2], &[0, 3]), (vec![1, 2], vec![]));
    }
}
