//! Replaces nodes whose results are their operands, and values that loops carry without change.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::{Replacements, keep, rewrite};
use program::{Primitive, primitives};

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    rewrite(body, &mut Replacements::default(), &mut |node, replacements| {
        if let (&[operand, ..], &[result]) = (&node.operands[..], &node.results[..])
            && is_identity(&node.primitive)
            && graph.types[operand as usize] == graph.types[result as usize]
        {
            replacements.insert(result, operand);
            return false;
        }
        replace_carried(graph, node, replacements);
        true
    });
}

/// True for a padding of zero elements.
fn is_identity(primitive: &Primitive) -> bool {
    let Primitive::Pad(primitives::Pad { low, high, interior }) = primitive else { return false };
    low.iter().chain(high).chain(interior).all(|&count| count == 0)
}

/// Replaces loop-carried values that the body returns unchanged by their initial values.
fn replace_carried(graph: &Graph<'_>, node: &mut Node, replacements: &mut Replacements) {
    let (Primitive::While(_), [_, body]) = (&*node.primitive, &node.regions[..]) else { return };
    let is_kept = |number: usize| {
        let (operand, result) = (node.operands[number], node.results[number]);
        let is_same = body.results.get(number) == Some(&result)
            && graph.types[operand as usize] == graph.types[result as usize];
        !is_same
    };
    let kept: Vec<bool> = (0..node.results.len()).map(is_kept).collect();
    for (number, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
        replacements.insert(node.results[number], node.operands[number]);
    }
    node.retain_carried(&kept);
}

impl Node {
    /// Keeps some of the values that a loop carries.
    pub(crate) fn retain_carried(&mut self, kept: &[bool]) {
        let retain = |values: &mut Vec<Value>| keep(values, kept);
        let mut operands = self.operands.to_vec();
        let mut results = self.results.to_vec();
        retain(&mut operands);
        retain(&mut results);
        (self.operands, self.results) = (operands.into(), results.into());
        if let [cond, body] = &mut self.regions[..] {
            retain(&mut cond.arguments);
            retain(&mut body.arguments);
            retain(&mut body.results);
        }
    }
}
