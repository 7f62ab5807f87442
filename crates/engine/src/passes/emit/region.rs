//! Straight-line code of a block, and which of its stores are needed.

use crate::block::{BlockOffset, BlockOp};
use codegen::{Chunk, LANES, Label, MAX_CARRIED, NeededParts, Value, VectorFunction};
use numerics::DType;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

use super::LINE;

/// Regions that load more lines are no loops whose lines stay in registers.
const MAX_LOADED: usize = 64;
/// Regions times bytes of memory, up to which is found out which stores nothing needs.
const MAX_ANALYSIS: usize = 1 << 28;

/// Straight-line code.
pub(super) struct CodeRegion {
    /// The number of its first op.
    pub first: u32,
    /// The number of elements, if the code computes one vector of them at a time.
    pub repeated: Option<u32>,
    pub code: VectorFunction,
    /// The code for the last elements, if the code has wider vectors than are left.
    pub tail: Option<VectorFunction>,
    pub end: End,
    /// The parts of the memory that are in registers, by position.
    pub known: BTreeMap<u32, Available>,
    /// The values that are in registers in a loop, with their types, by position.
    pub chunks: FxHashMap<u32, (DType, Chunk)>,
    /// The lines that are loaded before they are written, by position.
    pub loaded: Vec<(u32, Value)>,
    /// The parts of the memory that are written.
    written: Vec<Range<u32>>,
    /// If the region is a loop: lines that stay in registers from round to round.
    pub carried: Vec<(Value, Value)>,
}

/// The end of a region.
pub(super) enum End {
    Next,
    Jump(u32),
    Apply(u32),
    Switch { index: Range<u32>, targets: Box<[u32]> },
    Finish,
}

/// Bytes of the memory that are in a register.
#[derive(Clone, Copy)]
pub(super) enum Available {
    /// [`LINE`] bytes.
    Line(Value),
    /// Eight booleans.
    Mask(Value),
}

impl CodeRegion {
    pub(crate) fn new(first: u32) -> CodeRegion {
        CodeRegion {
            first,
            repeated: None,
            code: VectorFunction::new(),
            tail: None,
            end: End::Next,
            known: BTreeMap::new(),
            chunks: FxHashMap::default(),
            loaded: Vec::new(),
            written: Vec::new(),
            carried: Vec::new(),
        }
    }

    /// Notes a load of the line at a position.
    pub(crate) fn note_load(&mut self, at: u32, line: Value) {
        if self.loaded.len() < MAX_LOADED && !self.writes(at) {
            self.loaded.push((at, line));
        }
    }

    /// Notes that a part of the memory is written, and forgets what was there.
    pub(crate) fn overwrite(&mut self, range: Range<u32>) {
        let from = range.start.saturating_sub(LINE - 1);
        let overlapping: SmallVec<[u32; 4]> = self
            .known
            .range(from..range.end)
            .filter(|&(&at, known)| at + known.bytes() > range.start)
            .map(|(&at, _)| at)
            .collect();
        for at in overlapping {
            self.known.remove(&at);
        }
        if self.loaded.len() < MAX_LOADED {
            self.written.push(range);
        }
    }

    /// True if a part of the line at a position has been written.
    fn writes(&self, at: u32) -> bool {
        self.written.iter().any(|range| range.start < at + LINE && at < range.end)
    }

    /// Ends the region with a jump. If this is a jump to its start, what it loads first stays in
    /// registers.
    pub(crate) fn jump(&mut self, to: u32) -> End {
        if to != self.first || self.loaded.len() >= MAX_LOADED {
            return End::Jump(to);
        }
        // Changing lines first: rounds wait for them.
        let (mut changing, mut constant) = (Vec::new(), Vec::new());
        for &(at, line) in &self.loaded {
            match self.known.get(&at) {
                _ if !self.writes(at) => constant.push((line, line)),
                Some(&Available::Line(next)) => changing.push((line, next)),
                _ => {}
            }
        }
        let is_changing = changing.len();
        changing.append(&mut constant);
        changing.truncate(MAX_CARRIED);
        for (number, &(line, _)) in changing.iter().enumerate() {
            self.code.carry(line, number >= is_changing);
        }
        self.carried = changing;
        End::Jump(to)
    }
}

