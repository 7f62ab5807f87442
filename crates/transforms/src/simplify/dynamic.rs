//! Simplifications of dynamic ops, which take sizes as operands.

use super::forward;
use hlo::check::constant_ints;
use hlo::ops::*;
use mlir::attrs::DenseElements;
use mlir::ods::Trait;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpId, Type, Value};
use numerics::Bytes;
use side_dialects::arith::IndexCastOp;
use side_dialects::shape::ShapeOfOp;

pub(super) static PATTERNS: &[RewritePattern] = &[
    RewritePattern::new(
        "broadcast-of-dynamic-broadcast",
        DynamicBroadcastInDimOp::DEF,
        broadcast_of_broadcast,
    )
    .with_benefit(2),
    RewritePattern::new(
        "dynamic-broadcast-to-reshaped",
        DynamicBroadcastInDimOp::DEF,
        broadcast_to_reshaped,
    )
    .with_benefit(2),
    RewritePattern::new(
        "dynamic-broadcast-to-own-shape",
        DynamicBroadcastInDimOp::DEF,
        broadcast_to_own_shape,
    )
    .with_benefit(2),
    RewritePattern::new(
        "dynamic-broadcast-of-nothing",
        DynamicBroadcastInDimOp::DEF,
        broadcast_that_expands_nothing,
    ),
    RewritePattern::new("dynamic-gather-to-static", DynamicGatherOp::DEF, to_static),
    RewritePattern::new("dynamic-pad-to-static", DynamicPadOp::DEF, to_static),
    RewritePattern::new("real-dynamic-slice-to-static", RealDynamicSliceOp::DEF, to_static),
    RewritePattern::new("reshape-of-dynamic-reshape", DynamicReshapeOp::DEF, reshape_of_reshape)
        .with_benefit(2),
    RewritePattern::new("shape-of-dynamic-reshape", ShapeOfOp::DEF, shape_of_reshape)
        .with_benefit(2),
    RewritePattern::new("dynamic-iota-as-broadcast", DynamicIotaOp::DEF, iota_as_broadcast),
    RewritePattern::new("dynamic-reshape-to-same", DynamicReshapeOp::DEF, reshape_to_same),
    RewritePattern::new("size-of-static", GetDimensionSizeOp::DEF, size_of_static),
    RewritePattern::new(
        "dynamic-broadcast-to-static",
        DynamicBroadcastInDimOp::DEF,
        broadcast_to_static,
    ),
    RewritePattern::new("dynamic-reshape-to-static", DynamicReshapeOp::DEF, reshape_to_static),
    RewritePattern::new("dynamic-iota-to-static", DynamicIotaOp::DEF, iota_to_static)
        .with_benefit(2),
];

/// Applies the `to_static` hook of the declaration, for constant sizes.
fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    (rw.op(op).def()?.to_static?)(rw, op)
}

/// `broadcast(broadcast(x, _, a), shape, b) = broadcast(x, shape, b[a])`
fn broadcast_of_broadcast(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, shape] = rw.op(op).operands().try_into().ok()?;
    let inner = rw.defining_op(operand).and_then(DynamicBroadcastInDimOp::cast)?;
    let (operand, first) = (inner.operand(), inner.broadcast_dimensions());
    let second = DynamicBroadcastInDimOp(rw.op(op)).broadcast_dimensions();
    let both: Option<Vec<i64>> =
        first.iter().map(|&d| second.get(usize::try_from(d).ok()?).copied()).collect();
    let both = both?;
    let ty = rw.op(op).result_type(0).clone();
    let merged = rw.make(DynamicBroadcastInDimOp::DEF, [operand, shape]);
    let merged = merged.attr("broadcast_dimensions", Attribute::i64_array(both)).result(ty);
    forward(rw, op, merged)
}

