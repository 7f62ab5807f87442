//! Pairs of corresponding ops of two programs.
//!
//! Blocks are matched from outside to inside. Within a pair of blocks, arguments correspond by
//! position; an op corresponds to an equal one whose operands correspond, whatever its place.
//! Remaining ops are matched by their uses, from terminators upwards, as the operands of
//! corresponding ops, and then by kind and order; after each pair, ops that have become equal
//! follow.

use super::fingerprint::fingerprints;
use mlir::{BlockId, Module, OpId, OpRef, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// The corresponding ops and values of two modules.
pub(crate) struct Matching<'m> {
    pub left: &'m Module,
    pub right: &'m Module,
    hashes: [FxHashMap<OpId, u64>; 2],
    /// The op on the right of each on the left.
    pub ops: FxHashMap<OpId, OpId>,
    /// Ops on the right that have one on the left.
    pub taken: FxHashSet<OpId>,
    /// The value on the right of each on the left.
    pub values: FxHashMap<Value, Value>,
    /// Values on the right that have one on the left.
    taken_values: FxHashSet<Value>,
    /// Pairs of blocks whose ops are not matched yet.
    blocks: VecDeque<(BlockId, BlockId)>,
}

/// The ops of a pair of blocks, while they are matched.
struct Open {
    /// The ops on the left in order, and their positions.
    ops: Vec<OpId>,
    positions: FxHashMap<OpId, usize>,
    /// The ops on the left that use a value as an operand.
    users: FxHashMap<Value, Vec<OpId>>,
    /// Number of operands of each op on the left that correspond to nothing yet.
    missing: Vec<usize>,
    /// Positions of ops all of whose operands correspond to something.
    ready: BTreeSet<usize>,
    /// The ops on the right.
    right: FxHashSet<OpId>,
    /// Ops by fingerprint and operands, in order.
    equal: FxHashMap<(u64, Vec<Value>), VecDeque<OpId>>,
    /// Ops by kind, in order.
    kinds: HashMap<Kind, VecDeque<OpId>>,
    /// Operands of corresponding ops that may correspond.
    uses: VecDeque<(OpId, OpId, usize)>,
    /// The first op on the left that was not yet matched by its kind.
    next: usize,
}

/// The name of an op and the types of its results.
type Kind = (String, Vec<Type>);

fn kind(op: OpRef<'_>) -> Kind {
    (op.name().to_string(), op.result_types().cloned().collect())
}

/// Number of candidates that are considered for an op that equals none.
const MAX_CANDIDATES: usize = 16;

