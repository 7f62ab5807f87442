//! Runs planned functions: frames of values, regions and calls.

use crate::inputs::check_types;
use crate::plan::{Action, Function, Step, UNUSED};
use crate::scheduler::Scheduler;
use crate::session::{Job, Session};
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::ods::Trait;
use mlir::process::World;
use mlir::{BlockId, OpId, RegionId};
use numerics::{Element, Tensor, dispatch_all};

/// At most this many calls are listed under an error.
const LISTED_CALLS: usize = 10;

pub(crate) struct Machine<'s, 'r> {
    pub session: &'s Session<'r>,
    pub scheduler: &'s Scheduler,
    /// The number of the process in its grid.
    pub process: usize,
    frames: Vec<Frame>,
    /// Number of blocks that are running, those of the grids around this process included.
    pub depth: usize,
    /// While a region of scalars runs on vectors: their length.
    lanes: Option<usize>,
}

struct Frame {
    slots: Vec<Option<RuntimeValue>>,
    table: Option<OpId>,
}

impl Frame {
    fn new(slots: usize, table: Option<OpId>) -> Frame {
        Frame { slots: std::iter::repeat_with(|| None).take(slots).collect(), table }
    }
}

impl<'s, 'r> Machine<'s, 'r> {
    pub fn new(
        session: &'s Session<'r>,
        scheduler: &'s Scheduler,
        process: usize,
        depth: usize,
    ) -> Self {
        Machine { session, scheduler, process, frames: Vec::new(), depth, lanes: None }
    }

    /// Does the work of the process.
    pub fn run(mut self, job: Job) -> EvalResult {
        match job {
            Job::Call { function, arguments } => self.call_function(function, arguments),
            Job::Eval { op, operands } => {
                let op = self.session.interpreter.module.op(op);
                let mut around = std::iter::successors(op.parent(), |op| op.parent());
                let function =
                    around.find_map(|op| self.session.interpreter.plan.function(op.id()));
                let frame = function.map(|f| Frame::new(f.slots, f.table));
                self.frames.push(frame.ok_or_else(|| internal("an op outside of functions runs"))?);
                let eval = op
                    .def()
                    .and_then(|def| def.eval)
                    .ok_or_else(|| internal("an op without meaning runs"))?;
                eval(op, operands, &mut self)
            }
        }
    }

    fn call_function(&mut self, op: OpId, args: Vec<RuntimeValue>) -> EvalResult {
        let interpreter = self.session.interpreter;
        let Some(Function { entry: Some(entry), slots, table }) = interpreter.plan.function(op)
        else {
            let op = interpreter.module.op(op);
            let name = op.symbol_name().unwrap_or("");
            let message = format!("@{name} has no body of exactly one block, so it cannot be run");
            return Err(EvalError { diagnostic: Box::new(op.error("call", message)) });
        };
        self.frames.push(Frame::new(*slots, *table));
        let results = self.block(*entry, args);
        self.frames.pop();
        results
    }

    fn frame(&mut self) -> Result<&mut Frame, EvalError> {
        self.frames.last_mut().ok_or_else(|| internal("no function is running"))
    }

    fn store(
        &mut self,
        slots: &[u32],
        values: Vec<RuntimeValue>,
        what: &str,
    ) -> Result<(), EvalError> {
        if slots.len() != values.len() {
            return Err(internal(&format!(
                "{} {what} where {} were expected",
                values.len(),
                slots.len()
            )));
        }
        let frame = self.frame()?;
        for (&slot, value) in slots.iter().zip(values) {
            if slot != UNUSED {
                frame.slots[slot as usize] = Some(value);
            }
        }
        Ok(())
    }

    fn operands(&mut self, step: &Step) -> Result<Vec<RuntimeValue>, EvalError> {
        let frame = self.frame()?;
        let load = |operand: &crate::plan::Operand| {
            let slot = frame.slots.get_mut(operand.slot as usize)?;
            if operand.last { slot.take() } else { slot.clone() }
        };
        step.operands
            .iter()
            .map(load)
            .collect::<Option<_>>()
            .ok_or_else(|| internal("a value is used before it is computed"))
    }