fn keeps_dimensions(rw: &Rewriter<'_>, op: OpId) -> bool {
    let view = DynamicBroadcastInDimOp(rw.op(op));
    let rank = view.result_type(0).shape().map_or(-1, |s| s.len() as i64);
    view.broadcast_dimensions().iter().copied().eq(0..rank)
}

/// `broadcast(x, _) = convert(x)` if it expands no dimension. The conversion preserves the type.
fn broadcast_that_expands_nothing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let known = DynamicBroadcastInDimOp(rw.op(op)).known_nonexpanding_dimensions();
    let known = known.unwrap_or(&[]);
    if !keeps_dimensions(rw, op) || known.len() != rw.op(op).result_type(0).shape()?.len() {
        return None;
    }
    let (operand, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
    let convert = rw.make(ConvertOp::DEF, [operand]).result(ty);
    forward(rw, op, convert)
}

/// `broadcast(reshape(x, shape), shape) = reshape(x, shape)`
fn broadcast_to_reshaped(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, shape] = rw.op(op).operands().try_into().ok()?;
    let inner = rw.defining_op(operand).filter(|op| op.is(DynamicReshapeOp::DEF))?;
    if !keeps_dimensions(rw, op) || inner.operand(1) != shape {
        return None;
    }
    let (operand, ty) = (inner.operand(0), rw.op(op).result_type(0).clone());
    let reshape = rw.make(DynamicReshapeOp::DEF, [operand, shape]).result(ty);
    forward(rw, op, reshape)
}

/// `broadcast(x, shape_of(x)) = x`
fn broadcast_to_own_shape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, shape] = rw.op(op).operands().try_into().ok()?;
    let of = rw.defining_op(shape).filter(|op| op.is(ShapeOfOp::DEF))?.operand(0);
    if of != operand || !keeps_dimensions(rw, op) {
        return None;
    }
    forward(rw, op, operand)
}

/// `reshape(reshape(x, _), shape) = reshape(x, shape)`
fn reshape_of_reshape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, shape] = rw.op(op).operands().try_into().ok()?;
    let operand = rw.defining_op(operand).filter(|op| op.is(DynamicReshapeOp::DEF))?.operand(0);
    let ty = rw.op(op).result_type(0).clone();
    let reshape = rw.make(DynamicReshapeOp::DEF, [operand, shape]).result(ty);
    forward(rw, op, reshape)
}

/// `shape_of(reshape(x, shape)) = shape`
fn shape_of_reshape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let shape =
        rw.defining_op(rw.op(op).operand(0)).filter(|op| op.is(DynamicReshapeOp::DEF))?.operand(1);
    forward(rw, op, shape)
}

/// `reshape(f(reshape(x, shape)), shape) = f(reshape(x, shape))` if `f` keeps shapes.
fn reshape_to_same(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, shape] = rw.op(op).operands().try_into().ok()?;
    let keeps =
        [Trait::Elementwise, Trait::SameOperandsAndResultShape, Trait::SameOperandsAndResultType];
    let f = rw.defining_op(operand).filter(|op| keeps.iter().any(|t| op.has_trait(t)))?;
    let inner = rw.defining_op(*f.operands().first()?).filter(|op| op.is(DynamicReshapeOp::DEF))?;
    if inner.operand(1) != shape {
        return None;
    }
    forward(rw, op, operand)
}

