//! Elements of one or two bytes, as lanes of four bytes.
//!
//! A lane holds an integer with its sign extended, or the encoding of a float with zeros above it.
//! Floats are computed as `f32`, which is wide enough that rounding twice gives the same sums,
//! differences, products, quotients and square roots as rounding once.

use crate::elementwise::{Chunk, Lowering};
use crate::integers::small_quotient;
use crate::ops::{Op, Predicate, Store};
use crate::vector::{HalfNumbers, Value, VectorFunction, Width};
use numerics::math::{BinaryOp, Direction, Elementwise, UnaryOp};
use numerics::{DType, Family, FloatFormat, Specials};

/// True for element types of one or two bytes that lanes of four bytes can hold.
pub(crate) fn is_small(dtype: DType) -> bool {
    let is_float = |format: &FloatFormat| format.signed && format.bits() <= 16;
    match dtype.family() {
        Family::Signed | Family::Unsigned => dtype.bytes() <= 2,
        Family::Float => dtype.float_format().is_some_and(is_float) && dtype.bytes() <= 2,
        Family::Boolean | Family::Complex => false,
    }
}

/// The elements of a small type as lanes, from bytes, or pairs of bytes, that were loaded
/// with zeros above them.
pub fn lanes_of_small(code: &mut VectorFunction, dtype: DType, loaded: Value) -> Value {
    if dtype.family() == Family::Signed { wrapped(code, dtype, loaded) } else { loaded }
}

/// The operation that loads elements of a small type as lanes with zeros above them.
pub fn small_load(dtype: DType) -> Op {
    if dtype.bytes() == 1 { Op::U8ToU32 } else { Op::U16ToU32 }
}

/// The bytes of lanes of a small type side by side, and the part of the vector that has them.
pub fn small_store(code: &mut VectorFunction, dtype: DType, lanes: Value) -> (Value, Store) {
    let is_byte = dtype.bytes() == 1;
    if code.width.narrows() {
        return (lanes, if is_byte { Store::LowBytes } else { Store::LowHalves });
    }
    if let Some(packed) = code.halves.get(&lanes).and_then(|halves| halves.packed) {
        return (packed, Store::Low16);
    }
    // Numbers with a sign are not saturated.
    let bits = 8 * dtype.bytes() as u32;
    let is_signed = dtype.family() == Family::Signed;
    let fits = is_signed || dtype.bits() < bits;
    let lanes = if fits { lanes } else { extended(code, lanes, bits) };
    let high = code.extract_high(lanes);
    let words = code.pair(Op::PackI32, lanes, high);
    if !is_byte {
        return (words, Store::Low16);
    }
    (code.pair(Op::PackI16, words, words), Store::Low8)
}

/// Lanes with copies of the sign of their low bits above these.
fn extended(code: &mut VectorFunction, x: Value, bits: u32) -> Value {
    let above = code.splat4(32 - bits);
    let x = code.shift_left4(x, (32 - bits) as u8);
    code.pair(Op::ShiftRightI32, x, above)
}

/// Lanes modulo the range of an integer type.
fn wrapped(code: &mut VectorFunction, dtype: DType, x: Value) -> Value {
    if dtype.family() == Family::Signed {
        return extended(code, x, dtype.bits());
    }
    let mask = code.splat4(u32::MAX >> (32 - dtype.bits()));
    code.pair(Op::And, x, mask)
}

