//! A hand-written recursive-descent parser of MLIR text with error recovery.
//!
//! [`parse`] never fails: it returns a module, as far as it could be parsed, and diagnostics.
//! Dialects extend the parser with functions over [`Parser`] in their declarations.

mod affine;
mod aliases;
mod attributes;
mod build;
mod dense;
mod habits;
mod locations;
mod names;
mod ops;
mod params;
mod parts;
mod pretty;
mod regions;
mod resources;
mod scope;
mod strings;
mod templates;
mod types;

pub use ops::parse_module_op;
pub use parts::narrow;
pub use regions::RegionArgument;

use super::SourceMap;
use super::UnresolvedOperand;
use super::lexer::{Kind, Token, next_token};
use crate::attrs::{Attribute, Name, Resource};
use crate::diag::{Diagnostic, Diagnostics, Position, Severity, Source, Span};
use crate::ir::{Loc, Module};
use crate::node::MAX_NESTING;
use crate::ods::{OpDef, Registry};
use crate::types::Type;
use locations::Located;
use names::ParserNames;
use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scopes;
use std::sync::Arc;
use templates::TextTemplates;

/// Parsing failed; the diagnostic is already recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseFailed;

/// A parsed value; on failure, the diagnostic is already recorded.
pub type Parsed<T> = Result<T, ParseFailed>;

/// The element of blocks, for messages.
const OPERATION: &str = "an operation";

/// Approximate size in bytes of the text of an op.
const BYTES_OF_OP: usize = 64;

/// The parser gives up after this many errors.
const MAX_ERRORS: usize = 100;

/// Options of the parser.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions {
    /// Allow ops, attributes and types of unregistered dialects.
    pub allow_unregistered_dialects: bool,
    /// Stop at the first error, as upstream's tools do, instead of continuing with the next op.
    pub stop_at_first_error: bool,
    /// Record the places of ops, regions and names.
    pub source_map: bool,
}

/// The parsed module, with diagnostics. The module is valid for use only if no diagnostic is an
/// error.
pub struct ParseOutput {
    /// The module, without the ops that could not be parsed.
    pub module: Module,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// Places in the text, if they were wanted.
    pub source_map: Option<Box<SourceMap>>,
}

/// Parses MLIR text. The top-level op of the result is the single op of the text if that is a
/// `builtin.module`, else an implicit module.
pub fn parse(
    source: Arc<Source>,
    registry: &'static Registry,
    options: ParseOptions,
) -> ParseOutput {
    let text = source.text();
    if text.len() >= u32::MAX as usize {
        let message =
            format!("the text has {} bytes; texts of 4 GiB and more cannot be read", text.len());
        let diagnostics = vec![Diagnostic::error("parse", message)];
        return ParseOutput { module: Module::new(registry), diagnostics, source_map: None };
    }
    let mut module = Module::new(registry);
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    module.reserve(lines.min(text.len() / BYTES_OF_OP));
    module.set_source(source.clone());
    let top = module.top().id();
    module.set_loc(top, Loc::Explicit(source.start_location(), None));
    let mut parser = Parser::new(text, module, options);
    parser.source_map = options.source_map.then(Box::default);
    if text.starts_with('\u{feff}') {
        // A byte order mark.
        parser.jump('\u{feff}'.len_utf8());
    }
    parser.parse_top_level();
    if parser.diagnostics.len() >= MAX_ERRORS
        && let Some(last) = parser.diagnostics.pop()
    {
        let note = format!("nothing was read after these {MAX_ERRORS} errors; there may be more");
        parser.diagnostics.push(last.note(note, Position::None));
    }
    let Parser { module, diagnostics, source_map, .. } = parser;
    ParseOutput { module, diagnostics, source_map }
}

/// Parses a text that consists of one attribute, such as `dense<1.0> : tensor<2xf32>`.
///
/// # Errors
/// Syntax errors in the text.
pub fn parse_attribute(
    text: &str,
    registry: &'static Registry,
    options: ParseOptions,
) -> Result<Attribute, Diagnostics> {
    parse_whole(text, registry, options, |p| p.attribute(None))
}

/// Parses a text that consists of one type.
///
/// # Errors
/// Syntax errors in the text.
pub fn parse_type(
    text: &str,
    registry: &'static Registry,
    options: ParseOptions,
) -> Result<Type, Diagnostics> {
    parse_whole(text, registry, options, |p| p.ty())
}

