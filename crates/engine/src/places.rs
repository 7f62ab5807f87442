//! Where the values of a unit are, and how long.
//!
//! Small values are in one memory, where a value takes the room of others whose lives have ended
//! before. Other values are in slots.

use crate::graph::{Graph, Value};
use crate::parts;
use crate::plan::{Action, Part, Place, Sequence, Step, Transfer, Way};
use numerics::math::within::room;
use numerics::shape::num_elements;
use program::ValueType;
use rustc_hash::{FxHashMap, FxHashSet};

/// Values of at most so many bytes are in the memory of small values,
const SMALL: usize = 1 << 12;
/// as long as this is not larger.
const MAX_MEMORY: usize = 1 << 28;

/// The places of the values of steps.
pub(crate) struct Places<'g> {
    graph: &'g Graph<'g>,
    pub places: Vec<Place>,
    pub slots: usize,
    /// The constants that are used.
    pub constants: Vec<Value>,
    pub memory: Memory,
    /// Values that keep their room when they end: those that loops carry, while their loop runs,
    /// and those in whose place others are.
    kept: FxHashSet<Value>,
    /// Values that are there although they are not small.
    parts: FxHashSet<Value>,
}

/// The memory of small values while their places are chosen.
#[derive(Default)]
pub(crate) struct Memory {
    pub bytes: usize,
    /// Where values have ended, by their room.
    free: FxHashMap<usize, Vec<usize>>,
}

impl Memory {
    /// Memory behind what is there already.
    pub fn after(bytes: usize) -> Memory {
        Memory { bytes, free: FxHashMap::default() }
    }

    /// A position with so much room.
    pub fn take(&mut self, room: usize) -> usize {
        self.free.get_mut(&room).and_then(Vec::pop).unwrap_or_else(|| {
            self.bytes += room;
            self.bytes - room
        })
    }

    /// Gives room back.
    pub fn give(&mut self, position: usize, room: usize) {
        self.free.entry(room).or_default().push(position);
    }
}

/// Gives each value that the steps use a place, and ends their lives.
pub(crate) fn assign<'g>(
    graph: &'g Graph<'g>,
    body: &mut Sequence,
    arguments: &[Value],
) -> Places<'g> {
    let mut places = Places {
        graph,
        places: vec![Place::Nowhere; graph.types.len()],
        slots: 0,
        constants: Vec::new(),
        memory: Memory::default(),
        kept: FxHashSet::default(),
        parts: FxHashSet::default(),
    };
    parts::find(graph, body, &mut places.parts);
    end_lives(body, arguments);
    arguments.iter().for_each(|&argument| places.place(argument));
    places.sequence(body);
    places
}

