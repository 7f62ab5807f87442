//! The order in which XLA compiles and numbers the ops of a program.
//!
//! Source: XLA. Each function and each region becomes a computation, callees before callers. Within
//! a computation the order is a post-order over operands, starting from the ops with unused
//! results.

use mlir::ods::Trait;
use mlir::prepare::Callables;
use mlir::rewrite::effects::is_removable_if_unused;
use mlir::{BlockId, Module, OpId, OpRef, Value};
use std::collections::HashSet;

/// All ops of a name, in XLA's compile order: first the ones reachable by calls from the function
/// `entry`, then the others. A function with several callers is listed once.
pub(crate) fn compile_order(callables: &Callables<'_>, entry: OpId, name: &str) -> Vec<OpId> {
    let walk = CompileOrder { module: callables.module, callables };
    let block = |op: OpId| callables.entry_block(callables.of_op(op)?);
    let reached = walk.computations(block(entry).into_iter().collect(), &mut HashSet::new());
    let reached: HashSet<BlockId> = reached.into_iter().collect();
    let mut done = HashSet::new();
    let entries = callables.iter().filter_map(|callable| block(callable.op.id()));
    let (first, others) = entries.partition(|block| reached.contains(block));
    let mut computations = walk.computations(first, &mut done);
    computations.extend(walk.computations(others, &mut done));
    computations
        .into_iter()
        .flat_map(|block| walk.ops(block))
        .filter(|op| op.name() == name)
        .map(OpRef::id)
        .collect()
}

struct CompileOrder<'w> {
    module: &'w Module,
    callables: &'w Callables<'w>,
}

impl<'w> CompileOrder<'w> {
    /// Blocks and all that they contain or call, without those in `done`, the inner ones first.
    fn computations(&self, blocks: Vec<BlockId>, done: &mut HashSet<BlockId>) -> Vec<BlockId> {
        let mut order = Vec::new();
        // A block is visited twice: before and after its dependencies.
        let mut stack: Vec<(BlockId, bool)> =
            blocks.into_iter().rev().map(|block| (block, false)).collect();
        while let Some((block, entered)) = stack.pop() {
            if entered {
                order.push(block);
            } else if done.insert(block) {
                stack.push((block, true));
                let ops = self.module.ops(block).rev();
                stack.extend(ops.flat_map(|op| self.needed(op)).map(|block| (block, false)));
            }
        }
        order
    }

    /// The blocks in an op, and the function that it calls; the last ones first.
    fn needed(&self, op: OpRef<'w>) -> Vec<BlockId> {
        let regions = op.regions().iter().rev().filter_map(|&region| self.module.entry(region));
        let symbol = op.def().into_iter().flat_map(|def| def.traits).find_map(|t| match t {
            Trait::Call(attribute) => op.attr(attribute)?.as_flat_symbol(),
            _ => None,
        });
        let callee = symbol
            .and_then(|symbol| self.callables.entry_block(self.callables.lookup(op, symbol)?));
        regions.chain(callee).collect()
    }

    /// The ops of a block that are not dead: each after its operands, the first operand first.
    fn ops(&self, block: BlockId) -> Vec<OpRef<'w>> {
        let ops = self.module.ops(block);
        let (mut alive, mut used) = (HashSet::new(), HashSet::new());
        let mut roots = Vec::new();
        for op in ops.rev() {
            let is_used =
                |values: &HashSet<Value>| op.results().any(|result| values.contains(&result));
            if is_removable_if_unused(op) && !is_used(&alive) {
                continue;
            }
            let operands = self.operands(op);
            alive.extend(operands.iter().copied());
            // A single value is the result of its computation, several are put into a tuple.
            if op.has_trait(&Trait::Terminator) && operands.len() == 1 {
                continue;
            }
            if !is_used(&used) {
                roots.push(op);
            }
            used.extend(operands);
        }
        let mut order = Vec::new();
        let mut done = HashSet::new();
        let mut stack: Vec<(OpRef<'_>, bool)> = roots.into_iter().map(|op| (op, false)).collect();
        while let Some((op, entered)) = stack.pop() {
            if entered {
                order.push(op);
            } else if done.insert(op.id()) {
                stack.push((op, true));
                let operands =
                    self.operands(op).into_iter().rev().filter_map(|v| self.module.defining_op(v));
                stack.extend(operands.filter(|op| op.block() == Some(block)).map(|op| (op, false)));
            }
        }
        order
    }

    /// The operands of an op, then of the ops in its regions. Tensors without elements are
    /// constants for XLA.
    fn operands(&self, op: OpRef<'w>) -> Vec<Value> {
        let operands = self.module.walk(op.id()).flat_map(|op| op.operands().iter().copied());
        operands
            .filter(|&value| self.module.ty(value).shape().is_none_or(|shape| !shape.contains(&0)))
            .collect()
    }
}
