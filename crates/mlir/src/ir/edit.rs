//! Moving and erasing ops, blocks and regions.

use super::{BlockId, Module, OpId, RegionId, Value};

impl Module {
    /// Takes an op out of the module with everything in it. Nothing may use its results afterwards.
    /// Its memory is reclaimed by [`Module::compact`]; until then no other op gets its id.
    pub fn erase(&mut self, op: OpId) {
        self.detach(op);
        let mut stack = vec![op];
        while let Some(op) = stack.pop() {
            self.erased += 1;
            self.set_operands(op, []);
            let rare = self.ops[op.index()].rare.as_mut();
            for region in rare.map(|rare| std::mem::take(&mut rare.regions)).unwrap_or_default() {
                for block in std::mem::take(&mut self.regions[region.index()].blocks) {
                    stack.extend(self.take_ops(block));
                }
            }
        }
    }

    /// True if the op is in a block or is the top-level op, that is, not erased or detached.
    pub fn is_attached(&self, op: OpId) -> bool {
        self.ops[op.index()].place.block.is_some() || op == self.top
    }

    /// Erases a block with all its ops. There must be no references to it and no uses of its
    /// values.
    pub fn erase_block(&mut self, block: BlockId) {
        if let Some(region) = self.blocks[block.index()].parent.take() {
            self.regions[region.index()].blocks.retain(|&b| b != block);
        }
        while let Some(op) = self.terminator(block) {
            self.erase(op.id());
        }
    }

    /// Moves all blocks of `from` to the end of `to`.
    pub fn move_blocks(&mut self, from: RegionId, to: RegionId) {
        for block in std::mem::take(&mut self.regions[from.index()].blocks) {
            self.attach_block(to, block);
        }
    }

    /// Moves the ops of `block` before `next`, with its arguments replaced by `values`. The block
    /// stays, empty. Requires [`Module::build_uses`].
    pub fn inline_block_before(&mut self, block: BlockId, next: OpId, values: &[Value]) {
        for (argument, &value) in self.arguments(block).to_vec().into_iter().zip(values) {
            self.replace_all_uses(argument, value);
        }
        while let Some(op) = self.first_op(block) {
            self.insert_before(op.id(), next);
        }
    }

    /// Erases an unused argument; the following ones are renumbered.
    pub fn erase_argument(&mut self, block: BlockId, index: usize) {
        let data = &mut self.blocks[block.index()];
        data.arguments.remove(index);
        data.argument_locs.remove(index);
        for (i, &value) in data.arguments.iter().enumerate().skip(index) {
            self.values[value.index()].def = super::ValueDef::Argument { block, index: i as u32 };
        }
    }

    /// Replaces a region of an op by a detached region.
    pub fn set_region(&mut self, op: OpId, index: usize, region: RegionId) {
        let old = std::mem::replace(&mut self.ops[op.index()].rare_mut().regions[index], region);
        self.regions[old.index()].parent = None;
        self.regions[region.index()].parent = Some(op);
    }
}
