//! The cost of running a program once: arithmetic, bytes moved, memory.
//!
//! Costs are formulas of the types of a prepared program, one for each [`Primitive`]; nothing runs.
//! They model a run op by op, in which each op reads its operands from memory and writes
//! its results: what a compiler has to improve on by fusion.

mod report;
mod steps;
mod trips;

pub(crate) use steps::Works;

pub use program::work::Work;
pub use report::{Grouping, Row};

use crate::place::Location;
use mlir::{Module, OpId, OpRef, Type};
use program::primitives;
use program::work::{Shapes, elements};
use program::{Block, BlockId, Callee, Code, Instruction, Primitive, Slot, UNUSED, ValueType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use trips::SlotDefinitions;

/// Tensors of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tensors {
    /// Their number.
    pub count: u64,
    /// Number of their elements.
    pub elements: u64,
    /// Their size.
    pub bytes: u64,
}

impl Tensors {
    /// Adds a constant as it is stored: a splat is one element.
    fn add_constant(&mut self, op: OpRef<'_>) {
        let Some(ty) = op.result_types().next().map(Type::element_type) else { return };
        let bytes = op.property(0).map_or(0, |value| value.stored_bytes() as u64);
        let element = ty.dtype().map_or(1, |dtype| dtype.bytes() as u64).max(1);
        self.count += 1;
        self.elements = self.elements.saturating_add(bytes / element);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn add(&mut self, ty: &ValueType) {
        self.count += 1;
        self.elements = self.elements.saturating_add(elements(ty));
        self.bytes = self.bytes.saturating_add(ty.min_bytes() as u64);
    }
}

/// The cost of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cost {
    /// All work.
    pub total: Work,
    /// The arguments of the entry function: what JAX and HLO call its parameters.
    pub arguments: Tensors,
    /// Constants of all functions that run; a splat counts as one element.
    pub constants: Tensors,
    /// The results of the entry function.
    pub results: Tensors,
    /// The largest number of bytes that live at the same time if each value is kept from the op
    /// that computes it to its last use: arguments and constants all the time.
    pub peak_memory: u64,
    /// The op at which that is.
    pub peak_op: Option<Location>,
    /// The ops that cost something, in the order of the program.
    pub ops: Vec<OpCost>,
    /// Why costs are lower bounds or guesses, and the number of ops of which that is so.
    pub doubts: Vec<(Doubt, u64)>,
}

/// The cost of an op.
#[derive(Clone, Debug)]
pub struct OpCost {
    /// The op, in the module that was prepared.
    pub op: OpId,
    /// Where it stands.
    pub location: Location,
    /// Number of times that it runs.
    pub runs: u64,
    /// The work of all its runs.
    pub work: Work,
    /// The reason why that is not the whole truth.
    pub doubt: Option<Doubt>,
}

/// The reason why a cost is not exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doubt {
    /// A dimension has no known size: it counts as 1.
    Size,
    /// Nothing says how often a loop runs: its body counts once.
    Trips,
    /// One of several branches runs: the costliest one counts.
    Branch,
    /// Functions are mutually recursive: the inner call does not count.
    Recursion,
    /// The op has no known formula, such as a custom call.
    Formula,
}

impl Doubt {
    /// A word for tools.
    pub fn name(self) -> &'static str {
        match self {
            Doubt::Size => "size",
            Doubt::Trips => "trips",
            Doubt::Branch => "branch",
            Doubt::Recursion => "recursion",
            Doubt::Formula => "formula",
        }
    }

    /// Explains the doubt about a number of ops.
    pub fn explain(self) -> &'static str {
        match self {
            Doubt::Size => "dynamic sizes that count as 1 (`stablo refine` makes a program static)",
            Doubt::Trips => "loops whose trip count is unknown: the body counts once",
            Doubt::Branch => "branches, of which the costliest counts",
            Doubt::Recursion => "recursive calls, which do not count",
            Doubt::Formula => "ops of unknown arithmetic, such as custom calls",
        }
    }
}

