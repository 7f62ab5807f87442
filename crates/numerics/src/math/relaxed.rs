//! Functions of slices of `f32` in explicit vectors of WebAssembly: two numbers of `f64` at a time.
//!
//! The compiler makes no vectors of fused multiply-adds there, which are function calls to it.

use super::binary::BinaryOp;
use super::kernel::{SliceKernel, cast, cast_mut};
use super::lanes::{self, Lane};
use super::unary::UnaryOp;
use super::{lanes_erf, lanes_trigonometric};
use crate::DType;
use crate::simd::Isa;
use std::arch::wasm32::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

impl SliceKernel {
    /// The kernel of an operation with its loop in explicit vectors, where there is one.
    pub(super) fn in_vectors(self, op: UnaryOp) -> SliceKernel {
        const TYPE: DType = DType::F32;
        let Some(overwrite) = function(op).filter(|_| self.operands() == [TYPE]) else {
            return self;
        };
        let within = self.within.clone();
        if self.overwrites() {
            let run = move |elements: &mut [u8]| match overwrite(cast_mut(elements)?) {
                true => Some(()),
                false => self.overwrite(elements).ok(),
            };
            return SliceKernel::overwriting(TYPE, run).with(within);
        }
        let run = move |results: &mut [u8], operands: &[&[u8]]| {
            results.copy_from_slice(operands.first()?);
            match overwrite(cast_mut(results)?) {
                true => Some(()),
                false => self.run(results, operands),
            }
        };
        SliceKernel::of([TYPE; 3], 1, TYPE, run).with(within)
    }

    /// The kernel of an operation on pairs with its loop in explicit vectors, where there is one.
    pub(super) fn pairs_in_vectors(self, op: BinaryOp) -> SliceKernel {
        const TYPE: DType = DType::F32;
        let function: fn(&mut [f32], [&[f32]; 2]) = match op {
            BinaryOp::Atan2 => {
                |results, pairs| of_pairs(results, pairs, lanes_trigonometric::atan2)
            }
            BinaryOp::Power => |results, pairs| of_pairs(results, pairs, lanes::pow),
            _ => return self,
        };
        if !Isa::best().has_vectors() || self.operands() != [TYPE; 2] {
            return self;
        }
        let within = self.within.clone();
        let run = move |results: &mut [u8], operands: &[&[u8]]| {
            let &[lhs, rhs] = operands else { return None };
            function(cast_mut(results)?, [cast(lhs)?, cast(rhs)?]);
            Some(())
        };
        SliceKernel::of([TYPE; 3], 2, TYPE, run).with(within)
    }
}

/// Overwrites numbers by their results. False, and nothing is written, if the function is not
/// defined for all of them.
type Overwrite = fn(&mut [f32]) -> bool;

/// The function of an operation, where fused multiply-adds are instructions.
fn function(op: UnaryOp) -> Option<Overwrite> {
    if !Isa::best().has_vectors() {
        return None;
    }
    Some(match op {
        UnaryOp::Acos => |xs| overwrite(xs, lanes_trigonometric::acos),
        UnaryOp::Asin => |xs| overwrite(xs, lanes_trigonometric::asin),
        UnaryOp::Atan => |xs| overwrite(xs, lanes_trigonometric::atan),
        UnaryOp::Cosine => |xs| of_angles(xs, lanes_trigonometric::cos),
        UnaryOp::Erf => |xs| overwrite(xs, lanes_erf::erf),
        UnaryOp::Erfc => |xs| overwrite(xs, lanes_erf::erfc),
        UnaryOp::ErfInv => |xs| overwrite(xs, lanes_erf::erf_inv),
        UnaryOp::Exponential => |xs| overwrite(xs, lanes::exp),
        UnaryOp::ExponentialMinusOne => |xs| overwrite(xs, lanes::exp_m1),
        UnaryOp::Log => |xs| overwrite(xs, lanes::log),
        UnaryOp::LogPlusOne => |xs| overwrite(xs, lanes::log_1p),
        UnaryOp::Logistic => |xs| overwrite(xs, lanes::logistic),
        UnaryOp::Rsqrt => |xs| overwrite(xs, lanes::rsqrt),
        UnaryOp::Sine => |xs| of_angles(xs, lanes_trigonometric::sin),
        UnaryOp::Tan => |xs| of_angles(xs, lanes_trigonometric::tan),
        UnaryOp::Tanh => |xs| overwrite(xs, lanes::tanh),
        _ => return None,
    })
}

