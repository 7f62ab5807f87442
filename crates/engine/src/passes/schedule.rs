//! Schedules a graph: chooses the steps that compute its nodes and groups, and puts them in order.

use crate::graph::{Graph, Node, Region, Value, runs_blocks};
use crate::lower::kernels::functions;
use crate::lower::loops::{Built, build};
use crate::lower::moves;
use crate::lower::views::Definitions;
use crate::passes::fuse_elementwise::Groups;
use crate::plan::{Captures, Plan, Sequence, Step, StepOp, Storage, Transfer, TransferMode};
use crate::visit::for_each_use;
use program::{Effects, Primitive};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The plan of a graph, without storage.
pub(crate) fn run(graph: &Graph<'_>, makes_code: bool) -> Plan {
    let definitions = Definitions::of(graph);
    Plan {
        arguments: graph.body.arguments.clone(),
        body: lower(&definitions, &graph.body, None).sequence,
        storage: vec![Storage::Unstored; graph.types.len()],
        types: graph.types.clone(),
        constants: Vec::new(),
        arena_bytes: 0,
        initial: Vec::new(),
        slots: 0,
        prepacked: 0,
        makes_code,
        is_flat: graph.is_flat(),
        calls: graph.calls.clone(),
    }
}

/// Steps of a region, and the values that they use, also of the region itself.
struct Lowered {
    sequence: Sequence,
    uses: FxHashSet<Value>,
}

/// Lowers a region. Its results are transferred to `targets`, if given.
fn lower<'g>(
    definitions: &Definitions<'g>,
    region: &'g Region,
    targets: Option<&[Value]>,
) -> Lowered {
    let groups = Groups::of(region);
    let mut lowering = RegionScheduler {
        definitions,
        nodes: &region.nodes,
        uses: region.results.iter().copied().collect(),
        chosen: FxHashMap::default(),
    };
    lowering.choose(&groups);
    let RegionScheduler { uses, chosen, .. } = lowering;
    let steps = in_order(&region.nodes, &groups, chosen);
    let results = match targets {
        Some(targets) => transfers(definitions.graph, region, targets),
        None => {
            let stay =
                |&value: &Value| transfer(definitions.graph, value, value, TransferMode::Stay);
            region.results.iter().map(stay).collect()
        }
    };
    Lowered { sequence: Sequence { steps, results, dead: Vec::new() }, uses }
}

/// How the results of a region become other values.
fn transfers(graph: &Graph<'_>, region: &Region, targets: &[Value]) -> Vec<Transfer> {
    let own: FxHashSet<Value> = region.nodes.iter().flat_map(|n| &n.results).copied().collect();
    let overwritten: FxHashSet<Value> = targets.iter().copied().collect();
    let mut moved = FxHashSet::default();
    let become_target = |(&from, &to): (&Value, &Value)| {
        let mode = match () {
            () if from == to => TransferMode::Stay,
            () if overwritten.contains(&from) => TransferMode::Stage,
            () if own.contains(&from) && moved.insert(from) => TransferMode::Move,
            () => TransferMode::Copy,
        };
        transfer(graph, from, to, mode)
    };
    region.results.iter().zip(targets).map(become_target).collect()
}

fn transfer(graph: &Graph<'_>, from: Value, to: Value, mode: TransferMode) -> Transfer {
    let is_checked = graph.types[from as usize] != graph.types[to as usize];
    Transfer { from, to, mode, is_checked }
}

struct RegionScheduler<'a, 'g> {
    definitions: &'a Definitions<'g>,
    nodes: &'g [Node],
    /// Values that later steps, or the results, use.
    uses: FxHashSet<Value>,
    /// The steps of each node that has some.
    chosen: FxHashMap<usize, Chosen>,
}

/// The steps of a node or group, at least one, and the instructions that they compute.
struct Chosen {
    ops: SmallVec<[StepOp; 1]>,
    instructions: SmallVec<[u32; 1]>,
}

