//! Aliases of attributes and types, which stand before and after the ops of a text.

use super::{Kind, ParseOptions, Parsed, Parser};
use crate::ir::Module;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Aliases of fewer bytes at the end of a text are not worth a thread.
const WORTH_A_THREAD: usize = 16 << 10;

/// As much as a program has: nesting is limited for that.
const STACK_SIZE: usize = 8 << 20;

/// The aliases at the end of a text, which another thread reads while this one reads the ops: those of locations can be half of the
/// text.
pub(super) struct Ahead<'scope, 'a> {
    /// Where they start.
    start: usize,
    /// Numbers of aliases of attributes and types that they may refer to.
    known: (usize, usize),
    thread: ScopedJoinHandle<'scope, Parser<'a>>,
}

impl<'a> Parser<'a> {
    /// Reads `#name = attribute`.
    pub(super) fn attribute_alias(&mut self) -> Parsed<()> {
        let (name, span) = (&self.token_text()[1..], self.here());
        self.advance();
        if name.contains('.') {
            return self.error_at(span, "the name of an alias has no dots");
        }
        self.expect_punct(b'=')?;
        let attribute = if self.at("loc") { self.location()? } else { self.attribute(None)? };
        match self.attribute_aliases.insert(name, attribute) {
            None => Ok(()),
            Some(_) => self.error_at(span, format!("the attribute alias `#{name}` is defined twice")),
        }
    }

    /// Reads `!name = type`.
    pub(super) fn type_alias(&mut self) -> Parsed<()> {
        let (name, span) = (&self.token_text()[1..], self.here());
        self.advance();
        if name.contains('.') {
            return self.error_at(span, "the name of an alias has no dots");
        }
        self.expect_punct(b'=')?;
        let ty = self.ty()?;
        match self.type_aliases.insert(name, ty) {
            None => Ok(()),
            Some(_) => self.error_at(span, format!("the type alias `!{name}` is defined twice")),
        }
    }

    /// Starts to read the aliases at the end of the text, if they are many.
    pub(super) fn read_ahead<'scope>(&self, scope: &'scope Scope<'scope, '_>) -> Option<Ahead<'scope, 'a>>
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
        let read = move || {
            tail.jump(start);
            while tail.token.kind == Kind::Hash && tail.attribute_alias().is_ok() {}
            tail
        };
        let thread = Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, read).ok()?;
        Some(Ahead { start, known: (self.attribute_aliases.len(), self.type_aliases.len()), thread })
    }

    /// Takes over what was read ahead if the parser stands where that starts and would read the same. Whether it did.
    pub(super) fn take_over(&mut self, ahead: &mut Option<Ahead<'_, 'a>>) -> bool {
        let Some(ahead) = ahead.take_if(|ahead| ahead.start == self.token.span.start as usize) else { return false };
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

/// Where the last lines of a text start that begin with `#`.
fn start_of_aliases(text: &[u8]) -> usize {
    let mut start = text.len();
    while start > 0 {
        let line = memchr::memrchr(b'\n', &text[..start - 1]).map_or(0, |newline| newline + 1);
        if text[line] != b'#' {
            break;
        }
        start = line;
    }
    start
}
