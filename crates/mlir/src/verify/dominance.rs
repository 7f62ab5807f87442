//! SSA dominance: a value is visible after its definition in the block, in blocks that this
//! dominates, and in nested regions that are not isolated from above.

use super::{Verifier, is_graph_region, parent_op};
use crate::diag::Diagnostic;
use crate::ir::{BlockId, Module, OpId, OpRef, RegionId, Value, ValueDef};
use crate::ods::Trait;
use std::collections::HashMap;

/// Definitions met so far and dominator trees of regions, computed when first needed.
pub(super) struct Dominance<'m> {
    module: &'m Module,
    /// The block that defines each visited value. Most uses are in the same block.
    defined_in: Vec<Option<BlockId>>,
    /// Dominator trees of regions with several blocks.
    trees: HashMap<RegionId, DominatorTree>,
}

/// The reason why a use is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The definition does not dominate the use.
    Dominance,
    /// Some op between the definition and the use is isolated from above.
    Isolated(OpId),
}

impl<'m> Dominance<'m> {
    pub(super) fn new(module: &'m Module) -> Dominance<'m> {
        let defined_in = vec![None; module.num_values()];
        Dominance { module, defined_in, trees: HashMap::new() }
    }

    /// Records that a block defines values.
    fn define(&mut self, values: impl Iterator<Item = Value>, block: BlockId) {
        for value in values {
            self.defined_in[value.index()] = Some(block);
        }
    }

    fn tree(&mut self, region: RegionId) -> &DominatorTree {
        let module = self.module;
        self.trees.entry(region).or_insert_with(|| DominatorTree::new(module, region))
    }

    fn is_reachable(&mut self, region: RegionId, block: BlockId) -> bool {
        self.module.blocks(region).len() == 1 || self.tree(region).is_reachable(block)
    }

    fn block_dominates(&mut self, region: RegionId, a: BlockId, b: BlockId) -> bool {
        a == b || is_graph_region(self.module, region) || self.tree(region).dominates(a, b)
    }

    /// Checks that `value` is visible to `user`, which is in `block`.
    fn check(&mut self, value: Value, user: OpId, block: BlockId) -> Result<(), Fault> {
        let module = self.module;
        let (def_block, def_op) = match module.definition(value) {
            ValueDef::Result { op, .. } => {
                (module.op(op).block().ok_or(Fault::Dominance)?, Some(op))
            }
            ValueDef::Argument { block, .. } => (block, None),
        };
        let Some(region) = module.block_parent(def_block) else { return Err(Fault::Dominance) };
        // The ancestor of the use, or the user itself, in the region of the definition.
        let (mut at, mut at_block) = (user, block);
        while module.block_parent(at_block) != Some(region) {
            let Some(parent) = parent_op(module, at_block) else { return Err(Fault::Dominance) };
            let parent_ref = module.op(parent);
            if parent_ref.has_trait(&Trait::IsolatedFromAbove) {
                // Report isolation only if the definition is in an enclosing region.
                let encloses = std::iter::successors(Some(parent_ref), |op| op.parent())
                    .any(|op| op.block().and_then(|b| module.block_parent(b)) == Some(region));
                return Err(if encloses { Fault::Isolated(parent) } else { Fault::Dominance });
            }
            let Some(block) = parent_ref.block() else { return Err(Fault::Dominance) };
            (at, at_block) = (parent, block);
        }
        let visible = match def_op {
            None => self.block_dominates(region, def_block, at_block),
            // An op's own regions do not see its results.
            Some(op) if op == at => at == user && is_graph_region(module, region),
            Some(op) if def_block == at_block => {
                module.is_before_in_block(op, at) || is_graph_region(module, region)
            }
            Some(_) => self.block_dominates(region, def_block, at_block),
        };
        if visible { Ok(()) } else { Err(Fault::Dominance) }
    }
}

impl<'m> Verifier<'m> {
    /// Checks the operands of all ops nested in `root`, but not within nested isolated ops.
    pub(super) fn check_dominance(&mut self, root: OpId) {
        let module = self.module;
        let mut pending = vec![root];
        while let Some(op) = pending.pop() {
            for &region in module.op(op).regions() {
                for &block in module.blocks(region) {
                    let reachable = self.dominance.is_reachable(region, block);
                    self.dominance.define(module.arguments(block).iter().copied(), block);
                    for user in module.ops(block) {
                        if reachable && !self.check_uses(user, block) && self.stops {
                            return;
                        }
                        self.dominance.define(user.results(), block);
                        if !user.regions().is_empty() && !user.has_trait(&Trait::IsolatedFromAbove)
                        {
                            pending.push(user.id());
                        }
                    }
                }
            }
        }
    }

