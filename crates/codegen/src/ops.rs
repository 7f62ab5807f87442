//! The operations of code over vectors, whatever the machine.

/// A comparison of floats. No comparison signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// Equal.
    Equal,
    /// Different, or one is NaN.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// None is NaN.
    Ordered,
    /// One is NaN.
    Unordered,
}

/// A way of rounding to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerRounding {
    /// To the nearest one, or the even one of two.
    ToEven,
    /// To the next one that is not greater.
    Down,
    /// To the next one that is not less.
    Up,
    /// To the next one that is not larger in absolute value.
    ToZero,
}

/// An operation on vectors. The names end with the type of the lanes that it reads, if it matters;
/// `I` is for integers with a sign or without one. Lanes are numbered from the one that is first in
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sums.
    AddF32,
    /// Sums.
    AddF64,
    /// Sums, which wrap.
    AddI32,
    /// Sums, which wrap.
    AddI64,
    /// Differences.
    SubtractF32,
    /// Differences.
    SubtractF64,
    /// Differences, which wrap.
    SubtractI32,
    /// Differences, which wrap.
    SubtractI64,
    /// Products.
    MultiplyF32,
    /// Products.
    MultiplyF64,
    /// Products, which wrap.
    MultiplyI32,
    /// Products of 64 bits of the low halves of lanes of 64 bits.
    MultiplyWideU32,
    /// Quotients.
    DivideF32,
    /// Quotients.
    DivideF64,
    /// Bits that are set in both.
    And,
    /// Bits that are set in one.
    Or,
    /// Bits that differ.
    Xor,
    /// `x` if it is greater, else `y`.
    GreatestF32,
    /// `x` if it is greater, else `y`.
    GreatestF64,
    /// `x` if it is less, else `y`.
    LeastF32,
    /// `x` if it is less, else `y`.
    LeastF64,
    /// The larger one: NaN wins, and zeros have an order. Not on x86-64.
    MaximumF32,
    /// The larger one: NaN wins, and zeros have an order. Not on x86-64.
    MaximumF64,
    /// The smaller one: NaN wins, and zeros have an order. Not on x86-64.
    MinimumF32,
    /// The smaller one: NaN wins, and zeros have an order. Not on x86-64.
    MinimumF64,
    /// The larger one.
    MaximumI32,
    /// The larger one, without a sign.
    MaximumU32,
    /// The smaller one.
    MinimumI32,
    /// The smaller one, without a sign.
    MinimumU32,
    /// A mask of where a comparison holds.
    CompareF32(Predicate),
    /// A mask of where a comparison holds.
    CompareF64(Predicate),
    /// A mask of equal lanes.
    EqualI32,
    /// A mask of equal lanes.
    EqualI64,
    /// A mask of where `x` is greater.
    GreaterI32,
    /// A mask of where `x` is greater.
    GreaterI64,
    /// A mask of where `x` is greater, without a sign. Not on x86-64.
    GreaterU32,
    /// A mask of where `x` is greater, without a sign. Not on x86-64.
    GreaterU64,
    /// `x` moved up by `y` bits; zero if these are too many.
    ShiftLeftI32,
    /// `x` moved up by `y` bits; zero if these are too many.
    ShiftLeftI64,
    /// `x` moved down by `y` bits; zero if these are too many.
    ShiftRightU32,
    /// `x` moved down by `y` bits; zero if these are too many.
    ShiftRightU64,
    /// `x` moved down by `y` bits, with copies of its sign; only these if they are too many.
    ShiftRightI32,
    /// Moved up by a number of bits.
    ShiftLeftI32By(u8),
    /// Moved up by a number of bits.
    ShiftLeftI64By(u8),
    /// Moved down by a number of bits.
    ShiftRightU32By(u8),
    /// Moved down by a number of bits.
    ShiftRightU64By(u8),
    /// Square roots.
    SqrtF32,
    /// Square roots.
    SqrtF64,
    /// Rounded to integers.
    RoundF32(IntegerRounding),
    /// Rounded to integers.
    RoundF64(IntegerRounding),
    /// Absolute values; that of the smallest number is itself.
    AbsI32,
    /// Rounded to floats.
    I32ToF32,
    /// The low four lanes as floats of eight bytes.
    I32ToF64,
    /// Rounded towards zero; the smallest integer if out of range. Not on AArch64.
    F32ToI32,
    /// Rounded towards zero; the nearest integer if out of range, and zero for NaN. Not on
    /// x86-64.
    SaturateF32ToI32,
    /// The lanes of the low half as floats of eight bytes.
    F32ToF64,
    /// Lanes rounded to floats of four bytes, in the low half.
    F64ToF32,
    /// The lanes of the low half with copies of their sign above.
    I32ToI64,
    /// The lanes of the low half with zeros above.
    U32ToU64,
    /// The first bytes as lanes of four with zeros above.
    U8ToU32,
    /// The first pairs of bytes as lanes of four with zeros above. Not on AArch64.
    U16ToU32,
    /// Floats of two bytes in the low half as floats of four bytes. Not on AArch64.
    F16ToF32,
    /// Lanes rounded to floats of two bytes, in the low half. Not on AArch64.
    F32ToF16,
    /// The low halves of lanes, in the low half. Not with AVX2.
    I64ToI32,
    /// Lanes of both saturated to two bytes, 16 bytes of both at a time.
    PackI32,
    /// Lanes of both saturated to one byte, 16 bytes of both at a time.
    PackI16,
    /// Of each 16 bytes of both, the even lanes of four.
    EvenLanes,
    /// Of each pair of lanes of four bytes, the first one twice. Both operands are the same.
    FirstOfPairs,
    /// Of each pair of lanes of four bytes, the second one twice. Both operands are the same.
    SecondOfPairs,
    /// Each pair of lanes of four bytes in the other order. Both operands are the same.
    SwappedPairs,
    /// The low halves of both.
    Join,
    /// The high half, as the low one.
    HighHalf,
    /// Lanes of four bytes of `y`, chosen by `x`, as [`Width`](crate::Width) has it. Not with
    /// AVX-512.
    Permute4,
    /// Lanes of eight bytes chosen by two bits each. Not with AVX-512.
    Permute8(u8),
    /// The lanes of four bytes of `y` whose bits are set, else of `x`. Not with AVX-512.
    Blend4(u8),
    /// The first lane, again and again.
    Splat4,
    /// The first lane, again and again.
    Splat8,
    /// The first byte, again and again.
    Splat1,
    /// The first two bytes, again and again. Not on AArch64.
    Splat2,
    /// A vector in memory.
    Load,
    /// Four bytes in memory, as the first lane.
    Load4,
    /// Eight bytes in memory, as the first lane.
    Load8,
    /// The vector with another lane of the first four, from memory. Not with AVX-512.
    Insert4(u8),
    /// The vector with another second lane of eight bytes, from memory. Not with AVX-512.
    Insert8,
    /// The bits of `yes` where `mask` has them set, else of `no`. The operands are `no`,
    /// `yes` and `mask`.
    Blend,
    /// The product of the last operands added to the first one, with one rounding.
    MultiplyAddF32,
    /// The product of the last operands added to the first one, with one rounding.
    MultiplyAddF64,
}

