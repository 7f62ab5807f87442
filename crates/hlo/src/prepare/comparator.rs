//! Comparators of sorts, with the comparison of one input that they amount to.

use crate::ops::relation;
use mlir::ir::ValueDef;
use mlir::prepare::Preparer;
use mlir::{Module, OpRef, RegionId, Value};
use numerics::math::{self, Direction};
use numerics::{DType, Tensor};
use program::{Canonical, Comparator, EvalError, SortKey};

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
    Ok(Box::new(Comparator { block, used, key: key_of(module, region) }))
}

fn key_of(module: &Module, region: RegionId) -> Option<SortKey> {
    let block = module.entry(region)?;
    let &[result] = module.terminator(block)?.operands() else { return None };
    let op = defining_op(module, result)?;
    let (direction, total_order) = relation(op)?;
    let ascending = match direction {
        Direction::Lt => true,
        Direction::Gt => false,
        _ => return None,
    };
    let &[lhs, rhs] = op.operands() else { return None };
    let (lhs, canonical) = canonicalized(module, lhs)?;
    let (rhs, rhs_canonical) = canonicalized(module, rhs)?;
    if canonical != rhs_canonical || (canonical != Canonical::default() && !total_order) {
        return None;
    }
    let position = |v| module.arguments(block).iter().position(|&a| a == v);
    let (lhs, rhs) = (position(lhs)?, position(rhs)?);
    let swapped = lhs > rhs;
    let descending = ascending == swapped;
    (lhs / 2 == rhs / 2 && lhs != rhs).then_some(SortKey {
        input: lhs / 2,
        descending,
        total_order,
        canonical,
    })
}

fn defining_op(module: &Module, value: Value) -> Option<OpRef<'_>> {
    match module.definition(value) {
        ValueDef::Result { op, .. } => Some(module.op(op)),
        ValueDef::Argument { .. } => None,
    }
}

/// The value that `value` canonicalizes: `nan` where `x != x`, else `0` where `x == 0`, else `x`;
/// either step may be absent.
fn canonicalized(module: &Module, value: Value) -> Option<(Value, Canonical)> {
    let mut canonical = Canonical::default();
    let mut rest = value;
    // Each step is a selection between a constant and what it replaces.
    while let Some(op) = defining_op(module, rest) {
        let &[condition, replacement, kept] = op.operands() else { return None };
        if op.def()?.name != "stablehlo.select" {
            return None;
        }
        let place = place_of_constant(module, replacement)?;
        let condition = defining_op(module, condition)?;
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
    match defining_op(module, value).map(OpRef::operands) {
        Some(&[_, _, kept]) => kept,
        _ => value,
    }
}

fn constant(module: &Module, value: Value) -> Option<Tensor> {
    defining_op(module, value)?.attr("value")?.to_tensor()?.ok()
}

fn is_zero(module: &Module, value: Value) -> bool {
    let zero = || math::convert(constant(module, value)?, DType::F64).ok()?.item::<f64>().ok();
    zero() == Some(0.0)
}

/// The place of a float constant in the total order.
fn place_of_constant(module: &Module, value: Value) -> Option<i64> {
    let constant = constant(module, value).filter(|c| c.num_elements() == 1)?;
    kernels::places(&constant, Canonical::default()).ok()?.first().copied()
}
