//! The order of ops in blocks: doubly linked lists with labels.
//!
//! An op holds its neighbours and a label that grows along its block. Insertion and removal take
//! constant time, and [`Module::is_before_in_block`] compares two numbers. Where two neighbours
//! leave no label between them, those around are spread out, over the smallest range that is
//! sparse enough; this costs O(log n) per insertion, amortized.
//!
//! Source: Bender, Cole, Demaine, Farach-Colton, Zito, "Two simplified algorithms for maintaining
//! order in a list", 2002.

use super::{BlockId, Module, OpId, OpRef};
use std::iter::FusedIterator;

/// The position of an op.
#[derive(Clone, Copy, Default)]
pub(super) struct OpPlace {
    pub(super) block: Option<BlockId>,
    previous: Option<OpId>,
    next: Option<OpId>,
    /// Greater than the labels of all ops before it in the block.
    label: u64,
}

impl OpPlace {
    pub(super) fn neighbours(&mut self) -> [&mut Option<OpId>; 2] {
        [&mut self.previous, &mut self.next]
    }
}

/// The ops of a block.
#[derive(Clone, Copy, Default)]
pub(super) struct OpList {
    first: Option<OpId>,
    last: Option<OpId>,
    len: u32,
}

impl OpList {
    pub(super) fn ends(&mut self) -> [&mut Option<OpId>; 2] {
        [&mut self.first, &mut self.last]
    }
}

/// Between the labels of ops that are appended one after the other.
const STRIDE: u64 = 1 << 32;

/// Insertion and removal. An op that is already in a block is moved.
impl Module {
    /// Appends an op to `block`.
    pub fn append(&mut self, block: BlockId, op: OpId) {
        self.detach(op);
        self.link(block, self.blocks[block.index()].ops.last, op, None);
    }

    /// Inserts an op at the start of `block`.
    pub fn prepend(&mut self, block: BlockId, op: OpId) {
        self.detach(op);
        self.link(block, None, op, self.blocks[block.index()].ops.first);
    }

    /// Inserts an op before another, which must be in a block.
    pub fn insert_before(&mut self, op: OpId, next: OpId) {
        if op == next {
            return;
        }
        self.detach(op);
        let place = self.ops[next.index()].place;
        if let Some(block) = place.block {
            self.link(block, place.previous, op, Some(next));
        }
    }

    /// Inserts an op after another, which must be in a block.
    pub fn insert_after(&mut self, op: OpId, previous: OpId) {
        if op == previous {
            return;
        }
        self.detach(op);
        let place = self.ops[previous.index()].place;
        if let Some(block) = place.block {
            self.link(block, Some(previous), op, place.next);
        }
    }

    /// Removes an op from its block. Its operands still count as uses: insert it elsewhere, or
    /// erase it.
    #[inline]
    pub fn detach(&mut self, op: OpId) {
        if let Some(block) = self.ops[op.index()].place.block {
            self.unlink(block, op);
        }
    }

    fn unlink(&mut self, block: BlockId, op: OpId) {
        let OpPlace { previous, next, .. } = std::mem::take(&mut self.ops[op.index()].place);
        let list = &mut self.blocks[block.index()].ops;
        list.len -= 1;
        match previous {
            Some(previous) => self.ops[previous.index()].place.next = next,
            None => list.first = next,
        }
        match next {
            Some(next) => self.ops[next.index()].place.previous = previous,
            None => list.last = previous,
        }
    }

    /// Removes all ops from a block.
    pub(super) fn take_ops(&mut self, block: BlockId) -> Vec<OpId> {
        let ops: Vec<OpId> = self.ops(block).map(OpRef::id).collect();
        self.blocks[block.index()].ops = OpList::default();
        for op in &ops {
            self.ops[op.index()].place = OpPlace::default();
        }
        ops
    }

    /// Replaces all ops of a block; previous ones that are not in `ops` are detached.
    pub fn set_block_ops(&mut self, block: BlockId, ops: impl IntoIterator<Item = OpId>) {
        self.take_ops(block);
        ops.into_iter().for_each(|op| self.append(block, op));
    }

