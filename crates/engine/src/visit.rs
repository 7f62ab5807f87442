//! Visits the values that steps use and define.

use crate::plan::{Sequence, Step, StepOp, Value};

/// The sequences within an operation.
fn nested(op: &StepOp) -> impl Iterator<Item = &Sequence> {
    let (pair, branches) = match op {
        StepOp::While { cond, body, .. } => ([Some(cond), Some(body)], &[][..]),
        StepOp::Branch { branches, .. } => ([None, None], &branches[..]),
        _ => ([None, None], &[][..]),
    };
    pair.into_iter().flatten().chain(branches)
}

/// Visits the steps of a sequence and of those within, until one is an error.
pub(crate) fn for_each_step<E>(
    sequence: &Sequence,
    visit: &mut impl FnMut(&Step) -> Result<(), E>,
) -> Result<(), E> {
    fn steps<E>(of: &[Step], visit: &mut impl FnMut(&Step) -> Result<(), E>) -> Result<(), E> {
        for step in of {
            visit(step)?;
            if let StepOp::Rows { steps: rows, .. } | StepOp::Block { steps: rows, .. } = &step.op {
                steps(rows, visit)?;
            }
            nested(&step.op).try_for_each(|sequence| for_each_step(sequence, visit))?;
        }
        Ok(())
    }
    steps(&sequence.steps, visit)
}

/// Visits the values that an operation and its nested ones use.
pub(crate) fn for_each_use(op: &StepOp, visit: &mut dyn FnMut(Value)) {
    for_each_own_use(op, visit);
    for sequence in nested(op) {
        sequence.steps.iter().for_each(|step| for_each_use(&step.op, visit));
        sequence.results.iter().for_each(|transfer| visit(transfer.from));
    }
}

/// Visits the values that an operation uses itself.
pub(crate) fn for_each_own_use(op: &StepOp, visit: &mut dyn FnMut(Value)) {
    match op {
        StepOp::Loop { operands, .. } | StepOp::Rows { operands, .. } => {
            operands.iter().for_each(|&value| visit(value));
        }
        StepOp::Move { parts, fill, .. } => {
            for part in parts {
                visit(part.operand);
                let starts = part.read_from.iter().chain(&part.write_to);
                starts.for_each(|start| visit(start.index));
            }
            fill.iter().for_each(|&value| visit(value));
        }
        StepOp::Apply { operands, .. } => operands.iter().for_each(|&value| visit(value)),
        StepOp::Kernel { operands, captures, .. } => {
            operands.iter().for_each(|&(value, _)| visit(value));
            let captured = captures.iter().flat_map(|captures| &captures.values);
            captured.for_each(|&(_, value)| visit(value));
        }
        StepOp::While { initial, condition, .. } => {
            initial.iter().for_each(|transfer| visit(transfer.from));
            visit(*condition);
        }
        StepOp::Branch { index, .. } => visit(*index),
        // Made of steps that have places already.
        StepOp::Block { .. } => {}
    }
}

/// Visits the values that occur in a sequence.
pub(crate) fn for_each_value_of(sequence: &Sequence, visit: &mut dyn FnMut(Value)) {
    for_each_value(&sequence.steps, visit);
    for transfer in &sequence.results {
        visit(transfer.from);
        visit(transfer.to);
    }
}

/// Visits the values that occur in steps.
pub(crate) fn for_each_value(steps: &[Step], visit: &mut dyn FnMut(Value)) {
    for step in steps {
        match &step.op {
            StepOp::Block { steps, .. } => for_each_value(steps, visit),
            op => {
                for_each_own_use(op, visit);
                for_each_result(op, visit);
                nested(op).for_each(|sequence| for_each_value_of(sequence, visit));
            }
        }
    }
}

/// Visits the values that an operation defines for the steps after it.
pub(crate) fn for_each_result(op: &StepOp, visit: &mut dyn FnMut(Value)) {
    match op {
        StepOp::Loop { outputs, .. } | StepOp::Rows { outputs, .. } => {
            outputs.iter().for_each(|&value| visit(value));
        }
        StepOp::Move { output, .. } | StepOp::Apply { output, .. } => visit(*output),
        StepOp::Kernel { results, .. } => results.iter().for_each(|&value| visit(value)),
        StepOp::While { initial, .. } => initial.iter().for_each(|transfer| visit(transfer.to)),
        // All branches have the same targets.
        StepOp::Branch { branches, .. } => {
            let transfers = branches.first().into_iter().flat_map(|branch| &branch.results);
            transfers.for_each(|transfer| visit(transfer.to));
        }
        StepOp::Block { .. } => {}
    }
}
