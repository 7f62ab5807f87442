//! Simplifications of ops that move elements.

use super::{forward, splat_number};
use hlo::ops::*;
use mlir::attrs::DenseElements;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::types::{DYNAMIC, TensorType};
use mlir::{Attribute, OpId, OpRef, Type, Value};
use numerics::Bytes;

pub(super) static PATTERNS: &[RewritePattern] = &[
    RewritePattern::new("broadcast-to-same", BroadcastInDimOp::DEF, broadcast_to_same),
    RewritePattern::new("broadcast-of-broadcast", BroadcastInDimOp::DEF, broadcast_of_broadcast)
        .with_benefit(2),
    RewritePattern::new("broadcast-as-reshape", BroadcastInDimOp::DEF, broadcast_as_reshape)
        .with_benefit(2),
    RewritePattern::new("broadcast-as-transpose", BroadcastInDimOp::DEF, broadcast_as_transpose),
    RewritePattern::new("concatenate-one", ConcatenateOp::DEF, concatenate_one),
    RewritePattern::new("concatenate-empty", ConcatenateOp::DEF, concatenate_empty),
    RewritePattern::new(
        "concatenate-of-concatenate",
        ConcatenateOp::DEF,
        concatenate_of_concatenate,
    ),
    RewritePattern::new(
        "dynamic-slice-at-constant",
        DynamicSliceOp::DEF,
        dynamic_slice_at_constant,
    ),
    RewritePattern::new("dynamic-update-by-nothing", DynamicUpdateSliceOp::DEF, update_by_nothing),
    RewritePattern::new("dynamic-update-of-all", DynamicUpdateSliceOp::DEF, update_of_all),
    RewritePattern::new("gather-at-constant", GatherOp::DEF, gather_at_constant),
    RewritePattern::new("iota-of-one", IotaOp::DEF, iota_of_one),
    RewritePattern::new("iota-as-broadcast", IotaOp::DEF, iota_as_broadcast),
    RewritePattern::new("pad-by-nothing", PadOp::DEF, pad_by_nothing),
    RewritePattern::new("pad-of-nothing", PadOp::DEF, pad_of_nothing),
    RewritePattern::new("reshape-of-reshape", ReshapeOp::DEF, reshape_of_reshape),
    RewritePattern::new("reshape-to-same", ReshapeOp::DEF, to_same),
    RewritePattern::new("reverse-in-place", ReverseOp::DEF, reverse_in_place),
    RewritePattern::new("slice-of-all", SliceOp::DEF, slice_of_all),
    RewritePattern::new("slice-of-concatenate", SliceOp::DEF, slice_of_concatenate),
    RewritePattern::new("transpose-to-same", TransposeOp::DEF, transpose_to_same),
    RewritePattern::new("transpose-of-transpose", TransposeOp::DEF, transpose_of_transpose),
    RewritePattern::new("transpose-as-reshape", TransposeOp::DEF, transpose_as_reshape),
];

fn is_iota(dims: &[i64]) -> bool {
    dims.iter().zip(0..).all(|(&d, i)| d == i)
}

fn static_tensor<'r>(rw: &'r Rewriter<'_>, value: Value) -> Option<&'r TensorType> {
    rw.ty(value).as_tensor().filter(|t| t.has_static_shape())
}

/// An op of another kind on the same value, with the result type of `op`.
fn respell(
    rw: &mut Rewriter<'_>,
    op: OpId,
    def: &'static mlir::ods::OpDef,
    value: Value,
) -> Option<Value> {
    let ty = rw.op(op).result_type(0).clone();
    Some(rw.make(def, [value]).result(ty))
}

/// `f(x) = x` if the types are equal.
fn to_same(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operand = rw.op(op).operand(0);
    forward(rw, op, operand)
}

/// `broadcast_in_dim(x, [0, 1, …]) = x` if the types are equal.
fn broadcast_to_same(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !is_iota(BroadcastInDimOp(rw.op(op)).broadcast_dimensions()) {
        return None;
    }
    to_same(rw, op)
}

