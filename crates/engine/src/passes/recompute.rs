//! Computes large values of little arithmetic again where they are used later, instead of keeping
//! them.
//!
//! The backward part of a training step uses what the forward part computed: sums and products of
//! the results of convolutions, which are kept anyway. To write and read such a value takes longer
//! than to compute it again in the loop that uses it.

use crate::graph::{Graph, Node, Region, Value};
use numerics::math::{BinaryOp, UnaryOp};
use program::{Kind, Primitive};
use rustc_hash::FxHashMap;

/// The most nodes that are computed again for a value.
const MAX_NODES: usize = 8;
/// The most large values that these read.
const MAX_LARGE: usize = 2;
/// The part of a value that small ones have at most.
const SMALL_PART: usize = 16;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    recompute(graph, body);
    for inner in body.nodes.iter_mut().flat_map(|node| &mut node.regions) {
        run(graph, inner);
    }
}

fn recompute(graph: &mut Graph<'_>, region: &mut Region) {
    let least = host::machine().l2.bytes;
    let is_large = |node: &Node| node.results.iter().any(|&v| graph.bytes(v) >= Some(least));
    if !region.nodes.iter().any(|node| is_cheap(&node.primitive) && is_large(node)) {
        return;
    }
    let uses = RegionUses::of(region);
    // For each part of the region, the nodes that are computed again where it begins.
    let mut again: Vec<Vec<Node>> = vec![Vec::new(); uses.parts];
    let mut copies: FxHashMap<(Value, usize), Value> = FxHashMap::default();
    let mut nodes = region.nodes.clone();
    for (position, node) in region.nodes.iter().enumerate() {
        let &[value] = &node.results[..] else { continue };
        if graph.bytes(value) < Some(least) || !uses.is_elementwise_later(value, position) {
            continue;
        }
        let Some(tree) = uses.tree(graph, &region.nodes, position) else { continue };
        let own = uses.part[position];
        for &user in uses.users[&value].iter().filter(|&&user| uses.part[user] > own) {
            let part = uses.part[user];
            for &member in &tree {
                let [result] = region.nodes[member].results[..] else { continue };
                if copies.contains_key(&(result, part)) {
                    continue;
                }
                let mut copy = region.nodes[member].clone();
                for operand in &mut copy.operands {
                    *operand = copies.get(&(*operand, part)).copied().unwrap_or(*operand);
                }
                let ty = graph.types[result as usize].clone();
                let new = graph.value(&ty);
                (copy.results[0], copy.ops) = (new, 0);
                copies.insert((result, part), new);
                again[part].push(copy);
            }
            for operand in nodes[user].operands.iter_mut().filter(|o| **o == value) {
                *operand = copies[&(value, part)];
            }
        }
    }
    region.nodes.clear();
    let mut next = 0;
    for (node, part) in nodes.into_iter().zip(uses.part) {
        while next <= part {
            region.nodes.append(&mut again[next]);
            next += 1;
        }
        region.nodes.push(node);
    }
}

/// The users of the values of a region, and its parts: each but the first begins after a node that
/// is no elementwise one and no movement.
struct RegionUses {
    /// The positions of the nodes that use each value, in order.
    users: FxHashMap<Value, Vec<usize>>,
    /// The positions of the nodes that define values.
    definitions: FxHashMap<Value, usize>,
    /// The part of each node.
    part: Vec<usize>,
    /// The number of parts.
    parts: usize,
    /// For each node, true if it is elementwise.
    is_elementwise: Vec<bool>,
    /// Values that are results of the region.
    results: Vec<Value>,
}

impl RegionUses {
    fn of(region: &Region) -> RegionUses {
        let mut uses = RegionUses {
            users: FxHashMap::default(),
            definitions: FxHashMap::default(),
            part: Vec::new(),
            parts: 1,
            is_elementwise: Vec::new(),
            results: region.results.clone(),
        };
        for (position, node) in region.nodes.iter().enumerate() {
            node.uses().into_iter().for_each(|value| {
                uses.users.entry(value).or_default().push(position);
            });
            uses.definitions.extend(node.results.iter().map(|&value| (value, position)));
            uses.part.push(uses.parts - 1);
            let kind = node.primitive.kind();
            uses.is_elementwise.push(kind == Kind::Elementwise && node.regions.is_empty());
            if !matches!(kind, Kind::Elementwise | Kind::Movement | Kind::Value) {
                uses.parts += 1;
            }
        }
        uses
    }

