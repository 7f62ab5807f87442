//! Differences between two programs, modulo names, locations and the order of independent ops.

mod fingerprint;
mod matching;
mod report;

use crate::place::{Location, line, shown};
use fingerprint::attributes;
use matching::Matching;
use mlir::attrs::AttrKind;
use mlir::rewrite::effects::is_memory_effect_free;
use mlir::text::ValueNames;
use mlir::{Attribute, Module, OpId, OpRef};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The differences between two programs, left and right.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Diff {
    /// The differences in the order of the left program, followed by ops that only the right one
    /// has.
    pub changes: Vec<Change>,
    /// Number of corresponding ops without a difference.
    pub same: usize,
    /// All corresponding ops, left and right, in the order of the left program.
    pub pairs: Vec<(OpId, OpId)>,
}

/// An op of one of the programs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Side {
    /// The op, in its program.
    pub op: OpId,
    /// Where it stands.
    pub location: Location,
    /// Its text in one line.
    pub text: String,
}

/// Ops that differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// The op of the left program; `None` if only the right one has it.
    pub left: Option<Side>,
    /// The op of the right program; `None` if only the left one has it.
    pub right: Option<Side>,
    /// How they differ, if there are two.
    pub details: Vec<Detail>,
}

/// A difference between corresponding ops.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// The names of the ops.
    Op(String, String),
    /// The values of an attribute, as far as present.
    Attribute(String, Option<String>, Option<String>),
    /// Numbers of operands.
    Operands(usize, usize),
    /// Operands that do not correspond: their index and names.
    Operand(usize, String, String),
    /// The types of results.
    Results(String, String),
    /// Numbers of blocks in all regions, or the types of their arguments.
    Blocks(String, String),
    /// The ops have side effects, and come in another order.
    Order,
}

impl Side {
    /// An op; `names` are its module's.
    pub fn of<'m>(op: OpRef<'m>, names: &mut ValueNames<'m>) -> Side {
        Side { op: op.id(), location: Location::of(op), text: line(op, names) }
    }
}

/// Corresponding ops of two programs.
pub struct Corresponding<'m> {
    matching: Matching<'m>,
    names: [ValueNames<'m>; 2],
    /// The symbol on the left for each on the right that has a corresponding op.
    symbols: HashMap<String, String>,
    /// Ops on the left whose side effects come in another order on the right.
    moved: HashSet<OpId>,
    ignored: Vec<String>,
}

impl Diff {
    /// True if the programs are the same but for names, locations and order.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Compares two programs. Differences of attributes named in `ignored` do not count.
pub fn diff(left: &Module, right: &Module, ignored: &[String]) -> Diff {
    let mut corresponding = Corresponding::of(left, right, ignored);
    let mut diff = Diff::default();
    for op in left.walk(left.top().id()) {
        let Some(other) = corresponding.right_of(op.id()) else {
            // Ops in a region go with the op around it.
            if op.parent().is_none_or(|op| corresponding.right_of(op.id()).is_some()) {
                let left = Some(corresponding.side(0, op));
                diff.changes.push(Change { left, right: None, details: Vec::new() });
            }
            continue;
        };
        diff.pairs.push((op.id(), other));
        let other = right.op(other);
        let details = corresponding.details(op, other);
        if details.is_empty() {
            diff.same += 1;
            continue;
        }
        let (left, right) = (corresponding.side(0, op), corresponding.side(1, other));
        diff.changes.push(Change { left: Some(left), right: Some(right), details });
    }
    for op in right.walk(right.top().id()) {
        let is_taken = |op: OpRef<'_>| corresponding.matching.taken.contains(&op.id());
        if !is_taken(op) && op.parent().is_none_or(is_taken) {
            let right = Some(corresponding.side(1, op));
            diff.changes.push(Change { left: None, right, details: Vec::new() });
        }
    }
    diff
}

/// The symbol on the left for each on the right that is called otherwise.
fn symbols(matching: &Matching<'_>) -> HashMap<String, String> {
    let name = |module: &Module, op: OpId| module.op(op).symbol_name().map(String::from);
    let pair = |(&left, &right): (&OpId, &OpId)| {
        Some((name(matching.right, right)?, name(matching.left, left)?))
    };
    matching.ops.iter().filter_map(pair).collect()
}

/// Ops on the left whose side effects come in another order on the right: all but a longest
/// sequence in the same order.
fn moved(matching: &Matching<'_>) -> Vec<OpId> {
    let effect = |op: &OpRef<'_>| {
        op.symbol_name().is_none()
            && op.num_results() + op.operands().len() > 0
            && !op.has_trait(&mlir::ods::Trait::Terminator)
            && !is_memory_effect_free(*op)
    };
    let right = matching.right.walk(matching.right.top().id()).map(OpRef::id);
    let positions: HashMap<OpId, usize> = right.zip(0..).collect();
    let left = matching.left.walk(matching.left.top().id()).filter(effect);
    let mut by_block: BTreeMap<usize, Vec<(OpId, usize)>> = BTreeMap::new();
    for op in left {
        let position = matching.ops.get(&op.id()).and_then(|other| positions.get(other));
        if let (Some(&position), Some(block)) = (position, op.block()) {
            by_block.entry(block.index()).or_default().push((op.id(), position));
        }
    }
    by_block.values().flat_map(|ops| out_of_order(ops)).collect()
}

