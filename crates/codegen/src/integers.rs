//! Quotients of integers, for which processors have no vector instructions.

use crate::elementwise::{Chunk, Lowering, greater8};
use crate::ops::{IntegerRounding, Op};
use crate::vector::{Value, VectorFunction};
use numerics::DType;

impl Lowering<'_> {
    /// Quotients of integers of four or eight bytes, rounded towards zero: -1, all ones, by zero,
    /// and the smallest number by -1 is itself.
    pub(crate) fn quotient(&mut self, dtype: DType, x: Chunk, y: Chunk) -> Option<Chunk> {
        // A remainder of the same numbers needs them again.
        if let Some(&quotient) = self.code.quotients.get(&(dtype, x, y)) {
            return Some(quotient);
        }
        let quotient = match dtype.bytes() {
            4 => self.quotient4(dtype, x, y)?,
            _ => self.zip(x, y, |code, x, y| quotient8(code, dtype, x, y))?,
        };
        self.code.quotients.insert((dtype, x, y), quotient);
        Some(quotient)
    }

    fn quotient4(&mut self, dtype: DType, x: Chunk, y: Chunk) -> Option<Chunk> {
        let Chunk::Four(divisors) = y else { return None };
        let divisor = self.code.known4(divisors).filter(|&bits| bits != 0);
        let divisor = divisor.map(|bits| match dtype {
            DType::U32 => i64::from(bits),
            _ => i64::from(bits as i32),
        });
        if let (Some(divisor), Chunk::Four(x)) = (divisor, x)
            && let Ok(power @ 1..) = u32::try_from(divisor)
            && power.is_power_of_two()
        {
            return Some(Chunk::Four(shifted(self.code, dtype, x, power.trailing_zeros())));
        }
        // Integers of 32 bits are exact as `f64`, and the distance of a quotient from an integer is
        // at least the inverse of the divisor, much more than the rounding error.
        let wide = self.convert(dtype, DType::F64, x)?;
        let quotient = match divisor {
            Some(divisor) => {
                // Not less than the quotient, so that one that is an integer stays so.
                let inverse = (1.0 + 4.0 * f64::EPSILON) / divisor as f64;
                let inverse = self.code.splat8(inverse.to_bits());
                self.pairs(Op::MultiplyF64, wide, Chunk::Eight([inverse; 2]))?
            }
            None => {
                let divisors = self.convert(dtype, DType::F64, y)?;
                self.pairs(Op::DivideF64, wide, divisors)?
            }
        };
        // Added to an integer, it leaves its last bits in the sum.
        let offset = self.code.splat8((1.5 * (1u64 << 52) as f64).to_bits());
        let sum = self.map(quotient, |code, x| {
            let x = code.unary(Op::RoundF64(IntegerRounding::ToZero), x);
            code.pair(Op::AddF64, x, offset)
        });
        let Chunk::Eight(halves) = sum else { return None };
        let quotient = self.narrow(halves);
        if divisor.is_some() {
            return Some(Chunk::Four(quotient));
        }
        let zero = self.code.splat4(0);
        let by_zero = self.code.pair(Op::EqualI32, divisors, zero);
        Some(Chunk::Four(self.code.pair(Op::Or, quotient, by_zero)))
    }
}

/// Quotients of integers below 2^16 in absolute value, in lanes of four bytes, rounded towards
/// zero, and all ones by zero.
pub(crate) fn small_quotient(code: &mut VectorFunction, x: Value, y: Value) -> Value {
    // They are exact as `f32`, and the distance of a quotient from an integer is at least the
    // inverse of the divisor, more than the rounding errors.
    let wide = code.unary(Op::I32ToF32, x);
    let quotient = match code.known4(y).map(|bits| bits as i32).filter(|&divisor| divisor != 0) {
        Some(divisor) => {
            // Not less than the quotient, so that one that is an integer stays so.
            let inverse = (1.0 + 4.0 * f32::EPSILON) / divisor as f32;
            let inverse = code.splat4(inverse.to_bits());
            let quotient = code.pair(Op::MultiplyF32, wide, inverse);
            return code.unary(Op::F32ToI32, quotient);
        }
        None => {
            let divisors = code.unary(Op::I32ToF32, y);
            code.pair(Op::DivideF32, wide, divisors)
        }
    };
    let quotient = code.unary(Op::F32ToI32, quotient);
    let zero = code.splat4(0);
    let by_zero = code.pair(Op::EqualI32, y, zero);
    code.pair(Op::Or, quotient, by_zero)
}

