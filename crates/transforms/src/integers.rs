//! Evaluation of integer code outside of a program, with the functions that it calls.

use crate::calls::callee;
use mlir::ods::Trait;
use mlir::{Module, OpRef, Type, Value};
use program::RuntimeValue;
use side_dialects::func::FuncOp;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

/// Known values.
pub(crate) type Known = HashMap<Value, RuntimeValue>;

/// Maximum number of elements of tensors that are evaluated.
const MAX_ELEMENTS: usize = 64;

/// Maximum nesting of calls.
const MAX_DEPTH: usize = 64;

/// Number of ops that are evaluated at most.
const MAX_STEPS: usize = 1 << 20;

/// An evaluator of ops on integers, with a bound on the work.
pub(crate) struct Integers<'m> {
    module: &'m Module,
    steps: Cell<usize>,
}

impl<'m> Integers<'m> {
    /// An evaluator of ops of a module.
    pub(crate) fn new(module: &'m Module) -> Integers<'m> {
        Integers { module, steps: Cell::new(MAX_STEPS) }
    }

    /// Counts a step; `None` if there were too many.
    pub(crate) fn spend(&self) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        Some(())
    }

    /// The results of an op on small tensors of integers, or of a call of a function of such ops.
    /// `None` if an operand is not known, or for other ops.
    pub(crate) fn results(&self, op: OpRef<'_>, known: &Known) -> Option<Vec<RuntimeValue>> {
        self.nested_results(op, known, 0)
    }

    fn nested_results(
        &self,
        op: OpRef<'_>,
        known: &Known,
        depth: usize,
    ) -> Option<Vec<RuntimeValue>> {
        let integers = |ty: &Type| ty.as_tensor().is_some() && ty.element_type().is_integer(None);
        let simple = op.regions().is_empty() && op.num_results() > 0;
        if !simple || !op.operand_types().chain(op.result_types()).all(integers) {
            return None;
        }
        self.spend()?;
        let value = |value: &Value| known.get(value).cloned();
        match callee(op) {
            Some(function) => {
                let arguments = op.operands().iter().map(value).collect::<Option<_>>()?;
                self.call(function, arguments, depth)
            }
            None => folding::results(op, MAX_ELEMENTS, |operand| value(&operand)),
        }
    }

    /// Evaluates a function whose body is one block.
    fn call(
        &self,
        function: FuncOp<'_>,
        arguments: Vec<RuntimeValue>,
        depth: usize,
    ) -> Option<Vec<RuntimeValue>> {
        let block = self.module.entry(function.body()).filter(|_| depth < MAX_DEPTH)?;
        let mut known: Known =
            self.module.arguments(block).iter().copied().zip(arguments).collect();
        for op in self.module.ops(block) {
            if op.has_trait(&Trait::Terminator) {
                return op.operands().iter().map(|v| known.get(v).cloned()).collect();
            }
            let results = self.nested_results(op, &known, depth + 1).unwrap_or_default();
            known.extend(op.results().zip(results));
        }
        None
    }
}

/// The first element of a tensor of integers.
pub(crate) fn integer(value: &RuntimeValue) -> Option<i64> {
    value.tensor().ok()?.to_i64s().ok()?.first().copied()
}

/// The numbers from 0 to 2^31 - 1 at which a monotone function has a value; `None` if there are
/// none, or the function is not defined where it must be.
pub(crate) fn preimage(function: impl Fn(i64) -> Option<i64>, value: i64) -> Option<Range<i64>> {
    const LIMIT: i64 = 1 << 31;
    let at_zero = function(0)?;
    // A decreasing function becomes increasing.
    let rises = (0..31).find_map(|i| match function(1 << i)?.checked_sub(at_zero)? {
        0 => None,
        difference => Some(difference > 0),
    })?;
    let compare = |at: i64| {
        function(at).map(|found| if rises { found.cmp(&value) } else { value.cmp(&found) })
    };
    // The first number at which the function is at least (above) the value.
    let first = |above: bool| -> Option<i64> {
        let reached =
            |at: i64| Some(if above { compare(at)?.is_gt() } else { compare(at)?.is_ge() });
        if reached(0)? {
            return Some(0);
        }
        let (mut below, mut step) = (0, 1);
        while step < LIMIT && !reached(step)? {
            (below, step) = (step, step * 2);
        }
        let mut reaches = step.min(LIMIT);
        while reaches - below > 1 {
            let middle = below + (reaches - below) / 2;
            if reached(middle)? { reaches = middle } else { below = middle }
        }
        Some(reaches)
    };
    let range = first(false)?..first(true)?;
    (!range.is_empty()).then_some(range)
}
