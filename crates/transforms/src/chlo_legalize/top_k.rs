//! Expands `chlo.top_k`: sorts all elements together with their positions, and slices off the first
//! `k`.

use super::expr::constant;
use chlo::TopKOp;
use hlo::compat::with_element;
use hlo::enums::{COMPARISON_DIRECTION, COMPARISON_TYPE};
use hlo::ops::*;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpId, RegionId, Type, Value};

const GT: u64 = 3;
const TOTALORDER: u64 = 2;

pub(super) static PATTERNS: &[RewritePattern] = &[RewritePattern::new("top-k", TopKOp::DEF, top_k)];

/// `top_k(x, k) = slice(sort(x, iota), ..k)`, in descending order.
fn top_k(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let top_k = TopKOp::cast(rw.op(op))?;
    let operand = top_k.operand();
    let k = top_k.k();
    let is_stable = top_k.is_stable();
    let results: Vec<Type> = top_k.result_types().cloned().collect();
    let ty = rw.ty(operand).clone();
    let shape = ty.as_tensor()?.shape.clone();
    let last = shape.len().checked_sub(1)?;
    let kept = if shape[last] == DYNAMIC { k } else { k.min(shape[last]) };
    let is_static = !shape.contains(&DYNAMIC);
    let dimension = Attribute::i64(last as i64);

    let sizes = if is_static { None } else { Some(sizes(rw, operand, kept)?) };
    let positions = Type::tensor(shape.clone(), Type::i32());
    let iota = match sizes {
        None => {
            rw.make(IotaOp::DEF, []).attr("iota_dimension", dimension.clone()).result(positions)
        }
        Some((all, _)) => rw
            .make(DynamicIotaOp::DEF, [all])
            .attr("iota_dimension", dimension.clone())
            .result(positions),
    };
    let comparator = greater_first(rw, ty.element_type())?;
    let sort = rw.make(SortOp::DEF, [operand, iota]).attr("dimension", dimension);
    let types = [ty.clone(), with_element(&Type::tensor(shape.clone(), Type::i32()), Type::i32())];
    let sort = sort.attr("is_stable", Attribute::bool(is_stable)).region(comparator).results(types);
    let sorted: Vec<Value> = rw.op(sort).results().collect();

    let start = vec![0; shape.len()];
    let strides = vec![1; shape.len()];
    let mut values = Vec::with_capacity(2);
    match sizes {
        None => {
            let mut limit = shape;
            limit[last] = kept;
            for value in sorted {
                let slice = rw
                    .make(SliceOp::DEF, [value])
                    .attr("start_indices", Attribute::i64_array(start.clone()));
                let slice = slice.attr("limit_indices", Attribute::i64_array(limit.clone()));
                values.push(slice.attr("strides", Attribute::i64_array(strides.clone())).value()?);
            }
        }
        Some((_, limit)) => {
            let rank = [shape.len() as i64];
            let start = constant(rw, Attribute::i64_elements(&rank, &start)?)?;
            let strides = constant(rw, Attribute::i64_elements(&rank, &strides)?)?;
            for (value, ty) in sorted.into_iter().zip(results.clone()) {
                values.push(
                    rw.make(RealDynamicSliceOp::DEF, [value, start, limit, strides]).result(ty),
                );
            }
        }
    }
    for (&value, ty) in values.iter().zip(results) {
        if *rw.ty(value) != ty {
            rw.set_type(value, ty);
        }
    }
    rw.replace(op, &values);
    Some(())
}

/// The sizes of a value as a tensor, and the same with `kept` as the last size.
fn sizes(rw: &mut Rewriter<'_>, value: Value, kept: i64) -> Option<(Value, Value)> {
    let shape = rw.ty(value).as_tensor()?.shape.clone();
    let mut sizes = Vec::with_capacity(shape.len());
    for (d, &size) in shape.iter().enumerate() {
        let size = match size {
            DYNAMIC => dimension_size(rw, value, d)?,
            size => constant(rw, Attribute::i64_elements(&[], &[size])?)?,
        };
        sizes.push(as_vector(rw, size));
    }
    let all = concatenate(rw, &sizes);
    let kept = constant(rw, Attribute::i64_elements(&[], &[kept])?)?;
    *sizes.last_mut()? = as_vector(rw, kept);
    Some((all, concatenate(rw, &sizes)))
}

/// The size of a dimension, as an i64.
pub(super) fn dimension_size(
    rw: &mut Rewriter<'_>,
    value: Value,
    dimension: usize,
) -> Option<Value> {
    let size = rw
        .make(GetDimensionSizeOp::DEF, [value])
        .attr("dimension", Attribute::i64(dimension as i64))
        .value()?;
    Some(rw.make(ConvertOp::DEF, [size]).result(Type::tensor([], Type::i64())))
}

/// A scalar i64 as a tensor of one element.
pub(super) fn as_vector(rw: &mut Rewriter<'_>, scalar: Value) -> Value {
    rw.make(ReshapeOp::DEF, [scalar]).result(Type::tensor([1], Type::i64()))
}

/// Concatenates tensors of one i64 each.
pub(super) fn concatenate(rw: &mut Rewriter<'_>, parts: &[Value]) -> Value {
    let ty = Type::tensor([parts.len() as i64], Type::i64());
    rw.make(ConcatenateOp::DEF, parts.iter().copied())
        .attr("dimension", Attribute::i64(0))
        .result(ty)
}

/// A comparator for pairs of an element and its position: the larger element comes first.
fn greater_first(rw: &mut Rewriter<'_>, element: &Type) -> Option<RegionId> {
    let (value, position) = (Type::tensor([], element.clone()), Type::tensor([], Type::i32()));
    let (region, block) = rw.region_with_block([value.clone(), value, position.clone(), position]);
    let arguments = [rw.arguments(block)[0], rw.arguments(block)[1]];
    rw.within(block, |rw| {
        let compare = rw.make(CompareOp::DEF, arguments);
        let compare =
            compare.attr("comparison_direction", Attribute::enumeration(&COMPARISON_DIRECTION, GT));
        let total =
            element.is_float().then(|| Attribute::enumeration(&COMPARISON_TYPE, TOTALORDER));
        let is_greater = compare.optional_attr("compare_type", total.as_ref()).value()?;
        rw.make(ReturnOp::DEF, [is_greater]).results([]);
        Some(region)
    })
}