/// Quotients in lanes of eight bytes, as [`Lowering::quotient`] has them.
fn quotient8(code: &mut VectorFunction, dtype: DType, x: Value, y: Value) -> Value {
    let is_signed = dtype == DType::I64;
    let zero = code.splat8(0);
    let signs = |code: &mut VectorFunction, x| code.pair(Op::GreaterI64, zero, x);
    // The absolute value of the smallest number is 2^63, without a sign.
    let with_sign = |code: &mut VectorFunction, x, sign| {
        let flipped = code.pair(Op::Xor, x, sign);
        code.pair(Op::SubtractI64, flipped, sign)
    };
    if let Some(divisor) = code.known8(y).filter(|&divisor| divisor != 0) {
        if !is_signed {
            return divided8(code, x, divisor, false);
        }
        let mut sign = signs(code, x);
        let magnitude = with_sign(code, x, sign);
        let quotient = divided8(code, magnitude, (divisor as i64).unsigned_abs(), true);
        if (divisor as i64) < 0 {
            let ones = code.splat8(u64::MAX);
            sign = code.pair(Op::Xor, sign, ones);
        }
        return with_sign(code, quotient, sign);
    }
    let by_zero = code.pair(Op::EqualI64, y, zero);
    let quotient = if is_signed {
        let [x_sign, y_sign] = [x, y].map(|x| signs(code, x));
        let (x, y) = (with_sign(code, x, x_sign), with_sign(code, y, y_sign));
        let quotient = unsigned_quotient8(code, x, y);
        let sign = code.pair(Op::Xor, x_sign, y_sign);
        with_sign(code, quotient, sign)
    } else {
        unsigned_quotient8(code, x, y)
    };
    code.pair(Op::Or, quotient, by_zero)
}

/// Quotients of numbers without a sign, of up to 2^63 if `is_half`, by a number other than zero.
fn divided8(code: &mut VectorFunction, x: Value, divisor: u64, is_half: bool) -> Value {
    if divisor > 1 << 63 {
        // One or zero: the mask of a smaller dividend is -1.
        let (one, divisor) = (code.splat8(1), code.splat8(divisor));
        let is_less = greater8(code, DType::U64, divisor, x);
        return code.pair(Op::AddI64, one, is_less);
    }
    let exponent = u64::BITS - (divisor - 1).leading_zeros();
    if divisor.is_power_of_two() {
        return match divisor.trailing_zeros() {
            0 => x,
            by => code.shift_right8(x, by as u8),
        };
    }
    // The quotient is that of the product with `factor`, which is the next integer above
    // `2^bits / divisor`, by `2^bits`: the rounding adds less than the inverse of the divisor.
    let bits = exponent + if is_half { 63 } else { 64 };
    // Of numbers of 64 bits, the factor has one bit more.
    let factor = (1u128 << bits) / u128::from(divisor) + 1;
    let high = high_product8(code, x, factor as u64);
    if is_half {
        return match bits - u64::BITS {
            0 => high,
            by => code.shift_right8(high, by as u8),
        };
    }
    let rest = code.pair(Op::SubtractI64, x, high);
    let half = code.shift_right8(rest, 1);
    let sum = code.pair(Op::AddI64, half, high);
    match exponent - 1 {
        0 => sum,
        by => code.shift_right8(sum, by as u8),
    }
}

/// The high eight bytes of products with a number.
fn high_product8(code: &mut VectorFunction, x: Value, factor: u64) -> Value {
    let [low, high] = [factor & LOW, factor >> 32].map(|part| code.splat8(part));
    let mask = code.splat8(LOW);
    let x_high = code.shift_right8(x, 32);
    let product = |code: &mut VectorFunction, x, y| code.pair(Op::MultiplyWideU32, x, y);
    let (lows, highs) = (product(code, x, low), product(code, x_high, high));
    let (first, second) = (product(code, x_high, low), product(code, x, high));
    let carry = code.shift_right8(lows, 32);
    let first = code.pair(Op::AddI64, first, carry);
    let carry = code.pair(Op::And, first, mask);
    let second = code.pair(Op::AddI64, second, carry);
    let [first, second] = [first, second].map(|sum| code.shift_right8(sum, 32));
    let sum = code.pair(Op::AddI64, highs, first);
    code.pair(Op::AddI64, sum, second)
}

/// The low half of a lane of eight bytes.
const LOW: u64 = u32::MAX as u64;

