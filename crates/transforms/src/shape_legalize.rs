//! `shape-legalize-to-stablehlo`: computes shapes with StableHLO ops.
//!
//! Shapes are i32 in StableHLO: `index` becomes `tensor<i32>`, and `tensor<Nxindex>` becomes
//! `tensor<Nxi32>`. Casts are inserted in between; pairs of casts cancel out.

use hlo::ops::*;
use mlir::attrs::DenseElements;
use mlir::builtin::UnrealizedConversionCastOp;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::conversion::{ConversionTarget, Legality};
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};
use mlir::types::MAX_RANK;
use mlir::{Attribute, OpId, OpRef, Type, Value};
use numerics::Bytes;
use side_dialects::arith::{IndexCastOp, MulIOp};
use side_dialects::shape::{
    BroadcastOp as ShapeBroadcastOp, ConstShapeOp, NumElementsOp, ShapeOfOp,
};
use side_dialects::tensor::{CastOp, DimOp, ExtractOp, FromElementsOp};

/// Computes shapes with StableHLO ops.
pub(crate) const PASS: Pass =
    Pass::on_functions("shape-legalize-to-stablehlo", "Lower shape ops to StableHLO", run);

fn run(cx: &mut PassContext<'_>) {
    let legality = |op: OpRef<'_>| {
        let Some(def) = op.def() else { return Legality::Unknown };
        let is_illegal = match def.dialect() {
            "shape" => true,
            "tensor" => !op.is(CastOp::DEF),
            "arith" => op.is(IndexCastOp::DEF) || op.is(MulIOp::DEF),
            "stablehlo" => op.operand_types().any(has_index),
            _ => false,
        };
        if is_illegal { Legality::Illegal } else { Legality::Legal }
    };
    cx.convert(
        &mut PatternSet::new(&[PATTERNS]),
        &ConversionTarget { legality: &legality, types: None },
    );
}

static PATTERNS: &[RewritePattern] = &[
    RewritePattern::new("broadcast-as-maximum", ShapeBroadcastOp::DEF, broadcast),
    RewritePattern::new("const-shape", ConstShapeOp::DEF, const_shape),
    RewritePattern::new("dim", DimOp::DEF, dim),
    RewritePattern::new("extract", ExtractOp::DEF, extract),
    RewritePattern::new("from-elements", FromElementsOp::DEF, from_elements),
    RewritePattern::new("index-cast", IndexCastOp::DEF, index_cast),
    RewritePattern::new("multiply", MulIOp::DEF, multiply),
    RewritePattern::new("num-elements", NumElementsOp::DEF, num_elements),
    RewritePattern::new("shape-of", ShapeOfOp::DEF, shape_of),
    RewritePattern::new("operands-as-i32", DynamicBroadcastInDimOp::DEF, operands_as_i32),
    RewritePattern::new("operands-as-i32", DynamicGatherOp::DEF, operands_as_i32),
    RewritePattern::new("operands-as-i32", DynamicIotaOp::DEF, operands_as_i32),
    RewritePattern::new("operands-as-i32", DynamicPadOp::DEF, operands_as_i32),
    RewritePattern::new("operands-as-i32", DynamicReshapeOp::DEF, operands_as_i32),
    RewritePattern::new("operands-as-i32", RealDynamicSliceOp::DEF, operands_as_i32),
];

/// True for `index` and tensors of it.
fn has_index(ty: &Type) -> bool {
    ty.element_type().is_index()
}

/// The StableHLO type for sizes of type `index` or i32, scalar or vector; `None` for other types.
fn i32_type(ty: &Type) -> Option<Type> {
    if ty.is_index() {
        return Some(Type::tensor([], Type::i32()));
    }
    let tensor = ty.as_tensor().filter(|t| t.has_static_shape())?;
    let is_size = tensor.element.is_index() || tensor.element.is_integer(Some(32));
    is_size.then(|| Type::tensor(tensor.shape.clone(), Type::i32()))
}

fn cast(rw: &mut Rewriter<'_>, value: Value, ty: &Type) -> Value {
    match rw.ty(value) == ty {
        true => value,
        false => rw.make(UnrealizedConversionCastOp::DEF, [value]).result(ty.clone()),
    }
}

fn as_i32(rw: &mut Rewriter<'_>, value: Value) -> Option<Value> {
    let ty = i32_type(rw.ty(value))?;
    Some(cast(rw, value, &ty))
}

