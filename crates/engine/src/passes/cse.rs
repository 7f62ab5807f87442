//! Replaces a node by an equal one before it: common subexpressions.
//!
//! Nodes are equal if their primitives are, up to blocks and regions that are written alike, and
//! their operands and what their blocks and regions use from around them are the same values. A
//! node sees the nodes before it in its region and in enclosing ones. Nodes that may fail or not
//! end are replaced, too: the one before has failed then, or not ended.

use crate::graph::{Graph, Node, Region, Value};
use crate::passes::{Replacements, retain};
use program::{BlockId, Body, Callee, Code, Effects, Primitive, Slot, primitives};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// Nodes of one hash beyond this number are not compared.
const MAX_CANDIDATES: usize = 16;
/// Constants of more bytes are not compared, unless they share their memory.
const MAX_CONSTANT: usize = 1 << 22;
/// Blocks of more instructions are not compared.
const MAX_INSTRUCTIONS: usize = 64;
/// Regions of more nodes are not compared.
const MAX_NODES: usize = 64;
/// Leading bytes of a constant that its hash depends on.
const HASHED_BYTES: usize = 64;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    let mut available = AvailableNodes { graph, nodes: FxHashMap::default(), order: Vec::new() };
    available.region(body, &mut Replacements::default());
}

/// The nodes before the current one, in its region and around it.
struct AvailableNodes<'g, 'c> {
    graph: &'g Graph<'c>,
    nodes: FxHashMap<u64, SmallVec<[Node; 1]>>,
    /// The hashes of the nodes, in order.
    order: Vec<u64>,
}

impl AvailableNodes<'_, '_> {
    fn region(&mut self, region: &mut Region, replacements: &mut Replacements) {
        let before = self.order.len();
        retain(region, |node| {
            node.visit_own_uses_mut(&mut |value| *value = replacements.get(*value));
            for inner in &mut node.regions {
                self.region(inner, replacements);
            }
            !self.replace(node, replacements)
        });
        replacements.apply(&mut region.results);
        for hash in self.order.drain(before..) {
            self.nodes.get_mut(&hash).and_then(SmallVec::pop);
        }
    }

    /// True if a node before this one has its results.
    fn replace(&mut self, node: &Node, replacements: &mut Replacements) -> bool {
        let graph = self.graph;
        let is_candidate = !node.results.is_empty()
            && count_nodes(&node.regions) <= MAX_NODES
            && graph.effects(node) <= Effects::MayFail;
        if !is_candidate {
            return false;
        }
        let hash = hash(graph, node);
        let candidates = self.nodes.entry(hash).or_default();
        let types = |values: &[Value]| -> SmallVec<[_; 2]> {
            values.iter().map(|&value| &graph.types[value as usize]).collect()
        };
        let same = candidates.iter().find(|other| {
            types(&other.results) == types(&node.results)
                && are_equal(graph, other, node, &mut FxHashMap::default())
        });
        if let Some(same) = same {
            for (&result, &by) in node.results.iter().zip(&same.results) {
                replacements.insert(result, by);
            }
            return true;
        }
        if candidates.len() < MAX_CANDIDATES {
            candidates.push(node.clone());
            self.order.push(hash);
        }
        false
    }
}

fn hash(graph: &Graph<'_>, node: &Node) -> u64 {
    let mut hasher = FxHasher::default();
    let inner = count_nodes(&node.regions);
    (discriminant(&*node.primitive), &node.operands, node.results.len(), inner).hash(&mut hasher);
    for &value in &node.results {
        graph.shape(value).hash(&mut hasher);
        graph.dtype(value).map(|dtype| discriminant(&dtype)).hash(&mut hasher);
    }
    match &*node.primitive {
        Primitive::Constant(primitives::Constant { tensor })
        | Primitive::Splat(primitives::Splat { element: tensor, .. }) => {
            let bytes = tensor.bytes();
            bytes[..bytes.len().min(HASHED_BYTES)].hash(&mut hasher);
        }
        Primitive::Unary(function) => function.hash(&mut hasher),
        Primitive::Binary(function) => function.hash(&mut hasher),
        // Equal primitives of other kinds mostly have equal operands.
        _ => {}
    }
    hasher.finish()
}

