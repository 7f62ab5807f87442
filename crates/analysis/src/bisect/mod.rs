//! The first op at which the values of two runs part.
//!
//! Both runs are recorded. A value of the left run agrees with the right one if the corresponding
//! op has computed it there, within a tolerance. From a wrong result, the search goes backwards
//! through values that do not agree; the first of their ops has got operands that do. If that op
//! runs others, such as a loop or a call, the search goes on within it.
//!
//! Passes leave ops without a corresponding one, or with one that does something else. A first
//! search therefore takes any value that the right run has, bit by bit, for one that agrees. It may
//! miss the op, as equal values are not always the same; what it finds is then an op that does not
//! differ, and a second search goes by corresponding ops alone, where there are any.

mod cut;
mod on_device;

pub use on_device::{Executor, bisect_on};

use crate::compare::{Comparison, Tolerance, compare};
use crate::diff::{Corresponding, Detail, Side};
use interpreter::Observer;
use mlir::text::ValueNames;
use mlir::{BlockId, Module, OpId, OpRef, Value};
use numerics::{DType, Tensor};
use program::{ProcessId, RuntimeValue};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde_json::json;
use side_dialects::func::FuncOp;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The largest number of values of a run that are recorded.
const MAX_VALUES: usize = 1 << 22;

/// The values of a run of the first process: one run of an op each, with the runs of ops that it
/// runs itself.
pub struct ValueRecorder {
    module: Arc<Module>,
    /// The functions by name.
    functions: HashMap<String, OpId>,
    /// Runs of ops that are complete, but for what is around them.
    stack: Vec<OpRun>,
    count: usize,
}

/// A run of an op.
struct OpRun {
    op: OpId,
    /// How often the op had run before.
    iteration: usize,
    /// Its results; `None` for tokens and the like.
    results: Vec<Option<Tensor>>,
    /// The runs of ops in its regions and callees, in order.
    inner: Vec<OpRun>,
}

impl ValueRecorder {
    /// A recorder of a run of a program made from `module`.
    pub fn new(module: Arc<Module>) -> ValueRecorder {
        let functions = module.walk(module.top().id()).filter_map(FuncOp::cast);
        let functions = functions.filter_map(|f| Some((f.symbol_name()?.to_string(), f.id())));
        ValueRecorder { functions: functions.collect(), module, stack: Vec::new(), count: 0 }
    }

    /// Takes the runs of ops within `op` from the end of those that have no place yet.
    fn inner(&mut self, op: OpRef<'_>) -> Vec<OpRun> {
        let symbols = op.properties().iter().flatten().filter_map(|value| value.as_flat_symbol());
        let callees = symbols.filter_map(|name| self.functions.get(&**name).copied());
        let around: Vec<OpId> = std::iter::once(op.id()).chain(callees).collect();
        if around.len() == 1 && op.regions().is_empty() {
            return Vec::new();
        }
        let is_within = |run: &OpRun| {
            let parents = std::iter::successors(self.module.op(run.op).parent(), |op| op.parent());
            parents.map(OpRef::id).any(|op| around.contains(&op))
        };
        let count = self.stack.iter().rev().take_while(|run| is_within(run)).count();
        self.stack.split_off(self.stack.len() - count)
    }
}

impl Observer for ValueRecorder {
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
        if process != (ProcessId { replica: 0, partition: 0 }) {
            return Ok(());
        }
        self.count += 1;
        if self.count > MAX_VALUES {
            return Err(format!(
                "the run computes more than {MAX_VALUES} values, too many to keep"
            ));
        }
        let tensor = value.tensor().ok().cloned();
        match self.stack.last_mut() {
            Some(run) if run.op == op.id() && run.results.len() == index && index > 0 => {
                run.results.push(tensor);
            }
            _ => {
                let inner = self.inner(op);
                let results = vec![tensor];
                self.stack.push(OpRun { op: op.id(), iteration: 0, results, inner });
            }
        }
        Ok(())
    }
}