impl Places<'_> {
    /// The bytes of a value in memory, and the room that it takes there.
    fn room(&self, value: Value) -> Option<(usize, usize)> {
        let limit = if self.parts.contains(&value) { usize::MAX } else { SMALL };
        room_up_to(&self.graph.types[value as usize], limit)
    }

    /// Gives a value its place.
    fn place(&mut self, value: Value) {
        let index = value as usize;
        if self.places[index] != Place::Nowhere {
            return;
        }
        self.places[index] = if self.graph.constants.contains_key(&value) {
            self.constants.push(value);
            Place::Constant((self.constants.len() - 1) as u32)
        } else if let Some((bytes, room)) = self.room(value)
            && self.memory.bytes <= MAX_MEMORY
        {
            let at = self.memory.take(room) as u32;
            Place::Memory { at, bytes: bytes as u32 }
        } else {
            self.slots += 1;
            Place::Slot((self.slots - 1) as u32)
        };
    }

    /// Gives the values of a sequence places. Afterwards only those in slots end there.
    fn sequence(&mut self, sequence: &mut Sequence) {
        let Sequence { steps, results, .. } = sequence;
        for step in steps {
            self.overwrite(step, results);
            // Results have other places than what is computed for them.
            for_each_result(&step.action, &mut |value| self.place(value));
            for_each_own_use(&step.action, &mut |value| self.place(value));
            match &mut step.action {
                Action::While { initial, cond, body, .. } => {
                    let carried = initial.iter().map(|transfer| transfer.to);
                    self.kept.extend(carried.clone());
                    self.sequence(cond);
                    self.sequence(body);
                    carried.for_each(|value| {
                        self.kept.remove(&value);
                    });
                }
                Action::Branch { branches, .. } => {
                    branches.iter_mut().for_each(|branch| self.sequence(branch));
                }
                _ => {}
            }
            self.end(&step.dead);
            step.dead = self.in_slots(&step.dead);
        }
        sequence.results.iter().for_each(|transfer| self.place(transfer.from));
        self.end(&sequence.dead);
        sequence.dead = self.in_slots(&sequence.dead);
    }

    /// Gives the result of an update the place of the value that it updates, if that ends. The
    /// place of one that a loop carries remains its own: then it has to become the result.
    fn overwrite(&mut self, step: &Step, results: &[Transfer]) {
        let Some([from, to]) = update(&step.action) else { return };
        let place = self.places[from as usize];
        let types = [from, to].map(|value| &*self.graph.types[value as usize]);
        let is_same = types[0] == types[1] && self.room(to).is_some();
        let is_free = step.dead.contains(&from) && self.places[to as usize] == Place::Nowhere;
        if !is_same || !is_free || !matches!(place, Place::Memory { .. }) {
            return;
        }
        let is_carried = self.kept.contains(&from);
        if is_carried && !results.iter().any(|result| [result.from, result.to] == [to, from]) {
            return;
        }
        self.places[to as usize] = place;
        self.kept.insert(if is_carried { to } else { from });
    }

    /// Gives back the room of values.
    fn end(&mut self, values: &[Value]) {
        for &value in values.iter().filter(|value| !self.kept.contains(value)) {
            if let Place::Memory { at, .. } = self.places[value as usize]
                && let Some((_, room)) = self.room(value)
            {
                self.memory.give(at as usize, room);
            }
        }
    }

    /// The slots among the places of values.
    fn in_slots<C: FromIterator<u32>>(&self, values: &[Value]) -> C {
        let slot = |&value: &Value| match self.places[value as usize] {
            Place::Slot(slot) => Some(slot),
            _ => None,
        };
        values.iter().filter_map(slot).collect()
    }
}

/// The value of which a movement replaces a part by elements of others, and its result.
pub(crate) fn update(action: &Action) -> Option<[Value; 2]> {
    let Action::Move { parts, fill: None, output, .. } = action else { return None };
    let (whole, rest) = parts.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let is_whole = whole.read.is_none() && whole.write.is_none() && whole.read_from.is_empty();
    let is_other = |part: &Part| {
        let mut starts = part.read_from.iter().chain(&part.write_to);
        part.operand != whole.operand && starts.all(|start| start.index != whole.operand)
    };
    (is_whole && rest.iter().all(is_other)).then_some([whole.operand, *output])
}

/// The bytes of a value of at most so many, and the room that it takes in memory.
fn room_up_to(ty: &ValueType, limit: usize) -> Option<(usize, usize)> {
    let ValueType::Tensor { dtype, .. } = ty else { return None };
    let count = num_elements(&ty.static_shape()?)?;
    let bytes = count.checked_mul(dtype.bytes()).filter(|&bytes| bytes <= limit)?;
    Some((bytes, room(dtype.bytes(), count)?))
}

/// True for small values.
pub(crate) fn is_small(ty: &ValueType) -> bool {
    room_up_to(ty, SMALL).is_some()
}

/// The sequences within an action.
fn nested(action: &Action) -> impl Iterator<Item = &Sequence> {
    let (pair, branches) = match action {
        Action::While { cond, body, .. } => ([Some(cond), Some(body)], &[][..]),
        Action::Branch { branches, .. } => ([None, None], &branches[..]),
        _ => ([None, None], &[][..]),
    };
    pair.into_iter().flatten().chain(branches)
}

/// Visits the values that an action uses, those within it included.
pub(crate) fn for_each_use(action: &Action, visit: &mut impl FnMut(Value)) {
    for_each_own_use(action, visit);
    for sequence in nested(action) {
        sequence.steps.iter().for_each(|step| for_each_use(&step.action, visit));
        sequence.results.iter().for_each(|transfer| visit(transfer.from));
    }
}

