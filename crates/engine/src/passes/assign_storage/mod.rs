//! Assigns storage to the values of a plan, and notes where their lives end.
//!
//! Small values share an arena, in which a value takes the space of others that have ended. Other
//! values are in slots.

mod partial_uses;

pub(crate) use partial_uses::MAX_BYTES as MAX_PARTIALLY_USED;

use crate::graph::{Graph, Value};
use crate::plan::Plan;
use crate::plan::{CopyRegion, Sequence, Step, StepOp, Storage, Transfer, TransferMode};
use crate::visit::{for_each_own_use, for_each_result, for_each_use, for_each_value_of};
use numerics::math::within::room;
use numerics::shape::num_elements;
use program::ValueType;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum bytes of a small value.
const MAX_SMALL: usize = 1 << 12;
/// Values that come when the arena is larger are in slots.
const MAX_ARENA: usize = 1 << 28;

pub(crate) fn run(graph: &Graph<'_>, plan: &mut Plan) {
    let mut assignment = Assignment {
        graph,
        storage: std::mem::take(&mut plan.storage),
        slots: 0,
        constants: Vec::new(),
        arena: Arena::default(),
        pinned: FxHashSet::default(),
        partially_used: FxHashSet::default(),
    };
    partial_uses::find(graph, &plan.body, &mut assignment.partially_used);
    end_lives(&mut plan.body, &plan.arguments);
    plan.arguments.iter().for_each(|&argument| assignment.assign(argument));
    assignment.sequence(&mut plan.body);
    let constants = assignment.constants.iter();
    plan.constants = constants.map(|value| graph.constants[value].clone()).collect();
    plan.storage = assignment.storage;
    plan.slots = assignment.slots;
    plan.arena_bytes = assignment.arena.bytes;
}

/// The storage of the values of steps.
struct Assignment<'g> {
    graph: &'g Graph<'g>,
    storage: Vec<Storage>,
    slots: usize,
    /// The constants that are used.
    constants: Vec<Value>,
    arena: Arena,
    /// Values that keep their space when they end: while a loop runs, what it carries, and values
    /// whose storage others have taken over.
    pinned: FxHashSet<Value>,
    /// Values that are in the arena although they are not small.
    partially_used: FxHashSet<Value>,
}

/// The arena while space in it is assigned.
#[derive(Default)]
pub(crate) struct Arena {
    pub bytes: usize,
    /// The positions of free space, by its bytes.
    free: FxHashMap<usize, Vec<usize>>,
}

impl Arena {
    /// An arena whose first bytes are in use.
    pub(crate) fn after(bytes: usize) -> Arena {
        Arena { bytes, free: FxHashMap::default() }
    }

    /// Takes some bytes, and returns their position.
    pub(crate) fn take(&mut self, bytes: usize) -> usize {
        self.free.get_mut(&bytes).and_then(Vec::pop).unwrap_or_else(|| {
            self.bytes += bytes;
            self.bytes - bytes
        })
    }

    /// Gives bytes back.
    pub(crate) fn give(&mut self, position: usize, bytes: usize) {
        self.free.entry(bytes).or_default().push(position);
    }
}

impl Assignment<'_> {
    /// The bytes of a value in the arena, and the space that it takes there.
    fn space(&self, value: Value) -> Option<(usize, usize)> {
        let limit = if self.partially_used.contains(&value) { usize::MAX } else { MAX_SMALL };
        space_up_to(&self.graph.types[value as usize], limit)
    }

    /// Assigns storage to a value that has none.
    fn assign(&mut self, value: Value) {
        let index = value as usize;
        if self.storage[index] != Storage::Unstored {
            return;
        }
        self.storage[index] = if self.graph.constants.contains_key(&value) {
            self.constants.push(value);
            Storage::Constant((self.constants.len() - 1) as u32)
        } else if let Some((bytes, space)) = self.space(value)
            && self.arena.bytes <= MAX_ARENA
        {
            let at = self.arena.take(space) as u32;
            Storage::Arena { at, bytes: bytes as u32 }
        } else {
            self.slots += 1;
            Storage::Slot((self.slots - 1) as u32)
        };
    }

    /// Assigns storage to the values of a sequence. Afterwards only slots end there.
    fn sequence(&mut self, sequence: &mut Sequence) {
        let Sequence { steps, results, .. } = sequence;
        for step in steps {
            self.overwrite(step, results);
            // Results before operands: a step does not write what it reads.
            for_each_result(&step.op, &mut |value| self.assign(value));
            for_each_own_use(&step.op, &mut |value| self.assign(value));
            match &mut step.op {
                StepOp::While { initial, cond, body, .. } => {
                    let carried = initial.iter().map(|transfer| transfer.to);
                    self.pinned.extend(carried.clone());
                    self.sequence(cond);
                    self.sequence(body);
                    carried.for_each(|value| {
                        self.pinned.remove(&value);
                    });
                }
                StepOp::Branch { branches, .. } => {
                    branches.iter_mut().for_each(|branch| self.sequence(branch));
                }
                _ => {}
            }
            self.end(&step.dead);
            step.dead = self.in_slots(&step.dead);
        }
        sequence.results.iter().for_each(|transfer| self.assign(transfer.from));
        self.end(&sequence.dead);
        sequence.dead = self.in_slots(&sequence.dead);
    }

    /// Lets the result of an update take over the storage of the value that it updates, if that
    /// ends. The storage of a value that a loop carries remains assigned to it, so that the result
    /// has to become that value.
    fn overwrite(&mut self, step: &Step, results: &[Transfer]) {
        let Some([from, to]) = update(&step.op) else { return };
        let storage = self.storage[from as usize];
        let types = [from, to].map(|value| &*self.graph.types[value as usize]);
        let is_same = types[0] == types[1] && self.space(to).is_some();
        let is_free = step.dead.contains(&from) && self.storage[to as usize] == Storage::Unstored;
        if !is_same || !is_free || !matches!(storage, Storage::Arena { .. }) {
            return;
        }
        let is_carried = self.pinned.contains(&from);
        if is_carried && !results.iter().any(|result| [result.from, result.to] == [to, from]) {
            return;
        }
        self.storage[to as usize] = storage;
        self.pinned.insert(if is_carried { to } else { from });
    }

    /// Frees the space of values.
    fn end(&mut self, values: &[Value]) {
        for &value in values.iter().filter(|value| !self.pinned.contains(value)) {
            if let Storage::Arena { at, .. } = self.storage[value as usize]
                && let Some((_, space)) = self.space(value)
            {
                self.arena.give(at as usize, space);
            }
        }
    }

    /// The slots of values, as far as they have some.
    fn in_slots<C: FromIterator<u32>>(&self, values: &[Value]) -> C {
        let slot = |&value: &Value| match self.storage[value as usize] {
            Storage::Slot(slot) => Some(slot),
            _ => None,
        };
        values.iter().filter_map(slot).collect()
    }
}

