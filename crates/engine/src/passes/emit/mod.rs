//! Emits machine code of blocks and loops.
//!
//! A block becomes regions: straight-line code, with branches out of it, between places that others
//! jump to. Within a region, values stay in vector registers; what other regions need is stored.
//! Other ops are run as [`CompiledBlock::run`] does.

mod functions;
mod lowering;
mod movement;
mod region;

use crate::block::{BlockOp, CompiledBlock};
use crate::graph::{Graph, Value as Name};
use crate::lower::loops::{self, LoopCodes};
use crate::plan::{Plan, Sequence, Step, StepOp, Storage};
use crate::visit::{for_each_value, for_each_value_of};
use codegen::{
    Condition, Emitter, Encoder, ExecutableMemory, LANES, Label, Mem, Register, VectorFunction,
    Width,
};
use kernels::Fused;
use lowering::OpLowering;
use numerics::math::SliceKernel;
use region::{CodeRegion, End, effects, remove_stores};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Code of a block that becomes callable when all code that is made together is ready.
#[derive(Clone, Debug)]
pub(crate) struct Native {
    pub executable: Arc<OnceLock<ExecutableMemory>>,
    pub entry: usize,
    /// The bytes of the memory that it works on.
    pub memory: usize,
}

/// The offset in the context of the ops that may run before fuel is consumed.
pub(crate) const CONTEXT_COUNTER: i32 = 0;
/// The offset of the function that runs an op.
pub(crate) const CONTEXT_APPLY: i32 = 8;
/// The offset of the function that is called when the counter is exhausted.
pub(crate) const CONTEXT_CONSUME: i32 = 16;

/// The bytes of a line, which is in a vector register.
const LINE: u32 = 32;
/// Ops on more elements are loops, and so are ops of long code if a vector does not hold all.
const MAX_UNROLLED: u32 = 32;
/// The minimum number of elements of loops with the widest vectors, which slow down the processor
/// for a microsecond when they come in between. The machine model says if they pay in the long run;
/// this is for processors on which they do.
const MIN_WIDE: u32 = 1 << 11;
/// The work of a function of long code, in units of others.
const LONG_WORK: u32 = 8;
/// Regions of more instructions are divided, so that few values are on the stack at a time.
const MAX_REGION: usize = 1 << 11;
/// About the maximum number of instructions in the code of a plan: further ops are called.
const MAX_INSTRUCTIONS: usize = <Emitter as Encoder>::MAX_OPERATIONS;
/// The maximum number of values in a loop.
const MAX_RANGES: usize = 64;
/// The maximum number of lines that the code of an op moves.
const MAX_LINES: usize = 32;

/// True if elements of some bytes, with some numbers, are moved fastest as lines in registers.
pub(crate) fn moves(numbers: &[u32], size: usize) -> bool {
    let bytes = numbers.len() * size;
    matches!(size, 4 | 8) && bytes <= MAX_LINES * LINE as usize
}

pub(crate) fn run(_: &Graph<'_>, plan: &mut Plan) {
    // A constant, without which there is no need of the compiler.
    if !(codegen::HAS_CODE && plan.makes_code) {
        return;
    }
    let mut uses = FxHashMap::default();
    for_each_value_of(&plan.body, &mut |value| *uses.entry(value).or_insert(0) += 1);
    let constants = plan.initial.iter();
    let constants = constants.map(|(at, bytes)| (*at as u32, &bytes[..])).collect();
    let mut compiler = BlockCompiler {
        storage: &plan.storage,
        uses,
        memory: plan.arena_bytes,
        constants,
        left: MAX_INSTRUCTIONS,
        loops: LoopCodes::default(),
        emitter: Emitter::default(),
        executable: Arc::default(),
    };
    compiler.sequence(&mut plan.body);
    let code = compiler.emitter.finish();
    if let Some(executable) = code.and_then(|code| ExecutableMemory::new(&code)) {
        // It is set only here.
        let _ = compiler.executable.set(executable);
    }
}

struct BlockCompiler<'a> {
    storage: &'a [Storage],
    /// How often each value occurs.
    uses: FxHashMap<Name, u32>,
    memory: usize,
    /// The bytes of constants in the memory, by position.
    constants: FxHashMap<u32, &'a [u8]>,
    /// The instructions that may still be made.
    left: usize,
    loops: LoopCodes,
    emitter: Emitter,
    executable: Arc<OnceLock<ExecutableMemory>>,
}

