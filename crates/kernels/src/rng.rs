//! Counter-based random number generators, bit for bit as XLA runs them.
//!
//! Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), for the
//! functions; XLA on CPU for how the state is counted up and how words are spread over a tensor.

use crate::converted::{elements, elements_mut};
use crate::kernel::Kernel;
use crate::{philox, threefry};
use numerics::budget::Scratch;
use numerics::math;
use numerics::shape::num_elements;
use numerics::{DType, Tensor, TensorError};
use program::EvalError;
use program::primitives::Generator;
use smallvec::{SmallVec, smallvec};

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
    let dtype_of_state = state.dtype();
    if !matches!(dtype_of_state, DType::U64 | DType::I64) {
        let message = format!("the state must have elements of type ui64; found {dtype_of_state}");
        return Err(EvalError::new("rng_bit_generator_i2", message));
    }
    // The bits count, of signed elements too.
    let state = math::bitcast(state, DType::U64)?;
    let given = state.as_slice::<u64>()?;
    let bits = RandomBitsKernel::new(generator, given.len(), shape, dtype)?;
    let mut output = Tensor::zeros(dtype, shape)?;
    bits.fill(given, output.bytes_mut()?)?;
    let mut after = given.to_vec();
    bits.advance(&mut after);
    let after = Tensor::from_vec(state.shape(), after)?;
    Ok((math::bitcast(&after, dtype_of_state)?, output))
}

/// A number of random bits, of which a state has some words. As a [`Kernel`], its results are the
/// state after and the bits, or some of these.
#[derive(Debug)]
pub struct RandomBitsKernel {
    generator: Generator,
    state: usize,
    shape: Vec<usize>,
    dtype: DType,
    /// The words of 32 bits that elements are made of.
    words: usize,
    /// The results of the kernel: 0 is the state after, 1 the bits.
    results: SmallVec<[usize; 2]>,
}

impl RandomBitsKernel {
    /// The bits of a tensor.
    ///
    /// # Errors
    /// If a state has another number of words, there are no random bits of the type, or too many.
    pub fn new(
        generator: Generator,
        state: usize,
        shape: &[usize],
        dtype: DType,
    ) -> Result<RandomBitsKernel, EvalError> {
        let too_large =
            || EvalError::new("rng_bit_generator", format!("shape {shape:?} is too large"));
        let count = num_elements(shape)
            .filter(|n| isize::try_from(n.saturating_mul(16)).is_ok())
            .ok_or_else(too_large)?;
        let words = match dtype.bytes() {
            1 | 2 | 4 if !dtype.is_complex() => count,
            8 if !dtype.is_complex() => 2 * count,
            _ => {
                let message = format!("no random bits of type {dtype}");
                return Err(EvalError::new("rng_bit_generator", message));
            }
        };
        if !matches!((generator, state), (Generator::ThreeFry, 2) | (Generator::Philox, 2 | 3)) {
            let message = format!("a state of {state} words does not fit {generator:?}");
            return Err(EvalError::new("rng_bit_generator_c2", message));
        }
        Ok(RandomBitsKernel {
            generator,
            state,
            shape: shape.to_vec(),
            dtype,
            words,
            results: smallvec![0, 1],
        })
    }

    /// Computes the bytes of the tensor from the bytes of the state.
    ///
    /// # Errors
    /// If they do not have the sizes of their types, or there is no memory.
    pub fn run(&self, state: &[u8], result: &mut [u8]) -> Result<(), TensorError> {
        self.fill(elements(state, self.state)?, result)
    }

    /// Computes the bytes of the next state from the bytes of the state before.
    ///
    /// # Errors
    /// If they do not have the size of a state.
    pub fn run_state(&self, state: &[u8], result: &mut [u8]) -> Result<(), TensorError> {
        let after = elements_mut::<u64>(result, self.state)?;
        after.copy_from_slice(elements(state, self.state)?);
        self.advance(after);
        Ok(())
    }

    /// The kernel of some results only: 0 is the state after, 1 the bits.
    pub fn with_results(self, results: &[usize]) -> RandomBitsKernel {
        RandomBitsKernel { results: SmallVec::from_slice(results), ..self }
    }

    fn fill(&self, state: &[u64], out: &mut [u8]) -> Result<(), TensorError> {
        if self.dtype.bytes() == 4 {
            self.fill_words(state, elements_mut(out, self.words)?);
            return Ok(());
        }
        let mut words = Scratch::filled(self.words, 0)?;
        self.fill_words(state, &mut words);
        pack(&words, self.dtype.bytes(), out);
        Ok(())
    }

    fn fill_words(&self, state: &[u64], words: &mut [u32]) {
        match (self.generator, state) {
            (Generator::ThreeFry, &[key, counter]) => {
                let (size, inner) = self.pairs();
                threefry::fill(key, counter, size, inner, words);
            }
            (_, &[key, low, ref high @ ..]) => {
                // A state of two words has the key as the third one.
                let high = high.first().copied().unwrap_or(key);
                philox::fill(key, u128::from(high) << 64 | u128::from(low), words);
            }
            _ => {}
        }
    }

    /// Adds the number of counters that the bits take.
    fn advance(&self, state: &mut [u64]) {
        match (self.generator, state) {
            (Generator::ThreeFry, [_, counter]) => {
                let (size, inner) = self.pairs();
                let groups = self.words.checked_div(size * inner).unwrap_or(0);
                *counter = counter.wrapping_add((groups * size.div_ceil(2) * inner) as u64);
            }
            (_, [_, low, high @ ..]) => {
                let (sum, carry) = low.overflowing_add(philox::counters(self.words) as u64);
                *low = sum;
                high.iter_mut().for_each(|high| *high = high.wrapping_add(carry.into()));
            }
            _ => {}
        }
    }

    /// How pairs of words of [`Generator::ThreeFry`] are arranged: rows in a group, and words in a
    /// row.
    ///
    /// One dimension is divided into pairs of indices. There is a counter for each index of the
    /// shape of the pairs, and the two words of a pair are for its two indices. The last pair of an
    /// odd size discards one word.
    fn pairs(&self) -> (usize, usize) {
        if self.words == 0 {
            // The product of the other sizes may be too large.
            return (2, 0);
        }
        // The two words of a wide element are a pair, too.
        let shape = if self.dtype.bytes() == 8 { &[self.words] } else { &self.shape[..] };
        let paired = paired_dimension(shape);
        let size = shape.get(paired).copied().unwrap_or(1);
        let inner = shape.get(paired + 1..).unwrap_or_default().iter().product();
        // Pairs of an even dimension need no other rows.
        (if size.is_multiple_of(2) { 2 } else { size }, inner)
    }
}

impl Kernel for RandomBitsKernel {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let &[state] = operands else { return Err(TensorError::OutOfBounds) };
        if results.len() != self.results.len() {
            return Err(TensorError::OutOfBounds);
        }
        for (number, result) in self.results.iter().zip(results) {
            match number {
                0 => self.run_state(state, result)?,
                _ => self.run(state, result)?,
            }
        }
        Ok(())
    }
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
