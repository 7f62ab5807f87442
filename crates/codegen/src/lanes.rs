//! The functions of `f64` lanes of `numerics` as code: what they compute is recorded, but for what
//! is known already, such as what a constant exponent decides.

use crate::ops::{Op, Predicate};
use crate::vector::{Value, VectorFunction};
use numerics::math::UnaryOp;
use numerics::math::lanes::{self, Lane};
use numerics::math::{lanes_erf, lanes_trigonometric};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// Four lanes while code for them is recorded.
#[derive(Clone, Copy)]
struct RecordedLane<'a> {
    code: &'a RefCell<VectorFunction>,
    value: Value,
}

/// A mask of lanes.
#[derive(Clone, Copy)]
struct Mask<'a>(RecordedLane<'a>);

/// Code for lanes of `f64`.
pub(crate) type Function = fn(&mut VectorFunction, Value) -> Value;

macro_rules! code {
    ($f:path) => {
        |code, x| record(code, |code| $f(RecordedLane { code, value: x }).value)
    };
}

/// The code of a function of `f64` that results of narrower types are rounded from.
pub(crate) fn function(op: UnaryOp) -> Option<Function> {
    Some(match op {
        UnaryOp::Erf => code!(lanes_erf::erf),
        UnaryOp::Erfc => code!(lanes_erf::erfc),
        UnaryOp::Exponential => code!(lanes::exp),
        UnaryOp::ExponentialMinusOne => code!(lanes::exp_m1),
        UnaryOp::Log => code!(lanes::log),
        UnaryOp::LogPlusOne => code!(lanes::log_1p),
        UnaryOp::Logistic => code!(lanes::logistic),
        UnaryOp::Tanh => code!(lanes::tanh),
        // The others give only the NaNs of operands, or the one of `one_nan`.
        UnaryOp::ErfInv => code!(erf_inv),
        UnaryOp::Rsqrt => code!(rsqrt),
        _ => return None,
    })
}

/// As [`function`], of angles that [`is_no_angle`] does not exclude.
pub(crate) fn function_of_angle(op: UnaryOp) -> Option<Function> {
    Some(match op {
        UnaryOp::Cosine => code!(cos),
        UnaryOp::Sine => code!(sin),
        UnaryOp::Tan => code!(tan),
        _ => return None,
    })
}

/// A mask of numbers that are too large for functions of angles.
pub(crate) fn is_no_angle(code: &mut VectorFunction, x: Value) -> Value {
    record(code, |code| {
        let x = RecordedLane { code, value: x };
        let is_angle = lanes_trigonometric::is_angle(x) | x.is_nan();
        (!is_angle).0.value
    })
}

/// The code of the absolute value of a complex number, and its square.
pub(crate) fn absolute(code: &mut VectorFunction, re: Value, im: Value) -> [Value; 2] {
    let square = record(code, |code| {
        let [re, im] = [re, im].map(|value| RecordedLane { code, value });
        lanes::squared(re, im).value
    });
    [record(code, |code| RecordedLane { code, value: square }.sqrt().abs().value), square]
}

/// The code of the angle of a point.
pub(crate) fn atan2(code: &mut VectorFunction, y: Value, x: Value) -> Value {
    record(code, |code| {
        let [y, x] = [y, x].map(|value| RecordedLane { code, value });
        lanes_trigonometric::atan2(y, x).value
    })
}

macro_rules! of_angle {
    ($($name:ident)*) => {$(
        fn $name<L: Lane>(x: L) -> L {
            L::select(x.is_nan(), x, lanes_trigonometric::$name(x))
        }
    )*};
}
of_angle!(cos sin tan);

fn erf_inv<L: Lane>(x: L) -> L {
    lanes::one_nan(x, lanes_erf::erf_inv(x))
}

fn rsqrt<L: Lane>(x: L) -> L {
    lanes::one_nan(x, lanes::rsqrt(x))
}

/// The code of square roots, with one NaN.
pub(crate) fn sqrt(code: &mut VectorFunction, x: Value) -> Value {
    record(code, |code| {
        let x = RecordedLane { code, value: x };
        lanes::one_nan(x, x.sqrt()).value
    })
}

