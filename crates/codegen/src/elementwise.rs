//! Elementwise functions as code over vectors, with the bits of the functions of `numerics`.

use crate::integers::{exact_f64, multiply8};
use crate::lanes;
use crate::ops::{IntegerRounding, Op, Predicate};
use crate::small::is_small;
use crate::vector::{Value, VectorFunction, Width};
use numerics::DType;
use numerics::math::{BinaryOp, Direction, Elementwise, UnaryOp};

/// The elements of four bytes in the narrowest vectors, of AVX2 and NEON.
pub const LANES: usize = 8;

/// The elements that are computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chunk {
    /// Of four bytes each.
    Four(Value),
    /// Of eight bytes each, such as pairs of the parts of complex numbers. If half of them is
    /// enough, the second is the first again.
    Eight([Value; 2]),
    /// Booleans: all bits of a lane of four bytes.
    Mask(Value),
}

/// True if there is code for elements of a type, whatever the machine.
pub(crate) fn has_lanes(dtype: DType) -> bool {
    use DType::*;
    matches!(dtype, I1 | I32 | U32 | F32 | I64 | U64 | F64 | C64)
}

impl VectorFunction {
    /// True if there is code for elements of a type.
    pub fn has_lanes(&self, dtype: DType) -> bool {
        has_lanes(dtype) || self.width != Width::Neon && is_small(dtype)
    }
}

/// True for functions of all operands whose code is long: they are computed in `f64` by
/// series.
pub fn is_expensive(function: Elementwise) -> bool {
    match function {
        Elementwise::Unary(op) => lanes::function(op).is_some(),
        Elementwise::Binary(op) => [BinaryOp::Atan2, BinaryOp::Power].contains(&op),
        _ => false,
    }
}

/// True for functions of angles: their code is as long, and has exceptions.
pub fn needs_range_reduction(function: Elementwise) -> bool {
    matches!(function, Elementwise::Unary(op) if lanes::function_of_angle(op).is_some())
}

/// Adds code for a function of operands of some types, of which a chunk each is given; for at
/// most half of its elements, `is_half`. `None` if there is no code for it.
pub fn compute(
    code: &mut VectorFunction,
    function: Elementwise,
    dtypes: &[DType],
    operands: &[Chunk],
    is_half: bool,
) -> Option<Chunk> {
    let mut lowering = Lowering { code, is_half, rounds_to_odd: false };
    let to_small = matches!(function, Elementwise::Convert(to) if is_small(to));
    if to_small || dtypes.iter().any(|&dtype| is_small(dtype)) {
        return lowering.small(function, dtypes, operands);
    }
    match (function, dtypes, operands) {
        (Elementwise::Unary(op), &[dtype], &[x]) => lowering.unary(op, dtype, x),
        (Elementwise::Binary(op), &[dtype, _], &[x, y]) => lowering.binary(op, dtype, x, y),
        (Elementwise::Compare(direction, total_order), &[dtype, _], &[x, y]) => {
            if total_order && dtype.is_float() {
                return None;
            }
            lowering.compare(direction, dtype, x, y)
        }
        (Elementwise::Product, &[dtype, _], &[x, y]) => lowering.product(dtype, x, y),
        (Elementwise::Quiet, &[dtype], &[x]) => lowering.quiet(dtype, x),
        (Elementwise::Select, _, &[mask, yes, no]) => lowering.select(mask, yes, no),
        (Elementwise::Convert(to), &[from], &[x]) => lowering.convert(from, to, x),
        (Elementwise::Bitcast(to), &[from], &[x]) => {
            (from != DType::I1 && has_lanes(from) && has_lanes(to)).then_some(x)
        }
        _ => None,
    }
}

/// As [`compute`], also for functions of `f32` without code for some operands: there may be a mask
/// of the lanes with these, whose results mean nothing.
pub fn compute_with_exceptions(
    code: &mut VectorFunction,
    function: Elementwise,
    dtypes: &[DType],
    operands: &[Chunk],
    is_half: bool,
) -> Option<(Chunk, Option<Value>)> {
    code.exceptions = Some(Vec::new());
    let result = compute(code, function, dtypes, operands, is_half);
    let masks = code.exceptions.take().unwrap_or_default();
    let mask = match masks[..] {
        [] => None,
        [low] => Some([low; 2]),
        [low, high, ..] => Some([low, high]),
    };
    Some((
        result?,
        mask.map(|halves| Lowering { code, is_half, rounds_to_odd: false }.narrow(halves)),
    ))
}

