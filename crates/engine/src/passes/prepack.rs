//! Numbers the operands that are worth prepacking, such as weights: second operands of kernels that
//! are arguments or constants, also if loops carry them without change.

use crate::graph::{Graph, Value};
use crate::plan::{Plan, Step, StepOp, Storage, TransferMode};
use rustc_hash::FxHashSet;

pub(crate) fn run(_: &Graph<'_>, plan: &mut Plan) {
    let fixed = plan.arguments.iter().copied().collect();
    let mut numbering = PrepackNumbering { fixed, storage: &plan.storage, count: 0 };
    numbering.steps(&mut plan.body.steps);
    plan.prepacked = numbering.count as usize;
}

struct PrepackNumbering<'a> {
    /// Arguments, and values that are equal to one.
    fixed: FxHashSet<Value>,
    storage: &'a [Storage],
    count: u32,
}

impl PrepackNumbering<'_> {
    fn is_fixed(&self, value: Value) -> bool {
        match self.storage[value as usize] {
            Storage::Constant(_) => true,
            Storage::Slot(_) => self.fixed.contains(&value),
            Storage::Arena { .. } | Storage::Unstored => false,
        }
    }

    fn steps(&mut self, steps: &mut [Step]) {
        for step in steps {
            match &mut step.op {
                StepOp::Apply { kernel, operands, prepacked, .. } => {
                    let is_fixed = operands.get(1).is_some_and(|&value| self.is_fixed(value));
                    if is_fixed && kernel.is_packable() {
                        *prepacked = Some(self.count);
                        self.count += 1;
                    }
                }
                StepOp::Rows { steps, .. } => self.steps(steps),
                StepOp::While { initial, cond, body, .. } => {
                    let results = body.results.iter();
                    let unchanged =
                        results.filter(|t| t.mode == TransferMode::Stay && t.from == t.to);
                    let unchanged: FxHashSet<Value> = unchanged.map(|t| t.to).collect();
                    let carried = initial.iter().filter(|t| unchanged.contains(&t.to));
                    let fixed = carried.filter(|t| self.is_fixed(t.from)).map(|t| t.to);
                    let fixed: Vec<Value> = fixed.collect();
                    self.fixed.extend(fixed);
                    self.steps(&mut cond.steps);
                    self.steps(&mut body.steps);
                }
                StepOp::Branch { branches, .. } => {
                    branches.iter_mut().for_each(|branch| self.steps(&mut branch.steps));
                }
                StepOp::Loop { .. }
                | StepOp::Move { .. }
                | StepOp::Kernel { .. }
                | StepOp::Block { .. } => {}
            }
        }
    }
}
