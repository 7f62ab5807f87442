//! The rewriter, through which patterns change the IR, so that drivers are notified.

use super::conversion::TypeConverter;
use super::fold::constant_value;
use crate::attrs::Attribute;
use crate::diag::{Diagnostic, Diagnostics};
use crate::ir::{BlockId, Loc, Module, OpId, OpName, OpParts, OpRef, RegionId, Value};
use crate::ods::OpDef;
use crate::options::PassOptions;
use crate::types::Type;
use std::collections::HashMap;
use std::ops::Deref;

/// Changes a module and records the changes. Dereferences to the [`Module`] for reading.
pub struct Rewriter<'m> {
    module: &'m mut Module,
    at: Point,
    loc: Loc,
    options: &'m PassOptions,
    pub(super) events: Vec<RewriteEvent>,
    /// Replacements of another type for results of converted ops.
    pub(super) converted: HashMap<Value, Value>,
    pub(super) types: Option<&'m dyn TypeConverter>,
    /// Diagnostics reported by patterns.
    pub(super) diagnostics: Diagnostics,
}

/// The insertion point.
#[derive(Clone, Copy)]
enum Point {
    Before(OpId),
    End(BlockId),
}

/// A change that drivers are notified of.
#[derive(Clone, Copy, Debug)]
pub(super) enum RewriteEvent {
    /// The op was created.
    Created(OpId),
    /// The op's operands or attributes changed.
    Changed(OpId),
    /// The op was erased.
    Erased(OpId),
    /// A result of the op lost a use.
    LostUse(OpId),
}

/// A builder for an op, which [`NewOp::results`] or [`NewOp::inferred`] inserts.
#[must_use]
pub struct NewOp<'r, 'm> {
    rewriter: &'r mut Rewriter<'m>,
    def: &'static OpDef,
    parts: OpParts,
    attributes: Vec<(&'static str, Attribute)>,
}

impl NewOp<'_, '_> {
    /// Sets an attribute by name: inherent if the declaration has one of that name.
    pub fn attr(mut self, name: &'static str, value: impl Into<Attribute>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// Sets an attribute if `value` is `Some`.
    pub fn optional_attr(self, name: &'static str, value: Option<&Attribute>) -> Self {
        match value {
            Some(value) => self.attr(name, value.clone()),
            None => self,
        }
    }

    /// Copies the attributes of another op: inherent ones if both ops declare them, and all
    /// discardable ones.
    pub fn attributes_of(mut self, other: OpId) -> Self {
        let other = self.rewriter.module.op(other);
        let declared = other.def().map_or(&[][..], |def| def.attributes);
        for (slot, value) in declared.iter().zip(other.properties()) {
            if let (Some(_), Some(value)) = (self.def.attribute_index(slot.name), value) {
                self.attributes.push((slot.name, value.clone()));
            }
        }
        self.parts.attributes = other.attributes().clone();
        self
    }

    /// Drops a discardable attribute.
    pub fn without(mut self, name: &str) -> Self {
        self.parts.attributes.remove(name);
        self
    }

    /// Adds a detached region.
    pub fn region(mut self, region: RegionId) -> Self {
        self.parts.regions.push(region);
        self
    }

    /// Sets the location, instead of that of the op being rewritten.
    pub fn at(mut self, loc: Loc) -> Self {
        self.parts.loc = loc;
        self
    }

    /// Inserts the op with the given result types.
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> OpId {
        self.parts.result_types = types.into_iter().collect();
        let op = self.rewriter.module.create_op(self.parts);
        for (name, value) in self.attributes {
            self.rewriter.module.set_attr(op, name, value);
        }
        self.rewriter.insert(op);
        op
    }

    /// Inserts the op with a single result of the given type, and returns that.
    pub fn result(self, ty: Type) -> Value {
        let NewOp { rewriter, def, parts, attributes } = self;
        let op = NewOp { rewriter: &mut *rewriter, def, parts, attributes }.results([ty]);
        rewriter.op(op).result(0)
    }

    /// Inserts the op with inferred result types. Returns `None`, without inserting, if inference
    /// fails.
    pub fn inferred(self) -> Option<OpId> {
        let NewOp { rewriter, def, parts, attributes } = self;
        let op = rewriter.module.create_op(parts);
        for (name, value) in attributes {
            rewriter.module.set_attr(op, name, value);
        }
        match def.infer.map(|infer| infer(rewriter.module.op(op))) {
            Some(Ok(types)) => {
                rewriter.module.add_results(op, types);
                rewriter.insert(op);
                Some(op)
            }
            _ => {
                rewriter.module.erase(op);
                None
            }
        }
    }

    /// Inserts the op with a single result of inferred type, and returns that.
    pub fn value(self) -> Option<Value> {
        let NewOp { rewriter, def, parts, attributes } = self;
        let op = NewOp { rewriter: &mut *rewriter, def, parts, attributes }.inferred()?;
        rewriter.op(op).results().next()
    }
}

impl Deref for Rewriter<'_> {
    type Target = Module;
    fn deref(&self) -> &Module {
        self.module
    }
}

/// Creation of ops.
impl<'m> Rewriter<'m> {
    /// A rewriter that inserts at the end of the first block of the top-level op.
    pub fn new(module: &'m mut Module, options: &'m PassOptions) -> Rewriter<'m> {
        module.build_uses();
        let at = Point::Before(module.top().id());
        Rewriter {
            module,
            at,
            loc: Loc::Unknown,
            options,
            events: Vec::new(),
            converted: HashMap::new(),
            types: None,
            diagnostics: Vec::new(),
        }
    }

