//! Verifies an op against the slots of its declaration: counts and types of values, attributes,
//! regions, successors.

use super::Verifier;
use crate::diag::counted;
use crate::ir::{OpRef, Value};
use crate::nearest::nearest;
use crate::ods::{Arity, BlockCount, OpDef, Presence, SegmentError, Trait, ValueSlot, slot_sizes};
use crate::types::{Type, TypeKind};

/// Operands or results.
#[derive(Clone, Copy)]
enum ValueSide {
    Operand,
    Result,
}

impl ValueSide {
    fn name(self) -> &'static str {
        match self {
            ValueSide::Operand => "operand",
            ValueSide::Result => "result",
        }
    }
}

impl<'m> Verifier<'m> {
    /// Checks that the op satisfies its slots. Reports only the first violation: others often
    /// follow from it.
    pub(super) fn check_slots(&mut self, op: OpRef<'m>, def: &'static OpDef) -> bool {
        let fits = self.check_attributes(op, def)
            && self.check_values(op, def, ValueSide::Operand, op.operands().iter().copied())
            && self.check_values(op, def, ValueSide::Result, op.results())
            && self.check_regions(op, def);
        if !fits {
            return false;
        }
        if op.successors().len() != def.successors {
            let (found, expected) = (op.successors().len(), def.successors);
            let message = format!(
                "`{}` must have {}, but has {found}",
                def.name,
                counted(expected, "successor")
            );
            return self.report(op.error("successors", message));
        }
        true
    }

    /// As [`Verifier::check_slots`], without results and successors.
    pub(super) fn check_inputs(&mut self, op: OpRef<'m>, def: &'static OpDef) -> bool {
        self.check_attributes(op, def)
            && self.check_values(op, def, ValueSide::Operand, op.operands().iter().copied())
            && self.check_regions(op, def)
    }

    fn check_attributes(&mut self, op: OpRef<'m>, def: &'static OpDef) -> bool {
        for (slot, value) in def.attributes.iter().zip(op.properties()) {
            let message = match value {
                None => match slot.presence {
                    Presence::Required => Some(String::new()),
                    Presence::RequiredUnless(other) if op.attr(other).is_none() => {
                        Some(format!(", or `{other}`"))
                    }
                    _ => None,
                }
                .map(|or_other| {
                    let summary = slot.constraint.summary();
                    format!(
                        "`{}` needs the attribute `{}`: {summary}{or_other}",
                        def.name, slot.name
                    )
                }),
                Some(value) => slot.mismatch(def.name, value),
            };
            if let Some(message) = message {
                let help = if value.is_none() { misspelled(op, slot.name) } else { None };
                return self.report(op.error("attribute", message).help(help));
            }
        }
        true
    }

    fn check_values(
        &mut self,
        op: OpRef<'m>,
        def: &'static OpDef,
        side: ValueSide,
        values: impl ExactSizeIterator<Item = Value> + Clone,
    ) -> bool {
        let (slots, sized, sizes_name) = match side {
            ValueSide::Operand => {
                (def.operands, Trait::AttrSizedOperandSegments, "operandSegmentSizes")
            }
            ValueSide::Result => {
                (def.results, Trait::AttrSizedResultSegments, "resultSegmentSizes")
            }
        };
        let segments = def.has_trait(&sized).then(|| op.int_array(sizes_name));
        let sizes = match slot_sizes(slots, values.len(), segments) {
            Ok(sizes) => sizes,
            Err(error) => {
                let message = count_message(def, side, slots, sizes_name, &error);
                return self.report(op.error(
                    if matches!(side, ValueSide::Operand) { "operands" } else { "results" },
                    message,
                ));
            }
        };
        let mut numbered = values.enumerate();
        for (i, slot) in slots.iter().enumerate() {
            for (number, value) in numbered.by_ref().take(sizes.of(i, slot)) {
                let ty = self.module.ty(value);
                if slot.constraint.holds(ty) {
                    continue;
                }
                let (side, name, summary) = (side.name(), slot.name, slot.constraint.summary);
                let message = match misfit(ty) {
                    Some(reason) => format!(
                        "{side} {number} (`{name}`) of `{}` cannot have type {ty}: {reason}",
                        def.name
                    ),
                    None => format!(
                        "{side} {number} (`{name}`) of `{}` must be {summary}, but has type {ty}",
                        def.name
                    ),
                };
                return self.report(op.error(format!("{side}-type"), message));
            }
        }
        true
    }