/// The numbers that lanes encode, as `f32`.
fn decoded(code: &mut VectorFunction, format: &FloatFormat, x: Value) -> Value {
    if let Some(halves) = code.halves.get(&x)
        && *format == FloatFormat::F16
    {
        return halves.singles;
    }
    let mantissa_bits = format.mantissa_bits;
    if format.exponent_bits == 8 {
        return code.shift_left4(x, (23 - mantissa_bits) as u8);
    }
    let [sign_mask, rest] = [format.sign_mask() as u32, format.sign_mask() as u32 - 1];
    let (sign_mask, rest) = (code.splat4(sign_mask), code.splat4(rest));
    let sign = code.pair(Op::And, x, sign_mask);
    let sign = code.shift_left4(sign, (32 - format.bits()) as u8);
    let magnitude = code.pair(Op::And, x, rest);
    let unit = 2f32.powi(format.min_exponent() - mantissa_bits as i32);
    let unit = code.splat4(unit.to_bits());
    let subnormal = code.unary(Op::I32ToF32, magnitude);
    let subnormal = code.pair(Op::MultiplyF32, subnormal, unit);
    let moved = code.shift_left4(magnitude, (23 - mantissa_bits) as u8);
    let bias = code.splat4(((127 - format.bias) as u32) << 23);
    let normal = code.pair(Op::AddI32, moved, bias);
    let smallest_normal = code.splat4(1 << mantissa_bits);
    let is_subnormal = code.pair(Op::GreaterI32, smallest_normal, magnitude);
    let mut number = code.blend(is_subnormal, subnormal, normal);
    if format.specials == Specials::Ieee {
        // The mantissa tells infinity from NaN.
        let largest = code.splat4(format.max_finite() as u32);
        let is_special = code.pair(Op::GreaterI32, magnitude, largest);
        let infinity = code.splat4(f32::INFINITY.to_bits());
        let special = code.pair(Op::Or, moved, infinity);
        number = code.blend(is_special, special, number);
    }
    number = code.pair(Op::Or, number, sign);
    if format.bits() > 8 {
        return number;
    }
    // Of types with a table of their numbers, NaN is positive.
    let nan = code.splat4(f32::NAN.to_bits());
    let is_nan = match format.specials {
        Specials::Ieee => {
            let infinity = code.splat4(format.max_finite() as u32 + 1);
            code.pair(Op::GreaterI32, magnitude, infinity)
        }
        Specials::NanAllOnes => code.pair(Op::EqualI32, magnitude, rest),
        Specials::NanNegativeZero => code.pair(Op::EqualI32, x, sign_mask),
        Specials::None => return number,
    };
    code.blend(is_nan, nan, number)
}

/// The encodings of numbers of type `f32`, rounded to the nearest ones, ties to even, as
/// [`FloatFormat::encode`] has it.
fn encoded(code: &mut VectorFunction, format: &FloatFormat, x: Value) -> Value {
    if *format == FloatFormat::F16 {
        return encoded_halves(code, x);
    }
    let mantissa_bits = format.mantissa_bits;
    let cut = 23 - mantissa_bits;
    let (one, half) = (code.splat4(1), code.splat4((1 << (cut - 1)) - 1));
    let rounded = |code: &mut VectorFunction, x| {
        let odd = code.shift_right4(x, cut as u8);
        let odd = code.pair(Op::And, odd, one);
        let sum = code.pair(Op::AddI32, x, half);
        let sum = code.pair(Op::AddI32, sum, odd);
        code.shift_right4(sum, cut as u8)
    };
    let is_nan = code.pair(Op::CompareF32(Predicate::Unordered), x, x);
    let sign_mask = code.splat4(format.sign_mask() as u32);
    let sign = code.shift_right4(x, (32 - format.bits()) as u8);
    let sign = code.pair(Op::And, sign, sign_mask);
    let nan = code.splat4(format.nan() as u32);
    if format.exponent_bits == 8 {
        let rounded = rounded(code, x);
        let nan = code.pair(Op::Or, nan, sign);
        return code.blend(is_nan, nan, rounded);
    }
    let rest = code.splat4(u32::MAX >> 1);
    let magnitude = code.pair(Op::And, x, rest);
    let bias = code.splat4(((127 - format.bias) as u32) << mantissa_bits);
    let normal = rounded(code, magnitude);
    let normal = code.pair(Op::SubtractI32, normal, bias);
    // The last place of this number is that of the subnormal ones, so a sum with it is rounded to
    // these.
    let exponent = format.min_exponent() - mantissa_bits as i32 + 23;
    let unit = code.splat4(((exponent + 127) as u32) << 23);
    let sum = code.pair(Op::AddF32, magnitude, unit);
    let subnormal = code.pair(Op::SubtractI32, sum, unit);
    let smallest_normal = code.splat4(((format.min_exponent() + 127) as u32) << 23);
    let is_subnormal = code.pair(Op::GreaterI32, smallest_normal, magnitude);
    let number = code.blend(is_subnormal, subnormal, normal);
    let largest = format.max_finite() as u32;
    let overflow = match format.specials {
        Specials::Ieee => largest + 1,
        Specials::NanAllOnes | Specials::NanNegativeZero => format.nan() as u32,
        Specials::None => largest,
    };
    let (largest, overflow) = (code.splat4(largest), code.splat4(overflow));
    let overflows = code.pair(Op::GreaterI32, number, largest);
    if format.specials == Specials::NanNegativeZero {
        // Zero has no sign, and NaN only one.
        let zero = code.splat4(0);
        let is_zero = code.pair(Op::EqualI32, number, zero);
        let signed = code.pair(Op::Or, number, sign);
        let number = code.blend(is_zero, zero, signed);
        let number = code.blend(overflows, overflow, number);
        return code.blend(is_nan, nan, number);
    }
    let number = code.blend(overflows, overflow, number);
    let number = code.pair(Op::Or, number, sign);
    let nan = match format.specials {
        Specials::None => nan,
        _ => code.pair(Op::Or, nan, sign),
    };
    code.blend(is_nan, nan, number)
}