    /// The module, for changes that drivers need not be notified of.
    pub fn module_mut(&mut self) -> &mut Module {
        self.module
    }

    /// The options of the pass.
    pub fn options(&self) -> &'m PassOptions {
        self.options
    }

    /// Inserts new ops before `op`, with its location.
    pub fn set_root(&mut self, op: OpId) {
        self.at = Point::Before(op);
        self.loc = self.op(op).loc().clone();
    }

    /// Inserts new ops before `op`.
    pub fn before(&mut self, op: OpId) {
        self.at = Point::Before(op);
    }

    /// Inserts new ops after `op`.
    pub fn after(&mut self, op: OpId) {
        let Some(block) = self.op(op).block() else { return };
        let next = self.op(op).next_in_block();
        self.at = next.map_or(Point::End(block), |next| Point::Before(next.id()));
    }

    /// Inserts new ops at the start of `block`.
    pub fn at_start(&mut self, block: BlockId) {
        let first = self.first_op(block);
        self.at = first.map_or(Point::End(block), |first| Point::Before(first.id()));
    }

    /// Inserts new ops at the end of `block`.
    pub fn at_end(&mut self, block: BlockId) {
        self.at = Point::End(block);
    }

    /// Runs `build` with the insertion point at the end of `block`, and restores it afterwards.
    pub fn within<T>(&mut self, block: BlockId, build: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.at, Point::End(block));
        let made = build(self);
        self.at = before;
        made
    }

    /// The location of new ops.
    pub fn loc(&self) -> &Loc {
        &self.loc
    }

    /// Sets the location of new ops.
    pub fn set_loc(&mut self, loc: Loc) {
        self.loc = loc;
    }

    /// Starts building an op at the insertion point.
    pub fn make(
        &mut self,
        def: &'static OpDef,
        operands: impl IntoIterator<Item = Value>,
    ) -> NewOp<'_, 'm> {
        let mut parts = OpParts::new(OpName::Registered(def), self.loc.clone());
        parts.operands = operands.into_iter().collect();
        NewOp { rewriter: self, def, parts, attributes: Vec::new() }
    }

    /// Inserts an op made from its parts.
    pub fn create(&mut self, parts: OpParts) -> OpId {
        let op = self.module.create_op(parts);
        self.insert(op);
        op
    }

    /// Materializes a constant of the given value and type, with the constant op of the dialect of
    /// `like`.
    pub fn constant(&mut self, like: &'static OpDef, value: &Attribute, ty: &Type) -> Option<OpId> {
        let dialect = self.registry().dialect(like.dialect())?;
        let mut parts = (dialect.constant?)(value, ty)?;
        parts.loc = self.loc.clone();
        Some(self.create(parts))
    }

    fn insert(&mut self, op: OpId) {
        match self.at {
            Point::Before(next) => self.module.insert_before(op, next),
            Point::End(block) => self.module.append(block, op),
        }
        self.events.push(RewriteEvent::Created(op));
    }

    /// A detached region with one block that has arguments of the given types.
    pub fn region_with_block(
        &mut self,
        arguments: impl IntoIterator<Item = Type>,
    ) -> (RegionId, BlockId) {
        let region = self.module.create_region();
        let block = self.module.create_block(region);
        for ty in arguments {
            let loc = self.loc.clone();
            self.module.add_argument(block, ty, loc);
        }
        (region, block)
    }

    /// Clones an op with its regions at the insertion point; `values` maps operands, and records
    /// the cloned values.
    pub fn clone_with(&mut self, op: OpId, values: &mut HashMap<Value, Value>) -> OpId {
        let copy = self.module.clone_op(op, values, &mut HashMap::new());
        self.insert(copy);
        copy
    }
}

