//! Moves nodes out of loops that do not change their operands.
//!
//! Elementwise work whose result is larger than its operands stays in the loop if only elementwise
//! work reads it: to compute it again takes less time than to read it. Anything else reads it from
//! memory.

use crate::graph::{Graph, Node, Region, Value};
use program::{Effects, Kind, Primitive};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    Hoist { graph, sources: FxHashMap::default() }.region(body);
}

struct Hoist<'g, 'c> {
    graph: &'g Graph<'c>,
    /// The bytes of the memory that movements read, by their results.
    sources: FxHashMap<Value, usize>,
}

impl Hoist<'_, '_> {
    fn region(&mut self, region: &mut Region) {
        let mut nodes = Vec::with_capacity(region.nodes.len());
        for mut node in std::mem::take(&mut region.nodes) {
            self.note_source(&node);
            for inner in &mut node.regions {
                self.region(inner);
            }
            if matches!(*node.primitive, Primitive::While(_)) {
                self.hoist(&mut node, &mut nodes);
            }
            nodes.push(node);
        }
        region.nodes = nodes;
    }

    /// Moves nodes from the regions of a loop to the nodes before it.
    fn hoist(&self, node: &mut Node, before: &mut Vec<Node>) {
        let mut changing: FxHashSet<Value> = FxHashSet::default();
        node.visit_definitions(&mut |value| {
            changing.insert(value);
        });
        for region in &mut node.regions {
            let in_memory = in_memory(region);
            let is_out = |node: &mut Node| {
                let is_in_memory = is_any_of(node, &in_memory);
                let is_out = is_invariant(node, &changing)
                    && self.graph.effects(node) == Effects::None
                    && (is_in_memory || self.is_worth_it(node));
                if is_out {
                    node.visit_definitions(&mut |value| {
                        changing.remove(&value);
                    });
                }
                is_out
            };
            before.extend(region.nodes.extract_if(.., is_out));
        }
    }

    fn note_source(&mut self, node: &Node) {
        if let (Kind::Movement, &[result]) = (node.primitive.kind(), &node.results[..]) {
            let read = self.bytes_read(node);
            let own = self.graph.bytes(result).unwrap_or(usize::MAX);
            self.sources.insert(result, read.min(own));
        }
    }

    /// The bytes of the memory of operands.
    fn bytes_read(&self, node: &Node) -> usize {
        let bytes = node.operands.iter().map(|value| match self.sources.get(value) {
            Some(&bytes) => bytes,
            None if self.graph.repeated.contains_key(value) => 0,
            None => self.graph.bytes(*value).unwrap_or(0),
        });
        bytes.fold(0, usize::saturating_add)
    }

    /// True for nodes, which may run although the loop does not, unless they are as fast as what
    /// reads their results.
    fn is_worth_it(&self, node: &Node) -> bool {
        let is_cheap = match node.primitive.kind() {
            Kind::Elementwise => {
                let results = node.results.iter().map(|&value| self.graph.bytes(value));
                results.sum::<Option<usize>>().is_none_or(|bytes| bytes > self.bytes_read(node))
            }
            Kind::Value
            | Kind::Movement
            | Kind::Product
            | Kind::Convolution
            | Kind::Reduction
            | Kind::Control
            | Kind::Kernel => false,
        };
        !is_cheap
    }
}

/// Values of a loop that kernels read from memory, and the loop-invariant operands of elementwise
/// nodes that compute such values.
fn in_memory(region: &Region) -> FxHashSet<Value> {
    let mut changing: FxHashSet<Value> = region.arguments.iter().copied().collect();
    let mut is_changing = Vec::with_capacity(region.nodes.len());
    for node in &region.nodes {
        let is_invariant = node.regions.is_empty() && is_invariant(node, &changing);
        is_changing.push(!is_invariant);
        if !is_invariant {
            changing.extend(&node.results);
        }
    }
    let mut in_memory: FxHashSet<Value> = FxHashSet::default();
    for (node, is_changing) in region.nodes.iter().zip(is_changing).rev() {
        let is_read = match node.primitive.kind() {
            // Products convert what they read, and reductions compute it.
            Kind::Value | Kind::Product | Kind::Convolution | Kind::Reduction => false,
            Kind::Elementwise => !is_changing && is_any_of(node, &in_memory),
            // Views have one operand.
            Kind::Movement => node.operands.len() > 1 || is_any_of(node, &in_memory),
            Kind::Control | Kind::Kernel => true,
        };
        if is_read {
            node.visit_uses(&mut |value| {
                in_memory.insert(value);
            });
        }
    }
    in_memory
}

/// True if a result of a node is one of these values.
fn is_any_of(node: &Node, values: &FxHashSet<Value>) -> bool {
    node.results.iter().any(|value| values.contains(value))
}

fn is_invariant(node: &Node, changing: &FxHashSet<Value>) -> bool {
    let mut own: FxHashSet<Value> = FxHashSet::default();
    node.visit_definitions(&mut |value| {
        own.insert(value);
    });
    let mut is_invariant = true;
    node.visit_uses(&mut |value| {
        is_invariant &= own.contains(&value) || !changing.contains(&value);
    });
    is_invariant
}
