//! Folds of the dialect's ops over constants and static types.

pub(super) use crate::folding::evaluate;
pub(super) use crate::tensor::fold::dim;

use super::types::{is_extent_tensor, shape, size, witness};
use super::{
    AssumingOp, BroadcastOp, ConstShapeOp, ConstSizeOp, ConstWitnessOp, IndexToSizeOp, RankOp,
    ShapeOfOp, SizeToIndexOp,
};
use crate::arith;
use crate::tensor::CastOp;
use mlir::attrs::DenseElements;
use mlir::ir::{Loc, OpName, OpParts};
use mlir::rewrite::{Folded, Rewrite, Rewriter};
use mlir::types::DYNAMIC;
use mlir::{Attribute, Module, OpId, OpRef, Type, Value};
use numerics::Bytes;

/// Parts of a constant op with the given value and type, for constant materialization.
pub(super) fn constant_parts(value: &Attribute, ty: &Type) -> Option<OpParts> {
    let def = match ty {
        ty if *ty == witness() => ConstWitnessOp::DEF,
        ty if *ty == size() => ConstSizeOp::DEF,
        _ if value
            .as_dense()
            .is_some_and(|v| is_extent_tensor(v.ty()) && (v.ty() == ty || *ty == shape())) =>
        {
            ConstShapeOp::DEF
        }
        _ => return arith::constant_parts(value, ty),
    };
    let mut parts = OpParts::new(OpName::Registered(def), Loc::Unknown);
    parts.properties.push(Some(value.clone()));
    parts.result_types.push(ty.clone());
    Some(parts)
}

fn shape_constant(sizes: &[i64]) -> Option<Attribute> {
    let ty = Type::tensor([i64::try_from(sizes.len()).ok()?], Type::index());
    Some(DenseElements::new(ty, Bytes::from_vec(sizes.to_vec()))?.into())
}

fn passing() -> Option<Vec<Folded>> {
    Some(vec![Folded::Constant(Attribute::bool(true))])
}

/// The shape of a value of static shape.
pub(super) fn shape_of(op: OpRef<'_>, _: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let shape = op.operand_type(0).shape().filter(|shape| !shape.contains(&DYNAMIC))?;
    Some(vec![Folded::Constant(shape_constant(shape)?)])
}

/// Functions of a shape: `rank(shape_of(x))` folds if `x` is ranked.
pub(super) fn sizes(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let shape = op
        .operands()
        .first()
        .and_then(|&v| op.module().defining_op(v))
        .filter(|s| s.is(ShapeOfOp::DEF));
    if let Some(rank) =
        shape.filter(|_| op.is(RankOp::DEF)).and_then(|s| Some(s.operand_type(0).shape()?.len()))
    {
        return Some(vec![Folded::Constant(Attribute::integer(
            i128::try_from(rank).ok()?,
            Type::index(),
        ))]);
    }
    evaluate(op, constants)
}

/// A cast to sizes and back to indices cancels out, as does a cast from an index to an index.
pub(super) fn size_cast(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let operand = *op.operands().first()?;
    if op.operand_type(0) == op.result_type(0) {
        return Some(vec![Folded::Value(operand)]);
    }
    let is_cast = |inner: &OpRef<'_>| inner.is(IndexToSizeOp::DEF) || inner.is(SizeToIndexOp::DEF);
    match op
        .module()
        .defining_op(operand)
        .filter(is_cast)
        .and_then(|inner| inner.operands().first())
    {
        Some(&value) if op.module().ty(value) == op.result_type(0) => {
            Some(vec![Folded::Value(value)])
        }
        _ => evaluate(op, constants),
    }
}

/// The broadcast of one shape is that shape, and all of one constraint is that constraint.
pub(super) fn single(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    match op.operands() {
        &[operand] if op.operand_type(0) == op.result_type(0) => Some(vec![Folded::Value(operand)]),
        _ => evaluate(op, constants),
    }
}

/// Folds if at most one shape is not a scalar's, or if at each position all sizes other than 1 are
/// static and equal, or there is only one of them.
pub(super) fn cstr_broadcastable(
    op: OpRef<'_>,
    constants: &[Option<Attribute>],
) -> Option<Vec<Folded>> {
    let sizes: Vec<Option<Vec<i64>>> =
        op.operands().iter().map(|&v| known_sizes(op.module(), v)).collect();
    if sizes.iter().filter(|s| s.as_ref().is_none_or(|s| !s.is_empty())).count() <= 1 {
        return passing();
    }
    let Some(sizes) = sizes.into_iter().collect::<Option<Vec<_>>>() else {
        return evaluate(op, constants);
    };
    let rank = sizes.iter().map(Vec::len).max().unwrap_or(0);
    let fits = |from_last: usize| {
        let at = |s: &Vec<i64>| s.len().checked_sub(from_last + 1).map(|i| s[i]);
        let others: Vec<i64> = sizes.iter().filter_map(at).filter(|&size| size != 1).collect();
        others.len() <= 1 || others.iter().all(|&size| size == others[0] && size != DYNAMIC)
    };
    if (0..rank).all(fits) { passing() } else { evaluate(op, constants) }
}

/// The sizes of a shape, as far as known; `None` if its rank is unknown.
fn known_sizes(module: &Module, shape: Value) -> Option<Vec<i64>> {
    let op = module.defining_op(shape);
    if let Some(value) =
        op.filter(|op| op.is(ShapeOfOp::DEF)).and_then(|op| op.operand_type(0).shape())
    {
        return Some(value.to_vec());
    }
    if let Some(value) =
        op.filter(|op| op.is(ConstShapeOp::DEF)).and_then(|op| ConstShapeOp(op).shape().as_dense())
    {
        return value.int_values();
    }
    let rank = *module.ty(shape).as_tensor()?.shape.first()?;
    // An absurdly large rank is treated as unknown.
    usize::try_from(rank).ok().filter(|&rank| rank <= 64).map(|rank| vec![DYNAMIC; rank])
}

