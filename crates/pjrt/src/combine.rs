//! Merges independent sums over devices.

use crate::terms::adds;
use stablo::dialects::stablehlo::AllReduceOp;
use stablo::ir::{BlockId, OpId, OpRef, Value};
use stablo::{Attribute, Builder, CollectiveAttrs, Module, Type};
use std::collections::{HashMap, HashSet};

/// Merges `all_reduce` ops that add values of one element type along the same axes, at the first
/// use of one of their results. Channels are distinct afterwards.
pub(crate) fn combine_sums(module: &mut Module) -> stablo::Result<()> {
    let mut blocks: Vec<BlockId> = Vec::new();
    for op in stablo::walk(module).filter(|op| op.is(AllReduceOp::DEF)) {
        blocks.extend(op.block().filter(|block| !blocks.contains(block)));
    }
    for block in blocks {
        let mut open: Vec<OpId> = Vec::new();
        let mut results: HashSet<Value> = HashSet::new();
        let ops: Vec<OpId> = module.ops(block).map(OpRef::id).collect();
        for id in ops {
            let uses_open = |op: OpRef<'_>| op.operands().iter().any(|own| results.contains(own));
            if !open.is_empty() && module.walk(id).any(uses_open) {
                combine(module, &open, id)?;
                open.clear();
                results.clear();
            }
            let op = module.op(id);
            let is_like = |other: &OpId| is_like(op, module.op(*other));
            if op.is(AllReduceOp::DEF) && adds(op) && open.first().is_none_or(is_like) {
                results.extend(op.results());
                open.push(id);
            }
        }
    }
    let all: Vec<OpId> =
        stablo::walk(module).filter(|op| op.is(AllReduceOp::DEF)).map(OpRef::id).collect();
    let first = channels(module) + 1;
    let mut seen: HashSet<i64> = HashSet::new();
    for (at, id) in all.into_iter().enumerate() {
        let Some(own) = channel(module.op(id)) else { continue };
        if !seen.insert(own) {
            module.set_attr(id, "channel_handle", channel_handle(first + at as i64)?);
        }
    }
    Ok(())
}

/// The attribute of a channel between processes.
pub(crate) fn channel_handle(channel: i64) -> stablo::Result<Attribute> {
    stablo::parse_attribute(&format!("#stablehlo.channel_handle<handle = {channel}, type = 1>"))
}

/// The channel of a collective.
fn channel(op: OpRef<'_>) -> Option<i64> {
    CollectiveAttrs::of(op).channel
}

/// The last channel that a collective of the program uses.
pub(crate) fn channels(module: &Module) -> i64 {
    stablo::walk(module).filter_map(channel).max().unwrap_or(0)
}

/// True if two sums are over the same devices, of values of one element type.
fn is_like(left: OpRef<'_>, right: OpRef<'_>) -> bool {
    let is_same = |name: &str| left.attr(name) == right.attr(name);
    let element = |op: OpRef<'_>| op.operand_types().map(Type::element_type).next().cloned();
    ["replica_groups", "use_global_device_ids"].into_iter().all(is_same)
        && element(left) == element(right)
}

/// Replaces sums by one before an op.
fn combine(module: &mut Module, sums: &[OpId], before: OpId) -> stablo::Result<()> {
    let (&[first, _, ..], view) = (sums, &*module) else { return Ok(()) };
    let operands: Vec<Value> =
        sums.iter().flat_map(|&sum| view.op(sum).operands().to_vec()).collect();
    let types: Vec<Type> =
        sums.iter().flat_map(|&sum| view.op(sum).result_types().cloned()).collect();
    let Some(&body) = module.op(first).regions().first() else { return Ok(()) };
    let body = module.clone_region(body, &mut HashMap::new(), &mut HashMap::new());
    let (attributes, location) = {
        let op = module.op(first);
        let named = |name: &'static str| Some((name, op.attr(name)?.clone()));
        let names = ["replica_groups", "channel_handle", "use_global_device_ids"];
        (names.into_iter().filter_map(named).collect::<Vec<_>>(), op.location())
    };
    let mut builder = Builder::new(module);
    builder.insert_before(before).set_location(location);
    let mut sum = builder.op(AllReduceOp::DEF).operands(operands).region(body);
    for (name, value) in attributes {
        sum = sum.attribute(name, value);
    }
    let mut values = sum.result_types(types).values()?.into_iter();
    for &sum in sums {
        let count = builder.module().op(sum).num_results();
        let own: Vec<Value> = values.by_ref().take(count).collect();
        builder.replace(sum, &own)?;
    }
    Ok(())
}
