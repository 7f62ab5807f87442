//! Simplifications of ops with regions, of tuples, and of ops on empty tensors.

use hlo::ops::*;
use mlir::attrs::DenseElements;
use mlir::ir::ValueDef;
use mlir::rewrite::effects::is_memory_effect_free;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::{Attribute, BlockId, OpId, OpRef, Type, Value};
use numerics::Bytes;
use std::collections::{HashMap, HashSet};

pub(super) static PATTERNS: &[RewritePattern] = &[
    RewritePattern::new("element-of-tuple", GetTupleElementOp::DEF, element_of_tuple),
    RewritePattern::new("tuple-of-elements", TupleOp::DEF, tuple_of_elements),
    RewritePattern::new("custom-call-backend-config", CustomCallOp::DEF, backend_config),
    RewritePattern::new("reduce-along-nothing", ReduceOp::DEF, reduce_along_nothing),
    RewritePattern::new("reduce-to-outside", ReduceOp::DEF, reduce_to_outside),
    RewritePattern::new("reduce-of-nothing", ReduceOp::DEF, reduce_of_nothing),
    RewritePattern::new("reduce-unused", ReduceOp::DEF, reduce_unused),
    RewritePattern::new("sort-unused", SortOp::DEF, sort_unused),
    RewritePattern::new("sort-last-dimension", SortOp::DEF, sort_last_dimension),
    RewritePattern::new("while-invariant", WhileOp::DEF, while_invariant),
];

/// Patterns for any op, tried after patterns for specific ops.
pub(super) static EMPTY_TENSORS: &[RewritePattern] =
    &[RewritePattern::any("empty-tensor", empty_tensor).with_benefit(0)];

/// `get_tuple_element(tuple(x, y), 1) = y`
fn element_of_tuple(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let index = usize::try_from(GetTupleElementOp(rw.op(op)).index()).ok()?;
    let tuple = rw.defining_op(rw.op(op).operand(0)).filter(|op| op.is(TupleOp::DEF))?;
    let element = *tuple.operands().get(index)?;
    rw.replace(op, &[element]);
    Some(())
}

/// `tuple(get_tuple_element(x, 0), get_tuple_element(x, 1), …) = x`
fn tuple_of_elements(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let elements = rw.op(op).operands();
    let element = |value: Value| rw.defining_op(value).and_then(GetTupleElementOp::cast);
    let tuple = element(*elements.first()?)?.operand();
    if rw.ty(tuple) != rw.op(op).result_type(0) {
        return None;
    }
    let is_in_place = |(i, &value): (i64, &Value)| {
        element(value).is_some_and(|e| e.operand() == tuple && e.index() == i)
    };
    if !(0..).zip(elements).all(is_in_place) {
        return None;
    }
    rw.replace(op, &[tuple]);
    Some(())
}

/// Moves the configuration of an exporter's `mhlo.backend_config` to the typed custom call.
fn backend_config(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    const ORIGINAL: i64 = 1;
    const TYPED_FFI: i32 = 4;
    const ASIDE: &str = "mhlo.backend_config";
    let call = rw.op(op);
    let view = CustomCallOp::cast(call)?;
    let is_free = view.backend_config().is_none_or(|config| config.as_str() == Some(""));
    if view.api_version() != ORIGINAL || !is_free {
        return None;
    }
    let config = call.attr(ASIDE)?.clone();
    rw.set_attr(op, "backend_config", config);
    rw.set_attr(op, "api_version", Attribute::i32(TYPED_FFI));
    rw.remove_attr(op, ASIDE);
    Some(())
}

fn pairs(rw: &Rewriter<'_>, op: OpId) -> Option<(Vec<Value>, Vec<Value>)> {
    let operands = rw.op(op).operands();
    let (inputs, inits) = operands.split_at_checked(operands.len() / 2)?;
    (inputs.len() == inits.len()).then(|| (inputs.to_vec(), inits.to_vec()))
}

/// `reduce(x, along no dimension) = x`
pub(crate) fn reduce_along_nothing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !ReduceOp(rw.op(op)).dimensions().is_empty() {
        return None;
    }
    let (inputs, _) = pairs(rw, op)?;
    if !inputs.iter().map(|&v| rw.ty(v)).eq(rw.op(op).result_types()) {
        return None;
    }
    rw.replace(op, &inputs);
    Some(())
}

/// The single block of region `index`.
fn block(rw: &Rewriter<'_>, op: OpId, index: usize) -> Option<BlockId> {
    match rw.blocks(*rw.op(op).regions().get(index)?) {
        [block] => Some(*block),
        _ => None,
    }
}

fn is_defined_in(rw: &Rewriter<'_>, value: Value, block: BlockId) -> bool {
    match rw.definition(value) {
        ValueDef::Argument { block: b, .. } => b == block,
        ValueDef::Result { op, .. } => rw.op(op).block() == Some(block),
    }
}

