//! Executes code: frames of slots, blocks, control flow and calls.

use crate::errors::{called_from, internal};
use crate::frame::{Slot, truth};
use crate::inputs::{check_types, mismatch};
use crate::outputs::{OutputBuffers, copy_results};
use crate::profile::{StepRecord, StepRecorder};
use crate::program::Program;
use crate::scheduler::Scheduler;
use crate::session::{ProcessJob, Session};
use mlir::diag::counted;
use numerics::budget::{self, Reserved};
use numerics::{Element, Tensor, TensorRef, dispatch_all};
use program::primitives;
use program::{
    Block, BlockId, Code, Conventions, EvalError, EvalResult, Evaluation, Evaluator, FunctionId,
    Instruction, Operand, Origin, Primitive, ProcessContext, RuntimeValue, UNUSED, ValueType,
};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Duration;

/// Bytes charged for each level of blocks and calls that a process reaches: its part of the stack,
/// which is not returned before the thread ends.
const LEVEL_BYTES: usize = 4 << 10;

/// Values in transfer between slots.
type Slots = SmallVec<[Slot; 4]>;

/// A process of a run: executes code on frames of slots.
pub struct Machine<'s, 'r> {
    pub(crate) session: &'s Session<'r>,
    pub(crate) scheduler: &'s Scheduler,
    /// The number of the process in its grid.
    pub(crate) process: usize,
    /// The frames of the functions that run, the innermost last.
    frames: Vec<Frame>,
    /// Number of blocks that are running, also in the grids around this process.
    pub(crate) depth: usize,
    /// The depth at which the process started.
    first_level: usize,
    /// The charge for each level reached from there on.
    levels: Vec<Reserved>,
    /// While a block of scalars runs on vectors: their length.
    lanes: Option<usize>,
    /// Present if the run is profiled.
    recorder: Option<Box<StepRecorder<'s, 'r>>>,
}

/// The slots of a function that runs.
pub struct Frame {
    slots: Vec<Slot>,
    _reserved: Reserved,
}

impl Frame {
    /// Puts a value into a slot.
    pub fn set(&mut self, slot: u32, value: RuntimeValue) {
        self.slots[slot as usize] = Slot::Value(value);
    }

    /// Empties a slot.
    pub fn clear(&mut self, slot: u32) {
        self.slots[slot as usize] = Slot::Empty;
    }
}

impl<'s, 'r> Machine<'s, 'r> {
    pub(crate) fn new(
        session: &'s Session<'r>,
        scheduler: &'s Scheduler,
        process: usize,
        depth: usize,
    ) -> Self {
        Machine {
            session,
            scheduler,
            process,
            frames: Vec::new(),
            depth,
            first_level: depth,
            levels: Vec::new(),
            lanes: None,
            recorder: StepRecorder::new(session, process, depth == 0).map(Box::new),
        }
    }