    /// Runs a block and returns the operands of its terminator.
    fn block(&mut self, block: BlockId, args: Vec<RuntimeValue>) -> EvalResult {
        let interpreter = self.session.interpreter;
        let limit = interpreter.options.limits.depth;
        if self.depth >= limit {
            return Err(EvalError::new(
                "depth",
                format!("calls and regions nest deeper than {limit} levels"),
            ));
        }
        let plan = interpreter.plan.block(block);
        if self.lanes.is_none() {
            let module = interpreter.module;
            check_types(
                "argument",
                &args,
                module.arguments(block).iter().map(|&argument| module.ty(argument)),
            )?;
        }
        self.store(&plan.arguments, args, "arguments")?;
        self.depth += 1;
        let results = self.steps(&plan.steps);
        self.depth -= 1;
        results
    }

    fn steps(&mut self, steps: &[Step]) -> EvalResult {
        for (position, step) in steps.iter().enumerate() {
            let top = self.depth == 1 && self.process == 0;
            self.session.tick(top.then_some((position, steps.len())))?;
            let results = match &step.action {
                Action::Return => return self.operands(step),
                Action::Constant(tensor) => vec![RuntimeValue::Tensor(tensor.clone())],
                Action::Eval(eval) => {
                    let mut operands = self.operands(step)?;
                    if let Some(n) = self.lanes {
                        same_length(&mut operands, n)?;
                    }
                    let op = self.session.interpreter.module.op(step.op);
                    self.session.check_memory(op).map_err(|error| self.locate(error, step))?;
                    let results =
                        eval(op, operands, self).map_err(|error| self.locate(error, step))?;
                    if self.lanes.is_none() {
                        check_types("result", &results, op.result_types())
                            .map_err(|e| self.locate(e, step))?;
                    }
                    results
                }
                Action::Missing => {
                    let message = format!(
                        "{} cannot be interpreted",
                        self.session.interpreter.module.op(step.op).name()
                    );
                    return Err(self.locate(EvalError::new("eval", message), step));
                }
            };
            if self.session.traces {
                self.trace(step, &results).map_err(|error| self.locate(error, step))?;
            }
            self.store(&step.results, results, "results")
                .map_err(|error| self.locate(error, step))?;
            if !step.dead.is_empty() {
                let frame = self.frame()?;
                step.dead.iter().for_each(|&slot| frame.slots[slot as usize] = None);
            }
        }
        // Blocks without a terminator have no results.
        Ok(Vec::new())
    }

    /// The error with the place of the op, or the op as one of the calls that led to the error.
    fn locate(&self, mut error: EvalError, step: &Step) -> EvalError {
        let op = self.session.interpreter.module.op(step.op);
        let diagnostic = &mut error.diagnostic;
        if diagnostic.position == mlir::diag::Position::None {
            diagnostic.position = op.position();
        } else if op.def().is_some_and(|d| d.traits.iter().any(|t| matches!(t, Trait::Call(_)))) {
            let calls = diagnostic.notes.len();
            if calls < LISTED_CALLS {
                diagnostic.notes.push(("called from here".into(), op.position()));
            }
        }
        error
    }
}

impl Machine<'_, '_> {
    /// Shows the observer what an op computed.
    fn trace(&self, step: &Step, results: &[RuntimeValue]) -> Result<(), EvalError> {
        let op = self.session.interpreter.module.op(step.op);
        let process = self.scheduler.grid.process(self.process).unwrap_or_default();
        let mut results = results.iter().enumerate();
        results.try_for_each(|(index, value)| {
            self.session.observe(|o| o.value(process, op, index, value))
        })
    }

    /// The function of that name in the symbol table around the code that runs.
    pub fn function(&mut self, symbol: &str) -> Result<OpId, EvalError> {
        let table = self.frame()?.table;
        let found = table.and_then(|table| self.session.interpreter.plan.symbol(table, symbol));
        found.ok_or_else(|| {
            EvalError::new("symbol", format!("there is no function @{symbol} to call"))
        })
    }

    /// What a region of scalars returns for no positions at all.
    fn empty_results(&self, region: RegionId) -> Result<Vec<Tensor>, EvalError> {
        let module = self.session.interpreter.module;
        let terminator = module.entry(region).and_then(|block| module.terminator(block));
        let types = terminator.into_iter().flat_map(|op| op.operand_types());
        types
            .map(|ty| {
                let dtype = crate::storage_dtype(ty)
                    .ok_or_else(|| internal("a region returns no tensor"))?;
                Ok(Tensor::zeros(dtype, [0])?)
            })
            .collect()
    }
}

