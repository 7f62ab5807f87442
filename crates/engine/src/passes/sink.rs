//! Moves nodes into the branch that alone uses them, so that the others do not compute them.

use crate::graph::{Graph, Node, Region, Value};
use program::{Effects, Kind, Primitive};
use rustc_hash::FxHashMap;

pub(crate) fn run(graph: &mut Graph<'_>, body: &mut Region) {
    sink(graph, body);
}

/// The only user of a value: a branch of a node.
#[derive(Clone, Copy, PartialEq)]
enum User {
    Branch { node: usize, branch: usize },
    Other,
}

fn sink(graph: &Graph<'_>, region: &mut Region) {
    let mut users: FxHashMap<Value, User> = FxHashMap::default();
    region.results.iter().for_each(|&value| note(&mut users, value, User::Other));
    let mut nodes: Vec<Option<Node>> = region.nodes.drain(..).map(Some).collect();
    for position in (0..nodes.len()).rev() {
        let Some(node) = &nodes[position] else { continue };
        if let Some((at, branch)) = target(graph, node, &users) {
            let Some(node) = nodes[position].take() else { continue };
            node.visit_uses(&mut |value| {
                note(&mut users, value, User::Branch { node: at, branch });
            });
            if let Some(user) = &mut nodes[at] {
                user.regions[branch].nodes.insert(0, node);
            }
            continue;
        }
        node.operands.iter().for_each(|&value| note(&mut users, value, User::Other));
        node.captures.iter().for_each(|&(_, value)| note(&mut users, value, User::Other));
        for (branch, inner) in node.regions.iter().enumerate() {
            let user = match *node.primitive {
                Primitive::If(_) | Primitive::Case(_) => User::Branch { node: position, branch },
                _ => User::Other,
            };
            inner.nodes.iter().for_each(|inner| {
                inner.visit_uses(&mut |value| note(&mut users, value, user));
            });
            inner.results.iter().for_each(|&value| note(&mut users, value, user));
        }
    }
    region.nodes = nodes.into_iter().flatten().collect();
    for inner in region.nodes.iter_mut().flat_map(|node| &mut node.regions) {
        sink(graph, inner);
    }
}

fn note(users: &mut FxHashMap<Value, User>, value: Value, user: User) {
    users
        .entry(value)
        .and_modify(|known| {
            if *known != user {
                *known = User::Other;
            }
        })
        .or_insert(user);
}

/// The branch that a node can move into: it alone uses the results, and there is work to save.
fn target(
    graph: &Graph<'_>,
    node: &Node,
    users: &FxHashMap<Value, User>,
) -> Option<(usize, usize)> {
    if matches!(node.primitive.kind(), Kind::Value | Kind::Control)
        || node.results.iter().any(|value| graph.constants.contains_key(value))
        || graph.effects(node) != Effects::None
    {
        return None;
    }
    let mut found = node.results.iter().filter_map(|value| users.get(value));
    let &User::Branch { node, branch } = found.next()? else { return None };
    found.all(|&user| user == User::Branch { node, branch }).then_some((node, branch))
}
