//! Locations, which another thread reads while this one reads the ops: they are most of the attributes of a program.

use super::cursor::Read;
use super::entries::{Entries, State};
use super::fields::Notes;
use super::sparse::Sparse;
use super::tables::Tables;
use crate::attrs::{Attribute, LocationKind};
use crate::ir::{Loc, Module, OpId};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Fewer attributes are not worth a thread.
const WORTH_A_THREAD: usize = 1 << 12;

/// As much as a program has: nesting is limited for that.
const STACK_SIZE: usize = 8 << 20;

/// The locations of ops, which get them when all are read.
pub(super) struct Ahead<'scope> {
    /// Attributes by their numbers, those that are locations among them.
    thread: ScopedJoinHandle<'scope, Sparse<State<Attribute>>>,
    /// Ops, the number of the location of each, and where that stands in the file.
    ops: Vec<(OpId, u64, usize)>,
}

impl<'scope> Ahead<'scope> {
    /// Starts to read the locations, if they may be many.
    pub(super) fn start<'a: 'scope>(scope: &'scope Scope<'scope, '_>, tables: &'a Tables<'a>) -> Option<Ahead<'scope>> {
        if tables.attributes.len() < WORTH_A_THREAD {
            return None;
        }
        let read = || Entries::new(tables, Notes::default()).into_locations();
        let thread = Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, read).ok()?;
        // Most ops have a location of their own.
        Some(Ahead { thread, ops: Vec::with_capacity(tables.attributes.len()) })
    }

    /// Takes note of the location of an op, the number of which stands at `at`.
    pub(super) fn note(&mut self, op: OpId, number: u64, at: usize) {
        self.ops.push((op, number, at));
    }

    /// Gives the ops their locations. What the other thread could not read is read here, so that its errors are told.
    pub(super) fn finish(self, module: &mut Module, entries: &mut Entries<'_>) -> Read<()> {
        let known = self.thread.join().unwrap_or(Sparse::new(0));
        for (op, number, at) in self.ops {
            let location = match known.get(number as usize) {
                Some(State::Done(location, _)) if location.as_location().is_some() => location.clone(),
                _ => entries.location(number, at)?,
            };
            module.set_loc(op, loc(location));
        }
        Ok(())
    }
}

/// What stands for a location in the module.
pub(super) fn loc(location: Attribute) -> Loc {
    match location.as_location() {
        Some(LocationKind::Unknown) => Loc::Unknown,
        _ => Loc::Explicit(location, None),
    }
}
