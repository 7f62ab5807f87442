//! Folding of ops, and uniquing of constants.

use super::{Rewriter, effects};
use crate::attrs::Attribute;
use crate::ir::{Module, OpId, OpRef, RegionId, Value};
use crate::ods::{OpDef, Trait};
use crate::types::Type;
use std::collections::HashMap;

/// The replacement for a result of a folded op.
#[derive(Clone, Debug)]
pub enum Folded {
    /// An existing value.
    Value(Value),
    /// A constant, to be materialized.
    Constant(Attribute),
}

/// Folds an op: one replacement per result, or `None`. The attributes are the values of constant
/// operands.
pub type FoldFn = fn(OpRef<'_>, &[Option<Attribute>]) -> Option<Vec<Folded>>;

/// The attribute of a constant that defines `value`, if one does.
pub fn constant_value(module: &Module, value: Value) -> Option<Attribute> {
    let op = module.defining_op(value)?;
    constant_op_value(op)
}

/// The value of a constant op: its first declared attribute.
fn constant_op_value(op: OpRef<'_>) -> Option<Attribute> {
    if op.has_trait(&Trait::ConstantLike) { op.property(0).cloned() } else { None }
}

/// Folds ops, and keeps one constant for each value, type and dialect at the start of the enclosing
/// isolated region.
///
/// Source: MLIR's `OperationFolder`, whose placement of constants this follows.
#[derive(Default)]
pub(super) struct Folder {
    constants: HashMap<(RegionId, &'static str, Attribute, Type), OpId>,
    /// Constants placed by this folder, with their keys.
    owned: HashMap<OpId, (RegionId, &'static str, Attribute, Type)>,
}

impl Folder {
    /// The region at whose start constants for `op` are placed.
    fn region(module: &Module, op: OpId) -> Option<RegionId> {
        let mut region = module.block_parent(module.op(op).block()?)?;
        loop {
            let parent = module.op(module.region_parent(region)?);
            if parent.has_trait(&Trait::IsolatedFromAbove)
                || parent.block().is_none()
                || parent.def().is_none()
            {
                return Some(region);
            }
            region = module.block_parent(parent.block()?)?;
        }
    }

    /// Registers an existing constant. Returns false if it was replaced by an equal one.
    pub(super) fn insert_known(&mut self, rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
        let Some(value) = constant_op_value(rewriter.op(op)) else { return true };
        if self.owned.contains_key(&op) {
            self.move_to_front(rewriter, op);
            return true;
        }
        let Some(key) = self.key(rewriter, op, value) else { return true };
        match self.constants.get(&key) {
            Some(&known) => {
                rewriter.replace_with(op, known);
                rewriter.module_mut().set_loc(known, crate::ir::Loc::Unknown);
                false
            }
            None => {
                self.constants.insert(key.clone(), op);
                let same_block = rewriter.entry(key.0) == rewriter.op(op).block();
                if !same_block {
                    rewriter.module_mut().set_loc(op, crate::ir::Loc::Unknown);
                }
                self.owned.insert(op, key);
                self.move_to_front(rewriter, op);
                true
            }
        }
    }

    fn key(
        &self,
        rewriter: &Rewriter<'_>,
        op: OpId,
        value: Attribute,
    ) -> Option<(RegionId, &'static str, Attribute, Type)> {
        let region = Folder::region(rewriter, op)?;
        let op = rewriter.op(op);
        Some((region, op.def()?.dialect(), value, op.result_types().next()?.clone()))
    }

    /// Moves a constant to the start of its region's entry block, unless only constants of this
    /// folder precede it.
    fn move_to_front(&self, rewriter: &mut Rewriter<'_>, op: OpId) {
        let Some(first) = self
            .owned
            .get(&op)
            .and_then(|key| rewriter.entry(key.0))
            .and_then(|block| rewriter.first_op(block))
            .map(OpRef::id)
        else {
            return;
        };
        if first == op {
            return;
        }
        let same_block = rewriter.op(first).block() == rewriter.op(op).block();
        if !(same_block && self.follows_constant(rewriter, op)) {
            rewriter.module_mut().insert_before(op, first);
        }
    }

    /// True if the previous op is a constant of this folder.
    fn follows_constant(&self, module: &Module, op: OpId) -> bool {
        let previous = module.op(op).previous_in_block();
        previous.is_some_and(|previous| self.owned.contains_key(&previous.id()))
    }

    /// Removes an erased op from the tables.
    pub(super) fn forget(&mut self, op: OpId) {
        if let Some(key) = self.owned.remove(&op) {
            self.constants.remove(&key);
        }
    }

    /// Folds an op. Returns true if it changed or was erased.
    pub(super) fn fold(&mut self, rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
        let Some(def) = rewriter.op(op).def() else { return false };
        let mut constants: Vec<_> =
            rewriter.op(op).operands().iter().map(|&v| rewriter.constant_of(v)).collect();
        if def.has_trait(&Trait::ConstantsLast) && constants.len() >= 2 {
            constants_last(rewriter, op, &mut constants);
        }
        let Some(fold) = def.fold else { return false };
        let Some(folded) = fold(rewriter.op(op), &constants) else { return false };
        let types: Vec<Type> = rewriter.op(op).result_types().cloned().collect();
        debug_assert_eq!(folded.len(), types.len(), "one entry a result");
        let mut values = Vec::with_capacity(folded.len());
        for (folded, ty) in folded.into_iter().zip(&types) {
            let value = match folded {
                Folded::Value(value) if rewriter.ty(value) == ty => value,
                Folded::Value(_) => return false,
                Folded::Constant(value) => match self.constant(rewriter, op, def, value, ty) {
                    Some(value) => value,
                    None => return false,
                },
            };
            values.push(value);
        }
        rewriter.replace(op, &values);
        true
    }

    /// The constant with a value for use by `op`: an existing one, or a new one.
    pub(super) fn constant(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        op: OpId,
        def: &'static OpDef,
        value: Attribute,
        ty: &Type,
    ) -> Option<Value> {
        let region = Folder::region(rewriter, op)?;
        let block = rewriter.entry(region)?;
        let key = (region, def.dialect(), value, ty.clone());
        if let Some(&known) = self.constants.get(&key) {
            self.move_to_front(rewriter, known);
            return rewriter.op(known).results().next();
        }
        let in_place =
            rewriter.op(op).block() == Some(block) && self.follows_constant(rewriter, op);
        if !in_place {
            rewriter.at_start(block);
        }
        let new = rewriter.constant(def, &key.2, ty);
        rewriter.set_root(op);
        let new = new?;
        // If the constant op is of another dialect, register it there, too.
        let made = (key.0, rewriter.op(new).def()?.dialect(), key.2, key.3);
        self.constants.insert(made.clone(), new);
        self.owned.insert(new, made);
        rewriter.op(new).results().next()
    }
}

/// Moves constant operands of a commutative op last.
fn constants_last(rewriter: &mut Rewriter<'_>, op: OpId, constants: &mut Vec<Option<Attribute>>) {
    let sorted = constants.windows(2).all(|pair| pair[0].is_none() || pair[1].is_some());
    if sorted {
        return;
    }
    let operands = rewriter.op(op).operands().to_vec();
    let mut order: Vec<usize> = (0..operands.len()).collect();
    order.sort_by_key(|&i| constants[i].is_some());
    *constants = order.iter().map(|&i| constants[i].clone()).collect();
    let operands: Vec<Value> = order.into_iter().map(|i| operands[i]).collect();
    rewriter.set_operands(op, &operands);
}

/// True if an op is a constant.
pub(super) fn is_constant(op: OpRef<'_>) -> bool {
    op.has_trait(&Trait::ConstantLike) && effects::is_memory_effect_free(op)
}
