//! Regions, blocks and their arguments, and error recovery.

use super::locations::{Located, TrailingLocation};
use super::scope::ValueDefinition;
use super::{Checkpoint, Kind, Parsed, Parser};
use crate::attrs::Dictionary;
use crate::diag::{Diagnostic, Span};
use crate::ir::{BlockId, Loc, OpName, OpParts, RegionId};
use crate::ods::{OpDef, Trait};
use crate::types::Type;
use smallvec::SmallVec;

/// A region argument in the custom syntax of an op.
pub struct RegionArgument {
    /// Position of its name, `%` included; `None` for an unnamed argument.
    pub name: Option<Span>,
    /// Its type.
    pub ty: Type,
    /// Attributes in braces, as on function arguments.
    pub attributes: Dictionary,
    /// The location that follows it, if any.
    pub(super) location: Option<TrailingLocation>,
}

impl RegionArgument {
    /// An argument with a name (its position, `%` included) and type only.
    pub fn new(name: Span, ty: Type) -> RegionArgument {
        RegionArgument { name: Some(name), ty, attributes: Dictionary::default(), location: None }
    }
}

impl<'a> Parser<'a> {
    /// Reads a region `{…}` of an op of declaration `def`. `arguments` are those in the op's custom
    /// syntax; they become the arguments of the entry block.
    ///
    /// # Errors
    /// If no region comes next. Errors within the region are reported, and parsing continues after
    /// them.
    pub fn region(&mut self, def: &OpDef, mut arguments: Vec<RegionArgument>) -> Parsed<RegionId> {
        // Unnamed arguments belong to a declaration, or to a body that names them itself.
        arguments.retain(|argument| argument.name.is_some());
        let isolated = def.has_trait(&Trait::IsolatedFromAbove);
        let default_dialect = def.traits.iter().find_map(|t| match t {
            Trait::DefaultDialect(namespace) => Some(*namespace),
            _ => None,
        });
        self.nested(|p| p.region_in(isolated, default_dialect.unwrap_or(""), arguments))
    }

    /// As [`Parser::region`], and adds the implicit terminator if it is omitted.
    ///
    /// # Errors
    /// As [`Parser::region`].
    pub fn region_with_terminator(
        &mut self,
        def: &OpDef,
        arguments: Vec<RegionArgument>,
    ) -> Parsed<RegionId> {
        let region = self.region(def, arguments)?;
        let terminator = def.traits.iter().find_map(|t| match t {
            Trait::ImplicitTerminator(name) => Some(*name),
            _ => None,
        });
        if let Some(def) = terminator.and_then(|name| self.registry.op(name)) {
            if self.module.blocks(region).is_empty() {
                self.module.create_block(region);
            }
            for block in self.module.blocks(region).to_vec() {
                let ended = self
                    .module
                    .terminator(block)
                    .is_some_and(|op| op.has_trait(&Trait::Terminator));
                if !ended {
                    let loc = Loc::Source(Span {
                        start: self.last_end.saturating_sub(1),
                        end: self.last_end,
                    });
                    let op = self.module.create_op(OpParts::new(OpName::Registered(def), loc));
                    self.module.append(block, op);
                }
            }
        }
        Ok(region)
    }

    pub(super) fn region_in(
        &mut self,
        isolated: bool,
        default_dialect: &'static str,
        arguments: Vec<RegionArgument>,
    ) -> Parsed<RegionId> {
        let opening = self.here();
        self.expect_punct(b'{')?;
        let region = self.module.create_region();
        self.enter_region(isolated);
        self.default_dialects.push(default_dialect);
        let result = self.blocks(region, arguments);
        self.default_dialects.pop();
        self.leave_region(region);
        result?;
        // Upstream says no more than that.
        if self.token.kind == Kind::Eof && !self.options.stop_at_first_error {
            let message = "expected `}`, found the end of the text";
            let end = Span { start: self.last_end.saturating_sub(1), end: self.last_end };
            let error = Diagnostic::error("parse", message).at(end);
            return self.report(error.note("this region is not closed", opening));
        }
        self.expect_punct(b'}')?;
        Ok(region)
    }

    fn blocks(&mut self, region: RegionId, arguments: Vec<RegionArgument>) -> Parsed<()> {
        if !arguments.is_empty() || !(self.at_punct(b'}') || self.token.kind == Kind::Caret) {
            let block = self.module.create_block(region);
            for argument in arguments {
                let span = argument.name.unwrap_or_default();
                let index = self.module.arguments(block).len();
                let value = self.module.add_argument(block, argument.ty, Loc::Source(span));
                if let Some(location) = &argument.location {
                    self.locate(Located::Argument(block, index), location);
                }
                if argument.name.is_some() {
                    self.define(self.slice(span), span, ValueDefinition::Argument(value))?;
                }
            }
            self.block_ops(block)?;
        }
        while self.token.kind == Kind::Caret {
            let (name, span) = (self.token_text(), self.here());
            self.advance();
            let block = self.named_block(name, span, true)?;
            self.module.attach_block(region, block);
            if self.eat_punct(b'(') {
                self.list_until(")", |p| p.block_argument(block))?;
            }
            self.expect_punct(b':')?;
            self.block_ops(block)?;
        }
        Ok(())
    }

