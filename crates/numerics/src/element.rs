//! Traits of the Rust types of elements.
//!
//! Operations carry StableHLO's names, so that they do not collide with the inherent methods of the
//! primitive types, and have StableHLO's meaning for every value.

use crate::{DType, FloatFormat};
use bytemuck::Pod;
use std::fmt::Debug;

/// A Rust type whose values are the elements of tensors of one [`DType`].
///
/// Equality is that of the numbers: NaN differs from itself and zeros are equal.
pub trait Element: Pod + Default + PartialEq + Debug + Send + Sync + 'static {
    /// The element type that this Rust type stands for.
    const DTYPE: DType;
    /// Zero, or `false`. The smallest number in a format without zero.
    const ZERO: Self;
    /// One, or `true`.
    const ONE: Self;

    /// The element with the bits of its storage that lie outside of the type's width cleared (or
    /// made copies of the sign, for signed integers).
    fn canonical(self) -> Self {
        self
    }
}

/// Operations of every element type. For booleans, addition and maximum are `or`, multiplication
/// and minimum are `and`.
pub trait Number: Element {
    /// The sum; integers wrap around.
    fn add(self, rhs: Self) -> Self;
    /// The product; integers wrap around.
    fn multiply(self, rhs: Self) -> Self;
    /// The larger one. NaN wins, and `+0` is larger than `-0`; complex numbers compare
    /// lexicographically.
    fn maximum(self, rhs: Self) -> Self;
    /// The smaller one. NaN wins, and `-0` is smaller than `+0`; complex numbers compare
    /// lexicographically.
    fn minimum(self, rhs: Self) -> Self;

    /// Conversion from a floating-point number: rounded to nearest even for floating-point types;
    /// truncated and saturated for integers, NaN to zero; `value != 0` for booleans. The name is
    /// not `from_f64`, because that of `half`'s types rounds twice and would take precedence.
    fn from_float(value: f64) -> Self;
    /// Conversion from an integer: rounded to nearest even for floating-point types; wrapped for
    /// integers; `value != 0` for booleans.
    fn from_i64(value: i64) -> Self;
    /// Conversion from an unsigned integer, otherwise as [`Number::from_i64`].
    fn from_u64(value: u64) -> Self;
}

/// The arithmetic of all types but booleans.
pub trait Arithmetic: Number {
    /// The difference; integers wrap around.
    fn subtract(self, rhs: Self) -> Self;
    /// The quotient. Integers truncate; division by zero gives all ones, and the smallest integer
    /// divided by -1 gives itself.
    fn divide(self, rhs: Self) -> Self;
    /// The number with the opposite sign; integers wrap around.
    fn negate(self) -> Self;
}

/// Numbers with a remainder: integers and floating-point numbers.
pub trait Real: Arithmetic + PartialOrd {
    /// The remainder of the truncating division, with the sign of `self`. An integer modulo zero is
    /// itself.
    fn remainder(self, rhs: Self) -> Self;
    /// The absolute value; that of the smallest integer is itself.
    fn abs(self) -> Self;
    /// -1, 0 or 1 with the sign of the number; zeros and NaN give themselves.
    fn sign(self) -> Self;
    /// The number raised to a power. For integers: modulo the range of the type; a negative
    /// exponent gives the power of 1 and -1, and 0 for every other base.
    fn power(self, exponent: Self) -> Self;
}

/// Bitwise logic: booleans and integers.
pub trait Bitwise: Number + Eq + Ord {
    /// Bitwise and.
    fn and(self, rhs: Self) -> Self;
    /// Bitwise or.
    fn or(self, rhs: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, rhs: Self) -> Self;
    /// Bitwise complement.
    fn not(self) -> Self;
}

/// Integers of two to 64 bits.
pub trait Integer: Real + Bitwise {
    /// The width in bits.
    const BITS: u32;
    /// True for signed integers.
    const SIGNED: bool;
    /// The smallest integer.
    const MIN: Self;
    /// The largest integer.
    const MAX: Self;

    /// The integer.
    fn to_i128(self) -> i128;
    /// The integer that equals `value` modulo two to the power of [`Integer::BITS`].
    fn from_i128(value: i128) -> Self;
    /// The bits moved up by `amount`, which is read as unsigned. Zero from the width on.
    fn shift_left(self, amount: Self) -> Self;
    /// The bits moved down by `amount`, which is read as unsigned, and copies of the top bit moved
    /// in. Only the bits from the width on.
    fn shift_right_arithmetic(self, amount: Self) -> Self;
    /// The bits moved down by `amount`, which is read as unsigned, and zeros moved in. Zero from
    /// the width on.
    fn shift_right_logical(self, amount: Self) -> Self;
    /// The number of one bits.
    fn popcnt(self) -> Self;
    /// The number of zero bits above the topmost one.
    fn count_leading_zeros(self) -> Self;
}

/// Floating-point numbers.
pub trait Float: Real {
    /// The layout of the type.
    const FORMAT: FloatFormat;

    /// The encoding, in the low bits.
    fn to_raw(self) -> u64;
    /// The number with this encoding. Bits above the width are ignored.
    fn from_raw(raw: u64) -> Self;
    /// The number, exactly.
    fn to_f64(self) -> f64;

    /// True for NaN.
    fn is_nan(self) -> bool {
        Self::FORMAT.is_nan(self.to_raw())
    }

    /// True if neither infinite nor NaN.
    fn is_finite(self) -> bool {
        self.to_f64().is_finite()
    }
}

/// Complex numbers.
pub trait ComplexElement: Arithmetic {
    /// The type of the real and of the imaginary part.
    type Part: Float;

    /// The number with these parts.
    fn from_parts(re: Self::Part, im: Self::Part) -> Self;
    /// The real part.
    fn re(self) -> Self::Part;
    /// The imaginary part.
    fn im(self) -> Self::Part;
}

/// A wider integer as an `f64` that leaves the rounding to a narrower format open: truncated, with
/// the last bit set where anything was cut off (rounding to odd). Rounding this to a format of at
/// most 51 significant bits is rounding the integer.
pub(crate) fn u64_to_f64_sticky(value: u64) -> f64 {
    let cut = (64 - value.leading_zeros()).saturating_sub(53);
    let kept = value >> cut << cut;
    let sticky = if kept == value { 0 } else { 1 << cut };
    (kept | sticky) as f64
}