impl<'g> RegionScheduler<'_, 'g> {
    /// Chooses steps, from the last node to the first, so that nodes without uses have none.
    fn choose(&mut self, groups: &Groups) {
        for position in (0..self.nodes.len()).rev() {
            if let Some(members) = groups.members.get(&position) {
                self.choose_group(position, members);
            } else if groups.root[position].is_none() {
                self.choose_node(position);
            }
        }
    }

    fn choose_group(&mut self, position: usize, members: &[usize]) {
        let results = members.iter().map(|&member| self.nodes[member].results[0]);
        let outputs: Vec<Value> = results.filter(|value| self.uses.contains(value)).collect();
        if outputs.is_empty() {
            return;
        }
        let nodes = needed(members.iter().map(|&member| &self.nodes[member]), &outputs);
        let moves = nodes.iter().all(|node| matches!(&*node.primitive, Primitive::Reshape(_)));
        if !moves && let Some(built) = build(self.definitions, &nodes, &outputs) {
            let Built { fused, operands, instructions } = built;
            self.uses.extend(&operands);
            let (fused, outputs) = (Box::new(fused), outputs.into());
            let ops = smallvec![StepOp::Loop { fused, operands, outputs }];
            self.chosen.insert(position, Chosen { ops, instructions });
            return;
        }
        for &member in members.iter().rev() {
            self.choose_node(member);
        }
    }

    fn choose_node(&mut self, position: usize) {
        let node = &self.nodes[position];
        let graph = self.definitions.graph;
        let primitive = &*node.primitive;
        // Loops that use the results may read them as views, so that no step computes them.
        let is_used = node.results.iter().any(|value| self.uses.contains(value));
        if !is_used && graph.effects(node) == Effects::None {
            return;
        }
        let is_constant = node.results.first().is_some_and(|v| graph.constants.contains_key(v));
        if is_constant {
            return;
        }
        let used = node.results.iter().copied().filter(|value| self.uses.contains(value));
        let used: SmallVec<[Value; 2]> = used.collect();
        let own = match moves::movement(self.definitions, node) {
            Some(op) => Some(smallvec![op]),
            None => functions(self.definitions, node, &used),
        };
        if let Some(ops) = own {
            for op in &ops {
                for_each_use(op, &mut |value| {
                    self.uses.insert(value);
                });
            }
            self.insert(position, ops);
            return;
        }
        self.uses.extend(&node.operands);
        let op = match (primitive, &node.regions[..]) {
            (Primitive::While(_), [cond, body]) => {
                let condition = cond.results.first().copied();
                let lowered = [(cond, None), (body, Some(&node.results[..]))]
                    .map(|(region, targets)| self.nested(region, targets));
                let [cond, body] = lowered;
                let start = |(&from, &to)| transfer(graph, from, to, TransferMode::Copy);
                StepOp::While {
                    initial: node.operands.iter().zip(&node.results).map(start).collect(),
                    cond,
                    // Verified: a condition returns a value.
                    condition: condition.unwrap_or_default(),
                    body,
                }
            }
            (_, []) => {
                self.uses.extend(node.captures.iter().map(|&(_, value)| value));
                StepOp::Kernel {
                    primitive: Arc::clone(&node.primitive),
                    operands: node.operands.iter().map(|&value| (value, false)).collect(),
                    results: node.results.clone(),
                    types: node.results.iter().map(|&v| graph.types[v as usize].clone()).collect(),
                    growth: node.growth,
                    captures: runs_blocks(primitive).then(|| Captures {
                        function: node.function,
                        values: node.captures.clone(),
                    }),
                }
            }
            (_, branches) => {
                let targets = Some(&node.results[..]);
                let branches = branches.iter().map(|region| self.nested(region, targets)).collect();
                // Verified: an index or predicate.
                StepOp::Branch {
                    index: node.operands.first().copied().unwrap_or_default(),
                    branches,
                }
            }
        };
        self.insert(position, smallvec![op]);
    }

    fn insert(&mut self, position: usize, ops: SmallVec<[StepOp; 1]>) {
        let instructions = smallvec![self.nodes[position].instruction];
        self.chosen.insert(position, Chosen { ops, instructions });
    }

    fn nested(&mut self, region: &'g Region, targets: Option<&[Value]>) -> Sequence {
        let Lowered { sequence, uses } = lower(self.definitions, region, targets);
        self.uses.extend(uses);
        sequence
    }
}

/// The nodes of a group that compute its outputs.
fn needed<'g>(
    members: impl DoubleEndedIterator<Item = &'g Node>,
    outputs: &[Value],
) -> Vec<&'g Node> {
    let mut values: FxHashSet<Value> = outputs.iter().copied().collect();
    let mut nodes = Vec::new();
    for node in members.rev().filter(|node| node.results.len() == 1) {
        if values.contains(&node.results[0]) {
            values.extend(&node.operands);
            nodes.push(node);
        }
    }
    nodes.reverse();
    nodes
}

/// The steps, each where its node or group runs.
fn in_order(nodes: &[Node], groups: &Groups, mut chosen: FxHashMap<usize, Chosen>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut skipped = 0;
    // Members of groups that are no loops run with the last one of their group, too.
    let mut waiting: FxHashMap<usize, Vec<Step>> = FxHashMap::default();
    for (position, node) in nodes.iter().enumerate() {
        if groups.root[position] == Some(position) {
            steps.extend(waiting.remove(&position).unwrap_or_default());
        }
        let Some(Chosen { mut ops, instructions }) = chosen.remove(&position) else {
            skipped += node.ops;
            continue;
        };
        let step = |op, op_count, instructions| Step {
            op,
            dead: Default::default(),
            op_count,
            instructions,
            origin: node.origin,
            call: node.call,
        };
        // The last one stands for the op.
        let Some(last) = ops.pop() else { continue };
        steps.extend(ops.into_iter().map(|op| step(op, 0, SmallVec::new())));
        let mut step = step(last, node.ops, instructions);
        match groups.root[position] {
            Some(root) if root != position => waiting.entry(root).or_default().push(step),
            _ => {
                step.op_count += std::mem::take(&mut skipped);
                steps.push(step);
            }
        }
    }
    steps
}
