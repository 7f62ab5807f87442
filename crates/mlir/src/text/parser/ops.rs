//! Operations: results, the generic form, the top level of a file, and `builtin.module`.

use super::build::{fill_defaults, former_list};
use super::locations::Located;
use super::regions::RegionArgument;
use super::scope::ValueDefinition;
use super::templates::OpText;
use super::{Kind, OPERATION, Parsed, Parser};
use crate::attrs::{Attribute, Dictionary, Name};
use crate::builtin::ModuleOp;
use crate::diag::{Diagnostic, Severity, Span, counted};
use crate::ir::{BlockId, Loc, OpId, OpName, OpParts};
use crate::nearest::{nearest, suggestion};
use crate::ods::{Assembly, OpDef, Trait};
use crate::text::{OpState, OperandList, UnresolvedOperand};
use smallvec::SmallVec;

/// A result name on the left of an op, and the number of results it names.
type ResultName<'a> = (&'a str, u32, Span);

impl<'a> Parser<'a> {
    /// Parses the whole text into the module.
    pub(super) fn parse_top_level(&mut self) {
        let top = self.module.top();
        let body = top.regions()[0];
        let Some(block) = self.module.entry(body) else { return };
        self.enter_region(true);
        std::thread::scope(|scope| {
            let (mut ahead, mut is_first_op) = (None, true);
            while self.token.kind != Kind::Eof {
                let start = self.checkpoint();
                let read = match self.token.kind {
                    Kind::Hash => {
                        if self.take_over(&mut ahead) {
                            continue;
                        }
                        self.attribute_alias()
                    }
                    Kind::Exclaim => self.type_alias(),
                    Kind::MetadataStart => self.metadata(),
                    Kind::Punct(b'}') => self.unexpected(OPERATION),
                    _ => {
                        if std::mem::take(&mut is_first_op) {
                            ahead = self.read_ahead(scope);
                        }
                        self.operation(block)
                    }
                };
                if read.is_err() {
                    if self.gives_up() {
                        break;
                    }
                    if self.at_punct(b'}') {
                        self.advance();
                    }
                    self.recover(start);
                }
            }
        });
        self.leave_region(body);
        self.resolve_deferred_locations();
        let mut ops = self.module.ops(block);
        if let (Some(only), None) = (ops.next(), ops.next())
            && only.is(ModuleOp::DEF)
        {
            let only = only.id();
            self.module.detach(only);
            self.module.set_top(only);
        }
    }

    /// Parses an op and appends it to `block`.
    pub(super) fn operation(&mut self, block: BlockId) -> Parsed<()> {
        let start = self.here();
        let extent = self.source_map.as_mut().map(|map| map.begin_op(start));
        let names = self.result_names()?;
        let name = self.here();
        if let (Some(map), Some(extent)) = (&mut self.source_map, extent) {
            map.ops[extent].name = name;
        }
        let op = self.operation_after(&names, block)?;
        let span = self.span_from(start);
        if let (Some(map), Some(extent)) = (&mut self.source_map, extent) {
            map.ops[extent].op = Some(op);
            map.ops[extent].span = span;
        }
        Ok(())
    }

