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
