//! Classes of tokens, for colours.

use crate::analysis::Analysis;
use crate::file::{File, moved};
use crate::names::is_result_number;
use stablo::Span;
use stablo::ir::{Trait, ValueDef};
use stablo::syntax::{Token, TokenKind};

/// A token with its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The token, or a comment in one line.
    pub span: Span,
    /// The class.
    pub kind: HighlightKind,
    /// True if it defines a name.
    pub is_definition: bool,
    /// True for constants and what names them.
    pub is_constant: bool,
    /// True for names of deprecated ops.
    pub is_deprecated: bool,
}

/// Classes of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HighlightKind {
    /// A comment.
    Comment,
    /// The name of an op.
    Op,
    /// A keyword of the syntax.
    Keyword,
    /// A type.
    Type,
    /// A value that an op computes.
    Variable,
    /// An argument of a block.
    Parameter,
    /// A symbol.
    Function,
    /// A block.
    Label,
    /// An alias, or an attribute of a dialect.
    Macro,
    /// The name of an attribute.
    Property,
    /// A case of an enumeration, or `true` and `false`.
    EnumMember,
    /// A number.
    Number,
    /// A string.
    String,
}

impl HighlightKind {
    /// The number of the class, in the order in which legends list them.
    pub fn number(self) -> u32 {
        self as u32
    }
}

impl File {
    /// The classes of the tokens in a range, in order.
    pub fn highlights(&self, range: Span) -> Vec<Highlight> {
        let mut found = Vec::new();
        for section in self.sections() {
            if section.end < range.start || section.start > range.end {
                continue;
            }
            let analysis = self.analysis(section);
            let from = range.start.saturating_sub(section.start);
            let to = range.end.saturating_sub(section.start);
            let all = analysis.highlights(Span { start: from, end: to }).into_iter();
            found.extend(all.map(|h| Highlight { span: moved(h.span, section.start), ..h }));
        }
        found
    }
}

impl Analysis {
    fn highlights(&self, range: Span) -> Vec<Highlight> {
        let tokens = self.tokens();
        let first = self.token_index(range.start);
        let mut found = Vec::new();
        let mut end = match first {
            0 => 0,
            first => tokens[first - 1].span.end,
        };
        // Names of ops, in order.
        let ops = &self.map.ops;
        let mut names = ops.partition_point(|op| op.span.start < range.start.saturating_sub(1));
        names = names.saturating_sub(1);
        let mut inherent: Option<usize> = None;
        for (index, token) in tokens.iter().enumerate().skip(first) {
            if token.span.start >= range.end {
                break;
            }
            self.comments(Span { start: end, end: token.span.start }, &mut found);
            end = token.span.end;
            while ops.get(names).is_some_and(|op| op.name.start < token.span.start) {
                names += 1;
            }
            let op = ops.get(names).filter(|op| op.name == token.span && !op.name.is_empty());
            if op.is_some() {
                inherent = Some(names);
            }
            let highlight = match op {
                Some(_) => Some(self.op_name(names, token)),
                None => self.classify(index, token, inherent),
            };
            found.extend(highlight);
        }
        let last = tokens.partition_point(|token| token.span.start < range.end);
        if last == tokens.len() {
            let rest = Span { start: end, end: self.text().len() as u32 };
            self.comments(rest, &mut found);
        }
        found
    }

    /// The comments between two tokens.
    fn comments(&self, gap: Span, found: &mut Vec<Highlight>) {
        if gap.end <= gap.start + 1 {
            return;
        }
        let mut at = gap.start;
        for line in self.slice(gap).split_inclusive('\n') {
            if let Some(start) = line.find("//") {
                let end = at + line.trim_end().len() as u32;
                found.push(plain(Span { start: at + start as u32, end }, HighlightKind::Comment));
            }
            at += line.len() as u32;
        }
    }

    fn op_name(&self, index: usize, token: &Token) -> Highlight {
        let extent = &self.map.ops[index];
        let def = self.op(extent).and_then(|op| op.def());
        let def = def.or_else(|| self.find_op(self.slice(extent.name)));
        Highlight {
            is_constant: def.is_some_and(|def| def.has_trait(&Trait::ConstantLike)),
            ..plain(token.span, HighlightKind::Op)
        }
    }