    /// Reads `%name, %other:2 =` if it comes next.
    fn result_names(&mut self) -> Parsed<SmallVec<[ResultName<'a>; 1]>> {
        let mut names: SmallVec<[ResultName<'a>; 1]> = SmallVec::new();
        let name = (self.token_text(), 1, self.here());
        if self.token.kind == Kind::Percent && self.text[name.2.end as usize..].starts_with(" = ") {
            names.push(name);
            self.jump(name.2.end as usize + " = ".len());
        } else if self.token.kind == Kind::Percent {
            let read = self.comma_separated(|p| {
                let (name, span) = (p.token_text(), p.here());
                if p.token.kind != Kind::Percent {
                    return p.unexpected("the name of a result");
                }
                p.advance();
                let mut count = 1;
                if p.eat_punct(b':') {
                    let at = p.here();
                    if p.token.kind != Kind::Integer {
                        return p.unexpected_count();
                    }
                    count = match u32::try_from(p.integer()?) {
                        Ok(count) if count > 0 => count,
                        _ => return p.error_at(at, "a name must have at least one result"),
                    };
                }
                names.push((name, count, span));
                Ok(())
            });
            read?;
            if let Err(failed) = self.expect_punct(b'=') {
                self.define_poisoned(&names)?;
                return Err(failed);
            }
        }
        Ok(names)
    }

    /// Reads an op from its name on.
    fn operation_after(&mut self, names: &[ResultName<'a>], block: BlockId) -> Parsed<OpId> {
        let text = self.op_text();
        self.resolved.clear();
        let result = match text.as_ref().and_then(|text| self.op_from_template(text)) {
            Some(result) => result,
            None => self.without_parts(|p| p.parse_op_uncached(text)),
        };
        let op = match result {
            Ok(op) => op,
            Err(failed) => {
                self.define_poisoned(names)?;
                return Err(failed);
            }
        };
        self.module.append(block, op);
        self.define_results(op, names)?;
        if let Some(location) = self.trailing_location()? {
            for owner in self.located_with(op) {
                self.locate(owner, &location);
            }
        }
        Ok(op)
    }

    /// Defines the results of an op that could not be read, so that uses are no further errors.
    fn define_poisoned(&mut self, names: &[ResultName<'a>]) -> Parsed<()> {
        names
            .iter()
            .try_for_each(|&(name, _, span)| self.define(name, span, ValueDefinition::Poisoned))
    }

    /// Reads an op that is not written like an earlier one.
    pub(super) fn parse_op_uncached(&mut self, text: Option<OpText>) -> Parsed<OpId> {
        self.reads_values = false;
        let op = match self.token.kind {
            Kind::String => self.generic_op(),
            Kind::Word => self.pretty_op(),
            _ => self.unexpected(OPERATION),
        }?;
        if let Some(text) = text {
            self.record_template(&text, op);
        }
        Ok(op)
    }

    /// The owners of the location that follows an op: the op, and implicit ops and arguments in its
    /// regions, which have no text of their own.
    fn located_with(&self, op: OpId) -> SmallVec<[Located; 1]> {
        let mut owners = smallvec::smallvec![Located::Op(op)];
        let regions = self.module.op(op).regions();
        if regions.is_empty() {
            return owners;
        }
        let here = Loc::Source(self.op_span(op));
        for &block in regions.iter().flat_map(|&r| self.module.blocks(r)) {
            let arguments = self
                .module
                .argument_locs(block)
                .iter()
                .enumerate()
                .filter(|(_, loc)| **loc == here);
            owners.extend(arguments.map(|(i, _)| Located::Argument(block, i)));
            let ops = self.module.ops(block).filter(|op| *op.loc() == here);
            owners.extend(ops.map(|op| Located::Op(op.id())));
        }
        owners
    }

    fn op_span(&self, op: OpId) -> Span {
        match self.module.op(op).loc() {
            Loc::Source(span) | Loc::Explicit(_, Some(span)) => *span,
            _ => Span::default(),
        }
    }

    fn define_results(&mut self, op: OpId, names: &[ResultName<'a>]) -> Parsed<()> {
        let Some(&(_, _, first_span)) = names.first() else { return Ok(()) };
        let found = self.module.op(op).num_results();
        let named: u64 = names.iter().map(|n| u64::from(n.1)).sum();
        if named != found as u64 {
            for &(name, _, span) in names {
                self.define(name, span, ValueDefinition::Poisoned)?;
            }
            let are = if named == 1 { "is" } else { "are" };
            let message =
                format!("the op has {}, but {named} {are} named", counted(found, "result"));
            return self.error_at(first_span, message);
        }
        let mut first = 0;
        for &(name, count, span) in names {
            self.define(name, span, ValueDefinition::Results { op, first, count })?;
            first += count;
        }
        Ok(())
    }

    /// Reads `"name"(operands)[successors]<{properties}>(regions) {attributes} : type`.
    fn generic_op(&mut self) -> Parsed<OpId> {
        let span = self.here();
        let name = self.string()?;
        let def = self.find_op(&name, span)?;
        let op_name = match def {
            Some(def) => OpName::Registered(def),
            None => OpName::Unregistered(self.name(&name)),
        };
        let mut parts = OpParts::new(op_name, Loc::Source(span));
        self.expect_punct(b'(')?;
        let mut operands: SmallVec<[UnresolvedOperand; 3]> = SmallVec::new();
        self.list_until(")", |p| {
            operands.push(p.operand()?);
            Ok(())
        })?;
        if self.eat_punct(b'[') {
            let mut successors = Vec::new();
            self.list_until("]", |p| {
                successors.push(p.successor()?);
                Ok(())
            })?;
            parts.successors = successors;
        }
        let mut properties = Dictionary::default();
        if self.eat_punct(b'<') {
            match def {
                Some(_) => properties = self.dictionary()?,
                None => parts.properties.push(Some(self.attribute(None)?)),
            }
            self.expect_punct(b'>')?;
        }
        if self.eat_punct(b'(') {
            let isolated = def.is_some_and(|def| def.has_trait(&Trait::IsolatedFromAbove));
            // Ops in the generic form do not change the default dialect.
            let default = self.default_dialects.last().copied().unwrap_or("");
            let mut regions = SmallVec::new();
            self.list_until(")", |p| {
                regions.push(p.nested(|p| p.region_in(isolated, default, Vec::new()))?);
                Ok(())
            })?;
            parts.regions = regions;
        }
        let attributes =
            if self.at_punct(b'{') { self.dictionary()? } else { Dictionary::default() };
        self.expect_punct(b':')?;
        let types_span = self.here();
        let (inputs, results) = self.function_signature()?;
        if inputs.len() != operands.len() {
            let message = format!(
                "{}, but the type has {}",
                counted(operands.len(), "operand"),
                counted(inputs.len(), "input")
            );
            return self.error_at(self.span_from(types_span), message);
        }
        for (operand, ty) in operands.into_iter().zip(&inputs) {
            parts.operands.push(self.resolve(operand, ty)?);
        }
        parts.result_types = results.into_iter().collect();
        match def {
            Some(def) => self.split_attributes(def, &mut parts, properties, attributes, span)?,
            None => parts.attributes = attributes,
        }
        Ok(self.module.create_op(parts))
    }

    /// Moves inherent attributes to their slots, wherever they were written, and the others to the
    /// dictionary.
    fn split_attributes(
        &mut self,
        def: &'static OpDef,
        parts: &mut OpParts,
        properties: Dictionary,
        attributes: Dictionary,
        span: Span,
    ) -> Parsed<()> {
        parts.properties.resize(def.attributes.len(), None);
        let mut discardable: Vec<(Name, Attribute)> = Vec::new();
        for (name, value) in properties.iter() {
            match inherent_index(def, name) {
                Some(slot) => parts.properties[slot] = Some(value.clone()),
                None => self.unknown_property(def, name, span)?,
            }
        }
        for (name, value) in attributes.iter() {
            match inherent_index(def, name) {
                Some(slot) => parts.properties[slot] = Some(value.clone()),
                None => discardable.push((name.clone(), value.clone())),
            }
        }
        fill_defaults(def, &mut parts.properties);
        // The entries come from a dictionary, so no name is repeated.
        parts.attributes = Dictionary::new(discardable).unwrap_or_default();
        Ok(())
    }

    /// Warns of a property that an op does not have, and is left out. One that is probably
    /// misspelled is an error.
    #[cold]
    fn unknown_property(&mut self, def: &OpDef, name: &str, span: Span) -> Parsed<()> {
        let known: Vec<_> = def.attributes.iter().map(|a| a.name).collect();
        let help = suggestion(name, known.iter().copied());
        let has = match &known[..] {
            [] => "none".to_string(),
            names => names.join(", "),
        };
        let message = format!("{} has no property `{name}`; it has {has}", def.name);
        if help.is_some() {
            return self.error_with_help(span, message, help);
        }
        let warning = Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error("parse", format!("{message}; it is left out"))
        };
        if !self.gives_up() {
            self.diagnostics.push(warning.at(span));
        }
        Ok(())
    }

    /// Reads the name of a block.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn successor(&mut self) -> Parsed<BlockId> {
        let (name, span) = (self.token_text(), self.here());
        if self.token.kind != Kind::Caret {
            return self.unexpected("the name of a block");
        }
        self.advance();
        self.named_block(name, span, false)
    }

    /// The declaration of an op by full name; `None` for an op of an unregistered or partial
    /// dialect, if those are allowed.
    fn find_op(&mut self, name: &str, span: Span) -> Parsed<Option<&'static OpDef>> {
        if let Some(def) = self.registry.op(name) {
            return Ok(Some(def));
        }
        let (namespace, mnemonic) = name.split_once('.').unwrap_or(("", name));
        let is_complete = self.registry.is_complete(namespace);
        if !is_complete && self.options.allow_unregistered_dialects {
            return Ok(None);
        }
        if let Some(dialect) = self.registry.dialect(namespace) {
            let near = || {
                let near = nearest(mnemonic, dialect.ops.iter().map(|op| op.mnemonic()))?;
                Some(format!("{namespace}.{near}"))
            };
            // Other dialects may well have an op of the same name and another meaning.
            let elsewhere = || {
                self.registry.op_of_any_dialect(mnemonic).filter(|_| is_complete).map(String::from)
            };
            let synonym = || self.registry.synonym(mnemonic).filter(|_| is_complete);
            let help = synonym().map(String::from).or_else(near).or_else(elsewhere);
            let help = help.map(|name| format!("did you mean `{name}`?"));
            let message = if is_complete {
                format!("dialect `{namespace}` has no op `{mnemonic}`")
            } else {
                format!("unknown op `{name}`: only some ops of dialect `{namespace}` are known")
            };
            return self.error_with_help(span, message, help);
        }
        let near = suggestion(name, self.registry.ops().map(|op| op.name));
        let elsewhere = || self.registry.op_of_any_dialect(mnemonic);
        let help = near.or_else(|| Some(format!("did you mean `{}`?", elsewhere()?)));
        let message = format!("unknown op `{name}`: there is no dialect of its name");
        self.error_with_help(span, message, help)
    }

    /// An error about a name without a dialect.
    #[cold]
    fn bare_name<T>(&mut self, name: &str, span: Span) -> Parsed<T> {
        let after = self.text.get(span.end as usize..).unwrap_or_default();
        if after.trim_start().starts_with('=') {
            let message =
                format!("expected an operation, found `{name}`: names of values begin with `%`");
            return self.error_with_help(span, message, Some(format!("did you mean `%{name}`?")));
        }
        let registry = self.registry;
        let help = match registry.synonym(name).or_else(|| registry.op_of_any_dialect(name)) {
            Some(op) => Some(format!("did you mean `{op}`?")),
            None => suggestion(name, self.registry.ops().map(|op| op.mnemonic())),
        };
        let message = format!("unknown op `{name}`: its name lacks a dialect");
        self.error_with_help(span, message, help)
    }

    fn pretty_op(&mut self) -> Parsed<OpId> {
        let span = self.here();
        let name = self.token_text();
        let known = self.ops.get(name).copied();
        let def = match known.or_else(|| self.registry.op(name)) {
            Some(def) => {
                if known.is_none() {
                    self.ops.insert(name, def);
                }
                def
            }
            None => {
                let default = self.default_dialects.last().copied().unwrap_or("");
                let within = |namespace: &str| self.registry.op(&format!("{namespace}.{name}"));
                let found = if name.contains('.') {
                    None
                } else {
                    within(default).or_else(|| within("builtin"))
                };
                match found {
                    Some(def) => def,
                    None if !name.contains('.') => {
                        return self.bare_name(name, span);
                    }
                    None => match self.find_op(name, span)? {
                        Some(def) => def,
                        None => {
                            let message = format!(
                                "`{name}` has no declaration: write it in the generic form, \"{name}\"(…)"
                            );
                            return self.error_at(span, message);
                        }
                    },
                }
            }
        };
        self.advance();
        let mut state = OpState::new(def, span);
        match def.assembly {
            Assembly::Generic => {
                let message =
                    format!("`{}` has no pretty form: write it as \"{}\"(…)", def.name, def.name);
                return self.error_at(span, message);
            }
            Assembly::Custom { parse, .. } => parse(self, &mut state)?,
            Assembly::Format(_) => self.format(&mut state)?,
        }
        self.build(&mut state)
    }

    /// Reads `%name` or `%name#1`.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn operand(&mut self) -> Parsed<UnresolvedOperand> {
        match self.optional_operand()? {
            Some(operand) => Ok(operand),
            None => self.unexpected("an operand (%name)"),
        }
    }

