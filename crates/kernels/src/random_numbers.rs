//! Random numbers of a distribution, bit for bit as XLA computes them on CPU.
//!
//! Source: XLA, for how ops get their generators and how random bits become numbers. What it
//! compiles on x86-64 also contracts a product and a sum into one rounding, and takes the logarithm
//! of `f32` from Cephes, sine and cosine from glibc.

use super::philox;
use super::rng::paired_dimension;
use numerics::math::{self, UnaryOp};
use numerics::shape::num_elements;
use numerics::{DType, Element, Tensor};
use program::EvalError;
use program::operands::slice;
use program::primitives::RandomDistribution;

/// The Philox generator of one run of an op: its key and its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: u64,
    counter: u128,
}

impl Stream {
    /// The stream of op number `op` in XLA's compile order, after runs that took `units` units of
    /// 32 bits.
    ///
    /// XLA draws half of a key from a generator of the module, the other from one of the process.
    /// Each op has a separate counter.
    pub fn new(op: usize, units: u128) -> Stream {
        const MODULE_SEED: u64 = 42;
        const PROCESS_SEED: u64 = 8;
        const FIRST_COUNTER: u128 = 0x0701_2395;
        let key = |seed| mersenne_twister(seed).nth(op).unwrap_or_default();
        Stream {
            key: key(MODULE_SEED) ^ key(PROCESS_SEED),
            counter: FIRST_COUNTER.wrapping_add(units),
        }
    }

    fn words(self, count: usize) -> Vec<u32> {
        let mut words = vec![0; count];
        philox::fill(self.key, self.counter, &mut words);
        words
    }

    fn wide_words(self, count: usize) -> Vec<u64> {
        self.words(2 * count)
            .chunks_exact(2)
            .map(|w| u64::from(w[1]) << 32 | u64::from(w[0]))
            .collect()
    }
}

/// The type in which numbers of a type are computed.
fn computed(dtype: DType) -> DType {
    match (dtype.is_float(), dtype.bits() == 64) {
        (true, true) => DType::F64,
        (true, false) => DType::F32,
        (false, true) => DType::U64,
        (false, false) => DType::U32,
    }
}

/// Number of units of 32 bits that numbers of the given shape and type take from the state of an
/// op.
pub(crate) fn random_units(shape: &[usize], dtype: DType) -> u64 {
    let count = num_elements(shape).unwrap_or(usize::MAX) as u64;
    count.saturating_mul(computed(dtype).bits() as u64 / 32)
}

/// Random numbers of the type of `a`: uniform from `a` up to `b`, or normal with mean `a` and
/// standard deviation `b`.
///
/// All bits are XLA's for integers of 32 and 64 bits and uniform `f16`, `bf16`, `f32` and `f64`,
/// and for normal numbers of at most 32 bits. Normal numbers of `f64` have the same random bits,
/// but may differ from XLA's by few units in the last place, as logarithm, sine and cosine do. XLA
/// has no other types; they are computed in `f32` or `ui32` and converted. A standard deviation of
/// 1 is taken for a constant, which XLA does not multiply by.
///
/// # Errors
/// For complex numbers, normal integers, and shapes that do not fit into memory.
pub(crate) fn random_numbers(
    distribution: RandomDistribution,
    a: &Tensor,
    b: &Tensor,
    shape: &[usize],
    stream: Stream,
) -> Result<Tensor, EvalError> {
    let dtype = a.dtype();
    let too_large = || EvalError::new("rng", format!("shape {shape:?} is too large"));
    let count = num_elements(shape)
        .filter(|n| isize::try_from(n.saturating_mul(16)).is_ok())
        .ok_or_else(too_large)?;
    // Refuses what does not fit into memory.
    Tensor::zeros(dtype, shape)?;
    if dtype.is_complex() || (distribution == RandomDistribution::Normal && !dtype.is_float()) {
        return Err(EvalError::new(
            "rng_c2",
            format!("there are no such random numbers of type {dtype}"),
        ));
    }
    let computed = computed(dtype);
    let [a, b] = [math::convert(a.clone(), computed)?, math::convert(b.clone(), computed)?];
    let numbers = match (distribution, computed) {
        (RandomDistribution::Uniform, DType::U32) => {
            let (a, b) = (scalar::<u32>(&a)?, scalar::<u32>(&b)?);
            let range = b.wrapping_sub(a);
            let number = |bits: u32| a.wrapping_add(bits.checked_rem(range).unwrap_or(bits));
            Tensor::from_vec([count], stream.words(count).into_iter().map(number).collect())?
        }
        (RandomDistribution::Uniform, DType::U64) => {
            let (a, b) = (scalar::<u64>(&a)?, scalar::<u64>(&b)?);
            let range = b.wrapping_sub(a);
            let number = |bits: u64| a.wrapping_add(bits.checked_rem(range).unwrap_or(bits));
            Tensor::from_vec([count], stream.wide_words(count).into_iter().map(number).collect())?
        }
        (RandomDistribution::Uniform, DType::F32) => {
            let (a, b) = (scalar::<f32>(&a)?, scalar::<f32>(&b)?);
            let number = |bits| unit(bits).mul_add(b - a, a);
            Tensor::from_vec([count], stream.words(count).into_iter().map(number).collect())?
        }
        (RandomDistribution::Uniform, _) => {
            let (a, b) = (scalar::<f64>(&a)?, scalar::<f64>(&b)?);
            let number = |bits| wide_unit(bits).mul_add(b - a, a);
            Tensor::from_vec([count], stream.wide_words(count).into_iter().map(number).collect())?
        }
        (RandomDistribution::Normal, DType::F32) => {
            normal(scalar(&a)?, scalar(&b)?, shape, stream)?
        }
        (RandomDistribution::Normal, _) => wide_normal(scalar(&a)?, scalar(&b)?, shape, stream)?,
    };
    Ok(math::convert(numbers.into_shape(shape)?, dtype)?)
}

