//! Forms blocks of steps over small values: code over positions in the arena.

mod indexed;

use crate::block::{BlockOffset, BlockOp, CompiledBlock, ElementNumbers, MAX_OPERANDS};
use crate::graph::{Graph, Value};
use crate::passes::assign_storage::Arena;
use crate::passes::emit;
use crate::plan::{
    CopyRegion, DynamicOffset, Plan, Sequence, Step, StepOp, Storage, Transfer, TransferMode,
};
use kernels::{Fused, TilePlace};
use numerics::math::within::{ALIGNMENT, room};
use program::Origin;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The maximum bytes of a constant that is copied into the arena.
const MAX_CONSTANT: usize = 1 << 14;
/// The maximum bytes of all constants in blocks, and of all element numbers.
const MAX_TABLES: usize = 1 << 24;
/// Elements are moved in pieces of neighbours if these have at least this many bytes on
/// average.
const PIECE: usize = 32;

pub(crate) fn run(graph: &Graph<'_>, plan: &mut Plan) {
    let mut assembler = BlockBuilder {
        graph,
        storage: &plan.storage,
        arena: Arena::after(plan.arena_bytes),
        makes_code: plan.makes_code,
        constants: FxHashMap::default(),
        constants_left: MAX_TABLES,
        numbers_left: MAX_TABLES,
        ops: Vec::new(),
        origins: Vec::new(),
        taken: Vec::new(),
    };
    assembler.blocks(&mut plan.body);
    let constants = assembler.constants.into_iter();
    plan.initial = constants.map(|((_, bytes), position)| (position as usize, bytes)).collect();
    plan.arena_bytes = assembler.arena.bytes;
}

pub(crate) struct BlockBuilder<'a> {
    pub graph: &'a Graph<'a>,
    storage: &'a [Storage],
    /// Behind the values: constants, and scratch space that steps use while they run.
    arena: Arena,
    /// True if machine code is made of the ops.
    makes_code: bool,
    /// The positions of constants, by the size of an element and all bytes.
    constants: FxHashMap<(usize, Vec<u8>), u32>,
    /// Bytes that constants and element numbers may still take.
    constants_left: usize,
    numbers_left: usize,
    pub ops: Vec<BlockOp>,
    origins: Vec<(u32, Origin, Option<u32>)>,
    /// The scratch space of the current step: positions and bytes.
    taken: Vec<(usize, usize)>,
}

