//! Replaces nodes whose results are their operands, and values that loops carry without change.
//! Movements that leave all elements in their order become reshapes.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::{Replacements, keep, rewrite};
use numerics::shape::{StridedView, num_elements};
use program::{Kind, Primitive, primitives};
use std::sync::Arc;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    rewrite(body, &mut Replacements::default(), &mut |node, replacements| {
        if let &[result] = &node.results[..]
            && let Some(operand) = same(graph, node)
            && graph.types[operand as usize] == graph.types[result as usize]
        {
            replacements.insert(result, operand);
            return false;
        }
        if let Some(reshape) = reshape(graph, node) {
            node.primitive = Arc::new(reshape.into());
        }
        replace_carried(graph, node, replacements);
        true
    });
}

/// The operand that the result of a node is if it has the type of the result.
fn same(graph: &Graph<'_>, node: &Node) -> Option<Value> {
    let is_static = node.operands.iter().all(|&operand| graph.shape(operand).is_some());
    match (&*node.primitive, &node.operands[..]) {
        // Slices are within the operand, so that one of its size is all of it.
        (Primitive::DynamicSlice(_), &[operand, ..]) if is_static => Some(operand),
        (Primitive::DynamicUpdateSlice, &[_, update, ..]) if is_static => Some(update),
        (primitive, &[operand, ..]) => {
            let is_same = graph.shape(operand).is_some_and(|shape| primitive.is_identity(&shape));
            is_same.then_some(operand)
        }
        _ => None,
    }
}

/// The reshape that a node is, like a broadcast that adds dimensions of size 1: the result has
/// the elements of the operand in their order.
fn reshape(graph: &Graph<'_>, node: &Node) -> Option<primitives::Reshape> {
    let (&[operand], &[result]) = (&node.operands[..], &node.results[..]) else { return None };
    if node.primitive.kind() != Kind::Movement || matches!(&*node.primitive, Primitive::Reshape(_))
    {
        return None;
    }
    let (from, to) = (graph.shape(operand)?, graph.shape(result)?);
    let view = node.primitive.as_view(&StridedView::dense(&from).ok()?)?;
    let is_same = view.is_dense() && view.shape() == &to[..];
    let is_all = num_elements(&from) == num_elements(&to);
    (is_same && is_all).then(|| primitives::Reshape { shape: to.to_vec() })
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