/// Removes stores to parts of the memory that are not read afterwards.
pub(super) fn remove_stores(
    regions: &mut [CodeRegion],
    ops: &[BlockOp],
    labels: &FxHashMap<u32, Label>,
    memory: usize,
    needed: &[Range<u32>],
) {
    if regions.len().saturating_mul(memory) > MAX_ANALYSIS {
        return;
    }
    let mut after = NeededParts::none(memory);
    needed.iter().for_each(|range| after.add(range));
    let none = NeededParts::none(memory);
    let mut before: Vec<NeededParts> = vec![none.clone(); regions.len()];
    let starts: FxHashMap<u32, usize> =
        regions.iter().enumerate().rev().map(|(at, region)| (region.first, at)).collect();
    let numbers: FxHashMap<Label, u32> = labels.iter().map(|(&op, &label)| (label, op)).collect();
    // Backwards until nothing changes, then once more.
    let mut removes = false;
    loop {
        let mut changes = false;
        for at in (0..regions.len()).rev() {
            let at_op = |op: u32| starts.get(&op).map_or(&after, |&region| &before[region]);
            let mut parts = none.clone();
            let next = before.get(at + 1).unwrap_or(&after);
            match &regions[at].end {
                End::Next => parts.clone_from(next),
                End::Jump(to) => parts.clone_from(at_op(*to)),
                End::Finish => parts.clone_from(&after),
                End::Switch { index, targets } => {
                    for &target in targets {
                        parts.extend(at_op(target));
                    }
                    parts.add(index);
                }
                End::Apply(op) => {
                    parts.clone_from(next);
                    let (reads, written) = effects(&ops[*op as usize]);
                    written.iter().for_each(|range| parts.remove(range));
                    reads.iter().for_each(|range| parts.add(range));
                }
            }
            let exit = |label: Label| Some(at_op(*numbers.get(&label)?).clone());
            let mut code = std::mem::take(&mut regions[at].code);
            let mut tail = regions[at].tail.take();
            // The code for the last elements names the same parts of the memory, of all elements.
            if let Some(tail) = &mut tail {
                tail.needed(&mut parts.clone(), exit, removes);
            }
            code.needed(&mut parts, exit, removes);
            regions[at].code = code;
            regions[at].tail = tail;
            changes |= before[at].extend(&parts);
        }
        if removes {
            return;
        }
        removes = !changes;
    }
}

/// The parts of the memory that an op reads, and the one that it writes as a whole.
pub(super) fn effects(op: &BlockOp) -> (SmallVec<[Range<u32>; 4]>, Option<Range<u32>>) {
    let mut reads = SmallVec::new();
    let start = |start: &BlockOffset| start.index.clone();
    let written = match op {
        BlockOp::Compute { source, result, operands, count, .. } => {
            let sizes = source.operands().iter().map(|dtype| dtype.bytes() as u32);
            reads.extend(operands.iter().zip(sizes).map(|(&at, size)| at..at + count * size));
            Some(*result..result + count * source.result().bytes() as u32)
        }
        BlockOp::CopyLine { from, to, bytes } | BlockOp::Copy { from, to, bytes } => {
            reads.push(*from..from + bytes);
            Some(*to..to + bytes)
        }
        BlockOp::Fill { from, size, to } => {
            reads.push(*from..from + size);
            Some(to.clone())
        }
        BlockOp::Collect { elements, starts, to } => {
            reads.extend(starts.iter().map(start));
            reads.push(elements.range(starts));
            Some(*to..to + (elements.numbers.len() * elements.size) as u32)
        }
        BlockOp::Spread { from, elements, starts } => {
            reads.extend(starts.iter().map(start));
            reads.push(*from..from + (elements.numbers.len() * elements.size) as u32);
            None
        }
        BlockOp::Apply { operands, arity, result, .. } => {
            reads.extend(operands[..*arity].iter().cloned());
            Some(result.clone())
        }
        BlockOp::Consume(_)
        | BlockOp::Jump(_)
        | BlockOp::Unless { .. }
        | BlockOp::Switch { .. } => None,
    };
    (reads, written)
}

impl Available {
    pub(crate) fn bytes(&self) -> u32 {
        match self {
            Available::Line(_) => LINE,
            Available::Mask(_) => LANES as u32,
        }
    }
}