    fn classify(&self, index: usize, token: &Token, op: Option<usize>) -> Option<Highlight> {
        use HighlightKind as Kind;
        let text = self.slice(token.span);
        let tokens = self.tokens();
        let next = tokens.get(index + 1);
        let touches = |kind| next.is_some_and(|n| n.kind == kind && n.span.start == token.span.end);
        let kind = match token.kind {
            TokenKind::Percent => return Some(self.value(token, text)),
            TokenKind::Hash if index > 0 && is_result_number(&tokens[index - 1], token) => {
                Kind::Number
            }
            TokenKind::Caret => Kind::Label,
            TokenKind::Symbol => {
                let is_definition = self.symbol_index().at(token.span).is_some();
                return Some(Highlight { is_definition, ..plain(token.span, Kind::Function) });
            }
            TokenKind::Hash => {
                let is_definition = self.starts_line(index)
                    && next.is_some_and(|n| n.kind == TokenKind::Punct(b'='));
                return Some(Highlight { is_definition, ..plain(token.span, Kind::Macro) });
            }
            TokenKind::Exclaim => Kind::Type,
            TokenKind::Integer | TokenKind::Float => Kind::Number,
            TokenKind::String => Kind::String,
            TokenKind::Word if matches!(text, "true" | "false") => Kind::EnumMember,
            // The op that a reduction applies.
            TokenKind::Word if index > 0 && self.slice(tokens[index - 1].span) == "applies" => {
                Kind::Op
            }
            TokenKind::Word
                if is_type(text) || touches(TokenKind::Punct(b'<')) && text != "dense" =>
            {
                Kind::Type
            }
            TokenKind::Word if is_dimensions(text) => Kind::Type,
            TokenKind::Word if next.is_some_and(|n| n.kind == TokenKind::Punct(b'=')) => {
                Kind::Property
            }
            TokenKind::Word
                if text.len() > 1
                    && text
                        .bytes()
                        .all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit()) =>
            {
                Kind::EnumMember
            }
            TokenKind::Word => {
                let def = op.and_then(|op| self.find_op(self.slice(self.map.ops[op].name)));
                match def.is_some_and(|def| def.attribute_index(text).is_some()) {
                    true => Kind::Property,
                    false => Kind::Keyword,
                }
            }
            TokenKind::Eof
            | TokenKind::Invalid
            | TokenKind::Arrow
            | TokenKind::ColonColon
            | TokenKind::Ellipsis
            | TokenKind::MetadataStart
            | TokenKind::MetadataEnd
            | TokenKind::Punct(_) => return None,
        };
        Some(plain(token.span, kind))
    }

    fn value(&self, token: &Token, text: &str) -> Highlight {
        let own = self.definition_at(token.span);
        let definition = own.or_else(|| self.resolve(text, self.scope_at(token.span.start)?));
        let value = definition.and_then(|definition| self.values(definition).first().copied());
        let (kind, is_constant) = match value.map(|value| self.module.definition(value)) {
            Some(ValueDef::Argument { .. }) => (HighlightKind::Parameter, false),
            Some(ValueDef::Result { op, .. }) => {
                let op = self.module.op(op);
                (HighlightKind::Variable, op.has_trait(&Trait::ConstantLike))
            }
            None => (HighlightKind::Variable, false),
        };
        Highlight { is_definition: own.is_some(), is_constant, ..plain(token.span, kind) }
    }
}

fn plain(span: Span, kind: HighlightKind) -> Highlight {
    Highlight { span, kind, is_definition: false, is_constant: false, is_deprecated: false }
}

/// True for the names of builtin types.
pub(crate) fn is_type(text: &str) -> bool {
    if matches!(
        text,
        "tensor" | "memref" | "vector" | "tuple" | "complex" | "index" | "none" | "bf16" | "tf32"
    ) {
        return true;
    }
    let rest = text.strip_prefix("ui").or_else(|| text.strip_prefix("si"));
    let rest = rest.or_else(|| text.strip_prefix(['i', 'f']));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// True for the part of dimensions after their first number: `x3xf32`.
fn is_dimensions(text: &str) -> bool {
    let mut parts = text.split('x');
    if parts.next() != Some("") {
        return false;
    }
    parts.all(|part| is_type(part) || part.is_empty() || part.bytes().all(|b| b.is_ascii_digit()))
}