fn num_elements(rw: &Rewriter<'_>, value: Value) -> Option<usize> {
    static_tensor(rw, value)?.num_elements()
}

/// True if a `broadcast_in_dim` only inserts dimensions of size 1.
fn is_reshape(rw: &Rewriter<'_>, op: OpId) -> bool {
    let (from, to) = (rw.op(op).operand(0), rw.op(op).result(0));
    let elements = num_elements(rw, from);
    elements.is_some()
        && elements == num_elements(rw, to)
        && BroadcastInDimOp(rw.op(op)).broadcast_dimensions().is_sorted()
}

/// `broadcast(broadcast(x, a), b) = broadcast(x, b[a])`, unless the inner one becomes a reshape.
fn broadcast_of_broadcast(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let inner =
        rw.defining_op(rw.op(op).operand(0)).filter(|op| op.is(BroadcastInDimOp::DEF))?.id();
    if is_reshape(rw, inner) {
        return None;
    }
    let outer = BroadcastInDimOp(rw.op(op)).broadcast_dimensions();
    let dims = BroadcastInDimOp(rw.op(inner)).broadcast_dimensions().iter();
    let dims: Option<Vec<i64>> =
        dims.map(|&d| outer.get(usize::try_from(d).ok()?).copied()).collect();
    let (operand, ty) = (rw.op(inner).operand(0), rw.op(op).result_type(0).clone());
    let merged = rw.make(BroadcastInDimOp::DEF, [operand]);
    let merged = merged.attr("broadcast_dimensions", Attribute::i64_array(dims?)).result(ty);
    forward(rw, op, merged)
}

/// `broadcast_in_dim(x, sorted) = reshape(x)` if the number of elements is the same.
fn broadcast_as_reshape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !is_reshape(rw, op) {
        return None;
    }
    let operand = rw.op(op).operand(0);
    let reshape = respell(rw, op, ReshapeOp::DEF, operand)?;
    forward(rw, op, reshape)
}

/// `broadcast_in_dim(x, dims) = transpose(x, dims⁻¹)` if number of elements and rank are the same.
fn broadcast_as_transpose(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (operand, result) = (rw.op(op).operand(0), rw.op(op).result(0));
    let (from, to) = (static_tensor(rw, operand)?, static_tensor(rw, result)?);
    if from.rank() != to.rank() || from.num_elements() != to.num_elements() {
        return None;
    }
    let mut inverse = vec![0; from.rank()];
    for (i, &d) in (0..).zip(BroadcastInDimOp(rw.op(op)).broadcast_dimensions()) {
        *inverse.get_mut(usize::try_from(d).ok()?)? = i;
    }
    // Dimensions of size 1 may be anywhere, so the shapes must agree, too.
    let sizes: Vec<i64> = inverse.iter().map(|&d| from.shape[d as usize]).collect();
    if sizes != to.shape {
        return None;
    }
    let ty = rw.ty(result).clone();
    let transpose = rw
        .make(TransposeOp::DEF, [operand])
        .attr("permutation", Attribute::i64_array(inverse))
        .result(ty);
    forward(rw, op, transpose)
}

/// `concatenate(x) = x`
fn concatenate_one(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rw.op(op).operands().len() != 1 {
        return None;
    }
    to_same(rw, op)
}

fn concatenated_dimension(op: OpRef<'_>) -> Option<usize> {
    usize::try_from(ConcatenateOp(op).dimension()).ok()
}

/// `concatenate(x, empty, y) = concatenate(x, y)`
fn concatenate_empty(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let dimension = concatenated_dimension(rw.op(op))?;
    let inputs = rw.op(op).operands().to_vec();
    let size = |v: Value| rw.ty(v).shape().and_then(|s| s.get(dimension).copied());
    let rest: Vec<Value> = inputs.iter().copied().filter(|&v| size(v) != Some(0)).collect();
    if rest.is_empty() || rest.len() >= inputs.len() {
        return None;
    }
    rw.set_operands(op, &rest);
    Some(())
}