/// Quotients of numbers without a sign; any by zero.
fn unsigned_quotient8(code: &mut VectorFunction, x: Value, y: Value) -> Value {
    // The product with an inverse that is too small by 2^-49 is at most the quotient, and the
    // error is less than 2^16, so that a second step is too small by at most one.
    let [dividend, divisor] = [x, y].map(|x| unsigned_f64(code, x));
    let least = code.splat8((1.0 - 2f64.powi(-49)).to_bits());
    let inverse = code.pair(Op::DivideF64, least, divisor);
    let quotient = code.pair(Op::MultiplyF64, dividend, inverse);
    let [down, up] = [-32, 32].map(|exponent| code.splat8(2f64.powi(exponent).to_bits()));
    let high = code.pair(Op::MultiplyF64, quotient, down);
    let high = code.unary(Op::RoundF64(IntegerRounding::ToZero), high);
    let sign = code.splat8(1 << 63);
    let negative = code.pair(Op::Xor, high, sign);
    let low = code.multiply_add(Op::MultiplyAddF64, quotient, negative, up);
    let (high, low) = (low_bits(code, high), low_bits(code, low));
    let high = code.shift_left8(high, 32);
    let first = code.pair(Op::Or, high, low);
    let product = multiply8(code, first, y);
    let rest = code.pair(Op::SubtractI64, x, product);
    let second = unsigned_f64(code, rest);
    let second = code.pair(Op::MultiplyF64, second, inverse);
    let second = low_bits(code, second);
    let product = multiply8(code, second, y);
    let rest = code.pair(Op::SubtractI64, rest, product);
    let is_less = greater8(code, DType::U64, y, rest);
    let quotient = code.pair(Op::AddI64, first, second);
    let one = code.splat8(1);
    let quotient = code.pair(Op::AddI64, quotient, one);
    // The mask is -1.
    code.pair(Op::AddI64, quotient, is_less)
}

/// The products in lanes of eight bytes, modulo 2^64.
pub(crate) fn multiply8(code: &mut VectorFunction, x: Value, y: Value) -> Value {
    let low = code.pair(Op::MultiplyWideU32, x, y);
    let x_high = code.shift_right8(x, 32);
    let mut middle = code.pair(Op::MultiplyWideU32, x_high, y);
    if code.known8(y).is_none_or(|bits| bits >> 32 != 0) {
        let y_high = code.shift_right8(y, 32);
        let second = code.pair(Op::MultiplyWideU32, x, y_high);
        middle = code.pair(Op::AddI64, middle, second);
    }
    let high = code.shift_left8(middle, 32);
    code.pair(Op::AddI64, low, high)
}

/// The `f64` of an integer below 2^32 in a lane of eight bytes.
pub(crate) fn exact_f64(code: &mut VectorFunction, x: Value) -> Value {
    // The exponent of 2^52, whose last bit is 1.
    let offset = code.splat8(((1u64 << 52) as f64).to_bits());
    let x = code.pair(Op::Or, x, offset);
    code.pair(Op::SubtractF64, x, offset)
}

/// Numbers without a sign, rounded to `f64`.
fn unsigned_f64(code: &mut VectorFunction, x: Value) -> Value {
    // As the last bits of 2^84 and of 2^52.
    let [high_offset, low_offset] = [84, 52].map(|exponent| 2f64.powi(exponent));
    let difference = code.splat8((high_offset + low_offset).to_bits());
    let [high_offset, low_offset] = [high_offset, low_offset].map(|x| code.splat8(x.to_bits()));
    let mask = code.splat8(LOW);
    let high = code.shift_right8(x, 32);
    let high = code.pair(Op::Or, high, high_offset);
    let high = code.pair(Op::SubtractF64, high, difference);
    let low = code.pair(Op::And, x, mask);
    let low = code.pair(Op::Or, low, low_offset);
    code.pair(Op::AddF64, high, low)
}

/// The integer part of numbers from 0 to 2^32 in lanes of eight bytes.
fn low_bits(code: &mut VectorFunction, x: Value) -> Value {
    let (offset, mask) = (code.splat8(2f64.powi(52).to_bits()), code.splat8(LOW));
    let x = code.unary(Op::RoundF64(IntegerRounding::ToZero), x);
    let x = code.pair(Op::AddF64, x, offset);
    code.pair(Op::And, x, mask)
}

/// Quotients by a power of two, rounded towards zero.
fn shifted(code: &mut VectorFunction, dtype: DType, x: Value, exponent: u32) -> Value {
    if exponent == 0 {
        return x;
    }
    if dtype == DType::U32 {
        return code.shift_right4(x, exponent as u8);
    }
    // One less than the power is added to negative numbers.
    let [sign, by] = [31, exponent].map(|bits| code.splat4(bits));
    let below_zero = code.pair(Op::ShiftRightI32, x, sign);
    let rest = code.shift_right4(below_zero, (32 - exponent) as u8);
    let x = code.pair(Op::AddI32, x, rest);
    code.pair(Op::ShiftRightI32, x, by)
}