    /// Records the start of a step, if the run is profiled. The step has the same `key` each time,
    /// which no other has while the program lives; `record` is called at most once, at the end of
    /// the process.
    #[inline]
    pub fn begin(&mut self, key: usize, record: impl FnOnce(&Program) -> StepRecord + 'r) {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(key, record);
        }
    }

    /// Records the start of an instruction.
    fn begin_instruction(&mut self, index: usize, instruction: &'r Instruction) {
        self.begin(std::ptr::from_ref(instruction).addr(), move |program| {
            StepRecord::of_instruction(program, index, instruction)
        });
    }

    /// Records the start of the function that the process runs.
    fn begin_function(&mut self, function: FunctionId) {
        let function = self.code().function(function);
        self.begin(std::ptr::from_ref(function).addr(), move |_| StepRecord::of_function(function));
    }

    /// Pauses or resumes recording; returns true if it was paused.
    fn pause(&mut self, pauses: bool) -> bool {
        match &mut self.recorder {
            Some(recorder) => std::mem::replace(&mut recorder.is_paused, pauses),
            None => false,
        }
    }

    /// Excludes the time since `start` from that of the current step.
    pub(crate) fn exclude(&mut self, start: Duration) {
        if let Some(recorder) = &mut self.recorder {
            recorder.exclude(start);
        }
    }

    /// Records the end of the step that started last.
    #[inline]
    pub fn end(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.end();
        }
    }

    fn program(&self) -> &'r Program {
        self.session.program
    }

    /// The code that runs.
    pub fn code(&self) -> &'r Code {
        self.session.executable.code.code()
    }

    /// The run that the process belongs to.
    pub fn session(&self) -> &'s Session<'r> {
        self.session
    }

    /// True if the entry function runs in the first process, outside of all control flow: its steps
    /// are the progress of the run.
    pub fn is_at_top(&self) -> bool {
        self.depth == 1 && self.process == 0
    }

    /// Does the work of the process.
    pub(crate) fn run(mut self, job: ProcessJob<'_>) -> EvalResult {
        match job {
            ProcessJob::Call { function, arguments } => {
                self.begin_function(function);
                let results = self.call_with(function, arguments);
                self.end();
                results
            }
            ProcessJob::CallInto { function, inputs, outputs } => {
                self.begin_function(function);
                let done = self.call_into(function, inputs, outputs);
                self.end();
                done.map(|()| Vec::new())
            }
            ProcessJob::Instruction { origin, operands } => {
                let code = self.code();
                let index = code.instructions.iter().position(|i| i.origin == origin);
                let index = index.ok_or_else(|| internal("an op that is no instruction runs"))?;
                let block = code.blocks.iter().find(|b| b.instructions.contains(&(index as u32)));
                let block = block.ok_or_else(|| internal("an op outside of blocks runs"))?;
                let frame = self.new_frame(block.function)?;
                self.push_frame(frame);
                let instruction = &code.instructions[index];
                // Not the key of the instruction, but within it.
                let key = std::ptr::from_ref(instruction).addr() + 1;
                self.begin(key, move |program| StepRecord::of_process(program, instruction));
                let results =
                    kernels::evaluate(&instruction.primitive, origin, operands, &mut self);
                self.end();
                results
            }
        }
    }

    /// An empty frame of a function.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn new_frame(&self, function: FunctionId) -> Result<Frame, EvalError> {
        let slots = self.code().function(function).slots;
        let reserved = budget::reserve::<Slot>(slots)?;
        let slots = std::iter::repeat_with(Slot::default).take(slots).collect();
        Ok(Frame { slots, _reserved: reserved })
    }

    /// Enters a frame, which the blocks of kernels use from then on.
    pub fn push_frame(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Leaves the innermost frame.
    pub fn pop_frame(&mut self) -> Option<Frame> {
        self.frames.pop()
    }

    /// Calls a function with values.
    fn call_with(&mut self, function: FunctionId, args: Vec<RuntimeValue>) -> EvalResult {
        if let Some(compiled) = self.session.executable.compiled_with(function) {
            return compiled.call(self, function, args);
        }
        values(self.call_function(function, args.into_iter().map(Slot::from).collect())?)
    }

    fn call_function(&mut self, function: FunctionId, args: Slots) -> Result<Slots, EvalError> {
        let callee = self.code().function(function);
        let Some(body) = callee.body else {
            let name = &callee.name;
            let message = format!("@{name} has no body of exactly one block, so it cannot be run");
            return Err(EvalError::new("call", message).at(callee.origin));
        };
        if let Some(compiled) = self.session.executable.compiled_with(function) {
            let results = compiled.call(self, function, values(args)?)?;
            return Ok(results.into_iter().map(Slot::from).collect());
        }
        let frame = self.new_frame(function)?;
        self.push_frame(frame);
        let results = self.run_block(body, args);
        self.frames.pop();
        results
    }

    /// Calls a function in memory of the caller.
    fn call_into<'a>(
        &mut self,
        function: FunctionId,
        inputs: &'a [TensorRef<'a>],
        mut outputs: OutputBuffers<'a>,
    ) -> Result<(), EvalError> {
        if let Some(compiled) = self.session.executable.compiled_with(function) {
            return compiled.call_into(self, function, inputs, outputs);
        }
        let argument = |input: &TensorRef<'_>| Ok(RuntimeValue::from(input.to_tensor()?));
        let arguments = inputs.iter().map(argument).collect::<EvalResult>()?;
        let results = self.call_with(function, arguments)?;
        copy_results(&mut outputs, &results)
    }

    /// The slots of the function that runs.
    fn frame(&mut self) -> Result<&mut Vec<Slot>, EvalError> {
        let frame = self.frames.last_mut().ok_or_else(|| internal("no function is running"))?;
        Ok(&mut frame.slots)
    }

    /// Puts values into slots.
    fn store(&mut self, slots: &[u32], values: &mut Slots, what: &str) -> Result<(), EvalError> {
        if slots.len() != values.len() {
            let (found, expected) = (values.len(), slots.len());
            return Err(internal(&format!("{found} {what} where {expected} were expected")));
        }
        let frame = self.frame()?;
        for (&slot, value) in slots.iter().zip(values.drain(..)) {
            if slot != UNUSED {
                frame[slot as usize] = value;
            }
        }
        Ok(())
    }

    /// Takes operands out of their slots, or copies them if they are used again.
    fn load(&mut self, operands: &[Operand]) -> Result<Slots, EvalError> {
        let mut values = Slots::new();
        self.load_into(operands, &mut values)?;
        Ok(values)
    }

    /// As [`Machine::load`], into a buffer, which is cleared first.
    fn load_into(&mut self, operands: &[Operand], values: &mut Slots) -> Result<(), EvalError> {
        values.clear();
        let frame = self.frame()?;
        for operand in operands {
            values.push(match frame.get_mut(operand.slot as usize) {
                Some(slot) if operand.last => std::mem::take(slot),
                Some(slot) => slot.clone(),
                None => Slot::Empty,
            });
        }
        Ok(())
    }

    /// Runs a block and returns its results.
    fn run_block(&mut self, id: BlockId, mut values: Slots) -> Result<Slots, EvalError> {
        let block = self.code().block(id);
        self.enter(block, &mut values)?;
        self.load_into(&block.results, &mut values)?;
        self.clear(&block.dead)?;
        Ok(values)
    }

    /// Moves arguments into their slots and runs the instructions of a block, which leave results
    /// in slots.
    fn enter(&mut self, block: &'r Block, args: &mut Slots) -> Result<(), EvalError> {
        if self.lanes.is_none() {
            check_slots("argument", args, &block.argument_types)?;
        }
        self.store(&block.arguments, args, "arguments")?;
        self.nested(|machine| machine.instructions(block))
    }

    /// Runs a block, one level deeper.
    ///
    /// # Errors
    /// Errors of the block, and nesting that is too deep.
    pub fn nested<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        let limit = self.program().options().limits.depth;
        if self.depth >= limit {
            let message = format!("calls and regions nest deeper than {limit} levels");
            return Err(EvalError::new("depth", message));
        }
        if self.depth - self.first_level == self.levels.len() {
            self.levels.push(budget::reserve::<u8>(LEVEL_BYTES)?);
        }
        self.depth += 1;
        let outcome = run(self);
        self.depth -= 1;
        outcome
    }

    /// Runs a loop from its initial values to its final ones.
    fn run_while(
        &mut self,
        cond: BlockId,
        body: BlockId,
        mut values: Slots,
    ) -> Result<Slots, EvalError> {
        let code = self.code();
        let (cond, body) = (code.block(cond), code.block(body));
        let [condition] = &cond.results[..] else {
            return Err(internal("the condition of a loop does not return one value"));
        };
        let mut arguments = Slots::new();
        loop {
            arguments.extend(values.iter().cloned());
            self.enter(cond, &mut arguments)?;
            let holds = truth(self.frame()?.get(condition.slot as usize).unwrap_or(&Slot::Empty))?;
            self.clear(&cond.dead)?;
            if !holds {
                return Ok(values);
            }
            self.enter(body, &mut values)?;
            self.load_into(&body.results, &mut values)?;
            self.clear(&body.dead)?;
        }
    }

    fn instructions(&mut self, block: &'r Block) -> Result<(), EvalError> {
        let range = block.instructions.clone();
        let instructions = self.code().instructions_of(block);
        let length = instructions.len() + 1;
        let is_entry = self.is_at_top();
        for (position, (index, instruction)) in range.zip(instructions).enumerate() {
            self.session.tick(instruction.ops.into(), is_entry.then_some((position, length)))?;
            self.begin_instruction(index as usize, instruction);
            let done = self.step(index as usize, instruction);
            self.end();
            done.map_err(|e| locate(e, instruction))?;
        }
        self.session.tick(1, is_entry.then_some((length - 1, length)))
    }

    /// Clears the slots of dead values.
    fn clear(&mut self, dead: &[u32]) -> Result<(), EvalError> {
        if !dead.is_empty() {
            let frame = self.frame()?;
            dead.iter().for_each(|&slot| frame[slot as usize] = Slot::Empty);
        }
        Ok(())
    }

    fn step(&mut self, index: usize, instruction: &'r Instruction) -> Result<(), EvalError> {
        if let Some(op) = self.session.executable.code.scalar_op(index)
            && self.lanes.is_none()
            && !self.session.traces
            && self.conventions() == Conventions::Specification
        {
            let frame = self.frame()?;
            let result = op.run(&instruction.operands, frame)?;
            if let [slot] = instruction.results[..]
                && slot != UNUSED
            {
                frame[slot as usize].set_scalar(result);
            }
            return self.clear(&instruction.dead);
        }
        let mut results = self.evaluate(instruction)?;
        if self.session.traces {
            self.trace(instruction, &results)?;
        }
        self.store(&instruction.results, &mut results, "results")?;
        self.clear(&instruction.dead)
    }

    /// Evaluates an instruction with tensors, or one of control flow.
    fn evaluate(&mut self, instruction: &'r Instruction) -> Result<Slots, EvalError> {
        let operands = self.load(&instruction.operands)?;
        let results = match &*instruction.primitive {
            Primitive::If(primitives::If { branches: [on_true, on_false] }) => {
                let [condition] = exactly(operands)?;
                let branch = if truth(&condition)? { *on_true } else { *on_false };
                self.run_block(branch, Slots::new())?
            }
            Primitive::Case(primitives::Case { branches }) => {
                let [index] = exactly(operands)?;
                let index = index.into_value()?.tensor()?.item::<i32>()?;
                // An index out of range takes the last branch.
                let branch = usize::try_from(index).ok().and_then(|i| branches.get(i));
                let branch = branch.or(branches.last());
                let branch =
                    branch.ok_or_else(|| EvalError::new("case_c1", "there are no branches"))?;
                self.run_block(*branch, Slots::new())?
            }
            Primitive::While(primitives::While { cond, body }) => {
                self.run_while(*cond, *body, operands)?
            }
            Primitive::Block(primitives::Block { block }) => self.run_block(*block, operands)?,
            Primitive::Call(primitives::Call { function }) => {
                self.call_function(*function, operands)?
            }
            _ => {
                let mut operands = values(operands)?;
                if let Some(n) = self.lanes {
                    same_length(&mut operands, n)?;
                }
                self.kernel(&instruction.evaluation(), operands)?
                    .into_iter()
                    .map(Slot::from)
                    .collect()
            }
        };
        if self.lanes.is_none() {
            check_slots("result", &results, &instruction.result_types)?;
        }
        Ok(results)
    }

    /// Runs the kernel of a primitive.
    ///
    /// # Errors
    /// Errors of the kernel and of the blocks and functions that it runs.
    pub fn kernel(
        &mut self,
        evaluation: &Evaluation<'_>,
        operands: Vec<RuntimeValue>,
    ) -> EvalResult {
        let &Evaluation { primitive, origin, result_types, growth } = evaluation;
        self.session.check_memory(growth)?;
        // Steps that a kernel runs are part of it, except for calls.
        let is_call = matches!(primitive, Primitive::Call(_));
        let was_paused = !is_call && self.pause(true);
        let results = kernels::evaluate(primitive, origin, operands, self);
        if !is_call {
            self.pause(was_paused);
        }
        let results = results?;
        if matches!(primitive, Primitive::Infeed | Primitive::Receive(_)) {
            check_received(&results, result_types)?;
        }
        Ok(results)
    }

    /// Passes the results of an instruction to the observer.
    fn trace(&self, instruction: &Instruction, results: &[Slot]) -> Result<(), EvalError> {
        let op = self.program().op(instruction.origin);
        let process = self.scheduler.grid.process(self.process).unwrap_or_default();
        for (index, slot) in results.iter().enumerate() {
            let value = slot.clone().into_value()?;
            self.session.observe(|observer| observer.value(process, op, index, &value))?;
        }
        Ok(())
    }

    /// The results of a block of scalars for no positions at all.
    fn empty_results(&self, block: BlockId) -> Result<Vec<Tensor>, EvalError> {
        let types = &self.code().block(block).result_types;
        let empty = |ty: &Arc<ValueType>| {
            let dtype = ty.scalar_dtype().ok_or_else(|| internal("a region returns no scalar"))?;
            Ok(Tensor::zeros(dtype, [0])?)
        };
        types.iter().map(empty).collect()
    }
}

