//! Moves slices before the elementwise nodes that they take parts of, if nothing else uses these:
//! gates of a recurrent cell, for example, which one product computes. Then the loops that use the
//! parts compute them, and the whole is not stored.

use crate::graph::{Graph, Node, Region, Value};
use program::{Effects, Kind, Primitive, ValueType};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// Smaller values stay in registers.
const MIN_ELEMENTS: usize = 64;
/// The longest chain of elementwise nodes that slices move along.
const MAX_CHAIN: usize = 16;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    for inner in body.nodes.iter_mut().flat_map(|node| &mut node.regions) {
        run(graph, inner);
    }
    let is_slice = |node: &Node| matches!(&*node.primitive, Primitive::Slice(_));
    if body.nodes.iter().any(is_slice) {
        (0..MAX_CHAIN).any(|_| !move_slices(graph, body));
    }
}

/// Moves the slices of a region along one elementwise node each. False if none moves.
fn move_slices(graph: &mut Graph<'_>, region: &mut Region) -> bool {
    // The nodes that use each value; `None` if something else does.
    let mut users: FxHashMap<Value, Option<Vec<usize>>> = FxHashMap::default();
    for (position, node) in region.nodes.iter().enumerate() {
        for &operand in &node.operands {
            if let Some(users) = users.entry(operand).or_insert_with(|| Some(Vec::new())) {
                users.push(position);
            }
        }
        node.captures.iter().for_each(|&(_, value)| _ = users.insert(value, None));
        node.regions.iter().for_each(|inner| used_in(inner, &mut users));
    }
    region.results.iter().for_each(|&value| _ = users.insert(value, None));
    // The node that each slice takes a part of.
    let mut parts: FxHashMap<usize, usize> = FxHashMap::default();
    for (position, node) in region.nodes.iter().enumerate() {
        if let Some(slices) = slices_of(graph, region, &users, node) {
            parts.extend(slices.into_iter().map(|slice| (slice, position)));
        }
    }
    if parts.is_empty() {
        return false;
    }
    let replaced: FxHashSet<usize> = parts.values().copied().collect();
    let mut wholes: FxHashMap<usize, Node> = FxHashMap::default();
    let mut nodes = Vec::with_capacity(region.nodes.len() + parts.len());
    for (position, node) in std::mem::take(&mut region.nodes).into_iter().enumerate() {
        if replaced.contains(&position) {
            wholes.insert(position, node);
            continue;
        }
        let Some(whole) = parts.get(&position).and_then(|whole| wholes.get(whole)) else {
            nodes.push(node);
            continue;
        };
        let shape = graph.shape(node.results[0]).unwrap_or_default();
        let mut operands = SmallVec::new();
        for &operand in &whole.operands {
            let is_scalar = graph.shape(operand).is_none_or(|shape| shape.is_empty());
            let Some(dtype) = graph.dtype(operand).filter(|_| !is_scalar) else {
                operands.push(operand);
                continue;
            };
            let part = graph.value(&Arc::new(ValueType::tensor(dtype, &shape)));
            nodes.push(Node {
                operands: [operand].into_iter().collect(),
                results: [part].into_iter().collect(),
                ops: 0,
                ..node.clone()
            });
            operands.push(part);
        }
        nodes.push(Node { operands, results: node.results, ..whole.clone() });
    }
    region.nodes = nodes;
    true
}

/// Marks the values that a nested region uses.
fn used_in(region: &Region, users: &mut FxHashMap<Value, Option<Vec<usize>>>) {
    for node in &region.nodes {
        let captured = node.captures.iter().map(|(_, value)| value);
        node.operands.iter().chain(captured).for_each(|&value| _ = users.insert(value, None));
        node.regions.iter().for_each(|inner| used_in(inner, users));
    }
    region.results.iter().for_each(|&value| _ = users.insert(value, None));
}

/// The slices that take parts of an elementwise node, if nothing else uses it, they have no more
/// elements than it, and only elementwise nodes use them: others need the parts stored.
fn slices_of(
    graph: &Graph<'_>,
    region: &Region,
    users: &FxHashMap<Value, Option<Vec<usize>>>,
    node: &Node,
) -> Option<Vec<usize>> {
    let &[result] = &node.results[..] else { return None };
    let shape = graph.shape(result)?;
    let count = graph.elements(result)?;
    let is_operand =
        |&operand: &Value| graph.shape(operand).is_some_and(|own| own.is_empty() || own == shape);
    let is_elementwise = |node: &Node| node.primitive.kind() == Kind::Elementwise;
    if count < MIN_ELEMENTS
        || !is_elementwise(node)
        || node.operands.is_empty()
        || graph.effects(node) != Effects::None
        || !node.operands.iter().all(is_operand)
    {
        return None;
    }
    let slices = users.get(&result)?.as_ref()?;
    let mut elements = 0;
    for &slice in slices {
        let slice = &region.nodes[slice];
        let Primitive::Slice(_) = &*slice.primitive else { return None };
        elements += graph.elements(slice.results[0])?;
        let users = users.get(&slice.results[0])?.as_ref()?;
        if !users.iter().all(|&user| is_elementwise(&region.nodes[user])) {
            return None;
        }
    }
    (elements <= count).then(|| slices.clone())
}
