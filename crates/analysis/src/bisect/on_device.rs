//! The first op at which a run parts from one on a device, which shows nothing but results.
//!
//! The device is asked for the values of a block at a time: of the entry function, then, where an
//! op with regions or a call is found, of the blocks that it runs, each on the values that the left
//! run had. So ops in loops are compared on the same operands.

use super::cut::Cut;
use super::{OpRun, Parting, Search, ValueRecorder, Wrong, number};
use crate::compare::Tolerance;
use hlo::ops::{CaseOp, CompositeOp, IfOp, WhileOp};
use mlir::{BlockId, Module, OpId, OpRef, Value};
use numerics::{DType, Tensor};
use program::RuntimeValue;
use side_dialects::func::CallOp;
use std::collections::HashMap;

/// Runs programs, and returns nothing but their results.
pub trait Executor {
    /// A compiled program.
    type Program;
    /// The reason for which a program does not run.
    type Error;

    /// Compiles a function of a module.
    ///
    /// # Errors
    /// If it cannot run there.
    fn compile(&mut self, module: &Module, entry: &str) -> Result<Self::Program, Self::Error>;

    /// Runs a program.
    ///
    /// # Errors
    /// If it fails.
    fn run(
        &mut self,
        program: &Self::Program,
        inputs: &[RuntimeValue],
    ) -> Result<Vec<RuntimeValue>, Self::Error>;
}

/// Finds the first op at which a run and one of the same program on a device part, given the inputs
/// and the results that differ.
///
/// # Errors
/// If a part of the program does not run on the device.
pub fn bisect_on<E: Executor>(
    left: ValueRecorder,
    device: &mut E,
    entry: OpId,
    inputs: &[RuntimeValue],
    wrong: &[Wrong],
    tolerance: &dyn Fn(DType) -> Tolerance,
) -> Result<Option<Parting>, E::Error> {
    let module = left.module;
    let mut runs = left.stack;
    number(&mut runs);
    let mut search = Search::new(&module, &module, tolerance);
    search.is_strict = true;
    let mut blocks = BlockPrograms { module: &module, device, programs: HashMap::new() };
    let region = module.op(entry).regions().first();
    let Some(block) = region.and_then(|&region| module.entry(region)) else { return Ok(None) };
    let Some(terminator) = module.terminator(block) else { return Ok(None) };
    search.note_arguments(&module, block, inputs);
    let operands: Vec<Value> =
        wrong.iter().filter_map(|(index, ..)| terminator.operands().get(*index).copied()).collect();
    blocks.learn(&mut search, block, &runs)?;
    let mut found = search.first_in_block(&runs, block, operands.clone());
    if found.is_none() {
        // With all values as results, the device computes others: it is asked for one op at a time.
        found = blocks.first_alone(&mut search, block, &runs, &operands)?;
    }
    let Some(mut found) = found else {
        return Ok(wrong.first().and_then(|wrong| search.returned(terminator, wrong)));
    };
    let mut around = Vec::new();
    while let Some(inner) = blocks.within(&mut search, found)? {
        around.push(found);
        found = inner;
    }
    Ok(search.parting(found, around))
}

/// The blocks of the program, as programs for the device.
struct BlockPrograms<'a, E: Executor> {
    module: &'a Module,
    device: &'a mut E,
    /// `None` for blocks that are no programs.
    programs: HashMap<BlockId, Option<DeviceBlock<E::Program>>>,
}

/// A block, ready to run.
struct DeviceBlock<P> {
    inputs: Vec<Value>,
    results: Vec<Value>,
    program: P,
}

