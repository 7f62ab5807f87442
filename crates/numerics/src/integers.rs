//! Integer elements: the primitive types, and the types narrower than a byte.

use crate::DType;
use crate::element::{Arithmetic, Bitwise, Element, Integer, Number, Real};
use bytemuck::{Pod, Zeroable};

/// A boolean: 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct I1(u8);

impl I1 {
    /// The element for a truth value.
    pub const fn new(value: bool) -> I1 {
        I1(value as u8)
    }

    /// The truth value.
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for I1 {
    fn from(value: bool) -> I1 {
        I1::new(value)
    }
}

impl Element for I1 {
    const DTYPE: DType = DType::I1;
    const ZERO: Self = I1(0);
    const ONE: Self = I1(1);

    /// As in C and NumPy, any byte but 0 is true.
    fn canonical(self) -> Self {
        I1::new(self.get())
    }
}

impl Number for I1 {
    fn add(self, rhs: Self) -> Self {
        self.or(rhs)
    }
    fn multiply(self, rhs: Self) -> Self {
        self.and(rhs)
    }
    fn maximum(self, rhs: Self) -> Self {
        self.or(rhs)
    }
    fn minimum(self, rhs: Self) -> Self {
        self.and(rhs)
    }
    fn from_float(value: f64) -> Self {
        I1::new(value != 0.0)
    }
    fn from_i64(value: i64) -> Self {
        I1::new(value != 0)
    }
    fn from_u64(value: u64) -> Self {
        I1::new(value != 0)
    }
}

impl Bitwise for I1 {
    fn and(self, rhs: Self) -> Self {
        I1(self.0 & rhs.0)
    }
    fn or(self, rhs: Self) -> Self {
        I1(self.0 | rhs.0)
    }
    fn xor(self, rhs: Self) -> Self {
        I1(self.0 ^ rhs.0)
    }
    fn not(self) -> Self {
        I1(self.0 ^ 1)
    }
}

/// The element's own bits, as an unsigned number.
macro_rules! low_bits {
    ($storage:expr, $unsigned:ident, $bits:literal) => {
        $storage as $unsigned & ($unsigned::MAX >> ($unsigned::BITS - $bits))
    };
}
/// The part of the traits that reads the same for signed and unsigned, primitive and narrow
/// integers. `$get` and `$new` go between the element and its storage, `$new` dropping what lies
/// outside of the width; `$unsigned` is the unsigned twin of the storage type.
macro_rules! integer {
    (
        $ty:ty, $dtype:ident, $bits:literal, $storage:ident, $signed:ident, $unsigned:ident,
        $is_signed:literal, |$x:ident| $get:expr, |$y:ident| $new:expr
    ) => {
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = {
                let $y: $storage = 0;
                $new
            };
            const ONE: Self = {
                let $y: $storage = 1;
                $new
            };

            #[inline]
            fn canonical(self) -> Self {
                let $x = self;
                let $y: $storage = $get;
                $new
            }
        }

        impl Number for $ty {
            #[inline]
            fn add(self, rhs: Self) -> Self {
                let $y = <$storage>::wrapping_add(
                    {
                        let $x = self;
                        $get
                    },
                    {
                        let $x = rhs;
                        $get
                    },
                );
                $new
            }
            #[inline]
            fn multiply(self, rhs: Self) -> Self {
                let $y = <$storage>::wrapping_mul(
                    {
                        let $x = self;
                        $get
                    },
                    {
                        let $x = rhs;
                        $get
                    },
                );
                $new
            }
            #[inline]
            fn maximum(self, rhs: Self) -> Self {
                if self > rhs { self } else { rhs }
            }
            #[inline]
            fn minimum(self, rhs: Self) -> Self {
                if self < rhs { self } else { rhs }
            }
            #[inline]
            fn from_float(value: f64) -> Self {
                const MIN: $storage = {
                    let $x = <$ty as Integer>::MIN;
                    $get
                };
                const MAX: $storage = {
                    let $x = <$ty as Integer>::MAX;
                    $get
                };
                // `as` truncates, saturates, and takes NaN to zero.
                let $y = (value as $storage).clamp(MIN, MAX);
                $new
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                let $y = value as $storage;
                $new
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                let $y = value as $storage;
                $new
            }
        }

        impl Arithmetic for $ty {
            #[inline]
            fn subtract(self, rhs: Self) -> Self {
                let $y = <$storage>::wrapping_sub(
                    {
                        let $x = self;
                        $get
                    },
                    {
                        let $x = rhs;
                        $get
                    },
                );
                $new
            }
            #[inline]
            fn divide(self, rhs: Self) -> Self {
                let divisor = {
                    let $x = rhs;
                    $get
                };
                if divisor == 0 {
                    return self.xor(self.not());
                }
                let $y = <$storage>::wrapping_div(
                    {
                        let $x = self;
                        $get
                    },
                    divisor,
                );
                $new
            }
            #[inline]
            fn negate(self) -> Self {
                let $y = <$storage>::wrapping_neg({
                    let $x = self;
                    $get
                });
                $new
            }
        }

        impl Real for $ty {
            #[inline]
            fn remainder(self, rhs: Self) -> Self {
                let divisor = {
                    let $x = rhs;
                    $get
                };
                if divisor == 0 {
                    return self;
                }
                let $y = <$storage>::wrapping_rem(
                    {
                        let $x = self;
                        $get
                    },
                    divisor,
                );
                $new
            }
            #[inline]
            fn abs(self) -> Self {
                if self < Self::ZERO { self.negate() } else { self }
            }
            #[inline]
            fn sign(self) -> Self {
                if self > Self::ZERO {
                    Self::ONE
                } else if self < Self::ZERO {
                    Self::ONE.negate()
                } else {
                    Self::ZERO
                }
            }
            fn power(self, exponent: Self) -> Self {
                let odd = exponent.and(Self::ONE) == Self::ONE;
                if exponent < Self::ZERO {
                    return if self == Self::ONE {
                        self
                    } else if self == Self::ONE.negate() {
                        if odd { self } else { Self::ONE }
                    } else {
                        Self::ZERO
                    };
                }
                let (mut base, mut exponent, mut power) = (self, exponent, Self::ONE);
                while exponent != Self::ZERO {
                    if exponent.and(Self::ONE) == Self::ONE {
                        power = power.multiply(base);
                    }
                    base = base.multiply(base);
                    exponent = exponent.shift_right_logical(Self::ONE);
                }
                power
            }
        }

        impl Bitwise for $ty {
            #[inline]
            fn and(self, rhs: Self) -> Self {
                let $y = {
                    let $x = self;
                    $get
                } & {
                    let $x = rhs;
                    $get
                };
                $new
            }
            #[inline]
            fn or(self, rhs: Self) -> Self {
                let $y = {
                    let $x = self;
                    $get
                } | {
                    let $x = rhs;
                    $get
                };
                $new
            }
            #[inline]
            fn xor(self, rhs: Self) -> Self {
                let $y = {
                    let $x = self;
                    $get
                } ^ {
                    let $x = rhs;
                    $get
                };
                $new
            }
            #[inline]
            fn not(self) -> Self {
                let $y = !{
                    let $x = self;
                    $get
                };
                $new
            }
        }

        impl Integer for $ty {
            const BITS: u32 = $bits;
            const SIGNED: bool = $is_signed;
            const MIN: Self = {
                let $y = if $is_signed { (1 as $storage) << ($bits - 1) } else { 0 };
                $new
            };
            const MAX: Self = {
                let $y = !(if $is_signed { (1 as $storage) << ($bits - 1) } else { 0 });
                $new
            };

            #[inline]
            fn to_i128(self) -> i128 {
                let $x = self;
                $get as i128
            }
            #[inline]
            fn from_i128(value: i128) -> Self {
                let $y = value as $storage;
                $new
            }
            #[inline]
            fn shift_left(self, amount: Self) -> Self {
                let amount = {
                    let $x = amount;
                    $get
                } as $unsigned;
                if amount >= $bits {
                    return Self::ZERO;
                }
                let $y = {
                    let $x = self;
                    $get
                } << amount;
                $new
            }
            #[inline]
            fn shift_right_arithmetic(self, amount: Self) -> Self {
                let amount = {
                    let $x = amount;
                    $get
                } as $unsigned;
                let amount = if amount < $bits { amount } else { $bits - 1 };
                // The top bit of the element moves to the top of the storage and back.
                const SPARE: u32 = <$storage>::BITS - $bits;
                let top = ({
                    let $x = self;
                    $get
                } << SPARE) as $signed;
                let $y = (top >> SPARE >> amount) as $storage;
                $new
            }
            #[inline]
            fn shift_right_logical(self, amount: Self) -> Self {
                let amount = {
                    let $x = amount;
                    $get
                } as $unsigned;
                if amount >= $bits {
                    return Self::ZERO;
                }
                let $y = (low_bits!(
                    {
                        let $x = self;
                        $get
                    },
                    $unsigned,
                    $bits
                ) >> amount) as $storage;
                $new
            }
            #[inline]
            fn popcnt(self) -> Self {
                let ones = low_bits!(
                    {
                        let $x = self;
                        $get
                    },
                    $unsigned,
                    $bits
                )
                .count_ones();
                let $y = ones as $storage;
                $new
            }
            #[inline]
            fn count_leading_zeros(self) -> Self {
                const SPARE: u32 = <$storage>::BITS - $bits;
                let zeros = low_bits!(
                    {
                        let $x = self;
                        $get
                    },
                    $unsigned,
                    $bits
                )
                .leading_zeros();
                let $y = (zeros - SPARE) as $storage;
                $new
            }
        }
    };
}

