//! Expands `chlo.scan` into a loop over the slices of the inputs.

use super::expr::constant;
use super::top_k::{as_vector, concatenate, dimension_size};
use chlo::ScanOp;
use hlo::enums::COMPARISON_DIRECTION;
use hlo::ops::*;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::types::{DYNAMIC, TypeKind};
use mlir::{Attribute, BlockId, OpId, OpRef, Type, Value};
use side_dialects::shape::ShapeOfOp;
use std::collections::HashMap;

const LT: u64 = 5;

pub(super) static PATTERNS: &[RewritePattern] = &[RewritePattern::new("scan", ScanOp::DEF, scan)];

/// Parameters of the op that the loop needs.
struct Scan {
    inputs: Vec<Value>,
    inits: Vec<Value>,
    outputs: Vec<Type>,
    dimension: usize,
    is_reverse: bool,
    body: BlockId,
}

/// `while (i < n) { x = inputs[i]; (y, carry) = body(x, carry); outputs[i] = y; i += 1 }`, with
/// `n - 1 - i` for the positions of a reverse scan.
fn scan(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = ScanOp::cast(rw.op(op))?;
    let (inputs, inits) = (view.inputs().to_vec(), view.inits().to_vec());
    let results: Vec<Type> = view.result_types().cloned().collect();
    let outputs = results[..results.len().checked_sub(inits.len())?].to_vec();
    let dimension = usize::try_from(view.dimension()).ok()?;
    let is_reverse = view.is_reverse();
    let body = rw.entry(view.body())?;
    let reads = inputs.iter().map(|&v| rw.ty(v));
    let is_ranked =
        reads.chain(&outputs).all(|ty| ty.shape().is_some_and(|shape| dimension < shape.len()));
    let has_sizes = !inputs.is_empty()
        || outputs.iter().all(|ty| ty.shape().is_some_and(|s| !s.contains(&DYNAMIC)));
    let zeros: Option<Vec<Attribute>> = outputs.iter().map(zero_of).collect();
    let zeros = zeros?;
    if !is_ranked || !has_sizes || (inputs.is_empty() && outputs.is_empty()) {
        return None;
    }
    let scan = Scan { inputs, inits, outputs, dimension, is_reverse, body };

    let length = match scan.inputs.first() {
        Some(&input) => dimension_size(rw, input, dimension)?,
        None => {
            let size = scan.outputs.first()?.shape()?[dimension];
            constant(rw, Attribute::i64_elements(&[], &[size])?)?
        }
    };
    let mut initial = vec![index(rw, 0)?];
    initial.extend(&scan.inits);
    for (i, (ty, zero)) in scan.outputs.iter().zip(zeros).enumerate() {
        let zero = constant(rw, zero)?;
        let is_static = ty.as_tensor()?.has_static_shape();
        let empty = if is_static {
            rw.make(BroadcastInDimOp::DEF, [zero])
        } else {
            let like = *scan.inputs.get(i).or(scan.inputs.first())?;
            let rank = rw.ty(like).shape()?.len() as i64;
            let extents =
                rw.make(ShapeOfOp::DEF, [like]).result(Type::tensor([rank], Type::index()));
            rw.make(DynamicBroadcastInDimOp::DEF, [zero, extents])
        };
        initial
            .push(empty.attr("broadcast_dimensions", Attribute::i64_array([])).result(ty.clone()));
    }

    let types: Vec<Type> = initial.iter().map(|&v| rw.ty(v).clone()).collect();
    let (condition, block) = rw.region_with_block(types.iter().cloned());
    rw.within(block, |rw| {
        let i = rw.arguments(block)[0];
        let less = rw.make(CompareOp::DEF, [i, length]);
        let less = less
            .attr("comparison_direction", Attribute::enumeration(&COMPARISON_DIRECTION, LT))
            .value()?;
        rw.make(ReturnOp::DEF, [less]).results([]);
        Some(())
    })?;
    let (region, block) = rw.region_with_block(types.iter().cloned());
    rw.within(block, |rw| step(rw, &scan, block, length))?;
    let looped = rw.make(WhileOp::DEF, initial).region(condition).region(region).results(types);
    let mut values: Vec<Value> = rw.op(looped).results().skip(1).collect();
    values.rotate_left(scan.inits.len());
    rw.replace(op, &values);
    Some(())
}

/// A scalar 0 of the element type.
fn zero_of(ty: &Type) -> Option<Attribute> {
    let element = ty.element_type().clone();
    let is_number =
        element.is_float() || element.is_integer(None) || matches!(*element, TypeKind::Complex(_));
    let bytes = element.dtype()?.bytes();
    super::expr::splat(Type::tensor([], element), vec![0; bytes]).filter(|_| is_number)
}

fn index(rw: &mut Rewriter<'_>, value: i64) -> Option<Value> {
    constant(rw, Attribute::i64_elements(&[], &[value])?)
}