/// The first op at which two runs part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parting {
    /// The op of the left program.
    pub left: Side,
    /// The op of the right program that corresponds to it, if any.
    pub right: Option<Side>,
    /// How these differ.
    pub details: Vec<Detail>,
    /// The ops of the left program that run it, such as loops and calls, outermost first.
    pub around: Vec<Side>,
    /// How often it had run before.
    pub iteration: usize,
    /// Names and values of its operands in the left run.
    pub operands: Vec<(String, Tensor)>,
    /// The result that parts: its index and its value on the left.
    pub result: (usize, Tensor),
    /// Its value on the right, if any.
    pub other: Option<Tensor>,
    /// The distance, if these have the same shape and element type.
    pub comparison: Option<Comparison>,
}

impl Parting {
    /// The parting as a JSON object: `left` and `right` (or null), each with `op`, `function`,
    /// `source`, `scope` and `text`; `details`, `around`, `iteration` and `result`, an index;
    /// `comparison`, null or `differing`, `worst` and `max_ulps`.
    pub fn to_json(&self) -> String {
        let comparison = |comparison: &Comparison| {
            json!({
                "differing": comparison.differing,
                "worst": comparison.worst,
                "max_ulps": comparison.max_ulps,
            })
        };
        let value = json!({
            "left": self.left.to_value(),
            "right": self.right.as_ref().map(Side::to_value),
            "details": self.details.iter().map(Detail::to_value).collect::<Vec<_>>(),
            "around": self.around.iter().map(Side::to_value).collect::<Vec<_>>(),
            "iteration": self.iteration,
            "result": self.result.0,
            "comparison": self.comparison.as_ref().map(comparison),
        });
        value.to_string()
    }
}

/// A result of the entry function that differs: its index, and its values on the left and right.
pub type Wrong = (usize, Tensor, Tensor);

/// Finds the first op at which two runs part, given the inputs and the results that differ; `None`
/// if there are none.
pub fn bisect(
    [left, right]: [ValueRecorder; 2],
    entry: OpId,
    inputs: &[RuntimeValue],
    wrong: &[Wrong],
    tolerance: &dyn Fn(DType) -> Tolerance,
) -> Option<Parting> {
    let modules = [left.module, right.module];
    let [mut left, mut right] = [left.stack, right.stack];
    for runs in [&mut left, &mut right] {
        number(runs);
    }
    let mut search = Search::new(&modules[0], &modules[1], tolerance);
    search.learn(&right);
    let block = modules[0].entry(*modules[0].op(entry).regions().first()?)?;
    let terminator = modules[0].terminator(block)?;
    let operands: Vec<Value> =
        wrong.iter().filter_map(|(index, ..)| terminator.operands().get(*index).copied()).collect();
    let mut found = None;
    for is_strict in [false, true] {
        search.is_strict = is_strict;
        search.values.clear();
        for (&argument, input) in modules[0].arguments(block).iter().zip(inputs) {
            if let RuntimeValue::Tensor(tensor) = input {
                search.values.insert(argument, tensor.clone());
            }
        }
        let first = search.first(&left, block, operands.clone());
        let parting = first.and_then(|(run, around)| search.parting(run, around));
        // Equal ops on equal operands do not differ: the values were not the same ones.
        if parting.as_ref().is_some_and(|p| p.right.is_none() || !p.details.is_empty()) {
            return parting;
        }
        found = parting.or(found);
    }
    // All ops agree: the programs return other values.
    found.or_else(|| search.returned(terminator, wrong.first()?))
}

/// The end of the runs that belong to the same run of a block as the one at `start`: another run of
/// the block starts again at an earlier op.
fn end_of_block(module: &Module, runs: &[OpRun], start: usize) -> usize {
    let same = runs[start..].windows(2).take_while(|pair| {
        let [first, next] = [module.op(pair[0].op), module.op(pair[1].op)];
        next.block() == first.block() && module.is_before_in_block(first.id(), next.id())
    });
    start + 1 + same.count()
}