/// As [`overwrite`], of a function of angles.
#[inline(always)]
fn of_angles(angles: &mut [f32], f: impl Fn(Two) -> Two) -> bool {
    let is_angle = |&x: &f32| lanes_trigonometric::is_angle(f64::from(x));
    angles.iter().all(is_angle) && overwrite(angles, f)
}

/// Overwrites numbers by the results of a function.
#[inline(always)]
fn overwrite(numbers: &mut [f32], f: impl Fn(Two) -> Two) -> bool {
    #[target_feature(enable = "relaxed-simd")]
    fn run(numbers: &mut [f32], f: impl Fn(Two) -> Two) {
        let of_two = |pair: [f32; 2]| -> [f32; 2] {
            let singles = f32x4(pair[0], pair[1], 0.0, 0.0);
            let wide = Two(f64x2_promote_low_f32x4(singles));
            let results = f32x4_demote_f64x2_zero(lanes::one_nan(wide, f(wide)).0);
            [f32x4_extract_lane::<0>(results), f32x4_extract_lane::<1>(results)]
        };
        let (pairs, rest) = numbers.as_chunks_mut::<2>();
        for pair in pairs {
            *pair = of_two(*pair);
        }
        for last in rest {
            [*last, _] = of_two([*last; 2]);
        }
    }
    run(numbers, f);
    true
}

/// Writes the results of a function of pairs.
#[inline(always)]
fn of_pairs(results: &mut [f32], operands: [&[f32]; 2], f: impl Fn(Two, Two) -> Two) {
    #[target_feature(enable = "relaxed-simd")]
    fn run(results: &mut [f32], [lhs, rhs]: [&[f32]; 2], f: impl Fn(Two, Two) -> Two) {
        let wide = |pair: [f32; 2]| Two(f64x2_promote_low_f32x4(f32x4(pair[0], pair[1], 0.0, 0.0)));
        let of_two = |lhs: [f32; 2], rhs: [f32; 2]| -> [f32; 2] {
            let results = f32x4_demote_f64x2_zero(f(wide(lhs), wide(rhs)).0);
            [f32x4_extract_lane::<0>(results), f32x4_extract_lane::<1>(results)]
        };
        let (pairs, last) = results.as_chunks_mut::<2>();
        let ((lhs, last_lhs), (rhs, last_rhs)) = (lhs.as_chunks::<2>(), rhs.as_chunks::<2>());
        for ((pair, &lhs), &rhs) in pairs.iter_mut().zip(lhs).zip(rhs) {
            *pair = of_two(lhs, rhs);
        }
        for ((last, &lhs), &rhs) in last.iter_mut().zip(last_lhs).zip(last_rhs) {
            [*last, _] = of_two([lhs; 2], [rhs; 2]);
        }
    }
    run(results, operands, f);
}

/// Two numbers.
#[derive(Clone, Copy)]
struct Two(v128);

/// Two booleans: all bits are the same.
#[derive(Clone, Copy)]
struct TwoMasks(v128);

