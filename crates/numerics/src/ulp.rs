//! Distances between floating-point numbers, in units in the last place.

use crate::element::{ComplexElement, Float};
use crate::{FloatFormat, Tensor, TensorError, dispatch};

/// The number of steps between adjacent numbers of the type from one to the other. Equal bits, two
/// NaNs, and zeros of different signs are zero apart. An infinity or NaN is [`u64::MAX`] apart from
/// anything else.
pub fn ulp_distance<T: Float>(x: T, y: T) -> u64 {
    if x.to_raw() == y.to_raw() || (x.is_nan() && y.is_nan()) {
        return 0;
    }
    if !x.is_finite() || !y.is_finite() {
        return u64::MAX;
    }
    let sign = T::FORMAT.sign_mask();
    let (x_ulps, y_ulps) = (x.to_raw() & !sign, y.to_raw() & !sign);
    if (x.to_raw() ^ y.to_raw()) & sign != 0 { x_ulps + y_ulps } else { x_ulps.abs_diff(y_ulps) }
}

/// The distance between adjacent numbers of a format around a real number.
pub fn unit_in_the_last_place(x: f64, format: &FloatFormat) -> f64 {
    let exponent = match (x.to_bits() >> 52 & 0x7ff) as i32 {
        _ if x == 0.0 || !x.is_finite() => format.min_exponent(),
        0 => libm::ilogb(x).max(format.min_exponent()),
        biased => (biased - 1023).max(format.min_exponent()),
    };
    let exponent = exponent - format.mantissa_bits as i32;
    match exponent >= -1022 {
        true => f64::from_bits(((exponent + 1023) as u64) << 52),
        false => libm::scalbn(1.0, exponent),
    }
}

/// The distance of every pair of elements, in row-major order; of complex numbers, that of the
/// parts that are further apart.
///
/// # Errors
/// If element types or shapes differ, or the elements are neither floating-point nor complex
/// numbers.
pub fn ulp_distances(lhs: &Tensor, rhs: &Tensor) -> Result<Vec<u64>, TensorError> {
    let dtype = lhs.dtype();
    if dtype != rhs.dtype() {
        return Err(TensorError::DType { expected: dtype, found: rhs.dtype() });
    }
    if lhs.shape() != rhs.shape() {
        return Err(TensorError::Shape { lhs: lhs.shape().to_vec(), rhs: rhs.shape().to_vec() });
    }
    dispatch!(
        dtype,
        [float] T => {
            let pairs = lhs.as_slice::<T>()?.iter().zip(rhs.as_slice::<T>()?);
            Ok(pairs.map(|(&x, &y)| ulp_distance(x, y)).collect())
        },
        else dispatch!(
            dtype,
            [complex] T => {
                let pairs = lhs.as_slice::<T>()?.iter().zip(rhs.as_slice::<T>()?);
                let distance = |x: T, y: T| ulp_distance(x.re(), y.re()).max(ulp_distance(x.im(), y.im()));
                Ok(pairs.map(|(&x, &y)| distance(x, y)).collect())
            },
            else Err(TensorError::Unsupported { op: "ulp_distances", dtype })
        )
    )
}