/// Visits the values that an action uses itself.
fn for_each_own_use(action: &Action, visit: &mut impl FnMut(Value)) {
    match action {
        Action::Loop { operands, .. } | Action::Rows { operands, .. } => {
            operands.iter().for_each(|&value| visit(value));
        }
        Action::Move { parts, fill, .. } => {
            for part in parts {
                visit(part.operand);
                let starts = part.read_from.iter().chain(&part.write_to);
                starts.for_each(|start| visit(start.index));
            }
            fill.iter().for_each(|&value| visit(value));
        }
        Action::Apply { operands, .. } => operands.iter().for_each(|&value| visit(value)),
        Action::Kernel { operands, captures, .. } => {
            operands.iter().for_each(|&(value, _)| visit(value));
            let captured = captures.iter().flat_map(|captures| &captures.values);
            captured.for_each(|&(_, value)| visit(value));
        }
        Action::While { initial, condition, .. } => {
            initial.iter().for_each(|transfer| visit(transfer.from));
            visit(*condition);
        }
        Action::Branch { index, .. } => visit(*index),
        // Made of steps that have places already.
        Action::Block { .. } => {}
    }
}

/// Visits the values that occur in a sequence.
pub(crate) fn for_each_value_of(sequence: &Sequence, visit: &mut impl FnMut(Value)) {
    for_each_value(&sequence.steps, visit);
    for transfer in &sequence.results {
        visit(transfer.from);
        visit(transfer.to);
    }
}

/// Visits the values that occur in steps.
pub(crate) fn for_each_value(steps: &[Step], visit: &mut impl FnMut(Value)) {
    for step in steps {
        match &step.action {
            Action::Block { steps, .. } => for_each_value(steps, visit),
            action => {
                for_each_own_use(action, visit);
                for_each_result(action, visit);
                nested(action).for_each(|sequence| for_each_value_of(sequence, visit));
            }
        }
    }
}

/// Visits the values that an action defines for the steps after it.
pub(crate) fn for_each_result(action: &Action, visit: &mut impl FnMut(Value)) {
    match action {
        Action::Loop { outputs, .. } | Action::Rows { outputs, .. } => {
            outputs.iter().for_each(|&value| visit(value));
        }
        Action::Move { output, .. } | Action::Apply { output, .. } => visit(*output),
        Action::Kernel { results, .. } => results.iter().for_each(|&value| visit(value)),
        Action::While { initial, .. } => initial.iter().for_each(|transfer| visit(transfer.to)),
        // All branches have the same targets.
        Action::Branch { branches, .. } => {
            let transfers = branches.first().into_iter().flat_map(|branch| &branch.results);
            transfers.for_each(|transfer| visit(transfer.to));
        }
        Action::Block { .. } => {}
    }
}

/// Notes with which step each value ends that `sequence` defines, or that is one of its
/// `arguments`: the last one that uses it.
fn end_lives(sequence: &mut Sequence, arguments: &[Value]) {
    let mut own: FxHashSet<Value> = arguments.iter().copied().collect();
    for step in &sequence.steps {
        for_each_result(&step.action, &mut |value| {
            own.insert(value);
        });
    }
    // Results that become other values live until then.
    let becomes_other = |way: Way| way != Way::Stay;
    let results = sequence.results.iter();
    let ended = results.filter(|t| own.remove(&t.from) && becomes_other(t.way));
    let ended = ended.map(|transfer| transfer.from);
    sequence.dead = ended.filter(|value| !arguments.contains(value)).collect();
    for step in sequence.steps.iter_mut().rev() {
        let mut end = |value: Value| {
            if own.remove(&value) {
                step.dead.push(value);
            }
        };
        for_each_use(&step.action, &mut end);
        for_each_result(&step.action, &mut end);
        end_in(step);
    }
}

/// Lets a step take the values that end with it out of their slots.
fn end_in(step: &mut Step) {
    let mut taken = FxHashSet::default();
    let last = &step.dead;
    match &mut step.action {
        Action::Kernel { operands, captures: None, .. } => {
            for (value, is_last) in operands.iter_mut().rev() {
                *is_last = last.contains(value) && taken.insert(*value);
            }
        }
        Action::While { initial, cond, body, .. } => {
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
                    transfer.way = Way::Move;
                }
            }
            let arguments: Vec<Value> = initial.iter().map(|transfer| transfer.to).collect();
            end_lives(cond, &[]);
            end_lives(body, &arguments);
        }
        Action::Branch { branches, .. } => {
            branches.iter_mut().for_each(|branch| end_lives(branch, &[]));
        }
        _ => {}
    }
}
