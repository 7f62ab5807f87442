//! Use lists: for each value, the ops that use it as an operand.
//!
//! Built lazily, on first request by a transformation, and then maintained by every change of an
//! operand; read-only users pay nothing.

use super::{Module, OpId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Uses of a value in upstream's order, latest first: ops and operand numbers.
pub(crate) type UseOrder = Vec<(OpId, usize)>;

/// Use-list orders of values whose order differs from the textual one, as recorded from bytecode or
/// a conversion. Uses may have been added and removed since.
pub(super) type UseOrders = FxHashMap<Value, UseOrder>;

/// The users of each value, once per operand, in an unspecified but deterministic order.
#[derive(Clone, Default)]
pub(super) struct Uses(Vec<SmallVec<[OpId; 2]>>);

impl Uses {
    pub(super) fn add(&mut self, user: OpId, operands: &[Value]) {
        for value in operands {
            if self.0.len() <= value.index() {
                self.0.resize_with(value.index() + 1, SmallVec::new);
            }
            self.0[value.index()].push(user);
        }
    }

    /// Removes one use for each of `operands`.
    pub(super) fn remove(&mut self, user: OpId, operands: &[Value]) {
        for value in operands {
            let Some(users) = self.0.get_mut(value.index()) else { continue };
            // Search recent uses first: a rewrite often removes uses that it added.
            if let Some(at) = users.iter().rposition(|&u| u == user) {
                users.swap_remove(at);
            }
        }
    }

    fn of(&self, value: Value) -> &[OpId] {
        self.0.get(value.index()).map_or(&[], |users| users)
    }
}

impl Module {
    /// Records the use-list order of a value, latest first, for writing bytecode: ops and operand
    /// numbers.
    pub fn set_use_order(&mut self, value: Value, order: UseOrder) {
        self.use_orders.insert(value, order);
    }

    /// The recorded use-list orders.
    pub(crate) fn use_orders(&self) -> &FxHashMap<Value, UseOrder> {
        &self.use_orders
    }

    /// Drops the recorded use-list orders: recreated ops use values in textual order.
    pub fn forget_use_orders(&mut self) {
        self.use_orders.clear();
    }

    /// Builds the use lists unless already built. Only attached ops count.
    pub fn build_uses(&mut self) {
        if self.uses.is_some() {
            return;
        }
        let mut uses = Uses(Vec::new());
        uses.0.resize_with(self.values.len(), SmallVec::new);
        for op in self.walk(self.top) {
            uses.add(op.id(), op.operands());
        }
        self.uses = Some(uses);
    }

    /// The users of a value, once per operand. Requires [`Module::build_uses`]; empty without it.
    pub fn users(&self, value: Value) -> &[OpId] {
        self.uses.as_ref().map_or(&[], |uses| uses.of(value))
    }

    /// True if the value is unused. Requires [`Module::build_uses`].
    pub fn is_unused(&self, value: Value) -> bool {
        self.users(value).is_empty()
    }

    /// True if the value has exactly one use. Requires [`Module::build_uses`].
    pub fn has_one_use(&self, value: Value) -> bool {
        self.users(value).len() == 1
    }

    /// Replaces all uses of `old` by `new`. Requires [`Module::build_uses`].
    pub fn replace_all_uses(&mut self, old: Value, new: Value) {
        self.replace_uses_if(old, new, |_| true);
    }

    /// Replaces uses of `old` by `new` in ops that satisfy `which`. Requires
    /// [`Module::build_uses`].
    pub fn replace_uses_if(&mut self, old: Value, new: Value, which: impl Fn(OpId) -> bool) {
        if old == new {
            return;
        }
        let Some(list) = self.uses.as_mut().and_then(|uses| uses.0.get_mut(old.index())) else {
            return;
        };
        let users = std::mem::take(list);
        let mut moved = SmallVec::<[OpId; 2]>::new();
        let mut kept = SmallVec::<[OpId; 2]>::new();
        for user in users {
            if which(user) {
                let operands = &mut self.ops[user.index()].operands;
                operands.iter_mut().filter(|v| **v == old).for_each(|v| *v = new);
                moved.push(user);
            } else {
                kept.push(user);
            }
        }
        if let Some(uses) = &mut self.uses {
            uses.0[old.index()] = kept;
            moved.into_iter().for_each(|user| uses.add(user, &[new]));
        }
    }
}