/// As [`encoded`], of type `f16`, for which there are instructions.
fn encoded_halves(code: &mut VectorFunction, x: Value) -> Value {
    // NaN has the highest bit of its payload alone.
    let is_nan = code.pair(Op::CompareF32(Predicate::Unordered), x, x);
    let [all, others] = [23, 22].map(|bits| code.splat4((1 << bits) - 1));
    let [all, others] = [all, others].map(|payload| code.pair(Op::And, payload, is_nan));
    let x = code.pair(Op::Or, x, all);
    let x = code.pair(Op::Xor, x, others);
    let packed = code.unary(Op::F32ToF16, x);
    let lanes = code.unary(Op::U16ToU32, packed);
    let singles = code.unary(Op::F16ToF32, packed);
    code.halves.insert(lanes, HalfNumbers { singles, packed: Some(packed) });
    lanes
}

/// True for functions of small floats whose results in `f32`, rounded again, are as with one
/// rounding.
fn is_rounded_twice(op: UnaryOp) -> bool {
    use UnaryOp::*;
    matches!(op, Negate | Abs | Sqrt | Square | Floor | Ceil | RoundNearestEven | Sign | IsFinite)
}

impl Lowering<'_> {
    /// Adds code for a function some of whose operands, or the result, have a small type.
    pub(crate) fn small(
        &mut self,
        function: Elementwise,
        dtypes: &[DType],
        operands: &[Chunk],
    ) -> Option<Chunk> {
        if self.code.width == Width::Neon {
            return None;
        }
        match (function, dtypes, operands) {
            (Elementwise::Convert(to), &[from], &[x]) => self.convert_small(from, to, x),
            (Elementwise::Select, _, &[Chunk::Mask(mask), Chunk::Four(yes), Chunk::Four(no)]) => {
                Some(Chunk::Four(self.code.blend(mask, yes, no)))
            }
            (Elementwise::Bitcast(to), &[from], &[Chunk::Four(x)])
                if is_small(from) && is_small(to) && from.bits() == to.bits() =>
            {
                let unsigned = self.code.splat4(u32::MAX >> (32 - from.bits()));
                let x = self.code.pair(Op::And, x, unsigned);
                Some(Chunk::Four(lanes_of_small(self.code, to, x)))
            }
            (Elementwise::Unary(UnaryOp::Real), _, &[x]) => Some(x),
            (Elementwise::Unary(op), &[dtype], &[Chunk::Four(x)]) => match dtype.float_format() {
                Some(format) => self.small_function(op, format, x),
                None => {
                    let Chunk::Four(x) = self.unary(op, DType::I32, Chunk::Four(x))? else {
                        return None;
                    };
                    Some(Chunk::Four(wrapped(self.code, dtype, x)))
                }
            },
            (Elementwise::Binary(op), &[dtype, _], &[Chunk::Four(x), Chunk::Four(y)]) => {
                self.small_pair(op, dtype, x, y).map(Chunk::Four)
            }
            (Elementwise::Compare(way, total), &[dtype, _], &[Chunk::Four(x), Chunk::Four(y)]) => {
                match dtype.float_format() {
                    Some(_) if total => None,
                    Some(format) => {
                        let [x, y] = [x, y].map(|x| Chunk::Four(decoded(self.code, format, x)));
                        self.compare(way, DType::F32, x, y)
                    }
                    // Also of numbers without a sign, which are below 2^16.
                    None => self.compare(way, DType::I32, Chunk::Four(x), Chunk::Four(y)),
                }
            }
            _ => None,
        }
    }

    fn small_function(&mut self, op: UnaryOp, format: &FloatFormat, x: Value) -> Option<Chunk> {
        let is_long = crate::lanes::function(op).is_some();
        if !is_long && !is_rounded_twice(op) || op == UnaryOp::Sign && format.bits() <= 8 {
            return None;
        }
        if op == UnaryOp::Abs && format.specials != Specials::NanNegativeZero {
            // NaN keeps its payload.
            let rest = self.code.splat4(format.sign_mask() as u32 - 1);
            return Some(Chunk::Four(self.code.pair(Op::And, x, rest)));
        }
        let number = decoded(self.code, format, x);
        self.rounds_to_odd = is_long;
        let result = self.unary(op, DType::F32, Chunk::Four(number))?;
        let Chunk::Four(mut result) = result else { return Some(result) };
        if op == UnaryOp::Sign {
            let ordered = self.code.pair(Op::CompareF32(Predicate::Ordered), number, number);
            let sign = encoded(self.code, format, result);
            return Some(Chunk::Four(self.code.blend(ordered, sign, x)));
        }
        if op == UnaryOp::Sqrt {
            // A NaN that is made is positive.
            let ordered = self.code.pair(Op::CompareF32(Predicate::Ordered), number, number);
            let quiet = self.quiet(DType::F32, Chunk::Four(result))?;
            let Chunk::Four(quiet) = quiet else { return None };
            result = self.code.blend(ordered, quiet, result);
        }
        if matches!(op, UnaryOp::Log | UnaryOp::LogPlusOne) {
            // NaN keeps its sign.
            let ordered = self.code.pair(Op::CompareF32(Predicate::Ordered), number, number);
            result = self.code.blend(ordered, result, number);
        }
        Some(Chunk::Four(encoded(self.code, format, result)))
    }

    /// The low lanes of four bytes of four numbers: truncated, with the last bit set where anything
    /// was cut off.
    pub(crate) fn rounded_to_odd(&mut self, x: Value) -> Value {
        let nearest = self.code.unary(Op::F64ToF32, x);
        let back = self.code.unary(Op::F32ToF64, nearest);
        let code = &mut *self.code;
        let differs = code.pair(Op::CompareF64(Predicate::NotEqual), back, x);
        let rest = code.splat8(u64::MAX >> 1);
        let [back, x] = [back, x].map(|x| code.pair(Op::And, x, rest));
        let is_beyond = code.pair(Op::CompareF64(Predicate::Greater), back, x);
        let [differs, is_beyond] = [differs, is_beyond].map(|mask| self.narrow([mask; 2]));
        let code = &mut *self.code;
        // The mask is -1.
        let truncated = code.pair(Op::AddI32, nearest, is_beyond);
        let one = code.splat4(1);
        let odd = code.pair(Op::Or, truncated, one);
        code.blend(differs, odd, nearest)
    }

    fn small_pair(&mut self, op: BinaryOp, dtype: DType, x: Value, y: Value) -> Option<Value> {
        use BinaryOp::*;
        if let Some(format) = dtype.float_format() {
            let is_known = match op {
                Add | Subtract | Multiply | Divide => true,
                // NaN would lose its sign.
                Maximum | Minimum => format.bits() > 8,
                _ => false,
            };
            if !is_known {
                return None;
            }
            let [x, y] = [x, y].map(|x| Chunk::Four(decoded(self.code, format, x)));
            let Chunk::Four(result) = self.binary(op, DType::F32, x, y)? else { return None };
            return Some(encoded(self.code, format, result));
        }
        let code = &mut *self.code;
        let low = |code: &mut VectorFunction, x| {
            let mask = code.splat4(u32::MAX >> (32 - dtype.bits()));
            code.pair(Op::And, x, mask)
        };
        let x = match op {
            ShiftRightLogical => low(code, x),
            ShiftRightArithmetic => extended(code, x, dtype.bits()),
            _ => x,
        };
        if matches!(op, Divide | Remainder) {
            let quotient = small_quotient(code, x, y);
            if op == Divide {
                return Some(wrapped(code, dtype, quotient));
            }
            let product = code.pair(Op::MultiplyI32, quotient, y);
            return Some(code.pair(Op::SubtractI32, x, product));
        }
        let is_known = matches!(
            op,
            Add | And
                | Maximum
                | Minimum
                | Multiply
                | Or
                | ShiftLeft
                | ShiftRightArithmetic
                | ShiftRightLogical
                | Subtract
                | Xor
        );
        if !is_known {
            return None;
        }
        let result = self.binary(op, DType::I32, Chunk::Four(x), Chunk::Four(y))?;
        let Chunk::Four(result) = result else { return None };
        Some(wrapped(self.code, dtype, result))
    }

    fn convert_small(&mut self, from: DType, to: DType, x: Chunk) -> Option<Chunk> {
        use DType::*;
        if from == to {
            return Some(x);
        }
        if is_small(from) {
            let Chunk::Four(lanes) = x else { return None };
            return match from.float_format() {
                // True but for zero, which has one number without its sign.
                Some(format) if to == I1 && format.sign_mask() > 0 => {
                    let bits = match format.specials {
                        Specials::NanNegativeZero => u32::MAX,
                        _ => format.sign_mask() as u32 - 1,
                    };
                    let (bits, zero) = (self.code.splat4(bits), self.code.splat4(0));
                    let number = self.code.pair(Op::And, lanes, bits);
                    self.compare(Direction::Ne, I32, Chunk::Four(number), Chunk::Four(zero))
                }
                // All are numbers of `f32`.
                Some(format) => {
                    let mut x = decoded(self.code, format, lanes);
                    if to == F32 {
                        // NaN becomes quiet.
                        let one = self.code.splat4(1f32.to_bits());
                        x = self.code.pair(Op::MultiplyF32, x, one);
                    }
                    self.convert_or_small(F32, to, Chunk::Four(x))
                }
                None if to.family() == Family::Float => {
                    let x = self.convert(I32, F32, x)?;
                    self.convert_or_small(F32, to, x)
                }
                None => self.convert_or_small(I32, to, x),
            };
        }
        match (to.float_format(), from, x) {
            (Some(format), F32, Chunk::Four(x)) => Some(Chunk::Four(encoded(self.code, format, x))),
            (Some(format), I1, Chunk::Mask(mask)) => {
                let one = self.code.splat4(format.encode(1.0) as u32);
                Some(Chunk::Four(self.code.pair(Op::And, mask, one)))
            }
            // Numbers that are not exact as `f32` are beyond all numbers of these formats.
            (Some(format), I32 | U32, x) if format.exponent_bits < 8 => {
                let Chunk::Four(x) = self.convert(from, F32, x)? else { return None };
                Some(Chunk::Four(encoded(self.code, format, x)))
            }
            (Some(format), F64, Chunk::Eight(halves)) => {
                let [low, high] = match self.is_half {
                    true => [self.rounded_to_odd(halves[0]); 2],
                    false => halves.map(|half| self.rounded_to_odd(half)),
                };
                let high = (!self.is_half).then_some(high);
                let x = self.join(low, high);
                Some(Chunk::Four(encoded(self.code, format, x)))
            }
            (Some(_), I32 | U32, x) => {
                let x = self.convert(from, F64, x)?;
                self.convert_small(F64, to, x)
            }
            (Some(_), ..) => None,
            (None, F32, x) => {
                let Chunk::Four(x) = self.convert(F32, I32, x)? else { return None };
                let (bits, code) = (to.bits(), &mut *self.code);
                let [least, greatest] = match to.family() {
                    Family::Signed => [-1 << (bits - 1), (1 << (bits - 1)) - 1],
                    _ => [0, (1 << bits) - 1],
                };
                let [least, greatest] = [least, greatest].map(|x: i32| code.splat4(x as u32));
                let x = code.pair(Op::MaximumI32, x, least);
                Some(Chunk::Four(code.pair(Op::MinimumI32, x, greatest)))
            }
            (None, I1 | I32 | U32 | I64 | U64, x) => {
                let Chunk::Four(x) = self.convert(from, I32, x)? else { return None };
                Some(Chunk::Four(wrapped(self.code, to, x)))
            }
            _ => None,
        }
    }

    fn convert_or_small(&mut self, from: DType, to: DType, x: Chunk) -> Option<Chunk> {
        if is_small(to) { self.convert_small(from, to, x) } else { self.convert(from, to, x) }
    }
}