macro_rules! operators {
    ($($operator:ident $method:ident $function:ident)*) => {$(
        impl $operator for Two {
            type Output = Two;
            #[inline(always)]
            fn $method(self, rhs: Two) -> Two {
                Two($function(self.0, rhs.0))
            }
        }

        impl $operator<f64> for Two {
            type Output = Two;
            #[inline(always)]
            fn $method(self, rhs: f64) -> Two {
                Two($function(self.0, f64x2_splat(rhs)))
            }
        }
    )*};
}
operators! {
    Add add f64x2_add
    Sub sub f64x2_sub
    Mul mul f64x2_mul
    Div div f64x2_div
}

impl Neg for Two {
    type Output = Two;
    #[inline(always)]
    fn neg(self) -> Two {
        Two(f64x2_neg(self.0))
    }
}

impl BitAnd for TwoMasks {
    type Output = TwoMasks;
    #[inline(always)]
    fn bitand(self, rhs: TwoMasks) -> TwoMasks {
        TwoMasks(v128_and(self.0, rhs.0))
    }
}

impl BitOr for TwoMasks {
    type Output = TwoMasks;
    #[inline(always)]
    fn bitor(self, rhs: TwoMasks) -> TwoMasks {
        TwoMasks(v128_or(self.0, rhs.0))
    }
}

impl Not for TwoMasks {
    type Output = TwoMasks;
    #[inline(always)]
    fn not(self) -> TwoMasks {
        TwoMasks(v128_not(self.0))
    }
}

impl Lane for Two {
    type Mask = TwoMasks;

    #[inline(always)]
    fn splat(self, x: f64) -> Two {
        Two(f64x2_splat(x))
    }

    #[inline(always)]
    fn sqrt(self) -> Two {
        Two(f64x2_sqrt(self.0))
    }

    #[inline(always)]
    fn mul_add(self, factor: Two, term: Two) -> Two {
        Two(f64x2_relaxed_madd(self.0, factor.0, term.0))
    }

    // Not the instructions for these, which may become relaxed ones with results of other machines.
    #[inline(always)]
    fn least(self, rhs: Two) -> Two {
        Two::select(self.less(rhs), self, rhs)
    }

    #[inline(always)]
    fn greatest(self, rhs: Two) -> Two {
        Two::select(rhs.less(self), self, rhs)
    }

    #[inline(always)]
    fn less(self, rhs: Two) -> TwoMasks {
        TwoMasks(f64x2_lt(self.0, rhs.0))
    }

    #[inline(always)]
    fn at_least(self, rhs: Two) -> TwoMasks {
        TwoMasks(f64x2_ge(self.0, rhs.0))
    }

    #[inline(always)]
    fn equals(self, rhs: Two) -> TwoMasks {
        TwoMasks(f64x2_eq(self.0, rhs.0))
    }

    #[inline(always)]
    fn is_nan(self) -> TwoMasks {
        TwoMasks(f64x2_ne(self.0, self.0))
    }

    #[inline(always)]
    fn select(mask: TwoMasks, yes: Two, no: Two) -> Two {
        Two(v128_bitselect(yes.0, no.0, mask.0))
    }

    #[inline(always)]
    fn and_bits(self, bits: u64) -> Two {
        Two(v128_and(self.0, u64x2_splat(bits)))
    }

    #[inline(always)]
    fn or_bits(self, bits: u64) -> Two {
        Two(v128_or(self.0, u64x2_splat(bits)))
    }

    #[inline(always)]
    fn or(self, rhs: Two) -> Two {
        Two(v128_or(self.0, rhs.0))
    }

    #[inline(always)]
    fn add_bits(self, bits: u64) -> Two {
        Two(u64x2_add(self.0, u64x2_splat(bits)))
    }

    #[inline(always)]
    fn subtract_bits(self, rhs: Two) -> Two {
        Two(u64x2_sub(self.0, rhs.0))
    }

    #[inline(always)]
    fn shift_left(self, by: u8) -> Two {
        Two(u64x2_shl(self.0, by.into()))
    }

    #[inline(always)]
    fn shift_right(self, by: u8) -> Two {
        Two(u64x2_shr(self.0, by.into()))
    }
}