impl<'m> Matching<'m> {
    /// Matches the ops of two modules. Attributes in `ignored` do not count.
    pub(crate) fn of(left: &'m Module, right: &'m Module, ignored: &[String]) -> Matching<'m> {
        let hashes = [left, right].map(|module| fingerprints(module, ignored));
        let mut matching = Matching {
            left,
            right,
            hashes,
            ops: FxHashMap::default(),
            taken: FxHashSet::default(),
            values: FxHashMap::default(),
            taken_values: FxHashSet::default(),
            blocks: VecDeque::new(),
        };
        matching.pair(left.top(), right.top());
        while let Some((left, right)) = matching.blocks.pop_front() {
            matching.block(left, right);
        }
        matching
    }

    fn hash(&self, side: usize, op: OpId) -> u64 {
        self.hashes[side].get(&op).copied().unwrap_or_default()
    }

    /// Makes two ops, their results and regions correspond.
    fn pair(&mut self, left: OpRef<'_>, right: OpRef<'_>) {
        self.ops.insert(left.id(), right.id());
        self.taken.insert(right.id());
        for (&left, &right) in left.regions().iter().zip(right.regions()) {
            let blocks = self.left.blocks(left).iter().copied();
            self.blocks.extend(blocks.zip(self.right.blocks(right).iter().copied()));
        }
        left.results().zip(right.results()).for_each(|(left, right)| self.pair_values(left, right));
    }

    fn pair_values(&mut self, left: Value, right: Value) {
        if !self.values.contains_key(&left) && self.taken_values.insert(right) {
            self.values.insert(left, right);
        }
    }

    /// As [`Matching::pair`], for ops of the blocks that are being matched.
    fn pair_open(&mut self, open: &mut Open, left: OpId, right: OpId) {
        let (left, right) = (self.left.op(left), self.right.op(right));
        self.pair(left, right);
        for result in left.results().filter(|result| self.values.contains_key(result)) {
            open.found(result);
        }
        let operands = 0..left.operands().len().min(right.operands().len());
        open.uses.extend(operands.map(|index| (left.id(), right.id(), index)));
    }

    fn block(&mut self, left: BlockId, right: BlockId) {
        let arguments = self.left.arguments(left).iter().zip(self.right.arguments(right));
        for (&left, &right) in arguments {
            self.pair_values(left, right);
        }
        let mut open = Open::of(self, left, right);
        self.symbols(&mut open, right);
        self.forward(&mut open);
        if let (Some(left), Some(right)) =
            (self.left.terminator(left), self.right.terminator(right))
            && left.name() == right.name()
            && !self.ops.contains_key(&left.id())
            && !self.taken.contains(&right.id())
        {
            self.pair_open(&mut open, left.id(), right.id());
        }
        loop {
            self.forward(&mut open);
            let found = self.by_uses(&mut open).or_else(|| self.by_kind(&mut open));
            let Some((left, right)) = found else { return };
            self.pair_open(&mut open, left, right);
        }
    }

    /// Matches ops that define symbols: those of the same name, then equal ones, then those of the
    /// same type in order.
    fn symbols(&mut self, open: &mut Open, right: BlockId) {
        type KeyOf<'m> = fn(&Matching<'m>, usize, OpRef<'_>) -> Option<(String, u64)>;
        let keys: [KeyOf<'m>; 3] = [
            |_, _, op| Some((format!("{} {}", op.name(), op.symbol_name()?), 0)),
            |matching, side, op| Some((op.name().to_string(), matching.hash(side, op.id()))),
            |_, _, op| Some((format!("{} {}", op.name(), op.attr("function_type")?), 0)),
        ];
        let is_symbol = |op: &OpRef<'_>| op.symbol_name().is_some();
        let symbols: Vec<OpRef<'_>> = self.right.ops(right).filter(is_symbol).collect();
        let own: Vec<OpId> = open.ops.clone();
        for key in keys {
            let mut others: HashMap<_, VecDeque<OpId>> = HashMap::new();
            for &other in symbols.iter().filter(|other| !self.taken.contains(&other.id())) {
                if let Some(key) = key(self, 1, other) {
                    others.entry(key).or_default().push_back(other.id());
                }
            }
            for op in own.iter().map(|&op| self.left.op(op)).filter(is_symbol) {
                let others = key(self, 0, op).and_then(|key| others.get_mut(&key));
                if !self.ops.contains_key(&op.id())
                    && let Some(other) = others.and_then(VecDeque::pop_front)
                {
                    self.pair_open(open, op.id(), other);
                }
            }
        }
    }

    /// Matches ops that equal one on the right with corresponding operands, for as long as there
    /// are any.
    fn forward(&mut self, open: &mut Open) {
        while let Some(position) = open.ready.pop_first() {
            let op = self.left.op(open.ops[position]);
            if self.ops.contains_key(&op.id()) {
                continue;
            }
            let operands = op.operands().iter().filter_map(|value| self.values.get(value).copied());
            let key = (self.hash(0, op.id()), operands.collect());
            let Some(others) = open.equal.get_mut(&key) else { continue };
            while let Some(other) = others.pop_front() {
                if !self.taken.contains(&other) {
                    self.pair_open(open, op.id(), other);
                    break;
                }
            }
        }
    }

    /// The next two ops that are used alike by corresponding ones.
    fn by_uses(&self, open: &mut Open) -> Option<(OpId, OpId)> {
        while let Some((left, right, index)) = open.uses.pop_front() {
            let values = (self.left.op(left).operand(index), self.right.op(right).operand(index));
            let (Some(left), Some(right)) = (
                self.left.defining_op(values.0).filter(|op| self.is_open_left(open, *op)),
                self.right.defining_op(values.1).filter(|op| self.is_open_right(open, *op)),
            ) else {
                continue;
            };
            if left.name() == right.name() {
                return Some((left.id(), right.id()));
            }
            // An op between may be new, on either side.
            let defining = |value: &Value| self.right.defining_op(*value);
            let mut others = right.operands().iter().filter_map(defining);
            let other = others.find(|other| {
                self.is_open_right(open, *other)
                    && self.hash(0, left.id()) == self.hash(1, other.id())
            });
            if let Some(other) = other {
                return Some((left.id(), other.id()));
            }
            let defining = |value: &Value| self.left.defining_op(*value);
            let mut others = left.operands().iter().filter_map(defining);
            let other = others.find(|other| {
                self.is_open_left(open, *other)
                    && self.hash(0, other.id()) == self.hash(1, right.id())
            });
            if let Some(other) = other {
                return Some((other.id(), right.id()));
            }
            if left.result_types().eq(right.result_types()) {
                return Some((left.id(), right.id()));
            }
        }
        None
    }

    fn is_open_left(&self, open: &Open, op: OpRef<'_>) -> bool {
        open.positions.contains_key(&op.id()) && !self.ops.contains_key(&op.id())
    }

    fn is_open_right(&self, open: &Open, op: OpRef<'_>) -> bool {
        open.right.contains(&op.id()) && !self.taken.contains(&op.id())
    }

    /// The next op, and one of its kind: of the first ones, that which has the most in common.
    fn by_kind(&self, open: &mut Open) -> Option<(OpId, OpId)> {
        while let Some(&left) = open.ops.get(open.next) {
            open.next += 1;
            let op = self.left.op(left);
            if self.ops.contains_key(&left) {
                continue;
            }
            let Some(others) = open.kinds.get_mut(&kind(op)) else { continue };
            others.retain(|other| !self.taken.contains(other));
            let score = |other: OpId| {
                let view = self.right.op(other);
                let operands = op.operands().iter().zip(view.operands());
                let corresponding =
                    operands.filter(|(left, right)| self.values.get(left) == Some(right));
                (self.hash(0, left) == self.hash(1, other), corresponding.count())
            };
            let candidates = others.iter().copied().take(MAX_CANDIDATES).enumerate();
            // Of equally good ones, the first.
            let best = candidates.max_by_key(|&(i, other)| (score(other), MAX_CANDIDATES - i));
            if let Some((_, other)) = best {
                return Some((left, other));
            }
        }
        None
    }
}