/// `reduce(x) { return y }` is `y` if `y` is defined outside, unless nothing is reduced.
pub(crate) fn reduce_to_outside(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let body = block(rw, op, 0)?;
    let returned = rw.terminator(body)?.operands().to_vec();
    let is_outside = returned.iter().all(|&v| !is_defined_in(rw, v, body));
    let same_types = returned.iter().map(|&v| rw.ty(v)).eq(rw.op(op).result_types());
    let (inputs, _) = pairs(rw, op)?;
    let has_elements = rw.ty(*inputs.first()?).shape()?.iter().all(|&size| size > 0);
    if !is_outside || !same_types || !has_elements {
        return None;
    }
    rw.replace(op, &returned);
    Some(())
}

/// `reduce(empty, init) = broadcast(init)`
fn reduce_of_nothing(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (inputs, inits) = pairs(rw, op)?;
    let ty = rw.ty(*inputs.first()?).as_tensor()?;
    if !ty.has_static_shape() || !ty.shape.contains(&0) {
        return None;
    }
    let types: Vec<Type> = rw.op(op).result_types().cloned().collect();
    let mut values = Vec::with_capacity(inits.len());
    for (init, ty) in inits.into_iter().zip(types) {
        let to = rw.make(BroadcastInDimOp::DEF, [init]);
        values.push(to.attr("broadcast_dimensions", Attribute::i64_array([])).result(ty));
    }
    rw.replace(op, &values);
    Some(())
}

/// `reduce(x, y).0 = reduce(x)` if the reduction of `x` does not depend on `y`.
fn reduce_unused(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let results: Vec<Value> = rw.op(op).results().collect();
    let used: Vec<usize> = (0..results.len()).filter(|&i| !rw.is_unused(results[i])).collect();
    if used.is_empty() || used.len() >= results.len() {
        return None;
    }
    let (inputs, inits) = pairs(rw, op)?;
    let body = block(rw, op, 0)?;
    let arguments = rw.arguments(body).to_vec();
    let returned = rw.terminator(body)?.operands().to_vec();
    // The ops and arguments of the body that the used results depend on.
    let mut needed_ops = HashSet::new();
    let mut needed = HashSet::new();
    let mut work: Vec<Value> = used.iter().map(|&i| returned[i]).collect();
    while let Some(value) = work.pop() {
        if let Some(at) = arguments.iter().position(|&a| a == value) {
            needed.insert(at % inputs.len());
        } else if let Some(def) = rw.defining_op(value).filter(|def| def.block() == Some(body)) {
            if !def.regions().is_empty() {
                return None;
            }
            if needed_ops.insert(def.id()) {
                work.extend(def.operands());
            }
        }
    }
    // A reduce has one result per input: an unused result that a used one depends on must stay.
    if needed.len() != used.len() {
        return None;
    }
    let kept: Vec<usize> = (0..inputs.len()).filter(|i| needed.contains(i)).collect();
    let halves = |i: &usize| [*i, *i + inputs.len()];
    let new_arguments: Vec<usize> =
        kept.iter().map(|i| halves(i)[0]).chain(kept.iter().map(|i| halves(i)[1])).collect();
    let (region, new_body) = rw.region_with_block(
        new_arguments.iter().map(|&i| rw.ty(arguments[i]).clone()).collect::<Vec<_>>(),
    );
    let mut values: HashMap<Value, Value> = new_arguments
        .iter()
        .map(|&i| arguments[i])
        .zip(rw.arguments(new_body).iter().copied())
        .collect();
    let ops: Vec<OpId> = rw.ops(body).map(OpRef::id).filter(|op| needed_ops.contains(op)).collect();
    rw.within(new_body, |rw| {
        for op in ops {
            rw.clone_with(op, &mut values);
        }
        let results: Vec<Value> =
            used.iter().map(|&i| *values.get(&returned[i]).unwrap_or(&returned[i])).collect();
        rw.make(ReturnOp::DEF, results).results([]);
    });
    let operands =
        kept.iter().map(|&i| inputs[i]).chain(kept.iter().map(|&i| inits[i])).collect::<Vec<_>>();
    let types: Vec<Type> = used.iter().map(|&i| rw.ty(results[i]).clone()).collect();
    let new = rw.make(ReduceOp::DEF, operands).attributes_of(op).region(region).results(types);
    let new: Vec<Value> = rw.op(new).results().collect();
    for (&i, value) in used.iter().zip(new) {
        rw.replace_uses(results[i], value);
    }
    rw.erase(op);
    Some(())
}

