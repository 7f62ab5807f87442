//! Records of the steps of plans, for profiles.

use crate::listing;
use crate::plan::{Plan, Step, StepOp};
use interpreter::{Program, Share, StepKind, StepRecord, result_types};
use kernels::Fused;

/// The record of a step of a plan, without executions.
pub(crate) fn record(plan: &Plan, step: &Step, program: &Program) -> StepRecord {
    let mut parts = Vec::new();
    let mut loop_bytes = 0;
    let call = step.call.and_then(|call| plan.calls.get(call as usize));
    add_parts(plan, step, Share::Own, &mut parts, &mut loop_bytes);
    let kind = kind(step, program);
    let title = listing::title(step, &|origin| program.op_name(origin));
    let last = match (kind, parts.last()) {
        (StepKind::Block, _) | (_, None) => None,
        (_, Some(&(last, _))) => program.code().instructions.get(last as usize),
    };
    StepRecord {
        types: last.map_or_else(String::new, result_types),
        call: call.map(|&(origin, _)| origin.into()),
        parts,
        loop_bytes,
        ..StepRecord::new(title, kind, step.origin)
    }
}

/// Adds the instructions that a step computes. `control` is its share in control flow.
fn add_parts(
    plan: &Plan,
    step: &Step,
    control: Share,
    parts: &mut Vec<(u32, Share)>,
    loop_bytes: &mut u64,
) {
    let share = match &step.op {
        StepOp::Block { steps, .. } => {
            for step in steps {
                add_parts(plan, step, Share::Nested, parts, loop_bytes);
            }
            return;
        }
        StepOp::Rows { steps, operands, outputs, .. } => {
            for &value in operands.iter().chain(outputs) {
                let bytes = plan.types[value as usize].min_bytes() as u64;
                *loop_bytes = loop_bytes.saturating_add(bytes);
            }
            let instructions = steps.iter().flat_map(|step| &step.instructions);
            parts.extend(instructions.map(|&instruction| (instruction, Share::Arithmetic)));
            return;
        }
        StepOp::Loop { fused, .. } => {
            *loop_bytes = loop_bytes.saturating_add(bytes(fused));
            Share::Arithmetic
        }
        StepOp::While { .. } | StepOp::Branch { .. } => control,
        StepOp::Move { .. } | StepOp::Apply { .. } | StepOp::Kernel { .. } => Share::Own,
    };
    parts.extend(step.instructions.iter().map(|&instruction| (instruction, share)));
}

/// The bytes that a loop reads and writes.
fn bytes(fused: &Fused) -> u64 {
    let loads = fused.loads.iter().map(|load| {
        let elements = if load.repeats { 1 } else { fused.elements.min(load.source_elements) };
        elements.saturating_mul(load.dtype.bytes())
    });
    let outputs = fused.outputs.iter().map(|out| fused.elements.saturating_mul(out.dtype.bytes()));
    loads.chain(outputs).fold(0, |sum: u64, bytes| sum.saturating_add(bytes as u64))
}

/// The kind of a step.
fn kind(step: &Step, program: &Program) -> StepKind {
    let instructions = &program.code().instructions;
    let primitive = step.instructions.first().and_then(|&i| instructions.get(i as usize));
    let kind = primitive.map_or(StepKind::Kernel, |i| StepKind::of(&i.primitive));
    match &step.op {
        StepOp::Loop { .. } | StepOp::Rows { .. } => StepKind::Loop,
        StepOp::Block { .. } => StepKind::Block,
        StepOp::While { .. } | StepOp::Branch { .. } => StepKind::Control,
        StepOp::Move { .. } | StepOp::Apply { .. } => kind,
        // Convolutions and calls have no other step.
        StepOp::Kernel { .. } => match kind {
            StepKind::Convolution | StepKind::Control => kind,
            _ => StepKind::Kernel,
        },
    }
}