/// Modification of ops.
impl Rewriter<'_> {
    /// Replaces the results of an op by values, and erases it. In a conversion the values may have
    /// other types.
    pub fn replace(&mut self, op: OpId, values: &[Value]) {
        let results: Vec<Value> = self.op(op).results().collect();
        debug_assert_eq!(results.len(), values.len(), "one value a result");
        let mut kept = false;
        for (old, &new) in results.into_iter().zip(values) {
            if self.types.is_some() && self.ty(old) != self.ty(new) {
                self.converted.insert(old, new);
                kept = true;
            } else {
                self.replace_uses(old, new);
            }
        }
        if kept {
            self.events.push(RewriteEvent::Erased(op));
        } else {
            self.erase(op);
        }
    }

    /// Replaces the results of `op` by those of `new`, and erases `op`.
    pub fn replace_with(&mut self, op: OpId, new: OpId) {
        let values: Vec<Value> = self.op(new).results().collect();
        self.replace(op, &values);
    }

    /// Replaces all uses of `old` by `new`.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        self.events.extend(self.module.users(old).map(RewriteEvent::Changed));
        self.module.replace_all_uses(old, new);
    }

    /// Erases an op with its regions; its results must be unused.
    pub fn erase(&mut self, op: OpId) {
        let within: Vec<OpId> = self.module.walk(op).map(OpRef::id).collect();
        let mut defining = Vec::new();
        for &op in &within {
            defining.extend(
                self.module
                    .op(op)
                    .operands()
                    .iter()
                    .filter_map(|&v| self.defining_op(v).map(OpRef::id)),
            );
        }
        if let Point::Before(next) = self.at
            && within.contains(&next)
        {
            self.after(op);
        }
        self.module.erase(op);
        self.events.extend(within.into_iter().map(RewriteEvent::Erased));
        self.events.extend(defining.into_iter().map(RewriteEvent::LostUse));
    }

    /// Sets one operand.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: Value) {
        let old = self.defining_op(self.op(op).operand(index)).map(OpRef::id);
        self.module.set_operand(op, index, value);
        self.events.push(RewriteEvent::Changed(op));
        self.events.extend(old.map(RewriteEvent::LostUse));
    }

    /// Sets all operands.
    pub fn set_operands(&mut self, op: OpId, operands: &[Value]) {
        let old: Vec<_> = self
            .op(op)
            .operands()
            .iter()
            .filter_map(|&v| self.defining_op(v))
            .map(OpRef::id)
            .collect();
        self.module.set_operands(op, operands.iter().copied());
        self.events.push(RewriteEvent::Changed(op));
        self.events.extend(old.into_iter().map(RewriteEvent::LostUse));
    }

    /// Sets an attribute by name.
    pub fn set_attr(&mut self, op: OpId, name: &str, value: Attribute) {
        self.module.set_attr(op, name, value);
        self.events.push(RewriteEvent::Changed(op));
    }

    /// Removes an attribute by name.
    pub fn remove_attr(&mut self, op: OpId, name: &str) {
        self.module.remove_attr(op, name);
        self.events.push(RewriteEvent::Changed(op));
    }

    /// Changes the type of a value, and notifies its users.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.module.set_type(value, ty);
        self.events.extend(self.module.users(value).map(RewriteEvent::Changed));
        self.events.extend(self.module.defining_op(value).map(|op| RewriteEvent::Changed(op.id())));
    }

    /// Moves an op before another op, in any block.
    pub fn move_before(&mut self, op: OpId, next: OpId) {
        self.module.insert_before(op, next);
        self.events.push(RewriteEvent::Changed(op));
    }

    /// Moves the ops of `block`, except its terminator, before `next`, with its arguments replaced
    /// by `values`. Erases the terminator and returns its operands.
    pub fn inline_block_before(
        &mut self,
        block: BlockId,
        next: OpId,
        values: &[Value],
    ) -> Vec<Value> {
        let terminator = self.module.terminator(block).map(OpRef::id);
        let ops: Vec<OpId> = self.module.ops(block).map(OpRef::id).collect();
        self.module.inline_block_before(block, next, values);
        self.events.extend(ops.into_iter().map(RewriteEvent::Created));
        let Some(terminator) = terminator else { return Vec::new() };
        let results = self.op(terminator).operands().to_vec();
        self.erase(terminator);
        results
    }

    /// Moves the blocks of `from` to the end of `to`.
    pub fn move_blocks(&mut self, from: RegionId, to: RegionId) {
        self.module.move_blocks(from, to);
    }

    /// Number of diagnostics reported so far.
    pub fn reported(&self) -> usize {
        self.diagnostics.len()
    }

    /// Takes the diagnostics; for callers without a driver.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// Reports a problem. An error makes the pass fail.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

/// Queries.
impl Rewriter<'_> {
    /// The value of `value`, if a constant defines it.
    pub fn constant_of(&self, value: Value) -> Option<Attribute> {
        constant_value(self.module, value)
    }

    /// In a conversion: the converted operands of an op.
    pub fn converted_operands(&self, op: OpId) -> Vec<Value> {
        self.op(op).operands().iter().map(|&v| self.converted_value(v)).collect()
    }

    /// In a conversion: the replacement of a value, or the value itself.
    pub fn converted_value(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(&next) = self.converted.get(&value) {
            value = next;
        }
        value
    }

    /// In a conversion: the converted type.
    pub fn converted_type(&self, ty: &Type) -> Option<Type> {
        match self.types {
            Some(types) => types.convert(ty),
            None => Some(ty.clone()),
        }
    }
}