/// Builds one iteration of the loop; its block takes the counter, the carried values and the
/// outputs.
fn step(rw: &mut Rewriter<'_>, scan: &Scan, block: BlockId, length: Value) -> Option<()> {
    let arguments = rw.arguments(block).to_vec();
    let counter = arguments[0];
    let (carries, outputs) = arguments[1..].split_at(scan.inits.len());
    let mut position = counter;
    if scan.is_reverse {
        let one = index(rw, 1)?;
        let last = rw.make(SubtractOp::DEF, [length, one]).value()?;
        position = rw.make(SubtractOp::DEF, [last, counter]).value()?;
    }

    let mut taken = Vec::with_capacity(scan.inputs.len() + carries.len());
    for &input in &scan.inputs {
        taken.push(slice(rw, input, scan.dimension, position)?);
    }
    taken.extend(carries);
    let mut values: HashMap<Value, Value> =
        rw.arguments(scan.body).iter().copied().zip(taken).collect();
    let ops: Vec<OpId> = rw.ops(scan.body).map(OpRef::id).collect();
    let (&terminator, ops) = ops.split_last()?;
    for &op in ops {
        rw.clone_with(op, &mut values);
    }
    let given: Vec<Value> =
        rw.op(terminator).operands().iter().map(|v| *values.get(v).unwrap_or(v)).collect();
    let (elements, carries) = given.split_at(outputs.len());

    let mut updated = Vec::with_capacity(outputs.len());
    for (&output, &element) in outputs.iter().zip(elements) {
        updated.push(update(rw, output, element, scan.dimension, position)?);
    }
    let one = index(rw, 1)?;
    let next = rw.make(AddOp::DEF, [counter, one]).value()?;
    let next = std::iter::once(next).chain(carries.iter().copied()).chain(updated);
    rw.make(ReturnOp::DEF, next).results([]);
    Some(())
}

/// Start indices of a slice: `position` along one dimension, and 0 along the others.
fn starts(
    rw: &mut Rewriter<'_>,
    rank: usize,
    dimension: usize,
    position: Value,
) -> Option<Vec<Value>> {
    let mut starts = vec![index(rw, 0)?; rank];
    starts[dimension] = position;
    Some(starts)
}

/// The slice of `input` at a position, with the sliced dimension dropped.
fn slice(rw: &mut Rewriter<'_>, input: Value, dimension: usize, position: Value) -> Option<Value> {
    let ty = rw.ty(input).as_tensor()?.clone();
    let starts = starts(rw, ty.rank(), dimension, position)?;
    let mut shape = ty.shape.clone();
    shape[dimension] = 1;
    let sliced = Type::tensor(shape.clone(), ty.element.clone());
    let slice = if ty.has_static_shape() {
        let slice = rw.make(DynamicSliceOp::DEF, std::iter::once(input).chain(starts));
        slice.attr("slice_sizes", Attribute::i64_array(shape.clone())).result(sliced)
    } else {
        let starts = vector(rw, &starts);
        let limits = limits(rw, input, dimension, position)?;
        let limits = vector(rw, &limits);
        let strides =
            constant(rw, Attribute::i64_elements(&[ty.rank() as i64], &vec![1; ty.rank()])?)?;
        rw.make(RealDynamicSliceOp::DEF, [input, starts, limits, strides]).result(sliced)
    };
    shape.remove(dimension);
    Some(rw.make(ReshapeOp::DEF, [slice]).result(Type::tensor(shape, ty.element)))
}

fn vector(rw: &mut Rewriter<'_>, scalars: &[Value]) -> Value {
    let parts: Vec<Value> = scalars.iter().map(|&s| as_vector(rw, s)).collect();
    concatenate(rw, &parts)
}

/// Limit indices of a slice at a position.
fn limits(
    rw: &mut Rewriter<'_>,
    input: Value,
    dimension: usize,
    position: Value,
) -> Option<Vec<Value>> {
    let shape = rw.ty(input).as_tensor()?.shape.clone();
    let mut limits = Vec::with_capacity(shape.len());
    for (d, &size) in shape.iter().enumerate() {
        limits.push(if d == dimension {
            let one = index(rw, 1)?;
            rw.make(AddOp::DEF, [position, one]).value()?
        } else if size == DYNAMIC {
            dimension_size(rw, input, d)?
        } else {
            index(rw, size)?
        });
    }
    Some(limits)
}

/// `output` with `element` written at a position.
fn update(
    rw: &mut Rewriter<'_>,
    output: Value,
    element: Value,
    dimension: usize,
    position: Value,
) -> Option<Value> {
    let ty = rw.ty(output).clone();
    let mut shape = ty.as_tensor()?.shape.clone();
    shape[dimension] = 1;
    let rank = shape.len();
    let element =
        rw.make(ReshapeOp::DEF, [element]).result(Type::tensor(shape, ty.element_type().clone()));
    let starts = starts(rw, rank, dimension, position)?;
    Some(rw.make(DynamicUpdateSliceOp::DEF, [output, element].into_iter().chain(starts)).result(ty))
}
