//! Simplifications of elementwise ops.

use super::{element_limit, forward, splat_number};
use crate::evaluate::{Limits, evaluate};
use hlo::enums::COMPARISON_DIRECTION;
use hlo::ops::*;
use mlir::attrs::DenseElements;
use mlir::ods::Trait;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::{Attribute, OpId, Type, Value};
use numerics::Bytes;

pub(super) static PATTERNS: &[RewritePattern] = &[
    RewritePattern::new("add-constant-last", AddOp::DEF, constant_last),
    RewritePattern::new("add-zero", AddOp::DEF, add_zero),
    RewritePattern::new("and-constant-last", AndOp::DEF, constant_last),
    RewritePattern::new("and-zero", AndOp::DEF, and_zero),
    RewritePattern::new("and-ones", AndOp::DEF, and_ones),
    RewritePattern::new("compare-boolean", CompareOp::DEF, compare_boolean),
    RewritePattern::new("compare-self", CompareOp::DEF, compare_self),
    RewritePattern::new("compare-constant-last", CompareOp::DEF, compare_constant_last),
    RewritePattern::new("complex-of-parts", ComplexOp::DEF, complex_of_parts),
    RewritePattern::new("convert-to-same", ConvertOp::DEF, convert_to_same),
    RewritePattern::new("imag-of-complex", ImagOp::DEF, imag_of_complex),
    RewritePattern::new("maximum-constant-last", MaximumOp::DEF, constant_last),
    RewritePattern::new("minimum-constant-last", MinimumOp::DEF, constant_last),
    RewritePattern::new("multiply-constant-last", MultiplyOp::DEF, constant_last),
    RewritePattern::new("multiply-zero", MultiplyOp::DEF, multiply_zero),
    RewritePattern::new("multiply-one", MultiplyOp::DEF, multiply_one),
    RewritePattern::new("or-constant-last", OrOp::DEF, constant_last),
    RewritePattern::new("or-ones", OrOp::DEF, or_ones),
    RewritePattern::new("or-zero", OrOp::DEF, or_zero),
    RewritePattern::new("real-of-complex", RealOp::DEF, real_of_complex),
    RewritePattern::new("select-of-not", SelectOp::DEF, select_of_not),
    RewritePattern::new("select-of-broadcast-not", SelectOp::DEF, select_of_broadcast_not),
    RewritePattern::new("select-same", SelectOp::DEF, select_same),
    RewritePattern::new("select-by-constant", SelectOp::DEF, select_by_constant),
    RewritePattern::new("subtract-self", SubtractOp::DEF, zero_of_self),
    RewritePattern::new("subtract-zero", SubtractOp::DEF, subtract_zero),
    RewritePattern::new("xor-constant-last", XorOp::DEF, constant_last),
    RewritePattern::new("xor-self", XorOp::DEF, zero_of_self),
    RewritePattern::new("xor-zero", XorOp::DEF, or_zero),
];

fn operands(rw: &Rewriter<'_>, op: OpId) -> Option<[Value; 2]> {
    rw.op(op).operands().try_into().ok()
}

fn is_constant(rw: &Rewriter<'_>, value: Value) -> bool {
    rw.defining_op(value).is_some_and(|op| op.has_trait(&Trait::ConstantLike))
}

/// A splat constant; `element` is the stored form of the element.
fn splat(rw: &mut Rewriter<'_>, ty: &Type, element: Vec<u8>) -> Option<Value> {
    let value: Attribute = DenseElements::new(ty.clone(), Bytes::from_vec(element))?.into();
    Some(rw.make(ConstantOp::DEF, []).attr("value", value).result(ty.clone()))
}

/// `f(c, x) = f(x, c)`
fn constant_last(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    if !is_constant(rw, lhs) || is_constant(rw, rhs) {
        return None;
    }
    rw.set_operands(op, &[rhs, lhs]);
    Some(())
}

