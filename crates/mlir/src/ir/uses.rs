//! Use lists: for each value, the ops that have it as an operand.
//!
//! Nobody pays for them who only reads a module: they are built when a transformation asks for
//! them, and from then on every change of an operand keeps them true.

use super::{Module, OpId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Uses of a value as upstream lists them, the latest added first: ops, and which of their
/// operands.
pub(crate) type UseOrder = Vec<(OpId, usize)>;

/// The orders of uses, for values where bytecode or a conversion gave another than that of the
/// text. Uses may have come and gone since.
pub(super) type UseOrders = FxHashMap<Value, UseOrder>;

/// The users of each value, once for each operand, in no particular but a reproducible order.
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

    /// Forgets one use for each of `operands`.
    pub(super) fn remove(&mut self, user: OpId, operands: &[Value]) {
        for value in operands {
            let Some(users) = self.0.get_mut(value.index()) else { continue };
            // Recent uses go first: what a rewrite adds, it often takes away.
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
    /// Keeps the order of the uses of a value, the latest added first, for writing bytecode: ops,
    /// and which of their operands.
    pub fn set_use_order(&mut self, value: Value, order: UseOrder) {
        self.use_orders.insert(value, order);
    }

    /// The orders that were kept.
    pub(crate) fn use_orders(&self) -> &FxHashMap<Value, UseOrder> {
        &self.use_orders
    }

    /// Forgets the orders in which values were used when bytecode was written: what upstream makes
    /// anew it uses in order.
    pub fn forget_use_orders(&mut self) {
        self.use_orders.clear();
    }

    /// Builds the use lists unless they are there. Only ops that stand in the module count.
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

    /// The users of a value, once for each operand. Needs [`Module::build_uses`]; without it there
    /// are none.
    pub fn users(&self, value: Value) -> &[OpId] {
        self.uses.as_ref().map_or(&[], |uses| uses.of(value))
    }

    /// Whether no op uses the value. Needs [`Module::build_uses`].
    pub fn is_unused(&self, value: Value) -> bool {
        self.users(value).is_empty()
    }

    /// Whether exactly one operand of one op is the value. Needs [`Module::build_uses`].
    pub fn has_one_use(&self, value: Value) -> bool {
        self.users(value).len() == 1
    }

    /// Puts `new` in the place of each use of `old`. Needs [`Module::build_uses`].
    pub fn replace_all_uses(&mut self, old: Value, new: Value) {
        self.replace_uses_if(old, new, |_| true);
    }

    /// Puts `new` in the place of the uses of `old` by ops that `which` selects. Needs
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