/// The number of nodes in regions and nested ones.
fn count_nodes(regions: &[Region]) -> usize {
    let nodes = regions.iter().flat_map(|region| &region.nodes);
    nodes.map(|node| 1 + count_nodes(&node.regions)).sum()
}

/// True if two nodes compute the same of the same operands. `defined` has the values that are
/// defined alike around the second node, with the values that they equal.
fn are_equal(
    graph: &Graph<'_>,
    one: &Node,
    other: &Node,
    defined: &mut FxHashMap<Value, Value>,
) -> bool {
    let are_same = |first: &[Value], second: &[Value], defined: &FxHashMap<Value, Value>| {
        let found = second.iter().map(|value| defined.get(value).unwrap_or(value));
        first.iter().eq(found)
    };
    let captured = |node: &Node| node.captures.iter().map(|&(slot, _)| slot).collect::<Vec<_>>();
    let values = |node: &Node| node.captures.iter().map(|&(_, value)| value).collect::<Vec<_>>();
    // The captures of equal blocks are in the same order of slots.
    if !are_same(&one.operands, &other.operands, defined)
        || !are_same(&values(one), &values(other), defined)
        || one.regions.len() != other.regions.len()
    {
        return false;
    }
    let types = |values: &[Value]| -> SmallVec<[_; 2]> {
        values.iter().map(|&value| &graph.types[value as usize]).collect()
    };
    if one.regions.is_empty() {
        let mut slots = SlotNumbers::default();
        return slots.define(&captured(one), &captured(other))
            && primitives_are_equal(graph.code, &one.primitive, &other.primitive, &slots);
    }
    // A primitive with regions has blocks and nothing else.
    if discriminant(&*one.primitive) != discriminant(&*other.primitive) {
        return false;
    }
    // The regions of a loop have its results as arguments.
    defined.extend(other.results.iter().copied().zip(one.results.iter().copied()));
    one.regions.iter().zip(&other.regions).all(|(first, second)| {
        types(&first.results) == types(&second.results)
            && first.nodes.len() == second.nodes.len()
            && first.nodes.iter().zip(&second.nodes).all(|(first, second)| {
                let is_equal = types(&first.results) == types(&second.results)
                    && are_equal(graph, first, second, defined);
                defined.extend(second.results.iter().copied().zip(first.results.iter().copied()));
                is_equal
            })
            && are_same(&first.results, &second.results, defined)
    })
}

/// Numbers for the definitions of the slots that two blocks see: slots with the same values
/// have the same one.
#[derive(Clone, Default)]
struct SlotNumbers {
    numbers: [FxHashMap<Slot, usize>; 2],
    count: usize,
}

impl SlotNumbers {
    /// Adds slots that hold the same values; false if their numbers differ.
    fn define(&mut self, first: &[Slot], second: &[Slot]) -> bool {
        for (&first, &second) in first.iter().zip(second) {
            self.numbers[0].insert(first, self.count);
            self.numbers[1].insert(second, self.count);
            self.count += 1;
        }
        first.len() == second.len()
    }

    /// True if operands hold the same values.
    fn are_same(&self, first: &[program::Operand], second: &[program::Operand]) -> bool {
        let number = |side: usize, operand: &program::Operand| {
            self.numbers[side].get(&operand.slot).copied()
        };
        first.len() == second.len()
            && first.iter().zip(second).all(|(first, second)| {
                let number = number(0, first).zip(number(1, second));
                number.is_some_and(|(first, second)| first == second)
            })
    }
}