impl BlockBuilder<'_> {
    /// Makes blocks of runs of steps, also within control flow that is no block as a whole.
    fn blocks(&mut self, sequence: &mut Sequence) {
        let mut steps = Vec::new();
        let mut run = Vec::new();
        for mut step in std::mem::take(&mut sequence.steps) {
            let (ops, origins, left) = (self.ops.len(), self.origins.len(), self.numbers_left);
            if self.step(&step).is_some() {
                run.push(step);
                continue;
            }
            self.ops.truncate(ops);
            self.origins.truncate(origins);
            self.numbers_left = left;
            steps.extend(self.finish(std::mem::take(&mut run)));
            match &mut step.op {
                StepOp::While { cond, body, .. } => {
                    self.blocks(cond);
                    self.blocks(body);
                }
                StepOp::Branch { branches, .. } => {
                    branches.iter_mut().for_each(|branch| self.blocks(branch));
                }
                _ => {}
            }
            steps.push(step);
        }
        steps.extend(self.finish(run));
        sequence.steps = steps;
    }

    /// The block of steps whose code has been made.
    fn finish(&mut self, steps: Vec<Step>) -> Option<Step> {
        let ops = std::mem::take(&mut self.ops);
        let origins = std::mem::take(&mut self.origins);
        let &Step { origin, call, .. } = steps.first()?;
        let count = steps.iter().fold(0, |sum: u32, step| sum.saturating_add(step.op_count));
        let block = CompiledBlock { ops, origins, native: None };
        Some(Step {
            op: StepOp::Block { steps, block },
            dead: SmallVec::new(),
            op_count: count,
            instructions: SmallVec::new(),
            origin,
            call,
        })
    }

    /// Adds the code of a step; `None` if it has values elsewhere, or is no code.
    fn step(&mut self, step: &Step) -> Option<()> {
        if !step.dead.is_empty() {
            return None;
        }
        self.note(step);
        let added = self.step_op(step);
        for (position, bytes) in std::mem::take(&mut self.taken) {
            self.arena.give(position, bytes);
        }
        added
    }

    /// Notes that the next ops belong to a step.
    fn note(&mut self, step: &Step) {
        self.origins.push((self.position(), step.origin, step.call));
    }

    fn step_op(&mut self, step: &Step) -> Option<()> {
        match &step.op {
            StepOp::Loop { fused, operands, outputs } => self.fused(fused, operands, outputs),
            StepOp::Move { parts, fill, output, ty } => {
                self.movement(parts, *fill, *output, ty.dtype.bytes())
            }
            StepOp::Apply { kernel, operands, output, ty, .. } => {
                let form = kernel.form();
                if let Some(added) = self.at_known_indices(form, operands, *output, ty.dtype) {
                    return Some(added);
                }
                let mut ranges = [const { 0..0 }; MAX_OPERANDS];
                let arity = operands.len();
                for (range, &operand) in ranges.get_mut(..arity)?.iter_mut().zip(operands) {
                    *range = self.range(operand)?;
                }
                let (kernel, result) = (Arc::clone(kernel), self.range(*output)?);
                self.ops.push(BlockOp::Apply { kernel, operands: ranges, arity, result });
                Some(())
            }
            StepOp::While { initial, cond, condition, body } => {
                self.transfers(initial)?;
                let start = self.position();
                self.sequence(step, cond)?;
                let test = self.ops.len();
                let condition = self.range(*condition)?.start;
                self.ops.push(BlockOp::Unless { condition, to: 0 });
                self.sequence(step, body)?;
                self.ops.push(BlockOp::Jump(start));
                let end = self.position();
                self.ops[test] = BlockOp::Unless { condition, to: end };
                Some(())
            }
            StepOp::Branch { index, branches } => {
                let index = self.range(*index)?;
                let switch = self.ops.len();
                let targets = Box::default();
                self.ops.push(BlockOp::Switch { index: index.clone(), targets });
                let (mut targets, mut ends) = (Vec::new(), Vec::new());
                for branch in branches {
                    targets.push(self.position());
                    self.sequence(step, branch)?;
                    ends.push(self.ops.len());
                    self.ops.push(BlockOp::Jump(0));
                }
                let end = self.position();
                ends.into_iter().for_each(|jump| self.ops[jump] = BlockOp::Jump(end));
                self.ops[switch] = BlockOp::Switch { index, targets: targets.into() };
                Some(())
            }
            StepOp::Kernel { .. } | StepOp::Block { .. } | StepOp::Rows { .. } => None,
        }
    }

    /// Adds the code of steps within `outer`.
    fn sequence(&mut self, outer: &Step, sequence: &Sequence) -> Option<()> {
        self.note(outer);
        // The same number as outside of blocks.
        let ops = sequence.steps.iter().fold(1, |sum: u32, step| sum.saturating_add(step.op_count));
        self.ops.push(BlockOp::Consume(ops));
        sequence.steps.iter().try_for_each(|step| self.step(step))?;
        self.note(outer);
        if !sequence.dead.is_empty() {
            return None;
        }
        self.transfers(&sequence.results)
    }

    fn transfers(&mut self, transfers: &[Transfer]) -> Option<()> {
        let mut staged = Vec::new();
        for transfer in transfers.iter().filter(|transfer| transfer.mode != TransferMode::Stay) {
            let (from, to) = (self.range(transfer.from)?, self.range(transfer.to)?);
            if transfer.is_checked || from.len() != to.len() {
                return None;
            }
            if transfer.mode == TransferMode::Stage {
                let bytes = from.len();
                let scratch = self.take(1, bytes)?;
                self.copy_value(from.start, scratch, bytes);
                staged.push((scratch, to.start, bytes));
            }
        }
        let direct =
            |transfer: &&Transfer| matches!(transfer.mode, TransferMode::Copy | TransferMode::Move);
        for transfer in transfers.iter().filter(direct) {
            let (from, to) = (self.range(transfer.from)?, self.range(transfer.to)?);
            self.copy_value(from.start, to.start, from.len());
        }
        for (from, to, bytes) in staged {
            self.copy_value(from, to, bytes);
        }
        Some(())
    }

    fn fused(&mut self, fused: &Fused, operands: &[Value], outputs: &[Value]) -> Option<()> {
        // Then everything else is as small.
        for &output in outputs {
            self.range(output)?;
        }
        let mut registers: Vec<Option<u32>> = vec![None; fused.layout.registers.len()];
        let mut at: Vec<u32> = Vec::with_capacity(fused.layout.places.len());
        for (load, place) in fused.loads.iter().zip(&fused.layout.places) {
            let (value, size) = (operands[load.operand], load.dtype.bytes());
            let Some(view) = &load.view else {
                at.push(self.range(value)?.start);
                continue;
            };
            if let Some(constant) = self.graph.constants.get(&value) {
                let mut bytes = vec![0; fused.elements * size];
                view.read_bytes(load.dtype, constant.bytes(), 0, &mut bytes).ok()?;
                at.push(self.constant(&bytes, size)?);
                continue;
            }
            let register = match *place {
                TilePlace::Register(register) => register,
                // Nothing reads it.
                TilePlace::Inner => {
                    at.push(0);
                    continue;
                }
                _ => return None,
            };
            let mut numbers = vec![0; fused.elements];
            view.read(&self.numbers(value, size)?, 0, &mut numbers);
            let to = self.register(&mut registers, register, fused)?;
            self.move_elements(numbers, size, to)?;
            at.push(to);
        }
        for (op, place) in fused.ops.iter().zip(&fused.layout.places[fused.loads.len()..]) {
            let result = match *place {
                TilePlace::Source | TilePlace::Element | TilePlace::Inner => return None,
                TilePlace::Register(register) => self.register(&mut registers, register, fused)?,
                TilePlace::Output(output) => self.range(outputs[output])?.start,
            };
            let mut used = [0; 3];
            for (used, &operand) in used.iter_mut().zip(&op.operands) {
                *used = at[operand];
            }
            let (kernel, count) = (op.kernel.within(), fused.elements as u32);
            let source = Arc::clone(&op.kernel);
            self.ops.push(BlockOp::Compute { kernel, source, result, operands: used, count });
            at.push(result);
        }
        Some(())
    }

    /// The position of a register of a loop.
    fn register(
        &mut self,
        registers: &mut [Option<u32>],
        number: usize,
        fused: &Fused,
    ) -> Option<u32> {
        if registers[number].is_none() {
            registers[number] = Some(self.take(fused.layout.registers[number], fused.elements)?);
        }
        registers[number]
    }

    fn movement(
        &mut self,
        parts: &[CopyRegion],
        fill: Option<Value>,
        output: Value,
        size: usize,
    ) -> Option<()> {
        let result = self.range(output)?;
        let moved: Vec<Vec<u32>> =
            parts.iter().map(|part| self.moved(part, size)).collect::<Option<_>>()?;
        let is_static = |part: &CopyRegion| part.read_from.is_empty() && part.write_to.is_empty();
        match (parts, &moved[..]) {
            _ if parts.iter().all(is_static) => {
                let outside = match fill {
                    Some(fill) => self.range(fill)?.start / size as u32,
                    None => 0,
                };
                let mut numbers = vec![outside; result.len() / size];
                for (part, moved) in parts.iter().zip(&moved) {
                    match &part.write {
                        Some(places) => places.write(moved, &mut numbers),
                        None => numbers.copy_from_slice(moved),
                    }
                }
                self.move_elements(numbers, size, result.start)
            }
            ([part], [moved]) if part.write.is_none() && part.write_to.is_empty() => {
                let starts = self.starts(&part.read_from)?;
                let elements = self.elements(size, moved.clone())?;
                self.ops.push(BlockOp::Collect { elements, starts, to: result.start });
                Some(())
            }
            // An update of the whole.
            ([whole, part], [around, moved])
                if is_static(whole) && whole.write.is_none() && part.read_from.is_empty() =>
            {
                self.move_elements(around.clone(), size, result.start)?;
                let from = self.take(size, moved.len())?;
                self.move_elements(moved.clone(), size, from)?;
                let places = part.write.as_ref()?;
                let first = result.start / size as u32;
                let all: Vec<u32> = (first..).take(result.len() / size).collect();
                let mut numbers = vec![0; moved.len()];
                places.read(&all, 0, &mut numbers);
                let starts = self.starts(&part.write_to)?;
                let elements = self.elements(size, numbers)?;
                self.ops.push(BlockOp::Spread { from, elements, starts });
                Some(())
            }
            _ => None,
        }
    }

    /// The numbers of the elements of a part.
    fn moved(&mut self, part: &CopyRegion, size: usize) -> Option<Vec<u32>> {
        let all = self.numbers(part.operand, size)?;
        let Some(view) = &part.read else { return (all.len() == part.elements).then_some(all) };
        let mut numbers = vec![0; part.elements];
        view.read(&all, 0, &mut numbers);
        Some(numbers)
    }

    fn starts(&mut self, starts: &[DynamicOffset]) -> Option<Box<[BlockOffset]>> {
        let start = |start: &DynamicOffset| {
            let &DynamicOffset { index, dtype, last, stride } = start;
            Some(BlockOffset { index: self.range(index)?, dtype, last, stride })
        };
        starts.iter().map(start).collect()
    }

    /// Moves elements with some numbers to a position.
    pub(crate) fn move_elements(&mut self, numbers: Vec<u32>, size: usize, to: u32) -> Option<()> {
        let bytes = u32::try_from(size).ok()?;
        let pieces = || numbers.chunk_by(|&number, &next| number + 1 == next);
        let &first = numbers.first()?;
        if first == to / bytes && pieces().count() == 1 {
            return Some(());
        }
        if numbers.len() > 1 && numbers.iter().all(|&number| number == first) {
            let to = to..to + bytes * numbers.len() as u32;
            self.ops.push(BlockOp::Fill { from: first * bytes, size: bytes, to });
        } else if numbers.len() == 1
            || (numbers.len() * size >= PIECE * pieces().count()
                && !(self.makes_code && emit::moves(&numbers, size)))
        {
            let mut to = to;
            for piece in pieces() {
                let len = piece.len() * size;
                self.copy(piece[0] * bytes, to, len);
                to += len as u32;
            }
        } else {
            let elements = self.elements(size, numbers)?;
            self.ops.push(BlockOp::Collect { elements, starts: Box::default(), to });
        }
        Some(())
    }

    fn elements(&mut self, size: usize, numbers: Vec<u32>) -> Option<ElementNumbers> {
        self.numbers_left = self.numbers_left.checked_sub(size_of_val(&numbers[..]))?;
        Some(ElementNumbers { size, numbers: numbers.into() })
    }

    /// Moves a value.
    fn copy_value(&mut self, from: u32, to: u32, bytes: usize) {
        if from == to {
            return;
        }
        if (1..=ALIGNMENT).contains(&bytes) {
            // The space of every value is a multiple of the alignment.
            self.ops.push(BlockOp::CopyLine { from, to, bytes: bytes as u32 });
        } else {
            self.copy(from, to, bytes);
        }
    }

    /// Moves a part of a value.
    fn copy(&mut self, from: u32, to: u32, bytes: usize) {
        if bytes > 0 {
            // Values are small.
            self.ops.push(BlockOp::Copy { from, to, bytes: bytes as u32 });
        }
    }

    /// The numbers of the elements of a value.
    pub(crate) fn numbers(&mut self, value: Value, size: usize) -> Option<Vec<u32>> {
        let range = self.range(value)?;
        let size = u32::try_from(size).ok()?;
        Some((range.start / size..range.end / size).collect())
    }

    /// Where a value is.
    pub(crate) fn range(&mut self, value: Value) -> Option<Range<u32>> {
        match self.storage[value as usize] {
            Storage::Arena { at, bytes } => Some(at..at + bytes),
            Storage::Constant(_) => {
                let tensor = self.graph.constants.get(&value)?;
                let bytes = tensor.bytes();
                let at = self.constant(bytes, tensor.dtype().bytes())?;
                Some(at..at + bytes.len() as u32)
            }
            Storage::Slot(_) | Storage::Unstored => None,
        }
    }

    /// The position of a constant.
    fn constant(&mut self, bytes: &[u8], size: usize) -> Option<u32> {
        let room = room(size, bytes.len() / size).filter(|&room| room <= MAX_CONSTANT)?;
        let key = (size, bytes.to_vec());
        if let Some(&position) = self.constants.get(&key) {
            return Some(position);
        }
        self.constants_left = self.constants_left.checked_sub(room)?;
        // Not in scratch space of steps, which may run again.
        let position = u32::try_from(self.arena.bytes).ok()?;
        self.arena.bytes += room;
        self.constants.insert(key, position);
        Some(position)
    }

    /// Room for elements while the current step runs.
    pub(crate) fn take(&mut self, size: usize, count: usize) -> Option<u32> {
        let room = room(size, count)?;
        let position = self.arena.take(room);
        self.taken.push((position, room));
        u32::try_from(position).ok()
    }

    fn position(&self) -> u32 {
        // Fewer ops than bytes of the program.
        self.ops.len() as u32
    }
}
