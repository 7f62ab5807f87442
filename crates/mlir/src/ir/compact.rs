//! Reclaiming the memory of what was erased.
//!
//! An id means one entity from its creation until the module is compacted, also after the entity
//! was erased: worklists and maps of a transformation may hold it. [`Module::compact`] renumbers
//! everything at once, so it may only run where no ids are held; the pass manager calls it between
//! passes, when more ops were erased than are left.

use super::{BlockId, Module, OpId, RegionId, Value, ValueDef};

/// New ids by old ones; `None` for what is dropped.
struct Renumbering {
    ops: Vec<Option<OpId>>,
    blocks: Vec<Option<BlockId>>,
    regions: Vec<Option<RegionId>>,
    values: Vec<Option<Value>>,
}

impl Module {
    /// True if more ops were erased than are left.
    pub(crate) fn is_sparse(&self) -> bool {
        self.erased > self.ops.len() / 2
    }

    /// Drops everything that is not within the top-level op, and numbers the rest in program
    /// order. Invalidates all ids.
    pub fn compact(&mut self) {
        self.erased = 0;
        let ops: Vec<OpId> = self.walk(self.top).map(|op| op.id()).collect();
        let regions: Vec<RegionId> =
            ops.iter().flat_map(|&op| self.op(op).regions()).copied().collect();
        let blocks: Vec<BlockId> = regions.iter().flat_map(|&r| self.blocks(r)).copied().collect();
        let arguments = blocks.iter().flat_map(|&block| self.arguments(block).iter().copied());
        let results = ops.iter().flat_map(|&op| self.op(op).results());
        let values: Vec<Value> = results.chain(arguments).collect();
        let new = Renumbering {
            ops: invert(self.ops.len(), &ops, OpId::index, OpId::new),
            blocks: invert(self.blocks.len(), &blocks, BlockId::index, BlockId::new),
            regions: invert(self.regions.len(), &regions, RegionId::index, RegionId::new),
            values: invert(self.values.len(), &values, Value::index, Value::new),
        };
        if !ops.iter().all(|&op| new.covers(self, op)) {
            return;
        }
        self.ops = select(&mut self.ops, &ops, OpId::index);
        self.blocks = select(&mut self.blocks, &blocks, BlockId::index);
        self.regions = select(&mut self.regions, &regions, RegionId::index);
        self.values = select(&mut self.values, &values, Value::index);
        new.apply(self);
    }
}

impl Renumbering {
    /// True if what an op refers to is kept. In a module that is not valid it may not be.
    fn covers(&self, module: &Module, op: OpId) -> bool {
        let op = module.op(op);
        op.operands().iter().all(|v| self.values[v.index()].is_some())
            && op.successors().iter().all(|b| self.blocks[b.index()].is_some())
    }

    fn apply(&self, module: &mut Module) {
        let op = |old: &mut Option<OpId>| *old = old.and_then(|old| self.ops[old.index()]);
        let block = |old: &mut BlockId| *old = self.blocks[old.index()].unwrap_or(*old);
        let region = |old: &mut RegionId| *old = self.regions[old.index()].unwrap_or(*old);
        let value = |old: &mut Value| *old = self.values[old.index()].unwrap_or(*old);
        for data in &mut module.ops {
            data.operands.iter_mut().for_each(value);
            data.first_result = match data.num_results {
                0 => 0,
                _ => self.values[data.first_result as usize].map_or(0, Value::index) as u32,
            };
            if let Some(rare) = &mut data.rare {
                rare.regions.iter_mut().for_each(region);
                rare.successors.iter_mut().for_each(block);
            }
            data.place.block.iter_mut().for_each(block);
            data.place.neighbours().into_iter().for_each(op);
        }
        for data in &mut module.blocks {
            data.arguments.iter_mut().for_each(value);
            data.parent.iter_mut().for_each(region);
            data.ops.ends().into_iter().for_each(op);
        }
        for data in &mut module.regions {
            data.blocks.iter_mut().for_each(block);
            op(&mut data.parent);
        }
        for data in &mut module.values {
            match &mut data.def {
                ValueDef::Result { op, .. } => *op = self.ops[op.index()].unwrap_or(*op),
                ValueDef::Argument { block: of, .. } => block(of),
            }
        }
        module.top = OpId::new(0);
        module.uses = None;
        module.symbols = Default::default();
        let orders = std::mem::take(&mut module.use_orders);
        for (of, order) in orders {
            let Some(of) = self.values[of.index()] else { continue };
            let order = order.into_iter().filter_map(|(op, i)| Some((self.ops[op.index()]?, i)));
            module.use_orders.insert(of, order.collect());
        }
    }
}

fn invert<T: Copy>(
    len: usize,
    kept: &[T],
    index: fn(T) -> usize,
    id: fn(usize) -> T,
) -> Vec<Option<T>> {
    let mut new = vec![None; len];
    for (at, &old) in kept.iter().enumerate() {
        new[index(old)] = Some(id(at));
    }
    new
}

/// The entries of an arena that are kept, in that order.
fn select<T, Id: Copy>(arena: &mut Vec<T>, kept: &[Id], index: fn(Id) -> usize) -> Vec<T> {
    let mut old: Vec<Option<T>> = std::mem::take(arena).into_iter().map(Some).collect();
    kept.iter().filter_map(|&id| old[index(id)].take()).collect()
}
