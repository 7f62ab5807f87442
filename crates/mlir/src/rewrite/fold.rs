//! Folding of ops, and uniquing of constants.

use super::{Rewriter, effects};
use crate::attrs::{Attribute, DenseElements};
use crate::ir::{Module, OpId, OpRef, RegionId, Value};
use crate::ods::{OpDef, Trait};
use crate::prepare;
use crate::types::Type;
use numerics::DType;
use program::RuntimeValue;
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

/// Maximum number of elements of a constant made by folding.
const MAX_ELEMENTS: usize = 1 << 16;

/// Folds an op of constants by evaluating it.
pub fn evaluate(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    if constants.is_empty() || !constants.iter().all(Option::is_some) {
        return None;
    }
    let results = results(op, MAX_ELEMENTS, |value| constant(op.module(), value))?;
    let constant =
        |(result, ty): (RuntimeValue, &Type)| attribute(result, ty).map(Folded::Constant);
    results.into_iter().zip(op.result_types()).map(constant).collect()
}

/// Evaluates an op without regions whose tensors have at most so many elements, on the values that
/// `operand` gives for its operands. `None` if there are others, or the op has no results for them.
pub fn results(
    op: OpRef<'_>,
    max_elements: usize,
    operand: impl Fn(Value) -> Option<RuntimeValue>,
) -> Option<Vec<RuntimeValue>> {
    let is_small = |ty: &Type| {
        ty.as_tensor().is_none_or(|tensor| {
            tensor.has_static_shape() && tensor.num_elements().is_some_and(|n| n <= max_elements)
        })
    };
    if !op.regions().is_empty() || !op.operand_types().chain(op.result_types()).all(is_small) {
        return None;
    }
    let operands = op.operands().iter().map(|&value| operand(value)).collect::<Option<_>>()?;
    prepare::evaluate(op, operands).ok()
}

/// The value of `value` in a run, if a constant defines it.
pub fn constant(module: &Module, value: Value) -> Option<RuntimeValue> {
    let op = module.defining_op(value).filter(|op| op.has_trait(&Trait::ConstantLike))?;
    prepare::evaluate(op, Vec::new()).ok()?.pop()
}

/// The attribute for a value of a type. Dialects may represent values of their types as scalars and
/// vectors of `i64`, which become attributes of type `index`, and as booleans.
fn attribute(value: RuntimeValue, ty: &Type) -> Option<Attribute> {
    let tensor = value.into_tensor().ok()?;
    let element = match ty.element_type().dtype() {
        Some(dtype) => (dtype == tensor.dtype()).then(|| ty.element_type().clone())?,
        None if tensor.dtype() == DType::I64 => Type::index(),
        None if tensor.dtype() == DType::I1 => Type::i1(),
        None => return None,
    };
    let is_tensor = ty.shape().is_some() || tensor.rank() > 0;
    if is_tensor {
        let shape: Vec<i64> =
            tensor.shape().iter().map(|&size| i64::try_from(size).ok()).collect::<Option<_>>()?;
        return Some(
            DenseElements::new(Type::tensor(shape, element), tensor.bytes().clone())?.into(),
        );
    }
    let dense = DenseElements::new(Type::tensor([], element.clone()), tensor.bytes().clone())?;
    if let Some(value) = dense.int_values() {
        return Some(Attribute::integer(i128::from(*value.first()?), element));
    }
    if !element.is_float() {
        return None;
    }
    let bits = tensor.bytes().iter().rev().fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
    Some(Attribute::float_bits(bits, element))
}

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
