//! Use-list orders of values, where they differ from the order in which a reader adds uses.
//!
//! Upstream keeps the uses of a value in a list, the latest first, and bytecode preserves the order
//! of that list. A reader adds uses in the order of the file, so most lists need not be written;
//! only those with uses added out of order.

use super::cursor::{Cursor, Read, ReadError};
use super::emitter::Emitter;
use crate::diag::counted;
use crate::ir::{Module, OpId, OpRef, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// The use-list order of an op's result or a block's argument, as encoded in the file.
pub(super) struct ReadOrder {
    /// Index of the result or argument.
    pub(super) index: usize,
    /// The position in the list of each use, from last to first in reading order; or only those
    /// that differ from the identity, as pairs.
    places: Vec<u64>,
    is_pairs: bool,
    /// Offset in the file.
    at: usize,
}

/// Reads the use-list orders of some of `num_values` values.
pub(super) fn read(cursor: &mut Cursor<'_>, num_values: usize) -> Read<Vec<ReadOrder>> {
    let is_single = num_values == 1;
    let count = if is_single { 1 } else { cursor.count("use-list orders")? };
    let order = |_| {
        let index = if is_single { 0 } else { cursor.index(num_values, "value")? };
        let at = cursor.offset();
        let (count, is_pairs) = cursor.varint_with_flag()?;
        let count = cursor.check_count(count, "uses", at)?;
        let places = (0..count).map(|_| cursor.varint()).collect::<Read<_>>()?;
        Ok(ReadOrder { index, places, is_pairs, at })
    };
    (0..count).map(order).collect()
}

impl ReadOrder {
    /// Permutes the uses from reading order to this order, the latest first; `None` if it is not a
    /// permutation of them.
    fn sort(&self, read: &[(OpId, usize)]) -> Option<Vec<(OpId, usize)>> {
        let mut places: Vec<u64> = (0..read.len() as u64).collect();
        match self.is_pairs {
            true => {
                for pair in self.places.chunks(2) {
                    *places.get_mut(usize::try_from(*pair.get(1)?).ok()?)? = pair[0];
                }
            }
            false => places.clone_from(&self.places),
        }
        let mut list = vec![None; read.len()];
        if places.len() != read.len() {
            return None;
        }
        for (place, &usage) in places.iter().zip(read.iter().rev()) {
            if list.get_mut(usize::try_from(*place).ok()?)?.replace(usage).is_some() {
                return None;
            }
        }
        list.into_iter().collect()
    }
}

/// Stores the orders in the module.
pub(super) fn keep(module: &mut Module, orders: Vec<(Value, ReadOrder)>) -> Read<()> {
    if orders.is_empty() {
        return Ok(());
    }
    let mut uses: FxHashMap<Value, Vec<(OpId, usize)>> =
        orders.iter().map(|(value, _)| (*value, Vec::new())).collect();
    for op in module.walk(module.top().id()) {
        for (operand, value) in op.operands().iter().enumerate() {
            if let Some(uses) = uses.get_mut(value) {
                uses.push((op.id(), operand));
            }
        }
    }
    for (value, order) in orders {
        let read = uses.remove(&value).unwrap_or_default();
        let Some(list) = order.sort(&read) else {
            let message = format!(
                "this is not a permutation of the {} of the value",
                counted(read.len(), "use")
            );
            return Err(ReadError::new(order.at, message));
        };
        module.set_use_order(value, list);
    }
    Ok(())
}

/// When a use was added to the list: before the latest ops were created, or with one of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UseTime {
    Before(UsePlace),
    With(UsePlace),
}

/// The place of a use in the list, the first one last. Uses of a remade op's result were added to
/// the list of its predecessor, and moved from the latest to the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Added {
    Directly(UseTime),
    Moved(Reverse<UseTime>),
}

/// The order of uses: first those with an order recorded in the module, then the others in textual
/// order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UsePlace {
    Kept(usize),
    Text { op: usize, operand: usize },
}

/// Use-list orders by value, as the list positions of its uses from last to first.
#[derive(Default)]
pub(super) struct UseLists(FxHashMap<Value, Vec<u64>>);