fn parse_whole<T>(
    text: &str,
    registry: &'static Registry,
    options: ParseOptions,
    read: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
) -> Result<T, Diagnostics> {
    let mut parser = Parser::new(text, Module::new(registry), options);
    let result = read(&mut parser);
    if result.is_ok() && parser.token.kind != Kind::Eof {
        let _ = parser.unexpected::<()>("the end of the text");
    }
    match result {
        Ok(value) if parser.diagnostics.is_empty() => Ok(value),
        _ => Err(parser.diagnostics),
    }
}

/// The state of parsing a text; the hooks of dialects parse through its methods.
pub struct Parser<'a> {
    text: &'a str,
    token: Token,
    /// End of the previous token.
    last_end: u32,
    module: Module,
    registry: &'static Registry,
    options: ParseOptions,
    diagnostics: Diagnostics,
    depth: usize,
    /// By name without `#`; most are locations.
    attribute_aliases: ParserNames<'a, Attribute>,
    type_aliases: FxHashMap<&'a str, Type>,
    /// Cache of ops by full name.
    ops: FxHashMap<&'a str, &'static OpDef>,
    /// Cache of types by spelling: programs repeat few types many times.
    types: FxHashMap<&'a str, Type>,
    names: FxHashSet<Name>,
    /// Cache of integer arrays by elements: programs repeat few of them many times.
    i64_arrays: FxHashMap<Box<[i64]>, Attribute>,
    /// Distinct attributes by id.
    distinct: FxHashMap<i64, Attribute>,
    resources: FxHashMap<(Name, Name), Resource>,
    scopes: Scopes<'a>,
    /// Ops that were read, for those that are written like them.
    templates: TextTemplates,
    /// The operands of the op that is being read, in order, as far as they were resolved.
    resolved: Vec<UnresolvedOperand>,
    /// Set if parsing the current op depended on the values it uses.
    reads_values: bool,
    /// Ranges of the parts of the op that is being read, where they are wanted.
    parts: Option<Box<parts::PartSpans>>,
    /// Places of ops, regions and names, where they are wanted.
    source_map: Option<Box<SourceMap>>,
    /// Default dialects of the enclosing regions, innermost last.
    default_dialects: Vec<&'static str>,
    /// Uses of location aliases that are not defined yet.
    deferred_locations: Vec<(Located, Span)>,
}

/// A position to rewind to after lookahead.
#[derive(Clone, Copy)]
struct Checkpoint(Token, u32);

impl<'a> Parser<'a> {
    fn new(text: &'a str, module: Module, options: ParseOptions) -> Parser<'a> {
        Parser {
            text,
            token: next_token(text.as_bytes(), 0),
            last_end: 0,
            registry: module.registry(),
            module,
            options,
            diagnostics: Vec::new(),
            depth: 0,
            attribute_aliases: ParserNames::new("loc", text.len()),
            type_aliases: FxHashMap::default(),
            ops: FxHashMap::default(),
            types: FxHashMap::default(),
            names: FxHashSet::default(),
            i64_arrays: FxHashMap::default(),
            distinct: FxHashMap::default(),
            resources: FxHashMap::default(),
            scopes: Scopes::default(),
            templates: TextTemplates::default(),
            resolved: Vec::new(),
            reads_values: false,
            parts: None,
            source_map: None,
            default_dialects: vec!["builtin"],
            deferred_locations: Vec::new(),
        }
    }
}

/// Tokens.
impl<'a> Parser<'a> {
    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn token_text(&self) -> &'a str {
        self.slice(self.token.span)
    }

    fn advance(&mut self) {
        self.last_end = self.token.span.end;
        self.token = next_token(self.text.as_bytes(), self.token.span.end as usize);
    }