/// `x + 0 = x`; for floats, exact only for `-0.0`.
fn add_zero(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    let zero = splat_number(rw, rhs).filter(|n| n.is_zero())?;
    if !zero.is_integer() && !zero.is_negative_zero() && !rw.options().bool("optimize-float") {
        return None;
    }
    forward(rw, op, lhs)
}

/// `x - 0 = x`; for floats, exact only for `+0.0`.
fn subtract_zero(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    let zero = splat_number(rw, rhs).filter(|n| n.is_zero())?;
    if zero.is_negative_zero() && !rw.options().bool("optimize-float") {
        return None;
    }
    forward(rw, op, lhs)
}

/// `x & 0 = 0`
fn and_zero(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [_, rhs] = operands(rw, op)?;
    splat_number(rw, rhs).filter(|n| n.is_zero())?;
    forward(rw, op, rhs)
}

/// `x & -1 = x`
fn and_ones(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    splat_number(rw, rhs).filter(|n| n.is_all_ones())?;
    forward(rw, op, lhs)
}

/// `x | -1 = -1`
fn or_ones(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [_, rhs] = operands(rw, op)?;
    splat_number(rw, rhs).filter(|n| n.is_all_ones())?;
    forward(rw, op, rhs)
}

/// `x | 0 = x`, `x ^ 0 = x`
fn or_zero(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    splat_number(rw, rhs).filter(|n| n.is_zero())?;
    forward(rw, op, lhs)
}

/// `x * 0 = 0` for integers; floats may be NaN or infinite.
fn multiply_zero(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [_, rhs] = operands(rw, op)?;
    splat_number(rw, rhs).filter(|n| n.is_zero() && n.is_integer())?;
    forward(rw, op, rhs)
}

/// `x * 1 = x`
fn multiply_one(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    splat_number(rw, rhs).filter(|n| n.is_one())?;
    forward(rw, op, lhs)
}

/// `x - x = 0` for integers, `x ^ x = 0`
fn zero_of_self(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    let ty = rw.op(op).result_type(0).clone();
    let element = ty.as_tensor().filter(|t| t.has_static_shape())?.element.clone();
    if lhs != rhs || !element.is_integer(None) {
        return None;
    }
    let zero = splat(rw, &ty, vec![0; element.dtype()?.bytes()])?;
    rw.replace(op, &[zero]);
    Some(())
}

const EQ: u64 = 0;
const NE: u64 = 1;
const GE: u64 = 2;
const LE: u64 = 4;

fn direction(rw: &Rewriter<'_>, op: OpId) -> Option<u64> {
    Some(CompareOp::cast(rw.op(op))?.comparison_direction())
}

/// True if the compare type of a `compare` is integral.
fn is_of_integers(rw: &Rewriter<'_>, op: OpId) -> bool {
    const SIGNED: u64 = 3;
    const UNSIGNED: u64 = 4;
    let kind = CompareOp::cast(rw.op(op)).and_then(|c| c.compare_type());
    matches!(kind, Some(SIGNED | UNSIGNED))
}

/// `x != false = x`, `x == true = x`
fn compare_boolean(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    if *rw.ty(rhs).element_type() != Type::i1() {
        return None;
    }
    let number = splat_number(rw, rhs)?;
    let is_same = match direction(rw, op)? {
        NE => number.is_zero(),
        EQ => number.is_one(),
        _ => false,
    };
    if !is_same {
        return None;
    }
    forward(rw, op, lhs)
}

/// For integers, `x == x`, `x >= x` and `x <= x` are true, `x != x`, `x > x` and `x < x` false.
fn compare_self(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [lhs, rhs] = operands(rw, op)?;
    let ty = rw.op(op).result_type(0).clone();
    if lhs != rhs || !is_of_integers(rw, op) || !ty.as_tensor()?.has_static_shape() {
        return None;
    }
    let holds = matches!(direction(rw, op)?, EQ | GE | LE);
    let value = splat(rw, &ty, vec![u8::from(holds)])?;
    rw.replace(op, &[value]);
    Some(())
}

