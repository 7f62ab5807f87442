//! Where the values of a unit are, and how long.

use crate::graph::{Graph, Value};
use crate::unit::{Action, Place, Sequence, Step, Way};
use program::ValueType;
use rustc_hash::FxHashSet;

/// Values of at most so many bytes keep their memory from run to run.
const SMALL: usize = 1 << 12;

/// The places of the values of steps.
pub(crate) struct Places {
    pub places: Vec<Place>,
    pub buffers: Vec<usize>,
    pub slots: usize,
    /// The constants that are used.
    pub constants: Vec<Value>,
    /// For each value, true if its memory ends with its life.
    is_large: Vec<bool>,
}

/// Gives each value that the steps use a place. `fixed` are in slots.
pub(crate) fn assign(graph: &Graph<'_>, body: &Sequence, fixed: &[Value]) -> Places {
    let mut any = FxHashSet::default();
    any.extend(fixed);
    collect_slots(body, &mut any);
    let is_large = graph.types.iter().map(|ty| !is_small(ty));
    let mut places = Places {
        places: vec![Place::Nowhere; graph.types.len()],
        buffers: Vec::new(),
        slots: 0,
        constants: Vec::new(),
        is_large: is_large.collect(),
    };
    let mut place = |value: Value| {
        let index = value as usize;
        if places.places[index] != Place::Nowhere {
            return;
        }
        places.places[index] = if graph.constants.contains_key(&value) {
            places.constants.push(value);
            Place::Constant((places.constants.len() - 1) as u32)
        } else if let Some(bytes) = bytes(&graph.types[index])
            && !places.is_large[index]
            && !any.contains(&value)
        {
            places.buffers.push(bytes);
            Place::Buffer((places.buffers.len() - 1) as u32)
        } else {
            places.slots += 1;
            Place::Slot((places.slots - 1) as u32)
        };
    };
    fixed.iter().for_each(|&value| place(value));
    for_each_value(body, &mut place);
    places
}

/// The bytes of a value with plain storage and a static shape.
fn bytes(ty: &ValueType) -> Option<usize> {
    let ValueType::Tensor { dtype, .. } = ty else { return None };
    numerics::shape::num_elements(&ty.static_shape()?)?.checked_mul(dtype.bytes())
}

/// True for values that keep their memory.
pub(crate) fn is_small(ty: &ValueType) -> bool {
    bytes(ty).is_some_and(|bytes| bytes <= SMALL)
}

/// Values that kernels take and give.
fn collect_slots(sequence: &Sequence, any: &mut FxHashSet<Value>) {
    for step in &sequence.steps {
        if let Action::Kernel { operands, results, captures, .. } = &step.action {
            any.extend(operands.iter().map(|&(value, _)| value));
            any.extend(results);
            let captured = captures.iter().flat_map(|captures| &captures.values);
            any.extend(captured.map(|&(_, value)| value));
        }
        nested(&step.action).for_each(|sequence| collect_slots(sequence, any));
    }
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
    match action {
        Action::Loop { operands, .. } => operands.iter().for_each(|&value| visit(value)),
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
    }
    for sequence in nested(action) {
        sequence.steps.iter().for_each(|step| for_each_use(&step.action, visit));
        sequence.results.iter().for_each(|transfer| visit(transfer.from));
    }
}

fn for_each_value(sequence: &Sequence, visit: &mut impl FnMut(Value)) {
    for step in &sequence.steps {
        for_each_use(&step.action, visit);
        for_each_result(&step.action, visit);
        nested(&step.action).for_each(|sequence| for_each_value(sequence, visit));
    }
    for transfer in &sequence.results {
        visit(transfer.from);
        visit(transfer.to);
    }
}

/// Visits the values that an action defines for the steps after it.
fn for_each_result(action: &Action, visit: &mut impl FnMut(Value)) {
    match action {
        Action::Loop { outputs, .. } => outputs.iter().for_each(|&value| visit(value)),
        Action::Move { output, .. } | Action::Apply { output, .. } => visit(*output),
        Action::Kernel { results, .. } => results.iter().for_each(|&value| visit(value)),
        Action::While { initial, .. } => initial.iter().for_each(|transfer| visit(transfer.to)),
        // All branches have the same targets.
        Action::Branch { branches, .. } => {
            let transfers = branches.first().into_iter().flat_map(|branch| &branch.results);
            transfers.for_each(|transfer| visit(transfer.to));
        }
    }
}

impl Places {
    /// Ends the lives of large values in slots: of those that `sequence` defines, or that are its
    /// `arguments`, with the last step that uses them.
    pub fn end_lives(&self, sequence: &mut Sequence, arguments: &[Value]) {
        let mut own: FxHashSet<Value> = arguments.iter().copied().collect();
        for step in &sequence.steps {
            for_each_result(&step.action, &mut |value| {
                own.insert(value);
            });
        }
        // Results that become other values live until then.
        let mut dead = Vec::new();
        for transfer in &sequence.results {
            if own.remove(&transfer.from)
                && matches!(transfer.way, Way::Copy | Way::Stage)
                && !arguments.contains(&transfer.from)
            {
                dead.extend(self.mortal_slot(transfer.from));
            }
        }
        sequence.dead = dead;
        for step in sequence.steps.iter_mut().rev() {
            let mut last = Vec::new();
            let mut end = |value: Value| {
                if own.remove(&value) {
                    last.push(value);
                }
            };
            for_each_use(&step.action, &mut end);
            for_each_result(&step.action, &mut end);
            self.end_in(step, &last);
        }
    }

    /// Ends the lives of values with a step.
    fn end_in(&self, step: &mut Step, last: &[Value]) {
        let mut taken = FxHashSet::default();
        match &mut step.action {
            Action::Kernel { operands, captures: None, .. } => {
                for (value, is_last) in operands.iter_mut().rev() {
                    *is_last = last.contains(value)
                        && self.mortal_slot(*value).is_some()
                        && taken.insert(*value);
                }
            }
            Action::While { initial, cond, body, .. } => {
                let mut inside = FxHashSet::default();
                for_each_value(cond, &mut |value| {
                    inside.insert(value);
                });
                for_each_value(body, &mut |value| {
                    inside.insert(value);
                });
                for transfer in initial.iter_mut().rev() {
                    let is_last = last.contains(&transfer.from)
                        && !inside.contains(&transfer.from)
                        && self.mortal_slot(transfer.from).is_some()
                        && taken.insert(transfer.from);
                    if is_last {
                        transfer.way = Way::Move;
                    }
                }
            }
            _ => {}
        }
        let ended = last.iter().filter(|value| !taken.contains(value));
        step.dead = ended.filter_map(|&value| self.mortal_slot(value)).collect();
        match &mut step.action {
            Action::While { cond, body, initial, .. } => {
                let arguments: Vec<Value> = initial.iter().map(|transfer| transfer.to).collect();
                self.end_lives(cond, &[]);
                self.end_lives(body, &arguments);
            }
            Action::Branch { branches, .. } => {
                branches.iter_mut().for_each(|branch| self.end_lives(branch, &[]));
            }
            _ => {}
        }
    }

    /// The slot of a value whose memory ends with its life.
    fn mortal_slot(&self, value: Value) -> Option<u32> {
        match self.places[value as usize] {
            Place::Slot(slot) if self.is_large[value as usize] => Some(slot),
            _ => None,
        }
    }
}
