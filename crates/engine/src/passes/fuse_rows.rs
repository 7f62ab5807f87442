//! Fuses rows: which loops, reductions, products and convolutions of rows run together, as
//! row loops, some rows at a time.

use crate::graph::{Graph, Value};
use crate::passes::assign_storage::is_small;
use crate::plan::{Plan, Sequence, Step, StepOp, Transfer};
use crate::visit::{for_each_result, for_each_use};
use codegen::MAX_STEP;
use kernels::row_loops::{RowLoop, RowPart, RowSource, RowValue};
use kernels::{LoopOutput, RowWise};
use numerics::simd::TILE_ROWS;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// With fewer rows, there is little to divide.
const MIN_ROWS: usize = 4;
/// Work on fewer rows, in units of what is worth sharing with a thread, is done before its parts
/// could be divided.
const MIN_SHARES: usize = 8;
/// The maximum number of steps of a row loop.
const MAX_STEPS: usize = 32;
/// The minimum number of rows that are multiplied at a time.
const MIN_PRODUCT_ROWS: usize = 8 * TILE_ROWS;

/// Number of elements of the longest rows: values of longer ones are in no near cache while several
/// kernels work on one.
fn max_row() -> usize {
    host::machine().l2.bytes / 64
}

/// Steps that may become a row loop, of `rows` rows.
struct Group {
    rows: usize,
    /// The elements in a row of what it was made for.
    row: usize,
    members: Vec<Step>,
    /// Small steps that need no member before them, and the number of these.
    others: Vec<(usize, Step)>,
    /// The values of members, with the number of their elements in a row.
    values: FxHashMap<Value, usize>,
}

pub(crate) fn run(graph: &Graph<'_>, plan: &mut Plan) {
    sequence(graph, &mut plan.body);
}

fn sequence(graph: &Graph<'_>, sequence: &mut Sequence) {
    for step in &mut sequence.steps {
        match &mut step.op {
            StepOp::While { cond, body, .. } => {
                [cond, body].into_iter().for_each(|inner| self::sequence(graph, inner));
            }
            StepOp::Branch { branches, .. } => {
                branches.iter_mut().for_each(|inner| self::sequence(graph, inner));
            }
            StepOp::Loop { .. }
            | StepOp::Rows { .. }
            | StepOp::Move { .. }
            | StepOp::Apply { .. }
            | StepOp::Kernel { .. }
            | StepOp::Block { .. } => {}
        }
    }
    let steps = std::mem::take(&mut sequence.steps);
    sequence.steps = merge(graph, steps, &sequence.results);
}

/// The steps, some of them merged to row loops. `results` are used after them.
fn merge(graph: &Graph<'_>, steps: Vec<Step>, results: &[Transfer]) -> Vec<Step> {
    let mut uses: FxHashMap<Value, usize> = FxHashMap::default();
    let mut count = |value| *uses.entry(value).or_default() += 1;
    steps.iter().for_each(|step| for_each_use(&step.op, &mut count));
    results.iter().for_each(|result| count(result.from));
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
        match seed(graph, &step.op) {
            Some(shape) => group = Some(Group::around(graph, shape, step, &mut merged)),
            None => merged.push(step),
        }
    }
    if let Some(group) = group {
        group.finish(graph, &uses, &mut merged);
    }
    merged
}

