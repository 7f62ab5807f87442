//! Where the values of each function live while it runs, and when they die: computed once a module.
//!
//! All values of a function, those in its regions included, have a slot in one flat frame, so that
//! regions see the values around them. A value dies with the last op of its own block that uses it,
//! in person or from a region within.

use mlir::eval::EvalFn;
use mlir::ir::ValueDef;
use mlir::ods::Trait;
use mlir::{BlockId, Module, OpId, OpRef, RegionId, Value};
use numerics::Tensor;
use side_dialects::func::FuncOp;
use std::collections::HashMap;

/// The slot of a value that nobody uses.
pub(crate) const UNUSED: u32 = u32::MAX;

/// Splats of at most this many elements are kept as tensors; larger ones are made when they are
/// needed, to be overwritten in place.
const KEPT_SPLAT: usize = 4096;

pub(crate) struct Plan<'m> {
    /// What to do in each block, by index of the block; blocks outside of functions stay empty.
    blocks: Vec<Block>,
    /// Whether a region, by index, runs on vectors.
    vectorizable: Vec<bool>,
    functions: HashMap<OpId, Function>,
    /// Functions by symbol table and name.
    symbols: HashMap<(OpId, &'m str), OpId>,
}

/// What a call of a function needs.
pub(crate) struct Function {
    /// Its entry block, and the only one.
    pub entry: Option<BlockId>,
    /// Number of slots of its frame.
    pub slots: usize,
    /// The op whose symbols its calls name.
    pub table: Option<OpId>,
}

#[derive(Default)]
pub(crate) struct Block {
    /// Slots of the arguments.
    pub arguments: Vec<u32>,
    pub steps: Vec<Step>,
}

/// One op to run.
pub(crate) struct Step {
    pub op: OpId,
    pub action: Action,
    pub operands: Vec<Operand>,
    /// Slots of the results.
    pub results: Vec<u32>,
    /// Slots of the values that die with this op without being its operands.
    pub dead: Vec<u32>,
}

pub(crate) enum Action {
    /// Stores the value of a constant.
    Constant(Tensor),
    Eval(EvalFn),
    /// Ends the block with the operands.
    Return,
    /// There is no way to run this op.
    Missing,
}

#[derive(Clone, Copy)]
pub(crate) struct Operand {
    pub slot: u32,
    /// Whether this is the last use of the value.
    pub last: bool,
}

/// The last op of a value's block that uses it, and whether a region within it does.
#[derive(Clone, Copy)]
struct LastUse {
    op: OpId,
    within: bool,
}

impl<'m> Plan<'m> {
    pub fn new(module: &'m Module) -> Plan<'m> {
        let mut plan = Plan {
            blocks: (0..module.num_blocks()).map(|_| Block::default()).collect(),
            vectorizable: vec![false; module.num_regions()],
            functions: HashMap::new(),
            symbols: HashMap::new(),
        };
        let functions: Vec<FuncOp<'m>> =
            module.walk(module.top().id()).filter_map(FuncOp::cast).collect();
        let mut planner = Planner {
            module,
            slots: vec![UNUSED; module.num_values()],
            last: vec![None; module.num_values()],
        };
        for function in functions {
            let table = function.parent().map(OpRef::id);
            if let (Some(table), Some(name)) = (table, function.symbol_name()) {
                plan.symbols.insert((table, name), function.id());
            }
            let slots = planner.function(*function, &mut plan);
            let entry = match module.blocks(function.body()) {
                [entry] => Some(*entry),
                _ => None,
            };
            plan.functions.insert(function.id(), Function { entry, slots, table });
        }
        plan
    }

    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }

    pub fn is_vectorizable(&self, region: RegionId) -> bool {
        self.vectorizable[region.index()]
    }

    pub fn function(&self, op: OpId) -> Option<&Function> {
        self.functions.get(&op)
    }

    /// The function of that name in a symbol table.
    pub fn symbol(&self, table: OpId, name: &str) -> Option<OpId> {
        self.symbols.get(&(table, name)).copied()
    }
}

struct Planner<'m> {
    module: &'m Module,
    /// Slot of each value in the frame of its function.
    slots: Vec<u32>,
    last: Vec<Option<LastUse>>,
}