/// Replaces the single result of `op` by its i32 form.
fn replace(rw: &mut Rewriter<'_>, op: OpId, value: Value) -> Option<()> {
    let ty = rw.op(op).result_type(0).clone();
    let value = cast(rw, value, &ty);
    rw.replace(op, &[value]);
    Some(())
}

/// The i32 form of the result type of `op`, if it has one.
fn result_type(rw: &Rewriter<'_>, op: OpId) -> Option<Type> {
    i32_type(rw.op(op).result_type(0))
}

fn constant(rw: &mut Rewriter<'_>, shape: &[i64], values: &[i64]) -> Option<Value> {
    let ty = Type::tensor(shape, Type::i32());
    let values: Option<Vec<i32>> = values.iter().map(|&v| i32::try_from(v).ok()).collect();
    let value = DenseElements::new(ty.clone(), Bytes::from_vec(values?))?;
    Some(rw.make(ConstantOp::DEF, []).attr("value", value).result(ty))
}

fn index_constant(rw: &Rewriter<'_>, value: Value) -> Option<i64> {
    rw.constant_of(value).filter(|_| rw.ty(value).is_index())?.as_i64()
}

fn reshape(rw: &mut Rewriter<'_>, value: Value, shape: &[i64]) -> Value {
    let ty = Type::tensor(shape, rw.ty(value).element_type().clone());
    rw.make(ReshapeOp::DEF, [value]).result(ty)
}

fn concatenate(rw: &mut Rewriter<'_>, parts: Vec<Value>) -> Option<Value> {
    rw.make(ConcatenateOp::DEF, parts).attr("dimension", Attribute::i64(0)).value()
}

/// An element of `value`, as a scalar.
fn element(rw: &mut Rewriter<'_>, value: Value, at: &[i64]) -> Option<Value> {
    let slice = rw.make(SliceOp::DEF, [value]).attr("start_indices", Attribute::i64_array(at));
    let slice = slice
        .attr("limit_indices", Attribute::i64_array(at.iter().map(|i| i + 1).collect::<Vec<_>>()));
    let slice = slice.attr("strides", Attribute::i64_array(vec![1; at.len()])).value()?;
    Some(reshape(rw, slice, &[]))
}

fn dimension_size(rw: &mut Rewriter<'_>, value: Value, dimension: i64) -> Option<Value> {
    rw.make(GetDimensionSizeOp::DEF, [value]).attr("dimension", Attribute::i64(dimension)).value()
}

/// `broadcast(a, b) = maximum(a, b)`, padded with ones from the left. Broadcastability is checked
/// by other ops.
fn broadcast(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let shapes: [Value; 2] = rw.op(op).operands().try_into().ok()?;
    let ranks = shapes.map(|s| i32_type(rw.ty(s)).and_then(|ty| ty.shape()?.first().copied()));
    let [Some(a), Some(b)] = ranks else { return None };
    if result_type(rw, op)?.shape() != Some(&[a.max(b)]) {
        return None;
    }
    let mut sizes = [as_i32(rw, shapes[0])?, as_i32(rw, shapes[1])?];
    for (size, rank) in sizes.iter_mut().zip([a, b]) {
        let missing = a.max(b) - rank;
        if missing > 0 {
            let ones = constant(rw, &[missing], &[1])?;
            *size = concatenate(rw, vec![ones, *size])?;
        }
    }
    let sizes = rw.make(MaximumOp::DEF, sizes).value()?;
    replace(rw, op, sizes)
}

fn const_shape(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let sizes = ConstShapeOp::cast(rw.op(op))?.shape().as_dense()?.int_values()?;
    result_type(rw, op)?;
    let sizes = constant(rw, &[sizes.len() as i64], &sizes)?;
    replace(rw, op, sizes)
}

/// `dim(x, constant) = get_dimension_size(x)`
fn dim(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let [source, index] = rw.op(op).operands().try_into().ok()?;
    let dimension = index_constant(rw, index)?;
    let rank = rw.ty(source).shape()?.len();
    usize::try_from(dimension).ok().filter(|&d| d < rank)?;
    let size = dimension_size(rw, source, dimension)?;
    replace(rw, op, size)
}

/// `extract(x, constants) = reshape(slice(x))`
fn extract(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (&source, indices) = rw.op(op).operands().split_first()?;
    let at: Option<Vec<i64>> = indices.iter().map(|&i| index_constant(rw, i)).collect();
    let at = at?;
    let shape = i32_type(rw.ty(source))?.shape()?.to_vec();
    if !at.iter().zip(&shape).all(|(i, size)| (0..*size).contains(i)) {
        return None;
    }
    let source = as_i32(rw, source)?;
    let element = element(rw, source, &at)?;
    replace(rw, op, element)
}