    /// Reads `%name` or `%name#1` if it comes next.
    ///
    /// # Errors
    /// If the number of the result is invalid.
    pub fn optional_operand(&mut self) -> Parsed<Option<UnresolvedOperand>> {
        if self.token.kind != Kind::Percent {
            return Ok(None);
        }
        let name = self.here();
        self.advance();
        let mut index = 0;
        let number = (self.token.kind == Kind::Hash).then(|| &self.token_text()[1..]);
        if let Some(digits) = number.filter(|d| d.bytes().all(|b| b.is_ascii_digit())) {
            index = match digits.parse() {
                Ok(index) => index,
                Err(_) => return self.error("the number of a result has 32 bits"),
            };
            self.advance();
        }
        Ok(Some(UnresolvedOperand { name, index }))
    }

    /// Reads operands separated by commas, possibly none.
    ///
    /// # Errors
    /// If a comma is not followed by an operand.
    pub fn operands(&mut self) -> Parsed<OperandList> {
        let mut operands = OperandList::new();
        if self.token.kind == Kind::Percent {
            self.comma_separated(|p| {
                operands.push(p.operand()?);
                Ok(())
            })?;
        }
        Ok(operands)
    }

    /// Reads an attribute dictionary into `state` if one comes next.
    ///
    /// # Errors
    /// If it is invalid, or repeats an attribute of the custom syntax.
    pub fn optional_attr_dict(&mut self, state: &mut OpState) -> Parsed<()> {
        if !self.at_punct(b'{') {
            return Ok(());
        }
        let span = self.here();
        for (name, value) in self.dictionary_entries()? {
            let slot = state.def.attribute_index(&name);
            let list = slot.map(|slot| former_list(state.def.attributes[slot].constraint, &value));
            let value = list.flatten().unwrap_or(value);
            let written = match slot {
                Some(slot) => state.properties[slot].as_ref(),
                None => state.attributes.iter().find(|(n, _)| *n == name).map(|(_, value)| value),
            };
            // An attribute that the syntax has, too, is no mistake if both are equal.
            if slot.is_some() && written == Some(&value) {
                continue;
            }
            if written.is_some() {
                return self.error_at(span, format!("the attribute `{name}` is given twice"));
            }
            state.set_attr(&name, value);
        }
        Ok(())
    }