/// The value of which a movement replaces a part by elements of others, and its result.
pub(crate) fn update(op: &StepOp) -> Option<[Value; 2]> {
    let StepOp::Move { parts, fill: None, output, .. } = op else { return None };
    let (whole, rest) = parts.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let is_whole = whole.read.is_none() && whole.write.is_none() && whole.read_from.is_empty();
    let is_other = |part: &CopyRegion| {
        let mut starts = part.read_from.iter().chain(&part.write_to);
        part.operand != whole.operand && starts.all(|start| start.index != whole.operand)
    };
    (is_whole && rest.iter().all(is_other)).then_some([whole.operand, *output])
}

/// The bytes of a value, if they are at most `limit`, and the space that it takes in the arena.
fn space_up_to(ty: &ValueType, limit: usize) -> Option<(usize, usize)> {
    let ValueType::Tensor { dtype, .. } = ty else { return None };
    let count = num_elements(&ty.static_shape()?)?;
    let bytes = count.checked_mul(dtype.bytes()).filter(|&bytes| bytes <= limit)?;
    Some((bytes, room(dtype.bytes(), count)?))
}

/// True for small values.
pub(crate) fn is_small(ty: &ValueType) -> bool {
    space_up_to(ty, MAX_SMALL).is_some()
}

/// Notes with which step each value ends that `sequence` defines, or that is one of its
/// `arguments`: the last one that uses it.
fn end_lives(sequence: &mut Sequence, arguments: &[Value]) {
    let mut own: FxHashSet<Value> = arguments.iter().copied().collect();
    for step in &sequence.steps {
        for_each_result(&step.op, &mut |value| {
            own.insert(value);
        });
    }
    // Results that become other values live until then.
    let becomes_other = |mode: TransferMode| mode != TransferMode::Stay;
    let results = sequence.results.iter();
    let ended = results.filter(|t| own.remove(&t.from) && becomes_other(t.mode));
    let ended = ended.map(|transfer| transfer.from);
    sequence.dead = ended.filter(|value| !arguments.contains(value)).collect();
    for step in sequence.steps.iter_mut().rev() {
        let mut end = |value: Value| {
            if own.remove(&value) {
                step.dead.push(value);
            }
        };
        for_each_use(&step.op, &mut end);
        for_each_result(&step.op, &mut end);
        end_in(step);
    }
}

/// Lets a step take the values that end with it out of their slots.
fn end_in(step: &mut Step) {
    let mut taken = FxHashSet::default();
    let last = &step.dead;
    match &mut step.op {
        StepOp::Kernel { operands, captures: None, .. } => {
            for (value, is_last) in operands.iter_mut().rev() {
                *is_last = last.contains(value) && taken.insert(*value);
            }
        }
        StepOp::While { initial, cond, body, .. } => {
            let mut inside = FxHashSet::default();
            for sequence in [&*cond, &*body] {
                for_each_value_of(sequence, &mut |value| {
                    inside.insert(value);
                });
            }
            for transfer in initial.iter_mut().rev() {
                let is_last = last.contains(&transfer.from)
                    && !inside.contains(&transfer.from)
                    && taken.insert(transfer.from);
                if is_last {
                    transfer.mode = TransferMode::Move;
                }
            }
            let arguments: Vec<Value> = initial.iter().map(|transfer| transfer.to).collect();
            end_lives(cond, &[]);
            end_lives(body, &arguments);
        }
        StepOp::Branch { branches, .. } => {
            branches.iter_mut().for_each(|branch| end_lives(branch, &[]));
        }
        _ => {}
    }
}
