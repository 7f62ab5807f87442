//! Row loops: which loops and reductions of rows run together, some rows at a time.

use crate::graph::{Graph, Value};
use crate::places::{for_each_result, for_each_use, is_small};
use crate::unit::{Action, Step};
use kernels::row_loops::{RowKernel, RowLoop, RowPart, RowSource, RowValue};
use program::{Load, LoopOutput};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// With fewer rows, there is little to divide.
const MIN_ROWS: usize = 4;
/// Values of longer rows are in no cache while several kernels work on one.
const MAX_ROW: usize = 1 << 14;
/// Less work, in elementary operations, is done before its parts could be divided.
const MIN_WORK: usize = 1 << 20;
/// A row loop has at most so many steps.
const MAX_STEPS: usize = 32;

/// Steps that may become a row loop, of `rows` rows of `row` elements.
struct Group {
    rows: usize,
    row: usize,
    members: Vec<Step>,
    /// Small steps that need no member before them, and the number of these.
    others: Vec<(usize, Step)>,
    /// The values of members, with the number of their elements in a row.
    values: FxHashMap<Value, usize>,
}

/// The steps, with row loops in the place of some. `results` are used after them.
pub(crate) fn merge(graph: &Graph<'_>, steps: Vec<Step>, results: &[Value]) -> Vec<Step> {
    let mut uses: FxHashMap<Value, usize> = FxHashMap::default();
    let mut count = |value| *uses.entry(value).or_default() += 1;
    steps.iter().for_each(|step| for_each_use(&step.action, &mut count));
    results.iter().for_each(|&value| count(value));
    let mut merged: Vec<Step> = Vec::new();
    let mut group: Option<Group> = None;
    for mut step in steps {
        if let Some(mut own) = group.take() {
            let Some(refused) = own.add(graph, step) else {
                group = Some(own);
                continue;
            };
            own.finish(graph, &uses, &mut merged);
            step = refused;
        }
        match reduced(graph, &step.action) {
            Some((rows, row)) => group = Some(Group::around(graph, [rows, row], step, &mut merged)),
            None => merged.push(step),
        }
    }
    if let Some(group) = group {
        group.finish(graph, &uses, &mut merged);
    }
    merged
}

/// The number of rows and the elements of each, for a reduction of rows that are not small.
fn reduced(graph: &Graph<'_>, action: &Action) -> Option<(usize, usize)> {
    let (Some(RowKernel::Reduce(reduction)), Action::Apply { operands, .. }) =
        (action.row_kernel(), action)
    else {
        return None;
    };
    let (rows, row) = (reduction.results(), reduction.count());
    let is_large = !is_small(&graph.types[*operands.first()? as usize]);
    let fits = is_large && rows >= MIN_ROWS && (2..=MAX_ROW).contains(&row);
    (fits && reduction.is_of_rows()).then_some((rows, row))
}

impl Group {
    fn new(rows: usize, row: usize) -> Group {
        let (members, others) = (Vec::new(), Vec::new());
        Group { rows, row, members, others, values: FxHashMap::default() }
    }

    /// The group of a reduction and of the last steps before it that go with it.
    fn around(
        graph: &Graph<'_>,
        [rows, row]: [usize; 2],
        step: Step,
        before: &mut Vec<Step>,
    ) -> Group {
        let mut group = Group::new(rows, row);
        let mut first = before.len();
        while first > 0 && group.elements(&before[first - 1].action).is_some() {
            first -= 1;
        }
        let candidates: Vec<Step> = before.drain(first..).chain([step]).collect();
        for step in candidates {
            if let Some(refused) = group.add(graph, step) {
                before.extend(group.others.drain(..).map(|(_, step)| step));
                before.append(&mut group.members);
                group = Group::new(rows, row);
                // Alone, it reads nothing of the group.
                before.extend(group.add(graph, refused));
            }
        }
        group
    }

    /// The elements in a row of the values of a step, if it computes rows of this shape.
    fn elements(&self, action: &Action) -> Option<usize> {
        match action.row_kernel()? {
            RowKernel::Loop(fused) if fused.elements == self.rows => Some(1),
            RowKernel::Loop(fused) => {
                (Some(fused.elements) == self.rows.checked_mul(self.row)).then_some(self.row)
            }
            RowKernel::Reduce(reduction) => {
                let shape = (reduction.results(), reduction.count());
                (reduction.is_of_rows() && shape == (self.rows, self.row)).then_some(1)
            }
        }
    }

    /// Adds a step, also a small one that can run before the group; otherwise gives it back.
    fn add(&mut self, graph: &Graph<'_>, step: Step) -> Option<Step> {
        if let Some(elements) = self.elements(&step.action)
            && self.members.len() < MAX_STEPS
            && self.is_local(&step.action)
        {
            for_each_result(&step.action, &mut |value| {
                self.values.insert(value, elements);
            });
            self.members.push(step);
            return None;
        }
        let mut is_independent =
            self.others.len() < MAX_STEPS && is_small_step(graph, &step.action);
        for_each_use(&step.action, &mut |value| {
            is_independent &= !self.values.contains_key(&value);
        });
        if !is_independent {
            return Some(step);
        }
        self.others.push((self.members.len(), step));
        None
    }

