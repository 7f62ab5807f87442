//! `cse`: common subexpression elimination, and removal of ops that nothing uses.
//!
//! Two ops without side effects are equal if their names, operands, attributes, result types and
//! regions are. An op may replace those that it dominates: later ones of its block, and those
//! nested in them.

use mlir::attrs::Dictionary;
use mlir::ir::{OpName, OperandValues, Properties};
use mlir::ods::{OpDef, Trait};
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::effects::{is_dead, is_memory_effect_free};
use mlir::{BlockId, Module, OpId, OpRef, RegionId, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Common subexpression elimination.
pub(crate) const PASS: Pass =
    Pass::on_any("cse", "Eliminate common subexpressions and dead code", run);

fn run(cx: &mut PassContext<'_>) {
    cx.module.build_uses();
    let mut cse = Cse { module: cx.module, scopes: Vec::new(), replaced: 0, dead: 0 };
    for region in cse.module.op(cx.root).regions().to_vec() {
        cse.region(region);
    }
    for _ in 0..cse.replaced {
        cx.statistics.count("replaced", true);
    }
    for _ in 0..cse.dead {
        cx.statistics.count("dead-code", true);
    }
}

/// The parts of an op that determine equality.
#[derive(PartialEq, Eq, Hash)]
struct OpKey {
    name: NameKey,
    operands: OperandValues,
    properties: Properties,
    attributes: Dictionary,
    types: SmallVec<[Type; 1]>,
    regions: Vec<Vec<BlockKey>>,
}

#[derive(PartialEq, Eq, Hash)]
enum NameKey {
    Registered(*const OpDef),
    Unregistered(mlir::attrs::Name),
}

/// A block of a region, with the values defined in the region numbered in order.
#[derive(PartialEq, Eq, Hash)]
struct BlockKey {
    arguments: Vec<Type>,
    ops: Vec<(OpKey, Vec<Numbered>)>,
}

#[derive(PartialEq, Eq, Hash)]
enum Numbered {
    Inside(usize),
    Outside(Value),
}

struct Cse<'m> {
    module: &'m mut Module,
    /// Ops that dominate the current block: one table per enclosing block, up to the nearest op
    /// that is isolated from above.
    scopes: Vec<FxHashMap<OpKey, OpId>>,
    replaced: usize,
    dead: usize,
}

impl Cse<'_> {
    fn region(&mut self, region: RegionId) {
        let blocks = self.module.blocks(region).to_vec();
        // In a region with several blocks, only ops of the same block are compared.
        for block in blocks {
            self.scopes.push(FxHashMap::default());
            self.block(block);
            self.scopes.pop();
        }
    }

    fn block(&mut self, block: BlockId) {
        let mut dead = Vec::new();
        let ops: Vec<OpId> = self.module.ops(block).map(OpRef::id).collect();
        for op in ops {
            if is_dead(self.module, op) {
                dead.push(op);
                continue;
            }
            self.nested(op);
            let view = self.module.op(op);
            if view.num_results() == 0
                || view.has_trait(&Trait::Terminator)
                || !is_memory_effect_free(view)
            {
                continue;
            }
            let Some(key) = key(view, 0) else { continue };
            match self.scopes.iter().rev().find_map(|scope| scope.get(&key)).copied() {
                Some(known) => {
                    let pairs: Vec<_> =
                        self.module.op(op).results().zip(self.module.op(known).results()).collect();
                    pairs.into_iter().for_each(|(old, new)| self.module.replace_all_uses(old, new));
                    self.replaced += 1;
                    dead.push(op);
                }
                None => {
                    if let Some(scope) = self.scopes.last_mut() {
                        scope.insert(key, op);
                    }
                }
            }
        }
        self.erase(dead);
    }

    fn nested(&mut self, op: OpId) {
        let regions = self.module.op(op).regions().to_vec();
        if regions.is_empty() {
            return;
        }
        let isolated = self.module.op(op).has_trait(&Trait::IsolatedFromAbove);
        let outer = if isolated { Some(std::mem::take(&mut self.scopes)) } else { None };
        regions.into_iter().for_each(|region| self.region(region));
        self.scopes = outer.unwrap_or_else(|| std::mem::take(&mut self.scopes));
    }

    /// Erases ops that were found dead. As in upstream's pass, ops that only these use stay: they
    /// come before them, and were in use when they were looked at.
    fn erase(&mut self, dead: Vec<OpId>) {
        for op in dead.into_iter().rev() {
            if self.module.is_attached(op) && is_dead(self.module, op) {
                self.module.erase(op);
                self.dead += 1;
            }
        }
    }
}

/// Maximum nesting of the regions of ops that are compared.
const MAX_DEPTH: usize = 8;

fn key(op: OpRef<'_>, depth: usize) -> Option<OpKey> {
    let mut operands: OperandValues = op.operands().iter().copied().collect();
    // Upstream compares the operands of StableHLO's commutative ops in order.
    if op.has_trait(&Trait::ConstantsLast) {
        operands.sort();
    }
    let regions: Option<Vec<_>> =
        op.regions().iter().map(|&region| region_key(op.module(), region, depth + 1)).collect();
    Some(OpKey {
        name: match op.op_name() {
            OpName::Registered(def) => NameKey::Registered(*def),
            OpName::Unregistered(name) => NameKey::Unregistered(name.clone()),
        },
        operands,
        properties: op.properties().iter().cloned().collect(),
        attributes: op.attributes().clone(),
        types: op.result_types().cloned().collect(),
        regions: regions?,
    })
}

/// The blocks of a region as a key; `None` if there are several, or they nest too deep.
fn region_key(module: &Module, region: RegionId, depth: usize) -> Option<Vec<BlockKey>> {
    let blocks = module.blocks(region);
    if depth > MAX_DEPTH || blocks.len() > 1 {
        return None;
    }
    let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
    let mut keys = Vec::new();
    for &block in blocks {
        numbers.extend(module.arguments(block).iter().zip(0..).map(|(&v, i)| (v, i)));
        let mut ops = Vec::new();
        for op in module.ops(block) {
            let numbered =
                |v: &Value| numbers.get(v).map_or(Numbered::Outside(*v), |&i| Numbered::Inside(i));
            let operands = op.operands().iter().map(numbered).collect();
            let mut key = key(op, depth)?;
            // Values of the region used by ops nested in `op` are compared by identity, which can
            // only miss equal ops.
            key.operands.clear();
            ops.push((key, operands));
            let first = numbers.len();
            numbers.extend(op.results().zip(first..));
        }
        let arguments = module.arguments(block).iter().map(|&v| module.ty(v).clone()).collect();
        keys.push(BlockKey { arguments, ops });
    }
    Some(keys)
}
