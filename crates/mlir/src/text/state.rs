//! The parsed parts of an op before it is built.

use crate::attrs::{Attribute, Name};
use crate::diag::Span;
use crate::ir::{BlockId, Properties, RegionId};
use crate::ods::OpDef;
use crate::types::Type;
use smallvec::{Array, SmallVec};

/// Types in a list of the syntax, inline for short lists.
pub type TypeList = SmallVec<[Type; 2]>;

/// Operands in a list of the syntax, inline for short lists.
pub type OperandList = SmallVec<[UnresolvedOperand; 2]>;

/// A use of a value by name, before its type is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnresolvedOperand {
    /// Position of the name, `%` included, `#1` not.
    pub name: Span,
    /// Index among the results with this name (`%0#1`).
    pub index: u32,
}

/// The parsed parts of an op in its pretty form: one entry per slot of the declaration, filled in
/// any order.
pub struct OpState {
    /// The declaration.
    pub def: &'static OpDef,
    /// Position of the op: from its results to its name.
    pub span: Span,
    /// Operands by slot.
    pub operands: SmallVec<[OperandList; 3]>,
    /// All operands in order, if the syntax does not separate the slots; assigned to slots
    /// afterwards.
    pub all_operands: Option<OperandList>,
    /// Types of all operands in order.
    pub all_operand_types: Option<TypeList>,
    /// Types of all results in order.
    pub all_result_types: Option<TypeList>,
    /// Operand types by slot; `None` until given.
    pub operand_types: SmallVec<[Option<TypeList>; 3]>,
    /// Result types by slot; `None` until given.
    pub result_types: SmallVec<[Option<TypeList>; 1]>,
    /// Inherent attributes by slot.
    pub properties: Properties,
    /// Other attributes.
    pub attributes: Vec<(Name, Attribute)>,
    /// Regions by slot.
    pub regions: SmallVec<[SmallVec<[RegionId; 1]>; 1]>,
    /// Successors in order.
    pub successors: Vec<BlockId>,
}

/// A list of `count` equal elements.
fn repeat<A: Array>(count: usize, make: impl FnMut() -> A::Item) -> SmallVec<A> {
    let mut list = SmallVec::new();
    list.resize_with(count, make);
    list
}

impl OpState {
    /// The state of an op of declaration `def`, with nothing filled in.
    #[inline]
    pub fn new(def: &'static OpDef, span: Span) -> OpState {
        OpState {
            def,
            span,
            operands: repeat(def.operands.len(), OperandList::new),
            all_operands: None,
            all_operand_types: None,
            all_result_types: None,
            operand_types: repeat(def.operands.len(), || None),
            result_types: repeat(def.results.len(), || None),
            properties: repeat(def.attributes.len(), || None),
            attributes: Vec::new(),
            regions: repeat(def.regions.len(), SmallVec::new),
            successors: Vec::new(),
        }
    }

    /// Sets the type of the operand in a slot.
    pub fn set_operand_type(&mut self, slot: usize, ty: Type) {
        self.operand_types[slot] = Some(std::iter::once(ty).collect());
    }

    /// Sets the type of the result in a slot.
    pub fn set_result_type(&mut self, slot: usize, ty: Type) {
        self.result_types[slot] = Some(std::iter::once(ty).collect());
    }

    /// Sets an attribute by name: inherent if the declaration has one of that name.
    pub fn set_attr(&mut self, name: &str, value: Attribute) {
        match self.def.attribute_index(name) {
            Some(slot) => self.properties[slot] = Some(value),
            None => self.attributes.push((name.into(), value)),
        }
    }
}