/// Numbers the runs of each op.
fn number(runs: &mut [OpRun]) {
    let mut seen: FxHashMap<OpId, usize> = FxHashMap::default();
    let mut rest: Vec<&mut [OpRun]> = vec![runs];
    while let Some(runs) = rest.pop() {
        let Some((first, others)) = runs.split_first_mut() else { continue };
        rest.push(others);
        let count = seen.entry(first.op).or_default();
        first.iteration = *count;
        *count += 1;
        rest.push(&mut first.inner);
    }
}

struct Search<'a> {
    module: &'a Module,
    corresponding: Corresponding<'a>,
    /// The results of each run of each op on the right.
    right: FxHashMap<(OpId, usize), Vec<Option<Tensor>>>,
    /// Hashes of all values on the right.
    known: FxHashSet<u64>,
    /// True if values of ops that correspond to one agree only with that one's.
    is_strict: bool,
    tolerance: &'a dyn Fn(DType) -> Tolerance,
    /// The latest value of each value of the program, as far as the search has come.
    values: FxHashMap<Value, Tensor>,
}

fn hash(tensor: &Tensor) -> u64 {
    let mut hasher = FxHasher::default();
    (tensor.dtype(), tensor.shape()).hash(&mut hasher);
    tensor.bytes().hash(&mut hasher);
    hasher.finish()
}

