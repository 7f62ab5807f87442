//! Executes plans: steps over the arena and slots.

mod buffers;
mod compiled;
mod frames;
mod prepacked;
mod profile;
mod results;

pub(crate) use compiled::CompiledProgram;
pub use prepacked::PrepackedConstant;
pub(crate) use prepacked::prepack_constants;

use crate::block::{self, Fuel};
use crate::plan::{
    Captures, CopyRegion, DynamicOffset, Plan, Sequence, Step, StepOp, Storage, Transfer,
    TransferMode, Value,
};
use buffers::{BufferSource, CallerBuffers};
use compiled::PlannedFunction;
use frames::{FramePool, MAX_SPARE, PlanFrame};
use interpreter::errors::{called_from, internal, use_before_definition};
use interpreter::{Machine, Session, check_types, copy_bytes, mismatch};
use kernels::fused::{self, Registers};
use kernels::row_loops::{self, RowKernel};
use kernels::{CopyPart, LoopOutput};
use numerics::budget;
use numerics::math::AlignedBytes;
use numerics::shape::{self, Sizes};
use numerics::{Bytes, DType, Tensor, TensorError, TensorRef};
use program::{EvalError, EvalResult, Evaluation, FunctionId, Origin, RuntimeValue, ValueType};
use smallvec::SmallVec;
use std::sync::Arc;

/// The memory of the results of a loop.
type LoopResults<'a> = SmallVec<[&'a mut [u8]; 2]>;

/// The memory of a value while it is written.
enum Destination<'a> {
    /// The result is copied into the arena.
    Small(AlignedBytes),
    /// The memory of an output of the run.
    Output(u32, &'a mut [u8]),
    Value(RuntimeValue),
}

impl Fuel for &Session<'_> {
    type Error = EvalError;

    fn consume(&mut self, ops: u64) -> Result<(), EvalError> {
        Session::tick(self, ops, None)
    }

    fn allowance(&self) -> u64 {
        Session::allowance(self)
    }
}

/// A call of a function that has a plan.
pub(crate) struct PlanRun<'r, 'a> {
    function: &'r PlannedFunction,
    plan: &'r Plan,
    /// The memory of the caller.
    buffers: CallerBuffers<'a>,
    pub frame: PlanFrame,
    /// Frames for the blocks of kernels, by function.
    kernel_frames: Vec<(FunctionId, interpreter::Frame)>,
}

impl<'r, 'a> PlanRun<'r, 'a> {
    #[inline]
    pub(crate) fn new(
        function: &'r PlannedFunction,
        frames: &'r FramePool,
        buffers: CallerBuffers<'a>,
    ) -> PlanRun<'r, 'a> {
        let (plan, kernel_frames) = (&function.plan, Vec::new());
        PlanRun { function, plan, buffers, frame: frames.take(plan), kernel_frames }
    }

    /// Runs the plan on arguments of some types, and returns its results.
    pub(crate) fn run(
        &mut self,
        machine: &mut Machine<'_, 'r>,
        types: &[Arc<ValueType>],
        args: Vec<RuntimeValue>,
    ) -> EvalResult {
        let plan = self.plan;
        check_types("argument", &args, types)?;
        if args.len() != plan.arguments.len() {
            let (found, expected) = (args.len(), plan.arguments.len());
            return Err(internal(&format!("{found} arguments where {expected} were expected")));
        }
        let _reserved = budget::reserve::<u8>(plan.arena_bytes)?;
        for (&argument, value) in plan.arguments.iter().zip(args) {
            self.put_value(argument, value)?;
        }
        machine.nested(|machine| {
            self.sequence(machine, &plan.body)?;
            self.take_results()
        })
    }

    /// Runs the plan in memory of the caller, which has the types of the function's arguments and
    /// results.
    pub(crate) fn run_into(&mut self, machine: &mut Machine<'_, 'r>) -> Result<(), EvalError> {
        let plan = self.plan;
        let outputs = &self.buffers.outputs;
        // Calls are inlined: the value of a dynamic result may have a static type.
        for (index, (transfer, output)) in plan.body.results.iter().zip(outputs).enumerate() {
            output.check_type(index, &plan.types[transfer.from as usize])?;
        }
        let _reserved = budget::reserve::<u8>(plan.arena_bytes)?;
        let inputs = self.buffers.inputs;
        for (&argument, input) in plan.arguments.iter().zip(inputs) {
            self.put_input(argument, input)?;
        }
        machine.nested(|machine| {
            self.sequence(machine, &plan.body)?;
            self.write_results()
        })
    }