impl Op {
    /// True if the operands may be swapped.
    pub(crate) fn is_commutative(self) -> bool {
        use Op::*;
        matches!(
            self,
            AddF32
                | AddF64
                | AddI32
                | AddI64
                | And
                | EqualI32
                | EqualI64
                | MaximumI32
                | MaximumU32
                | MinimumI32
                | MinimumU32
                | MultiplyF32
                | MultiplyF64
                | MultiplyI32
                | MultiplyWideU32
                | Or
                | Xor
        )
    }

    /// The cycles until the result is there, about.
    pub(crate) fn latency(self) -> u32 {
        use Op::*;
        match self {
            SqrtF32 | SqrtF64 => 20,
            F16ToF32 | F32ToF16 => 6,
            DivideF32 | DivideF64 => 12,
            AddF32 | AddF64 | MultiplyAddF32 | MultiplyAddF64 | MultiplyF32 | MultiplyF64
            | MultiplyI32 | MultiplyWideU32 | SubtractF32 | SubtractF64 => 4,
            _ => 1,
        }
    }
}

/// The parts of a vector that are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// All bytes.
    Whole,
    /// The first eight bytes.
    Low8,
    /// The first sixteen bytes. Not on AArch64.
    Low16,
    /// The low byte of each lane of four. Not with AVX2.
    LowBytes,
    /// The low two bytes of each lane of four. Only with AVX-512.
    LowHalves,
}
