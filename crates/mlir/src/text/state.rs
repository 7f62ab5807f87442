//! What the parser has gathered of an op that it has not built yet.

use crate::attrs::{Attribute, Name};
use crate::diag::Span;
use crate::ir::RegionId;
use crate::ods::OpDef;
use crate::types::Type;

/// A use of a value by name, before its type is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnresolvedOperand {
    /// Where the name is written, `%` included, `#1` not.
    pub name: Span,
    /// Which of the results that the name stands for (`%0#1`).
    pub index: u32,
}

/// The parts of an op in its pretty form: one entry a slot of the declaration, filled in any order.
pub struct OpState {
    /// The declaration.
    pub def: &'static OpDef,
    /// Where the op is written: from its results to its name.
    pub span: Span,
    /// Operands by slot.
    pub operands: Vec<Vec<UnresolvedOperand>>,
    /// All operands in order, where the syntax does not tell the slots apart; dealt out to slots afterwards.
    pub all_operands: Option<Vec<UnresolvedOperand>>,
    /// Types of all operands in order.
    pub all_operand_types: Option<Vec<Type>>,
    /// Types of all results in order.
    pub all_result_types: Option<Vec<Type>>,
    /// Operand types by slot; `None` until given.
    pub operand_types: Vec<Option<Vec<Type>>>,
    /// Result types by slot; `None` until given.
    pub result_types: Vec<Option<Vec<Type>>>,
    /// Inherent attributes by slot.
    pub properties: Vec<Option<Attribute>>,
    /// Other attributes.
    pub attributes: Vec<(Name, Attribute)>,
    /// Regions by slot.
    pub regions: Vec<Vec<RegionId>>,
}

impl OpState {
    /// An op of that declaration with nothing filled in.
    pub fn new(def: &'static OpDef, span: Span) -> OpState {
        OpState {
            def,
            span,
            operands: vec![Vec::new(); def.operands.len()],
            all_operands: None,
            all_operand_types: None,
            all_result_types: None,
            operand_types: vec![None; def.operands.len()],
            result_types: vec![None; def.results.len()],
            properties: vec![None; def.attributes.len()],
            attributes: Vec::new(),
            regions: vec![Vec::new(); def.regions.len()],
        }
    }

    /// Sets an attribute by name: inherent if the declaration has that name.
    pub fn set_attr(&mut self, name: &str, value: Attribute) {
        match self.def.attribute_index(name) {
            Some(slot) => self.properties[slot] = Some(value),
            None => self.attributes.push((name.into(), value)),
        }
    }
}