/// The number of rows, and the elements of each, of a reduction or product to make a group for.
fn seed(graph: &Graph<'_>, op: &StepOp) -> Option<[usize; 2]> {
    let StepOp::Apply { operands, .. } = op else { return None };
    let kernel = op.row_wise()?;
    let rows = kernel.rows()?;
    let row = kernel.row_inputs(rows).or_else(|| kernel.row_results(rows))?;
    // The operand that is read by rows: the matrix of a product with a vector is the second one.
    let is_read = |number: &usize| kernel.reads_rows(rows, *number, row);
    let number = (0..operands.len()).find(is_read).unwrap_or(0);
    if is_small(&graph.types[*operands.get(number)? as usize]) {
        return None;
    }
    (rows >= MIN_ROWS && (2..=max_row()).contains(&row)).then_some([rows, row])
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
        let may_join =
            |step: &Step| group.elements(&step.op).is_some() || is_small_step(graph, &step.op);
        let joining = before.iter().rev().take(2 * MAX_STEPS).take_while(|step| may_join(step));
        let first = before.len() - joining.count();
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

    /// The elements in a row of the values of a step, if it computes these rows.
    fn elements(&self, op: &StepOp) -> Option<usize> {
        let elements = op.row_wise()?.row_results(self.rows)?;
        (1..=max_row()).contains(&elements).then_some(elements)
    }

    /// True if a step computes rows of the group's shape, or of its values.
    fn is_related(&self, op: &StepOp, elements: usize) -> bool {
        let mut is_related = elements == 1 || elements == self.row;
        let inputs = op.row_wise().and_then(|kernel| kernel.row_inputs(self.rows));
        is_related |= inputs == Some(self.row);
        for_each_use(op, &mut |value| is_related |= self.values.contains_key(&value));
        is_related
    }

    /// Adds a step, also a small one that can run before the group; otherwise gives it back.
    fn add(&mut self, graph: &Graph<'_>, step: Step) -> Option<Step> {
        if let Some(elements) = self.elements(&step.op)
            && self.members.len() < MAX_STEPS
            && self.is_local(&step.op)
            && self.is_related(&step.op, elements)
        {
            for_each_result(&step.op, &mut |value| {
                self.values.insert(value, elements);
            });
            self.members.push(step);
            return None;
        }
        let mut is_independent = self.others.len() < MAX_STEPS && is_small_step(graph, &step.op);
        for_each_use(&step.op, &mut |value| {
            is_independent &= !self.values.contains_key(&value);
        });
        if !is_independent {
            return Some(step);
        }
        self.others.push((self.members.len(), step));
        None
    }

    /// True if a step reads only the same rows of the values of the group as it computes.
    fn is_local(&self, op: &StepOp) -> bool {
        let operands: &[Value] = match op {
            StepOp::Loop { operands, .. } => operands,
            StepOp::Apply { operands, .. } => operands,
            _ => return false,
        };
        let Some(kernel) = op.row_wise() else { return false };
        operands.iter().enumerate().all(|(number, operand)| {
            let elements = self.values.get(operand);
            elements.is_none_or(|&elements| kernel.reads_rows(self.rows, number, elements))
        })
    }

    /// Appends the steps: as a row loop, if that is worth it.
    fn finish(mut self, graph: &Graph<'_>, uses: &FxHashMap<Value, usize>, steps: &mut Vec<Step>) {
        // Loops over an element for each row have no rows to share with what is around the group.
        let is_of_rows = |step: &Step| match &step.op {
            StepOp::Loop { fused, .. } => fused.elements != self.rows,
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
        let kernels = members.iter().filter_map(|step| step.op.row_wise());
        let work = kernels.map(RowWise::work).fold(0, usize::saturating_add);
        let is_worth_it = of_rows > 1 && work >= MIN_SHARES * host::machine().min_shared_work();
        let made = if is_worth_it { self.row_loop(graph, uses, &members) } else { None };
        match (made, members.last()) {
            (Some((rows, operands, outputs)), Some(&Step { origin, call, .. })) => {
                let counts = members.iter().map(|step| step.op_count);
                let op_count = counts.fold(0, u32::saturating_add);
                let (dead, instructions) = (SmallVec::new(), SmallVec::new());
                let rows = Box::new(rows);
                let op = StepOp::Rows { steps: members, rows, operands, outputs };
                steps.push(Step { op, dead, op_count, instructions, origin, call });
            }
            _ => steps.append(&mut members),
        }
        steps.extend(rest);
        steps.extend(after.into_iter().map(|(_, step)| step));
    }

    /// The unit and the minimum of rows that are computed at a time. A multiple of the unit leaves
    /// no part of an iteration of machine code to loops over long rows, and few parts of tiles to
    /// products; with fewer rows than the minimum, products wait for their operands.
    fn unit(&self, steps: &[Step]) -> (usize, usize) {
        let (mut unit, mut tiles) = (1, 1);
        for step in steps {
            if let StepOp::Loop { fused, .. } = &step.op
                && fused.elements / self.rows >= MAX_STEP
            {
                let row = (fused.elements / self.rows).trailing_zeros().min(MAX_STEP.ilog2());
                unit = unit.max(MAX_STEP >> row);
            }
            tiles = tiles.max(step.op.row_wise().map_or(1, RowWise::tile_rows));
        }
        let unit = tiles.next_multiple_of(unit);
        (unit, if tiles > 1 { MIN_PRODUCT_ROWS.max(unit) } else { unit })
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
            for_each_use(&step.op, &mut |value| *own_uses.entry(value).or_default() += 1);
        }
        let (unit, least) = self.unit(steps);
        let mut rows = RowLoop {
            rows: self.rows,
            unit,
            least,
            parts: vec![],
            values: vec![],
            outputs: vec![],
            places: vec![],
        };
        let mut numbers: FxHashMap<Value, usize> = FxHashMap::default();
        let (mut operands, mut outputs) = (Vec::new(), SmallVec::new());
        let mut inner = Vec::new();
        for step in steps {
            let mut part = RowPart { operands: SmallVec::new(), results: SmallVec::new() };
            let elements = self.elements(&step.op)?;
            for_each_use(&step.op, &mut |value| {
                part.operands.push(match numbers.get(&value) {
                    Some(&number) => RowSource::Value(number),
                    None => RowSource::Operand(position(&mut operands, value)),
                });
            });
            let mut results: SmallVec<[Value; 2]> = SmallVec::new();
            for_each_result(&step.op, &mut |value| results.push(value));
            for value in results {
                let dtype = graph.dtype(value)?;
                let row_bytes = elements * dtype.bytes();
                if uses.get(&value) == own_uses.get(&value) {
                    inner.push(rows.values.len());
                } else {
                    outputs.push(value);
                    rows.outputs.push(LoopOutput { dtype, shape: graph.shape(value)? });
                    rows.places.push(row_bytes);
                }
                numbers.insert(value, rows.values.len());
                part.results.push(rows.values.len());
                // Values within the loop have separate places later.
                rows.values.push(RowValue { row_bytes, place: outputs.len().saturating_sub(1) });
            }
            rows.parts.push(part);
        }
        place_values(&mut rows, &inner);
        Some((rows, operands, outputs))
    }
}