pub(crate) struct Lowering<'a> {
    pub(crate) code: &'a mut VectorFunction,
    pub(crate) is_half: bool,
    /// True if numbers of type `f32` that are computed in `f64` are rounded to odd, for another
    /// rounding.
    pub(crate) rounds_to_odd: bool,
}

impl Lowering<'_> {
    /// A function of each vector.
    pub(crate) fn map(
        &mut self,
        x: Chunk,
        mut f: impl FnMut(&mut VectorFunction, Value) -> Value,
    ) -> Chunk {
        match x {
            Chunk::Four(x) => Chunk::Four(f(self.code, x)),
            Chunk::Mask(x) => Chunk::Mask(f(self.code, x)),
            Chunk::Eight([low, high]) => {
                let low = f(self.code, low);
                Chunk::Eight([low, if self.is_half { low } else { f(self.code, high) }])
            }
        }
    }

    /// A function of each pair of vectors.
    pub(crate) fn zip(
        &mut self,
        x: Chunk,
        y: Chunk,
        mut f: impl FnMut(&mut VectorFunction, Value, Value) -> Value,
    ) -> Option<Chunk> {
        Some(match (x, y) {
            (Chunk::Four(x), Chunk::Four(y)) => Chunk::Four(f(self.code, x, y)),
            (Chunk::Mask(x), Chunk::Mask(y)) => Chunk::Mask(f(self.code, x, y)),
            (Chunk::Eight(x), Chunk::Eight(y)) => {
                let low = f(self.code, x[0], y[0]);
                let high = if self.is_half { low } else { f(self.code, x[1], y[1]) };
                Chunk::Eight([low, high])
            }
            _ => return None,
        })
    }

    /// True if all elements of four bytes are known to have these bits.
    fn is_known(&self, x: Chunk, bits: u32) -> bool {
        matches!(x, Chunk::Four(x) if self.code.known4(x) == Some(bits))
    }

    pub(crate) fn pairs(&mut self, op: Op, x: Chunk, y: Chunk) -> Option<Chunk> {
        self.zip(x, y, |code, x, y| code.pair(op, x, y))
    }

    /// A function of `f64` of floats of four bytes.
    fn widened(
        &mut self,
        operands: &[Chunk],
        mut f: impl FnMut(&mut VectorFunction, &[Value]) -> Value,
    ) -> Option<Chunk> {
        let mut halves = [None; 2];
        for (high, half) in halves.iter_mut().enumerate().take(if self.is_half { 1 } else { 2 }) {
            let mut wide = smallvec::SmallVec::<[Value; 2]>::new();
            for &operand in operands {
                let Chunk::Four(x) = operand else { return None };
                wide.push(self.widen(x, high == 1));
            }
            let result = f(self.code, &wide);
            *half = Some(match self.rounds_to_odd {
                true => self.rounded_to_odd(result),
                false => self.code.unary(Op::F64ToF32, result),
            });
        }
        let [low, high] = halves;
        Some(Chunk::Four(self.join(low?, high)))
    }

    /// Four floats of four bytes as `f64`.
    fn widen(&mut self, x: Value, is_high: bool) -> Value {
        if let Some(bits) = self.code.known4(x) {
            return self.code.splat8(f64::from(f32::from_bits(bits)).to_bits());
        }
        let part = self.part(x, is_high);
        self.code.unary(Op::F32ToF64, part)
    }

    /// Four lanes of four bytes, as the low ones.
    fn part(&mut self, x: Value, is_high: bool) -> Value {
        if is_high { self.code.extract_high(x) } else { x }
    }

    /// Two halves of a vector.
    pub(crate) fn join(&mut self, low: Value, high: Option<Value>) -> Value {
        match high {
            Some(high) => self.code.join(low, high),
            None => low,
        }
    }

    /// The mask of lanes of eight bytes.
    fn wide_mask(&mut self, mask: Value) -> [Value; 2] {
        let low = self.code.unary(Op::I32ToI64, mask);
        if self.is_half {
            return [low; 2];
        }
        let high = self.part(mask, true);
        [low, self.code.unary(Op::I32ToI64, high)]
    }

    /// The low four bytes of lanes of eight.
    pub(crate) fn narrow(&mut self, [low, high]: [Value; 2]) -> Value {
        if self.code.width.narrows() {
            let [low, high] = [low, high].map(|x| self.code.unary(Op::I64ToI32, x));
            return self.code.join(low, high);
        }
        let mixed = self.code.pair(Op::EvenLanes, low, high);
        self.code.unary(Op::Permute8(0xD8), mixed)
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, dtype: DType, x: Chunk) -> Option<Chunk> {
        let ones = |code: &mut VectorFunction| code.splat4(u32::MAX);
        Some(match (op, dtype) {
            (UnaryOp::Not, DType::I1 | DType::I32 | DType::U32 | DType::I64 | DType::U64) => self
                .map(x, |code, x| {
                    let ones = ones(code);
                    code.pair(Op::Xor, x, ones)
                }),
            (UnaryOp::Real, DType::F32 | DType::F64) => x,
            (_, DType::F32) => return self.unary_f32(op, x),
            (_, DType::F64) => return self.unary_f64(op, x),
            (_, DType::C64) => return self.unary_complex(op, x),
            (UnaryOp::Negate, DType::I32 | DType::U32) => self.map(x, |code, x| {
                let zero = code.splat4(0);
                code.pair(Op::SubtractI32, zero, x)
            }),
            (UnaryOp::Negate, DType::I64 | DType::U64) => self.map(x, |code, x| {
                let zero = code.splat4(0);
                code.pair(Op::SubtractI64, zero, x)
            }),
            (UnaryOp::Abs, DType::I32) => self.map(x, |code, x| code.unary(Op::AbsI32, x)),
            (UnaryOp::Abs, DType::I64) => self.map(x, |code, x| {
                let zero = code.splat8(0);
                let sign = code.pair(Op::GreaterI64, zero, x);
                let flipped = code.pair(Op::Xor, x, sign);
                code.pair(Op::SubtractI64, flipped, sign)
            }),
            (UnaryOp::Abs, DType::U32 | DType::U64) => x,
            (UnaryOp::Sign, DType::I32) => self.map(x, |code, x| {
                let zero = code.splat4(0);
                let negative = code.pair(Op::GreaterI32, zero, x);
                let positive = code.pair(Op::GreaterI32, x, zero);
                code.pair(Op::SubtractI32, negative, positive)
            }),
            (UnaryOp::Sign, DType::I64) => self.map(x, |code, x| {
                let zero = code.splat8(0);
                let negative = code.pair(Op::GreaterI64, zero, x);
                let positive = code.pair(Op::GreaterI64, x, zero);
                code.pair(Op::SubtractI64, negative, positive)
            }),
            _ => return None,
        })
    }

    fn unary_f32(&mut self, op: UnaryOp, x: Chunk) -> Option<Chunk> {
        let round = |code: &mut VectorFunction, x, way| code.unary(Op::RoundF32(way), x);
        Some(match op {
            UnaryOp::Negate => self.map(x, |code, x| {
                let sign = code.splat4(1 << 31);
                code.pair(Op::Xor, x, sign)
            }),
            UnaryOp::Abs => self.map(x, |code, x| {
                let rest = code.splat4(u32::MAX >> 1);
                code.pair(Op::And, x, rest)
            }),
            UnaryOp::Sqrt => self.map(x, |code, x| code.unary(Op::SqrtF32, x)),
            UnaryOp::Square => self.map(x, |code, x| code.pair(Op::MultiplyF32, x, x)),
            UnaryOp::Floor => self.map(x, |code, x| round(code, x, IntegerRounding::Down)),
            UnaryOp::Ceil => self.map(x, |code, x| round(code, x, IntegerRounding::Up)),
            UnaryOp::RoundNearestEven => {
                self.map(x, |code, x| round(code, x, IntegerRounding::ToEven))
            }
            UnaryOp::Sign => self.map(x, |code, x| {
                let (sign, one) = (code.splat4(1 << 31), code.splat4(1f32.to_bits()));
                let zero = code.splat4(0);
                let sign = code.pair(Op::And, x, sign);
                let result = code.pair(Op::Or, sign, one);
                // Zero and NaN are what they are.
                let other = code.pair(Op::CompareF32(Predicate::NotEqual), x, zero);
                let ordered = code.pair(Op::CompareF32(Predicate::Ordered), x, x);
                let other = code.pair(Op::And, other, ordered);
                code.blend(other, result, x)
            }),
            UnaryOp::IsFinite => {
                let Chunk::Four(x) = x else { return None };
                let rest = self.code.splat4(u32::MAX >> 1);
                let infinity = self.code.splat4(f32::INFINITY.to_bits());
                let x = self.code.pair(Op::And, x, rest);
                Chunk::Mask(self.code.pair(Op::CompareF32(Predicate::Less), x, infinity))
            }
            _ => {
                if let Some(f) = lanes::function(op) {
                    return self.widened(&[x], |code, x| f(code, x[0]));
                }
                let f = lanes::function_of_angle(op).filter(|_| self.code.exceptions.is_some())?;
                return self.widened(&[x], |code, x| {
                    let exception = lanes::is_no_angle(code, x[0]);
                    code.exceptions.get_or_insert_default().push(exception);
                    f(code, x[0])
                });
            }
        })
    }

    fn unary_f64(&mut self, op: UnaryOp, x: Chunk) -> Option<Chunk> {
        let round = |code: &mut VectorFunction, x, way| code.unary(Op::RoundF64(way), x);
        Some(match op {
            UnaryOp::Negate => self.map(x, |code, x| {
                let sign = code.splat8(1 << 63);
                code.pair(Op::Xor, x, sign)
            }),
            UnaryOp::Abs => self.map(x, |code, x| {
                let rest = code.splat8(u64::MAX >> 1);
                code.pair(Op::And, x, rest)
            }),
            UnaryOp::Sqrt => self.map(x, lanes::sqrt),
            UnaryOp::Square => self.map(x, |code, x| code.pair(Op::MultiplyF64, x, x)),
            UnaryOp::Floor => self.map(x, |code, x| round(code, x, IntegerRounding::Down)),
            UnaryOp::Ceil => self.map(x, |code, x| round(code, x, IntegerRounding::Up)),
            UnaryOp::RoundNearestEven => {
                self.map(x, |code, x| round(code, x, IntegerRounding::ToEven))
            }
            _ => return None,
        })
    }

    fn unary_complex(&mut self, op: UnaryOp, x: Chunk) -> Option<Chunk> {
        Some(match op {
            UnaryOp::Negate => self.map(x, |code, x| {
                let signs = code.splat4(1 << 31);
                code.pair(Op::Xor, x, signs)
            }),
            UnaryOp::Real => Chunk::Four(self.parts(x)?[0]),
            UnaryOp::Imag => Chunk::Four(self.parts(x)?[1]),
            UnaryOp::Abs => {
                let parts = self.parts(x)?.map(Chunk::Four);
                let mut squares = smallvec::SmallVec::<[Value; 2]>::new();
                let result = self.widened(&parts, |code, parts| {
                    let [absolute, square] = lanes::absolute(code, parts[0], parts[1]);
                    squares.push(square);
                    absolute
                })?;
                if let (Chunk::Four(x), [low, ..], [.., high]) =
                    (result, &squares[..], &squares[..])
                {
                    self.code.squares.insert(x, [*low, *high]);
                }
                result
            }
            _ => return None,
        })
    }

    /// The real parts of complex numbers, and the imaginary ones.
    fn parts(&mut self, x: Chunk) -> Option<[Value; 2]> {
        let Chunk::Eight(real) = x else { return None };
        let Chunk::Eight(imaginary) = self.map(x, |code, x| code.shift_right8(x, 32)) else {
            return None;
        };
        Some([self.narrow(real), self.narrow(imaginary)])
    }

    /// Complex numbers from parts.
    fn complex(&mut self, re: Chunk, im: Chunk) -> Option<Chunk> {
        let (Chunk::Four(re), Chunk::Four(im)) = (re, im) else { return None };
        let [re, im] = [re, im].map(|part| self.halves(part, Op::U32ToU64));
        let im = self.map(im, |code, im| code.shift_left8(im, 32));
        self.pairs(Op::Or, re, im)
    }

    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        dtype: DType,
        x: Chunk,
        y: Chunk,
    ) -> Option<Chunk> {
        use BinaryOp::*;
        use DType::*;
        let op = match (op, dtype) {
            (And, I1 | I32 | U32 | I64 | U64) | (Multiply | Minimum, I1) => Op::And,
            (Or, I1 | I32 | U32 | I64 | U64) | (Add | Maximum, I1) => Op::Or,
            (Xor, I1 | I32 | U32 | I64 | U64) => Op::Xor,
            (Add, F32 | C64) => Op::AddF32,
            (Add, F64) => Op::AddF64,
            (Add, I32 | U32) => Op::AddI32,
            (Add, I64 | U64) => Op::AddI64,
            (Subtract, F32 | C64) => Op::SubtractF32,
            (Subtract, F64) => Op::SubtractF64,
            (Subtract, I32 | U32) => Op::SubtractI32,
            (Subtract, I64 | U64) => Op::SubtractI64,
            (Multiply, F32) => Op::MultiplyF32,
            (Multiply, F64) => Op::MultiplyF64,
            (Multiply, I32 | U32) => Op::MultiplyI32,
            (Divide, F32) => Op::DivideF32,
            (Divide, F64) => Op::DivideF64,
            (Divide, I32 | U32 | I64 | U64) => return self.quotient(dtype, x, y),
            (Remainder, I32 | U32) => {
                let quotient = self.quotient(dtype, x, y)?;
                let product = self.pairs(Op::MultiplyI32, quotient, y)?;
                return self.pairs(Op::SubtractI32, x, product);
            }
            (Remainder, I64 | U64) => {
                let quotient = self.quotient(dtype, x, y)?;
                let product = self.zip(quotient, y, multiply8)?;
                return self.pairs(Op::SubtractI64, x, product);
            }
            (Maximum, I32) => Op::MaximumI32,
            (Maximum, U32) => Op::MaximumU32,
            (Minimum, I32) => Op::MinimumI32,
            (Minimum, U32) => Op::MinimumU32,
            (ShiftLeft, I32 | U32) => Op::ShiftLeftI32,
            (ShiftLeft, I64 | U64) => Op::ShiftLeftI64,
            (ShiftRightLogical, I32 | U32) => Op::ShiftRightU32,
            (ShiftRightLogical, I64 | U64) => Op::ShiftRightU64,
            (ShiftRightArithmetic, I32 | U32) => Op::ShiftRightI32,
            (ShiftRightArithmetic, I64 | U64) => {
                // Bits that are the sign are zeros while the others move.
                return self.zip(x, y, |code, x, by| {
                    let (zero, negative) = (code.splat8(0), code.shift_right8(x, 63));
                    let sign = code.pair(Op::SubtractI64, zero, negative);
                    let x = code.pair(Op::Xor, x, sign);
                    let shifted = code.pair(Op::ShiftRightU64, x, by);
                    code.pair(Op::Xor, shifted, sign)
                });
            }
            (Multiply, I64 | U64) => return self.zip(x, y, multiply8),
            (Multiply, C64) => return self.zip(x, y, multiply_complex),
            (Complex, F32) => return self.complex(x, y),
            (Maximum | Minimum, F32 | F64) => {
                let is_maximum = op == Maximum;
                return self.zip(x, y, |code, x, y| extreme(code, is_maximum, dtype, x, y));
            }
            (Maximum | Minimum, I64 | U64) => {
                let [greater, less] = if op == Maximum { [x, y] } else { [y, x] };
                return self.zip(greater, less, |code, greater, less| {
                    let mask = greater8(code, dtype, greater, less);
                    if op == Maximum {
                        code.blend(mask, greater, less)
                    } else {
                        code.blend(mask, less, greater)
                    }
                });
            }
            (Atan2, F32) => {
                return self.widened(&[x, y], |code, operands| {
                    lanes::atan2(code, operands[0], operands[1])
                });
            }
            (Power, F32) if self.is_known(y, 0.5f32.to_bits()) => {
                let roots = self.map(x, lanes::power_of_half);
                return self.quiet(F32, roots);
            }
            (Power, F32) => {
                return self.widened(&[x, y], |code, operands| {
                    lanes::power(code, operands[0], operands[1])
                });
            }
            _ => return None,
        };
        self.pairs(op, x, y)
    }

    /// [`Elementwise::Product`].
    fn product(&mut self, dtype: DType, x: Chunk, y: Chunk) -> Option<Chunk> {
        let [multiply, add] = match dtype {
            DType::F32 => [Op::MultiplyF32, Op::AddF32],
            DType::F64 => [Op::MultiplyF64, Op::AddF64],
            _ => return None,
        };
        let sum = self.zip(x, y, |code, x, y| {
            let product = code.pair(multiply, x, y);
            let zero = code.splat4(0);
            code.pair(add, product, zero)
        })?;
        self.quiet(dtype, sum)
    }

    /// [`Elementwise::Quiet`].
    pub(crate) fn quiet(&mut self, dtype: DType, x: Chunk) -> Option<Chunk> {
        let (compare, nan) = match dtype {
            DType::F32 => {
                (Op::CompareF32(Predicate::Unordered), self.code.splat4(f32::NAN.to_bits()))
            }
            DType::F64 => {
                (Op::CompareF64(Predicate::Unordered), self.code.splat8(f64::NAN.to_bits()))
            }
            _ => return None,
        };
        Some(self.map(x, |code, x| {
            let unordered = code.pair(compare, x, x);
            code.blend(unordered, nan, x)
        }))
    }

    pub(crate) fn compare(
        &mut self,
        direction: Direction,
        dtype: DType,
        x: Chunk,
        y: Chunk,
    ) -> Option<Chunk> {
        if let (DType::F32, Chunk::Four(x), Chunk::Four(y)) = (dtype, x, y)
            && let Some(masks) = self.compare_absolute(direction, x, y)
        {
            return Some(Chunk::Mask(self.narrow(masks)));
        }
        let masks = match dtype {
            DType::F32 | DType::F64 => {
                let predicate = match direction {
                    Direction::Eq => Predicate::Equal,
                    Direction::Ne => Predicate::NotEqual,
                    Direction::Ge => Predicate::GreaterOrEqual,
                    Direction::Gt => Predicate::Greater,
                    Direction::Le => Predicate::LessOrEqual,
                    Direction::Lt => Predicate::Less,
                };
                let is_single = dtype == DType::F32;
                let compare = if is_single { Op::CompareF32 } else { Op::CompareF64 };
                self.pairs(compare(predicate), x, y)?
            }
            DType::C64 if matches!(direction, Direction::Eq | Direction::Ne) => {
                let is_equality = direction == Direction::Eq;
                let (predicate, both) = match is_equality {
                    true => (Predicate::Equal, Op::And),
                    false => (Predicate::NotEqual, Op::Or),
                };
                self.zip(x, y, |code, x, y| {
                    let masks = code.pair(Op::CompareF32(predicate), x, y);
                    let swapped = code.pair(Op::SwappedPairs, masks, masks);
                    code.pair(both, masks, swapped)
                })?
            }
            DType::I1 | DType::I32 | DType::U32 | DType::I64 | DType::U64 => {
                // A greater number is one of fewer bits, as the mask of `true` is -1.
                let [x, y] = if dtype == DType::I1 { [y, x] } else { [x, y] };
                let (x, y, is_equality, is_complement) = match direction {
                    Direction::Eq => (x, y, true, false),
                    Direction::Ne => (x, y, true, true),
                    Direction::Gt => (x, y, false, false),
                    Direction::Le => (x, y, false, true),
                    Direction::Lt => (y, x, false, false),
                    Direction::Ge => (y, x, false, true),
                };
                let wide = dtype.bytes() == 8;
                self.zip(x, y, |code, x, y| {
                    let mask = match (is_equality, wide) {
                        (true, false) => code.pair(Op::EqualI32, x, y),
                        (true, true) => code.pair(Op::EqualI64, x, y),
                        (false, false) => greater4(code, dtype, x, y),
                        (false, true) => greater8(code, dtype, x, y),
                    };
                    if !is_complement {
                        return mask;
                    }
                    let ones = code.splat4(u32::MAX);
                    code.pair(Op::Xor, mask, ones)
                })?
            }
            _ => return None,
        };
        Some(Chunk::Mask(match masks {
            Chunk::Four(mask) | Chunk::Mask(mask) => mask,
            Chunk::Eight(masks) => self.narrow(masks),
        }))
    }

    /// The comparison of an absolute value with a constant, by its square: roots are slow.
    fn compare_absolute(&mut self, direction: Direction, x: Value, y: Value) -> Option<[Value; 2]> {
        use Direction::*;
        let bound = |value| self.code.known4(value).map(f32::from_bits);
        let (squares, is_less, is_strict, bound) = match (direction, bound(x), bound(y)) {
            (Lt | Ge, _, Some(bound)) => {
                (self.code.squares.get(&x)?, direction == Lt, false, bound)
            }
            (Le | Gt, _, Some(bound)) => (self.code.squares.get(&x)?, direction == Le, true, bound),
            (Gt | Le, Some(bound), _) => {
                (self.code.squares.get(&y)?, direction == Gt, false, bound)
            }
            (Ge | Lt, Some(bound), _) => (self.code.squares.get(&y)?, direction == Ge, true, bound),
            _ => return None,
        };
        let (squares, least) = (*squares, numerics::math::lanes::least_square(bound, is_strict)?);
        let predicate = if is_less { Predicate::Less } else { Predicate::GreaterOrEqual };
        let least = self.code.splat8(least.to_bits());
        Some(squares.map(|square| self.code.pair(Op::CompareF64(predicate), square, least)))
    }

    fn select(&mut self, mask: Chunk, yes: Chunk, no: Chunk) -> Option<Chunk> {
        let Chunk::Mask(mask) = mask else { return None };
        match (yes, no) {
            (Chunk::Eight(yes), Chunk::Eight(no)) => {
                let masks = self.wide_mask(mask);
                let low = self.code.blend(masks[0], yes[0], no[0]);
                if self.is_half {
                    return Some(Chunk::Eight([low; 2]));
                }
                Some(Chunk::Eight([low, self.code.blend(masks[1], yes[1], no[1])]))
            }
            _ => self.zip(yes, no, |code, yes, no| code.blend(mask, yes, no)),
        }
    }

    pub(crate) fn convert(&mut self, from: DType, to: DType, x: Chunk) -> Option<Chunk> {
        use DType::*;
        if !has_lanes(from) || !has_lanes(to) {
            return None;
        }
        if from == to || matches!((from, to), (I32, U32) | (U32, I32) | (I64, U64) | (U64, I64)) {
            return Some(x);
        }
        if from == I1 {
            return self.convert_mask(to, x);
        }
        if to == I1 {
            let zero = self.code.splat4(0);
            let zero = match x {
                Chunk::Eight(_) => Chunk::Eight([zero; 2]),
                _ => Chunk::Four(zero),
            };
            return self.compare(Direction::Ne, from, x, zero);
        }
        let code = &mut *self.code;
        Some(match (from, to, x) {
            (I32, F32, Chunk::Four(x)) => Chunk::Four(code.unary(Op::I32ToF32, x)),
            (F32, I32, Chunk::Four(x)) if code.width == Width::Neon => {
                Chunk::Four(code.unary(Op::SaturateF32ToI32, x))
            }
            (F32, I32, Chunk::Four(x)) => {
                let truncated = code.unary(Op::F32ToI32, x);
                let limit = code.splat4((2f32.powi(31)).to_bits());
                let too_large = code.pair(Op::CompareF32(Predicate::GreaterOrEqual), x, limit);
                // Numbers without an integer become the smallest one, whose complement is the
                // largest.
                let saturated = code.pair(Op::Xor, truncated, too_large);
                let ordered = code.pair(Op::CompareF32(Predicate::Ordered), x, x);
                Chunk::Four(code.pair(Op::And, saturated, ordered))
            }
            (F32, C64, Chunk::Four(x)) => self.halves(x, Op::U32ToU64),
            (F32, F64, Chunk::Four(x)) => self.halves(x, Op::F32ToF64),
            (I32, F64, Chunk::Four(x)) => self.halves(x, Op::I32ToF64),
            (I32, I64 | U64, Chunk::Four(x)) => self.halves(x, Op::I32ToI64),
            (U32, I64 | U64, Chunk::Four(x)) => self.halves(x, Op::U32ToU64),
            (U32, F64, Chunk::Four(x)) => {
                let wide = self.halves(x, Op::U32ToU64);
                self.map(wide, exact_f64)
            }
            (U32, F32, Chunk::Four(x)) => {
                let wide = self.halves(x, Op::U32ToU64);
                let wide = self.map(wide, exact_f64);
                return self.convert(F64, F32, wide);
            }
            (F64, F32, Chunk::Eight(halves)) => {
                let [low, high] = halves.map(|half| code.unary(Op::F64ToF32, half));
                let high = (!self.is_half).then_some(high);
                Chunk::Four(self.join(low, high))
            }
            (I64 | U64, I32 | U32, Chunk::Eight(halves)) => Chunk::Four(self.narrow(halves)),
            _ => return None,
        })
    }

    /// A function of four lanes of four bytes to four of eight, of both halves.
    fn halves(&mut self, x: Value, op: Op) -> Chunk {
        let low = self.code.unary(op, x);
        if self.is_half {
            return Chunk::Eight([low; 2]);
        }
        let high = self.part(x, true);
        Chunk::Eight([low, self.code.unary(op, high)])
    }

    /// One where a mask is set, else zero.
    fn convert_mask(&mut self, to: DType, x: Chunk) -> Option<Chunk> {
        let Chunk::Mask(mask) = x else { return None };
        let code = &mut *self.code;
        let one = match to {
            DType::F32 => code.splat4(1f32.to_bits()),
            DType::I32 | DType::U32 => code.splat4(1),
            DType::F64 => code.splat8(1f64.to_bits()),
            DType::I64 | DType::U64 => code.splat8(1),
            _ => return None,
        };
        if to.bytes() == 4 {
            return Some(Chunk::Four(code.pair(Op::And, mask, one)));
        }
        let masks = Chunk::Eight(self.wide_mask(mask));
        Some(self.map(masks, |code, mask| code.pair(Op::And, mask, one)))
    }
}

