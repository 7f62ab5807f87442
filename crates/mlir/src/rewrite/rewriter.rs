//! The rewriter: what patterns change the IR through, so that drivers know what they did.

use super::conversion::TypeConverter;
use super::fold::constant_value;
use crate::attrs::Attribute;
use crate::diag::{Diagnostic, Diagnostics};
use crate::ir::{BlockId, Loc, Module, OpId, OpName, OpParts, OpRef, RegionId, Value};
use crate::ods::OpDef;
use crate::pass::Options;
use crate::types::Type;
use std::collections::HashMap;
use std::ops::Deref;

/// Changes a module and records what it changes. It reads as the [`Module`] that it changes.
pub struct Rewriter<'m> {
    module: &'m mut Module,
    at: Point,
    loc: Loc,
    options: &'m Options,
    pub(super) events: Vec<Event>,
    /// Values of another type that stand for results of converted ops.
    pub(super) converted: HashMap<Value, Value>,
    pub(super) types: Option<&'m dyn TypeConverter>,
    /// What patterns report.
    pub(super) diagnostics: Diagnostics,
}

/// Where new ops go.
#[derive(Clone, Copy)]
enum Point {
    Before(OpId),
    End(BlockId),
}

/// What happened to an op.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// It is new.
    Created(OpId),
    /// Its operands or attributes are others.
    Changed(OpId),
    /// It was erased.
    Erased(OpId),
    /// It lost a use of one of its results.
    LostUse(OpId),
}

/// An op that is being made. [`NewOp::results`] or [`NewOp::inferred`] puts it in place.
#[must_use]
pub struct NewOp<'r, 'm> {
    rewriter: &'r mut Rewriter<'m>,
    def: &'static OpDef,
    parts: OpParts,
    attributes: Vec<(&'static str, Attribute)>,
}

impl NewOp<'_, '_> {
    /// Sets an attribute by name: inherent if the declaration has that name.
    pub fn attr(mut self, name: &'static str, value: impl Into<Attribute>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// Sets an attribute if there is one.
    pub fn optional_attr(self, name: &'static str, value: Option<&Attribute>) -> Self {
        match value {
            Some(value) => self.attr(name, value.clone()),
            None => self,
        }
    }

    /// Copies the attributes of another op, inherent ones where both ops declare their names; what
    /// is inherent only to the other is dropped.
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

    /// Drops an attribute that is not inherent.
    pub fn without(mut self, name: &str) -> Self {
        self.parts.attributes.remove(name);
        self
    }

    /// Adds a region, which belongs to no op.
    pub fn region(mut self, region: RegionId) -> Self {
        self.parts.regions.push(region);
        self
    }

    /// Gives the op another location than that of the op that is being rewritten.
    pub fn at(mut self, loc: Loc) -> Self {
        self.parts.loc = loc;
        self
    }

    /// Makes the op with results of those types.
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> OpId {
        self.parts.result_types = types.into_iter().collect();
        let op = self.rewriter.module.create_op(self.parts);
        for (name, value) in self.attributes {
            self.rewriter.module.set_attr(op, name, value);
        }
        self.rewriter.insert(op);
        op
    }

    /// Makes the op with one result of that type, and returns the result.
    pub fn result(self, ty: Type) -> Value {
        let NewOp { rewriter, def, parts, attributes } = self;
        let op = NewOp { rewriter: &mut *rewriter, def, parts, attributes }.results([ty]);
        rewriter.op(op).result(0)
    }

    /// Makes the op with the results that its declaration infers. `None`, and no op, if it infers
    /// none from these operands.
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

    /// Makes the op with the one result that its declaration infers, and returns the result.
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

/// Construction of ops.
impl<'m> Rewriter<'m> {
    /// A rewriter that inserts nowhere in particular: at the end of the first block of the
    /// top-level op.
    pub fn new(module: &'m mut Module, options: &'m Options) -> Rewriter<'m> {
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

    /// The module, to change what no driver needs to know of.
    pub fn module_mut(&mut self) -> &mut Module {
        self.module
    }

    /// The options of the pass.
    pub fn options(&self) -> &'m Options {
        self.options
    }

    /// New ops go before `op` and get its location.
    pub fn set_root(&mut self, op: OpId) {
        self.at = Point::Before(op);
        self.loc = self.op(op).loc().clone();
    }

    /// New ops go before `op`.
    pub fn before(&mut self, op: OpId) {
        self.at = Point::Before(op);
    }

    /// New ops go after `op`.
    pub fn after(&mut self, op: OpId) {
        let Some(block) = self.op(op).block() else { return };
        let next = self.op(op).next_in_block();
        self.at = next.map_or(Point::End(block), |next| Point::Before(next.id()));
    }

    /// New ops go to the start of `block`.
    pub fn at_start(&mut self, block: BlockId) {
        let first = self.first_op(block);
        self.at = first.map_or(Point::End(block), |first| Point::Before(first.id()));
    }

    /// New ops go to the end of `block`.
    pub fn at_end(&mut self, block: BlockId) {
        self.at = Point::End(block);
    }

    /// Runs `build` with new ops going to the end of `block`; afterwards they go where they went
    /// before.
    pub fn within<T>(&mut self, block: BlockId, build: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.at, Point::End(block));
        let made = build(self);
        self.at = before;
        made
    }