/// Normal numbers of `f32`.
fn normal(mean: f32, deviation: f32, shape: &[usize], stream: Stream) -> Result<Tensor, EvalError> {
    // With a standard deviation of 1 the product that is contracted with the sum is another
    // one.
    let number = |x: f32, y: f32| {
        if deviation == 1.0 { x.mul_add(y, mean) } else { deviation.mul_add(x * y, mean) }
    };
    let pairs = PairedShape::of(shape);
    let uniform: Vec<f32> = stream.words(pairs.count()).into_iter().map(unit).collect();
    pairs.map(&uniform, |u, v| {
        let radii: Vec<f32> = u.into_iter().map(|u| (-2.0 * log(u.max(1e-7))).sqrt()).collect();
        let angles = v.into_iter().map(|v| sine_and_cosine(std::f32::consts::TAU * v));
        Ok(radii.into_iter().zip(angles).map(|(r, [s, c])| [number(s, r), number(c, r)]).collect())
    })
}

/// Normal numbers of `f64`.
fn wide_normal(
    mean: f64,
    deviation: f64,
    shape: &[usize],
    stream: Stream,
) -> Result<Tensor, EvalError> {
    let pairs = PairedShape::of(shape);
    let uniform: Vec<f64> = stream.wide_words(pairs.count()).into_iter().map(wide_unit).collect();
    let number = |x: f64, y: f64| {
        if deviation == 1.0 { x.mul_add(y, mean) } else { deviation.mul_add(x * y, mean) }
    };
    let function = |op, operands: Vec<f64>| -> Result<Vec<f64>, EvalError> {
        Ok(math::unary(op, Tensor::from_vec([operands.len()], operands)?)?.to_vec()?)
    };
    pairs.map(&uniform, |u, v| {
        let logs =
            function(UnaryOp::Log, u.into_iter().map(|u| u.max(f64::from(1e-7f32))).collect())?;
        let angles: Vec<f64> = v.into_iter().map(|v| std::f64::consts::TAU * v).collect();
        let (sines, cosines) =
            (function(UnaryOp::Sine, angles.clone())?, function(UnaryOp::Cosine, angles)?);
        let radii = logs.into_iter().map(|log| (-2.0 * log).sqrt());
        let angles = sines.into_iter().zip(cosines);
        Ok(radii.zip(angles).map(|(r, (s, c))| [number(s, r), number(c, r)]).collect())
    })
}

fn scalar<T: Element>(tensor: &Tensor) -> Result<T, EvalError> {
    tensor
        .as_slice::<T>()?
        .first()
        .copied()
        .ok_or_else(|| EvalError::new("rng", "a and b must be scalars"))
}

/// The high bits as a number from 0 up to 1.
fn unit(bits: u32) -> f32 {
    (bits >> 9) as f32 / (1 << 23) as f32
}

/// The high bits as a number from 0 up to 1.
fn wide_unit(bits: u64) -> f64 {
    (bits >> 12) as f64 / (1u64 << 52) as f64
}

/// A shape of which one dimension is divided into pairs of neighbors; if its size is odd, the last
/// has a neighbor outside.
struct PairedShape<'s> {
    shape: &'s [usize],
    dimension: usize,
    whole: Vec<usize>,
}

