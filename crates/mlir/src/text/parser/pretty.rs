//! The pretty form of ops that declare a format: interprets its directives.

use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute};
use crate::diag::{Diagnostic, counted};
use crate::ods::{Arity, AttrConstraint, Directive, Literal, Trait, TypeSource};
use crate::text::{OpState, TypeList};
use crate::types::{Signedness, Type};
use smallvec::{SmallVec, smallvec};

impl<'a> Parser<'a> {
    pub(super) fn format(&mut self, state: &mut OpState) -> Parsed<()> {
        match state.def.format() {
            Ok(directives) => self.directives(directives, state),
            Err(error) => self.error_at(state.span, error.0.clone()),
        }
    }

    fn directives(&mut self, directives: &'static [Directive], state: &mut OpState) -> Parsed<()> {
        directives.iter().enumerate().try_for_each(|(i, directive)| match directive {
            Directive::Literal(Literal::Text(text)) if !self.at(text) => {
                self.literal_before(text, directives.get(i + 1), state)
            }
            directive => self.directive(directive, state),
        })
    }

    /// Reads a literal that does not come next as a token. The error names the operand that is
    /// missing after a comma, or all operands if there is one too many.
    fn literal_before(
        &mut self,
        text: &str,
        next: Option<&'static Directive>,
        state: &OpState,
    ) -> Parsed<()> {
        let operands = state.def.operands;
        if text == ","
            && let Some(Directive::Operand(slot)) = next
        {
            let name = operands[*slot].name;
            return self.unexpected(&format!("`,` and the operand `{name}`"));
        }
        if text == ","
            && let Some(Directive::Literal(Literal::Text(word))) = next
        {
            return self.unexpected(&format!("`,` and `{word}`"));
        }
        let is_fixed = operands.iter().all(|slot| slot.arity == Arity::Single);
        if text == ":" && self.at_punct(b',') && is_fixed && !operands.is_empty() {
            let names: Vec<&str> = operands.iter().map(|slot| slot.name).collect();
            let (name, count) = (state.def.name, counted(names.len(), "operand"));
            let help = format!("`{name}` has {count}: {}", names.join(", "));
            let message = "expected `:`, found `,`";
            return self.error_with_help(self.here(), message, Some(help));
        }
        self.literal(text)
    }

    fn directive(&mut self, directive: &'static Directive, state: &mut OpState) -> Parsed<()> {
        let start = self.here();
        self.unnoted_directive(directive, state)?;
        self.note_directive(directive, start, state.def);
        Ok(())
    }

    fn unnoted_directive(
        &mut self,
        directive: &'static Directive,
        state: &mut OpState,
    ) -> Parsed<()> {
        match directive {
            Directive::Literal(Literal::Text(text)) => self.literal(text),
            Directive::Literal(_) => Ok(()),
            Directive::Operand(slot) => self.operand_slot(*slot, state),
            Directive::Operands => {
                let operands = self.operands()?;
                // Segment sizes in an attribute are known only once that is parsed.
                if state.def.has_trait(&Trait::AttrSizedOperandSegments) {
                    state.all_operands = Some(operands);
                    return Ok(());
                }
                self.deal_operands(operands, None, state)
            }
            Directive::Attribute(slot) => {
                let value = self.slot_attribute(state.def.attributes[*slot].constraint)?;
                state.properties[*slot] = Some(value);
                Ok(())
            }
            Directive::Region(slot) => self.region_slot(*slot, state),
            Directive::Regions => (0..state.def.regions.len()).try_for_each(|slot| {
                if slot > 0 {
                    self.expect_punct(b',')?;
                }
                self.region_slot(slot, state)
            }),
            Directive::Type(source) => self.types_of(*source, state),
            Directive::FunctionalType(inputs, results) => {
                let (input_types, result_types) = self.function_signature()?;
                self.set_types(*inputs, input_types, state)?;
                self.set_types(*results, result_types, state)
            }
            Directive::AttrDict if !self.at_punct(b'{') => Ok(()),
            Directive::AttrDict => self.checked_attr_dict(state, Self::optional_attr_dict),
            Directive::AttrDictWithKeyword => {
                self.checked_attr_dict(state, Self::optional_attr_dict_with_keyword)
            }
            Directive::Custom(name, args) => {
                let dialect = self.registry.dialect(state.def.dialect());
                match dialect.and_then(|d| d.directive(name)) {
                    Some(custom) => (custom.parse)(self, state, args),
                    None => self.error(format!(
                        "the format of {} names no known directive `{name}`",
                        state.def.name
                    )),
                }
            }
            Directive::Group { then, anchor, otherwise } => {
                if self.starts(&then[..], state) {
                    if let Directive::Attribute(slot) = then[*anchor]
                        && matches!(state.def.attributes[slot].constraint, AttrConstraint::Unit)
                    {
                        state.properties[slot] = Some(Attribute::unit());
                    }
                    let is_unit = |d: &Directive| matches!(d, Directive::Attribute(s) if matches!(state.def.attributes[*s].constraint, AttrConstraint::Unit));
                    let rest: Vec<_> = then.iter().filter(|d| !is_unit(d)).collect();
                    rest.into_iter().try_for_each(|d| self.directive(d, state))
                } else {
                    self.directives(otherwise, state)
                }
            }
        }
    }

