//! Op templates: most ops of a large program have the same text as an earlier one, except for the
//! names of operands. They are copied from that one, without parsing the text between the names
//! again.

use super::{Kind, Parsed, Parser, Token, next_token};
use crate::diag::Span;
use crate::ir::{Loc, OpId, OperandValues};
use crate::text::UnresolvedOperand;
use crate::text::lexer::name_length;
use memchr::{memchr, memchr_iter, memrchr};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::hash::Hasher;

/// Longer ops are not used as templates.
const MAX_LENGTH: usize = 512;

/// Templates by the hash of their text.
pub(super) type Models = FxHashMap<u64, Model>;

/// A template op.
pub(super) struct Model {
    op: OpId,
    /// Position of its text.
    span: Span,
    /// The token that follows it.
    next: Next,
}

/// The token after an op, as far as it determines whether the op continues.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// `loc`
    Location,
    /// An op name.
    Op,
    /// Any other word, which may be part of an op's syntax.
    Word,
    /// Any other token; those of one kind are equivalent.
    Other(Kind),
}

/// The text of an op on its line: from its name on, without the location.
pub(super) struct Wording {
    span: Span,
    /// Hash of the text without value names.
    hash: u64,
    /// The value names.
    operands: SmallVec<[UnresolvedOperand; 3]>,
}

impl Wording {
    /// The text of the op whose name starts at `start`; `None` if its line is too long.
    fn new(text: &[u8], start: usize) -> Option<Wording> {
        let line = &text[start..text.len().min(start + MAX_LENGTH)];
        let line = &line[..memchr(b'\n', line)?];
        // The location that follows is usually a word in parentheses.
        let end = memrchr(b' ', line)
            .filter(|&space| line[space..].starts_with(b" loc("))
            .unwrap_or(line.len());
        let line = &line[..end];
        let mut operands = SmallVec::new();
        let mut hasher = FxHasher::default();
        let mut name_end = 0;
        for at in memchr_iter(b'%', line) {
            hasher.write(&line[name_end..at]);
            name_end = at + 1 + name_length(&line[at + 1..]);
            let name = Span { start: (start + at) as u32, end: (start + name_end) as u32 };
            operands.push(UnresolvedOperand { name, index: index(&line[name_end..]) });
        }
        hasher.write(&line[name_end..]);
        let span = Span { start: start as u32, end: (start + end) as u32 };
        Some(Wording { span, hash: hasher.finish(), operands })
    }

    /// True if the op at `other` has the same text except for value names.
    fn is_like(&self, other: Span, text: &[u8]) -> bool {
        let mut other = &text[other.start as usize..other.end as usize];
        let mut from = self.span.start;
        for UnresolvedOperand { name, .. } in &self.operands {
            let between = &text[from as usize..=name.start as usize];
            let Some(rest) = other.strip_prefix(between) else { return false };
            other = &rest[name_length(rest)..];
            from = name.end;
        }
        *other == text[from as usize..self.span.end as usize]
    }
}

/// The result number at the start of `rest`, as in `%0#1`. Numbers that do not fit are errors when
/// first parsed.
fn index(rest: &[u8]) -> u32 {
    let digits =
        rest.strip_prefix(b"#").unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit());
    digits
        .fold(0, |number: u32, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')))
}

impl Parser<'_> {
    /// The text of the op at the current token.
    pub(super) fn wording(&self) -> Option<Wording> {
        Wording::new(self.text.as_bytes(), self.token.span.start as usize)
    }

    /// Creates an op from its template; `None` if there is none.
    pub(super) fn similar_op(&mut self, wording: &Wording) -> Option<Parsed<OpId>> {
        let &Model { op: model, span, next } = self.models.get(&wording.hash)?;
        let token = next_token(self.text.as_bytes(), wording.span.end as usize);
        if self.next(token) != next || !wording.is_like(span, self.text.as_bytes()) {
            return None;
        }
        let mut operands = OperandValues::new();
        for (i, &operand) in wording.operands.iter().enumerate() {
            let ty = self.module.ty(self.module.op(model).operand(i));
            let value = match self.defined(operand) {
                Some(value) if self.module.ty(value) == ty => Ok(value),
                _ => self.resolve_undefined(operand, &ty.clone()),
            };
            match value {
                Ok(value) => operands.push(value),
                Err(failed) => return Some(Err(failed)),
            }
        }
        let result_types = self.module.op(model).result_types().cloned().collect();
        let op = self.module.create_like(model, operands, result_types, Loc::Source(self.here()));
        self.last_end = wording.span.end;
        self.token = token;
        Some(Ok(op))
    }

    fn next(&self, token: Token) -> Next {
        match (token.kind, self.slice(token.span)) {
            (Kind::Word, "loc") => Next::Location,
            (Kind::Word, word) if word.contains('.') || word == "return" => Next::Op,
            (Kind::Word, _) => Next::Word,
            (kind, _) => Next::Other(kind),
        }
    }

    /// Records `op`, which was just parsed, as a template, if it is suitable.
    pub(super) fn note_model(&mut self, wording: &Wording, op: OpId) {
        let data = self.module.op(op);
        let is_plain =
            data.regions().is_empty() && data.successors().is_empty() && !self.reads_values;
        // The whole text was parsed, with the operands in this order, and no string contains a
        // value name.
        let is_whole = self.last_end == wording.span.end
            && data.operands().len() == wording.operands.len()
            && self.resolved[..] == wording.operands[..];
        // Names without a dialect prefix depend on the enclosing region.
        let written = self.slice(wording.span);
        let has_full_name = written.starts_with('"') || written.starts_with(data.name());
        let next = self.next(self.token);
        if is_plain
            && is_whole
            && has_full_name
            && next != Next::Word
            && let Entry::Vacant(entry) = self.models.entry(wording.hash)
        {
            entry.insert(Model { op, span: wording.span, next });
        }
    }
}