    /// The location that new ops get.
    pub fn loc(&self) -> &Loc {
        &self.loc
    }

    /// Sets the location that new ops get.
    pub fn set_loc(&mut self, loc: Loc) {
        self.loc = loc;
    }

    /// An op to be made at the insertion point.
    pub fn make(
        &mut self,
        def: &'static OpDef,
        operands: impl IntoIterator<Item = Value>,
    ) -> NewOp<'_, 'm> {
        let mut parts = OpParts::new(OpName::Registered(def), self.loc.clone());
        parts.operands = operands.into_iter().collect();
        NewOp { rewriter: self, def, parts, attributes: Vec::new() }
    }

    /// Makes an op of those parts at the insertion point.
    pub fn create(&mut self, parts: OpParts) -> OpId {
        let op = self.module.create_op(parts);
        self.insert(op);
        op
    }

    /// Makes the op that has `value` in a constant of that type, in the way of the dialect of
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
        self.events.push(Event::Created(op));
    }

    /// A region with one block that has arguments of those types.
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

    /// Copies an op with everything in it to the insertion point, with other operands.
    pub fn clone_with(&mut self, op: OpId, values: &mut HashMap<Value, Value>) -> OpId {
        let copy = self.module.clone_op(op, values, &mut HashMap::new());
        self.insert(copy);
        copy
    }
}

/// Changes of ops.
impl Rewriter<'_> {
    /// Puts values in the place of the results of an op, and erases it. In a conversion the values
    /// may have other types.
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
            self.events.push(Event::Erased(op));
        } else {
            self.erase(op);
        }
    }

    /// Puts the results of `new` in the place of those of `op`, and erases `op`.
    pub fn replace_with(&mut self, op: OpId, new: OpId) {
        let values: Vec<Value> = self.op(new).results().collect();
        self.replace(op, &values);
    }

    /// Puts `new` in the place of all uses of `old`.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        self.events.extend(self.module.users(old).iter().map(|&user| Event::Changed(user)));
        self.module.replace_all_uses(old, new);
    }

    /// Erases an op with everything in it; nothing may use its results.
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
        self.events.extend(within.into_iter().map(Event::Erased));
        self.events.extend(defining.into_iter().map(Event::LostUse));
    }

    /// Sets one operand.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: Value) {
        let old = self.defining_op(self.op(op).operand(index)).map(OpRef::id);
        self.module.set_operand(op, index, value);
        self.events.push(Event::Changed(op));
        self.events.extend(old.map(Event::LostUse));
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
        self.events.push(Event::Changed(op));
        self.events.extend(old.into_iter().map(Event::LostUse));
    }

    /// Sets an attribute by name.
    pub fn set_attr(&mut self, op: OpId, name: &str, value: Attribute) {
        self.module.set_attr(op, name, value);
        self.events.push(Event::Changed(op));
    }

    /// Removes an attribute by name.
    pub fn remove_attr(&mut self, op: OpId, name: &str) {
        self.module.remove_attr(op, name);
        self.events.push(Event::Changed(op));
    }

    /// Changes the type of a value; its users are looked at again.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.module.set_type(value, ty);
        self.events.extend(self.module.users(value).iter().map(|&user| Event::Changed(user)));
        self.events.extend(self.module.defining_op(value).map(|op| Event::Changed(op.id())));
    }

    /// Moves an op before another of any block.
    pub fn move_before(&mut self, op: OpId, next: OpId) {
        self.module.insert_before(op, next);
        self.events.push(Event::Changed(op));
    }

    /// Moves the ops of `block`, but for its terminator, before `next`, with `values` in the place
    /// of its arguments. Returns the operands of the terminator, which is erased.
    pub fn inline_block_before(
        &mut self,
        block: BlockId,
        next: OpId,
        values: &[Value],
    ) -> Vec<Value> {
        let terminator = self.module.terminator(block).map(OpRef::id);
        let ops: Vec<OpId> = self.module.ops(block).map(OpRef::id).collect();
        self.module.inline_block_before(block, next, values);
        self.events.extend(ops.into_iter().map(Event::Created));
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

    /// What was reported, for who uses the rewriter without a driver.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// Reports a problem. An error makes the pass fail.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

/// What patterns ask.
impl Rewriter<'_> {
    /// The value of the constant that defines `value`.
    pub fn constant_of(&self, value: Value) -> Option<Attribute> {
        constant_value(self.module, value)
    }

    /// In a conversion: the operands of an op as converted so far.
    pub fn converted_operands(&self, op: OpId) -> Vec<Value> {
        self.op(op).operands().iter().map(|&v| self.converted_value(v)).collect()
    }

    /// In a conversion: what stands for a value.
    pub fn converted_value(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(&next) = self.converted.get(&value) {
            value = next;
        }
        value
    }

    /// In a conversion: the type that a type becomes.
    pub fn converted_type(&self, ty: &Type) -> Option<Type> {
        match self.types {
            Some(types) => types.convert(ty),
            None => Some(ty.clone()),
        }
    }
}