    /// Gives an argument its value: a copy if it is small, else the memory of the caller.
    fn put_input(&mut self, argument: Value, input: &TensorRef<'_>) -> Result<(), EvalError> {
        match self.storage(argument) {
            Storage::Slot(slot) => {
                let value = input.as_tensor().map(|tensor| tensor.clone().into());
                self.frame.slots[slot as usize] = value;
                Ok(())
            }
            _ => self.put_bytes(argument, input.bytes()),
        }
    }

    fn sequence(
        &mut self,
        machine: &mut Machine<'_, 'r>,
        sequence: &'r Sequence,
    ) -> Result<(), EvalError> {
        let length = sequence.steps.len() + 1;
        let is_at_top = machine.is_at_top();
        for (position, step) in sequence.steps.iter().enumerate() {
            let position = is_at_top.then_some((position, length));
            machine.session().tick(step.op_count.into(), position)?;
            let plan = self.plan;
            machine.begin(std::ptr::from_ref(step).addr(), move |program| {
                profile::record(plan, step, program)
            });
            let done = self.step(machine, step);
            machine.end();
            done.map_err(|error| self.locate(error, step.origin, step.call))?;
            self.end_lives(&step.dead);
        }
        machine.session().tick(1, is_at_top.then_some((length - 1, length)))
    }

    /// Clears the slots of dead values; unshared memory is kept for reuse, and the oldest of it
    /// is dropped if there is too much.
    fn end_lives(&mut self, slots: &[u32]) {
        for &slot in slots {
            if let Some(RuntimeValue::Tensor(mut tensor)) = self.frame.slots[slot as usize].take()
                && tensor.is_unshared()
            {
                if self.frame.spare.len() == MAX_SPARE {
                    self.frame.spare.remove(0);
                }
                self.frame.spare.push(tensor);
            }
        }
    }

    /// Adds the op to an error without position, and a note for each inlined call around it.
    fn locate(&self, error: EvalError, origin: Origin, mut call: Option<u32>) -> EvalError {
        if error.place().is_some() {
            return error;
        }
        let mut error = error.at(origin);
        while let Some(&(origin, outer)) = call.and_then(|at| self.plan.calls.get(at as usize)) {
            error = called_from(error, origin);
            call = outer;
        }
        error
    }

