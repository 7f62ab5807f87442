//! Where the parts of an op are written: found by reading its text again when a diagnostic about
//! it is rendered, so that parsing valid programs records nothing.

use super::{Kind, Parser};
use crate::attrs::Name;
use crate::diag::{Diagnostic, Position, Span};
use crate::ir::Module;
use crate::ods::{Arity, AttrConstraint, Directive, DirectiveArg, OpDef};
use crate::text::lexer::next_token;
use crate::text::{ParseOptions, Parsed};

/// Number of diagnostics that are narrowed: each reads its op again.
const MOST: usize = 100;

/// The ranges of the parts of an op, in the order of the text.
#[derive(Default)]
pub(super) struct PartSpans {
    /// Operands in order.
    operands: Vec<Span>,
    /// Inherent attributes by name, and entries of dictionaries.
    attributes: Vec<(Name, Span)>,
    /// Types of operands and results.
    types: Vec<Span>,
    /// Number of `types` before the arrow, if there is one.
    inputs: usize,
}

/// The part of an op that a message is about.
enum OpPart<'m> {
    Operand(usize),
    OperandType(usize),
    Result(usize),
    /// An inherent attribute, or a parameter of one.
    Attribute(&'m str),
    /// The symbol that the op refers to, `@` included.
    Symbol(&'m str),
}

/// Moves diagnostics about ops to the operand, attribute or type that their messages name first,
/// or to the op's name.
/// Those of text with an error in that op may stay.
pub fn narrow(diagnostics: &mut [Diagnostic], module: &Module) {
    let Some(source) = module.source() else { return };
    let text = source.text();
    let options = ParseOptions { allow_unregistered_dialects: true, ..ParseOptions::default() };
    let mut aliases = None;
    for diagnostic in diagnostics.iter_mut().take(MOST) {
        let focus = diagnostic.focus.take().map(|focus| *focus);
        let focus = focus.filter(|(position, _)| position.span().is_some());
        let focused = focus.map(|(position, operand)| {
            diagnostic.position = position;
            operand
        });
        let (Position::Span(span) | Position::Made(span, _)) = &mut diagnostic.position else {
            continue;
        };
        let Some((start, name)) = op_name(text, *span) else { continue };
        *span = Span { start, end: start + name.len() as u32 };
        let op = module.registry().op(name.trim_matches('"'));
        let Some(def) = op.or_else(|| module.registry().op(&format!("func.{name}"))) else {
            continue;
        };
        if ABOUT_THE_OP.contains(&&*diagnostic.label) {
            continue;
        }
        let part = match focused {
            Some(operand) => Some(OpPart::Operand(operand)),
            None => part_of(def, &diagnostic.message),
        };
        let Some(part) = part else { continue };
        let aliases: &Vec<usize> = aliases.get_or_insert_with(|| alias_lines(text));
        let mut parser = Parser::new(text, Module::new(module.registry()), options);
        let found = match part {
            OpPart::Symbol(symbol) => symbol_at(text, start, symbol),
            part => parser.read_parts(start, aliases).find(def, &part, text),
        };
        *span = found.unwrap_or(*span);
    }
}

/// Labels of errors about the op as a whole, such as about the number of its operands.
const ABOUT_THE_OP: [&str; 5] = ["operands", "results", "region", "successors", "terminator"];

/// The name of an op, quotes included, and where it starts. The position of some ops is that of
/// the bracket after their name.
fn op_name(text: &str, span: Span) -> Option<(u32, &str)> {
    let at = text.get(span.start as usize..span.end as usize)?;
    if at != "(" {
        return Some((span.start, at));
    }
    let before = text[..span.start as usize].trim_end();
    let start = before.rfind(char::is_whitespace).map_or(0, |i| i + 1);
    Some((start as u32, &before[start..]))
}

/// Starts of the lines that define aliases of attributes and types other than locations.
fn alias_lines(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(['#', '!']) && !line.starts_with("#loc") {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

/// The part that a message is about: the first that it names, unless it names several at once.
fn part_of<'m>(def: &'static OpDef, message: &'m str) -> Option<OpPart<'m>> {
    let clause = message.split("; ").next().unwrap_or(message);
    if let Some((_, property)) = clause.split_once("has no property `") {
        return property.split('`').next().map(OpPart::Attribute);
    }
    if let Some(start) = clause.find('@').filter(|_| clause.starts_with("there is no ")) {
        return clause[start..].split(' ').next().map(OpPart::Symbol);
    }
    let is_type = clause.contains(" type");
    let mut rest = clause;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        let number = after.trim_start().split(' ').next().and_then(|n| n.parse::<usize>().ok());
        let operand = |i: usize| if is_type { OpPart::OperandType(i) } else { OpPart::Operand(i) };
        let part = match (word, number) {
            ("operand", Some(i)) => Some(operand(i)),
            ("result", Some(i)) => Some(OpPart::Result(i)),
            _ if is_attribute(def, word) => Some(OpPart::Attribute(word)),
            _ => match def.operands.iter().position(|slot| slot.name == word) {
                Some(i) if is_single(def, i) => Some(operand(i)),
                // Any of a list.
                Some(_) => return None,
                _ if word == "result" && def.results.len() == 1 => Some(OpPart::Result(0)),
                _ => None,
            },
        };
        let Some(part) = part else { continue };
        let among = after.trim_start_matches('`');
        let in_list = among.strip_prefix(", ").is_some_and(|s| s.starts_with(char::is_alphabetic));
        let is_one_of_several = in_list || [" and ", " or "].iter().any(|s| among.starts_with(s));
        return Some(part).filter(|_| !is_one_of_several);
    }
    None
}

/// True if operand `i` is that of slot `i`, as no slot before holds a list.
fn is_single(def: &OpDef, i: usize) -> bool {
    def.operands[..=i].iter().all(|slot| slot.arity == Arity::Single)
}

fn is_attribute(def: &OpDef, name: &str) -> bool {
    def.attributes.iter().any(|slot| slot.name == name) || owner(def, name).is_some()
}

/// The attribute that has a parameter of that name.
fn owner(def: &OpDef, parameter: &str) -> Option<&'static str> {
    let has = |constraint: &AttrConstraint| match constraint {
        AttrConstraint::Def(def) => def.params.iter().any(|param| param.name == parameter),
        _ => false,
    };
    def.attributes.iter().find(|slot| has(slot.constraint)).map(|slot| slot.name)
}

/// The symbol in the line of the op.
fn symbol_at(text: &str, start: u32, symbol: &str) -> Option<Span> {
    let line = text[start as usize..].lines().next()?;
    let start = start + line.find(symbol)? as u32;
    Some(Span { start, end: start + symbol.len() as u32 })
}

impl PartSpans {
    fn find(&self, def: &OpDef, part: &OpPart<'_>, text: &str) -> Option<Span> {
        let attribute = |name: &str| {
            self.attributes.iter().rfind(|(found, _)| &**found == name).map(|(_, span)| *span)
        };
        match *part {
            OpPart::Operand(i) => self.operands.get(i).copied(),
            OpPart::OperandType(i) if i < self.inputs => self.types.get(i).copied(),
            OpPart::OperandType(i) => self.operands.get(i).copied(),
            OpPart::Symbol(_) => None,
            OpPart::Result(i) => self.types.get(self.inputs + i).or(self.types.last()).copied(),
            OpPart::Attribute(name) => attribute(name).or_else(|| {
                let whole = attribute(owner(def, name)?)?;
                Some(parameter(text, whole, name).unwrap_or(whole))
            }),
        }
    }
}

/// The value of a parameter in the text of an attribute: after its name and `=`. A pretty form may
/// shorten the name: `contracting_dims` is about `lhs_contracting_dimensions`.
fn parameter(text: &str, within: Span, name: &str) -> Option<Span> {
    let bytes = text.as_bytes().get(..within.end as usize)?;
    let word = |token: &super::Token| &text[token.span.start as usize..token.span.end as usize];
    let mut before = next_token(bytes, within.start as usize);
    loop {
        let token = next_token(bytes, before.span.end as usize);
        let is_it = || {
            let stem = word(&before).split('_').next().unwrap_or_default();
            word(&before) == name || stem.len() > 3 && name.contains(stem)
        };
        match token.kind {
            Kind::Eof => return None,
            Kind::Punct(b'=') if before.kind == Kind::Word && is_it() => {
                return value_from(bytes, token.span.end as usize);
            }
            _ => before = token,
        }
    }
}

/// The range up to the next comma or closing bracket that is not within brackets.
fn value_from(bytes: &[u8], pos: usize) -> Option<Span> {
    let first = next_token(bytes, pos);
    let (mut depth, mut token, mut end) = (0, first, pos as u32);
    loop {
        match token.kind {
            Kind::Punct(b'[' | b'<' | b'(' | b'{') => depth += 1,
            Kind::Punct(b']' | b'>' | b')' | b'}') if depth > 0 => depth -= 1,
            Kind::Eof | Kind::Punct(b']' | b'>' | b')' | b'}') => break,
            Kind::Punct(b',') if depth == 0 => break,
            _ => {}
        }
        end = token.span.end;
        token = next_token(bytes, end as usize);
    }
    Some(Span { start: first.span.start, end }).filter(|span| span.start < span.end)
}

impl Parser<'_> {
    /// The parts of the op whose name is at byte `at`, as far as it can be read alone.
    fn read_parts(&mut self, at: u32, aliases: &[usize]) -> PartSpans {
        self.enter_region(true);
        for &line in aliases {
            self.jump(line);
            let _ = if self.token.kind == Kind::Hash {
                self.attribute_alias()
            } else {
                self.type_alias()
            };
        }
        self.default_dialects.push("func");
        self.jump(at as usize);
        self.parts = Some(Box::default());
        // The parts before an error are of use.
        let _ = self.parse_op_uncached(None);
        self.parts.take().map_or_else(PartSpans::default, |parts| *parts)
    }

    /// Reads a nested op, whose parts are not those of the op that is read again.
    pub(super) fn without_parts<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let parts = self.parts.take();
        let result = read(self);
        self.parts = parts;
        result
    }

    pub(super) fn note_operand(&mut self, span: Span) {
        if let Some(parts) = &mut self.parts {
            parts.operands.push(span);
        }
    }

    pub(super) fn note_type(&mut self, start: Span) {
        let span = self.span_from(start);
        if let Some(parts) = &mut self.parts {
            parts.types.push(span);
        }
    }

    /// Notes where the value of an attribute stands, from `start` to the last token read, for
    /// diagnostics about it.
    pub fn note_attribute(&mut self, name: &str, start: Span) {
        let span = self.span_from(start);
        if let Some(parts) = &mut self.parts {
            parts.attributes.push((name.into(), span));
        }
    }

    /// Begins the types of a signature: those before were of attributes.
    pub(super) fn note_signature(&mut self) {
        if let Some(parts) = &mut self.parts {
            parts.types.clear();
        }
    }

    pub(super) fn note_arrow(&mut self) {
        if let Some(parts) = &mut self.parts {
            parts.inputs = parts.types.len();
        }
    }

    /// Notes the text of a directive of a format as that of the attributes or types it writes.
    pub(super) fn note_directive(
        &mut self,
        directive: &'static Directive,
        start: Span,
        def: &OpDef,
    ) {
        if self.parts.is_none() {
            return;
        }
        match directive {
            Directive::Attribute(slot) => self.note_attribute(def.attributes[*slot].name, start),
            Directive::Type(_) => self.note_type(start),
            Directive::Custom(_, args) => {
                for arg in args {
                    match arg {
                        DirectiveArg::Attribute(slot) => {
                            self.note_attribute(def.attributes[*slot].name, start);
                        }
                        DirectiveArg::ResultType(_) if self.has_no_types() => self.note_type(start),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn has_no_types(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.types.is_empty())
    }
}