impl BlockCompiler<'_> {
    fn sequence(&mut self, sequence: &mut Sequence) {
        for step in &mut sequence.steps {
            match &mut step.op {
                StepOp::Block { steps, block } => {
                    let needed = self.needed(steps);
                    block.native = self.compile(block, &needed);
                }
                StepOp::Loop { fused, .. } => self.add_loop(fused),
                StepOp::Rows { steps, .. } => {
                    for step in steps {
                        if let StepOp::Loop { fused, .. } = &mut step.op {
                            self.add_loop(fused);
                        }
                    }
                }
                StepOp::While { cond, body, .. } => {
                    self.sequence(cond);
                    self.sequence(body);
                }
                StepOp::Branch { branches, .. } => {
                    branches.iter_mut().for_each(|branch| self.sequence(branch));
                }
                _ => {}
            }
        }
    }

    fn add_loop(&mut self, fused: &mut Fused) {
        loops::add_code(fused, &mut self.loops, &mut self.emitter, &self.executable);
    }

    /// The parts of the memory with values of some steps that occur elsewhere, too.
    fn needed(&self, steps: &[Step]) -> Vec<Range<u32>> {
        let mut own: FxHashMap<Name, u32> = FxHashMap::default();
        for_each_value(steps, &mut |value| *own.entry(value).or_insert(0) += 1);
        let elsewhere = own.iter().filter(|(value, uses)| self.uses.get(value) != Some(uses));
        let range = |(&value, _)| match self.storage[value as usize] {
            Storage::Arena { at, bytes } => Some(at..at + bytes),
            _ => None,
        };
        elsewhere.filter_map(range).collect()
    }

    /// Adds the code of a block. `needed` are the parts of the memory that are read after the
    /// block. `None` if there is no code for it.
    fn compile(&mut self, block: &CompiledBlock, needed: &[Range<u32>]) -> Option<Native> {
        i32::try_from(self.memory).ok()?;
        if !block.ops.iter().all(has_code) {
            return None;
        }
        let emitter = &mut self.emitter;
        let ops = targets(&block.ops).into_iter().map(|target| (target, emitter.label()));
        let ops = ops.collect();
        let [exhausted, exceptional, failed, finish] = [(); 4].map(|()| emitter.label());
        let labels = Labels { ops, exhausted, exceptional, failed, finish };
        let mut regions = regions(block, self.memory, &labels, &self.constants, &mut self.left)?;
        remove_stores(&mut regions, &block.ops, &labels.ops, self.memory, needed);
        let entry = emitter.position();
        encode(&regions, block.ops.len() as u32, &labels, emitter)?;
        let executable = Arc::clone(&self.executable);
        Some(Native { executable, entry, memory: self.memory })
    }
}

/// False for ops that choose what runs next in a way for which there is no code.
fn has_code(op: &BlockOp) -> bool {
    match op {
        BlockOp::Consume(ops) => i32::try_from(*ops).is_ok(),
        BlockOp::Switch { index, targets } => match targets.len() {
            0 => false,
            2 if index.len() == 1 => true,
            _ => index.len() == 4,
        },
        _ => true,
    }
}

/// The vectors for some ops on `count` elements: the widest ones, if there are enough elements and
/// enough to do.
fn width(count: u32, ops: &[BlockOp]) -> Width {
    let work = |op: &BlockOp| match op {
        BlockOp::Compute { source, .. } => match source.function() {
            Some(function) if codegen::is_expensive(function) => LONG_WORK,
            _ => 1,
        },
        _ => 1,
    };
    let work = ops.iter().map(work).fold(0, u32::saturating_add);
    let best = Width::best();
    let is_long = count.saturating_mul(work) >= MIN_WIDE && count >= best.lanes() as u32;
    if is_long { best } else { Width::default() }
}

/// The number of elements up to which the code of a function is repeated.
fn max_unrolled(source: &SliceKernel) -> u32 {
    match source.function() {
        Some(function) if codegen::is_expensive(function) => LANES as u32,
        _ => MAX_UNROLLED,
    }
}

/// Places in the code of a block.
pub(crate) struct Labels {
    /// The ops to which others jump.
    pub ops: FxHashMap<u32, Label>,
    /// The code that is called when the counter is exhausted,
    pub exhausted: Label,
    /// and that which applies an op to operands for which there is no code.
    pub exceptional: Label,
    /// The end of a run that has failed,
    pub failed: Label,
    /// and of one that has not.
    pub finish: Label,
}

