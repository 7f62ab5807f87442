//! Functions of real numbers in `f64`, and of elements of one floating-point type.

use crate::Float;

/// The inverse hyperbolic cosine; NaN below 1.
pub fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The logarithm of the absolute value of the gamma function.
pub fn lgamma(x: f64) -> f64 {
    if x.is_infinite() { f64::INFINITY } else { libm::lgamma(x) }
}

/// The number of the type next to `from` in the direction of `to`; `to` itself if they are equal.
pub fn next_after<T: Float>(from: T, to: T) -> T {
    if from.is_nan() || to.is_nan() {
        return T::from_float(f64::NAN);
    }
    if from == to {
        return to;
    }
    let sign = T::FORMAT.sign_mask();
    let magnitude = from.to_raw() & !sign;
    if from == T::ZERO && magnitude == 0 && sign != 0 {
        return T::from_raw(if to < from { sign | 1 } else { 1 });
    }
    let is_negative = from.to_raw() & sign != 0;
    let is_outward = (from < to) != is_negative;
    match magnitude {
        1 if !is_outward && sign != 0 => T::from_float(if is_negative { -0.0 } else { 0.0 }),
        _ if is_outward => T::from_raw(from.to_raw() + 1),
        _ => T::from_raw(from.to_raw() - 1),
    }
}