    /// Continues lexing at byte `pos`.
    fn jump(&mut self, pos: usize) {
        self.last_end = pos as u32;
        self.token = next_token(self.text.as_bytes(), pos);
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.token, self.last_end)
    }

    fn rewind(&mut self, checkpoint: Checkpoint) {
        self.token = checkpoint.0;
        self.last_end = checkpoint.1;
    }

    /// The position of the current token.
    pub fn here(&self) -> Span {
        self.token.span
    }

    /// The range from `start` to the end of the previous token.
    pub fn span_from(&self, start: Span) -> Span {
        Span { start: start.start, end: self.last_end.max(start.start) }
    }

    /// True if the current token is the given keyword or punctuation.
    #[inline]
    pub fn at(&self, token: &str) -> bool {
        match (self.token.kind, token.as_bytes()) {
            (Kind::Punct(found), &[c]) => found == c,
            (Kind::Punct(_) | Kind::String | Kind::Invalid, _) => false,
            (_, expected) => {
                self.text.as_bytes()[self.token.span.start as usize..self.token.span.end as usize]
                    == *expected
            }
        }
    }

    /// Consumes the given keyword or punctuation if it comes next.
    #[inline]
    pub fn eat(&mut self, token: &str) -> bool {
        let found = self.at(token);
        if found {
            self.advance();
        }
        found
    }

    /// Consumes the given keyword or punctuation.
    ///
    /// # Errors
    /// If something else comes next.
    #[inline]
    pub fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { self.unexpected_token(token) }
    }

    #[cold]
    fn unexpected_token(&mut self, expected: &str) -> Parsed<()> {
        self.unexpected(&format!("`{expected}`"))
    }

    fn at_punct(&self, c: u8) -> bool {
        self.token.kind == Kind::Punct(c)
    }

    fn eat_punct(&mut self, c: u8) -> bool {
        let found = self.at_punct(c);
        if found {
            self.advance();
        }
        found
    }

    fn expect_punct(&mut self, c: u8) -> Parsed<()> {
        if self.eat_punct(c) {
            Ok(())
        } else {
            self.unexpected_token(std::str::from_utf8(&[c]).unwrap_or_default())
        }
    }

    /// Reads a word if one comes next.
    pub fn eat_word(&mut self) -> Option<&'a str> {
        if self.token.kind != Kind::Word {
            return None;
        }
        let word = self.token_text();
        self.advance();
        Some(word)
    }

    /// Reads a word.
    ///
    /// # Errors
    /// If something else comes next; the message is "expected `what`".
    pub fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.eat_word() {
            Some(word) => Ok(word),
            None => self.unexpected(what),
        }
    }

    /// Reads elements separated by commas up to the closing token, which is consumed. The opening
    /// one must have been consumed.
    ///
    /// # Errors
    /// Those of `element`, and a missing comma or closing token.
    pub fn list_until(
        &mut self,
        close: &str,
        mut element: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.eat_punct(b',') {
                return self.expect(close);
            }
        }
    }

    /// Reads a non-empty list of elements separated by commas.
    ///
    /// # Errors
    /// Those of `element`.
    pub fn comma_separated(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        element(self)?;
        while self.eat_punct(b',') {
            element(self)?;
        }
        Ok(())
    }

    /// Reads an integer with an optional sign.
    ///
    /// # Errors
    /// If something else comes next, or the value does not fit.
    pub fn integer(&mut self) -> Parsed<i64> {
        if let Some(value) = self.eat_small_integer() {
            return Ok(value);
        }
        let start = self.here();
        let value = self.wide_integer()?;
        match i64::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => self.error_at(
                self.span_from(start),
                format!("the integer {value} does not fit 64 bits"),
            ),
        }
    }

    /// Fast path: reads a decimal integer of at most 32 bits if one comes next.
    fn eat_small_integer(&mut self) -> Option<i64> {
        if self.token.kind != Kind::Integer {
            return None;
        }
        let value: u32 = self.token_text().parse().ok()?;
        self.advance();
        Some(i64::from(value))
    }

    fn wide_integer(&mut self) -> Parsed<i128> {
        let start = self.here();
        let negative = self.eat_punct(b'-');
        if self.token.kind != Kind::Integer {
            return self.unexpected("an integer");
        }
        let text = self.token_text();
        self.advance();
        let digits = text.strip_prefix("0x");
        let magnitude = match digits {
            Some(hex) => u128::from_str_radix(hex, 16),
            None => text.parse(),
        };
        match magnitude.ok().and_then(|m| i128::try_from(m).ok()) {
            Some(m) => Ok(if negative { -m } else { m }),
            None => self
                .error_at(self.span_from(start), "integers of more than 127 bits cannot be read"),
        }
    }

    /// Reads `[1, 2, 3]`.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn i64_list(&mut self) -> Parsed<Vec<i64>> {
        self.expect_punct(b'[')?;
        let mut values = Vec::new();
        self.list_until("]", |p| {
            values.push(p.integer()?);
            Ok(())
        })?;
        Ok(values)
    }

    /// Interns a name.
    pub fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Name = text.into();
        self.names.insert(name.clone());
        name
    }

    /// An interned `array<i64: values>`.
    pub fn i64_array(&mut self, values: &[i64]) -> Attribute {
        if let Some(array) = self.i64_arrays.get(values) {
            return array.clone();
        }
        let array = Attribute::i64_array(values);
        self.i64_arrays.insert(values.into(), array.clone());
        array
    }

    /// The registered dialects.
    pub fn registry(&self) -> &'static Registry {
        self.registry
    }

    /// The module under construction.
    pub fn module(&mut self) -> &mut Module {
        &mut self.module
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            return self.error(format!("nesting deeper than {MAX_NESTING} levels cannot be read"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

/// Diagnostics.
impl Parser<'_> {
    /// Records an error at the current token.
    ///
    /// # Errors
    /// Always.
    pub fn error<T>(&mut self, message: impl Into<String>) -> Parsed<T> {
        self.error_at(self.here(), message)
    }

    /// Records an error at a position.
    ///
    /// # Errors
    /// Always.
    #[cold]
    pub fn error_at<T>(&mut self, span: Span, message: impl Into<String>) -> Parsed<T> {
        self.report(Diagnostic::error("parse", message).at(span))
    }

    /// Records an error at a position, with a way to mend it if there is one.
    ///
    /// # Errors
    /// Always.
    #[cold]
    pub fn error_with_help<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Parsed<T> {
        self.report(Diagnostic::error("parse", message).at(span).help(help))
    }

    /// Records a diagnostic.
    ///
    /// # Errors
    /// Always.
    pub fn report<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.record(diagnostic);
        Err(ParseFailed)
    }

    /// Apart from functions that are generic over what they do not return, so that it is compiled
    /// once.
    #[cold]
    fn record(&mut self, diagnostic: Diagnostic) {
        // Errors at the same position as the previous one are likely consequences of it, so they
        // are dropped.
        let again = self
            .diagnostics
            .last()
            .is_some_and(|d| d.severity == Severity::Error && d.position == diagnostic.position);
        let full = again || self.gives_up();
        if !full {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Records an error: `expected` does not come next.
    ///
    /// # Errors
    /// Always.
    #[cold]
    pub fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        self.unexpected_name(expected, &[])
    }

    /// As [`Parser::unexpected`], suggesting the nearest of the names that may come next.
    ///
    /// # Errors
    /// Always.
    #[cold]
    pub fn unexpected_name<T>(&mut self, expected: &str, names: &[&str]) -> Parsed<T> {
        self.record_unexpected(expected, names);
        Err(ParseFailed)
    }

    /// As [`Parser::record`].
    #[cold]
    fn record_unexpected(&mut self, expected: &str, names: &[&str]) {
        let text = self.token_text();
        let message = match self.token.kind {
            Kind::Eof => format!("expected {expected}, found the end of the text"),
            Kind::Invalid if text.starts_with(['"', '@']) => {
                format!("expected {expected}, found an unclosed string")
            }
            _ => {
                let is_long = text.chars().count() > 40;
                let visible = |c: char| match c.is_control() {
                    true => c.escape_default().to_string(),
                    false => c.to_string(),
                };
                let shown: String = text.chars().take(40).map(visible).collect();
                format!("expected {expected}, found `{shown}{}`", if is_long { "…" } else { "" })
            }
        };
        // A token missing at the end of a line is reported there, not at the start of the next
        // line.
        let (last_end, start) = (self.last_end, self.token.span.start);
        let gap = self.text.as_bytes().get(last_end as usize..start as usize).unwrap_or_default();
        let is_stray = text == "#" || expected == OPERATION || self.token.kind == Kind::Invalid;
        let at = if last_end > 0 && gap.contains(&b'\n') && !is_stray {
            Span { start: last_end - 1, end: last_end }
        } else {
            self.here()
        };
        let help = self.help_for(expected, names);
        self.record(Diagnostic::error("parse", message).at(at).help(help));
    }

    /// Parses with `read`. If that fails and only the first problem is wanted, records a second
    /// error about `what` at the position reached, as upstream does.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn within<T>(
        &mut self,
        what: &str,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let result = read(self);
        let stops = self.options.stop_at_first_error;
        if result.is_err() && stops && self.diagnostics.len() < MAX_ERRORS {
            self.diagnostics
                .push(Diagnostic::error("parse", format!("{what} cannot be read")).at(self.here()));
        }
        result
    }

    fn gives_up(&self) -> bool {
        let is_error = |d: &Diagnostic| d.severity == Severity::Error;
        (self.options.stop_at_first_error && self.diagnostics.iter().any(is_error))
            || self.diagnostics.len() >= MAX_ERRORS
    }
}