macro_rules! primitive {
    ($($signed:ident $signed_dtype:ident $unsigned:ident $unsigned_dtype:ident $bits:literal)*) => {$(
        integer!($signed, $signed_dtype, $bits, $signed, $signed, $unsigned, true, |x| x, |y| y);
        integer!($unsigned, $unsigned_dtype, $bits, $unsigned, $signed, $unsigned, false, |x| x, |y| y);
    )*};
}

primitive! {
    i8 I8 u8 U8 8
    i16 I16 u16 U16 16
    i32 I32 u32 U32 32
    i64 I64 u64 U64 64
}

macro_rules! narrow {
    ($($name:ident $bits:literal $storage:ident $is_signed:literal $doc:literal)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name($storage);

        impl $name {
            /// The integer that equals `value` modulo the range of the type.
            #[inline]
            pub const fn new(value: $storage) -> $name {
                $name(value << (8 - $bits) >> (8 - $bits))
            }

            /// The integer.
            #[inline]
            pub const fn get(self) -> $storage {
                self.0
            }
        }

        integer!($name, $name, $bits, $storage, i8, u8, $is_signed, |x| x.0, |y| $name::new(y));
    )*};
}

narrow! {
    I2 2 i8 true "A signed integer of two bits, sign-extended to a byte."
    I4 4 i8 true "A signed integer of four bits, sign-extended to a byte."
    U2 2 u8 false "An unsigned integer of two bits, zero-extended to a byte."
    U4 4 u8 false "An unsigned integer of four bits, zero-extended to a byte."
}