/// `sort(x, y).0 = sort(x)` if the comparator does not use `y`.
fn sort_unused(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let inputs = rw.op(op).operands().to_vec();
    let results: Vec<Value> = rw.op(op).results().collect();
    let body = block(rw, op, 0)?;
    let arguments = rw.arguments(body).to_vec();
    if arguments.len() != 2 * inputs.len() {
        return None;
    }
    let is_unused = |i: &usize| {
        [results[*i], arguments[2 * i], arguments[2 * i + 1]].iter().all(|&v| rw.is_unused(v))
    };
    let (dropped, kept): (Vec<usize>, Vec<usize>) = (0..inputs.len()).partition(is_unused);
    if dropped.is_empty() || kept.is_empty() {
        return None;
    }
    for &i in dropped.iter().rev() {
        rw.module_mut().erase_argument(body, 2 * i + 1);
        rw.module_mut().erase_argument(body, 2 * i);
    }
    let region = rw.module_mut().create_region();
    let old = rw.op(op).regions()[0];
    rw.move_blocks(old, region);
    let types: Vec<Type> = kept.iter().map(|&i| rw.ty(results[i]).clone()).collect();
    let operands: Vec<Value> = kept.iter().map(|&i| inputs[i]).collect();
    let new = rw.make(SortOp::DEF, operands).attributes_of(op).region(region).results(types);
    let new: Vec<Value> = rw.op(new).results().collect();
    for (&i, value) in kept.iter().zip(new) {
        rw.replace_uses(results[i], value);
    }
    rw.erase(op);
    Some(())
}

/// Dimension -1 is the last one.
fn sort_last_dimension(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let dimension = SortOp::cast(rw.op(op))?.dimension();
    let rank = rw.op(op).result_types().next()?.shape()?.len() as i64;
    if dimension >= 0 || rank <= 0 {
        return None;
    }
    rw.set_attr(op, "dimension", Attribute::i64(dimension + rank));
    Some(())
}

/// Captures loop-invariant values instead of carrying them through the loop.
fn while_invariant(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operands = rw.op(op).operands().to_vec();
    let results: Vec<Value> = rw.op(op).results().collect();
    let blocks = [block(rw, op, 0)?, block(rw, op, 1)?];
    let arguments = blocks.map(|b| rw.arguments(b).to_vec());
    let end = rw.terminator(blocks[1])?.id();
    let returned = rw.op(end).operands().to_vec();
    if returned.len() != operands.len() {
        return None;
    }
    let has_one_type = |i: usize| {
        [results[i], arguments[0][i], arguments[1][i]]
            .iter()
            .all(|&v| rw.ty(v) == rw.ty(operands[i]))
    };
    let is_passed_on = |i: usize| returned[i] == operands[i] || returned[i] == arguments[1][i];
    let is_invariant = |&i: &usize| is_passed_on(i) && has_one_type(i);
    let (invariant, kept): (Vec<usize>, Vec<usize>) = (0..operands.len()).partition(is_invariant);
    if invariant.is_empty() {
        return None;
    }
    let rest: Vec<Value> = kept.iter().map(|&i| returned[i]).collect();
    rw.set_operands(end, &rest);
    for &i in invariant.iter().rev() {
        for (&block, arguments) in blocks.iter().zip(&arguments) {
            rw.replace_uses(arguments[i], operands[i]);
            rw.module_mut().erase_argument(block, i);
        }
        rw.replace_uses(results[i], operands[i]);
    }
    let mut regions = Vec::with_capacity(2);
    for old in rw.op(op).regions().to_vec() {
        let region = rw.module_mut().create_region();
        rw.move_blocks(old, region);
        regions.push(region);
    }
    let types: Vec<Type> = kept.iter().map(|&i| rw.ty(results[i]).clone()).collect();
    let operands: Vec<Value> = kept.iter().map(|&i| operands[i]).collect();
    let mut new = rw.make(WhileOp::DEF, operands).attributes_of(op);
    for region in regions {
        new = new.region(region);
    }
    let new = new.results(types);
    let new: Vec<Value> = rw.op(new).results().collect();
    for (&i, value) in kept.iter().zip(new) {
        rw.replace_uses(results[i], value);
    }
    rw.erase(op);
    Some(())
}

/// Replaces operands and results without elements by empty constants.
fn empty_tensor(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let is_ours =
        view.def().is_some_and(|def| def.dialect() == "stablehlo") && !view.is(ConstantOp::DEF);
    if !is_ours || view.regions().is_empty() && !is_memory_effect_free(view) {
        return None;
    }
    let is_empty =
        |value: Value| rw.ty(value).as_tensor().and_then(|t| t.num_elements()) == Some(0);
    let is_constant = |value: Value| rw.defining_op(value).is_some_and(|op| op.is(ConstantOp::DEF));
    let results: Vec<Value> = view.results().filter(|&v| is_empty(v) && !rw.is_unused(v)).collect();
    let operands = view.operands();
    let inputs: Vec<usize> = (0..operands.len())
        .filter(|&i| is_empty(operands[i]) && !is_constant(operands[i]))
        .collect();
    let mut changed = false;
    for value in results {
        if let Some(empty) = empty_constant(rw, value) {
            rw.replace_uses(value, empty);
            changed = true;
        }
    }
    for i in inputs {
        if let Some(empty) = empty_constant(rw, rw.op(op).operand(i)) {
            rw.set_operand(op, i, empty);
            changed = true;
        }
    }
    changed.then_some(())
}

fn empty_constant(rw: &mut Rewriter<'_>, like: Value) -> Option<Value> {
    let ty = rw.ty(like).clone();
    let value = DenseElements::new(ty.clone(), Bytes::from_vec(Vec::<u8>::new()))?;
    Some(rw.make(ConstantOp::DEF, []).attr("value", value).result(ty))
}