    fn check_uses(&mut self, op: OpRef<'m>, block: BlockId) -> bool {
        let mut fine = true;
        for (i, &value) in op.operands().iter().enumerate() {
            if self.dominance.defined_in[value.index()] == Some(block) {
                continue;
            }
            if let Err(fault) = self.dominance.check(value, op.id(), block) {
                let error = describe(op, i, value, fault);
                self.report(error);
                fine = false;
                if self.stops {
                    break;
                }
            }
        }
        fine
    }
}

fn describe(op: OpRef<'_>, operand: usize, value: Value, fault: Fault) -> Diagnostic {
    let module = op.module();
    let name = op.name();
    let (what, position) = match module.definition(value) {
        ValueDef::Result { op: def, .. } => ("defined here", module.op(def).position()),
        ValueDef::Argument { block, index } => {
            let loc = module.argument_locs(block).get(index as usize);
            (
                "an argument of this block",
                loc.map_or_else(Default::default, |loc| module.position(loc)),
            )
        }
    };
    let error = match fault {
        Fault::Dominance => {
            let block = match module.definition(value) {
                ValueDef::Result { op, .. } => module.op(op).block(),
                ValueDef::Argument { block, .. } => Some(block),
            };
            let what = if block == op.block() {
                "is used before it is defined"
            } else if block.and_then(|block| module.block_parent(block))
                == op.block().and_then(|block| module.block_parent(block))
            {
                "is not defined on every path that leads here"
            } else {
                "is not visible here: it belongs to another region"
            };
            op.error("dominance", format!("operand {operand} of `{name}` {what}"))
        }
        Fault::Isolated(isolated) => {
            let isolated = module.op(isolated);
            let message = format!(
                "operand {operand} of `{name}` is defined outside `{}`, whose regions see no values from outside",
                isolated.name()
            );
            op.error("isolated", message)
                .note(format!("`{}` starts here", isolated.name()), isolated.position())
        }
    };
    error.note(what, position)
}

/// The dominator tree of a region: the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast
/// Dominance Algorithm", 2001).
struct DominatorTree {
    /// Number of each reachable block in reverse postorder.
    numbers: HashMap<BlockId, usize>,
    /// Immediate dominator of each block, by number; the entry's is itself.
    parents: Vec<usize>,
}

impl DominatorTree {
    fn new(module: &Module, region: RegionId) -> DominatorTree {
        let Some(entry) = module.entry(region) else {
            return DominatorTree { numbers: HashMap::new(), parents: Vec::new() };
        };
        let successors =
            |block: BlockId| module.terminator(block).map_or(&[][..], |t| t.successors());
        let mut order = Vec::new();
        let mut numbers = HashMap::from([(entry, 0)]);
        let mut stack = vec![(entry, 0)];
        while let Some((block, next)) = stack.last_mut() {
            match successors(*block).get(*next) {
                Some(&successor) => {
                    *next += 1;
                    let is_new = module.block_parent(successor) == Some(region)
                        && !numbers.contains_key(&successor);
                    if is_new {
                        numbers.insert(successor, 0);
                        stack.push((successor, 0));
                    }
                }
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        for (number, block) in order.iter().enumerate() {
            numbers.insert(*block, number);
        }
        let mut predecessors = vec![Vec::new(); order.len()];
        for (number, &block) in order.iter().enumerate() {
            for successor in successors(block).iter().filter_map(|s| numbers.get(s)) {
                predecessors[*successor].push(number);
            }
        }
        const UNKNOWN: usize = usize::MAX;
        let mut parents = vec![UNKNOWN; order.len()];
        parents[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for number in 1..order.len() {
                let known = predecessors[number].iter().copied().filter(|&p| parents[p] != UNKNOWN);
                let meet = known.reduce(|mut a, mut b| {
                    while a != b {
                        if a > b {
                            a = parents[a];
                        } else {
                            b = parents[b];
                        }
                    }
                    a
                });
                if let Some(meet) = meet
                    && parents[number] != meet
                {
                    parents[number] = meet;
                    changed = true;
                }
            }
        }
        DominatorTree { numbers, parents }
    }

    fn is_reachable(&self, block: BlockId) -> bool {
        self.numbers.contains_key(&block)
    }

    /// True if `a` dominates `b`. Every block dominates an unreachable one.
    fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let Some(&b) = self.numbers.get(&b) else { return true };
        let Some(&a) = self.numbers.get(&a) else { return false };
        // Dominators have smaller numbers in reverse postorder.
        let mut at = b;
        while at > a {
            at = self.parents[at];
        }
        at == a
    }
}
