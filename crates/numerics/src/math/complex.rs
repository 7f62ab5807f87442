//! Functions of complex numbers in `f64` parts.

use num_complex::Complex;

/// A complex number with `f64` parts.
pub type Complex64 = Complex<f64>;

/// The same number with `f64` parts.
pub fn widen<T: Into<f64>>(z: Complex<T>) -> Complex64 {
    Complex::new(z.re.into(), z.im.into())
}

/// The number with each part rounded to the narrower type.
pub fn narrow<T: crate::Float>(z: Complex64) -> Complex<T> {
    Complex::new(T::from_f64(z.re), T::from_f64(z.im))
}

/// The quotient.
pub fn divide(lhs: Complex64, rhs: Complex64) -> Complex64 {
    lhs / rhs
}