pub(crate) fn internal(what: &str) -> EvalError {
    EvalError::new(
        "interpreter",
        format!("the module is not valid, or an op broke its contract: {what}"),
    )
}

impl EvalEnv for Machine<'_, '_> {
    fn region(&mut self, region: RegionId, args: Vec<RuntimeValue>) -> EvalResult {
        match self.session.interpreter.module.blocks(region) {
            [block] => self.block(*block, args),
            blocks => {
                let message = format!(
                    "a region with {} blocks cannot be interpreted; it must have one",
                    blocks.len()
                );
                Err(EvalError::new("region", message))
            }
        }
    }

    fn scalar_region(
        &mut self,
        region: RegionId,
        n: usize,
        args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        if self.is_vectorizable(region) {
            self.lanes = Some(n);
            let results = self.region(region, args.into_iter().map(RuntimeValue::from).collect());
            self.lanes = None;
            return results?
                .into_iter()
                .map(|result| {
                    let result = result.into_tensor()?;
                    Ok(if result.rank() == 0 { result.broadcast_scalar([n])? } else { result })
                })
                .collect();
        }
        if n == 0 {
            return self.empty_results(region);
        }
        let mut stacks: Vec<Stack> = Vec::new();
        for position in 0..n {
            let scalars: Result<_, EvalError> =
                args.iter().map(|a| Ok(element(a, position)?.into())).collect();
            for (index, result) in self.region(region, scalars?)?.into_iter().enumerate() {
                let result = result.into_tensor()?;
                if position == 0 {
                    stacks.push(Stack::new(n, &result)?);
                }
                let stack = stacks
                    .get_mut(index)
                    .ok_or_else(|| internal("a region changed its number of results"))?;
                stack.push(&result);
            }
        }
        stacks.into_iter().map(|stack| stack.finish(n)).collect()
    }

    fn is_vectorizable(&mut self, region: RegionId) -> bool {
        self.session.interpreter.plan.is_vectorizable(region)
    }

    fn call(&mut self, symbol: &str, args: Vec<RuntimeValue>) -> EvalResult {
        let function = self.function(symbol)?;
        self.call_function(function, args)
    }

    fn world(&mut self) -> Result<&mut dyn World, EvalError> {
        Ok(self)
    }
}

/// Repeats scalars among more than two operands: ops of one or two take any mixture of scalars and
/// vectors.
fn same_length(operands: &mut [RuntimeValue], n: usize) -> Result<(), EvalError> {
    let is_scalar =
        |value: &RuntimeValue| matches!(value, RuntimeValue::Tensor(t) if t.rank() == 0);
    if operands.len() > 2 && !operands.iter().all(is_scalar) {
        for operand in operands.iter_mut().filter(|operand| is_scalar(operand)) {
            *operand = operand.tensor()?.broadcast_scalar([n])?.into();
        }
    }
    Ok(())
}

/// Element `position` of a vector as a tensor of rank 0; a scalar is the same at each position.
fn element(vector: &Tensor, position: usize) -> Result<Tensor, EvalError> {
    if vector.rank() == 0 {
        return Ok(vector.clone());
    }
    fn at<T: Element>(vector: &Tensor, position: usize) -> Result<Tensor, EvalError> {
        let elements = vector.as_slice::<T>()?;
        let value = elements
            .get(position)
            .ok_or_else(|| internal("a vector is shorter than the others"))?;
        Ok(Tensor::scalar(*value))
    }
    dispatch_all!(vector.dtype(), T => at::<T>(vector, position))
}

/// Scalars of one type, gathered into a vector.
struct Stack {
    dtype: numerics::DType,
    bytes: Vec<u8>,
}

impl Stack {
    fn new(n: usize, first: &Tensor) -> Result<Stack, EvalError> {
        let size = n.saturating_mul(first.dtype().bytes());
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(size)
            .map_err(|_| numerics::TensorError::OutOfMemory { bytes: size })?;
        Ok(Stack { dtype: first.dtype(), bytes })
    }

    fn push(&mut self, scalar: &Tensor) {
        self.bytes.extend_from_slice(scalar.bytes());
    }

    fn finish(self, n: usize) -> Result<Tensor, EvalError> {
        Ok(Tensor::from_bytes(self.dtype, [n], self.bytes.into())?)
    }
}