/// Adds the op to an error without position, and a call note to an error of the callee.
fn locate(error: EvalError, instruction: &Instruction) -> EvalError {
    if error.place().is_none() {
        error.at(instruction.origin)
    } else if matches!(*instruction.primitive, Primitive::Call(_)) {
        called_from(error, instruction.origin)
    } else {
        error
    }
}

fn values(slots: Slots) -> EvalResult {
    let mut values = Vec::with_capacity(slots.len());
    for slot in slots {
        values.push(slot.into_value()?);
    }
    Ok(values)
}

fn exactly<const N: usize>(slots: Slots) -> Result<[Slot; N], EvalError> {
    let found = slots.len();
    let slots: Result<[Slot; N], _> = slots.into_vec().try_into();
    slots.map_err(|_| internal(&format!("expected {N} values, found {found}")))
}

/// Compares values with the types that they are declared to have.
fn check_slots(what: &str, slots: &[Slot], types: &[Arc<ValueType>]) -> Result<(), EvalError> {
    for (index, (slot, ty)) in slots.iter().zip(types).enumerate() {
        if !slot.fits(ty) {
            return Err(mismatch(what, index, &slot.clone().into_value()?, ty));
        }
    }
    Ok(())
}

/// Values that came from outside, followed by a token, have the types of the results.
fn check_received(results: &[RuntimeValue], types: &[Arc<ValueType>]) -> Result<(), EvalError> {
    if results.len() != types.len() {
        let (found, expected) = (results.len().saturating_sub(1), types.len().saturating_sub(1));
        let message = format!("received {}, but the op has {expected}", counted(found, "value"));
        return Err(EvalError::new("received", message));
    }
    check_types("received value", results, types)
        .map_err(|error| EvalError::new("received", error.message()))
}

