//! Generated tensors.

use numerics::{DType, Number, Tensor, TensorError, dispatch_all};
use std::ops::Range;

/// A tensor whose element at each position, in row-major order, is `value` of that, converted.
///
/// # Errors
/// If there is no memory.
pub fn generated(
    dtype: DType,
    shape: &[usize],
    mut value: impl FnMut(usize) -> f64,
) -> Result<Tensor, TensorError> {
    let mut tensor = Tensor::zeros(dtype, shape)?;
    fn fill<T: Number>(
        tensor: &mut Tensor,
        value: &mut dyn FnMut(usize) -> f64,
    ) -> Result<(), TensorError> {
        // Converted through i64, so that integers wrap around instead of saturating.
        let number =
            |x: f64| if x.fract() == 0.0 { T::from_i64(x as i64) } else { T::from_float(x) };
        tensor.make_mut::<T>()?.iter_mut().enumerate().for_each(|(i, x)| *x = number(value(i)));
        Ok(())
    }
    dispatch_all!(dtype, T => fill::<T>(&mut tensor, &mut value))?;
    Ok(tensor)
}

/// A tensor of numbers that follow from the seed (SplitMix64): floats from `floats`, integers from
/// 0 to 7, booleans. Both parts of complex numbers are random.
///
/// # Errors
/// If there is no memory.
pub fn random(
    dtype: DType,
    shape: &[usize],
    seed: u64,
    floats: Range<f64>,
) -> Result<Tensor, TensorError> {
    let mut state = seed;
    let parts = if dtype.is_complex() { [shape, &[2]].concat() } else { shape.to_vec() };
    let next = |_| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        let unit = (z >> 11) as f64 / (1u64 << 53) as f64;
        match dtype {
            DType::I1 | DType::I2 | DType::U2 => (unit * 2.0).floor(),
            _ if dtype.is_integer() => (unit * 8.0).floor(),
            _ => floats.start + unit * (floats.end - floats.start),
        }
    };
    let numbers = generated(dtype.part(), &parts, next)?;
    Tensor::from_bytes(dtype, shape, numbers.bytes().clone())
}