/// True if two primitives compute the same of the same operands, and of the same values in the
/// slots around them.
fn primitives_are_equal(
    code: &Code,
    one: &Primitive,
    other: &Primitive,
    slots: &SlotNumbers,
) -> bool {
    use Primitive as P;
    let blocks_are_equal = |one, other| blocks_are_equal(code, one, other, slots);
    let all_are_equal = |one: &[BlockId], other: &[BlockId]| {
        let mut pairs = one.iter().zip(other);
        one.len() == other.len() && pairs.all(|(&one, &other)| blocks_are_equal(one, other))
    };
    let bodies = |one: &Body, other: &Body| {
        let alike = match (one.callee, other.callee) {
            (Callee::Block(one), Callee::Block(other)) => blocks_are_equal(one, other),
            (one, other) => one == other,
        };
        alike && Body { callee: one.callee, ..other.clone() } == *one
    };
    match (one, other) {
        (P::Constant(one), P::Constant(other)) => {
            let (first, second) = (one.tensor.bytes(), other.tensor.bytes());
            let are_shared = first.as_ptr() == second.as_ptr();
            (are_shared || first.len() <= MAX_CONSTANT) && one == other
        }
        (P::Native(one), P::Native(other)) => {
            one == other || one.class.is_some() && one.class == other.class
        }
        (P::Map(one), P::Map(other)) => blocks_are_equal(one.block, other.block),
        (P::If(one), P::If(other)) => all_are_equal(&one.branches, &other.branches),
        (P::Case(one), P::Case(other)) => all_are_equal(&one.branches, &other.branches),
        (P::While(one), P::While(other)) => {
            blocks_are_equal(one.cond, other.cond) && blocks_are_equal(one.body, other.body)
        }
        (P::Reduce(one), P::Reduce(other)) => {
            one.dimensions == other.dimensions && bodies(&one.body, &other.body)
        }
        (P::ReduceWindow(one), P::ReduceWindow(other)) => {
            (&one.window, one.inputs) == (&other.window, other.inputs)
                && bodies(&one.body, &other.body)
        }
        (P::Scatter(one), P::Scatter(other)) => {
            one.dims == other.dims && bodies(&one.body, &other.body)
        }
        (P::SelectAndScatter(one), P::SelectAndScatter(other)) => {
            (&one.window, one.relation) == (&other.window, other.relation)
                && blocks_are_equal(one.select, other.select)
                && bodies(&one.scatter, &other.scatter)
        }
        (P::Sort(one), P::Sort(other)) => {
            let (one_order, other_order) = (&*one.comparator, &*other.comparator);
            (one.dimension, one.limit) == (other.dimension, other.limit)
                && one_order.used == other_order.used
                && blocks_are_equal(one_order.block, other_order.block)
        }
        _ => one == other,
    }
}

/// True if two blocks have the same instructions on the same values, up to their slots. `slots`
/// has the outer ones that they may use.
fn blocks_are_equal(code: &Code, one: BlockId, other: BlockId, slots: &SlotNumbers) -> bool {
    if one == other {
        return slots.numbers[0] == slots.numbers[1];
    }
    let (one, other) = (code.block(one), code.block(other));
    let (first, second) = (code.instructions_of(one), code.instructions_of(other));
    if one.argument_types != other.argument_types
        || one.result_types != other.result_types
        || first.len() != second.len()
        || first.len() > MAX_INSTRUCTIONS
    {
        return false;
    }
    let mut slots = slots.clone();
    if !slots.define(&one.arguments, &other.arguments) {
        return false;
    }
    for (first, second) in first.iter().zip(second) {
        let is_same = slots.are_same(&first.operands, &second.operands)
            && first.result_types == second.result_types
            && primitives_are_equal(code, &first.primitive, &second.primitive, &slots)
            && slots.define(&first.results, &second.results);
        if !is_same {
            return false;
        }
    }
    slots.are_same(&one.results, &other.results)
}