/// `from_elements(a, b) = concatenate(a, b)`
fn from_elements(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let elements = rw.op(op).operands().to_vec();
    let ty = rw.op(op).result_type(0).clone();
    if let ([], &[element]) = (ty.shape()?, &elements[..]) {
        return replace(rw, op, element);
    }
    if ty.shape()?.len() != 1 || !has_index(&ty) || elements.is_empty() {
        return None;
    }
    let constants: Vec<_> = elements.iter().map(|&e| index_constant(rw, e)).collect();
    if !constants.iter().flatten().all(|&c| i32::try_from(c).is_ok()) {
        return None;
    }
    let mut parts = Vec::with_capacity(elements.len());
    for (element, known) in elements.into_iter().zip(constants) {
        parts.push(match known {
            Some(size) => constant(rw, &[1], &[size])?,
            None => {
                let size = as_i32(rw, element)?;
                reshape(rw, size, &[1])
            }
        });
    }
    let sizes = concatenate(rw, parts)?;
    replace(rw, op, sizes)
}

/// Casts scalars between `index` and another integer type through tensors; of tensors, only i32 is
/// supported.
fn index_cast(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let value = rw.op(op).operand(0);
    let (from, to) = (rw.ty(value).clone(), rw.op(op).result_type(0).clone());
    if from.is_shaped() {
        i32_type(&from).and(i32_type(&to))?;
        let value = as_i32(rw, value)?;
        return replace(rw, op, value);
    }
    let value = cast(rw, value, &i32_type(&from).unwrap_or_else(|| Type::tensor([], from.clone())));
    let wanted = i32_type(&to).unwrap_or_else(|| Type::tensor([], to));
    let value = match *rw.ty(value) == wanted {
        true => value,
        false => rw.make(ConvertOp::DEF, [value]).result(wanted),
    };
    replace(rw, op, value)
}

/// `muli(a, b) = multiply(a, b)` of indices.
fn multiply(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operands: [Value; 2] = rw.op(op).operands().try_into().ok()?;
    if !has_index(rw.op(op).result_type(0)) {
        return None;
    }
    result_type(rw, op)?;
    let mut sizes = operands;
    for size in &mut sizes {
        *size = match index_constant(rw, *size).filter(|&c| i32::try_from(c).is_ok()) {
            Some(known) => constant(rw, &[], &[known])?,
            None => as_i32(rw, *size)?,
        };
    }
    let product = rw.make(MultiplyOp::DEF, sizes).value()?;
    replace(rw, op, product)
}

/// `num_elements(shape) = 1 * shape[0] * shape[1] * …`
fn num_elements(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let shape = rw.op(op).operand(0);
    let rank = i32_type(rw.ty(shape))?.shape()?.first().copied()?;
    // The product takes two ops for each size.
    if rank > MAX_RANK as i64 {
        return None;
    }
    result_type(rw, op)?;
    let shape = as_i32(rw, shape)?;
    let mut product = constant(rw, &[], &[1])?;
    for d in 0..rank {
        let size = element(rw, shape, &[d])?;
        product = rw.make(MultiplyOp::DEF, [product, size]).value()?;
    }
    replace(rw, op, product)
}

/// `shape_of(x) = concatenate(get_dimension_size(x, 0), get_dimension_size(x, 1), …)`
fn shape_of(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let value = rw.op(op).operand(0);
    let rank = rw.ty(value).as_tensor()?.rank();
    if result_type(rw, op)?.shape() != Some(&[rank as i64]) {
        return None;
    }
    let mut sizes = Vec::with_capacity(rank);
    for d in 0..rank {
        let size = dimension_size(rw, value, d as i64)?;
        sizes.push(reshape(rw, size, &[1]));
    }
    let shape = if rank > 0 { concatenate(rw, sizes)? } else { constant(rw, &[0], &[])? };
    replace(rw, op, shape)
}

/// Casts operands that are tensors of indices.
fn operands_as_i32(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operands = rw.op(op).operands().to_vec();
    let wrong: Vec<usize> =
        (0..operands.len()).filter(|&i| has_index(rw.ty(operands[i]))).collect();
    if wrong.is_empty() || !wrong.iter().all(|&i| i32_type(rw.ty(operands[i])).is_some()) {
        return None;
    }
    for i in wrong {
        let sizes = as_i32(rw, operands[i])?;
        rw.set_operand(op, i, sizes);
    }
    Some(())
}
