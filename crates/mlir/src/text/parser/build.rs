//! Ops from the parts that their custom syntax has: operands by slot, types that are not written,
//! defaults of attributes.

use super::{Parsed, Parser};
use crate::attrs::{Attribute, Dictionary};
use crate::diag::counted;
use crate::ir::{Loc, OpId, OpName, OpParts, OperandValues, Value};
use crate::ods::{AttrConstraint, OpDef, Presence, Trait};
use crate::text::{OpState, OperandList, UnresolvedOperand};
use crate::types::Type;
use smallvec::SmallVec;

impl Parser<'_> {
    /// Builds the op described by `state`; types that the syntax omits follow from the declaration.
    pub(super) fn build(&mut self, state: &mut OpState) -> Parsed<OpId> {
        let def = state.def;
        if let Some(all) = state.all_operands.take() {
            let segments = state
                .properties
                .iter()
                .zip(def.attributes)
                .find(|(_, s)| s.name == "operandSegmentSizes");
            let segments =
                segments.and_then(|(value, _)| value.as_ref()?.as_int_array()).map(<[i64]>::to_vec);
            self.deal_operands(all, segments.as_deref(), state)?;
        }
        if def.has_trait(&Trait::AttrSizedOperandSegments)
            && let Some(slot) = def.attribute_index("operandSegmentSizes")
        {
            let sizes = state.operands.iter().map(|o| o.len() as i64).collect();
            let value = crate::attrs::AttrKind::DenseArray { element: Type::i32(), values: sizes };
            state.properties[slot] = Some(value.into());
        }
        let mut parts = OpParts::new(OpName::Registered(def), Loc::Source(state.span));
        self.resolve_operands(state, &mut parts.operands)?;
        let types_are_known =
            self.state_result_types(state, parts.operands.first(), &mut parts.result_types);
        if !types_are_known {
            parts.result_types.clear();
        }
        parts.regions.extend(state.regions.iter().flatten().copied());
        parts.successors = std::mem::take(&mut state.successors);
        parts.properties = std::mem::take(&mut state.properties);
        if !state.attributes.is_empty() {
            parts.attributes = match Dictionary::new(std::mem::take(&mut state.attributes)) {
                Ok(dictionary) => dictionary,
                Err(name) => {
                    return self
                        .error_at(state.span, format!("the attribute `{name}` is given twice"));
                }
            };
        }
        fill_defaults(def, &mut parts.properties);
        let op = self.module.create_op(parts);
        if !types_are_known {
            self.reads_values = true;
            let Some(infer) = def.infer else {
                return self.error_at(
                    state.span,
                    format!("the result types of {} are not known here", def.name),
                );
            };
            match infer(self.module.op(op)) {
                Ok(types) => self.module.add_results(op, types),
                Err(diagnostic) => return self.report(diagnostic.at(state.span)),
            }
        }
        Ok(op)
    }

    /// Assigns operands that were written in one list to their slots.
    pub(super) fn deal_operands(
        &mut self,
        operands: OperandList,
        segments: Option<&[i64]>,
        state: &mut OpState,
    ) -> Parsed<()> {
        let def = state.def;
        let Ok(ranges) = def.operand_ranges(operands.len(), segments) else {
            let names: Vec<_> = def.operands.iter().map(|s| s.name).collect();
            let message = format!(
                "{} takes the operands {}; found {}",
                def.name,
                names.join(", "),
                operands.len()
            );
            return self.error_at(self.span_from(state.span), message);
        };
        state.operands =
            ranges.into_iter().map(|r| OperandList::from_slice(&operands[r])).collect();
        Ok(())
    }

    fn resolve_operands(&mut self, state: &OpState, out: &mut OperandValues) -> Parsed<()> {
        let def = state.def;
        if let Some(types) = &state.all_operand_types {
            let operands: SmallVec<[UnresolvedOperand; 3]> =
                state.operands.iter().flatten().copied().collect();
            if types.len() != operands.len() {
                let message = format!(
                    "{}, but {}",
                    counted(operands.len(), "operand"),
                    counted(types.len(), "type")
                );
                return self.error_at(self.span_from(state.span), message);
            }
            for (operand, ty) in operands.into_iter().zip(types) {
                out.push(self.resolve(operand, ty)?);
            }
            return Ok(());
        }
        for (slot, operands) in state.operands.iter().enumerate() {
            match &state.operand_types[slot] {
                Some(types) if types.len() == operands.len() => {
                    for (operand, ty) in operands.iter().zip(types) {
                        out.push(self.resolve(*operand, ty)?);
                    }
                }
                Some(types) => {
                    let name = def.operands[slot].name;
                    let message = format!(
                        "{} of `{name}`, but {}",
                        counted(operands.len(), "operand"),
                        counted(types.len(), "type")
                    );
                    return self.error_at(self.span_from(state.span), message);
                }
                None => {
                    for operand in operands {
                        let ty = self.implied_type(
                            state,
                            def.operands[slot].name,
                            &def.operands[slot].constraint.rule,
                        );
                        let Some(ty) = ty.or_else(|| self.known_type(*operand)) else {
                            let message = format!(
                                "the type of this operand of {} is not known here",
                                def.name
                            );
                            return self.error_at(operand.name, message);
                        };
                        out.push(self.resolve(*operand, &ty)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// The type of a slot whose type is not written: the only one that its constraint allows, or
    /// that of another slot.
    fn implied_type(
        &self,
        state: &OpState,
        name: &str,
        rule: &crate::ods::TypeRule,
    ) -> Option<Type> {
        if let crate::ods::TypeRule::Exactly(make) = rule {
            return Some(make());
        }
        let written = |name: &str| {
            let def = state.def;
            let operand = def.operands.iter().position(|s| s.name == name);
            let result = def.results.iter().position(|s| s.name == name);
            let types = match (operand, result) {
                (Some(i), _) => state.operand_types[i].as_ref(),
                (None, Some(i)) => state.result_types[i].as_ref(),
                _ => return Some(state.properties[def.attribute_index(name)?].as_ref()?.ty()),
            };
            types.and_then(|t| t.first()).cloned()
        };
        let all = state.operand_types.iter().chain(&state.result_types).flatten().flatten();
        let is_operand = state.def.operands.iter().any(|s| s.name == name);
        state.def.traits.iter().find_map(|t| match t {
            Trait::SameOperandsAndResultType => all.clone().next().cloned(),
            Trait::SameTypeOperands if is_operand => {
                state.operand_types.iter().flatten().flatten().next().cloned()
            }
            Trait::AllTypesMatch(names) if names.contains(&name) => {
                names.iter().find_map(|n| written(n))
            }
            _ => None,
        })
    }

    /// Appends the result types, if they follow from the syntax or the declaration; returns true if
    /// so.
    fn state_result_types(
        &self,
        state: &OpState,
        first_operand: Option<&Value>,
        types: &mut SmallVec<[Type; 1]>,
    ) -> bool {
        if let Some(written) = &state.all_result_types {
            types.extend(written.iter().cloned());
            return true;
        }
        for (declared, written) in state.def.results.iter().zip(&state.result_types) {
            if let Some(written) = written {
                types.extend(written.iter().cloned());
                continue;
            }
            let implied = self.implied_type(state, declared.name, &declared.constraint.rule);
            let same =
                || first_operand.filter(|_| state.def.has_trait(&Trait::SameOperandsAndResultType));
            match implied.or_else(|| same().map(|&v| self.module.ty(v).clone())) {
                Some(ty) => types.push(ty),
                None => return false,
            }
        }
        true
    }
}

/// Sets absent attributes to their defaults, and makes lists of elements that older texts have in
/// place of them.
pub(super) fn fill_defaults(def: &OpDef, properties: &mut [Option<Attribute>]) {
    for (slot, value) in def.attributes.iter().zip(properties) {
        if let Some(list) = value.as_ref().and_then(|value| former_list(slot.constraint, value)) {
            *value = Some(list);
        }
        if let (Presence::Default(default), None) = (slot.presence, &value) {
            *value = Some(default.attribute());
        }
    }
}

/// The list that stands for elements of one dimension, which ops had before StableHLO 0.16.
pub(super) fn former_list(constraint: &AttrConstraint, elements: &Attribute) -> Option<Attribute> {
    let is_list = elements.ty().shape().is_some_and(|shape| shape.len() == 1);
    let fits = |width| is_list && AttrConstraint::IntElements(width).holds(elements);
    match constraint {
        AttrConstraint::I64Array if fits(64) => {
            elements.as_dense()?.int_values().map(Attribute::i64_array)
        }
        AttrConstraint::BoolArray if fits(1) => {
            let values = elements.as_dense()?.int_values()?;
            Some(Attribute::bool_array(values.into_iter().map(|value| value != 0)))
        }
        _ => None,
    }
}
