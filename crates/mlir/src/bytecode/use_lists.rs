//! Orders of the uses of values, where they are not those that a reader gives them.
//!
//! Upstream keeps the uses of a value in a list, the latest first, and bytecode keeps the order of that list. A reader adds
//! uses as it meets them, so most lists need not be written; those need be to which ops were added out of order.

use super::emitter::Emitter;
use crate::ir::{Module, OpId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// When a use was added to the list: before the latest ops were made, with one of them, or after all of them, when their
/// results took the place of others, whose uses were gone through from the last to the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Time {
    Before((usize, usize)),
    With((usize, usize)),
    After(Reverse<(usize, usize)>),
}

/// Orders of uses, as the places in the list of a value of its uses from the last to the first.
#[derive(Default)]
pub(super) struct UseLists(FxHashMap<Value, Vec<u64>>);

impl UseLists {
    /// The lists of a module whose ops `latest` were made after all others, in the order of the text, in the place of others
    /// that were erased.
    pub(super) fn new(module: &Module, latest: &[OpId]) -> UseLists {
        if latest.is_empty() {
            return UseLists::default();
        }
        let latest: FxHashSet<OpId> = latest.iter().copied().collect();
        let results: FxHashSet<Value> = latest.iter().flat_map(|&op| module.op(op).results()).collect();
        // For each use in the order of reading: when it was added.
        let mut uses: FxHashMap<Value, Vec<Time>> = FxHashMap::default();
        for (at, op) in module.walk(module.top().id()).enumerate() {
            for (operand, &value) in op.operands().iter().enumerate() {
                let place = (at, operand);
                let time = match (latest.contains(&op.id()), results.contains(&value)) {
                    (false, false) => Time::Before(place),
                    (true, _) => Time::With(place),
                    (false, true) => Time::After(Reverse(place)),
                };
                uses.entry(value).or_default().push(time);
            }
        }
        uses.retain(|_, times| !times.is_sorted());
        UseLists(uses.into_iter().map(|(value, times)| (value, places(&times))).collect())
    }

    /// Writes the orders of some results or arguments. Whether there are any.
    pub(super) fn write(&self, values: impl ExactSizeIterator<Item = Value>, out: &mut Emitter) -> bool {
        let is_single = values.len() == 1;
        let lists: Vec<(usize, &[u64])> =
            values.enumerate().filter_map(|(index, value)| Some((index, self.0.get(&value)?.as_slice()))).collect();
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
            let moved: Vec<(u64, u64)> =
                (0..).zip(places).filter(|&(at, &place)| at != place).map(|(at, &place)| (place, at)).collect();
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

/// For each use, from the last read to the first: its place in a list that has the latest added first.
fn places<T: Ord + Copy>(times: &[T]) -> Vec<u64> {
    let mut list: Vec<usize> = (0..times.len()).collect();
    list.sort_by_key(|&read| Reverse((times[read], read)));
    let mut places = vec![0; times.len()];
    for (place, &read) in list.iter().enumerate() {
        places[times.len() - 1 - read] = place as u64;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn places_are_those_of_the_latest_first() {
        // The first of three uses was added last.
        assert_eq!(places(&[(1, 0), (0, 1), (0, 2)]), [1, 2, 0]);
        assert_eq!(places(&[(1, 0), (2, 1)]), [0, 1]);
    }
}
