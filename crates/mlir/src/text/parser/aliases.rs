//! Aliases of attributes and types, which are defined before and after the ops of a text.

use super::{BYTES_OF_OP, Kind, ParseOptions, Parsed, Parser};
use crate::diag::Span;
use crate::ir::Module;
use crate::node::Extent;
use host::Host;
use std::thread::{Scope, ScopedJoinHandle};

/// Minimum size in bytes of trailing aliases that are parsed on a second thread.
const WORTH_A_THREAD: usize = 128 << 10;

/// Approximate size in bytes of an alias definition.
const BYTES_OF_ALIAS: usize = 48;

/// Same stack size as the main thread; `MAX_NESTING` is chosen for it.
const STACK_SIZE: usize = 8 << 20;

/// The aliases at the end of a text, parsed by a second thread while this one parses the ops:
/// location aliases can be half of the text.
pub(super) struct AliasesAhead<'scope, 'a> {
    /// Offset of their start.
    start: usize,
    /// Number of attribute and type aliases that were defined when the thread started.
    known: (usize, usize),
    thread: ScopedJoinHandle<'scope, Parser<'a>>,
}

impl<'a> Parser<'a> {
    /// Reads `#name = attribute`.
    pub(super) fn attribute_alias(&mut self) -> Parsed<()> {
        let (name, span) = self.alias_name()?;
        let attribute = if self.at("loc") { self.location()? } else { self.attribute(None)? };
        match self.attribute_aliases.insert(name, attribute) {
            None => Ok(()),
            Some(_) => self.defined_twice("attribute", span),
        }
    }

    /// Reads `!name = type`.
    pub(super) fn type_alias(&mut self) -> Parsed<()> {
        let (name, span) = self.alias_name()?;
        let ty = self.ty()?;
        match self.type_aliases.insert(name, ty) {
            None => Ok(()),
            Some(_) => self.defined_twice("type", span),
        }
    }

    /// Parses the name of an alias up to the `=`; returns it without its sigil, and its position.
    fn alias_name(&mut self) -> Parsed<(&'a str, Span)> {
        let (name, span) = (&self.token_text()[1..], self.here());
        self.advance();
        if name.contains('.') {
            return self.error_at(span, "the name of an alias has no dots");
        }
        self.expect_punct(b'=')?;
        Ok((name, span))
    }

    fn defined_twice(&mut self, what: &str, span: Span) -> Parsed<()> {
        self.error_at(span, format!("the {what} alias `{}` is defined twice", self.slice(span)))
    }

    /// Checks that what an alias stands for is not too large where it is used: nested aliases can
    /// grow without bound in depth, and exponentially in size.
    pub(super) fn check_alias(&mut self, span: Span, extent: Extent) -> Parsed<()> {
        match extent.check(self.depth) {
            Ok(()) => Ok(()),
            Err(message) => {
                let spelling = self.slice(span);
                self.error_at(span, format!("the alias `{spelling}` is too large: {message}"))
            }
        }
    }

    /// Starts parsing the trailing aliases on a second thread, if they are large enough.
    pub(super) fn read_ahead<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Option<AliasesAhead<'scope, 'a>>
    where
        'a: 'scope,
    {
        let start = start_of_aliases(self.text.as_bytes());
        if self.text.len() - start < WORTH_A_THREAD {
            return None;
        }
        let mut tail = Parser::new(self.text, Module::new(self.registry), ParseOptions::default());
        tail.attribute_aliases = self.attribute_aliases.clone();
        tail.type_aliases = self.type_aliases.clone();
        tail.attribute_aliases.reserve((self.text.len() - start) / BYTES_OF_ALIAS);
        // Most ops have a location that is defined there.
        self.deferred_locations.reserve(start / BYTES_OF_OP);
        let read = move || {
            tail.jump(start);
            while tail.token.kind == Kind::Hash && tail.attribute_alias().is_ok() {}
            tail
        };
        let thread = Host::current().spawn(scope, STACK_SIZE, read).ok()?;
        Some(AliasesAhead {
            start,
            known: (self.attribute_aliases.len(), self.type_aliases.len()),
            thread,
        })
    }

    /// Adopts the aliases parsed ahead if the parser has reached their start in the same state.
    /// Returns true if so.
    pub(super) fn take_over(&mut self, ahead: &mut Option<AliasesAhead<'_, 'a>>) -> bool {
        let Some(ahead) = ahead.take_if(|ahead| ahead.start == self.token.span.start as usize)
        else {
            return false;
        };
        let Ok(tail) = ahead.thread.join() else { return false };
        let same = tail.token.kind == Kind::Eof
            && tail.diagnostics.is_empty()
            && tail.resources.is_empty()
            && ahead.known == (self.attribute_aliases.len(), self.type_aliases.len());
        if same {
            self.attribute_aliases = tail.attribute_aliases;
            self.type_aliases = tail.type_aliases;
            self.jump(self.text.len());
        }
        same
    }
}

/// Offset of the lines after the last top-level op, if that ends with a bracket at the start of a
/// line.
fn start_of_aliases(text: &[u8]) -> usize {
    let starts_line = |&at: &usize| at == 0 || text[at - 1] == b'\n';
    let end = memchr::memrchr_iter(b'}', text).find(starts_line).unwrap_or(text.len());
    memchr::memchr(b'\n', &text[end..]).map_or(text.len(), |newline| end + newline + 1)
}