/// The code of [`lanes::pow`].
pub(crate) fn power(code: &mut VectorFunction, x: Value, y: Value) -> Value {
    record(code, |code| {
        lanes::pow(RecordedLane { code, value: x }, RecordedLane { code, value: y }).value
    })
}

/// The code of the power of 1/2 of floats of four bytes, but for NaN: the root, which of negative
/// zero is positive, and of negative infinity, too.
pub(crate) fn power_of_half(code: &mut VectorFunction, x: Value) -> Value {
    let [zero, infinity, least] =
        [0.0, f32::INFINITY, f32::NEG_INFINITY].map(|number| code.splat4(number.to_bits()));
    let root = code.unary(Op::SqrtF32, x);
    let root = code.pair(Op::AddF32, root, zero);
    let is_least = code.pair(Op::CompareF32(Predicate::Equal), x, least);
    code.blend(is_least, infinity, root)
}

fn record(code: &mut VectorFunction, f: impl FnOnce(&RefCell<VectorFunction>) -> Value) -> Value {
    let cell = RefCell::new(std::mem::take(code));
    let value = f(&cell);
    *code = cell.into_inner();
    value
}

impl<'a> RecordedLane<'a> {
    fn with(self, f: impl FnOnce(&mut VectorFunction) -> Value) -> RecordedLane<'a> {
        RecordedLane { value: f(&mut self.code.borrow_mut()), ..self }
    }

    fn known(self) -> Option<u64> {
        self.code.borrow().known8(self.value)
    }

    /// An instruction, or the bits that `f` gives for known ones.
    fn pair(self, op: Op, rhs: RecordedLane<'_>, f: impl Fn(u64, u64) -> u64) -> RecordedLane<'a> {
        match (self.known(), rhs.known()) {
            (Some(x), Some(y)) => self.bits(f(x, y)),
            _ => self.with(|code| code.pair(op, self.value, rhs.value)),
        }
    }

    fn arithmetic(
        self,
        op: Op,
        rhs: RecordedLane<'_>,
        f: impl Fn(f64, f64) -> f64,
    ) -> RecordedLane<'a> {
        self.pair(op, rhs, |x, y| f(f64::from_bits(x), f64::from_bits(y)).to_bits())
    }

    fn number(self, x: f64) -> RecordedLane<'a> {
        self.bits(x.to_bits())
    }

    fn bits(self, bits: u64) -> RecordedLane<'a> {
        self.with(|code| code.splat8(bits))
    }

    fn compare(
        self,
        predicate: Predicate,
        rhs: RecordedLane<'_>,
        f: impl Fn(f64, f64) -> bool,
    ) -> Mask<'a> {
        Mask(match (self.known(), rhs.known()) {
            (Some(x), Some(y)) => {
                self.bits(if f(f64::from_bits(x), f64::from_bits(y)) { u64::MAX } else { 0 })
            }
            _ => self.with(|code| code.pair(Op::CompareF64(predicate), self.value, rhs.value)),
        })
    }
}

macro_rules! operators {
    ($($trait:ident $name:ident $op:ident;)*) => {$(
        impl<'a> $trait for RecordedLane<'a> {
            type Output = RecordedLane<'a>;

            fn $name(self, rhs: RecordedLane<'a>) -> RecordedLane<'a> {
                self.arithmetic(Op::$op, rhs, $trait::$name)
            }
        }

        impl<'a> $trait<f64> for RecordedLane<'a> {
            type Output = RecordedLane<'a>;

            fn $name(self, rhs: f64) -> RecordedLane<'a> {
                $trait::$name(self, self.number(rhs))
            }
        }
    )*};
}

operators! {
    Add add AddF64;
    Sub sub SubtractF64;
    Mul mul MultiplyF64;
    Div div DivideF64;
}

impl<'a> Neg for RecordedLane<'a> {
    type Output = RecordedLane<'a>;

    fn neg(self) -> RecordedLane<'a> {
        self.pair(Op::Xor, self.bits(1 << 63), |x, y| x ^ y)
    }
}

impl<'a> BitAnd for Mask<'a> {
    type Output = Mask<'a>;