/// `dynamic_iota(shape, d) = broadcast(dynamic_iota(shape[d], 0), shape, [d])` for rank > 1.
fn iota_as_broadcast(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let shape = rw.op(op).operand(0);
    let ty = rw.op(op).result_type(0).clone();
    let sizes = ty.shape().filter(|sizes| sizes.len() >= 2)?;
    let dimension = DynamicIotaOp(rw.op(op)).iota_dimension();
    let size = *sizes.get(usize::try_from(dimension).ok()?)?;
    let wide = Type::tensor(rw.ty(shape).shape()?, Type::i64());
    let cast =
        if rw.ty(shape).element_type().is_index() { IndexCastOp::DEF } else { ConvertOp::DEF };
    let wide = rw.make(cast, [shape]).result(wide);
    let slice =
        rw.make(SliceOp::DEF, [wide]).attr("start_indices", Attribute::i64_array([dimension]));
    let slice = slice.attr("limit_indices", Attribute::i64_array([dimension + 1]));
    let slice = slice.attr("strides", Attribute::i64_array([1])).value()?;
    let line = Type::tensor([size], ty.element_type().clone());
    let iota =
        rw.make(DynamicIotaOp::DEF, [slice]).attr("iota_dimension", Attribute::i64(0)).result(line);
    let broadcast = rw.make(DynamicBroadcastInDimOp::DEF, [iota, shape]);
    let broadcast =
        broadcast.attr("broadcast_dimensions", Attribute::i64_array([dimension])).result(ty);
    forward(rw, op, broadcast)
}

/// `get_dimension_size(x, d)` is the size if it is static.
pub(crate) fn size_of_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let dimension = GetDimensionSizeOp(rw.op(op)).dimension();
    let size = *rw.op(op).operand_type(0).shape()?.get(usize::try_from(dimension).ok()?)?;
    let size = i32::try_from(size).ok().filter(|&s| s >= 0)?;
    let ty = rw.op(op).result_type(0).clone();
    if *ty.element_type() != Type::i32() {
        return None;
    }
    let value = DenseElements::new(ty.clone(), Bytes::from_vec(vec![size]))?;
    let constant = rw.make(ConstantOp::DEF, []).attr("value", value).result(ty);
    forward(rw, op, constant)
}

fn is_static(rw: &Rewriter<'_>, value: Value) -> bool {
    rw.ty(value).as_tensor().is_some_and(|t| t.has_static_shape())
}

/// `dynamic_broadcast_in_dim(x, _) = broadcast_in_dim(x)` to a static type, or to the type that
/// constant sizes make.
fn broadcast_to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (operand, result) = (rw.op(op).operand(0), rw.op(op).result(0));
    if !is_static(rw, operand) {
        return None;
    }
    let ty = rw.ty(result).clone();
    let known = match is_static(rw, result) {
        true => ty.clone(),
        false => {
            let sizes =
                constant_ints(rw.op(op), 1).filter(|sizes| sizes.iter().all(|&s| s >= 0))?;
            if ty.as_tensor()?.encoding.is_some() {
                return None;
            }
            Type::tensor(sizes, ty.element_type().clone())
        }
    };
    let dims = DynamicBroadcastInDimOp(rw.op(op)).broadcast_dimensions();
    let dims = Attribute::i64_array(dims);
    let broadcast = rw.make(BroadcastInDimOp::DEF, [operand]).attr("broadcast_dimensions", dims);
    let mut value = broadcast.result(known.clone());
    // Other dialects, and ops that end blocks, may insist on the type.
    let insists = |user: OpId| {
        let user = rw.op(user);
        user.has_trait(&Trait::Terminator)
            || user.def().is_none_or(|def| def.dialect() != "stablehlo")
    };
    if known != ty && rw.users(result).any(insists) {
        value = rw.make(ConvertOp::DEF, [value]).result(ty);
    }
    rw.replace_uses(result, value);
    rw.erase(op);
    Some(())
}

/// `dynamic_reshape(x, _) = reshape(x)` to a static type.
fn reshape_to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !is_static(rw, rw.op(op).result(0)) {
        return None;
    }
    let (operand, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
    let reshape = rw.make(ReshapeOp::DEF, [operand]).result(ty);
    forward(rw, op, reshape)
}

/// `dynamic_iota(_, d) = iota(d)` of a static type.
fn iota_to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let ty = rw.op(op).result_type(0).clone();
    if ty.shape()?.contains(&DYNAMIC) {
        return None;
    }
    let iota = rw.make(IotaOp::DEF, []).attributes_of(op).result(ty);
    forward(rw, op, iota)
}
