//! The values of a run that a view shows statistics of.

use super::statistics;
use interpreter::{Observer, ProcessId};
use mlir::{OpId, OpRef};
use numerics::Tensor;
use program::RuntimeValue;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// The last value of each result of each op in the first process of a run, which it observes.
#[derive(Default)]
pub struct LastValues {
    /// With the number of values before it, and it.
    values: FxHashMap<(OpId, usize), (Tensor, u64)>,
}

impl Observer for LastValues {
    fn traces(&self) -> bool {
        true
    }

    fn value(
        &mut self,
        process: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        if process == (ProcessId { replica: 0, partition: 0 })
            && let RuntimeValue::Tensor(tensor) = value
        {
            self.add(op, index, tensor);
        }
        Ok(())
    }
}

impl LastValues {
    /// Adds the value of the result `index` of an op, which replaces former ones.
    pub fn add(&mut self, op: OpRef<'_>, index: usize, tensor: &Tensor) {
        let (last, count) =
            self.values.entry((op.id(), index)).or_insert_with(|| (tensor.clone(), 0));
        *last = tensor.clone();
        *count += 1;
    }

    /// Statistics of the result `index` of an op, with the number of its `runs`.
    pub(super) fn statistics(&self, op: OpId, index: usize) -> Option<Value> {
        let (last, runs) = self.values.get(&(op, index))?;
        let mut statistics = statistics::of_tensor(last.clone());
        statistics["runs"] = json!(runs);
        Some(statistics)
    }
}