    /// True if some nodes of later parts use a value, and all users are elementwise: otherwise it
    /// is kept anyway.
    fn is_elementwise_later(&self, value: Value, position: usize) -> bool {
        let users = self.users.get(&value).map_or(&[][..], |users| &users[..]);
        !self.results.contains(&value)
            && users.iter().all(|&user| self.is_elementwise[user])
            && self.is_used_later(value, position)
    }

    fn is_used_later(&self, value: Value, position: usize) -> bool {
        self.last_part(value) > Some(self.part[position])
    }

    /// The last part that uses a value.
    fn last_part(&self, value: Value) -> Option<usize> {
        self.users.get(&value)?.last().map(|&user| self.part[user])
    }

    /// The nodes that compute the value of a node from values that are kept, in order; `None` if
    /// they are many or not cheap, or what they read would take more memory than the value.
    fn tree(&self, graph: &Graph<'_>, nodes: &[Node], position: usize) -> Option<Vec<usize>> {
        let value = nodes[position].results[0];
        let bytes = graph.bytes(value)?;
        if !is_cheap(&nodes[position].primitive) {
            return None;
        }
        let (mut tree, mut large): (Vec<usize>, Vec<Value>) = (Vec::new(), Vec::new());
        let mut left = vec![position];
        while let Some(at) = left.pop() {
            if tree.contains(&at) {
                continue;
            }
            tree.push(at);
            if tree.len() > MAX_NODES {
                return None;
            }
            for &operand in &nodes[at].operands {
                match self.definitions.get(&operand) {
                    Some(&at) if is_cheap(&nodes[at].primitive) => left.push(at),
                    _ if self.is_small(graph, nodes, operand, bytes) => {}
                    _ if large.contains(&operand) => {}
                    _ => large.push(operand),
                }
            }
        }
        let mut longer = 0_usize;
        for &operand in &large {
            let defined = self.definitions.get(&operand);
            // A function that takes long may be in no memory yet.
            if defined
                .is_some_and(|&at| self.is_elementwise[at] && !self.is_used_later(operand, at))
            {
                return None;
            }
            if self.last_part(operand) < self.last_part(value) {
                longer = longer.saturating_add(graph.bytes(operand)?);
            }
        }
        let own = self.part[position];
        let mut parts: Vec<usize> =
            self.users[&value].iter().map(|&user| self.part[user]).collect();
        parts.dedup();
        let later = parts.iter().filter(|&&part| part > own).count();
        tree.sort_unstable();
        // Reading two values in several parts takes longer than writing one.
        let pays = large.len() < MAX_LARGE || large.len() == MAX_LARGE && later == 1;
        (pays && longer <= bytes).then_some(tree)
    }

    /// True for values that are small beside `bytes`, and for such ones repeated.
    fn is_small(&self, graph: &Graph<'_>, nodes: &[Node], value: Value, bytes: usize) -> bool {
        let is_small = |value| graph.bytes(value).is_some_and(|own| own <= bytes / SMALL_PART);
        let repeated = self.definitions.get(&value).map(|&at| &nodes[at]);
        is_small(value)
            || repeated.is_some_and(|node| match &*node.primitive {
                Primitive::Splat(_) => true,
                Primitive::BroadcastInDim(_) => node.operands.iter().all(|&o| is_small(o)),
                _ => false,
            })
    }
}

/// True for functions of few instructions.
fn is_cheap(primitive: &Primitive) -> bool {
    match primitive {
        Primitive::Unary(op) => matches!(op, UnaryOp::Negate | UnaryOp::Abs | UnaryOp::Not),
        Primitive::Binary(op) => matches!(
            op,
            BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Maximum
                | BinaryOp::Minimum
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
        ),
        Primitive::Compare(_) | Primitive::Select | Primitive::Clamp => true,
        _ => false,
    }
}
