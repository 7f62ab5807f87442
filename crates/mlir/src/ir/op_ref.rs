//! A read-only view of an op.

use super::{BlockId, Loc, Module, OpId, OpName, OperationData, RegionId, Template, Value};
use crate::attrs::{Attribute, Dictionary};
use crate::diag::{Diagnostic, Position};
use crate::ods::{OpDef, Trait};
use crate::types::Type;
use std::borrow::Cow;

/// An op of a module. Cheap to copy: a reference and an id.
#[derive(Clone, Copy)]
pub struct OpRef<'m> {
    module: &'m Module,
    id: OpId,
}

impl<'m> OpRef<'m> {
    pub(super) fn new(module: &'m Module, id: OpId) -> OpRef<'m> {
        OpRef { module, id }
    }

    pub(super) fn data(self) -> &'m OperationData {
        &self.module.ops[self.id.index()]
    }

    /// The id.
    pub fn id(self) -> OpId {
        self.id
    }

    /// The module that holds this op.
    pub fn module(self) -> &'m Module {
        self.module
    }

    /// The name and the attributes, which other ops may share.
    pub fn template(self) -> &'m Template {
        &self.data().template
    }

    /// Full name.
    pub fn name(self) -> &'m str {
        self.op_name().as_str()
    }

    /// Declaration, or name of an unregistered op.
    pub fn op_name(self) -> &'m OpName {
        &self.template().contents().name
    }

    /// The declaration, if there is one.
    pub fn def(self) -> Option<&'static OpDef> {
        match *self.op_name() {
            OpName::Registered(def) => Some(def),
            OpName::Unregistered(_) => None,
        }
    }

    /// True if this op is of the given kind.
    pub fn is(self, def: &'static OpDef) -> bool {
        self.def().is_some_and(|d| std::ptr::eq(d, def))
    }

    /// True if this op is of one of the given kinds.
    pub fn is_any(self, defs: &[&'static OpDef]) -> bool {
        defs.iter().any(|def| self.is(def))
    }

    /// True if the declaration has the trait.
    pub fn has_trait(self, t: &Trait) -> bool {
        self.def().is_some_and(|d| d.has_trait(t))
    }

    /// All operands.
    pub fn operands(self) -> &'m [Value] {
        &self.data().operands
    }

    /// Operand `index`.
    pub fn operand(self, index: usize) -> Value {
        self.data().operands[index]
    }

    /// The operands in a slot of the declaration. Empty if the op does not satisfy its declaration.
    pub fn operand_slot(self, slot: usize) -> &'m [Value] {
        let Some(def) = self.def() else { return &[] };
        let operands = self.operands();
        // Fast path: most ops have one operand per slot, in order.
        if operands.len() == def.operands.len() && !def.has_trait(&Trait::AttrSizedOperandSegments)
        {
            return &operands[slot..=slot];
        }
        match def.operand_ranges(operands.len(), self.int_array("operandSegmentSizes")) {
            Ok(ranges) => &operands[ranges[slot].clone()],
            Err(_) => &[],
        }
    }

    /// Types of all operands.
    pub fn operand_types(self) -> impl ExactSizeIterator<Item = &'m Type> + Clone {
        self.operands().iter().map(move |&v| self.module.ty(v))
    }

    /// Type of operand `index`.
    pub fn operand_type(self, index: usize) -> &'m Type {
        self.module.ty(self.operand(index))
    }

    /// Number of results.
    pub fn num_results(self) -> usize {
        self.data().num_results as usize
    }

    /// All results.
    pub fn results(self) -> impl ExactSizeIterator<Item = Value> + Clone + use<> {
        let first = self.data().first_result as usize;
        (first..first + self.num_results()).map(Value::new)
    }

    /// Result `index`.
    pub fn result(self, index: usize) -> Value {
        assert!(index < self.num_results(), "result {index} of {}", self.name());
        Value::new(self.data().first_result as usize + index)
    }

    /// Types of all results.
    pub fn result_types(self) -> impl ExactSizeIterator<Item = &'m Type> + Clone {
        let first = self.data().first_result as usize;
        self.module.values[first..first + self.num_results()].iter().map(|v| &v.ty)
    }

    /// Type of result `index`.
    pub fn result_type(self, index: usize) -> &'m Type {
        self.module.ty(self.result(index))
    }

    /// The results in a slot of the declaration, as indices.
    pub fn result_slot(self, slot: usize) -> std::ops::Range<usize> {
        let Some(def) = self.def() else { return 0..0 };
        let ranges = def.result_ranges(self.num_results(), self.int_array("resultSegmentSizes"));
        ranges.map_or(0..0, |r| r[slot].clone())
    }

    /// Inherent attribute by slot.
    pub fn property(self, slot: usize) -> Option<&'m Attribute> {
        self.properties().get(slot)?.as_ref()
    }

    /// Inherent attribute by slot, or its default value.
    pub fn property_or_default(self, slot: usize) -> Option<&'m Attribute> {
        let default = || (self.def()?.attributes.get(slot)?.default_value)();
        self.property(slot).or_else(default)
    }

    /// Inherent attributes in the order of the declaration; without a declaration, at most one
    /// entry that holds all of them.
    pub fn properties(self) -> &'m [Option<Attribute>] {
        &self.template().contents().properties
    }

    /// Discardable attributes.
    pub fn attributes(self) -> &'m Dictionary {
        &self.template().contents().attributes
    }

    /// An attribute by name, inherent or not.
    pub fn attr(self, name: &str) -> Option<&'m Attribute> {
        match self.def().and_then(|d| d.attribute_index(name)) {
            Some(slot) => self.property(slot),
            None => self.attributes().get(name),
        }
    }

    /// An attribute by name, or its default value.
    pub fn attr_or_default(self, name: &str) -> Option<&'m Attribute> {
        match self.def().and_then(|d| d.attribute_index(name)) {
            Some(slot) => self.property_or_default(slot),
            None => self.attributes().get(name),
        }
    }

    /// The values of an integer `array<…>` attribute.
    pub fn int_array(self, name: &str) -> Option<&'m [i64]> {
        self.attr(name)?.as_int_array()
    }

    /// Regions in order.
    pub fn regions(self) -> &'m [RegionId] {
        self.data().regions()
    }

    /// Successor blocks.
    pub fn successors(self) -> &'m [BlockId] {
        self.data().successors()
    }

    /// The parent block.
    pub fn block(self) -> Option<BlockId> {
        self.data().place.block
    }

    /// The parent op.
    pub fn parent(self) -> Option<OpRef<'m>> {
        let region = self.module.block_parent(self.block()?)?;
        self.module.region_parent(region).map(|op| self.module.op(op))
    }

    /// Location.
    pub fn loc(self) -> &'m Loc {
        &self.data().loc
    }

    /// The location as an attribute.
    pub fn location(self) -> Attribute {
        self.module.location(self.loc())
    }

    /// The position of diagnostics about this op.
    pub fn position(self) -> Position {
        self.module.position(self.loc())
    }

    /// An error about this op that reports a violation of the rule `label`.
    pub fn error(
        self,
        label: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(label, message).at(self.position())
    }

    /// The symbol that this op defines.
    pub fn symbol_name(self) -> Option<&'m str> {
        self.attr("sym_name")?.as_str()
    }

    /// The visibility of the symbol that this op defines, if it is written: public, private or
    /// nested.
    pub fn symbol_visibility(self) -> Option<&'m str> {
        self.attr("sym_visibility")?.as_str()
    }

    /// True if the symbol that this op defines is not visible outside of its module.
    pub fn is_private(self) -> bool {
        self.symbol_visibility() == Some("private")
    }

    /// Looks up a symbol defined in the body of this op.
    pub fn lookup_symbol(self, name: &str) -> Option<OpRef<'m>> {
        let block = self.module.entry(*self.regions().first()?)?;
        let defines = |op: &OpRef<'m>| op.block() == Some(block) && op.symbol_name() == Some(name);
        let known = if self.id == self.module.top {
            self.module.symbol_at_top(name).filter(defines)
        } else {
            None
        };
        known.or_else(|| self.module.ops(block).find(defines))
    }
}