    /// Reads `attributes {…}` into `state` if it comes next.
    ///
    /// # Errors
    /// As [`Parser::optional_attr_dict`].
    pub fn optional_attr_dict_with_keyword(&mut self, state: &mut OpState) -> Parsed<()> {
        if !self.eat("attributes") {
            return Ok(());
        }
        if !self.at_punct(b'{') {
            return self.unexpected("`{`");
        }
        self.optional_attr_dict(state)
    }
}

/// Index of the inherent attribute with a name, or with the name that it had in older texts.
fn inherent_index(def: &OpDef, name: &str) -> Option<usize> {
    def.attribute_index(match name {
        "operand_segment_sizes" => "operandSegmentSizes",
        "result_segment_sizes" => "resultSegmentSizes",
        name => name,
    })
}

/// Parses the pretty form of `builtin.module`.
///
/// # Errors
/// If something else comes next.
pub fn parse_module_op(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    if let Some(name) = parser.optional_symbol_name()? {
        state.set_attr("sym_name", Attribute::string(&*name));
    }
    parser.optional_attr_dict_with_keyword(state)?;
    let region = parser.region(state.def, Vec::<RegionArgument>::new())?;
    if parser.module().blocks(region).is_empty() {
        parser.module().create_block(region);
    }
    state.regions[0].push(region);
    Ok(())
}
