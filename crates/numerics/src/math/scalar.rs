//! Functions of one or two real numbers in `f64`.

/// `base` raised to `exponent`, as IEEE 754's `pow`.
pub fn power(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}
