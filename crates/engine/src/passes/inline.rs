//! Replaces calls by the nodes of the functions that they call.

use crate::build::{GraphBuilder, plannable};
use crate::graph::{Graph, MAX_DEPTH, Node, Region, Value};
use crate::passes::Replacements;
use program::{Code, FunctionId, Primitive, primitives};

/// Calls are inlined as long as that makes no more nodes than this, or than [`GROWTH`] times the
/// instructions of the program.
const MIN_NODES: usize = 1 << 12;
const GROWTH: usize = 4;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    let code = graph.code;
    let nodes_left = code.instructions.len().saturating_mul(GROWTH).max(MIN_NODES);
    let (sizes, plannable) = (sizes(code), plannable(code));
    let mut inliner = CallInliner { graph, nodes_left, sizes, plannable };
    inliner.region(body, &mut Replacements::default(), 1);
}

struct CallInliner<'g, 'c> {
    graph: &'g mut Graph<'c>,
    /// Nodes that may still be made. Failed attempts count, and leave values without uses.
    nodes_left: usize,
    /// The number of instructions of each function.
    sizes: Vec<usize>,
    /// For each function, whether all values are known that its blocks use from around them.
    plannable: Vec<bool>,
}

impl CallInliner<'_, '_> {
    fn region(&mut self, region: &mut Region, replacements: &mut Replacements, depth: usize) {
        let mut nodes = Vec::with_capacity(region.nodes.len());
        for mut node in std::mem::take(&mut region.nodes) {
            node.visit_own_uses_mut(&mut |value| *value = replacements.get(*value));
            if let Primitive::Call(primitives::Call { function }) = *node.primitive
                && let Some(inlined) = self.callee(function, &node, depth)
            {
                nodes.extend(inlined.nodes);
                for (&result, &value) in node.results.iter().zip(&inlined.results) {
                    replacements.insert(result, value);
                }
                continue;
            }
            for inner in &mut node.regions {
                self.region(inner, replacements, depth + 1);
            }
            nodes.push(node);
        }
        region.nodes = nodes;
        replacements.apply(&mut region.results);
    }

    /// The region of a call, with calls in it inlined; `None` if it stays a call.
    fn callee(&mut self, function: FunctionId, node: &Node, depth: usize) -> Option<Region> {
        let body_size = self.sizes[function.index()];
        if depth >= MAX_DEPTH || !self.plannable[function.index()] {
            return None;
        }
        self.graph.code.function(function).body?;
        self.nodes_left = self.nodes_left.checked_sub(body_size)?;
        self.graph.calls.push((node.origin, node.call));
        let call = Some((self.graph.calls.len() - 1) as u32);
        let arguments: Vec<Value> = node.operands.to_vec();
        let mut builder = GraphBuilder { graph: self.graph, call, depth };
        let mut region = builder.function(function, Some(&arguments))?;
        self.region(&mut region, &mut Replacements::default(), depth + 1);
        Some(region)
    }
}

/// The number of instructions of each function, all its blocks together.
fn sizes(code: &Code) -> Vec<usize> {
    let mut sizes = vec![0; code.functions.len()];
    for block in &code.blocks {
        sizes[block.function.index()] += block.instructions.len();
    }
    sizes
}
