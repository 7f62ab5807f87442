//! Counter-based random number generators, bit for bit as XLA runs them.
//!
//! Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), for the functions; XLA on CPU for how
//! the state is counted up and how words are spread over a tensor.

use mlir::eval::EvalError;
use numerics::math::{self, BinaryOp, UnaryOp};
use numerics::shape::{Indices, num_elements, strides};
use numerics::{Bytes, DType, Tensor};

/// Which function turns a counter and a key into random words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Threefry-2x32 with 20 rounds. The state is a key and a 64-bit counter.
    ThreeFry,
    /// Philox-4x32 with 10 rounds. The state is a key and a 64-bit counter, above which the key stands once more, or a
    /// key and a 128-bit counter, low half first.
    Philox,
}

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
    let count = num_elements(shape).filter(|n| isize::try_from(n.saturating_mul(16)).is_ok()).ok_or_else(too_large)?;
    // Refuses what does not fit into memory.
    Tensor::zeros(dtype, shape)?;
    let wide = match dtype.bytes() {
        _ if dtype.is_complex() => None,
        1 | 2 | 4 => Some(false),
        8 => Some(true),
        _ => None,
    };
    let wide = wide.ok_or_else(|| EvalError::new("rng_bit_generator", format!("no random bits of type {dtype}")))?;
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
        _ => words.chunks_exact(2).flat_map(|w| (u64::from(w[1]) << 32 | u64::from(w[0])).to_ne_bytes()).collect(),
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

/// One word for each element of a shape, and how many counters that took.
///
/// One dimension is divided into pairs of indices: the first that is even, else the largest. There is a counter for each
/// index of the shape of the pairs, and the two words of a pair are for its two indices. The last pair of an odd size
/// gives one word away.
fn threefry_words(key: u64, counter: u64, shape: &[usize], count: usize) -> (usize, Vec<u32>) {
    if count == 0 {
        return (0, Vec::new());
    }
    let shape = if shape.is_empty() { &[1] } else { shape };
    let even = shape.iter().position(|size| size % 2 == 0);
    let largest = || (0..shape.len()).rev().max_by_key(|&d| shape[d]);
    let paired = even.or_else(largest).unwrap_or(0);
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

/// The counter after, and `count` words, four for each counter.
fn philox_words(key: u64, counter: u128, count: usize) -> (u128, Vec<u32>) {
    let blocks = count.div_ceil(4);
    let mut words = Vec::with_capacity(4 * blocks);
    words.extend((0..blocks as u128).flat_map(|i| philox(halves(key), counter.wrapping_add(i))));
    words.truncate(count);
    (counter.wrapping_add(blocks as u128), words)
}

/// How random numbers are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// All in an interval are equally likely; the upper end is not in it.
    Uniform,
    /// Normal, with a mean and a standard deviation.
    Normal,
}