/// Adds places for these values, each in use from the part that computes it to the last one that
/// reads it.
fn place_values(rows: &mut RowLoop, values: &[usize]) {
    let mut ends = vec![None; rows.values.len()];
    for (number, part) in rows.parts.iter().enumerate() {
        let read = part.operands.iter().filter_map(|operand| match operand {
            RowSource::Value(value) => Some(*value),
            RowSource::Operand(_) => None,
        });
        read.chain(part.results.iter().copied()).for_each(|value| ends[value] = Some(number));
    }
    let mut free: Vec<usize> = Vec::new();
    for (number, part) in rows.parts.iter().enumerate() {
        for value in part.results.iter().copied().filter(|value| values.contains(value)) {
            let row_bytes = rows.values[value].row_bytes;
            let place = free.pop().unwrap_or(rows.places.len());
            rows.places.resize(rows.places.len().max(place + 1), 0);
            rows.places[place] = rows.places[place].max(row_bytes);
            rows.values[value].place = place;
        }
        let ended = values.iter().filter(|&&value| ends[value] == Some(number));
        free.extend(ended.map(|&value| rows.values[value].place));
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
fn is_small_step(graph: &Graph<'_>, op: &StepOp) -> bool {
    let mut is_small_step = matches!(op, StepOp::Loop { .. } | StepOp::Move { .. });
    for_each_result(op, &mut |value| is_small_step &= is_small(&graph.types[value as usize]));
    is_small_step
}