/// The larger or the smaller one of two floats: NaN wins, and zeros have an order.
fn extreme(code: &mut VectorFunction, is_maximum: bool, dtype: DType, x: Value, y: Value) -> Value {
    let is_single = dtype == DType::F32;
    if code.width == Width::Neon {
        let op = match (is_maximum, is_single) {
            (true, true) => Op::MaximumF32,
            (true, false) => Op::MaximumF64,
            (false, true) => Op::MinimumF32,
            (false, false) => Op::MinimumF64,
        };
        return code.pair(op, x, y);
    }
    let (op, both) = match (is_maximum, is_single) {
        (true, true) => (Op::GreatestF32, Op::And),
        (true, false) => (Op::GreatestF64, Op::And),
        (false, true) => (Op::LeastF32, Op::Or),
        (false, false) => (Op::LeastF64, Op::Or),
    };
    let (compare, add) = match is_single {
        true => (Op::CompareF32(Predicate::Unordered), Op::AddF32),
        false => (Op::CompareF64(Predicate::Unordered), Op::AddF64),
    };
    // Where numbers are equal or one is NaN, the instruction gives the last one.
    for (bound, z) in [(x, y), (y, x)] {
        let number = match is_single {
            true => code.known4(bound).map(|bits| f64::from(f32::from_bits(bits))),
            false => code.known8(bound).map(f64::from_bits),
        };
        let Some(number) = number.filter(|number| !number.is_nan()) else { continue };
        let is_inner_zero = number == 0.0 && number.is_sign_positive() == is_maximum;
        if !is_inner_zero {
            return code.pair(op, bound, z);
        } else if is_maximum {
            // The sum of zeros is positive.
            let greatest = code.pair(op, bound, z);
            return code.pair(add, greatest, bound);
        }
    }
    let (first, second) = (code.pair(op, x, y), code.pair(op, y, x));
    let ordered = code.pair(both, first, second);
    let unordered = code.pair(compare, x, y);
    let nan = code.pair(add, x, y);
    code.blend(unordered, nan, ordered)
}

