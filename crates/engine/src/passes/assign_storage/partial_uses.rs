//! Values that loops read or update in parts, such as the inputs and outputs of all their rounds,
//! or multiply, such as weights.
//!
//! If these are not much larger than small values, they are in the arena, too, so that the
//! loop is a block: its rounds take little time, most of which steps would be.

use crate::graph::{Graph, Value};
use crate::passes::assign_storage::{is_small, update};
use crate::plan::{Sequence, Step, StepOp, Transfer};
use crate::visit::{for_each_result, for_each_use, for_each_value_of};
use kernels::Form;
use rustc_hash::FxHashSet;

/// The largest of these values, in bytes: they are copied before and after the loop.
pub(crate) const MAX_BYTES: usize = 1 << 18;
/// The largest of them that is multiplied, for which kernels have better ways.
const MAX_FACTOR: usize = 1 << 15;
/// The largest of them that is a constant.
const MAX_CONSTANT: usize = 1 << 14;

/// Adds the values that the loops of a sequence use in parts.
pub(crate) fn find(graph: &Graph<'_>, sequence: &Sequence, found: &mut FxHashSet<Value>) {
    for step in &sequence.steps {
        match &step.op {
            StepOp::While { initial, cond, body, .. } => {
                match of_loop(graph, initial, [cond, body]) {
                    Some(values) => found.extend(values),
                    None => [cond, body].into_iter().for_each(|inner| find(graph, inner, found)),
                }
            }
            StepOp::Branch { branches, .. } => {
                branches.iter().for_each(|branch| find(graph, branch, found));
            }
            _ => {}
        }
    }
}

/// The values that are not small of a loop that could be a block; `None` if it uses some of them as
/// a whole.
fn of_loop(
    graph: &Graph<'_>,
    initial: &[Transfer],
    inner: [&Sequence; 2],
) -> Option<FxHashSet<Value>> {
    let mut values = FxHashSet::default();
    let mut note = |value: Value| {
        if !is_small(&graph.types[value as usize]) {
            values.insert(value);
        }
    };
    initial.iter().flat_map(|transfer| [transfer.from, transfer.to]).for_each(&mut note);
    inner.iter().for_each(|sequence| for_each_value_of(sequence, &mut note));
    let mut factors = FxHashSet::default();
    inner.iter().for_each(|sequence| find_factors(sequence, &mut factors));
    let fits = |value: &Value| {
        let limit = match () {
            () if graph.constants.contains_key(value) => MAX_CONSTANT,
            () if factors.contains(value) => MAX_FACTOR,
            () => MAX_BYTES,
        };
        graph.bytes(*value).is_some_and(|bytes| bytes <= limit)
    };
    let is_in_parts = |step: &Step| uses_parts(&step.op, &values);
    let all_are = inner.iter().all(|sequence| sequence.steps.iter().all(is_in_parts));
    (values.iter().all(fits) && all_are).then_some(values)
}

/// Adds the operands of the products of a sequence.
fn find_factors(sequence: &Sequence, found: &mut FxHashSet<Value>) {
    for step in &sequence.steps {
        match &step.op {
            StepOp::Apply { kernel, operands, .. } if matches!(kernel.form(), Form::Dot(_)) => {
                found.extend(operands);
            }
            StepOp::While { cond, body, .. } => {
                [cond, body].iter().for_each(|inner| find_factors(inner, found));
            }
            StepOp::Branch { branches, .. } => {
                branches.iter().for_each(|branch| find_factors(branch, found));
            }
            _ => {}
        }
    }
}

/// True if an operation and its nested ones may be in a block, and use some values in parts only.
fn uses_parts(op: &StepOp, values: &FxHashSet<Value>) -> bool {
    let (mut reads, mut writes) = (false, false);
    for_each_use(op, &mut |value| reads |= values.contains(&value));
    for_each_result(op, &mut |value| writes |= values.contains(&value));
    match op {
        StepOp::Move { .. } => !writes || update(op).is_some(),
        StepOp::Apply { kernel, .. } => {
            !writes && (!reads || matches!(kernel.form(), Form::Dot(_)))
        }
        StepOp::Loop { .. } => !reads && !writes,
        StepOp::While { cond, body, .. } => {
            [cond, body].iter().all(|inner| inner.steps.iter().all(|s| uses_parts(&s.op, values)))
        }
        StepOp::Branch { branches, .. } => {
            let mut steps = branches.iter().flat_map(|branch| &branch.steps);
            steps.all(|step| uses_parts(&step.op, values))
        }
        StepOp::Kernel { .. } | StepOp::Rows { .. } | StepOp::Block { .. } => false,
    }
}