    /// True if a step reads only the same rows of the values of the group as it computes.
    fn is_local(&self, action: &Action) -> bool {
        match (action, action.row_kernel()) {
            (Action::Loop { operands, .. }, Some(RowKernel::Loop(fused))) => {
                let row = fused.elements / self.rows;
                let is_local = |load: &Load| match self.values.get(&operands[load.operand]) {
                    Some(&elements) => match &load.view {
                        None => elements == row,
                        Some(view) => elements == 1 && view.repeats_each(self.rows, row),
                    },
                    None => true,
                };
                fused.loads.iter().all(is_local)
            }
            (Action::Apply { operands, .. }, Some(RowKernel::Reduce(_))) => {
                let elements = |value| self.values.get(value).copied();
                let [operand, init] = [0, 1].map(|at| operands.get(at).and_then(elements));
                operand.is_none_or(|elements| elements == self.row) && init.is_none()
            }
            _ => false,
        }
    }

    /// Appends the steps: as a row loop, if that is worth it.
    fn finish(mut self, graph: &Graph<'_>, uses: &FxHashMap<Value, usize>, steps: &mut Vec<Step>) {
        // Loops over an element for each row have no rows to share with what is around the group.
        let is_of_rows = |step: &Step| match step.action.row_kernel() {
            Some(RowKernel::Loop(fused)) => fused.elements != self.rows,
            _ => true,
        };
        let of_rows = self.members.iter().filter(|step| is_of_rows(step)).count();
        let first = self.members.iter().position(is_of_rows).unwrap_or(0);
        let last = self.members.iter().rposition(is_of_rows).unwrap_or(0);
        let (others, mut members) = (self.others.drain(..), std::mem::take(&mut self.members));
        // Members may use what others before them compute.
        let all = members.len();
        let (before, after): (Vec<_>, Vec<_>) = others.partition(|&(before, _)| before < all);
        let rest = members.split_off((last + 1).min(all));
        steps.extend(before.into_iter().map(|(_, step)| step));
        steps.extend(members.drain(..first));
        let kernels = members.iter().filter_map(|step| step.action.row_kernel());
        let work = kernels.fold(0, |sum: usize, kernel| sum.saturating_add(kernel.work()));
        let is_worth_it = of_rows > 1 && work >= MIN_WORK;
        let made = if is_worth_it { self.row_loop(graph, uses, &members) } else { None };
        match (made, members.last()) {
            (Some((rows, operands, outputs)), Some(&Step { origin, call, .. })) => {
                let ops = members.iter().fold(0, |sum: u32, step| sum.saturating_add(step.ops));
                let (dead, instructions) = (SmallVec::new(), SmallVec::new());
                let rows = Box::new(rows);
                let action = Action::Rows { steps: members, rows, operands, outputs };
                steps.push(Step { action, dead, ops, instructions, origin, call });
            }
            _ => steps.append(&mut members),
        }
        steps.extend(rest);
        steps.extend(after.into_iter().map(|(_, step)| step));
    }

    /// The row loop of steps, its operands and its results.
    fn row_loop(
        &self,
        graph: &Graph<'_>,
        uses: &FxHashMap<Value, usize>,
        steps: &[Step],
    ) -> Option<(RowLoop, Vec<Value>, SmallVec<[Value; 1]>)> {
        let mut own_uses: FxHashMap<Value, usize> = FxHashMap::default();
        for step in steps {
            for_each_use(&step.action, &mut |value| *own_uses.entry(value).or_default() += 1);
        }
        let mut rows = RowLoop {
            rows: self.rows,
            row: self.row,
            parts: vec![],
            values: vec![],
            outputs: vec![],
        };
        let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
        let (mut operands, mut outputs) = (Vec::new(), SmallVec::new());
        for step in steps {
            let mut part = RowPart { operands: SmallVec::new(), results: SmallVec::new() };
            let elements = self.elements(&step.action)?;
            for_each_use(&step.action, &mut |value| {
                part.operands.push(match numbers.get(&value) {
                    Some(&number) => RowSource::Value(number),
                    None => RowSource::Operand(position(&mut operands, value)),
                });
            });
            let mut results: SmallVec<[Value; 2]> = SmallVec::new();
            for_each_result(&step.action, &mut |value| results.push(value));
            for value in results {
                let dtype = graph.dtype(value)?;
                let is_inner = uses.get(&value) == own_uses.get(&value);
                let output = (!is_inner).then_some(outputs.len());
                if !is_inner {
                    outputs.push(value);
                    rows.outputs.push(LoopOutput { dtype, shape: graph.shape(value)? });
                }
                numbers.insert(value, rows.values.len());
                part.results.push(rows.values.len());
                rows.values.push(RowValue { row_bytes: elements * dtype.bytes(), output });
            }
            rows.parts.push(part);
        }
        Some((rows, operands, outputs))
    }
}

/// The position of a value among others, which it is added to if it is not there.
fn position(values: &mut Vec<Value>, value: Value) -> usize {
    values.iter().position(|&known| known == value).unwrap_or_else(|| {
        values.push(value);
        values.len() - 1
    })
}

/// True for a loop or movement whose results are small.
fn is_small_step(graph: &Graph<'_>, action: &Action) -> bool {
    let mut is_small_step = matches!(action, Action::Loop { .. } | Action::Move { .. });
    for_each_result(action, &mut |value| is_small_step &= is_small(&graph.types[value as usize]));
    is_small_step
}