impl UseLists {
    /// The lists of a module whose ops `latest` were created after all others, in textual order, to
    /// replace others that were erased. With `regions_first`, ops were created after those of their
    /// regions.
    pub(super) fn new(module: &Module, latest: &[OpId], regions_first: bool) -> UseLists {
        let orders = module.use_orders();
        if latest.is_empty() && orders.is_empty() && !regions_first {
            return UseLists::default();
        }
        let numbers = if regions_first { post_order(module) } else { Vec::new() };
        let latest: FxHashSet<OpId> = latest.iter().copied().collect();
        let results: FxHashSet<Value> =
            latest.iter().flat_map(|&op| module.op(op).results()).collect();
        let numbered = |(&value, list): (&Value, &'_ Vec<(OpId, usize)>)| -> Vec<_> {
            list.iter().rev().enumerate().map(|(number, &usage)| ((value, usage), number)).collect()
        };
        let kept: FxHashMap<(Value, (OpId, usize)), usize> =
            orders.iter().flat_map(numbered).collect();
        // For each use in reading order: when it was added.
        let mut uses: FxHashMap<Value, Vec<Added>> = FxHashMap::default();
        for (at, op) in module.walk(module.top().id()).enumerate() {
            for (operand, &value) in op.operands().iter().enumerate() {
                let created = numbers.get(at).copied().unwrap_or(at);
                let text = UsePlace::Text { op: created, operand };
                let place = match kept.get(&(value, (op.id(), operand))) {
                    Some(&number) => UsePlace::Kept(number),
                    None => text,
                };
                let time = match latest.contains(&op.id()) {
                    false => UseTime::Before(place),
                    true => UseTime::With(text),
                };
                uses.entry(value).or_default().push(match results.contains(&value) {
                    false => Added::Directly(time),
                    true => Added::Moved(Reverse(time)),
                });
            }
        }
        uses.retain(|_, times| !times.is_sorted());
        UseLists(uses.into_iter().map(|(value, times)| (value, places(&times))).collect())
    }

    /// Writes the orders of some results or arguments; returns true if there are any.
    pub(super) fn write(
        &self,
        values: impl ExactSizeIterator<Item = Value>,
        out: &mut Emitter,
    ) -> bool {
        let is_single = values.len() == 1;
        let lists: Vec<(usize, &[u64])> = values
            .enumerate()
            .filter_map(|(index, value)| Some((index, self.0.get(&value)?.as_slice())))
            .collect();
        if lists.is_empty() {
            return false;
        }
        if !is_single {
            out.varint(lists.len() as u64);
        }
        for (index, places) in lists {
            if !is_single {
                out.varint(index as u64);
            }
            let moved: Vec<(u64, u64)> = (0..)
                .zip(places)
                .filter(|&(at, &place)| at != place)
                .map(|(at, &place)| (place, at))
                .collect();
            if moved.len() < places.len() / 2 {
                out.varint_with_flag(2 * moved.len() as u64, true);
                for (place, at) in moved {
                    out.varint(place);
                    out.varint(at);
                }
            } else {
                out.varint_with_flag(places.len() as u64, false);
                places.iter().for_each(|&place| out.varint(place));
            }
        }
        true
    }
}

/// For each op in textual order: its number if ops are numbered after those of their regions.
fn post_order(module: &Module) -> Vec<usize> {
    let (mut numbers, mut next) = (Vec::new(), 0);
    let mut open: Vec<(OpId, usize)> = Vec::new();
    let mut close = |numbers: &mut Vec<usize>, at: usize| {
        numbers[at] = next;
        next += 1;
    };
    for op in module.walk(module.top().id()) {
        let parent = op.parent().map(OpRef::id);
        while let Some((id, at)) = open.pop() {
            if Some(id) == parent {
                open.push((id, at));
                break;
            }
            close(&mut numbers, at);
        }
        open.push((op.id(), numbers.len()));
        numbers.push(0);
    }
    open.into_iter().rev().for_each(|(_, at)| close(&mut numbers, at));
    numbers
}

/// For each use, from last to first in reading order: its position in a list that has the latest
/// use first.
fn places<T: Ord + Copy>(times: &[T]) -> Vec<u64> {
    let mut list: Vec<usize> = (0..times.len()).collect();
    list.sort_by_key(|&read| Reverse((times[read], read)));
    let mut places = vec![0; times.len()];
    for (place, &read) in list.iter().enumerate() {
        places[times.len() - 1 - read] = place as u64;
    }
    places
}