    fn step(&mut self, machine: &mut Machine<'_, 'r>, step: &'r Step) -> Result<(), EvalError> {
        match &step.op {
            StepOp::Block { block, .. } => block
                .run(&mut self.frame.arena, &mut { machine.session() })
                .map_err(|(op, error)| match block.origin(op) {
                    Some((origin, call)) => self.locate(error, origin, call),
                    None => error,
                }),
            StepOp::Loop { fused, operands, outputs } => {
                self.run_loop(operands, outputs, &fused.outputs, |bytes, results, registers| {
                    fused::run(fused, bytes, results, registers)
                })
            }
            StepOp::Rows { steps, rows, operands, outputs } => {
                let packed: Vec<_> = steps.iter().map(|step| self.prepacked(&step.op)).collect();
                let kernels = steps.iter().zip(&packed).filter_map(|(step, packed)| {
                    let prepacked = packed.as_ref().map(|packed| &packed[..]);
                    Some(RowKernel { kernel: step.op.row_wise()?, prepacked })
                });
                let kernels: SmallVec<[RowKernel<'_>; 8]> = kernels.collect();
                self.run_loop(operands, outputs, &rows.outputs, |bytes, results, registers| {
                    row_loops::run(rows, &kernels, bytes, results, registers)
                })
            }
            StepOp::Move { parts, fill, output, ty } => {
                let (mut buffer, parts) = match self.overwritten(step, parts, *output, ty)? {
                    Some((buffer, rest)) => (buffer, rest),
                    None => (self.destination(*output, ty)?, &parts[..]),
                };
                self.run_move(parts, *fill, ty.dtype, buffer.bytes_mut()?)?;
                self.put(*output, buffer)
            }
            StepOp::Apply { kernel, operands, output, ty, .. } => {
                if kernel.is_update()
                    && let Some((first, others)) = operands.split_first()
                    && !others.contains(first)
                    && let Some(mut buffer) = self.taken(step, *first, *output, ty)?
                {
                    kernel.update(&self.operands(others)?, buffer.bytes_mut()?)?;
                    return self.put(*output, buffer);
                }
                let packed = self.prepacked(&step.op);
                let prepacked = packed.as_ref().map(|packed| &packed[..]);
                let mut buffer = self.destination(*output, ty)?;
                let bytes = self.operands(operands)?;
                kernel.run_prepacked(&bytes, prepacked, &mut [buffer.bytes_mut()?])?;
                drop(bytes);
                self.put(*output, buffer)
            }
            StepOp::Kernel { primitive, operands, results, types, growth, captures } => {
                let (origin, result_types, growth) = (step.origin, &types[..], *growth);
                let evaluation = Evaluation { primitive, origin, result_types, growth };
                self.run_kernel(machine, &evaluation, operands, results, captures.as_ref())
            }
            StepOp::While { initial, cond, condition, body } => {
                self.transfer("argument", initial)?;
                machine.nested(|machine| {
                    loop {
                        self.sequence(machine, cond)?;
                        if !self.truth(*condition)? {
                            return Ok(());
                        }
                        self.branch(machine, "argument", body)?;
                    }
                })
            }
            StepOp::Branch { index, branches } => {
                let number = block::branch(self.bytes(*index)?);
                let branch = number.and_then(|number| branches.get(number)).or(branches.last());
                let none = || EvalError::new("case_c1", "there are no branches");
                let branch = branch.ok_or_else(none)?;
                machine.nested(|machine| self.branch(machine, "result", branch))
            }
        }
    }

    /// Runs the kernel of a primitive, and puts its results into their storage.
    fn run_kernel(
        &mut self,
        machine: &mut Machine<'_, 'r>,
        evaluation: &Evaluation<'_>,
        operands: &[(Value, bool)],
        results: &[Value],
        captures: Option<&Captures>,
    ) -> Result<(), EvalError> {
        if machine.session().is_memory_tight() {
            self.frame.spare.clear();
        }
        let mut values = Vec::with_capacity(operands.len());
        for &(value, is_last) in operands {
            values.push(self.value(value, is_last)?);
        }
        let computed = match captures {
            Some(captures) => {
                self.push_frame(machine, captures)?;
                let computed = machine.kernel(evaluation, values);
                self.pop_frame(machine, captures);
                computed?
            }
            None => machine.kernel(evaluation, values)?,
        };
        check_types("result", &computed, evaluation.result_types)?;
        for (&value, computed) in results.iter().zip(computed) {
            self.put_value(value, computed)?;
        }
        Ok(())
    }

    /// Runs a loop on the bytes of its operands, and puts its results into their storage.
    fn run_loop(
        &mut self,
        operands: &[Value],
        outputs: &[Value],
        types: &[LoopOutput],
        run: impl FnOnce(&[&[u8]], LoopResults<'_>, &mut Registers) -> Result<(), TensorError>,
    ) -> Result<(), EvalError> {
        let mut buffer: SmallVec<[Destination<'a>; 2]> = SmallVec::new();
        for (&value, ty) in outputs.iter().zip(types) {
            buffer.push(self.destination(value, ty)?);
        }
        let mut registers = std::mem::take(&mut self.frame.registers);
        let mut bytes: SmallVec<[&[u8]; 8]> = SmallVec::new();
        for &value in operands {
            bytes.push(self.bytes(value)?);
        }
        let mut results = LoopResults::new();
        for buffer in &mut buffer {
            results.push(buffer.bytes_mut()?);
        }
        run(&bytes, results, &mut registers)?;
        drop(bytes);
        self.frame.registers = registers;
        for (&value, buffer) in outputs.iter().zip(buffer) {
            self.put(value, buffer)?;
        }
        Ok(())
    }

    /// The second operand of a kernel as it prepacks it, if it was prepacked before, or is the
    /// same as in an earlier run.
    fn prepacked(&mut self, op: &StepOp) -> Option<Bytes> {
        let StepOp::Apply { kernel, operands, prepacked: Some(number), .. } = op else {
            return None;
        };
        let operand = match self.storage(*operands.get(1)?) {
            Storage::Constant(constant) => self.plan.constants.get(constant as usize)?,
            Storage::Slot(slot) => match self.frame.slots.get(slot as usize)? {
                Some(RuntimeValue::Tensor(operand)) => operand,
                _ => return None,
            },
            Storage::Arena { .. } | Storage::Unstored => return None,
        };
        self.frame.prepacked.packed(*number, &**kernel, operand.bytes())
    }

    /// The bytes of values.
    fn operands(&self, values: &[Value]) -> Result<SmallVec<[&[u8]; 3]>, EvalError> {
        values.iter().map(|&value| self.bytes(value)).collect()
    }

    fn run_move(
        &self,
        parts: &[CopyRegion],
        fill: Option<Value>,
        dtype: DType,
        result: &mut [u8],
    ) -> Result<(), EvalError> {
        let fill = fill.map(|fill| self.bytes(fill)).transpose()?;
        let mut copied: SmallVec<[CopyPart<'_>; 4]> = SmallVec::new();
        for part in parts {
            let source = self.bytes(part.operand)?;
            let source = &source[self.offset(&part.read_from)? * dtype.bytes()..];
            let CopyRegion { elements, ref read, ref write, .. } = *part;
            copied.push(CopyPart { source, elements, read: read.as_ref(), write: write.as_ref() });
        }
        if parts.iter().all(|part| part.write_to.is_empty()) {
            return Ok(kernels::copy(&copied, fill, dtype, result)?);
        }
        kernels::copy(&[], fill, dtype, result)?;
        for (part, copied) in parts.iter().zip(copied) {
            let result = &mut result[self.offset(&part.write_to)? * dtype.bytes()..];
            kernels::copy(&[copied], None, dtype, result)?;
        }
        Ok(())
    }

    /// The elements before a part with start indices.
    fn offset(&self, starts: &[DynamicOffset]) -> Result<usize, EvalError> {
        let mut offset = 0;
        for start in starts {
            let index = block::clamped(start.dtype, self.bytes(start.index)?, start.last);
            offset += index.ok_or_else(|| internal("a start index is no integer"))? * start.stride;
        }
        Ok(offset)
    }

    /// Runs a sequence and transfers its results.
    fn branch(
        &mut self,
        machine: &mut Machine<'_, 'r>,
        what: &str,
        sequence: &'r Sequence,
    ) -> Result<(), EvalError> {
        self.sequence(machine, sequence)?;
        self.transfer(what, &sequence.results)?;
        self.end_lives(&sequence.dead);
        Ok(())
    }

    /// Pushes a frame for the blocks of a kernel, reusing that of an earlier kernel.
    fn push_frame(
        &mut self,
        machine: &mut Machine<'_, 'r>,
        captures: &Captures,
    ) -> Result<(), EvalError> {
        let is_of_function = |(function, _): &(FunctionId, _)| *function == captures.function;
        let mut frame = match self.kernel_frames.iter().position(is_of_function) {
            Some(at) => self.kernel_frames.swap_remove(at).1,
            None => machine.new_frame(captures.function)?,
        };
        for &(slot, value) in &captures.values {
            frame.set(slot, self.value(value, false)?);
        }
        machine.push_frame(frame);
        Ok(())
    }

    /// Pops the frame of a kernel, and clears the values that it captured.
    fn pop_frame(&mut self, machine: &mut Machine<'_, 'r>, captures: &Captures) {
        if let Some(mut frame) = machine.pop_frame() {
            captures.values.iter().for_each(|&(slot, _)| frame.clear(slot));
            self.kernel_frames.push((captures.function, frame));
        }
    }

    /// Assigns values to others: arguments of a loop, or results.
    fn transfer(&mut self, what: &str, transfers: &[Transfer]) -> Result<(), EvalError> {
        for (index, transfer) in transfers.iter().enumerate().filter(|(_, t)| t.is_checked) {
            let value = self.value(transfer.from, false)?;
            let ty = &self.plan.types[transfer.to as usize];
            if ty.contradicts(&value) {
                return Err(mismatch(what, index, &value, ty));
            }
        }
        let of_mode = |mode| transfers.iter().filter(move |transfer| transfer.mode == mode);
        let staged = of_mode(TransferMode::Stage).map(|transfer| self.copy(transfer.from));
        let staged: SmallVec<[Destination<'a>; 2]> = staged.collect::<Result<_, _>>()?;
        for transfer in of_mode(TransferMode::Copy) {
            self.copy_value(transfer.from, transfer.to)?;
        }
        for transfer in of_mode(TransferMode::Move) {
            self.move_value(transfer.from, transfer.to)?;
        }
        for (transfer, buffer) in of_mode(TransferMode::Stage).zip(staged) {
            self.put(transfer.to, buffer)?;
        }
        Ok(())
    }

    fn storage(&self, value: Value) -> Storage {
        self.plan.storage[value as usize]
    }

    /// The bytes of a tensor.
    fn bytes(&self, value: Value) -> Result<&[u8], EvalError> {
        match self.storage(value) {
            Storage::Arena { at, bytes } => Ok(&self.frame.arena[range(at, bytes)]),
            Storage::Constant(constant) => Ok(self.plan.constants[constant as usize].bytes()),
            Storage::Slot(slot) => match &self.frame.slots[slot as usize] {
                Some(value) => Ok(value.tensor()?.bytes()),
                None => self.caller_bytes(slot).ok_or_else(use_before_definition),
            },
            Storage::Unstored => Err(use_before_definition()),
        }
    }

    /// A value, taken out of its slot if it is not used again.
    fn value(&mut self, value: Value, is_last: bool) -> Result<RuntimeValue, EvalError> {
        match self.storage(value) {
            Storage::Constant(constant) => {
                Ok(self.plan.constants[constant as usize].clone().into())
            }
            Storage::Slot(slot) => {
                if self.frame.slots[slot as usize].is_none()
                    && let Some(bytes) = self.caller_bytes(slot)
                {
                    let (dtype, shape) = self.tensor_type(value)?;
                    let copy = Tensor::copied(dtype, shape, bytes)?;
                    self.frame.slots[slot as usize] = Some(copy.into());
                }
                let slot = &mut self.frame.slots[slot as usize];
                let value = if is_last { slot.take() } else { slot.clone() };
                value.ok_or_else(use_before_definition)
            }
            Storage::Arena { .. } => {
                let (dtype, shape) = self.tensor_type(value)?;
                Ok(Tensor::copied(dtype, shape, self.bytes(value)?)?.into())
            }
            Storage::Unstored => Err(use_before_definition()),
        }
    }

    /// The memory of the caller that stands for a slot.
    fn caller_bytes(&self, slot: u32) -> Option<&[u8]> {
        self.buffers.bytes(self.function.buffer_sources[slot as usize])
    }

    fn tensor_type(&self, value: Value) -> Result<(DType, Sizes), EvalError> {
        if let Storage::Slot(slot) = self.storage(value)
            && let Some(BufferSource::Input(index)) = self.function.buffer_sources[slot as usize]
            && let Some(input) = self.buffers.inputs.get(index as usize)
        {
            return Ok((input.dtype(), input.shape().into()));
        }
        let ty = &self.plan.types[value as usize];
        match (&**ty, ty.static_shape()) {
            (ValueType::Tensor { dtype, .. }, Some(shape)) => Ok((*dtype, shape)),
            _ => Err(internal("a small value is no tensor of static shape")),
        }
    }

    /// Takes the memory of a result, to be written.
    fn destination(
        &mut self,
        value: Value,
        output: &LoopOutput,
    ) -> Result<Destination<'a>, EvalError> {
        match self.storage(value) {
            Storage::Arena { bytes, .. } => {
                let mut buffer = self.frame.unused.pop().unwrap_or_default();
                buffer.resize(bytes as usize);
                Ok(Destination::Small(buffer))
            }
            Storage::Slot(slot) => {
                if let Some((index, memory)) =
                    self.buffers.take(self.function.buffer_sources[slot as usize])
                {
                    self.frame.slots[slot as usize] = None;
                    return Ok(Destination::Output(index, memory));
                }
                if let Some(RuntimeValue::Tensor(mut old)) = self.frame.slots[slot as usize].take()
                    && old.dtype() == output.dtype
                    && shape::equal(old.shape(), &output.shape)
                    && old.is_unshared()
                {
                    return Ok(Destination::Value(old.into()));
                }
                Ok(Destination::Value(self.tensor(output)?.into()))
            }
            Storage::Constant(_) | Storage::Unstored => Err(internal("a result has no storage")),
        }
    }

    /// If the first part is a whole value that dies with the step: its memory, which becomes the
    /// result's, and the other parts, which overwrite some of it.
    fn overwritten<'p>(
        &mut self,
        step: &Step,
        parts: &'p [CopyRegion],
        output: Value,
        ty: &LoopOutput,
    ) -> Result<Option<(Destination<'a>, &'p [CopyRegion])>, EvalError> {
        let Some((first, rest)) = parts.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Ok(None);
        };
        let is_whole = first.read.is_none() && first.write.is_none() && first.read_from.is_empty();
        let uses = |part: &CopyRegion| {
            let starts = part.read_from.iter().chain(&part.write_to);
            part.operand == first.operand
                || starts.into_iter().any(|start| start.index == first.operand)
        };
        if !is_whole || rest.iter().any(uses) {
            return Ok(None);
        }
        Ok(self.taken(step, first.operand, output, ty)?.map(|buffer| (buffer, rest)))
    }

    /// The memory of an operand that dies with the step, which becomes the result's.
    fn taken(
        &mut self,
        step: &Step,
        operand: Value,
        output: Value,
        ty: &LoopOutput,
    ) -> Result<Option<Destination<'a>>, EvalError> {
        let (Storage::Slot(slot), Storage::Slot(_)) = (self.storage(operand), self.storage(output))
        else {
            return Ok(None);
        };
        if !step.dead.contains(&slot) {
            return Ok(None);
        }
        let buffer = &mut self.frame.slots[slot as usize];
        let is_own = match buffer {
            Some(RuntimeValue::Tensor(tensor)) => {
                tensor.is_unshared() && tensor.num_elements() == ty.shape.iter().product::<usize>()
            }
            _ => false,
        };
        match buffer.take_if(|_| is_own) {
            Some(RuntimeValue::Tensor(tensor)) => {
                Ok(Some(Destination::Value(tensor.into_shape(&ty.shape)?.into())))
            }
            _ => Ok(None),
        }
    }

    /// Memory for a result, with unspecified contents: of the value that died last, if several fit,
    /// as it is in a cache.
    fn tensor(&mut self, output: &LoopOutput) -> Result<Tensor, EvalError> {
        let count = shape::num_elements(&output.shape);
        let fits = |t: &Tensor| t.dtype() == output.dtype && Some(t.num_elements()) == count;
        if let Some(at) = self.frame.spare.iter().rposition(fits) {
            return Ok(self.frame.spare.remove(at).into_shape(&output.shape)?);
        }
        let unwritten = || Tensor::unwritten(output.dtype, &output.shape);
        let new = unwritten();
        if new.is_err() && !self.frame.spare.is_empty() {
            self.frame.spare.clear();
            return Ok(unwritten()?);
        }
        Ok(new?)
    }

    /// Puts memory into the storage of a value.
    fn put(&mut self, value: Value, buffer: Destination<'a>) -> Result<(), EvalError> {
        match (self.storage(value), buffer) {
            (Storage::Slot(slot), Destination::Value(value)) => {
                self.frame.slots[slot as usize] = Some(value);
                Ok(())
            }
            (_, Destination::Value(buffer)) => self.put_value(value, buffer),
            (_, Destination::Output(index, memory)) => {
                self.buffers.put(index, memory);
                Ok(())
            }
            (_, Destination::Small(bytes)) => {
                self.put_bytes(value, &bytes)?;
                self.frame.unused.push(bytes);
                Ok(())
            }
        }
    }

    fn put_value(&mut self, value: Value, computed: RuntimeValue) -> Result<(), EvalError> {
        match self.storage(value) {
            Storage::Slot(slot) => self.frame.slots[slot as usize] = Some(computed),
            Storage::Arena { .. } => self.put_bytes(value, computed.tensor()?.bytes())?,
            Storage::Constant(_) | Storage::Unstored => {}
        }
        Ok(())
    }

    /// Copies the bytes of a tensor into the storage of a value.
    fn put_bytes(&mut self, value: Value, bytes: &[u8]) -> Result<(), EvalError> {
        match self.storage(value) {
            Storage::Arena { at, bytes: size } => {
                if bytes.len() != size as usize {
                    return Err(internal("a value has not the size of its type"));
                }
                self.frame.arena[range(at, size)].copy_from_slice(bytes);
            }
            Storage::Slot(slot) => {
                let slot = slot as usize;
                // An earlier tensor in the slot has the type of the value, too.
                if let Some(RuntimeValue::Tensor(old)) = &mut self.frame.slots[slot]
                    && old.is_unshared()
                    && old.bytes().len() == bytes.len()
                {
                    old.bytes_mut()?.copy_from_slice(bytes);
                    return Ok(());
                }
                let (dtype, shape) = self.tensor_type(value)?;
                self.frame.slots[slot] = Some(Tensor::copied(dtype, shape, bytes)?.into());
            }
            Storage::Constant(_) | Storage::Unstored => {}
        }
        Ok(())
    }

    /// A copy of a value, which may share the memory of a slot.
    fn copy(&mut self, value: Value) -> Result<Destination<'a>, EvalError> {
        match self.storage(value) {
            Storage::Arena { at, bytes } => {
                let mut buffer = self.frame.unused.pop().unwrap_or_default();
                buffer.resize(bytes as usize);
                buffer.copy_from_slice(&self.frame.arena[range(at, bytes)]);
                Ok(Destination::Small(buffer))
            }
            _ => Ok(Destination::Value(self.value(value, false)?)),
        }
    }

