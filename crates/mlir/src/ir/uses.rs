//! Use lists: for each value, the operands that are that value.
//!
//! Built lazily, on first request by a transformation, and maintained by every change of an operand
//! from then on; read-only users pay nothing.

use super::{Module, OpId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Uses of a value in upstream's order, latest first: ops and operand numbers.
pub(crate) type UseOrder = Vec<(OpId, usize)>;

/// Use-list orders of values whose order differs from the textual one, as recorded from bytecode or
/// a conversion. Uses may have been added and removed since.
pub(super) type UseOrders = FxHashMap<Value, UseOrder>;

/// Operand `operand` of `user`.
#[derive(Clone, Copy)]
struct Use {
    user: OpId,
    operand: u32,
}

/// The uses of each value. Adding and removing one takes constant time.
#[derive(Clone, Default)]
pub(super) struct Uses {
    /// Uses by value, in a reproducible order.
    by_value: Vec<SmallVec<[Use; 2]>>,
    /// For each operand of each op, its position among the uses of its value; [`Uses::NONE`] for
    /// operands of ops that were not counted.
    positions: Vec<SmallVec<[u32; 4]>>,
}

impl Uses {
    const NONE: u32 = u32::MAX;

    fn add_all(&mut self, user: OpId, operands: &[Value]) {
        (0..).zip(operands).for_each(|(operand, &value)| self.add(Use { user, operand }, value));
    }

    fn add(&mut self, new: Use, value: Value) {
        if self.by_value.len() <= value.index() {
            self.by_value.resize_with(value.index() + 1, SmallVec::new);
        }
        let uses = &mut self.by_value[value.index()];
        let position = uses.len() as u32;
        uses.push(new);
        self.set_position(new, position);
    }

    fn set_position(&mut self, of: Use, position: u32) {
        if self.positions.len() <= of.user.index() {
            self.positions.resize_with(of.user.index() + 1, SmallVec::new);
        }
        let positions = &mut self.positions[of.user.index()];
        if positions.len() <= of.operand as usize {
            positions.resize(of.operand as usize + 1, Uses::NONE);
        }
        positions[of.operand as usize] = position;
    }

    fn remove_all(&mut self, user: OpId, operands: &[Value]) {
        for (operand, &value) in operands.iter().enumerate().rev() {
            self.remove(Use { user, operand: operand as u32 }, value);
        }
    }

    fn remove(&mut self, old: Use, value: Value) {
        let positions = self.positions.get_mut(old.user.index());
        let position = positions.and_then(|positions| positions.get_mut(old.operand as usize));
        let Some(at) = position.map(|at| std::mem::replace(at, Uses::NONE)) else { return };
        let Some(uses) = self.by_value.get_mut(value.index()) else { return };
        if (at as usize) < uses.len() {
            uses.swap_remove(at as usize);
            if let Some(&moved) = uses.get(at as usize) {
                self.set_position(moved, at);
            }
        }
    }

    fn of(&self, value: Value) -> &[Use] {
        self.by_value.get(value.index()).map_or(&[], |uses| uses)
    }
}

/// Changes of operands.
impl Module {
    /// Sets one operand.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: Value) {
        let old = std::mem::replace(&mut self.ops[op.index()].operands[index], value);
        if let Some(uses) = &mut self.uses {
            let place = Use { user: op, operand: index as u32 };
            uses.remove(place, old);
            uses.add(place, value);
        }
    }

    /// Sets all operands.
    pub fn set_operands(&mut self, op: OpId, operands: impl IntoIterator<Item = Value>) {
        let operands = operands.into_iter().collect();
        let old = std::mem::replace(&mut self.ops[op.index()].operands, operands);
        if let Some(uses) = &mut self.uses {
            uses.remove_all(op, &old);
            uses.add_all(op, &self.ops[op.index()].operands);
        }
    }

    /// Counts the operands of a new op as uses.
    pub(super) fn note_operands(&mut self, op: OpId) {
        if let Some(uses) = &mut self.uses {
            uses.add_all(op, &self.ops[op.index()].operands);
        }
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
        let mut uses = Uses::default();
        uses.by_value.resize_with(self.values.len(), SmallVec::new);
        uses.positions.resize_with(self.ops.len(), SmallVec::new);
        for op in self.walk(self.top) {
            uses.add_all(op.id(), op.operands());
        }
        self.uses = Some(uses);
    }

    fn uses_of(&self, value: Value) -> &[Use] {
        self.uses.as_ref().map_or(&[], |uses| uses.of(value))
    }

    /// The users of a value, once for each operand. Needs [`Module::build_uses`]; without it there
    /// are none.
    pub fn users(&self, value: Value) -> impl ExactSizeIterator<Item = OpId> + '_ {
        self.uses_of(value).iter().map(|usage| usage.user)
    }

    /// True if the value is unused. Requires [`Module::build_uses`].
    pub fn is_unused(&self, value: Value) -> bool {
        self.uses_of(value).is_empty()
    }

    /// True if the value has exactly one use. Requires [`Module::build_uses`].
    pub fn has_one_use(&self, value: Value) -> bool {
        self.uses_of(value).len() == 1
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
        let Some(uses) = &mut self.uses else { return };
        let Some(list) = uses.by_value.get_mut(old.index()) else { return };
        for usage in std::mem::take(list) {
            let value = if which(usage.user) { new } else { old };
            self.ops[usage.user.index()].operands[usage.operand as usize] = value;
            uses.add(usage, value);
        }
    }
}