/// The regions of a block. Their instructions are taken from those that are `left`.
fn regions(
    block: &CompiledBlock,
    memory: usize,
    labels: &Labels,
    constants: &FxHashMap<u32, &[u8]>,
    left: &mut usize,
) -> Option<Vec<CodeRegion>> {
    let mut regions = Vec::new();
    let mut region = CodeRegion::new(0);
    let mut next = 0;

    while let Some(op) = block.ops.get(next as usize) {
        let number = next;
        next += 1;
        let is_large = region.code.len() > MAX_REGION;
        if region.first < number && (labels.ops.contains_key(&number) || is_large) {
            finish(&mut regions, &mut region, number, left);
        }
        let may_be_called = !matches!(
            op,
            BlockOp::Consume(_)
                | BlockOp::Jump(_)
                | BlockOp::Unless { .. }
                | BlockOp::Switch { .. }
        );
        if may_be_called && region.code.len() >= *left {
            region.end = End::Apply(number);
            finish(&mut regions, &mut region, next, left);
            continue;
        }
        if let BlockOp::Compute { source, count, .. } = op
            && *count > max_unrolled(source)
        {
            let members = members(&block.ops, number, *count, labels);
            if !members.is_empty() {
                next = members.end;
                if region.first < number {
                    finish(&mut regions, &mut region, number, left);
                }
                region.repeated = Some(*count);
                let ops = &block.ops[number as usize..next as usize];
                region.code = VectorFunction::of_width(width(*count, ops));
                for op in ops {
                    OpLowering { region: &mut region, labels, memory, constants }.repeat(op)?;
                }
                let width = region.code.width();
                if width != Width::default() && !count.is_multiple_of(width.lanes() as u32) {
                    let mut tail = CodeRegion::new(number);
                    for op in ops {
                        OpLowering { region: &mut tail, labels, memory, constants }.repeat(op)?;
                    }
                    region.tail = Some(tail.code);
                }
                finish(&mut regions, &mut region, next, left);
                continue;
            }
        }
        region.end =
            match (OpLowering { region: &mut region, labels, memory, constants }).op(number, op) {
                Some(None) => continue,
                Some(Some(end)) => end,
                // Code that has been added has loaded and moved elements that the op moves again.
                None => End::Apply(number),
            };
        finish(&mut regions, &mut region, next, left);
    }
    region.end = End::Finish;
    regions.push(region);
    Some(regions)
}

/// Ends a region; the next one begins with an op.
fn finish(regions: &mut Vec<CodeRegion>, region: &mut CodeRegion, first: u32, left: &mut usize) {
    let tail = region.tail.as_ref().map_or(0, VectorFunction::len);
    *left = left.saturating_sub(region.code.len() + tail);
    regions.push(std::mem::replace(region, CodeRegion::new(first)));
}

/// Adds the code of regions, as a function of the memory and the context. The ops end before `end`.
fn encode(regions: &[CodeRegion], end: u32, labels: &Labels, emitter: &mut Emitter) -> Option<()> {
    // How much of the stack is needed is known at the end.
    let [enter, start] = [(); 2].map(|()| emitter.label());
    emitter.jump(enter);
    emitter.bind(start);
    let mut slots = 0;
    for region in regions {
        if let Some(&label) = labels.ops.get(&region.first) {
            emitter.bind(label);
        }
        encode_region(region, labels, emitter, &mut slots)?;
    }
    // A jump to the end.
    if let Some(&label) = labels.ops.get(&end)
        && regions.iter().all(|region| region.first != end)
    {
        emitter.bind(label);
    }
    emitter.bind(labels.finish);
    emitter.set(Register::Result, 0);
    let leave = emitter.label();
    emitter.bind(leave);
    emitter.leave_block();
    emitter.bind(labels.failed);
    emitter.set(Register::Result, 1);
    emitter.jump(leave);
    let function = |at| Mem::at(Register::Context, at);
    let exhausted = function(CONTEXT_CONSUME);
    emitter.callback(labels.exhausted, exhausted, Register::Loaded, labels.failed);
    let exceptional = function(CONTEXT_APPLY);
    emitter.callback(labels.exceptional, exceptional, Register::Number, labels.failed);
    emitter.bind(enter);
    emitter.enter_block(i32::try_from(slots.checked_mul(LINE)?).ok()?);
    emitter.jump(start);
    Some(())
}

