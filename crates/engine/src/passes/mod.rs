//! Passes from the graph of a function to its plan, in the order in which they run.

pub(crate) mod assign_storage;
mod cse;
mod dce;
pub(crate) mod emit;
mod expansion;
mod fold;
mod form_blocks;
pub(crate) mod fuse_elementwise;
mod fuse_rows;
mod gathers;
mod hoist;
mod identities;
mod inline;
mod layout;
mod limit_sorts;
mod powers;
mod prepack;
mod recompute;
mod reduction_trees;
mod scatters;
mod schedule;
mod shrink;
mod sink;
mod slices;
mod split_reductions;
mod unroll;
mod widen;

pub(crate) use fold::known;

use crate::graph::{Graph, Node, Region, Value};
use crate::listing::{self, ListingDetail};
use crate::plan::Plan;
use crate::print;
use program::{Code, FunctionId, Origin};
use rustc_hash::FxHashMap;

/// A pass: it changes a function into one with the same results, or brings it closer to what runs.
pub struct PlanPass {
    /// Its name.
    pub name: &'static str,
    /// A sentence about it.
    pub description: &'static str,
    run: PassKind,
}

/// The function of a pass, by what it works on.
enum PassKind {
    /// Rewrites the graph.
    Graph(fn(&mut Graph<'_>, &mut Region)),
    /// Makes the plan of the graph; the second argument asks for machine code.
    Schedule(fn(&Graph<'_>, bool) -> Plan),
    /// Completes the plan, of which it shows these details afterwards.
    Plan(fn(&Graph<'_>, &mut Plan), ListingDetail),
}

/// The passes.
pub const PASSES: &[PlanPass] = &[
    PlanPass {
        name: "inline",
        description: "Replaces calls by the nodes of the functions that they call",
        run: PassKind::Graph(inline::run),
    },
    PlanPass {
        name: "unroll",
        description: "Replaces loops that run once by their body",
        run: PassKind::Graph(unroll::run),
    },
    PlanPass {
        name: "identities",
        description: "Replaces nodes whose results are their operands",
        run: PassKind::Graph(identities::run),
    },
    PlanPass {
        name: "powers",
        description: "Replaces squares and inverses, written as powers, by products and quotients",
        run: PassKind::Graph(powers::run),
    },
    PlanPass {
        name: "widen",
        description: "Lets convolutions of narrow types compute on converted operands",
        run: PassKind::Graph(widen::run),
    },
    PlanPass {
        name: "layout",
        description: "Lets chains of convolutions compute with the channels last",
        run: PassKind::Graph(layout::run),
    },
    PlanPass {
        name: "reduction-trees",
        description: "Replaces small reductions with blocks of their own by elementwise nodes",
        run: PassKind::Graph(reduction_trees::run),
    },
    PlanPass {
        name: "shrink",
        description: "Computes elementwise nodes of repeated elements once",
        run: PassKind::Graph(shrink::run),
    },
    PlanPass {
        name: "slices",
        description: "Computes elementwise nodes in the parts that slices take of them",
        run: PassKind::Graph(slices::run),
    },
    PlanPass {
        name: "fold",
        description: "Computes small nodes of constants",
        run: PassKind::Graph(fold::run),
    },
    PlanPass {
        name: "cse",
        description: "Replaces a node by an equal one before it",
        run: PassKind::Graph(cse::run),
    },
    PlanPass {
        name: "gathers",
        description: "Replaces gathers at indices that count evenly by views",
        run: PassKind::Graph(gathers::run),
    },
    PlanPass {
        name: "scatters",
        description: "Replaces scatters of one small window in loops by updates of slices",
        run: PassKind::Graph(scatters::run),
    },
    PlanPass {
        name: "dce",
        description: "Drops nodes and results that nothing uses",
        run: PassKind::Graph(dce::run),
    },
    PlanPass {
        name: "hoist",
        description: "Moves nodes out of loops that do not change their operands",
        run: PassKind::Graph(hoist::run),
    },
    PlanPass {
        name: "limit-sorts",
        description: "Lets sorts give the first elements alone, where nothing uses the others",
        run: PassKind::Graph(limit_sorts::run),
    },
    PlanPass {
        name: "sink",
        description: "Moves nodes into the branch that alone uses them",
        run: PassKind::Graph(sink::run),
    },
    PlanPass {
        name: "split-reductions",
        description: "Divides long reductions of elementwise values into rows",
        run: PassKind::Graph(split_reductions::run),
    },
    PlanPass {
        name: "recompute",
        description: "Computes large cheap values again where they are used later",
        run: PassKind::Graph(recompute::run),
    },
    PlanPass {
        name: "fuse-elementwise",
        description: "Groups elementwise nodes that one loop computes",
        run: PassKind::Graph(fuse_elementwise::run),
    },
    PlanPass {
        name: "schedule",
        description: "Chooses loops, movements and kernels for nodes and groups, and their order",
        run: PassKind::Schedule(schedule::run),
    },
    PlanPass {
        name: "fuse-rows",
        description: "Merges steps over the same rows into row loops",
        run: PassKind::Plan(fuse_rows::run, ListingDetail::Steps),
    },
    PlanPass {
        name: "assign-storage",
        description: "Assigns a constant, a slot or a part of the arena to each value",
        run: PassKind::Plan(assign_storage::run, ListingDetail::Storage),
    },
    PlanPass {
        name: "form-blocks",
        description: "Makes blocks of steps over small values",
        run: PassKind::Plan(form_blocks::run, ListingDetail::Blocks),
    },
    PlanPass {
        name: "prepack",
        description: "Numbers the operands that kernels prepack, such as weights",
        run: PassKind::Plan(prepack::run, ListingDetail::Blocks),
    },
    PlanPass {
        name: "emit",
        description: "Makes machine code of blocks and loops",
        run: PassKind::Plan(emit::run, ListingDetail::Code),
    },
];

/// The plan of a function; `None` if it has to run instruction by instruction. `makes_code` asks
/// for machine code, where there is some for this machine.
pub(crate) fn plan(code: &Code, function: FunctionId, makes_code: bool) -> Option<Plan> {
    run(PASSES, code, function, makes_code)?.1
}

/// The function after a pass, as text; `None` if there is no such pass, or the function has to run
/// instruction by instruction. `name` gives the names of ops.
pub(crate) fn dump_after(
    pass: &str,
    code: &Code,
    function: FunctionId,
    makes_code: bool,
    name: &dyn Fn(Origin) -> String,
) -> Option<String> {
    let last = PASSES.iter().position(|known| known.name == pass)?;
    let (graph, plan) = run(&PASSES[..=last], code, function, makes_code)?;
    let title = &code.function(function).name;
    Some(match (plan, &PASSES[last].run) {
        (Some(plan), PassKind::Plan(_, detail)) => {
            listing::dump(title, &plan, &graph.constants, *detail, name)
        }
        (Some(plan), _) => {
            listing::dump(title, &plan, &graph.constants, ListingDetail::Steps, name)
        }
        (None, _) => print::graph(&graph, title, name),
    })
}

/// A function after some passes: its graph, and its plan if one of them makes it.
fn run<'c>(
    passes: &[PlanPass],
    code: &'c Code,
    function: FunctionId,
    makes_code: bool,
) -> Option<(Graph<'c>, Option<Plan>)> {
    let makes_code = makes_code && codegen::is_available();
    let mut graph = Graph::of(code, function)?;
    let mut plan = None;
    for pass in passes {
        match (&pass.run, &mut plan) {
            (PassKind::Graph(run), _) => {
                let mut body = std::mem::take(&mut graph.body);
                run(&mut graph, &mut body);
                graph.body = body;
            }
            (PassKind::Schedule(run), plan) => *plan = Some(run(&graph, makes_code)),
            (PassKind::Plan(run, _), Some(plan)) => run(&graph, plan),
            (PassKind::Plan(..), None) => {}
        }
    }
    Some((graph, plan))
}

/// Values that are replaced by others.
#[derive(Default)]
pub(crate) struct Replacements(FxHashMap<Value, Value>);

impl Replacements {
    /// Replaces a value that no use has been looked at of.
    pub(crate) fn insert(&mut self, value: Value, by: Value) {
        let by = self.get(by);
        if by != value {
            self.0.insert(value, by);
        }
    }

    /// The value that stands for another one, or is itself. What has replaced a value may have been
    /// replaced since: the results of a loop within one that runs once, by those of its nodes.
    pub(crate) fn get(&self, mut value: Value) -> Value {
        while let Some(&by) = self.0.get(&value) {
            value = by;
        }
        value
    }

    /// Replaces the values in a list.
    pub(crate) fn apply(&self, values: &mut [Value]) {
        values.iter_mut().for_each(|value| *value = self.get(*value));
    }
}

/// Keeps the nodes of a region for which `is_kept` is true. The others leave their number of ops to
/// the nodes after them, so that limits of steps count them.
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