/// `concatenate(concatenate(x, y), z) = concatenate(x, y, z)` if the inner one has no other user.
fn concatenate_of_concatenate(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let dimension = concatenated_dimension(rw.op(op))?;
    let inputs = rw.op(op).operands().to_vec();
    let mut flat = Vec::with_capacity(inputs.len());
    for &input in &inputs {
        let inner = rw.defining_op(input).filter(|inner| {
            inner.is(ConcatenateOp::DEF)
                && rw.has_one_use(input)
                && concatenated_dimension(*inner) == Some(dimension)
        });
        match inner {
            Some(inner) => flat.extend_from_slice(inner.operands()),
            None => flat.push(input),
        }
    }
    if flat == inputs {
        return None;
    }
    rw.set_operands(op, &flat);
    Some(())
}

/// The value of a constant integer scalar.
fn constant_index(rw: &Rewriter<'_>, value: Value) -> Option<i64> {
    match rw.constant_of(value)?.as_dense()?.int_values()?[..] {
        [index] => Some(index),
        _ => None,
    }
}

/// The slice of `value` from `start` with the given sizes and type.
fn slice(rw: &mut Rewriter<'_>, value: Value, start: Vec<i64>, sizes: &[i64], ty: Type) -> Value {
    let limit: Vec<i64> = start.iter().zip(sizes).map(|(a, b)| a + b).collect();
    let strides = vec![1; start.len()];
    let slice = rw.make(SliceOp::DEF, [value]).attr("start_indices", Attribute::i64_array(start));
    let slice = slice.attr("limit_indices", Attribute::i64_array(limit));
    slice.attr("strides", Attribute::i64_array(strides)).result(ty)
}

/// A start index clamped so that the slice lies within the operand.
fn clamped(start: i64, operand: i64, size: i64) -> i64 {
    start.clamp(0, (operand - size).max(0))
}

/// `dynamic_slice(x, constants) = slice(x)`
fn dynamic_slice_at_constant(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (&operand, starts) = rw.op(op).operands().split_first()?;
    let shape = static_tensor(rw, operand)?.shape.clone();
    let sizes = DynamicSliceOp(rw.op(op)).slice_sizes().to_vec();
    let starts: Option<Vec<i64>> = starts.iter().map(|&s| constant_index(rw, s)).collect();
    let start = starts?
        .iter()
        .zip(&shape)
        .zip(&sizes)
        .map(|((&s, &n), &size)| clamped(s, n, size))
        .collect();
    let ty = rw.op(op).result_type(0).clone();
    let slice = slice(rw, operand, start, &sizes, ty);
    forward(rw, op, slice)
}

/// `dynamic_update_slice(x, empty, i) = x`
fn update_by_nothing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, update] = rw.op(op).operands().first_chunk().copied()?;
    if num_elements(rw, update) != Some(0) {
        return None;
    }
    forward(rw, op, operand)
}

/// `dynamic_update_slice(x, y, 0) = y` if `y` has the shape of `x`.
fn update_of_all(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, update] = rw.op(op).operands().first_chunk().copied()?;
    static_tensor(rw, operand)?;
    if rw.ty(operand) != rw.ty(update) {
        return None;
    }
    let starts = &rw.op(op).operands()[2..];
    if !starts.iter().all(|&s| splat_number(rw, s).is_some_and(|n| n.is_zero())) {
        return None;
    }
    forward(rw, op, update)
}