impl<'m> Planner<'m> {
    /// Plans the blocks of a function; returns the number of slots.
    fn function(&mut self, function: OpRef<'m>, plan: &mut Plan<'m>) -> usize {
        let module = self.module;
        let ops: Vec<OpRef<'m>> = module.walk(function.id()).skip(1).collect();
        for op in &ops {
            for &value in op.operands() {
                self.note_use(value, *op);
            }
        }
        let mut next = 0u32;
        let mut dying: HashMap<OpId, Vec<Value>> = HashMap::new();
        let mut number = |this: &mut Self, value: Value| {
            let Some(last) = this.last[value.index()] else { return };
            this.slots[value.index()] = next;
            next += 1;
            dying.entry(last.op).or_default().push(value);
        };
        let blocks: Vec<BlockId> = module
            .walk(function.id())
            .flat_map(|op| {
                op.regions().iter().flat_map(|&region| module.blocks(region).iter().copied())
            })
            .collect();
        for &block in &blocks {
            module.arguments(block).iter().for_each(|&argument| number(self, argument));
            for op in module.ops(block) {
                op.results().for_each(|result| number(self, result));
            }
        }
        for block in blocks {
            plan.blocks[block.index()] = Block {
                arguments: module.arguments(block).iter().map(|v| self.slots[v.index()]).collect(),
                steps: module.ops(block).map(|op| self.step(op, dying.remove(&op.id()))).collect(),
            };
        }
        for op in ops {
            for &region in op.regions() {
                plan.vectorizable[region.index()] = is_vectorizable(module, region);
            }
        }
        next as usize
    }

    /// Ops come in the order of the text, so the last to be noted is the last to run.
    fn note_use(&mut self, value: Value, user: OpRef<'m>) {
        let block = match self.module.definition(value) {
            ValueDef::Argument { block, .. } => Some(block),
            ValueDef::Result { op, .. } => self.module.op(op).block(),
        };
        let mut ancestor = user;
        while ancestor.block() != block {
            // A use that its value does not reach: no verified module has one.
            let Some(parent) = ancestor.parent() else { return };
            ancestor = parent;
        }
        let (op, within) = (ancestor.id(), ancestor.id() != user.id());
        let last = &mut self.last[value.index()];
        let before = last.is_some_and(|l| l.op == op && l.within);
        *last = Some(LastUse { op, within: within || before });
    }

    fn step(&self, op: OpRef<'m>, dying: Option<Vec<Value>>) -> Step {
        let values = op.operands();
        let mut operands: Vec<Operand> =
            values.iter().map(|v| Operand { slot: self.slots[v.index()], last: false }).collect();
        let mut dead = Vec::new();
        for value in dying.unwrap_or_default() {
            let within = self.last[value.index()].is_some_and(|l| l.within);
            match values.iter().rposition(|&v| v == value) {
                Some(position) if !within => operands[position].last = true,
                _ => dead.push(self.slots[value.index()]),
            }
        }
        let results = op.results().map(|v| self.slots[v.index()]).collect();
        Step { op: op.id(), action: action(op), operands, results, dead }
    }
}

fn action(op: OpRef<'_>) -> Action {
    if op.has_trait(&Trait::Terminator) && op.successors().is_empty() {
        return Action::Return;
    }
    if op.has_trait(&Trait::ConstantLike)
        && let Some(value) = op.attr("value")
        && value.as_dense().is_none_or(|d| !d.is_splat() || d.num_elements() <= KEPT_SPLAT)
        && let Some(Ok(tensor)) = value.to_tensor()
    {
        return Action::Constant(tensor);
    }
    op.def().and_then(|def| def.eval).map_or(Action::Missing, Action::Eval)
}

/// Whether all ops of a region are elementwise on scalars, so that it can run on vectors of them
/// instead.
fn is_vectorizable(module: &Module, region: RegionId) -> bool {
    let [block] = module.blocks(region) else { return false };
    let is_scalar = |ty: &mlir::Type| ty.as_tensor().is_some_and(|t| t.rank() == 0);
    module.ops(*block).all(|op| {
        let known = [Trait::Elementwise, Trait::ConstantLike, Trait::Terminator]
            .iter()
            .any(|t| op.has_trait(t));
        known
            && op.regions().is_empty()
            && op.operand_types().all(is_scalar)
            && op.result_types().all(is_scalar)
    })
}
