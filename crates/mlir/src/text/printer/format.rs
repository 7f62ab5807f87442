//! The pretty form of ops that declare a format: interprets its directives, with the spacing of
//! upstream's format printer.

use super::Printer;
use crate::attrs::{AttrKind, Attribute};
use crate::ir::OpRef;
use crate::ods::{AttrConstraint, Directive, DirectiveArg, EnumStyle, Literal, Trait, TypeSource};
use crate::types::Type;
use smallvec::SmallVec;

/// The state that determines the space before the next element.
#[derive(Clone, Copy)]
struct Spacing {
    emit: bool,
    after_punctuation: bool,
}

impl Printer<'_> {
    pub(super) fn format(&mut self, op: OpRef<'_>, directives: &'static [Directive]) {
        let mut written: Vec<&'static str> = Vec::new();
        self.note_attributes(op, directives, &mut written);
        let mut spacing = Spacing { emit: true, after_punctuation: false };
        for directive in directives {
            self.directive(op, directive, &written, &mut spacing);
        }
    }

    /// Collects the names of attributes that the format prints, which the dictionary then omits.
    fn note_attributes(
        &self,
        op: OpRef<'_>,
        directives: &'static [Directive],
        out: &mut Vec<&'static str>,
    ) {
        let slots = op.def().map_or(&[][..], |d| d.attributes);
        for directive in directives {
            match directive {
                Directive::Attribute(slot) => out.push(slots[*slot].name),
                Directive::Custom(_, args) => {
                    out.extend(args.iter().filter_map(|arg| match arg {
                        DirectiveArg::Attribute(slot) => Some(slots[*slot].name),
                        _ => None,
                    }));
                }
                Directive::Group { then, otherwise, .. } => {
                    self.note_attributes(op, then, out);
                    self.note_attributes(op, otherwise, out);
                }
                _ => {}
            }
        }
    }

    fn space(&mut self, spacing: &mut Spacing) {
        if spacing.emit || !spacing.after_punctuation {
            self.write(" ");
        }
        *spacing = Spacing { emit: true, after_punctuation: false };
    }

    fn directive(
        &mut self,
        op: OpRef<'_>,
        directive: &'static Directive,
        written: &[&str],
        spacing: &mut Spacing,
    ) {
        match directive {
            Directive::Literal(literal) => self.literal(literal, spacing),
            Directive::AttrDict => {
                self.attr_dict(op, written);
                spacing.after_punctuation = false;
            }
            Directive::AttrDictWithKeyword => {
                self.attr_dict_with_keyword(op, written);
                spacing.after_punctuation = false;
            }
            Directive::Operand(slot) => {
                self.space(spacing);
                self.values(op.operand_slot(*slot));
            }
            Directive::Operands => {
                self.space(spacing);
                self.values(op.operands());
            }
            Directive::Attribute(slot) => {
                self.space(spacing);
                let constraint =
                    op.def().map_or(&AttrConstraint::Any, |d| d.attributes[*slot].constraint);
                if let Some(value) = op.property(*slot) {
                    self.slot_attribute(constraint, value);
                }
            }
            Directive::Region(slot) => {
                self.space(spacing);
                self.region_slot(op, *slot);
            }
            Directive::Regions => {
                self.space(spacing);
                for slot in 0..op.def().map_or(0, |d| d.regions.len()) {
                    self.write(if slot > 0 { ", " } else { "" });
                    self.region_slot(op, slot);
                }
            }
            Directive::Type(source) => {
                self.space(spacing);
                self.types(types_of(op, *source));
            }
            Directive::FunctionalType(inputs, results) => {
                self.space(spacing);
                self.signature(types_of(op, *inputs), types_of(op, *results));
            }
            Directive::Custom(name, args) => {
                self.space(spacing);
                let dialect = op.def().and_then(|d| op.module().registry().dialect(d.dialect()));
                if let Some(custom) = dialect.and_then(|d| d.directive(name)) {
                    (custom.print)(self, op, args);
                }
            }
            Directive::Group { then, anchor, otherwise } => {
                let chosen = if present(op, &then[*anchor]) { then } else { otherwise };
                for directive in chosen {
                    // A unit attribute is expressed by the presence of its group.
                    let unit = matches!(directive, Directive::Attribute(slot)
                        if op.property(*slot).is_some_and(|v| matches!(**v, AttrKind::Unit)));
                    if !unit {
                        self.directive(op, directive, written, spacing);
                    }
                }
            }
        }
    }

    fn literal(&mut self, literal: &Literal, spacing: &mut Spacing) {
        let none = Spacing { emit: false, after_punctuation: true };
        match literal {
            Literal::Newline => {
                self.newline();
                *spacing = none;
            }
            Literal::NoSpace => *spacing = none,
            Literal::Space => {
                self.write(" ");
                *spacing = none;
            }
            Literal::Text(text) => {
                if spacing.emit && space_before(text, spacing.after_punctuation) {
                    self.write(" ");
                }
                self.write(text);
                let first = text.as_bytes()[0];
                let is_word = first.is_ascii_alphabetic() || first == b'_';
                spacing.emit = is_word || !matches!(*text, "<" | "(" | "{" | "[");
                spacing.after_punctuation = !is_word;
            }
        }
    }

    fn region_slot(&mut self, op: OpRef<'_>, slot: usize) {
        let Some(def) = op.def() else { return };
        let implicit = def.traits.iter().any(|t| matches!(t, Trait::ImplicitTerminator(_)));
        let regions = if def.regions[slot].variadic {
            &op.regions()[slot..]
        } else {
            &op.regions()[slot..=slot]
        };
        self.separated(", ", regions, |p, &region| {
            // A terminator with operands or attributes cannot be implicit.
            let module = op.module();
            let bare = module.blocks(region).iter().all(|&b| {
                module.terminator(b).is_none_or(|t| {
                    t.operands().is_empty()
                        && t.attributes().is_empty()
                        && t.properties().iter().all(Option::is_none)
                })
            });
            p.region(op, region, true, !(implicit && bare));
        });
    }

    /// Writes an attribute in the form for the given constraint.
    pub fn slot_attribute(&mut self, constraint: &AttrConstraint, value: &Attribute) {
        match (constraint, &**value) {
            (AttrConstraint::Enum(def), AttrKind::Enum(e)) if def.style != EnumStyle::Spaced => {
                self.write("<");
                self.enum_value(def, e.value);
                self.write(">");
            }
            (AttrConstraint::Enum(def), AttrKind::Enum(e)) => self.enum_value(def, e.value),
            (AttrConstraint::IntEnum(_, def), AttrKind::Integer { value, .. }) => {
                self.enum_value(def, *value as u64)
            }
            (
                AttrConstraint::I64Array | AttrConstraint::I32Array | AttrConstraint::BoolArray,
                AttrKind::DenseArray { element, values },
            ) => {
                self.write("[");
                self.array_elements(element, values);
                self.write("]");
            }
            (AttrConstraint::SymbolName, AttrKind::String { value, .. }) => {
                match std::str::from_utf8(value) {
                    Ok(name) => self.symbol_name(name),
                    Err(_) => self.string(value),
                }
            }
            (AttrConstraint::Def(def), _) => self.bare_attribute(def, value),
            (
                AttrConstraint::Int(_)
                | AttrConstraint::NonNegative(_)
                | AttrConstraint::Positive(_)
                | AttrConstraint::UInt(_)
                | AttrConstraint::Index
                | AttrConstraint::Bool
                | AttrConstraint::Float(_)
                | AttrConstraint::String,
                _,
            ) => self.attribute_without_type(value),
            _ => self.attribute(value),
        }
    }
}

