//! Regions, blocks and their arguments, and going on after an error.

use super::locations::{Located, TrailingLocation};
use super::scope::Definition;
use super::{Checkpoint, Kind, Parsed, Parser};
use crate::attrs::Dictionary;
use crate::diag::Span;
use crate::ir::{BlockId, Loc, OpName, OpParts, RegionId};
use crate::ods::{OpDef, Trait};
use crate::types::Type;

/// An argument of a region that the syntax of its op names.
pub struct RegionArgument {
    /// Where its name is written, `%` included; none for an argument without a name.
    pub name: Option<Span>,
    /// Its type.
    pub ty: Type,
    /// Attributes in braces, as function arguments have them.
    pub attributes: Dictionary,
    /// The location that is written after it, if there is one.
    pub(super) location: Option<TrailingLocation>,
}

impl RegionArgument {
    /// An argument of that name (where it is written, `%` included) and type with nothing else.
    pub fn new(name: Span, ty: Type) -> RegionArgument {
        RegionArgument { name: Some(name), ty, attributes: Dictionary::default(), location: None }
    }
}

impl<'a> Parser<'a> {
    /// Reads a region `{…}` of an op of declaration `def`. Arguments that the op's syntax names
    /// become those of the entry block.
    ///
    /// # Errors
    /// If no region comes next. Errors within the region are reported, and reading goes on behind
    /// them.
    pub fn region(&mut self, def: &OpDef, mut arguments: Vec<RegionArgument>) -> Parsed<RegionId> {
        // Types of arguments without names are those of a declaration, or of a body that names them
        // itself.
        arguments.retain(|argument| argument.name.is_some());
        let isolated = def.has_trait(&Trait::IsolatedFromAbove);
        let default_dialect = def.traits.iter().find_map(|t| match t {
            Trait::DefaultDialect(namespace) => Some(*namespace),
            _ => None,
        });
        self.nested(|p| p.region_in(isolated, default_dialect.unwrap_or(""), arguments))
    }

    /// As [`Parser::region`], and adds the terminator that the syntax may omit.
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
        self.expect_punct(b'{')?;
        let region = self.module.create_region();
        self.enter_region(isolated);
        self.default_dialects.push(default_dialect);
        let result = self.blocks(region, arguments);
        self.default_dialects.pop();
        self.leave_region(region);
        result?;
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
                    self.define(self.slice(span), span, Definition::Argument(value))?;
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
        self.define(name, span, Definition::Argument(value))
    }

    /// Reads ops up to the end of the block. After an op that cannot be read, goes on with the next
    /// one.
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

    /// Skips the op that starts at `start` and cannot be read at the current token: to what looks
    /// like the start of the next op, or the end of the block.
    pub(super) fn recover(&mut self, start: Checkpoint) {
        let failed = self.checkpoint();
        self.rewind(start);
        if !self.skip_op(failed.0.span.start) {
            // The op leaves a bracket open: count brackets from the error on instead.
            self.rewind(failed);
            self.skip_op(failed.0.span.start);
        }
    }

    /// Skips tokens up to the next op behind a position; whether all brackets were closed by then.
    fn skip_op(&mut self, at_least_to: u32) -> bool {
        let mut depth = 0usize;
        let first = self.token.span.start;
        loop {
            let passed = self.token.span.start >= at_least_to && self.token.span.start > first;
            match self.token.kind {
                Kind::Eof => return depth == 0,
                Kind::Punct(b'}') if depth == 0 && self.token.span.start >= at_least_to => {
                    return true;
                }
                Kind::Percent
                | Kind::Word
                | Kind::String
                | Kind::Caret
                | Kind::Hash
                | Kind::Exclaim
                    if passed && depth == 0 && self.starts_line() =>
                {
                    return true;
                }
                Kind::Punct(b'{' | b'(' | b'[') => depth += 1,
                Kind::Punct(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
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

    /// Reads `(%a: T {attrs}, …)` or `(T {attrs}, …)`, as functions have it.
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

    /// Reads `-> T` or `-> (T {attrs}, …)`, as functions have it; nothing if no arrow comes next.
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