    fn move_value(&mut self, from: Value, to: Value) -> Result<(), EvalError> {
        match self.storage(from) {
            Storage::Slot(_) => {
                let value = self.value(from, true)?;
                self.put_value(to, value)
            }
            _ => self.copy_value(from, to),
        }
    }

    fn copy_value(&mut self, from: Value, to: Value) -> Result<(), EvalError> {
        match (self.storage(from), self.storage(to)) {
            (Storage::Arena { at, bytes }, Storage::Arena { at: to, bytes: size })
                if bytes == size =>
            {
                self.frame.arena.copy_within(range(at, bytes), to as usize);
                Ok(())
            }
            _ => {
                let value = self.value(from, false)?;
                self.put_value(to, value)
            }
        }
    }

    fn truth(&self, value: Value) -> Result<bool, EvalError> {
        match self.bytes(value)? {
            [byte] => Ok(*byte != 0),
            _ => Err(internal("a condition is no single boolean")),
        }
    }

    /// The results, taken out of their slots; small ones are copied.
    fn take_results(&mut self) -> EvalResult {
        let small = &self.function.small_results;
        let results = &self.plan.body.results;
        // Placeholders.
        let mut values = vec![RuntimeValue::Token; results.len()];
        small.copy(&self.frame.arena, &mut values)?;
        for (at, transfer) in results.iter().enumerate() {
            if let RuntimeValue::Tensor(_) = values[at] {
                continue;
            }
            let taken = match self.storage(transfer.from) {
                Storage::Slot(slot) if self.frame.slots[slot as usize].is_none() => {
                    results[..at].iter().position(|earlier| earlier.from == transfer.from)
                }
                _ => None,
            };
            values[at] = match taken {
                Some(earlier) => values[earlier].clone(),
                None => self.value(transfer.from, true)?,
            };
        }
        Ok(values)
    }

