//! Quotients of integers, for which processors have no vector instructions.

use crate::elementwise::{Chunk, Lowering};
use crate::ops::{IntegerRounding, Op};
use crate::vector::{Value, VectorFunction};
use numerics::DType;

impl Lowering<'_> {
    /// Quotients of integers of four bytes, rounded towards zero: -1, all ones, by zero, and the
    /// smallest number by -1 is itself.
    pub(crate) fn quotient(&mut self, dtype: DType, x: Chunk, y: Chunk) -> Option<Chunk> {
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