fn flipped(code: &mut VectorFunction, x: Value, sign: Value) -> Value {
    code.pair(Op::Xor, x, sign)
}

/// A mask of where `x` is greater than `y`, in lanes of four bytes.
fn greater4(code: &mut VectorFunction, dtype: DType, x: Value, y: Value) -> Value {
    if dtype != DType::U32 {
        return code.pair(Op::GreaterI32, x, y);
    }
    if code.width == Width::Neon {
        return code.pair(Op::GreaterU32, x, y);
    }
    let sign = code.splat4(1 << 31);
    let [x, y] = [x, y].map(|x| flipped(code, x, sign));
    code.pair(Op::GreaterI32, x, y)
}

/// A mask of where `x` is greater than `y`, in lanes of eight bytes.
pub(crate) fn greater8(code: &mut VectorFunction, dtype: DType, x: Value, y: Value) -> Value {
    if dtype != DType::U64 {
        return code.pair(Op::GreaterI64, x, y);
    }
    if code.width == Width::Neon {
        return code.pair(Op::GreaterU64, x, y);
    }
    let sign = code.splat8(1 << 63);
    let [x, y] = [x, y].map(|x| flipped(code, x, sign));
    code.pair(Op::GreaterI64, x, y)
}

/// The products of complex numbers, `(ac - bd) + (ad + bc)i`.
fn multiply_complex(code: &mut VectorFunction, x: Value, y: Value) -> Value {
    let [re, im] = [Op::FirstOfPairs, Op::SecondOfPairs].map(|op| code.pair(op, x, x));
    let swapped = code.pair(Op::SwappedPairs, y, y);
    let (first, second) =
        (code.pair(Op::MultiplyF32, re, y), code.pair(Op::MultiplyF32, im, swapped));
    // A difference is the sum with the negative number.
    let signs = code.splat8(1 << 31);
    let second = code.pair(Op::Xor, second, signs);
    code.pair(Op::AddF32, first, second)
}