    fn link(&mut self, block: BlockId, previous: Option<OpId>, op: OpId, next: Option<OpId>) {
        let list = &mut self.blocks[block.index()].ops;
        list.len += 1;
        let mut low = 0;
        match previous {
            Some(previous) => {
                let place = &mut self.ops[previous.index()].place;
                place.next = Some(op);
                low = place.label;
            }
            None => list.first = Some(op),
        }
        let mut high = u64::MAX;
        match next {
            Some(next) => {
                let place = &mut self.ops[next.index()].place;
                place.previous = Some(op);
                high = place.label;
            }
            None => list.last = Some(op),
        }
        let at_end = low.checked_add(STRIDE).filter(|_| previous.is_some() && next.is_none());
        let label = at_end.unwrap_or_else(|| low.midpoint(high));
        self.ops[op.index()].place = OpPlace { block: Some(block), previous, next, label };
        if label == low || label == high {
            self.spread_labels(op);
        }
    }

    /// Relabels an op, whose label equals a neighbour's, and as many ops around it as necessary.
    fn spread_labels(&mut self, op: OpId) {
        let label = self.ops[op.index()].place.label;
        let (mut first, mut last, mut count) = (op, op, 1);
        // Of 4^n labels with a common prefix, 2^n may be in use; thus 2^64 labels suffice for 2^32
        // ops, the size of the arena.
        for n in 1..=32 {
            let mask = u64::MAX >> (64 - 2 * n);
            let range = label & !mask..=label | mask;
            let in_range = |op: &OpId| range.contains(&self.ops[op.index()].place.label);
            while let Some(op) = self.ops[first.index()].place.previous.filter(in_range) {
                first = op;
                count += 1;
            }
            while let Some(op) = self.ops[last.index()].place.next.filter(in_range) {
                last = op;
                count += 1;
            }
            if count <= 1 << n {
                let step = mask / count;
                let mut label = range.start() + step / 2;
                let mut next = Some(first);
                for _ in 0..count {
                    let Some(op) = next else { break };
                    let place = &mut self.ops[op.index()].place;
                    place.label = label;
                    label = label.wrapping_add(step);
                    next = place.next;
                }
                return;
            }
        }
    }
}

/// Order.
impl Module {
    /// The ops of a block in order.
    pub fn ops(&self, block: BlockId) -> Ops<'_> {
        Ops { module: self, list: self.blocks[block.index()].ops }
    }

    /// The first op of a block.
    pub fn first_op(&self, block: BlockId) -> Option<OpRef<'_>> {
        self.blocks[block.index()].ops.first.map(|op| self.op(op))
    }

    /// The last op of a block.
    pub fn terminator(&self, block: BlockId) -> Option<OpRef<'_>> {
        self.blocks[block.index()].ops.last.map(|op| self.op(op))
    }

    /// True if `a` is before `b`, both in the same block.
    pub fn is_before_in_block(&self, a: OpId, b: OpId) -> bool {
        let (a, b) = (&self.ops[a.index()].place, &self.ops[b.index()].place);
        a.block == b.block && a.label < b.label
    }
}

impl<'m> OpRef<'m> {
    /// The next op in the block.
    pub fn next_in_block(self) -> Option<OpRef<'m>> {
        self.data().place.next.map(|op| self.module().op(op))
    }

    /// The previous op in the block.
    pub fn previous_in_block(self) -> Option<OpRef<'m>> {
        self.data().place.previous.map(|op| self.module().op(op))
    }
}

/// Iterator over the ops of a block.
#[derive(Clone)]
pub struct Ops<'m> {
    module: &'m Module,
    list: OpList,
}

impl<'m> Iterator for Ops<'m> {
    type Item = OpRef<'m>;

    fn next(&mut self) -> Option<OpRef<'m>> {
        self.list.len = self.list.len.checked_sub(1)?;
        let op = self.module.op(self.list.first?);
        self.list.first = op.data().place.next;
        Some(op)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.list.len as usize, Some(self.list.len as usize))
    }
}

impl DoubleEndedIterator for Ops<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.list.len = self.list.len.checked_sub(1)?;
        let op = self.module.op(self.list.last?);
        self.list.last = op.data().place.previous;
        Some(op)
    }
}

impl ExactSizeIterator for Ops<'_> {}
impl FusedIterator for Ops<'_> {}
