//! Ops that are written like an earlier one but for the names of their operands, as most ops of a
//! large program are: they are made like that one, and what is between the names is not read again.

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

/// Longer ops are not compared with others.
const MAX_LENGTH: usize = 512;

/// Ops that others may be like, by the hashes of their wordings.
pub(super) type Models = FxHashMap<u64, Model>;

/// An op that others may be like.
pub(super) struct Model {
    op: OpId,
    /// Where it is written.
    span: Span,
    /// What did not belong to it any more.
    next: Next,
}

/// What the token after an op tells of whether the op goes on with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// `loc`
    Location,
    /// The name of an op.
    Op,
    /// Any other word, which the syntax of an op may have.
    Word,
    /// Any other token: of each kind all mean the same.
    Other(Kind),
}

/// How an op is written on its line: from its name on, without a location.
pub(super) struct Wording {
    span: Span,
    /// Of all but the names of values.
    hash: u64,
    /// What looks like a use of a value.
    operands: SmallVec<[UnresolvedOperand; 3]>,
}

impl Wording {
    /// That of the op whose name starts at `start`; none if its line is long.
    fn new(text: &[u8], start: usize) -> Option<Wording> {
        let line = &text[start..text.len().min(start + MAX_LENGTH)];
        let line = &line[..memchr(b'\n', line)?];
        // The location that follows mostly is a word in parentheses.
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

    /// Whether the op at `other` is written like this one.
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

/// The number after a name with which `rest` starts, as in `%0#1`. One that is not of 32 bits is an
/// error when it is read first.
fn index(rest: &[u8]) -> u32 {
    let digits =
        rest.strip_prefix(b"#").unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit());
    digits
        .fold(0, |number: u32, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')))
}

impl Parser<'_> {
    /// How the op at the current token is written.
    pub(super) fn wording(&self) -> Option<Wording> {
        Wording::new(self.text.as_bytes(), self.token.span.start as usize)
    }

    /// Makes the op of that wording like an earlier one; none if none was written like it.
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

    /// Takes note that `op` was just read and is written so, if others that are can be made like
    /// it.
    pub(super) fn note_model(&mut self, wording: &Wording, op: OpId) {
        let data = self.module.op(op);
        let is_plain =
            data.regions().is_empty() && data.successors().is_empty() && !self.reads_values;
        // All of the wording was read, with the operands in this order, and nothing in a string
        // looks like one.
        let is_whole = self.last_end == wording.span.end
            && data.operands().len() == wording.operands.len()
            && self.resolved[..] == wording.operands[..];
        // Names without their dialect mean different ops in different regions.
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