/// A shape is equal to itself.
pub(super) fn cstr_eq(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    if op.operands().windows(2).all(|pair| pair[0] == pair[1]) {
        passing()
    } else {
        evaluate(op, constants)
    }
}

type Rewrites = &'static [(&'static str, Rewrite)];

/// Drops repeated shapes, and shapes of scalars.
pub(super) const SMALLER: Rewrites =
    &[("each-once", each_once), ("without-scalars", without_scalars)];

/// Rewrites of `shape.broadcast`.
pub(super) const BROADCAST: Rewrites = &[
    ("each-once", each_once),
    ("without-scalars", without_scalars),
    ("merge-constants", merge_constants),
    ("known-rank", of_known_rank),
];

/// Keeps only the given operands, if these are fewer than before.
fn keep(rw: &mut Rewriter<'_>, op: OpId, operands: &[Value]) -> Option<()> {
    (!operands.is_empty() && operands.len() < rw.op(op).operands().len())
        .then(|| rw.set_operands(op, operands))
}

fn each_once(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let mut kept: Vec<Value> = Vec::new();
    for &operand in rw.op(op).operands() {
        if !kept.contains(&operand) {
            kept.push(operand);
        }
    }
    keep(rw, op, &kept)
}

fn without_scalars(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let is_scalar = |&&v: &&Value| known_sizes(rw, v).is_some_and(|sizes| sizes.is_empty());
    let kept: Vec<Value> = rw.op(op).operands().iter().filter(|v| !is_scalar(v)).copied().collect();
    keep(rw, op, &kept)
}

/// `broadcast(x, constant, constant)` is `broadcast(x, constant)`.
fn merge_constants(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operands = rw.op(op).operands().to_vec();
    let (constants, mut kept): (Vec<Value>, Vec<Value>) =
        operands.into_iter().partition(|&v| rw.constant_of(v).is_some());
    if constants.len() <= 1 || kept.is_empty() {
        return None;
    }
    let mut merged: Vec<i64> = Vec::new();
    for constant in constants {
        let sizes = rw.constant_of(constant)?.as_dense()?.int_values()?;
        merged = super::prepare::broadcast(&[merged, sizes]).ok()?;
    }
    let value = shape_constant(&merged)?;
    let merged = rw.constant(BroadcastOp::DEF, &value, &value.ty())?;
    kept.extend(rw.op(merged).results());
    rw.set_operands(op, &kept);
    Some(())
}

/// Gives the broadcast of shapes of known rank a type of known rank.
fn of_known_rank(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let result = rw.op(op).result_type(0).clone();
    if *result.as_tensor()?.shape.first()? != DYNAMIC {
        return None;
    }
    let rank = |ty: &Type| {
        ty.as_tensor().and_then(|t| t.shape.first().copied()).filter(|&rank| rank != DYNAMIC)
    };
    let ranks: Option<Vec<i64>> = rw.op(op).operand_types().map(rank).collect();
    let known = Type::tensor([*ranks?.iter().max()?], Type::index());
    let operands = rw.op(op).operands().to_vec();
    let shape = rw.make(BroadcastOp::DEF, operands).attributes_of(op).result(known);
    let cast = rw.make(CastOp::DEF, [shape]).result(result);
    rw.replace(op, &[cast]);
    Some(())
}

/// Drops constraints that are known to hold.
pub(super) fn without_passing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let passes = |v: &Value| rw.constant_of(*v).and_then(|c| c.as_bool()).unwrap_or(false);
    let kept: Vec<Value> = rw.op(op).operands().iter().filter(|v| !passes(v)).copied().collect();
    keep(rw, op, &kept)
}

/// Inlines the body of a `shape.assuming` whose witness is known to hold.
pub(super) fn inline_passing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let witness = rw.constant_of(*rw.op(op).operands().first()?)?;
    witness.as_bool().filter(|&passing| passing)?;
    let block = rw.entry(AssumingOp(rw.op(op)).do_region())?;
    let results = rw.inline_block_before(block, op, &[]);
    rw.replace(op, &results);
    Some(())
}

/// Drops unused results.
pub(super) fn drop_unused(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let old: Vec<Value> = rw.op(op).results().collect();
    let used: Vec<usize> = (0..old.len()).filter(|&i| !rw.is_unused(old[i])).collect();
    if used.len() >= old.len() {
        return None;
    }
    let region = AssumingOp(rw.op(op)).do_region();
    let end = rw.terminator(rw.entry(region)?)?;
    let (end, yielded) = (end.id(), end.operands().to_vec());
    let kept: Option<Vec<Value>> = used.iter().map(|&i| yielded.get(i).copied()).collect();
    let kept = kept?;
    let operands = rw.op(op).operands().to_vec();
    let types: Vec<Type> = used.iter().map(|&i| rw.ty(old[i]).clone()).collect();
    let body = rw.module_mut().create_region();
    rw.set_operands(end, &kept);
    rw.move_blocks(region, body);
    let new = rw.make(AssumingOp::DEF, operands).attributes_of(op).region(body).results(types);
    let new: Vec<Value> = rw.op(new).results().collect();
    for (new, &i) in new.into_iter().zip(&used) {
        rw.replace_uses(old[i], new);
    }
    rw.erase(op);
    Some(())
}