/// `c < x = x > c`, for integers.
fn compare_constant_last(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    // GE and LE, GT and LT swap.
    const MIRRORED: [u64; 6] = [EQ, NE, LE, 5, GE, 3];
    let [lhs, rhs] = operands(rw, op)?;
    if !is_of_integers(rw, op) || !is_constant(rw, lhs) || is_constant(rw, rhs) {
        return None;
    }
    let mirrored = *MIRRORED.get(direction(rw, op)? as usize)?;
    rw.set_attr(
        op,
        "comparison_direction",
        Attribute::enumeration(&COMPARISON_DIRECTION, mirrored),
    );
    rw.set_operands(op, &[rhs, lhs]);
    Some(())
}

/// The operand of a value's defining op, if that is of the given kind.
fn operand_of(
    rw: &Rewriter<'_>,
    value: Value,
    def: &'static mlir::ods::OpDef,
    index: usize,
) -> Option<Value> {
    rw.defining_op(value).filter(|op| op.is(def))?.operands().get(index).copied()
}

/// `complex(real(z), imag(z)) = z`
fn complex_of_parts(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [re, im] = operands(rw, op)?;
    let z = operand_of(rw, re, RealOp::DEF, 0)?;
    if operand_of(rw, im, ImagOp::DEF, 0)? != z {
        return None;
    }
    forward(rw, op, z)
}

/// `real(complex(x, y)) = x`
fn real_of_complex(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let part = operand_of(rw, rw.op(op).operand(0), ComplexOp::DEF, 0)?;
    forward(rw, op, part)
}

/// `imag(complex(x, y)) = y`
fn imag_of_complex(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let part = operand_of(rw, rw.op(op).operand(0), ComplexOp::DEF, 1)?;
    forward(rw, op, part)
}

/// `convert(x) = x` if the types are equal.
fn convert_to_same(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operand = rw.op(op).operand(0);
    forward(rw, op, operand)
}

/// `select(not(p), a, b) = select(p, b, a)`
fn select_of_not(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [p, a, b] = rw.op(op).operands().try_into().ok()?;
    let p = operand_of(rw, p, NotOp::DEF, 0)?;
    rw.set_operands(op, &[p, b, a]);
    Some(())
}

/// `select(broadcast(not(p)), a, b) = select(broadcast(p), b, a)`
fn select_of_broadcast_not(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [p, a, b] = rw.op(op).operands().try_into().ok()?;
    let broadcast = rw.defining_op(p).filter(|op| op.is(BroadcastInDimOp::DEF))?.id();
    let inner = operand_of(rw, rw.op(broadcast).operand(0), NotOp::DEF, 0)?;
    if !rw.has_one_use(p) {
        return None;
    }
    let ty = rw.ty(p).clone();
    let p = rw.make(BroadcastInDimOp::DEF, [inner]).attributes_of(broadcast).result(ty);
    rw.set_operands(op, &[p, b, a]);
    Some(())
}

/// `select(p, a, a) = a`
fn select_same(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [_, a, b] = rw.op(op).operands().try_into().ok()?;
    if a != b {
        return None;
    }
    forward(rw, op, a)
}

/// `select(true, a, b) = a`, `select(false, a, b) = b`, and element by element if all three are
/// constants.
fn select_by_constant(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [p, a, b] = rw.op(op).operands().try_into().ok()?;
    if let Some(number) = splat_number(rw, p) {
        return forward(rw, op, if number.is_zero() { b } else { a });
    }
    let value = evaluate(rw.op(op), Limits::elements(element_limit(rw)))?.into_iter().next()?;
    let ty = rw.op(op).result_type(0).clone();
    let constant = rw.make(ConstantOp::DEF, []).attr("value", value).result(ty);
    rw.replace(op, &[constant]);
    Some(())
}
