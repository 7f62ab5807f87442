//! Counter-based random number generators, bit for bit as XLA runs them.
//!
//! Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), for the
//! functions; XLA on CPU for how the state is counted up and how words are spread over a tensor.

use crate::{philox, threefry};
use numerics::shape::num_elements;
use numerics::{DType, Element, Tensor};
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
    let wide = match dtype.bytes() {
        _ if dtype.is_complex() => None,
        1 | 2 | 4 => Some(false),
        8 => Some(true),
        _ => None,
    };
    let wide = wide.ok_or_else(|| {
        EvalError::new("rng_bit_generator", format!("no random bits of type {dtype}"))
    })?;
    let len = if wide { 2 * count } else { count };
    let mut words = Tensor::zeros(u32::DTYPE, [len])?;
    let memory = words.make_mut::<u32>()?;
    let given = state.as_slice::<u64>()?;
    let after = match (generator, given) {
        (Generator::ThreeFry, &[key, counter]) => {
            // The two words of a wide element are a pair, too.
            let shape = if wide { &[len] } else { shape };
            vec![key, counter.wrapping_add(fill_pairs(key, counter, shape, memory) as u64)]
        }
        (Generator::Philox, &[key, low]) => {
            philox::fill(key, u128::from(key) << 64 | u128::from(low), memory);
            vec![key, low.wrapping_add(philox::counters(len) as u64)]
        }
        (Generator::Philox, &[key, low, high]) => {
            let counter = u128::from(high) << 64 | u128::from(low);
            philox::fill(key, counter, memory);
            let after = counter.wrapping_add(philox::counters(len) as u128);
            vec![key, after as u64, (after >> 64) as u64]
        }
        _ => {
            let message = format!("a state of {} words does not fit {generator:?}", given.len());
            return Err(EvalError::new("rng_bit_generator_c2", message));
        }
    };
    let output = if dtype.bytes() == 4 {
        Tensor::from_bytes(dtype, shape, words.bytes().clone())?
    } else {
        let mut output = Tensor::zeros(dtype, shape)?;
        pack(words.as_slice()?, dtype.bytes(), output.bytes_mut()?);
        output
    };
    Ok((Tensor::from_vec(state.shape(), after)?, output))
}

/// Writes words as elements of some bytes: the low bits of one, or a pair, the low half first.
fn pack(words: &[u32], bytes: usize, out: &mut [u8]) {
    match bytes {
        1 => out.iter_mut().zip(words).for_each(|(to, &word)| *to = word as u8),
        2 => {
            let elements = out.as_chunks_mut().0.iter_mut().zip(words);
            elements.for_each(|(to, &word)| *to = (word as u16).to_ne_bytes());
        }
        _ => {
            let elements = out.as_chunks_mut().0.iter_mut().zip(words.as_chunks::<2>().0);
            elements.for_each(|(to, pair)| {
                *to = (u64::from(pair[1]) << 32 | u64::from(pair[0])).to_ne_bytes();
            });
        }
    }
}

/// The dimension that is divided into pairs of indices: the first that is even, else the largest. 0
/// for scalars.
pub(super) fn paired_dimension(shape: &[usize]) -> usize {
    let even = shape.iter().position(|size| size % 2 == 0);
    let largest = || (0..shape.len()).rev().max_by_key(|&d| shape[d]);
    even.or_else(largest).unwrap_or(0)
}

/// Writes a word for each element of a shape, and returns the number of counters that this takes.
///
/// One dimension is divided into pairs of indices. There is a counter for each index of the shape
/// of the pairs, and the two words of a pair are for its two indices. The last pair of an odd size
/// discards one word.
fn fill_pairs(key: u64, counter: u64, shape: &[usize], words: &mut [u32]) -> usize {
    if words.is_empty() {
        return 0;
    }
    let paired = paired_dimension(shape);
    let size = shape.get(paired).copied().unwrap_or(1);
    let inner: usize = shape.get(paired + 1..).unwrap_or_default().iter().product();
    // Pairs of an even dimension are on their own.
    let size = if size % 2 == 0 { 2 } else { size };
    threefry::fill(key, counter, size, inner, words)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut first = [0];
        philox::fill(1, 2 << 64, &mut first);
        assert_eq!((state, words[4]), (vec![1, 1, 2], first[0]));
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
