//! Counter-based random number generators, bit for bit as XLA runs them.
//!
//! Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), for the
//! functions; XLA on CPU for how the state is counted up and how words are spread over a tensor.

use crate::{philox, threefry};
use numerics::shape::num_elements;
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
            // The two words of a wide element are a pair, too.
            let shape = if wide { &[words] } else { shape };
            let (steps, words) = threefry_words(key, counter, shape, words);
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
    let bits = match dtype.bytes() {
        1 => Bytes::from_vec(words.iter().map(|&word| word as u8).collect()),
        2 => Bytes::from_vec(words.iter().map(|&word| word as u16).collect()),
        4 => Bytes::from_vec(words),
        _ => {
            let join = |pair: &[u32; 2]| u64::from(pair[1]) << 32 | u64::from(pair[0]);
            Bytes::from_vec(words.as_chunks().0.iter().map(join).collect())
        }
    };
    let output = Tensor::from_bytes(dtype, shape, bits)?;
    Ok((Tensor::from_vec(state.shape(), after)?, output))
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
    let paired = paired_dimension(shape);
    let size = shape.get(paired).copied().unwrap_or(1);
    let inner: usize = shape.get(paired + 1..).unwrap_or_default().iter().product();
    // Pairs of an even dimension are on their own.
    let size = if size % 2 == 0 { 2 } else { size };
    let mut words = vec![0; count];
    (threefry::fill(key, counter, size, inner, &mut words), words)
}

/// The counter after, and `count` words of a Philox generator, four for each counter.
pub(super) fn philox_words(key: u64, counter: u128, count: usize) -> (u128, Vec<u32>) {
    let mut words = vec![0; count];
    philox::fill(key, counter, &mut words);
    (counter.wrapping_add(count.div_ceil(4) as u128), words)
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
        assert_eq!((state, words[4]), (vec![1, 1, 2], philox_words(1, 2 << 64, 1).1[0]));
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