/// Random numbers of the type of `a`: uniform from `a` up to `b`, or normal with mean `a` and standard deviation `b`. `next`
/// gives the key and counter of a Philox generator and counts so many blocks on.
///
/// Random bits become numbers as XLA's `RngExpander` makes them: floats from the high bits, integers by a remainder, normal
/// ones by the transform of Box and Muller. Floats of at most 32 bits are computed as `f32`.
///
/// # Errors
/// For complex numbers, normal integers, and shapes that do not fit into memory.
pub fn random_numbers(
    distribution: Distribution,
    a: &Tensor,
    b: &Tensor,
    shape: &[usize],
    next: &mut dyn FnMut(u64) -> (u64, u128),
) -> Result<Tensor, EvalError> {
    let dtype = a.dtype();
    let too_large = || EvalError::new("rng", format!("shape {shape:?} is too large"));
    let count = num_elements(shape).filter(|n| isize::try_from(n.saturating_mul(16)).is_ok()).ok_or_else(too_large)?;
    // Refuses what does not fit into memory.
    Tensor::zeros(dtype, shape)?;
    let wide = dtype.bits() == 64;
    let mut bits = |count: usize| -> Result<Tensor, EvalError> {
        let words = if wide { 2 * count } else { count };
        let (key, counter) = next(words.div_ceil(4) as u64);
        let (_, words) = philox_words(key, counter, words);
        if !wide {
            return Ok(Tensor::from_vec([count], words)?);
        }
        let pairs = words.chunks_exact(2).map(|w| u64::from(w[1]) << 32 | u64::from(w[0]));
        Ok(Tensor::from_vec([count], pairs.collect())?)
    };
    if dtype.is_float() {
        let computed = if wide { DType::F64 } else { DType::F32 };
        let scalar = |x: f64| math::convert(Tensor::scalar(x), computed);
        let mut unit = |count: usize| -> Result<Tensor, EvalError> {
            let (drop, mantissa) = if wide { (Tensor::scalar(12u64), 52) } else { (Tensor::scalar(9u32), 23) };
            let high = math::binary(BinaryOp::ShiftRightLogical, bits(count)?, drop)?;
            let scale = scalar(2f64.powi(-mantissa))?;
            Ok(math::binary(BinaryOp::Multiply, math::convert(high, computed)?, scale)?)
        };
        let [a, b] = [math::convert(a.clone(), computed)?, math::convert(b.clone(), computed)?];
        let (values, scale, start) = match distribution {
            Distribution::Uniform => (unit(count)?, math::binary(BinaryOp::Subtract, b, a.clone())?, a),
            Distribution::Normal => {
                let pairs = count.div_ceil(2);
                let uniform = unit(2 * pairs)?;
                let half = |i: usize| super::slice(&uniform, &[i * pairs], &[(i + 1) * pairs], &[1]);
                // Very small numbers have no use for the logarithm.
                let radius = math::binary(BinaryOp::Maximum, half(0)?, scalar(1e-7)?)?;
                let radius = math::binary(BinaryOp::Multiply, math::unary(UnaryOp::Log, radius)?, scalar(-2.0)?)?;
                let radius = math::unary(UnaryOp::Sqrt, radius)?;
                let angle = math::binary(BinaryOp::Multiply, half(1)?, scalar(std::f64::consts::TAU)?)?;
                let sines = math::unary(UnaryOp::Sine, angle.clone())?;
                let sines = math::binary(BinaryOp::Multiply, sines, radius.clone())?;
                let cosines = math::binary(BinaryOp::Multiply, math::unary(UnaryOp::Cosine, angle)?, radius)?;
                let normal = super::collective::concatenate(&[&sines, &cosines], 0)?;
                (super::slice(&normal, &[0], &[count], &[1])?, b, a)
            }
        };
        let scaled = math::binary(BinaryOp::Multiply, values, scale)?;
        let numbers = math::binary(BinaryOp::Add, scaled, start)?;
        return Ok(math::convert(numbers, dtype)?.into_shape(shape)?);
    }
    if distribution == Distribution::Normal || dtype.is_complex() {
        return Err(EvalError::new("rng_c2", format!("there are no such random numbers of type {dtype}")));
    }
    let unsigned = if wide { DType::U64 } else { DType::U32 };
    let first = |t: &Tensor| -> Result<i64, EvalError> { Ok(t.to_i64s()?.first().copied().unwrap_or(0)) };
    let (low, high) = (first(a)?, first(b)?);
    let range = high.wrapping_sub(low) as u64;
    if range == 0 {
        return Ok(a.broadcast_scalar(shape)?);
    }
    let range = math::convert(Tensor::scalar(range), unsigned)?;
    let offsets = math::binary(BinaryOp::Remainder, bits(count)?, range)?;
    let numbers: Vec<i64> = offsets.to_i64s()?.into_iter().map(|offset| low.wrapping_add(offset)).collect();
    Ok(math::convert(Tensor::from_vec(shape, numbers)?, dtype)?)
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
        let bits = vec![9236835810183407956u64, 16087790271692313299, 18212823393184779219, 2658481902456610144];
        assert_eq!(run(Generator::ThreeFry, &[1, 2], &[2, 2]), (vec![1, 6], bits));
    }

    #[test]
    fn known_answers_of_the_paper() {
        assert_eq!(threefry([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(philox([0, 0], 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 2], u128::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn philox_as_xla_counts() {
        let words = vec![0x7d34_a749u32, 0xa9b8_bbe8, 0x7ba4_23d7, 0x2fb3_24d9, 0x6cf9_23fe, 0xbadf_79c3, 0xecca_e2d7];
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
        assert_eq!((state, &words[..3]), (vec![1, 8], &[0x0296_e954, 0x802f_d53b, 0xed34_92d3][..]));
        assert_eq!(run::<u32>(Generator::ThreeFry, &[1, 2], &[]), (vec![1, 3], vec![0x0296_e954]));
        assert_eq!(run::<u32>(Generator::ThreeFry, &[1, 2], &[0, 3]), (vec![1, 2], vec![]));
    }

    #[test]
    fn numbers_are_distributed_as_asked() {
        let mut counter = 0u128;
        let mut next = |blocks: u64| {
            counter += u128::from(blocks);
            (7, counter - u128::from(blocks))
        };
        const N: usize = 40_001;
        let mut draw = |distribution, a: Tensor, b: Tensor| {
            let numbers = random_numbers(distribution, &a, &b, &[N], &mut next).unwrap();
            assert_eq!((numbers.dtype(), numbers.shape()), (a.dtype(), &[N][..]));
            let values = math::convert(numbers, DType::F64).unwrap().to_vec::<f64>().unwrap();
            let mean = values.iter().sum::<f64>() / N as f64;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / N as f64;
            let bounds = values.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (v.min(a), v.max(b)));
            (mean, variance, bounds)
        };
        // Five standard errors of 40,001 draws.
        let (mean, variance, (low, high)) = draw(Distribution::Uniform, Tensor::scalar(-1f32), Tensor::scalar(3f32));
        assert!((mean - 1.0).abs() < 0.03 && (variance - 16.0 / 12.0).abs() < 0.03, "{mean} {variance}");
        assert!(low >= -1.0 && high < 3.0, "{low} {high}");
        let (mean, variance, _) = draw(Distribution::Normal, Tensor::scalar(5f64), Tensor::scalar(2f64));
        assert!((mean - 5.0).abs() < 0.05 && (variance - 4.0).abs() < 0.15, "{mean} {variance}");
        let (mean, _, bounds) = draw(Distribution::Uniform, Tensor::scalar(-2i8), Tensor::scalar(2i8));
        assert!((mean + 0.5).abs() < 0.03 && bounds == (-2.0, 1.0), "{mean} {bounds:?}");
        assert!(
            random_numbers(Distribution::Normal, &Tensor::scalar(1i8), &Tensor::scalar(1i8), &[2], &mut next).is_err()
        );
    }

    #[test]
    fn bad_states_are_refused() {
        let state = Tensor::from_vec([3], vec![0u64; 3]).unwrap();
        assert!(random_bits(Generator::ThreeFry, &state, &[2], DType::U32).is_err());
        let state = Tensor::from_vec([2], vec![0u64; 2]).unwrap();
        assert!(random_bits(Generator::Philox, &state, &[usize::MAX], DType::U32).is_err());
        assert!(random_bits(Generator::Philox, &state, &[2], DType::C64).is_err());
    }
}