/// The cost of a prepared program, whatever its engine.
pub fn cost(program: &interpreter::Program) -> Cost {
    let code = program.code();
    let entry = code.function(program.entry());
    let mut walk = CostWalk::new(code);
    let mut cost = Cost {
        total: Work::default(),
        arguments: Tensors::default(),
        constants: Tensors::default(),
        results: Tensors::default(),
        peak_memory: 0,
        peak_op: None,
        ops: Vec::new(),
        doubts: Vec::new(),
    };
    entry.inputs.iter().for_each(|ty| cost.arguments.add(ty));
    let Some(body) = entry.body else { return cost };
    walk.complete(body);
    for result in &code.block(body).results {
        if let Some(ty) = walk.ty(code.block(body), result.slot) {
            cost.results.add(ty);
        }
    }
    walk.sum(body, program.module(), &mut cost);
    let total = walk.total(body);
    let kept = cost.arguments.bytes.saturating_add(cost.constants.bytes);
    cost.peak_memory = kept.saturating_add(total.peak);
    cost.peak_op = total.peak_at.map(|(block, index)| {
        let block = code.block(block);
        Location::of(origin(&code.instructions_of(block)[index], program.module()))
    });
    cost
}

/// The op that an instruction was prepared from.
fn origin<'m>(instruction: &Instruction, module: &'m Module) -> OpRef<'m> {
    module.op(OpId::from(instruction.origin))
}

/// The cost of one run of a block, nested blocks included.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    work: Work,
    /// The largest number of bytes of live values, but for arguments and constants.
    peak: u64,
    /// The instruction at which that is: its block and its position there.
    peak_at: Option<(BlockId, usize)>,
}

struct CostWalk<'c> {
    code: &'c Code,
    types: Vec<Vec<Option<Arc<ValueType>>>>,
    definitions: SlotDefinitions<'c>,
    /// The totals of blocks that are complete.
    totals: Vec<Option<Total>>,
    /// Nested blocks, inner ones before outer ones.
    order: Vec<BlockId>,
    /// The position of each block in that order.
    ranks: Vec<usize>,
}

/// A nested block with the number of times that it runs for each run of the instruction.
struct Nested {
    block: BlockId,
    runs: u64,
}

