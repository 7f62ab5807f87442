//! Cloning of ops and regions within a module.

use super::{BlockId, Module, OpId, OpRef, RegionId, Value};
use std::collections::HashMap;

impl Module {
    /// Clones an op with its regions. Operands and successors are mapped through `values` and the
    /// block map, to which the clone's results and blocks are added. The clone is detached.
    pub fn clone_op(
        &mut self,
        op: OpId,
        values: &mut HashMap<Value, Value>,
        blocks: &mut HashMap<BlockId, BlockId>,
    ) -> OpId {
        let regions = self.op(op).regions().to_vec();
        let copies =
            regions.into_iter().map(|region| self.clone_region(region, values, blocks)).collect();
        let source = self.op(op);
        let operands = source.operands().iter().map(|v| *values.get(v).unwrap_or(v)).collect();
        let result_types = source.result_types().cloned().collect();
        let successors = source.successors().iter().map(|b| *blocks.get(b).unwrap_or(b)).collect();
        let (template, loc) = (source.template().clone(), source.loc().clone());
        let copy = self.create_from(template, operands, result_types, loc);
        self.set_regions_and_successors(copy, copies, successors);
        let pairs: Vec<_> = self.op(op).results().zip(self.op(copy).results()).collect();
        values.extend(pairs);
        copy
    }

    /// Clones a region, as [`Module::clone_op`] does. The clone is detached.
    pub fn clone_region(
        &mut self,
        region: RegionId,
        values: &mut HashMap<Value, Value>,
        blocks: &mut HashMap<BlockId, BlockId>,
    ) -> RegionId {
        let copy = self.create_region();
        let sources = self.blocks(region).to_vec();
        for &block in &sources {
            let new = self.create_block(copy);
            blocks.insert(block, new);
            for i in 0..self.arguments(block).len() {
                let argument = self.arguments(block)[i];
                let (ty, loc) = (self.ty(argument).clone(), self.argument_locs(block)[i].clone());
                let value = self.add_argument(new, ty, loc);
                values.insert(argument, value);
            }
        }
        for block in sources {
            let mut next = self.first_op(block).map(OpRef::id);
            while let Some(op) = next {
                let copy = self.clone_op(op, values, blocks);
                self.append(blocks[&block], copy);
                next = self.op(op).next_in_block().map(OpRef::id);
            }
        }
        copy
    }
}
