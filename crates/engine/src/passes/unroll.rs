//! Replaces loops that run once by their body, and those that never run by their operands.
//!
//! Frameworks loop over a batch of one: what is in such a loop has constant indices, and is fused
//! with what is around it.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::{Replacements, fold};
use numerics::{I1, Tensor};
use program::Primitive;
use rustc_hash::FxHashMap;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    if !has_loop(body) {
        return;
    }
    Unroll { graph, known: FxHashMap::default() }.region(body, &mut Replacements::default());
}

fn has_loop(region: &Region) -> bool {
    region.nodes.iter().any(|node| {
        matches!(*node.primitive, Primitive::While(_)) || node.regions.iter().any(has_loop)
    })
}

struct Unroll<'g, 'c> {
    graph: &'g Graph<'c>,
    /// The scalars that are known so far.
    known: FxHashMap<Value, Tensor>,
}

impl Unroll<'_, '_> {
    fn region(&mut self, region: &mut Region, replacements: &mut Replacements) {
        let mut nodes = Vec::with_capacity(region.nodes.len());
        // From the last to the first: the nodes of a loop that runs once come next.
        let mut dropped = 0_u32;
        let mut left: Vec<Node> = std::mem::take(&mut region.nodes).into_iter().rev().collect();
        while let Some(mut node) = left.pop() {
            node.visit_own_uses_mut(&mut |value| *value = replacements.get(*value));
            self.note(&node);
            match self.rounds(&node) {
                Some(0) => {
                    for (&result, &operand) in node.results.iter().zip(&node.operands) {
                        replacements.insert(result, operand);
                    }
                    // Limits of steps count the loop and its condition with the next node.
                    dropped = dropped.saturating_add(steps(&node, 1));
                    continue;
                }
                Some(1) => {
                    left.extend(once(node, replacements).into_iter().rev());
                    continue;
                }
                _ => {}
            }
            for inner in &mut node.regions {
                self.region(inner, replacements);
            }
            node.ops = node.ops.saturating_add(std::mem::take(&mut dropped));
            nodes.push(node);
        }
        region.nodes = nodes;
        replacements.apply(&mut region.results);
    }

    /// How often a loop runs, if that is less than twice, and known. Its last value is known then.
    fn rounds(&self, node: &Node) -> Option<usize> {
        let (Primitive::While(_), [condition, body]) = (&*node.primitive, &node.regions[..]) else {
            return None;
        };
        let mut known: FxHashMap<Value, Tensor> = FxHashMap::default();
        for (&argument, operand) in node.results.iter().zip(&node.operands) {
            known.extend(self.known.get(operand).map(|tensor| (argument, tensor.clone())));
        }
        if !self.decision(condition, &known)? {
            return Some(0);
        }
        // Of the body, what the condition sees, if it is known.
        let mut inner = known.clone();
        self.evaluate(&body.nodes, &mut inner);
        let mut next: FxHashMap<Value, Tensor> = FxHashMap::default();
        for (&argument, result) in node.results.iter().zip(&body.results) {
            let tensor = inner.get(result).or_else(|| self.known.get(result));
            next.extend(tensor.map(|tensor| (argument, tensor.clone())));
        }
        // The results of a body have the number of its nodes, which count for limits.
        let is_once = !self.decision(condition, &next)? && !body.nodes.is_empty();
        is_once.then_some(1)
    }

    /// The result of a condition, if it is known.
    fn decision(&self, condition: &Region, known: &FxHashMap<Value, Tensor>) -> Option<bool> {
        let mut known = known.clone();
        self.evaluate(&condition.nodes, &mut known);
        let tensor = known.get(condition.results.first()?)?;
        Some(tensor.as_slice::<I1>().ok()?.first()?.get())
    }

    /// Adds the results of nodes of known scalars.
    fn evaluate(&self, nodes: &[Node], known: &mut FxHashMap<Value, Tensor>) {
        for node in nodes {
            let &[result] = &node.results[..] else { continue };
            let value = |value: &Value| known.get(value).or_else(|| self.known.get(value));
            if let Some(tensor) = self.scalar(node, result, value) {
                known.insert(result, tensor);
            }
        }
    }

    /// Notes the value of a node, if it is a known scalar.
    fn note(&mut self, node: &Node) {
        let &[result] = &node.results[..] else { return };
        let value = |value: &Value| self.known.get(value);
        if let Some(tensor) = self.scalar(node, result, value) {
            self.known.insert(result, tensor);
        }
    }

    /// The value of a node of one element, as counters of loops have; others are left to the pass
    /// that folds.
    fn scalar<'t>(
        &self,
        node: &Node,
        result: Value,
        value: impl Fn(&Value) -> Option<&'t Tensor>,
    ) -> Option<Tensor> {
        let is_scalar = self.graph.elements(result) == Some(1);
        if is_scalar { fold::evaluate(self.graph, node, result, value) } else { None }
    }
}

/// The nodes of the body of a loop that runs once, whose results become those of the loop.
fn once(mut node: Node, replacements: &mut Replacements) -> Vec<Node> {
    let conditions = node.regions[0]
        .nodes
        .iter()
        .fold(node.ops, |sum, inner| sum.saturating_add(inner.ops.saturating_mul(2)));
    let mut body = node.regions.swap_remove(1);
    // The values of the loop are its operands in the body, and the results of the body after it.
    let mut arguments = Replacements::default();
    for (&result, &operand) in node.results.iter().zip(&node.operands) {
        arguments.insert(result, operand);
    }
    body.visit_uses_mut(&mut |value| *value = arguments.get(*value));
    for (&result, &value) in node.results.iter().zip(&body.results) {
        replacements.insert(result, value);
    }
    if let Some(last) = body.nodes.last_mut() {
        last.ops = last.ops.saturating_add(conditions);
    }
    body.nodes
}

/// The ops of a loop without its body, whose condition is computed some times.
fn steps(node: &Node, conditions: u32) -> u32 {
    node.regions[0]
        .nodes
        .iter()
        .fold(node.ops, |sum, inner| sum.saturating_add(inner.ops.saturating_mul(conditions)))
}

impl Region {
    /// Visits each use of a value in the region and nested ones.
    fn visit_uses_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        for node in &mut self.nodes {
            node.visit_own_uses_mut(visit);
            node.regions.iter_mut().for_each(|region| region.visit_uses_mut(visit));
        }
        self.results.iter_mut().for_each(visit);
    }
}
