//! Data movement as views: which elements of which memory a value is.

use crate::graph::{Graph, Node, Region, Value};
use numerics::shape::{self, StridedView};
use program::{Kind, Primitive, primitives};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// The maximum number of movements that are looked through.
const MAX_DEPTH: usize = 8;
/// The maximum stride with which larger memory is read, so that most of what caches load is used.
const MAX_STRIDE: isize = 4;
/// The maximum number of entries in the tables of all prepared kernels of a plan.
const MAX_TABLE_ENTRIES: usize = 1 << 20;

/// The maximum number of elements of memory that is read in any order: the first-level cache holds
/// these, of up to eight bytes each.
fn any_order() -> usize {
    host::machine().l1.bytes / 8
}

/// A value as a view of the memory of another one, or of itself.
#[derive(Debug)]
pub(crate) struct Viewed {
    pub memory: Value,
    /// The elements, in the shape of the value.
    pub view: StridedView,
    /// Number of elements of the memory.
    pub len: usize,
}

impl Viewed {
    /// True for all elements of the memory in order.
    pub(crate) fn is_whole(&self) -> bool {
        self.view.is_dense() && shape::num_elements(self.view.shape()) == Some(self.len)
    }

    /// True if memory is read in an order that caches like.
    pub(crate) fn is_fast(&self) -> bool {
        let runs = shape::Runs::new(&self.view, self.len);
        runs.is_ok_and(|runs| matches!(runs.stride(), 0..=MAX_STRIDE) || self.len <= any_order())
    }
}

/// The nodes of a graph by their results.
pub(crate) struct Definitions<'g> {
    pub graph: &'g Graph<'g>,
    nodes: FxHashMap<Value, &'g Node>,
    /// The number of the region of each node.
    regions: FxHashMap<Value, usize>,
    /// Number of nodes and results of regions that use each value.
    uses: FxHashMap<Value, usize>,
    /// The entries that tables of prepared kernels may still have.
    table_entries: Cell<usize>,
}