    fn bitand(self, rhs: Mask<'a>) -> Mask<'a> {
        match (self.0.known(), rhs.0.known()) {
            (Some(0), _) | (_, Some(u64::MAX)) => self,
            (Some(u64::MAX), _) | (_, Some(0)) => rhs,
            _ => Mask(self.0.pair(Op::And, rhs.0, |x, y| x & y)),
        }
    }
}

impl<'a> BitOr for Mask<'a> {
    type Output = Mask<'a>;

    fn bitor(self, rhs: Mask<'a>) -> Mask<'a> {
        match (self.0.known(), rhs.0.known()) {
            (Some(u64::MAX), _) | (_, Some(0)) => self,
            (Some(0), _) | (_, Some(u64::MAX)) => rhs,
            _ => Mask(self.0.pair(Op::Or, rhs.0, |x, y| x | y)),
        }
    }
}

impl<'a> Not for Mask<'a> {
    type Output = Mask<'a>;

    fn not(self) -> Mask<'a> {
        Mask(self.0.pair(Op::Xor, self.0.bits(u64::MAX), |x, y| x ^ y))
    }
}

impl<'a> Lane for RecordedLane<'a> {
    type Mask = Mask<'a>;

    fn splat(self, x: f64) -> RecordedLane<'a> {
        self.number(x)
    }

    fn sqrt(self) -> RecordedLane<'a> {
        self.with(|code| code.unary(Op::SqrtF64, self.value))
    }

    fn mul_add(self, factor: RecordedLane<'a>, term: RecordedLane<'a>) -> RecordedLane<'a> {
        let known = [self, factor, term].map(|value| value.known().map(f64::from_bits));
        match known {
            [Some(x), Some(y), Some(z)] => self.number(x.mul_add(y, z)),
            _ => self.with(|code| {
                code.multiply_add(Op::MultiplyAddF64, term.value, self.value, factor.value)
            }),
        }
    }

    fn least(self, rhs: RecordedLane<'a>) -> RecordedLane<'a> {
        self.arithmetic(Op::LeastF64, rhs, Lane::least)
    }

    fn greatest(self, rhs: RecordedLane<'a>) -> RecordedLane<'a> {
        self.arithmetic(Op::GreatestF64, rhs, Lane::greatest)
    }

    fn less(self, rhs: RecordedLane<'a>) -> Mask<'a> {
        self.compare(Predicate::Less, rhs, |x, y| x < y)
    }

    fn at_least(self, rhs: RecordedLane<'a>) -> Mask<'a> {
        self.compare(Predicate::GreaterOrEqual, rhs, |x, y| x >= y)
    }

    fn equals(self, rhs: RecordedLane<'a>) -> Mask<'a> {
        self.compare(Predicate::Equal, rhs, |x, y| x == y)
    }

    fn is_nan(self) -> Mask<'a> {
        self.compare(Predicate::Unordered, self, |x, _| x.is_nan())
    }

    fn select(mask: Mask<'a>, yes: RecordedLane<'a>, no: RecordedLane<'a>) -> RecordedLane<'a> {
        match mask.0.known() {
            Some(0) => no,
            Some(u64::MAX) => yes,
            _ => yes.with(|code| code.blend(mask.0.value, yes.value, no.value)),
        }
    }

    fn and_bits(self, bits: u64) -> RecordedLane<'a> {
        self.pair(Op::And, self.bits(bits), |x, y| x & y)
    }

    fn or_bits(self, bits: u64) -> RecordedLane<'a> {
        self.pair(Op::Or, self.bits(bits), |x, y| x | y)
    }

    fn or(self, rhs: RecordedLane<'a>) -> RecordedLane<'a> {
        self.pair(Op::Or, rhs, |x, y| x | y)
    }

    fn add_bits(self, bits: u64) -> RecordedLane<'a> {
        self.pair(Op::AddI64, self.bits(bits), u64::wrapping_add)
    }

    fn subtract_bits(self, rhs: RecordedLane<'a>) -> RecordedLane<'a> {
        self.pair(Op::SubtractI64, rhs, u64::wrapping_sub)
    }

    fn shift_left(self, by: u8) -> RecordedLane<'a> {
        self.with(|code| code.shift_left8(self.value, by))
    }

    fn shift_right(self, by: u8) -> RecordedLane<'a> {
        self.with(|code| code.shift_right8(self.value, by))
    }
}