impl<E: Executor> BlockPrograms<'_, E> {
    /// Asks the device for the values of the runs of a block. Returns false if it cannot be asked.
    fn learn(
        &mut self,
        search: &mut Search<'_>,
        block: BlockId,
        runs: &[OpRun],
    ) -> Result<bool, E::Error> {
        if !self.programs.contains_key(&block) {
            let cut = Cut::of(self.module, block, None, &|_| true);
            let program = match cut {
                Some(cut) => {
                    let program = self.device.compile(&cut.module, &cut.entry)?;
                    Some(DeviceBlock { inputs: cut.inputs, results: cut.results, program })
                }
                None => None,
            };
            self.programs.insert(block, program);
        }
        let Some(Some(compiled)) = self.programs.get(&block) else { return Ok(false) };
        let Some(inputs) = search.inputs(&compiled.inputs) else { return Ok(false) };
        let values = self.device.run(&compiled.program, &inputs)?;
        search.learn_values(self.module, runs, &compiled.results, &values);
        Ok(true)
    }

    /// The first run of a block, of those that `wrong` depends on, whose values differ if the
    /// device computes nothing after it.
    fn first_alone<'r>(
        &mut self,
        search: &mut Search<'_>,
        block: BlockId,
        runs: &'r [OpRun],
        wrong: &[Value],
    ) -> Result<Option<&'r OpRun>, E::Error> {
        let needed = needed(self.module, block, wrong);
        for (index, run) in runs.iter().enumerate() {
            if !needed.contains(&run.op) || self.module.op(run.op).operands().is_empty() {
                continue;
            }
            let cut = Cut::of(self.module, block, Some(run.op), &|op| op == run.op);
            let Some(cut) = cut else { continue };
            let Some(inputs) = search.inputs(&cut.inputs) else { continue };
            let program = self.device.compile(&cut.module, &cut.entry)?;
            let values = self.device.run(&program, &inputs)?;
            search.learn_values(self.module, &runs[index..=index], &cut.results, &values);
            if (0..run.results.len()).any(|result| !search.agrees(run, result)) {
                runs[..index].iter().for_each(|run| search.keep(run));
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The first run that parts within a run of an op whose results part.
    fn within<'r>(
        &mut self,
        search: &mut Search<'_>,
        run: &'r OpRun,
    ) -> Result<Option<&'r OpRun>, E::Error> {
        let op = self.module.op(run.op);
        let is_loop = op.is(WhileOp::DEF);
        if !is_loop && !op.is_any(&[CaseOp::DEF, IfOp::DEF, CallOp::DEF, CompositeOp::DEF]) {
            return Ok(None);
        }
        // The values that the blocks of the op get.
        let mut arguments = op.operands().to_vec();
        let mut start = 0;
        while let Some(first) = run.inner.get(start) {
            let Some(block) = self.module.op(first.op).block() else { return Ok(None) };
            let runs = &run.inner[start..super::end_of_block(self.module, &run.inner, start)];
            start += runs.len();
            let own = self.module.arguments(block);
            let values = search.inputs(&arguments[..own.len().min(arguments.len())]);
            let Some(values) = values else { return Ok(None) };
            search.note_arguments(self.module, block, &values);
            if !self.learn(search, block, runs)? {
                return Ok(None);
            }
            let Some(terminator) = self.module.terminator(block) else { return Ok(None) };
            let wrong = search.wrong(runs, terminator);
            if !wrong.is_empty() {
                return Ok(search.first_in_block(runs, block, wrong));
            }
            runs.iter().for_each(|run| search.keep(run));
            if is_loop && terminator.operands().len() == arguments.len() && is_body(op, block) {
                arguments = terminator.operands().to_vec();
            }
        }
        Ok(None)
    }
}

/// True if a block is that of the second region of a loop.
fn is_body(op: OpRef<'_>, block: BlockId) -> bool {
    op.module().block_parent(block) == op.regions().get(1).copied()
}

/// The ops of a block that values depend on.
fn needed(module: &Module, block: BlockId, values: &[Value]) -> std::collections::HashSet<OpId> {
    let mut found = std::collections::HashSet::new();
    let mut rest = values.to_vec();
    while let Some(value) = rest.pop() {
        let Some(op) = module.defining_op(value).filter(|op| op.block() == Some(block)) else {
            continue;
        };
        if found.insert(op.id()) {
            let nested = module.walk(op.id());
            rest.extend(nested.flat_map(|op| op.operands().iter().copied()));
        }
    }
    found
}

impl Search<'_> {
    /// Notes the values of the arguments of a block.
    fn note_arguments(&mut self, module: &Module, block: BlockId, values: &[RuntimeValue]) {
        for (&argument, value) in module.arguments(block).iter().zip(values) {
            if let RuntimeValue::Tensor(tensor) = value {
                self.values.insert(argument, tensor.clone());
            }
        }
    }

    /// The values on the left of `values`; `None` if one is not known.
    fn inputs(&self, values: &[Value]) -> Option<Vec<RuntimeValue>> {
        let input = |value: &Value| match self.values.get(value) {
            Some(tensor) => Some(RuntimeValue::Tensor(tensor.clone())),
            None => interpreter::value_fits(&RuntimeValue::Token, self.module.ty(*value))
                .then_some(RuntimeValue::Token),
        };
        values.iter().map(input).collect()
    }

    /// Takes note of the values on the right of runs of a block.
    fn learn_values(
        &mut self,
        module: &Module,
        runs: &[OpRun],
        results: &[Value],
        values: &[RuntimeValue],
    ) {
        let found: HashMap<Value, &Tensor> = results
            .iter()
            .zip(values)
            .filter_map(|(&result, value)| Some((result, value.tensor().ok()?)))
            .collect();
        for run in runs {
            let own = module.op(run.op).results().zip(&run.results);
            // Values that the device does not return are taken to agree.
            let own = own.map(|(result, left)| {
                found.get(&result).map(|&tensor| tensor.clone()).or_else(|| left.clone())
            });
            self.right.insert((run.op, run.iteration), own.collect());
        }
    }
}