impl<'g> Definitions<'g> {
    pub(crate) fn of(graph: &'g Graph<'g>) -> Definitions<'g> {
        let mut definitions = Definitions {
            graph,
            nodes: FxHashMap::default(),
            regions: FxHashMap::default(),
            uses: FxHashMap::default(),
            table_entries: Cell::new(MAX_TABLE_ENTRIES),
        };
        definitions.add(&graph.body, &mut 0);
        definitions
    }

    /// Number of nodes and results of regions that use a value.
    pub(crate) fn uses(&self, value: Value) -> usize {
        self.uses.get(&value).copied().unwrap_or(0)
    }

    /// The node whose first result a value is.
    pub(crate) fn node(&self, value: Value) -> Option<&'g Node> {
        self.nodes.get(&value).copied()
    }

    /// The node of a value, if it is in the region of another one.
    pub(crate) fn neighbour(&self, value: Value, other: Value) -> Option<&'g Node> {
        let region = |value| self.regions.get(&value);
        self.nodes.get(&value).copied().filter(|_| region(value) == region(other))
    }

    /// Counts the entries of the table of a kernel; `None` if there would be too many.
    pub(crate) fn count_table(&self, count: Option<usize>) -> Option<()> {
        self.table_entries.set(self.table_entries.get().checked_sub(count?)?);
        Some(())
    }

    fn add(&mut self, region: &'g Region, number: &mut usize) {
        let own = *number;
        let uses = region.nodes.iter().flat_map(Node::uses);
        for value in uses.chain(region.results.iter().copied()) {
            *self.uses.entry(value).or_default() += 1;
        }
        for node in &region.nodes {
            self.nodes.extend(node.results.first().map(|&value| (value, node)));
            self.regions.extend(node.results.first().map(|&value| (value, own)));
            for region in &node.regions {
                *number += 1;
                self.add(region, number);
            }
        }
    }

    /// A value as a view; `None` if its shape is not known.
    pub(crate) fn view(&self, value: Value) -> Option<Viewed> {
        let depth = self.depth(value, MAX_DEPTH);
        let looked_through = self.look_through(value, depth).filter(Viewed::is_fast);
        looked_through.or_else(|| self.whole(value))
    }

    /// The number of movements that are looked through from a value on, 0 if it stays in memory.
    fn depth(&self, value: Value, depth: usize) -> usize {
        if self.graph.in_memory.contains(&value) { 0 } else { depth }
    }

    /// A movement as a view of its operand.
    pub(crate) fn movement(&self, value: Value) -> Option<Viewed> {
        self.look_through(value, 1).filter(|viewed| viewed.memory != value && viewed.is_fast())
    }

    /// A value as a view in any order.
    pub(crate) fn any_view(&self, value: Value) -> Option<Viewed> {
        let looked_through = self.look_through(value, self.depth(value, MAX_DEPTH));
        // Only views within the memory.
        let is_within = |viewed: &Viewed| shape::Runs::new(&viewed.view, viewed.len).is_ok();
        looked_through.filter(is_within).or_else(|| self.whole(value))
    }

    /// The operand of a padding with zeros around it but not within, and the number of zeros before
    /// and after it along each dimension.
    pub(crate) fn zero_padded(&self, value: Value) -> Option<(Value, &'g [i64], &'g [i64])> {
        let node = self.nodes.get(&value)?;
        let Primitive::Pad(primitives::Pad { low, high, interior }) = &*node.primitive else {
            return None;
        };
        let &[operand, padding] = &node.operands[..] else { return None };
        let is_around = low.iter().chain(high).all(|&count| count >= 0);
        let is_whole = interior.iter().all(|&count| count == 0);
        (self.is_zero(padding) && is_around && is_whole).then_some((operand, &low[..], &high[..]))
    }

    /// The operand of a reversal, and the dimensions along which it is.
    pub(crate) fn reversed(&self, value: Value) -> Option<(Value, &'g [usize])> {
        let node = self.nodes.get(&value)?;
        match (&*node.primitive, &node.operands[..]) {
            (Primitive::Reverse(reverse), &[operand]) => Some((operand, &reverse.dimensions)),
            _ => None,
        }
    }

    /// True for a constant of zeros, also as what it was before a conversion.
    fn is_zero(&self, value: Value) -> bool {
        let unconverted = self.nodes.get(&value).and_then(|node| match node.operands[..] {
            [operand] if matches!(&*node.primitive, Primitive::Convert(_)) => Some(operand),
            _ => None,
        });
        let constant = self.graph.constants.get(&unconverted.unwrap_or(value));
        constant.is_some_and(|constant| constant.bytes().iter().all(|&byte| byte == 0))
    }

    /// A value as a view of all its memory.
    pub(crate) fn whole(&self, value: Value) -> Option<Viewed> {
        let shape = self.graph.shape(value)?;
        let view = StridedView::dense(&shape).ok()?;
        Some(Viewed { memory: value, view, len: shape::num_elements(&shape)? })
    }

    fn look_through(&self, value: Value, depth: usize) -> Option<Viewed> {
        let Some(&node) = self.nodes.get(&value).filter(|_| depth > 0) else {
            return self.whole(value);
        };
        let primitive = &*node.primitive;
        if !matches!(primitive.kind(), Kind::Movement | Kind::Value) {
            return self.whole(value);
        }
        let source = match (node.operands.first(), self.graph.repeated.get(&value)) {
            (Some(&operand), _) => self.look_through(operand, self.depth(operand, depth - 1))?,
            (None, Some(&repeated)) => self.whole(repeated)?,
            (None, None) => return self.whole(value),
        };
        match primitive.as_view(&source.view) {
            Some(view) => Some(Viewed { view, ..source }),
            None => self.whole(value),
        }
    }
}
