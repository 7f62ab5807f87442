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
use numerics::shape::num_elements;
use rustc_hash::FxHashSet;

/// The largest of these values, in bytes.
const MAX_BYTES: usize = 1 << 15;
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
    let fits = |&value: &Value| {
        let is_constant = graph.constants.contains_key(&value);
        let bytes = graph.shape(value).as_deref().and_then(num_elements);
        let bytes =
            bytes.zip(graph.dtype(value)).and_then(|(n, dtype)| n.checked_mul(dtype.bytes()));
        bytes.is_some_and(|bytes| bytes <= if is_constant { MAX_CONSTANT } else { MAX_BYTES })
    };
    let is_in_parts = |step: &Step| uses_parts(&step.op, &values);
    let all_are = inner.iter().all(|sequence| sequence.steps.iter().all(is_in_parts));
    (values.iter().all(fits) && all_are).then_some(values)
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