/// The ops that are not part of a longest increasing sequence of positions.
fn out_of_order(ops: &[(OpId, usize)]) -> Vec<OpId> {
    // For each length, the last op of the sequence of that length with the smallest end.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(ops.len());
    for (index, &(_, position)) in ops.iter().enumerate() {
        let length = ends.partition_point(|&end| ops[end].1 < position);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut kept = vec![false; ops.len()];
    let mut next = ends.last().copied();
    while let Some(index) = next {
        kept[index] = true;
        next = before[index];
    }
    ops.iter().zip(kept).filter(|(_, kept)| !kept).map(|(&(op, _), _)| op).collect()
}

impl<'m> Corresponding<'m> {
    /// Matches the ops of two programs. Attributes named in `ignored` do not count.
    pub fn of(left: &'m Module, right: &'m Module, ignored: &[String]) -> Corresponding<'m> {
        let matching = Matching::of(left, right, ignored);
        Corresponding {
            symbols: symbols(&matching),
            moved: moved(&matching).into_iter().collect(),
            matching,
            names: [left, right].map(|module| ValueNames::of(module.top())),
            ignored: ignored.to_vec(),
        }
    }

    /// The op on the right that corresponds to one on the left.
    pub fn right_of(&self, left: OpId) -> Option<OpId> {
        self.matching.ops.get(&left).copied()
    }

    /// The op on the right that corresponds to one on the left, and how they differ.
    pub fn compare(&mut self, left: OpId) -> Option<(Side, Vec<Detail>)> {
        let right = self.matching.right.op(self.right_of(left)?);
        let details = self.details(self.matching.left.op(left), right);
        Some((self.side(1, right), details))
    }

    fn side(&mut self, side: usize, op: OpRef<'m>) -> Side {
        Side::of(op, &mut self.names[side])
    }

    fn details(&mut self, left: OpRef<'m>, right: OpRef<'m>) -> Vec<Detail> {
        let mut details = Vec::new();
        if left.name() != right.name() {
            details.push(Detail::Op(left.name().to_string(), right.name().to_string()));
        }
        // The names of public functions are their interface.
        let public = |op: OpRef<'_>| {
            let name = op.symbol_name().filter(|_| is_public(op));
            name.map(String::from).filter(|_| op.parent().is_some())
        };
        if public(left) != public(right) {
            details.push(Detail::Attribute("sym_name".into(), public(left), public(right)));
        }
        self.attributes(left, right, &mut details);
        self.operands(left, right, &mut details);
        if !left.result_types().eq(right.result_types()) {
            let types = |op: OpRef<'_>| {
                op.result_types().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            details.push(Detail::Results(types(left), types(right)));
        }
        let blocks = |op: OpRef<'_>| {
            let module = op.module();
            let blocks = op.regions().iter().flat_map(|&region| module.blocks(region));
            let types = blocks.map(|&block| {
                let arguments = module.arguments(block).iter();
                arguments.map(|&value| module.ty(value).to_string()).collect::<Vec<_>>().join(", ")
            });
            types.map(|types| format!("({types})")).collect::<Vec<_>>().join(" ")
        };
        // A function has its arguments in its type.
        if !left.regions().is_empty() && left.symbol_name().is_none() {
            let blocks = (blocks(left), blocks(right));
            if blocks.0 != blocks.1 {
                details.push(Detail::Blocks(blocks.0, blocks.1));
            }
        }
        if self.moved.contains(&left.id()) {
            details.push(Detail::Order);
        }
        details
    }

    fn attributes(&self, left: OpRef<'_>, right: OpRef<'_>, details: &mut Vec<Detail>) {
        let own: BTreeMap<&str, &Attribute> = attributes(left, &self.ignored).collect();
        let mut others: BTreeMap<&str, &Attribute> = attributes(right, &self.ignored).collect();
        // Of different ops, only what both have.
        let is_same_op = left.name() == right.name();
        for (name, value) in own {
            let other = others.remove(name);
            let is_same = match other {
                Some(other) => self.is_same(value, other),
                None => !is_same_op,
            };
            if !is_same {
                let (value, other) = (Some(shown(value)), other.map(shown));
                details.push(Detail::Attribute(name.to_string(), value, other));
            }
        }
        if is_same_op {
            details.extend(others.into_iter().map(|(name, value)| {
                Detail::Attribute(name.to_string(), None, Some(shown(value)))
            }));
        }
    }

    /// True if attributes are equal, where symbols stand for what they name.
    fn is_same(&self, left: &Attribute, right: &Attribute) -> bool {
        match (&**left, &**right) {
            (
                AttrKind::Symbol { root: left, nested: inner },
                AttrKind::Symbol { root: right, nested: other_inner },
            ) => {
                let renamed = self.symbols.get(&**right).map_or(&**right, |name| name);
                &**left == renamed && inner == other_inner
            }
            (AttrKind::Array(left), AttrKind::Array(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| self.is_same(left, right))
            }
            _ => left == right,
        }
    }

    fn operands(&mut self, left: OpRef<'_>, right: OpRef<'_>, details: &mut Vec<Detail>) {
        let (count, other_count) = (left.operands().len(), right.operands().len());
        if count != other_count {
            details.push(Detail::Operands(count, other_count));
        }
        let operands = left.operands().iter().zip(right.operands()).enumerate();
        for (index, (&own, &other)) in operands {
            if self.matching.values.get(&own) != Some(&other) {
                let [left, right] = &mut self.names;
                details.push(Detail::Operand(index, left.get(own), right.get(other)));
            }
        }
    }
}

/// True if an op is a function that callers outside of the module see.
fn is_public(op: OpRef<'_>) -> bool {
    op.symbol_visibility().is_none_or(|visibility| visibility == "public")
}