    fn check_regions(&mut self, op: OpRef<'m>, def: &'static OpDef) -> bool {
        let found = op.regions().len();
        let open = def.regions.last().is_some_and(|r| r.variadic);
        let least = def.regions.len() - usize::from(open);
        if found < least || (!open && found > least) {
            let at_least = if open { "at least " } else { "" };
            let message = format!(
                "`{}` must have {at_least}{}, but has {found}",
                def.name,
                counted(least, "region")
            );
            return self.report(op.error("region", message));
        }
        for (i, &region) in op.regions().iter().enumerate() {
            // Only the last slot may be variadic: it takes all further regions.
            let Some(slot) = def.regions.get(i).or(def.regions.last()) else { continue };
            let blocks = self.module.blocks(region).len();
            let required = match slot.blocks {
                BlockCount::One if blocks != 1 => "exactly one block",
                BlockCount::AtMostOne if blocks > 1 => "at most one block",
                _ => continue,
            };
            let message = format!(
                "region {i} (`{}`) of `{}` must have {required}, but has {blocks}",
                slot.name, def.name
            );
            return self.report(op.error("region", message));
        }
        true
    }
}

/// Returns why no op takes values of a type because of its elements.
fn misfit(ty: &Type) -> Option<String> {
    let TypeKind::Dialect(element) = &**ty.element_type() else { return None };
    element.def.misfit?(ty)
}

fn count_message(
    def: &OpDef,
    side: ValueSide,
    slots: &[ValueSlot],
    sizes_name: &str,
    error: &SegmentError,
) -> String {
    let (name, side) = (def.name, side.name());
    let list = |slots: &[ValueSlot]| {
        let mark = |s: &ValueSlot| match s.arity {
            Arity::Single => s.name.to_string(),
            Arity::Optional => format!("{}?", s.name),
            Arity::Variadic => format!("{}…", s.name),
        };
        slots.iter().map(mark).collect::<Vec<_>>().join(", ")
    };
    let values = |n: usize| counted(n, side);
    match *error {
        SegmentError::Count { found, least, open } => {
            let optional = slots.iter().filter(|s| s.arity == Arity::Optional).count();
            let required = match (open, optional) {
                (true, _) => format!("at least {}", values(least)),
                (false, 0) => values(least),
                (false, _) => format!("{least} to {}", values(least + optional)),
            };
            let names =
                if slots.is_empty() { String::new() } else { format!(" ({})", list(slots)) };
            format!("`{name}` must have {required}{names}, but has {found}")
        }
        SegmentError::Uneven { found, slots: variadic } => {
            format!(
                "{} of `{name}` cannot be distributed evenly over {variadic} variadic slots ({})",
                values(found),
                list(slots)
            )
        }
        SegmentError::Segments { found } => format!(
            "`{name}` has {}, which `{sizes_name}` must distribute over {} slots ({})",
            values(found),
            slots.len(),
            list(slots)
        ),
    }
}

/// Help for a missing attribute if the op has one of a similar name that it does not declare.
fn misspelled(op: OpRef<'_>, name: &str) -> Option<String> {
    let given = op.attributes().iter().map(|(given, _)| &**given);
    let given = given.filter(|given| !given.contains('.'));
    nearest(name, given)
        .map(|given| format!("`{given}` has no meaning here; did you mean `{name}`?"))
}
