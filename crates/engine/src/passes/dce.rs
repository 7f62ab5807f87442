//! Drops nodes, results of branches and values of loops that nothing uses.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::{keep, retain};
use program::{Effects, Primitive};
use rustc_hash::FxHashSet;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    let mut used: FxHashSet<Value> = body.results.iter().copied().collect();
    drop_dead(graph, body, &mut used);
}

/// Drops the dead nodes of a region, and adds the values that the others use to `used`, which has
/// the values that the region returns or that are used after it.
fn drop_dead(graph: &Graph<'_>, region: &mut Region, used: &mut FxHashSet<Value>) {
    let mut live = Vec::with_capacity(region.nodes.len());
    for node in region.nodes.iter_mut().rev() {
        // Constants are values without nodes.
        let is_used = |value| used.contains(value) && !graph.constants.contains_key(value);
        let is_live = node.results.iter().any(is_used) || graph.effects(node) != Effects::None;
        live.push(is_live);
        if is_live {
            drop_unused(graph, node, used);
        }
    }
    retain(region, |_| live.pop().unwrap_or(true));
}

/// Drops what a live node has that nothing uses, and adds the values that it uses.
fn drop_unused(graph: &Graph<'_>, node: &mut Node, used: &mut FxHashSet<Value>) {
    let is_loop = matches!(*node.primitive, Primitive::While(_));
    match is_loop {
        true => drop_carried(graph, node, used),
        false if !node.regions.is_empty() => drop_results(graph, node, used),
        false => {}
    }
    if is_loop {
        // The next iteration uses the results of the body.
        used.extend(&node.results);
    }
    for region in node.regions.iter_mut().rev() {
        used.extend(&region.results);
        drop_dead(graph, region, used);
    }
    used.extend(&node.operands);
    used.extend(node.captures.iter().map(|&(_, value)| value));
}

/// Drops the results of branches that nothing uses.
fn drop_results(graph: &Graph<'_>, node: &mut Node, used: &FxHashSet<Value>) {
    let is_kept = |(number, &result): (usize, &Value)| {
        let mut values = node.regions.iter().filter_map(|branch| branch.results.get(number));
        used.contains(&result) || values.any(|&value| is_checked(graph, value, result))
    };
    let kept: Vec<bool> = node.results.iter().enumerate().map(is_kept).collect();
    let mut results = node.results.to_vec();
    keep(&mut results, &kept);
    node.results = results.into();
    node.regions.iter_mut().for_each(|branch| keep(&mut branch.results, &kept));
}

/// True if a value may not be one of the type of a result that it becomes.
fn is_checked(graph: &Graph<'_>, value: Value, result: Value) -> bool {
    graph.types[value as usize] != graph.types[result as usize]
}

/// Drops the values of a loop that are used neither after it, nor for its condition, effects or
/// values that are.
fn drop_carried(graph: &Graph<'_>, node: &mut Node, used: &FxHashSet<Value>) {
    let [cond, body] = &node.regions[..] else { return };
    let count = node.results.len();
    let is_used = |(number, &result): (usize, &Value)| {
        let mut values = node.operands.get(number).into_iter().chain(body.results.get(number));
        used.contains(&result) || values.any(|&value| is_checked(graph, value, result))
    };
    let mut is_live: Vec<bool> = node.results.iter().enumerate().map(is_used).collect();
    loop {
        let mut needed: FxHashSet<Value> = cond.results.iter().copied().collect();
        let results = body.results.iter().zip(&is_live).filter(|(_, live)| **live);
        needed.extend(results.map(|(&value, _)| value));
        for region in [body, cond] {
            for inner in region.nodes.iter().rev() {
                let is_needed = inner.results.iter().any(|value| needed.contains(value))
                    || graph.effects(inner) != Effects::None;
                if is_needed {
                    inner.visit_uses(&mut |value| {
                        needed.insert(value);
                    });
                }
            }
        }
        let now: Vec<bool> = (0..count)
            .map(|number| is_live[number] || needed.contains(&node.results[number]))
            .collect();
        if now == is_live {
            break;
        }
        is_live = now;
    }
    if is_live.contains(&false) {
        node.retain_carried(&is_live);
    }
}
