//! The work of the instructions that a step of a run computes.

use super::{CostWalk, Doubt, Work};
use interpreter::{Program, Share, StepRecord};
use program::BlockId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The work of the instructions of a program.
pub(crate) struct Works<'p> {
    walk: CostWalk<'p>,
    /// The block of each instruction.
    blocks: FxHashMap<u32, BlockId>,
}

impl<'p> Works<'p> {
    pub(crate) fn of(program: &'p Program) -> Works<'p> {
        let code = program.code();
        let mut walk = CostWalk::new(code);
        if let Some(body) = code.function(program.entry()).body {
            walk.complete(body);
        }
        let blocks = (0..).map(BlockId).zip(&code.blocks);
        let blocks =
            blocks.flat_map(|(id, block)| block.instructions.clone().map(move |i| (i, id)));
        Works { blocks: blocks.collect(), walk }
    }

    /// The work of one execution of a step: what its instructions do, but that its loops read and
    /// write less.
    pub(crate) fn step(&self, step: &StepRecord) -> (Work, Option<Doubt>) {
        let mut all = (Work { bytes: step.loop_bytes, ..Work::default() }, None);
        for &(instruction, share) in &step.parts {
            let (work, doubt) = self.part(instruction, share);
            all = (all.0.plus(work), all.1.or(doubt));
        }
        all
    }

    fn part(&self, instruction: u32, share: Share) -> (Work, Option<Doubt>) {
        let Some(&id) = self.blocks.get(&instruction) else { return Default::default() };
        let block = self.walk.code.block(id);
        let instruction = &self.walk.code.instructions[instruction as usize];
        let (own, doubt) = self.walk.own(block, instruction);
        match share {
            Share::Own => (own, doubt),
            Share::Arithmetic => (Work { bytes: 0, ..own }, doubt),
            Share::Nested => {
                let (nested, inner) = self.walk.nested(id, instruction);
                let nested_doubt = nested.iter().find_map(|n| self.doubt(n.block));
                let works = nested.iter().map(|n| self.walk.total(n.block).work.times(n.runs));
                (works.fold(own, Work::plus), doubt.or(inner).or(nested_doubt))
            }
        }
    }

    /// A reason why the cost of a block is not exact.
    fn doubt(&self, block: BlockId) -> Option<Doubt> {
        let mut seen = FxHashSet::default();
        let mut stack = vec![block];
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            let block = self.walk.code.block(id);
            for instruction in self.walk.code.instructions_of(block) {
                let (nested, doubt) = self.walk.nested(id, instruction);
                let doubt = doubt.or_else(|| self.walk.own(block, instruction).1);
                if doubt.is_some() {
                    return doubt;
                }
                stack.extend(nested.iter().map(|nested| nested.block));
            }
        }
        None
    }
}