/// `gather(x, constant) = reshape(slice(x))` for a single slice.
fn gather_at_constant(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, indices] = rw.op(op).operands().try_into().ok()?;
    let starts = rw.constant_of(indices)?.as_dense()?.int_values()?;
    let dims = GatherOp::cast(rw.op(op))?.dimension_numbers().to_owned();
    let one_slice = dims.index_vector_dim == 0 && rw.ty(indices).shape()?.len() <= 1;
    if !one_slice
        || !dims.operand_batching_dims.is_empty()
        || starts.len() != dims.start_index_map.len()
    {
        return None;
    }
    let from = static_tensor(rw, operand)?.clone();
    let sizes = GatherOp(rw.op(op)).slice_sizes().to_vec();
    let mut start = vec![0; sizes.len()];
    for (&d, &index) in dims.start_index_map.iter().zip(&starts) {
        let d = usize::try_from(d).ok()?;
        *start.get_mut(d)? = clamped(index, *from.shape.get(d)?, *sizes.get(d)?);
    }
    let result = rw.op(op).result_type(0).clone();
    let sliced = Type::tensor(sizes.clone(), from.element.clone());
    let ty = if dims.collapsed_slice_dims.is_empty() { result } else { sliced };
    let mut value = slice(rw, operand, start, &sizes, ty);
    if !dims.collapsed_slice_dims.is_empty() {
        value = respell(rw, op, ReshapeOp::DEF, value)?;
    }
    forward(rw, op, value)
}

fn iota_dimension(rw: &Rewriter<'_>, op: OpId) -> Option<usize> {
    usize::try_from(IotaOp::cast(rw.op(op))?.iota_dimension()).ok()
}

/// `iota = 0` along a dimension of size 1.
pub(crate) fn iota_of_one(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let ty = rw.op(op).result_type(0).clone();
    if *ty.shape()?.get(iota_dimension(rw, op)?)? != 1 {
        return None;
    }
    let zero = vec![0u8; ty.element_type().dtype()?.bytes()];
    let value = DenseElements::new(ty.clone(), Bytes::from_vec(zero))?;
    let zero = rw.make(ConstantOp::DEF, []).attr("value", value).result(ty);
    forward(rw, op, zero)
}

/// `iota(d) = broadcast(iota(0), [d])` for rank > 1.
fn iota_as_broadcast(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let ty = rw.op(op).result_type(0).clone();
    let dimension = iota_dimension(rw, op)?;
    let shape = ty.shape().filter(|shape| shape.len() >= 2)?;
    let line = Type::tensor([*shape.get(dimension)?], ty.element_type().clone());
    let iota = rw.make(IotaOp::DEF, []).attr("iota_dimension", Attribute::i64(0)).result(line);
    let dims = Attribute::i64_array([dimension as i64]);
    let broadcast =
        rw.make(BroadcastInDimOp::DEF, [iota]).attr("broadcast_dimensions", dims).result(ty);
    forward(rw, op, broadcast)
}

/// `pad(x, 0, 0, 0) = x`
fn pad_by_nothing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let pad = PadOp(rw.op(op));
    let lists = [pad.edge_padding_low(), pad.edge_padding_high(), pad.interior_padding()];
    if lists.into_iter().flatten().any(|&n| n != 0) {
        return None;
    }
    to_same(rw, op)
}

/// `pad(empty, value) = broadcast(value)`
fn pad_of_nothing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [operand, value] = rw.op(op).operands().try_into().ok()?;
    if num_elements(rw, operand)? != 0 {
        return None;
    }
    static_tensor(rw, rw.op(op).result(0))?;
    let ty = rw.op(op).result_type(0).clone();
    let to = rw
        .make(BroadcastInDimOp::DEF, [value])
        .attr("broadcast_dimensions", Attribute::i64_array([]))
        .result(ty);
    forward(rw, op, to)
}

/// `reshape(reshape(x)) = reshape(x)`
fn reshape_of_reshape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let inner = rw.defining_op(rw.op(op).operand(0)).filter(|op| op.is(ReshapeOp::DEF))?;
    let operand = inner.operand(0);
    let reshape = respell(rw, op, ReshapeOp::DEF, operand)?;
    forward(rw, op, reshape)
}

/// True if a `reverse` moves nothing: along no dimensions, along dimensions of size 1, or on no or
/// equal elements.
pub(crate) fn is_reversed_in_place(rw: &Rewriter<'_>, op: OpRef<'_>) -> bool {
    let operand = op.operand(0);
    let dims = ReverseOp(op).dimensions();
    let is_one = |t: &TensorType| dims.iter().all(|&d| t.shape.get(d as usize) == Some(&1));
    dims.is_empty()
        || static_tensor(rw, operand).is_some_and(|t| t.shape.contains(&0) || is_one(t))
        || rw
            .constant_of(operand)
            .is_some_and(|c| c.as_dense().is_some_and(DenseElements::is_splat))
}

