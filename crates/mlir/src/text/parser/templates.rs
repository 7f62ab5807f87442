//! A cache of ops by their text. Most ops of a large program are written like an earlier one except
//! for the names of their operands. They get its [`Template`](crate::ir::Template) and types, and
//! only the names are parsed.

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

/// Longer ops are parsed without the cache.
const MAX_LENGTH: usize = 512;

/// Ops that others may be like, by the hashes of their texts.
pub(super) type TextTemplates = FxHashMap<u64, TextTemplate>;

/// An op that others may be like.
pub(super) struct TextTemplate {
    op: OpId,
    span: Span,
    /// The token after the op, which did not belong to it.
    next: NextToken,
}

/// The token after an op, as far as it decides whether the op goes on with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextToken {
    /// `loc`
    Location,
    /// An op name.
    Op,
    /// Any other word, which may be part of an op's syntax.
    Word,
    /// Any other token; those of one kind are equivalent.
    Other(Kind),
}

/// The text of an op that stands on one line: from its name on, without a location.
pub(super) struct OpText {
    span: Span,
    /// Hash of the text without value names.
    hash: u64,
    /// Everything that looks like a use of a value.
    operands: SmallVec<[UnresolvedOperand; 3]>,
}

impl OpText {
    /// The text of the op whose name starts at `start`; `None` if its line is long.
    fn new(text: &[u8], start: usize) -> Option<OpText> {
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
        Some(OpText { span, hash: hasher.finish(), operands })
    }

    /// True if the op at `other` is written like this one.
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
    pub(super) fn op_text(&self) -> Option<OpText> {
        OpText::new(self.text.as_bytes(), self.token.span.start as usize)
    }

    /// Makes an op from the template of an earlier one; `None` if none was written like it.
    pub(super) fn op_from_template(&mut self, text: &OpText) -> Option<Parsed<OpId>> {
        let &TextTemplate { op: like, span, next } = self.templates.get(&text.hash)?;
        let token = next_token(self.text.as_bytes(), text.span.end as usize);
        if self.next(token) != next || !text.is_like(span, self.text.as_bytes()) {
            return None;
        }
        let mut operands = OperandValues::new();
        for (i, &operand) in text.operands.iter().enumerate() {
            let ty = self.module.ty(self.module.op(like).operand(i));
            let value = match self.defined(operand) {
                Some(value) if self.module.ty(value) == ty => Ok(value),
                _ => self.resolve_undefined(operand, &ty.clone()),
            };
            match value {
                Ok(value) => operands.push(value),
                Err(failed) => return Some(Err(failed)),
            }
        }
        let like = self.module.op(like);
        let result_types = like.result_types().cloned().collect();
        let (template, loc) = (like.template().clone(), Loc::Source(self.here()));
        let op = self.module.create_from(template, operands, result_types, loc);
        self.last_end = text.span.end;
        self.token = token;
        Some(Ok(op))
    }

    fn next(&self, token: Token) -> NextToken {
        match (token.kind, self.slice(token.span)) {
            (Kind::Word, "loc") => NextToken::Location,
            (Kind::Word, word) if word.contains('.') || word == "return" => NextToken::Op,
            (Kind::Word, _) => NextToken::Word,
            (kind, _) => NextToken::Other(kind),
        }
    }

    /// Records an op that was just parsed, if ops with the same text can be made from it.
    pub(super) fn record_template(&mut self, text: &OpText, op: OpId) {
        let data = self.module.op(op);
        let is_plain =
            data.regions().is_empty() && data.successors().is_empty() && !self.reads_values;
        // All of the text was read, with the operands in this order, and nothing in a string
        // looks like one.
        let is_whole = self.last_end == text.span.end
            && data.operands().len() == text.operands.len()
            && self.resolved[..] == text.operands[..];
        // Names without their dialect mean different ops in different regions.
        let written = self.slice(text.span);
        let has_full_name = written.starts_with('"') || written.starts_with(data.name());
        let next = self.next(self.token);
        if is_plain
            && is_whole
            && has_full_name
            && next != NextToken::Word
            && let Entry::Vacant(entry) = self.templates.entry(text.hash)
        {
            entry.insert(TextTemplate { op, span: text.span, next });
        }
    }
}
