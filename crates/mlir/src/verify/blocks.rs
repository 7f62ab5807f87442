//! Blocks: terminators, successors, entry blocks.

use super::{Verifier, is_graph_region};
use crate::ir::{BlockId, OpRef, RegionId};
use crate::ods::Trait;

impl<'m> Verifier<'m> {
    /// Checks that graph regions have at most one block, and no block branches to an entry block.
    pub(super) fn check_entry_blocks(&mut self, op: OpRef<'m>) {
        for (i, &region) in op.regions().iter().enumerate() {
            let blocks = self.module.blocks(region);
            let Some(&entry) = blocks.first() else { continue };
            if blocks.len() > 1 && op.def().is_some() && is_graph_region(self.module, region) {
                let message = format!(
                    "region {i} of `{}` must have at most one block, found {}",
                    op.name(),
                    blocks.len()
                );
                self.report(op.error("region", message));
            }
            let mut terminators = blocks.iter().filter_map(|&b| self.module.terminator(b));
            if let Some(branch) = terminators.find(|t| t.successors().contains(&entry)) {
                let message =
                    format!("`{}` branches to the entry block of its region", branch.name());
                self.report(branch.error("region", message));
            }
        }
    }

    /// Checks that a block is not empty, and only its last op has successors.
    pub(super) fn enter_block(&mut self, region: RegionId, block: BlockId) {
        let mut others = self.module.ops(block);
        if others.next_back().is_none() {
            if self.needs_terminator(region)
                && let Some(parent) = self.module.region_parent(region)
            {
                let parent = self.module.op(parent);
                let message = format!(
                    "a block in `{}` is empty; it must end with a terminator",
                    parent.name()
                );
                self.report(parent.error("terminator", message));
            }
            return;
        }
        if let Some(branch) = others.find(|op| !op.successors().is_empty()) {
            let message =
                format!("`{}` has successors and must be the last op of its block", branch.name());
            self.report(branch.error("terminator", message));
        }
    }

    /// Checks that the last op of a block is a terminator, if one is required, and only branches
    /// within the region.
    pub(super) fn exit_block(&mut self, region: RegionId, block: BlockId) {
        let Some(last) = self.module.terminator(block) else { return };
        if last.successors().iter().any(|&s| self.module.block_parent(s) != Some(region)) {
            let message = format!("`{}` branches to a block of another region", last.name());
            self.report(last.error("successors", message));
        }
        let may_end = last.def().is_none_or(|def| def.has_trait(&Trait::Terminator));
        if !may_end && self.needs_terminator(region) {
            let such_as = match self.usual_terminator(region) {
                Some(name) => format!(" such as `{name}`"),
                None => String::new(),
            };
            let message = format!(
                "the block must end with a terminator{such_as}, but ends with `{}`",
                last.name()
            );
            self.report(last.error("terminator", message));
        }
    }

    /// The terminator of the dialect of the op that a region belongs to.
    fn usual_terminator(&self, region: RegionId) -> Option<&'static str> {
        let parent = self.module.op(self.module.region_parent(region)?);
        let def = self.module.registry().op(&format!("{}.return", parent.def()?.dialect()))?;
        def.has_trait(&Trait::Terminator).then_some(def.name)
    }

    fn needs_terminator(&self, region: RegionId) -> bool {
        let Some(parent) = self.module.region_parent(region) else { return false };
        let parent = self.module.op(parent);
        self.module.blocks(region).len() > 1
            || parent.def().is_some_and(|def| !def.has_trait(&Trait::NoTerminator))
    }
}