impl<'a> Search<'a> {
    fn new(
        left: &'a Module,
        right: &'a Module,
        tolerance: &'a dyn Fn(DType) -> Tolerance,
    ) -> Search<'a> {
        Search {
            module: left,
            corresponding: Corresponding::of(left, right, &[]),
            right: FxHashMap::default(),
            known: FxHashSet::default(),
            is_strict: false,
            tolerance,
            values: FxHashMap::default(),
        }
    }

    /// Takes note of the values on the right.
    fn learn(&mut self, runs: &[OpRun]) {
        let mut rest: Vec<&OpRun> = runs.iter().collect();
        while let Some(run) = rest.pop() {
            self.known.extend(run.results.iter().flatten().map(hash));
            self.right.insert((run.op, run.iteration), run.results.clone());
            rest.extend(&run.inner);
        }
    }

    /// The value on the right of a result of a run on the left.
    fn other(&self, run: &OpRun, index: usize) -> Option<&Tensor> {
        let other = self.corresponding.right_of(run.op)?;
        self.right.get(&(other, run.iteration))?.get(index)?.as_ref()
    }

    fn agrees(&self, run: &OpRun, index: usize) -> bool {
        let Some(Some(value)) = run.results.get(index) else { return true };
        let is_close = |other: &Tensor| {
            compare(other, value, &(self.tolerance)(value.dtype()))
                .is_ok_and(|comparison| comparison.differing == 0)
        };
        match self.other(run, index) {
            Some(other) if is_close(other) => true,
            Some(_) if self.is_strict => false,
            _ => self.known.contains(&hash(value)),
        }
    }

    /// The first run, of those of a block, that `wrong` depends on by values that do not agree, or
    /// one within it; with the runs around it.
    fn first<'r>(
        &mut self,
        runs: &'r [OpRun],
        block: BlockId,
        wrong: Vec<Value>,
    ) -> Option<(&'r OpRun, Vec<&'r OpRun>)> {
        let mut around = Vec::new();
        let mut found = self.first_in_block(runs, block, wrong)?;
        while let Some((inner, block, wrong)) = self.within(found) {
            let Some(first) = self.first_in_block(inner, block, wrong) else { break };
            around.push(found);
            found = first;
        }
        Some((found, around))
    }

    fn first_in_block<'r>(
        &mut self,
        runs: &'r [OpRun],
        block: BlockId,
        mut wrong: Vec<Value>,
    ) -> Option<&'r OpRun> {
        let positions: FxHashMap<OpId, usize> =
            runs.iter().enumerate().map(|(index, run)| (run.op, index)).collect();
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut first: Option<usize> = None;
        while let Some(value) = wrong.pop() {
            let Some(op) = self.module.defining_op(value) else { continue };
            let Some(&position) = positions.get(&op.id()) else { continue };
            let index = op.results().position(|result| result == value).unwrap_or(0);
            if op.block() != Some(block)
                || !seen.insert(value)
                || self.agrees(&runs[position], index)
            {
                continue;
            }
            first = Some(first.map_or(position, |first| first.min(position)));
            let nested = self.module.walk(op.id());
            wrong.extend(nested.flat_map(|op| op.operands().iter().copied()));
        }
        let end = first?;
        for run in &runs[..end] {
            self.keep(run);
        }
        Some(&runs[end])
    }

    /// Notes the results of a run.
    fn keep(&mut self, run: &OpRun) {
        for (value, tensor) in self.module.op(run.op).results().zip(&run.results) {
            if let Some(tensor) = tensor {
                self.values.insert(value, tensor.clone());
            }
        }
    }

    /// The first run of a block within a run whose results do not agree: its runs, the block, and
    /// the operands of its terminator.
    fn within<'r>(&mut self, run: &'r OpRun) -> Option<(&'r [OpRun], BlockId, Vec<Value>)> {
        let mut start = 0;
        while let Some(first) = run.inner.get(start) {
            let block = self.module.op(first.op).block()?;
            let end = end_of_block(self.module, &run.inner, start);
            let runs = &run.inner[start..end];
            let wrong = self.wrong(runs, self.module.terminator(block)?);
            if !wrong.is_empty() {
                return Some((runs, block, wrong));
            }
            runs.iter().for_each(|run| self.keep(run));
            start = end;
        }
        None
    }

    /// The operands of a block's terminator that do not agree, given the runs of its ops.
    fn wrong(&self, runs: &[OpRun], terminator: OpRef<'_>) -> Vec<Value> {
        let positions: FxHashMap<OpId, usize> =
            runs.iter().enumerate().map(|(index, run)| (run.op, index)).collect();
        let is_wrong = |value: &Value| {
            let Some(op) = self.module.defining_op(*value) else { return false };
            let Some(&position) = positions.get(&op.id()) else { return false };
            let index = op.results().position(|result| result == *value).unwrap_or(0);
            !self.agrees(&runs[position], index)
        };
        terminator.operands().iter().copied().filter(is_wrong).collect()
    }

    /// The terminator of the entry function, which returns another value on the right.
    fn returned(&mut self, op: OpRef<'a>, (index, value, other): &Wrong) -> Option<Parting> {
        let (right, details) = self.corresponding.compare(op.id())?;
        Some(Parting {
            left: Side::of(op, &mut ValueNames::of(self.module.top())),
            right: Some(right),
            details,
            around: Vec::new(),
            iteration: 0,
            operands: Vec::new(),
            result: (*index, value.clone()),
            other: Some(other.clone()),
            comparison: compare(other, value, &(self.tolerance)(value.dtype())).ok(),
        })
    }

    fn parting(&mut self, run: &OpRun, around: Vec<&OpRun>) -> Option<Parting> {
        let op = self.module.op(run.op);
        let index = (0..run.results.len()).find(|&index| !self.agrees(run, index))?;
        let value = run.results.get(index)?.clone()?;
        let other = self.other(run, index).cloned();
        let comparison = other
            .as_ref()
            .and_then(|other| compare(other, &value, &(self.tolerance)(value.dtype())).ok());
        let mut names = ValueNames::of(self.module.top());
        let operands = op.operands().iter();
        let operands =
            operands.filter_map(|value| Some((names.get(*value), self.values.get(value)?.clone())));
        let operands = operands.collect();
        let (right, details) = match self.corresponding.compare(run.op) {
            Some((side, details)) => (Some(side), details),
            None => (None, Vec::new()),
        };
        Some(Parting {
            left: Side::of(op, &mut names),
            right,
            details,
            around: around
                .into_iter()
                .map(|run| Side::of(self.module.op(run.op), &mut names))
                .collect(),
            iteration: run.iteration,
            operands,
            result: (index, value),
            other,
            comparison,
        })
    }
}