impl<'c> CostWalk<'c> {
    fn new(code: &'c Code) -> CostWalk<'c> {
        CostWalk {
            code,
            types: code.slot_types(),
            definitions: SlotDefinitions::of(code),
            totals: vec![None; code.blocks.len()],
            ranks: vec![usize::MAX; code.blocks.len()],
            order: Vec::new(),
        }
    }

    fn total(&self, block: BlockId) -> Total {
        self.totals[block.index()].unwrap_or_default()
    }

    fn ty(&self, block: &Block, slot: Slot) -> Option<&ValueType> {
        self.types.get(block.function.index())?.get(slot as usize)?.as_deref()
    }

    /// Computes the totals of a block and of all that it runs, without recursion: chains of calls
    /// may be long.
    fn complete(&mut self, root: BlockId) {
        let mut started = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(&block) = stack.last() {
            if started.insert(block) {
                let instructions = self.code.instructions_of(self.code.block(block));
                let inner = instructions.iter().flat_map(|i| self.inner(&i.primitive));
                stack.extend(inner.filter(|inner| !started.contains(inner)));
                continue;
            }
            stack.pop();
            if self.totals[block.index()].is_none() {
                self.totals[block.index()] = Some(self.block(block));
                self.ranks[block.index()] = self.order.len();
                self.order.push(block);
            }
        }
    }

    /// The blocks that a primitive may run.
    fn inner(&self, primitive: &Primitive) -> impl Iterator<Item = BlockId> {
        primitive.blocks().into_iter().filter_map(|callee| match callee {
            Callee::Block(block) => Some(block),
            Callee::Function(function) => self.code.function(function).body,
        })
    }

    /// The nested blocks that an instruction of a block runs as such: control flow, not bodies of
    /// reductions.
    fn nested(&self, caller: BlockId, instruction: &Instruction) -> (Vec<Nested>, Option<Doubt>) {
        let costliest = |branches: &[BlockId]| {
            let key = |block: &BlockId| self.total(*block).work.key();
            let chosen = branches.iter().rev().copied().max_by_key(key);
            chosen.map(|block| Nested { block, runs: 1 }).into_iter().collect()
        };
        let differ = |branches: &[BlockId]| {
            let works = branches.iter().map(|&block| self.total(block).work);
            let mut works = works.collect::<Vec<_>>();
            works.dedup();
            (works.len() > 1).then_some(Doubt::Branch)
        };
        match &*instruction.primitive {
            Primitive::Block(primitives::Block { block }) => {
                (vec![Nested { block: *block, runs: 1 }], None)
            }
            Primitive::If(primitives::If { branches }) => (costliest(branches), differ(branches)),
            Primitive::Case(primitives::Case { branches }) => {
                (costliest(branches), differ(branches))
            }
            Primitive::While(primitives::While { cond, body }) => {
                let operands: Vec<Slot> = instruction.operands.iter().map(|o| o.slot).collect();
                let trips = self.definitions.trips(*cond, *body, &operands);
                let runs = trips.unwrap_or(1);
                let cond = Nested { block: *cond, runs: runs.saturating_add(1) };
                let doubt = trips.is_none().then_some(Doubt::Trips);
                (vec![cond, Nested { block: *body, runs }], doubt)
            }
            Primitive::Call(primitives::Call { function }) => {
                match self.code.function(*function).body {
                    // Callees are complete before their callers, unless they are recursive.
                    Some(block) if self.ranks[block.index()] < self.ranks[caller.index()] => {
                        (vec![Nested { block, runs: 1 }], None)
                    }
                    Some(_) => (Vec::new(), Some(Doubt::Recursion)),
                    None => (Vec::new(), Some(Doubt::Formula)),
                }
            }
            _ => (Vec::new(), None),
        }
    }

    /// The work of one run of an instruction, without nested blocks.
    fn own(&self, block: &Block, instruction: &Instruction) -> (Work, Option<Doubt>) {
        let operands = instruction.operands.iter();
        let shapes = Shapes {
            operands: operands.filter_map(|operand| self.ty(block, operand.slot)).collect(),
            results: instruction.result_types.iter().map(|ty| &**ty).collect(),
        };
        let body = |callee: Callee| {
            let block = match callee {
                Callee::Block(block) => Some(block),
                Callee::Function(function) => self.code.function(function).body,
            };
            // Operands and results of a body stay in registers.
            Work { bytes: 0, ..block.map_or(Work::default(), |block| self.total(block).work) }
        };
        let arithmetic = instruction.primitive.arithmetic(&shapes, &body);
        let bytes = instruction.primitive.bytes(&shapes);
        let mut types = shapes.operands.iter().chain(&shapes.results);
        let is_dynamic = types.any(|ty| match ty {
            ValueType::Tensor { shape, .. } => shape.contains(&program::DYNAMIC),
            ValueType::Unranked(_) => true,
            _ => false,
        });
        let doubt = match arithmetic {
            None => Some(Doubt::Formula),
            Some(_) => is_dynamic.then_some(Doubt::Size),
        };
        (Work { bytes, ..arithmetic.unwrap_or_default() }, doubt)
    }

    fn block(&self, id: BlockId) -> Total {
        let block = self.code.block(id);
        let mut total = Total::default();
        let mut live = Live::default();
        for (index, instruction) in self.code.instructions_of(block).iter().enumerate() {
            total.work = total.work.plus(self.own(block, instruction).0);
            live.start(instruction);
            if live.bytes > total.peak {
                (total.peak, total.peak_at) = (live.bytes, Some((id, index)));
            }
            for nested in self.nested(id, instruction).0 {
                let inner = self.total(nested.block);
                total.work = total.work.plus(inner.work.times(nested.runs));
                let peak = live.bytes.saturating_add(inner.peak);
                if nested.runs > 0 && peak > total.peak {
                    (total.peak, total.peak_at) = (peak, inner.peak_at.or(Some((id, index))));
                }
            }
            live.end(instruction);
        }
        total
    }

    /// Adds the costs of all ops that a run of `entry` runs, outer blocks first.
    fn sum(&self, entry: BlockId, module: &Module, cost: &mut Cost) {
        let order = module.walk(module.top().id()).map(OpRef::id).zip(0..);
        let order: FxHashMap<OpId, u64> = order.collect();
        let mut runs: FxHashMap<BlockId, u64> = FxHashMap::default();
        runs.insert(entry, 1);
        let mut costs: Vec<(Option<u64>, OpCost)> = Vec::new();
        let mut doubts: FxHashMap<Doubt, u64> = FxHashMap::default();
        for id in self.order.iter().rev() {
            let (block, Some(&count)) = (self.code.block(*id), runs.get(id)) else { continue };
            for instruction in self.code.instructions_of(block) {
                let op = origin(instruction, module);
                let (work, own_doubt) = self.own(block, instruction);
                let (nested, doubt) = self.nested(*id, instruction);
                for Nested { block, runs: each } in nested.into_iter().filter(|n| n.runs > 0) {
                    let runs = runs.entry(block).or_default();
                    *runs = runs.saturating_add(each.saturating_mul(count));
                }
                if let Primitive::Constant(_) | Primitive::Splat(_) = *instruction.primitive {
                    cost.constants.add_constant(op);
                }
                let doubt = doubt.or(own_doubt);
                if let Some(doubt) = doubt {
                    *doubts.entry(doubt).or_default() += 1;
                }
                if work == Work::default() && doubt.is_none() {
                    continue;
                }
                let work = work.times(count);
                cost.total = cost.total.plus(work);
                let location = Location::of(op);
                let at = order.get(&op.id()).copied();
                costs.push((at, OpCost { op: op.id(), location, runs: count, work, doubt }));
            }
        }
        costs.sort_by_key(|&(at, _)| at);
        cost.ops = costs.into_iter().map(|(_, cost)| cost).collect();
        cost.doubts = doubts.into_iter().collect();
        cost.doubts.sort_unstable();
    }
}

/// The values of a block that are alive, but for its arguments and constants.
#[derive(Default)]
struct Live {
    sizes: FxHashMap<Slot, u64>,
    bytes: u64,
}

impl Live {
    /// Adds the results of an instruction. Views share the memory of their operand.
    fn start(&mut self, instruction: &Instruction) {
        match (&*instruction.primitive, &instruction.operands[..]) {
            (Primitive::Constant(_), _) => return,
            (Primitive::Reshape(_) | Primitive::Identity, [operand]) => {
                if operand.last
                    && let Some(size) = self.sizes.remove(&operand.slot)
                {
                    instruction.results.first().and_then(|&slot| self.sizes.insert(slot, size));
                }
                return;
            }
            _ => {}
        }
        let results = instruction.results.iter().zip(&instruction.result_types);
        for (&slot, ty) in results {
            let size = ty.min_bytes() as u64;
            self.bytes = self.bytes.saturating_add(size);
            // Several results may be unused.
            let known = self.sizes.entry(slot).or_default();
            *known = known.saturating_add(size);
        }
    }

    /// Removes the values that die with an instruction.
    fn end(&mut self, instruction: &Instruction) {
        let last = instruction.operands.iter().filter(|operand| operand.last);
        let last = last.map(|operand| operand.slot).chain(instruction.dead.iter().copied());
        for slot in last.chain([UNUSED]) {
            let size = self.sizes.remove(&slot).unwrap_or(0);
            self.bytes = self.bytes.saturating_sub(size);
        }
    }
}