impl Open {
    fn of(matching: &Matching<'_>, left: BlockId, right: BlockId) -> Open {
        let ops: Vec<OpId> = matching.left.ops(left).map(OpRef::id).collect();
        let mut open = Open {
            positions: ops.iter().copied().zip(0..).collect(),
            users: FxHashMap::default(),
            missing: vec![0; ops.len()],
            ready: BTreeSet::new(),
            right: matching.right.ops(right).map(OpRef::id).collect(),
            equal: FxHashMap::default(),
            kinds: HashMap::new(),
            uses: VecDeque::new(),
            next: 0,
            ops,
        };
        for (position, &op) in open.ops.iter().enumerate() {
            for &value in matching.left.op(op).operands() {
                if !matching.values.contains_key(&value) {
                    open.users.entry(value).or_default().push(op);
                    open.missing[position] += 1;
                }
            }
            if open.missing[position] == 0 {
                open.ready.insert(position);
            }
        }
        for op in matching.right.ops(right) {
            let key = (matching.hash(1, op.id()), op.operands().to_vec());
            open.equal.entry(key).or_default().push_back(op.id());
            open.kinds.entry(kind(op)).or_default().push_back(op.id());
        }
        open
    }

    /// Notes that a value on the left corresponds to one on the right.
    fn found(&mut self, value: Value) {
        for user in self.users.remove(&value).unwrap_or_default() {
            let Some(&position) = self.positions.get(&user) else { continue };
            self.missing[position] -= 1;
            if self.missing[position] == 0 {
                self.ready.insert(position);
            }
        }
    }
}