impl PairedShape<'_> {
    fn of(shape: &[usize]) -> PairedShape<'_> {
        let dimension = paired_dimension(shape);
        let mut whole = if shape.is_empty() { vec![1] } else { shape.to_vec() };
        whole[dimension] = whole[dimension].next_multiple_of(2);
        PairedShape { shape, dimension, whole }
    }

    /// Number of elements, the neighbors outside included.
    fn count(&self) -> usize {
        // On overflow, the product is that of no elements.
        self.whole.iter().fold(1, |n: usize, &size| n.saturating_mul(size))
    }

    /// Maps all pairs, whose first and second elements are separate.
    fn map<T: Element>(
        &self,
        elements: &[T],
        f: impl FnOnce(Vec<T>, Vec<T>) -> Result<Vec<[T; 2]>, EvalError>,
    ) -> Result<Tensor, EvalError> {
        let after = self.whole[self.dimension + 1..].iter();
        let stride = after.fold(1usize, |n, &size| n.saturating_mul(size));
        let first = |at: &usize| (at / stride).is_multiple_of(2);
        let firsts: Vec<usize> = (0..elements.len()).filter(first).collect();
        let part = |offset: usize| firsts.iter().map(|at| elements[at + offset]).collect();
        let mut results = elements.to_vec();
        for (at, [first, second]) in firsts.iter().zip(f(part(0), part(stride))?) {
            results[*at] = first;
            results[at + stride] = second;
        }
        let limits = if self.shape.is_empty() { &[1] } else { self.shape };
        let whole = Tensor::from_vec(&self.whole[..], results)?;
        slice(&whole, &vec![0; limits.len()], limits, &vec![1; limits.len()])
    }
}

/// The natural logarithm of a positive normal number as Cephes computes it, with contracted
/// products.
fn log(x: f32) -> f32 {
    const EXPONENT_OF_HALF: u32 = 0x3F00_0000;
    let bits = x.to_bits();
    let exponent = ((bits >> 23) as i32 - 126) as f32;
    let mantissa = f32::from_bits(bits & 0x007F_FFFF | EXPONENT_OF_HALF);
    let (x, exponent) = if mantissa < std::f32::consts::FRAC_1_SQRT_2 {
        (mantissa - 1.0 + mantissa, exponent - 1.0)
    } else {
        (mantissa - 1.0, exponent)
    };
    // Three polynomials in x, one for each class of powers by their remainder of division by 3.
    let low = x.mul_add(7.037_683_6e-2, -1.151_461e-1).mul_add(x, 1.167_699_84e-1);
    let middle = x.mul_add(-1.242_014_1e-1, 1.424_932_3e-1).mul_add(x, -1.666_805_7e-1);
    let high = x.mul_add(2.000_071_4e-1, -2.499_999_4e-1).mul_add(x, 3.333_333e-1);
    let (square, cube) = (x * x, x * x * x);
    let tail =
        low.mul_add(cube, middle).mul_add(cube, high).mul_add(cube, exponent * -2.121_944_4e-4);
    exponent.mul_add(0.693_359_4, x - 0.5 * square + tail)
}

/// Sine and cosine of an angle from 0 to 2 pi as glibc computes them: polynomials of double
/// precision around multiples of a right angle.
fn sine_and_cosine(angle: f32) -> [f32; 2] {
    let x = f64::from(angle);
    let quadrant = (x * std::f64::consts::FRAC_2_PI).round();
    let x = x - quadrant * std::f64::consts::FRAC_PI_2;
    let x2 = x * x;
    let (x3, x4) = (x * x2, x2 * x2);
    let sine = (x + x3 * -0.166_666_549_437_010_84)
        + x3 * x2 * (0.008_332_178_146_138_854 + x2 * -0.000_195_172_989_813_857_25);
    let cosine = (1.0 + x2 * -0.499_999_997_251_082_24 + x4 * 0.041_666_623_324_344_516)
        + x4 * x2 * (-0.001_388_676_379_437_604 + x2 * 2.439_045_070_356_454_2e-5);
    let [sine, cosine] = [sine as f32, cosine as f32];
    match quadrant as u32 % 4 {
        0 => [sine, cosine],
        1 => [cosine, -sine],
        2 => [-sine, -cosine],
        _ => [-cosine, sine],
    }
}

/// The numbers of the 64-bit Mersenne Twister of Matsumoto and Nishimura.
fn mersenne_twister(seed: u64) -> impl Iterator<Item = u64> {
    const N: usize = 312;
    const LOW: u64 = (1 << 31) - 1;
    let next = |&(at, last): &(u64, u64)| {
        (at + 1, (last ^ last >> 62).wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(at))
    };
    let mut state: Vec<u64> =
        std::iter::successors(Some((1, seed)), |s| Some(next(s))).map(|s| s.1).take(N).collect();
    let mut at = 0;
    std::iter::from_fn(move || {
        let joined = state[at] & !LOW | state[(at + 1) % N] & LOW;
        state[at] =
            state[(at + N / 2) % N] ^ (joined >> 1) ^ ((joined & 1) * 0xB502_6F5A_A966_19E9);
        let mut x = state[at];
        at = (at + 1) % N;
        x ^= x >> 29 & 0x5555_5555_5555_5555;
        x ^= x << 17 & 0x71D6_7FFF_EDA6_0000;
        x ^= x << 37 & 0xFFF7_EEE0_0000_0000;
        Some(x ^ x >> 43)
    })
}
