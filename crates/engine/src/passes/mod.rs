//! Passes over the graph of a function, in the order in which they run.

mod cse;
mod dce;
mod fold;
mod hoist;
mod identities;
mod inline;
mod layout;
mod limit_sorts;
mod sink;

pub(crate) use fold::known;

use crate::graph::{Graph, Node, Region, Value};
use rustc_hash::FxHashMap;

/// A pass: it changes a graph into one with the same results.
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// A sentence about it.
    pub description: &'static str,
    run: fn(&mut Graph<'_>, &mut Region),
}

impl Pass {
    /// Rewrites the function of a graph.
    pub(crate) fn run(&self, graph: &mut Graph<'_>) {
        let mut body = std::mem::take(&mut graph.body);
        (self.run)(graph, &mut body);
        graph.body = body;
    }
}

/// The passes.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "inline",
        description: "Replaces calls by the nodes of the functions that they call",
        run: inline::run,
    },
    Pass {
        name: "identities",
        description: "Replaces nodes whose results are their operands",
        run: identities::run,
    },
    Pass {
        name: "layout",
        description: "Lets chains of convolutions compute with the channels last",
        run: layout::run,
    },
    Pass { name: "fold", description: "Computes small nodes of constants", run: fold::run },
    Pass { name: "cse", description: "Replaces a node by an equal one before it", run: cse::run },
    Pass { name: "dce", description: "Drops nodes and results that nothing uses", run: dce::run },
    Pass {
        name: "hoist",
        description: "Moves nodes out of loops that do not change their operands",
        run: hoist::run,
    },
    Pass {
        name: "limit-sorts",
        description: "Lets sorts give the first elements alone, where nothing uses the others",
        run: limit_sorts::run,
    },
    Pass {
        name: "sink",
        description: "Moves nodes into the branch that alone uses them",
        run: sink::run,
    },
];

/// Values that are replaced by others.
#[derive(Default)]
pub(crate) struct Replacements(FxHashMap<Value, Value>);

impl Replacements {
    /// Replaces a value that no use has been looked at of.
    pub fn insert(&mut self, value: Value, by: Value) {
        let by = self.get(by);
        self.0.insert(value, by);
    }

    /// The value that stands for another one, or is itself.
    pub fn get(&self, value: Value) -> Value {
        self.0.get(&value).copied().unwrap_or(value)
    }

    /// Replaces the values in a list.
    pub fn apply(&self, values: &mut [Value]) {
        values.iter_mut().for_each(|value| *value = self.get(*value));
    }
}

/// Keeps the nodes of a region for which `is_kept` is true. The others leave their number of ops to
/// those after them, so that limits of steps count them.
pub(crate) fn retain(region: &mut Region, mut is_kept: impl FnMut(&mut Node) -> bool) {
    let mut dropped = 0;
    region.nodes.retain_mut(|node| {
        let is_kept = is_kept(node);
        match is_kept {
            true => node.ops = node.ops.saturating_add(std::mem::take(&mut dropped)),
            false => dropped = node.ops.saturating_add(dropped),
        }
        is_kept
    });
    if let Some(last) = region.nodes.last_mut() {
        last.ops = last.ops.saturating_add(dropped);
    }
}

/// Rewrites the nodes of a region and of nested regions in order: `rewrite_node` sees each after
/// the values that it uses are replaced, and before its regions, and returns false to drop it.
pub(crate) fn rewrite(
    region: &mut Region,
    replacements: &mut Replacements,
    rewrite_node: &mut impl FnMut(&mut Node, &mut Replacements) -> bool,
) {
    retain(region, |node| {
        node.visit_own_uses_mut(&mut |value| *value = replacements.get(*value));
        if !rewrite_node(node, replacements) {
            return false;
        }
        for inner in &mut node.regions {
            rewrite(inner, replacements, rewrite_node);
        }
        true
    });
    replacements.apply(&mut region.results);
}

/// Keeps some of the values in a list.
pub(crate) fn keep(values: &mut Vec<Value>, kept: &[bool]) {
    let mut kept = kept.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}
