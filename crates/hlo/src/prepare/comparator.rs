//! Comparators of sorts, with the keys that they compare.

use crate::ops::{ConstantOp, SelectOp, relation};
use mlir::ir::ValueDef;
use mlir::prepare::Preparer;
use mlir::{BlockId, Module, OpRef, RegionId, Value};
use numerics::math::{self, Direction};
use numerics::{DType, Tensor};
use program::{Canonical, Comparator, ComplexPart, EvalError, SortKey};

/// The region `region` of `op` as a comparator.
///
/// # Errors
/// If the region has several blocks.
pub fn comparator(
    op: OpRef<'_>,
    region: RegionId,
    cx: &mut Preparer<'_>,
) -> Result<Box<Comparator>, EvalError> {
    let module = op.module();
    let block = cx.block(region)?;
    let entry = module.entry(region);
    let arguments = entry.map_or(&[][..], |block| module.arguments(block));
    let ops = entry.into_iter().flat_map(|block| module.ops(block));
    let nested = ops.clone().any(|op| !op.regions().is_empty());
    let uses = |v| nested || ops.clone().any(|op| op.operands().contains(&v));
    let used = arguments.iter().map(|&a| uses(a)).collect();
    let keys = keys_of(module, region).unwrap_or_default();
    Ok(Box::new(Comparator { block, used, keys }))
}

/// The keys of a comparator that compares keys in sequence until two are unequal:
/// `key0 < key0' || (key0 == key0' && (key1 < key1' || …))`.
fn keys_of(module: &Module, region: RegionId) -> Option<Vec<SortKey>> {
    let block = module.entry(region)?;
    let &[mut result] = module.terminator(block)?.operands() else { return None };
    let mut keys = Vec::new();
    loop {
        if let Some((key, direction)) = key_of(module, block, result) {
            keys.push(key);
            return is_strict(direction).then_some(keys);
        }
        let either = |v: Value, name: &str| {
            let &[a, b] = defining_op_named(module, v, name)?.operands() else { return None };
            Some([[a, b], [b, a]])
        };
        let (key, rest) =
            either(result, "stablehlo.or")?.into_iter().find_map(|[before, tie]| {
                let (key, _) = key_of(module, block, before).filter(|&(_, d)| is_strict(d))?;
                let is_same = |v: Value| {
                    let (other, direction) = key_of(module, block, v)?;
                    let other = SortKey { descending: key.descending, ..other };
                    (direction == Direction::Eq && other == key).then_some(())
                };
                let mut ties = either(tie, "stablehlo.and")?.into_iter();
                ties.find_map(|[equal, rest]| is_same(equal).map(|()| (key, rest)))
            })?;
        keys.push(key);
        result = rest;
    }
}

fn is_strict(direction: Direction) -> bool {
    matches!(direction, Direction::Lt | Direction::Gt)
}

/// The key of both sides that a comparison compares, and how.
fn key_of(module: &Module, block: BlockId, value: Value) -> Option<(SortKey, Direction)> {
    let op = defining_op(module, value)?;
    let (direction, total_order) = relation(op)?;
    let &[lhs, rhs] = op.operands() else { return None };
    let (lhs, canonical) = canonicalized(module, lhs)?;
    let (rhs, rhs_canonical) = canonicalized(module, rhs)?;
    if canonical != rhs_canonical || (canonical != Canonical::default() && !total_order) {
        return None;
    }
    let ((lhs, part), (rhs, rhs_part)) = (complex_part(module, lhs), complex_part(module, rhs));
    let position = |v| module.arguments(block).iter().position(|&a| a == v);
    let (lhs, rhs) = (position(lhs)?, position(rhs)?);
    let descending = (direction == Direction::Gt) != (lhs > rhs);
    let key = SortKey { input: lhs / 2, part, descending, total_order, canonical };
    (lhs / 2 == rhs / 2 && lhs != rhs && part == rhs_part).then_some((key, direction))
}

/// The complex number of which `value` is a part; else the value itself.
fn complex_part(module: &Module, value: Value) -> (Value, Option<ComplexPart>) {
    let part = |op: OpRef<'_>| match op.def()?.name {
        "stablehlo.real" => Some(ComplexPart::Real),
        "stablehlo.imag" => Some(ComplexPart::Imaginary),
        _ => None,
    };
    let op = defining_op(module, value);
    match op.and_then(|op| Some((part(op)?, op.operands()))) {
        Some((part, &[whole])) => (whole, Some(part)),
        _ => (value, None),
    }
}

fn defining_op(module: &Module, value: Value) -> Option<OpRef<'_>> {
    match module.definition(value) {
        ValueDef::Result { op, .. } => Some(module.op(op)),
        ValueDef::Argument { .. } => None,
    }
}

fn defining_op_named<'m>(module: &'m Module, value: Value, name: &str) -> Option<OpRef<'m>> {
    defining_op(module, value).filter(|op| op.def().is_some_and(|def| def.name == name))
}

/// The value that `value` canonicalizes: `nan` where `x != x`, else `0` where `x == 0`, else `x`;
/// either step may be absent.
fn canonicalized(module: &Module, value: Value) -> Option<(Value, Canonical)> {
    let mut canonical = Canonical::default();
    let mut rest = value;
    // Each step is a selection between a constant and what it replaces.
    while let Some(select) = defining_op(module, rest).and_then(SelectOp::cast) {
        let (replacement, kept) = (select.on_true(), select.on_false());
        let place = place_of_constant(module, replacement)?;
        let condition = defining_op(module, select.pred())?;
        let &[lhs, rhs] = condition.operands() else { return None };
        let source = match relation(condition)? {
            (Direction::Ne, false)
                if lhs == rhs && (lhs == kept || lhs == argument_under(module, kept)) =>
            {
                // Only as the outermost step: the replacement for NaNs is then final.
                canonical.zero.is_none().then_some(&mut canonical.nan)?
            }
            (Direction::Eq, false)
                if lhs == kept && is_zero(module, rhs) && is_zero(module, replacement) =>
            {
                &mut canonical.zero
            }
            _ => return None,
        };
        if source.replace(place).is_some() {
            return None;
        }
        rest = kept;
    }
    Some((rest, canonical))
}

/// The last operand of a selection, or the value itself.
fn argument_under(module: &Module, value: Value) -> Value {
    let select = defining_op(module, value).and_then(SelectOp::cast);
    select.map_or(value, SelectOp::on_false)
}

fn constant(module: &Module, value: Value) -> Option<Tensor> {
    ConstantOp::cast(defining_op(module, value)?)?.value().to_tensor()?.ok()
}

fn is_zero(module: &Module, value: Value) -> bool {
    let zero = || math::convert(constant(module, value)?, DType::F64).ok()?.item::<f64>().ok();
    zero() == Some(0.0)
}

/// The place of a float constant in the total order.
fn place_of_constant(module: &Module, value: Value) -> Option<i64> {
    math::compare::total_order_key_of(&constant(module, value)?)
}
