//! The functions of `f64` lanes of `numerics` as code: what they compute is recorded.

use crate::elementwise::{EQUAL, GREATER_OR_EQUAL, LESS, UNORDERED};
use crate::vector::{Value, Vectors};
use crate::x64::{Length, Vex};
use numerics::math::UnaryOp;
use numerics::math::lanes::{self, Lane};
use numerics::math::lanes_erf;
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// Four lanes while code for them is recorded.
#[derive(Clone, Copy)]
struct Recorded<'a> {
    code: &'a RefCell<Vectors>,
    value: Value,
}

/// A mask of lanes.
#[derive(Clone, Copy)]
struct Mask<'a>(Recorded<'a>);

/// The code of a function of `f64` that results of narrower types are rounded from.
pub(crate) fn function(op: UnaryOp) -> Option<fn(&mut Vectors, Value) -> Value> {
    macro_rules! code {
        ($f:path) => {
            |code, x| {
                record(code, |code| {
                    let x = Recorded { code, value: x };
                    lanes::one_nan(x, $f(x)).value
                })
            }
        };
    }
    Some(match op {
        UnaryOp::Erf => code!(lanes_erf::erf),
        UnaryOp::ErfInv => code!(lanes_erf::erf_inv),
        UnaryOp::Erfc => code!(lanes_erf::erfc),
        UnaryOp::Exponential => code!(lanes::exp),
        UnaryOp::ExponentialMinusOne => code!(lanes::exp_m1),
        UnaryOp::Log => code!(lanes::log),
        UnaryOp::LogPlusOne => code!(lanes::log_1p),
        UnaryOp::Logistic => code!(lanes::logistic),
        UnaryOp::Rsqrt => code!(lanes::rsqrt),
        UnaryOp::Tanh => code!(lanes::tanh),
        _ => return None,
    })
}

/// The code of square roots, with one NaN.
pub(crate) fn sqrt(code: &mut Vectors, x: Value) -> Value {
    record(code, |code| {
        let x = Recorded { code, value: x };
        lanes::one_nan(x, x.sqrt()).value
    })
}

/// The code of [`lanes::pow`].
pub(crate) fn power(code: &mut Vectors, x: Value, y: Value) -> Value {
    record(code, |code| lanes::pow(Recorded { code, value: x }, Recorded { code, value: y }).value)
}

fn record(code: &mut Vectors, f: impl FnOnce(&RefCell<Vectors>) -> Value) -> Value {
    let cell = RefCell::new(std::mem::take(code));
    let value = f(&cell);
    *code = cell.into_inner();
    value
}

impl<'a> Recorded<'a> {
    fn with(self, f: impl FnOnce(&mut Vectors) -> Value) -> Recorded<'a> {
        Recorded { value: f(&mut self.code.borrow_mut()), ..self }
    }

    fn pair(self, op: Vex, rhs: Recorded<'_>) -> Recorded<'a> {
        self.with(|code| code.pair(op, self.value, rhs.value))
    }

    fn number(self, x: f64) -> Recorded<'a> {
        self.bits(x.to_bits())
    }

    fn bits(self, bits: u64) -> Recorded<'a> {
        self.with(|code| code.splat8(bits))
    }

    fn compare(self, predicate: u8, rhs: Recorded<'_>) -> Mask<'a> {
        Mask(self.with(|code| {
            code.binary(Vex::CMPPD, Length::Whole, Some(predicate), self.value, rhs.value)
        }))
    }
}

macro_rules! operators {
    ($($trait:ident $name:ident $op:ident;)*) => {$(
        impl<'a> $trait for Recorded<'a> {
            type Output = Recorded<'a>;

            fn $name(self, rhs: Recorded<'a>) -> Recorded<'a> {
                self.pair(Vex::$op, rhs)
            }
        }

        impl<'a> $trait<f64> for Recorded<'a> {
            type Output = Recorded<'a>;

            fn $name(self, rhs: f64) -> Recorded<'a> {
                self.pair(Vex::$op, self.number(rhs))
            }
        }
    )*};
}

operators! {
    Add add ADDPD;
    Sub sub SUBPD;
    Mul mul MULPD;
    Div div DIVPD;
}

impl<'a> Neg for Recorded<'a> {
    type Output = Recorded<'a>;

    fn neg(self) -> Recorded<'a> {
        self.pair(Vex::XORPS, self.bits(1 << 63))
    }
}

impl<'a> BitAnd for Mask<'a> {
    type Output = Mask<'a>;

    fn bitand(self, rhs: Mask<'a>) -> Mask<'a> {
        Mask(self.0.pair(Vex::ANDPS, rhs.0))
    }
}

impl<'a> BitOr for Mask<'a> {
    type Output = Mask<'a>;

    fn bitor(self, rhs: Mask<'a>) -> Mask<'a> {
        Mask(self.0.pair(Vex::ORPS, rhs.0))
    }
}

impl<'a> Not for Mask<'a> {
    type Output = Mask<'a>;

    fn not(self) -> Mask<'a> {
        Mask(self.0.pair(Vex::XORPS, self.0.bits(u64::MAX)))
    }
}

impl<'a> Lane for Recorded<'a> {
    type Mask = Mask<'a>;

    fn splat(self, x: f64) -> Recorded<'a> {
        self.number(x)
    }

    fn sqrt(self) -> Recorded<'a> {
        self.with(|code| code.whole(Vex::SQRTPD, self.value))
    }

    fn less(self, rhs: Recorded<'a>) -> Mask<'a> {
        self.compare(LESS, rhs)
    }

    fn at_least(self, rhs: Recorded<'a>) -> Mask<'a> {
        self.compare(GREATER_OR_EQUAL, rhs)
    }

    fn equals(self, rhs: Recorded<'a>) -> Mask<'a> {
        self.compare(EQUAL, rhs)
    }

    fn is_nan(self) -> Mask<'a> {
        self.compare(UNORDERED, self)
    }

    fn select(mask: Mask<'a>, yes: Recorded<'a>, no: Recorded<'a>) -> Recorded<'a> {
        yes.with(|code| code.blend(mask.0.value, yes.value, no.value))
    }

    fn and_bits(self, bits: u64) -> Recorded<'a> {
        self.pair(Vex::ANDPS, self.bits(bits))
    }

    fn or_bits(self, bits: u64) -> Recorded<'a> {
        self.pair(Vex::ORPS, self.bits(bits))
    }

    fn or(self, rhs: Recorded<'a>) -> Recorded<'a> {
        self.pair(Vex::ORPS, rhs)
    }

    fn add_bits(self, bits: u64) -> Recorded<'a> {
        self.pair(Vex::PADDQ, self.bits(bits))
    }

    fn subtract_bits(self, rhs: Recorded<'a>) -> Recorded<'a> {
        self.pair(Vex::PSUBQ, rhs)
    }

    fn shift_left(self, by: u8) -> Recorded<'a> {
        self.with(|code| code.shift_left8(self.value, by))
    }

    fn shift_right(self, by: u8) -> Recorded<'a> {
        self.with(|code| code.shift_right8(self.value, by))
    }
}