    /// Copies the results that no step wrote into the outputs.
    fn write_results(&mut self) -> Result<(), EvalError> {
        let results = &self.plan.body.results;
        for (index, (transfer, output)) in results.iter().zip(&self.buffers.outputs).enumerate() {
            if let Storage::Slot(slot) = self.storage(transfer.from)
                && let Some(value) = &self.frame.slots[slot as usize]
            {
                output.check(index, value)?;
            }
        }
        for (index, transfer) in results.iter().enumerate() {
            if let Some(memory) = self.buffers.take_unwritten(index) {
                copy_bytes(memory, self.bytes(transfer.from)?)?;
                self.buffers.put(index as u32, memory);
            }
        }
        Ok(())
    }
}

impl Destination<'_> {
    fn bytes_mut(&mut self) -> Result<&mut [u8], EvalError> {
        match self {
            Destination::Small(bytes) => Ok(bytes),
            Destination::Output(_, memory) => Ok(memory),
            Destination::Value(RuntimeValue::Tensor(tensor)) => Ok(tensor.bytes_mut()?),
            Destination::Value(_) => Err(internal("a loop writes a tensor")),
        }
    }
}

fn range(at: u32, bytes: u32) -> std::ops::Range<usize> {
    at as usize..at as usize + bytes as usize
}
