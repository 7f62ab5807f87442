//! Operands that are mostly the same in all runs, such as weights, and worth prepacking.

use crate::graph::Value;
use crate::plan::{Action, Place, Step, Way};
use rustc_hash::FxHashSet;

/// Numbers the second operands of kernels that are arguments or constants, also if loops carry
/// them without change. Returns how many there are.
pub(crate) fn number(steps: &mut [Step], arguments: &[Value], places: &[Place]) -> usize {
    let mut numbering = Numbering { fixed: arguments.iter().copied().collect(), places, count: 0 };
    numbering.steps(steps);
    numbering.count as usize
}

struct Numbering<'a> {
    /// Values that are those of an argument.
    fixed: FxHashSet<Value>,
    places: &'a [Place],
    count: u32,
}

impl Numbering<'_> {
    fn is_fixed(&self, value: Value) -> bool {
        match self.places[value as usize] {
            Place::Constant(_) => true,
            Place::Slot(_) => self.fixed.contains(&value),
            Place::Memory { .. } | Place::Nowhere => false,
        }
    }

    fn steps(&mut self, steps: &mut [Step]) {
        for step in steps {
            match &mut step.action {
                Action::Apply { kernel, operands, prepacked, .. } => {
                    let is_fixed = operands.get(1).is_some_and(|&value| self.is_fixed(value));
                    if is_fixed && kernel.is_packable() {
                        *prepacked = Some(self.count);
                        self.count += 1;
                    }
                }
                Action::Rows { steps, .. } => self.steps(steps),
                Action::While { initial, cond, body, .. } => {
                    let results = body.results.iter();
                    let unchanged = results.filter(|t| t.way == Way::Stay && t.from == t.to);
                    let unchanged: FxHashSet<Value> = unchanged.map(|t| t.to).collect();
                    let carried = initial.iter().filter(|t| unchanged.contains(&t.to));
                    let fixed = carried.filter(|t| self.is_fixed(t.from)).map(|t| t.to);
                    let fixed: Vec<Value> = fixed.collect();
                    self.fixed.extend(fixed);
                    self.steps(&mut cond.steps);
                    self.steps(&mut body.steps);
                }
                Action::Branch { branches, .. } => {
                    branches.iter_mut().for_each(|branch| self.steps(&mut branch.steps));
                }
                Action::Loop { .. }
                | Action::Move { .. }
                | Action::Kernel { .. }
                | Action::Block { .. } => {}
            }
        }
    }
}