    /// Reads a dictionary, and reports inherent attributes that violate their constraints at their
    /// position.
    fn checked_attr_dict(
        &mut self,
        state: &mut OpState,
        read: fn(&mut Self, &mut OpState) -> Parsed<()>,
    ) -> Parsed<()> {
        let start = self.here();
        let given: Vec<bool> = state.properties.iter().map(Option::is_some).collect();
        read(self, state)?;
        let slots = state.def.attributes.iter().zip(&state.properties).zip(given);
        for ((slot, value), _) in slots.filter(|(_, given)| !given) {
            let problem = value.as_ref().and_then(|value| slot.mismatch(state.def.name, value));
            if let Some(problem) = problem {
                let at = if self.options.stop_at_first_error { start } else { state.span };
                return self.report(Diagnostic::error("attribute", problem).at(at));
            }
        }
        Ok(())
    }

    /// Reads a literal of a format, which may be a prefix of a longer token, or several tokens.
    fn literal(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) {
            return Ok(());
        }
        let start = self.token.span.start as usize;
        let is_word = text.starts_with(|c: char| c.is_alphanumeric());
        if !is_word && self.text[start..].starts_with(text) {
            self.jump(start + text.len());
            return Ok(());
        }
        self.unexpected(&format!("`{text}`"))
    }

    /// True if a group's first directive comes next.
    fn starts(&mut self, then: &'static [Directive], state: &OpState) -> bool {
        let Some(first) = then.iter().find(|d| !is_spacing(d)) else { return false };
        match first {
            Directive::Literal(Literal::Text(text)) => self.at(text),
            Directive::Literal(_) => false,
            Directive::Operand(_) | Directive::Operands => self.token.kind == Kind::Percent,
            Directive::Region(_) | Directive::Regions | Directive::AttrDict => self.at_punct(b'{'),
            Directive::Attribute(slot) => match state.def.attributes[*slot].constraint {
                AttrConstraint::Enum(def) | AttrConstraint::IntEnum(_, def) => {
                    def.value(self.token_text()).is_some()
                }
                AttrConstraint::SymbolName
                | AttrConstraint::FlatSymbolRef
                | AttrConstraint::SymbolRef => self.token.kind == Kind::Symbol,
                AttrConstraint::String => self.token.kind == Kind::String,
                AttrConstraint::I64Array | AttrConstraint::I32Array | AttrConstraint::BoolArray => {
                    self.at_punct(b'[')
                }
                AttrConstraint::ArrayOf(_) => self.at_punct(b'['),
                AttrConstraint::Dictionary => self.at_punct(b'{'),
                AttrConstraint::Int(_)
                | AttrConstraint::NonNegative(_)
                | AttrConstraint::Positive(_)
                | AttrConstraint::UInt(_)
                | AttrConstraint::Index
                | AttrConstraint::Float(_) => {
                    matches!(self.token.kind, Kind::Integer | Kind::Float | Kind::Punct(b'-'))
                }
                AttrConstraint::Def(_) => matches!(self.token.kind, Kind::Punct(b'<') | Kind::Hash),
                _ => !matches!(
                    self.token.kind,
                    Kind::Punct(_) | Kind::Eof | Kind::Percent | Kind::Arrow
                ),
            },
            Directive::Type(_) | Directive::FunctionalType(..) => {
                matches!(self.token.kind, Kind::Word | Kind::Exclaim | Kind::Punct(b'('))
            }
            Directive::AttrDictWithKeyword => self.at("attributes"),
            Directive::Custom(..) | Directive::Group { .. } => {
                !matches!(self.token.kind, Kind::Eof | Kind::Punct(b'}'))
            }
        }
    }

    fn operand_slot(&mut self, slot: usize, state: &mut OpState) -> Parsed<()> {
        state.operands[slot] = match state.def.operands[slot].arity {
            Arity::Single => smallvec![self.operand()?],
            Arity::Optional => self.optional_operand()?.into_iter().collect(),
            Arity::Variadic => self.operands()?,
        };
        Ok(())
    }

    fn region_slot(&mut self, slot: usize, state: &mut OpState) -> Parsed<()> {
        if state.def.regions[slot].variadic {
            if !self.at_punct(b'{') {
                return Ok(());
            }
            return self.comma_separated(|p| {
                let region = p.region_with_terminator(state.def, Vec::new())?;
                state.regions[slot].push(region);
                Ok(())
            });
        }
        let region = self.region_with_terminator(state.def, Vec::new())?;
        state.regions[slot].push(region);
        Ok(())
    }

    fn types_of(&mut self, source: TypeSource, state: &mut OpState) -> Parsed<()> {
        let arity = match source {
            TypeSource::Operand(slot) => state.def.operands[slot].arity,
            TypeSource::Result(slot) => state.def.results[slot].arity,
            TypeSource::Operands | TypeSource::Results => Arity::Variadic,
        };
        let mut types = TypeList::new();
        match arity {
            Arity::Single => types.push(self.ty()?),
            Arity::Optional => types.extend(self.optional_type()?),
            Arity::Variadic => {
                if let Some(first) = self.optional_type()? {
                    types.push(first);
                    while self.eat_punct(b',') {
                        types.push(self.ty()?);
                    }
                }
            }
        }
        self.set_types(source, types, state)
    }

    fn set_types(
        &mut self,
        source: TypeSource,
        types: TypeList,
        state: &mut OpState,
    ) -> Parsed<()> {
        match source {
            TypeSource::Operand(slot) => state.operand_types[slot] = Some(types),
            TypeSource::Result(slot) => state.result_types[slot] = Some(types),
            TypeSource::Operands => state.all_operand_types = Some(types),
            TypeSource::Results => state.all_result_types = Some(types),
        }
        Ok(())
    }

    /// Reads an attribute in the form for the given constraint: without a type or dialect that the
    /// constraint implies.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn slot_attribute(&mut self, constraint: &'static AttrConstraint) -> Parsed<Attribute> {
        let typed = |width, signedness| Some(Type::integer(width, signedness));
        let ty = match *constraint {
            AttrConstraint::Enum(def) if self.token.kind != Kind::Hash => {
                return Ok(Attribute::enumeration(def, self.bracketed_enum(def)?));
            }
            AttrConstraint::IntEnum(width, def) if self.token.kind != Kind::Integer => {
                let value = self.enum_value(def)?;
                return Ok(Attribute::integer(
                    i128::from(value),
                    Type::integer(width, Signedness::Signless),
                ));
            }
            AttrConstraint::I64Array => return self.array_in_brackets(Type::i64()),
            AttrConstraint::I32Array => return self.array_in_brackets(Type::i32()),
            AttrConstraint::BoolArray => return self.array_in_brackets(Type::i1()),
            AttrConstraint::SymbolName => return Ok(Attribute::string(&*self.symbol_name()?)),
            AttrConstraint::Type(_) => return Ok(self.ty()?.into()),
            AttrConstraint::Def(def) => return self.bare_attribute(def),
            AttrConstraint::Int(width)
            | AttrConstraint::NonNegative(width)
            | AttrConstraint::Positive(width)
            | AttrConstraint::IntEnum(width, _) => typed(width, Signedness::Signless),
            AttrConstraint::UInt(width) => typed(width, Signedness::Unsigned),
            AttrConstraint::Index => Some(Type::index()),
            AttrConstraint::Bool => Some(Type::i1()),
            AttrConstraint::Float(32) => Some(Type::f32()),
            AttrConstraint::Float(64) => Some(Type::f64()),
            AttrConstraint::String => Some(Type::none()),
            _ => None,
        };
        self.attribute(ty.as_ref())
    }

    /// Reads a case of an enumeration, with optional brackets for the style that has them.
    fn bracketed_enum(&mut self, def: &'static crate::ods::EnumDef) -> Parsed<u64> {
        let in_brackets = self.eat_punct(b'<');
        let value = self.enum_value(def)?;
        if in_brackets {
            self.expect_punct(b'>')?;
        }
        Ok(value)
    }

    /// Reads `[1, 2]`, or the full attribute.
    fn array_in_brackets(&mut self, element: Type) -> Parsed<Attribute> {
        if !self.eat_punct(b'[') {
            return self.attribute(None);
        }
        let mut values: SmallVec<[i64; 4]> = SmallVec::new();
        self.within("the list", |p| {
            p.list_until("]", |p| {
                values.push(p.array_element(&element)?);
                Ok(())
            })
        })?;
        Ok(match element.is_integer(Some(64)) {
            true => self.i64_array(&values),
            false => AttrKind::DenseArray { element, values: values.into_vec() }.into(),
        })
    }
}

fn is_spacing(directive: &Directive) -> bool {
    matches!(directive, Directive::Literal(Literal::Space | Literal::NoSpace | Literal::Newline))
}