/// True if a literal has a space before it.
fn space_before(text: &str, after_punctuation: bool) -> bool {
    if text.len() != 1 && text != "->" {
        return true;
    }
    let tight = if after_punctuation { ">)}]," } else { "<>(){}[]," };
    !text.starts_with(|c| tight.contains(c))
}

fn present(op: OpRef<'_>, anchor: &Directive) -> bool {
    let nonempty_slot = |slot: usize| {
        let def = op.def();
        let variadic = def.is_some_and(|d| d.regions[slot].variadic);
        let module = op.module();
        if variadic {
            return op.regions().len() > slot;
        }
        op.regions().get(slot).is_some_and(|&r| !module.blocks(r).is_empty())
    };
    match anchor {
        Directive::Operand(slot) | Directive::Type(TypeSource::Operand(slot)) => {
            !op.operand_slot(*slot).is_empty()
        }
        Directive::Operands | Directive::Type(TypeSource::Operands) => !op.operands().is_empty(),
        Directive::Type(TypeSource::Result(slot)) => !op.result_slot(*slot).is_empty(),
        Directive::Type(TypeSource::Results) | Directive::FunctionalType(..) => {
            op.num_results() > 0
        }
        Directive::Attribute(slot) => {
            let default = op.def().and_then(|d| (d.attributes[*slot].default_value)());
            op.property(*slot).is_some_and(|v| Some(v) != default)
        }
        Directive::Region(slot) => nonempty_slot(*slot),
        Directive::Regions => !op.regions().is_empty(),
        Directive::Custom(_, args) => args.iter().any(|arg| match arg {
            DirectiveArg::Operand(slot) | DirectiveArg::OperandType(slot) => {
                !op.operand_slot(*slot).is_empty()
            }
            DirectiveArg::Attribute(slot) => op.property(*slot).is_some(),
            DirectiveArg::ResultType(slot) => !op.result_slot(*slot).is_empty(),
            DirectiveArg::Region(slot) => nonempty_slot(*slot),
        }),
        _ => true,
    }
}

fn types_of<'m>(op: OpRef<'m>, source: TypeSource) -> SmallVec<[&'m Type; 4]> {
    match source {
        TypeSource::Operand(slot) => {
            op.operand_slot(slot).iter().map(|&value| op.module().ty(value)).collect()
        }
        TypeSource::Operands => op.operand_types().collect(),
        TypeSource::Result(slot) => op.result_slot(slot).map(|i| op.result_type(i)).collect(),
        TypeSource::Results => op.result_types().collect(),
    }
}
