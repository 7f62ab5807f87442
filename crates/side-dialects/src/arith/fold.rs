//! Folds of the dialect's ops over constants and casts.

pub(super) use crate::folding::evaluate;

use super::{IndexCastOp, IndexCastUIOp};
use mlir::rewrite::Folded;
use mlir::{AttrKind, Attribute, OpRef};

/// Right identities: `x op number = x`.
const NEUTRAL: &[(&str, i128)] = &[
    ("arith.addi", 0),
    ("arith.divsi", 1),
    ("arith.divui", 1),
    ("arith.muli", 1),
    ("arith.ori", 0),
    ("arith.shli", 0),
    ("arith.shrsi", 0),
    ("arith.shrui", 0),
    ("arith.subi", 0),
    ("arith.xori", 0),
];

/// Right absorbing element: `x op 0 = 0`.
const ZERO_IF_ZERO: &[&str] = &["arith.muli", "arith.andi"];

/// The element of a splat constant.
fn number(constant: &Attribute) -> Option<i128> {
    match &**constant {
        AttrKind::Integer { value, .. } => Some(*value),
        AttrKind::Dense(elements) if elements.is_splat() => {
            Some(i128::from(*elements.int_values()?.first()?))
        }
        _ => None,
    }
}

/// Integer arithmetic. Constants of commutative ops are the second operand.
pub(super) fn integers(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    if let [None, Some(constant)] = constants {
        let (number, name) = (number(constant)?, op.name());
        if NEUTRAL.contains(&(name, number)) {
            return Some(vec![Folded::Value(op.operands()[0])]);
        }
        let is_zero = number == 0 && ZERO_IF_ZERO.contains(&name);
        return is_zero.then(|| vec![Folded::Constant(constant.clone())]);
    }
    evaluate(op, constants)
}

/// Casts between integers, and from and to floats. A cast and its inverse cancel out if no bits are
/// lost in between: an index has 64 bits.
pub(super) fn casts(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    if let Some(inner) = op.operands().first().and_then(|&v| op.module().defining_op(v)) {
        let is_index_cast = op.is(IndexCastOp::DEF) || op.is(IndexCastUIOp::DEF);
        let width = |op: OpRef<'_>| op.operand_type(0).element_type().bit_width().unwrap_or(64);
        if is_index_cast
            && inner.name() == op.name()
            && inner.operand_type(0) == op.result_type(0)
            && width(op) >= width(inner)
        {
            return Some(vec![Folded::Value(inner.operands()[0])]);
        }
    }
    evaluate(op, constants)
}

/// `select(true, x, y)` and `select(c, x, x)` are `x`; `select(false, x, y)` is `y`.
pub(super) fn select(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let &[_, yes, no] = op.operands() else { return None };
    let condition = constants.first()?.as_ref().and_then(number);
    let chosen = match condition {
        Some(0) => Some(no),
        Some(_) => Some(yes),
        None => (yes == no).then_some(yes),
    };
    chosen.map(|value| vec![Folded::Value(value)]).or_else(|| evaluate(op, constants))
}