impl Evaluator for Machine<'_, '_> {
    fn conventions(&self) -> Conventions {
        self.program().options().conventions
    }

    fn block(&mut self, block: BlockId, args: Vec<RuntimeValue>) -> EvalResult {
        values(self.run_block(block, args.into_iter().map(Slot::from).collect())?)
    }

    fn scalar_block(
        &mut self,
        block: BlockId,
        n: usize,
        args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        if self.code().block(block).vectorizable {
            self.lanes = Some(n);
            let results = self.block(block, args.into_iter().map(RuntimeValue::from).collect());
            self.lanes = None;
            let vector = |result: RuntimeValue| {
                let result = result.into_tensor()?;
                Ok(if result.rank() == 0 { result.broadcast_scalar([n])? } else { result })
            };
            return results?.into_iter().map(vector).collect();
        }
        if n == 0 {
            return self.empty_results(block);
        }
        let mut stacks: Vec<ScalarStack> = Vec::new();
        for position in 0..n {
            let scalars = args.iter().map(|a| Ok(element(a, position)?.into()));
            let scalars = scalars.collect::<Result<_, EvalError>>()?;
            for (index, result) in self.block(block, scalars)?.into_iter().enumerate() {
                let result = result.into_tensor()?;
                if position == 0 {
                    stacks.push(ScalarStack::new(n, &result)?);
                }
                let stack = stacks
                    .get_mut(index)
                    .ok_or_else(|| internal("a region changed its number of results"))?;
                stack.push(&result);
            }
        }
        stacks.into_iter().map(|stack| stack.finish(n)).collect()
    }

    fn call(&mut self, function: FunctionId, args: Vec<RuntimeValue>) -> EvalResult {
        self.call_with(function, args)
    }

    fn process_context(&mut self) -> Result<&mut dyn ProcessContext, EvalError> {
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
struct ScalarStack {
    dtype: numerics::DType,
    bytes: Vec<u8>,
}

impl ScalarStack {
    fn new(n: usize, first: &Tensor) -> Result<ScalarStack, EvalError> {
        let size = n.saturating_mul(first.dtype().bytes());
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(size)
            .map_err(|_| numerics::TensorError::OutOfMemory { bytes: size })?;
        Ok(ScalarStack { dtype: first.dtype(), bytes })
    }

    fn push(&mut self, scalar: &Tensor) {
        self.bytes.extend_from_slice(scalar.bytes());
    }

    fn finish(self, n: usize) -> Result<Tensor, EvalError> {
        Ok(Tensor::from_bytes(self.dtype, [n], self.bytes.into())?)
    }
}

/// The op of an instruction that may wait for other processes.
pub(crate) fn site<'p>(program: &'p Program, origin: Origin) -> crate::scheduler::Site<'p> {
    crate::scheduler::Site { name: program.op(origin).name(), origin }
}