fn encode_region(
    region: &CodeRegion,
    labels: &Labels,
    emitter: &mut Emitter,
    slots: &mut u32,
) -> Option<()> {
    match region.repeated {
        None if !region.carried.is_empty() => {
            codegen::emit_loop(&region.code, &region.carried, emitter, slots);
            return Some(());
        }
        None => codegen::emit(&region.code, emitter, slots),
        Some(count) => {
            emitter.set(Register::Element, 0);
            let lanes = region.code.width().lanes() as u32;
            let whole = if region.tail.is_some() { count - count % lanes } else { count };
            let parts = [Some(&region.code), region.tail.as_ref()];
            for (code, end) in parts.into_iter().zip([whole, count]) {
                let Some(code) = code else { continue };
                let start = emitter.label();
                emitter.bind(start);
                let (width, mut vectors) = (code.width(), 0);
                codegen::emit(code, emitter, &mut vectors);
                *slots = (*slots).max(vectors * (width.bytes() as u32 / LINE));
                emitter.add_number(Register::Element, width.lanes() as i32);
                emitter.compare_number(Register::Element, i32::try_from(end).ok()?);
                emitter.jump_if(Condition::Less, start);
            }
        }
    }
    match &region.end {
        End::Next => {}
        End::Jump(to) => emitter.jump(*labels.ops.get(to)?),
        End::Finish => emitter.jump(labels.finish),
        End::Apply(op) => {
            emitter.end_vectors();
            emitter.mov(Register::First, Register::Context);
            emitter.set(Register::Second, *op);
            emitter.call(Mem::at(Register::Context, CONTEXT_APPLY));
            emitter.test(Register::Result);
            emitter.jump_if(Condition::NotEqual, labels.failed);
        }
        End::Switch { index, targets } => switch(emitter, index, targets, &labels.ops)?,
    }
    Some(())
}

/// The elementwise ops from a number on that have code and can run together for one element after
/// the other.
fn members(ops: &[BlockOp], first: u32, count: u32, labels: &Labels) -> Range<u32> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    let mut end = first;
    for op in &ops[first as usize..] {
        let BlockOp::Compute { source, count: own, .. } = op else { break };
        if *own != count
            || (end > first && labels.ops.contains_key(&end))
            || !codegen::has_code(source)
        {
            break;
        }
        let (reads, written) = effects(op);
        // Elements of other sizes would be at other places at a time.
        let differs = |range: &Range<u32>, other: &Range<u32>| {
            range != other && range.start < other.end && other.start < range.end
        };
        let own: SmallVec<[Range<u32>; 4]> = reads.into_iter().chain(written).collect();
        if own.iter().any(|range| ranges.iter().chain(&own).any(|other| differs(range, other))) {
            break;
        }
        ranges.extend(own);
        if ranges.len() > MAX_RANGES {
            break;
        }
        end += 1;
    }
    first..end
}

fn switch(
    emitter: &mut Emitter,
    index: &Range<u32>,
    targets: &[u32],
    labels: &FxHashMap<u32, Label>,
) -> Option<()> {
    let place = Mem::at(Register::Memory, index.start as i32);
    let (last, others) = targets.split_last()?;
    match (index.len(), others) {
        (1, [yes]) => {
            emitter.test_byte(place);
            emitter.jump_if(Condition::NotEqual, *labels.get(yes)?);
        }
        (4, others) => {
            emitter.load(Register::Loaded, place, 4, true);
            for (number, target) in others.iter().enumerate() {
                emitter.compare_number(Register::Loaded, i32::try_from(number).ok()?);
                emitter.jump_if(Condition::Equal, *labels.get(target)?);
            }
        }
        _ => return None,
    }
    emitter.jump(*labels.get(last)?);
    Some(())
}

/// The numbers of ops to which others jump.
fn targets(ops: &[BlockOp]) -> BTreeSet<u32> {
    let mut targets = BTreeSet::new();
    for op in ops {
        match op {
            BlockOp::Jump(to) | BlockOp::Unless { to, .. } => {
                targets.insert(*to);
            }
            BlockOp::Switch { targets: all, .. } => targets.extend(all.iter().copied()),
            _ => {}
        }
    }
    targets
}