/// `reverse(x) = x` if it moves nothing.
fn reverse_in_place(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !is_reversed_in_place(rw, rw.op(op)) {
        return None;
    }
    to_same(rw, op)
}

/// `slice(x) = x` if it covers all elements.
fn slice_of_all(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    static_tensor(rw, rw.op(op).operand(0))?;
    to_same(rw, op)
}

/// `slice(concatenate(x, y, z)) = slice(concatenate(y, z))`: drops inputs that the slice does not
/// read.
fn slice_of_concatenate(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    static_tensor(rw, rw.op(op).result(0))?;
    let value = rw.op(op).operand(0);
    let concat = rw.defining_op(value).filter(|op| op.is(ConcatenateOp::DEF))?.id();
    let dimension = concatenated_dimension(rw.op(concat))?;
    let view = SliceOp(rw.op(op));
    let (mut start, mut limit) = (view.start_indices().to_vec(), view.limit_indices().to_vec());
    let (from, to) = (*start.get(dimension)?, *limit.get(dimension)?);
    let inputs = rw.op(concat).operands().to_vec();
    let mut needed = Vec::new();
    let (mut offset, mut skipped) = (0, 0);
    for &input in &inputs {
        let size = *rw.ty(input).shape()?.get(dimension)?;
        if size == DYNAMIC {
            return None;
        }
        if offset < to && offset + size > from {
            needed.push(input);
        } else if needed.is_empty() {
            skipped = offset + size;
        }
        offset += size;
    }
    let fewer = !needed.is_empty() && needed.len() < inputs.len();
    if !fewer || needed.len() != 1 && !rw.has_one_use(value) {
        return None;
    }
    let concat = rw
        .make(ConcatenateOp::DEF, needed)
        .attr("dimension", Attribute::i64(dimension as i64))
        .value()?;
    start[dimension] -= skipped;
    limit[dimension] -= skipped;
    let ty = rw.op(op).result_type(0).clone();
    let slice = rw
        .make(SliceOp::DEF, [concat])
        .attributes_of(op)
        .attr("start_indices", Attribute::i64_array(start));
    let slice = slice.attr("limit_indices", Attribute::i64_array(limit)).result(ty);
    rw.replace(op, &[slice]);
    Some(())
}

/// `transpose(x, [0, 1, …]) = x`
fn transpose_to_same(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !is_iota(TransposeOp(rw.op(op)).permutation()) {
        return None;
    }
    to_same(rw, op)
}

/// `transpose(transpose(x, a), b) = transpose(x, a[b])`
fn transpose_of_transpose(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let inner = rw.defining_op(rw.op(op).operand(0)).filter(|op| op.is(TransposeOp::DEF))?;
    let (operand, first) = (inner.operand(0), TransposeOp(inner).permutation());
    let second = TransposeOp(rw.op(op)).permutation();
    let both: Option<Vec<i64>> =
        second.iter().map(|&d| first.get(usize::try_from(d).ok()?).copied()).collect();
    let both = both?;
    let ty = rw.op(op).result_type(0).clone();
    let transpose = rw
        .make(TransposeOp::DEF, [operand])
        .attr("permutation", Attribute::i64_array(both))
        .result(ty);
    forward(rw, op, transpose)
}

/// `transpose(x) = reshape(x)` if only dimensions of size 1 move.
fn transpose_as_reshape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operand = rw.op(op).operand(0);
    static_tensor(rw, rw.op(op).result(0))?;
    let shape = &static_tensor(rw, operand)?.shape;
    let permutation = TransposeOp(rw.op(op)).permutation();
    let moved = permutation.iter().filter(|&&d| shape.get(d as usize) != Some(&1));
    if !moved.is_sorted() {
        return None;
    }
    let reshape = respell(rw, op, ReshapeOp::DEF, operand)?;
    forward(rw, op, reshape)
}