    fn block_argument(&mut self, block: BlockId) -> Parsed<()> {
        let (name, span) = (self.token_text(), self.here());
        if self.token.kind != Kind::Percent {
            return self.unexpected("a block argument (%name: type)");
        }
        self.advance();
        self.expect_punct(b':')?;
        let ty = self.ty()?;
        let index = self.module.arguments(block).len();
        let value = self.module.add_argument(block, ty, Loc::Source(span));
        if let Some(location) = self.trailing_location()? {
            self.locate(Located::Argument(block, index), &location);
        }
        self.define(name, span, ValueDefinition::Argument(value))
    }

    /// Parses ops up to the end of the block. After an op that fails to parse, continues with the
    /// next one.
    pub(super) fn block_ops(&mut self, block: BlockId) -> Parsed<()> {
        while !matches!(self.token.kind, Kind::Punct(b'}') | Kind::Caret | Kind::Eof) {
            let start = self.checkpoint();
            if let Err(failed) = self.operation(block) {
                if self.gives_up() {
                    return Err(failed);
                }
                self.recover(start);
            }
        }
        Ok(())
    }

    /// Error recovery: skips the op that starts at `start` and failed to parse at the current
    /// token, up to the likely start of the next op or the end of the block.
    pub(super) fn recover(&mut self, start: Checkpoint) {
        let first = start.0.span.start;
        let failed = self.checkpoint();
        self.rewind(start);
        if !self.skip_op(failed.0.span.start) {
            // The op leaves a bracket open: count brackets from the error on instead.
            self.rewind(failed);
            self.skip_op(failed.0.span.start);
        }
        let end = self.last_end;
        if let Some(map) = &mut self.source_map {
            map.end_unread(first, end);
        }
    }

    /// Skips tokens up to the next op after a position; returns true if all brackets are closed
    /// there.
    fn skip_op(&mut self, at_least_to: u32) -> bool {
        let mut open: SmallVec<[u8; 16]> = SmallVec::new();
        let first = self.token.span.start;
        loop {
            let passed = self.token.span.start >= at_least_to && self.token.span.start > first;
            match self.token.kind {
                Kind::Eof => return open.is_empty(),
                Kind::Punct(b'}') if open.is_empty() && self.token.span.start >= at_least_to => {
                    return true;
                }
                Kind::Percent
                | Kind::Word
                | Kind::String
                | Kind::Caret
                | Kind::Hash
                | Kind::Exclaim
                    if passed && open.is_empty() && self.starts_line() =>
                {
                    return true;
                }
                // An unclosed string hides the brackets behind it.
                Kind::Invalid => open.clear(),
                Kind::Punct(bracket @ (b'{' | b'(' | b'[')) => open.push(bracket),
                // A brace closes no other bracket: one was left open.
                Kind::Punct(b'}') if open.last().is_some_and(|&bracket| bracket != b'{') => {
                    return false;
                }
                Kind::Punct(b'}' | b')' | b']') => drop(open.pop()),
                _ => {}
            }
            self.advance();
        }
    }

    fn starts_line(&self) -> bool {
        self.text[self.last_end as usize..self.token.span.start as usize].contains('\n')
    }

    /// Reads `%name: T` and a location if one follows.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn region_argument(&mut self) -> Parsed<RegionArgument> {
        let name = self.operand()?.name;
        self.expect_punct(b':')?;
        let mut argument = RegionArgument::new(name, self.ty()?);
        argument.location = self.trailing_location()?;
        Ok(argument)
    }

    /// Reads `(%a: T {attrs}, …)` or `(T {attrs}, …)`, the arguments of a function.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn function_arguments(&mut self) -> Parsed<Vec<RegionArgument>> {
        self.expect_punct(b'(')?;
        let mut arguments: Vec<RegionArgument> = Vec::new();
        self.list_until(")", |p| {
            let span = p.here();
            let named = p.token.kind == Kind::Percent;
            if arguments.first().is_some_and(|first| first.name.is_some() != named) {
                return p.error("either all arguments of a function have names or none");
            }
            if named {
                p.advance();
                p.expect_punct(b':')?;
            }
            let ty = p.ty()?;
            let attributes = if p.at_punct(b'{') { p.dictionary()? } else { Dictionary::default() };
            let location = p.trailing_location()?;
            arguments.push(RegionArgument {
                name: named.then_some(span),
                ty,
                attributes,
                location,
            });
            Ok(())
        })?;
        Ok(arguments)
    }

    /// Reads `-> T` or `-> (T {attrs}, …)`, the results of a function; empty if no arrow comes
    /// next.
    ///
    /// # Errors
    /// If no types follow the arrow.
    pub fn function_results(&mut self) -> Parsed<Vec<(Type, Dictionary)>> {
        let mut results = Vec::new();
        if !self.eat("->") {
            return Ok(results);
        }
        if !self.eat_punct(b'(') {
            results.push((self.ty()?, Dictionary::default()));
            return Ok(results);
        }
        self.list_until(")", |p| {
            let ty = p.ty()?;
            let attributes = if p.at_punct(b'{') { p.dictionary()? } else { Dictionary::default() };
            results.push((ty, attributes));
            Ok(())
        })?;
        Ok(results)
    }
}
