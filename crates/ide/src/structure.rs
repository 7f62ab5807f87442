//! The structure of a text: ranges to fold, and ranges around a place.

use crate::file::{File, moved};
use stablo::Span;
use stablo::syntax::TokenKind;

/// A range of whole lines that can be hidden after its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// From a place in the first line to one in the last.
    pub span: Span,
    /// Kind.
    pub kind: FoldKind,
}

/// Kind of a range that can be hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// A region or a list in brackets.
    Brackets,
    /// Comments.
    Comment,
    /// Definitions of aliases.
    Aliases,
    /// A section of a file of several programs.
    Section,
}

impl File {
    /// The ranges that can be hidden, each of several lines.
    pub fn folds(&self) -> Vec<Fold> {
        let text = self.text();
        let mut folds = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        let is_long = |start: u32, end: u32| {
            text.get(start as usize..end as usize).is_some_and(|text| text.contains('\n'))
        };
        for token in stablo::syntax::tokens(text) {
            match token.kind {
                TokenKind::Punct(b'{' | b'(' | b'[') | TokenKind::MetadataStart => {
                    open.push(token.span.start);
                }
                TokenKind::Punct(b'}' | b')' | b']') | TokenKind::MetadataEnd => {
                    let Some(start) = open.pop() else { continue };
                    if is_long(start, token.span.end) {
                        // The closing bracket stays visible.
                        let end = text[..token.span.start as usize].trim_end().len() as u32;
                        let span = Span { start, end };
                        if is_long(start, end) {
                            folds.push(Fold { span, kind: FoldKind::Brackets });
                        }
                    }
                }
                _ => {}
            }
        }
        if self.sections().len() > 1 {
            for section in self.sections() {
                let inner = &text[section.start as usize..section.end as usize];
                let end = section.start + inner.trim_end().len() as u32;
                let span = Span { start: section.start, end };
                if is_long(span.start, span.end) {
                    folds.push(Fold { span, kind: FoldKind::Section });
                }
            }
        }
        folds.extend(runs(text, |line| line.starts_with("//"), FoldKind::Comment));
        folds.extend(runs(text, |line| line.starts_with(['#', '!']), FoldKind::Aliases));
        folds.sort_by_key(|fold| fold.span.start);
        folds
    }

    /// The ranges around byte `at`, from the innermost: token, brackets, op, region, section.
    pub fn selections(&self, at: u32) -> Vec<Span> {
        let (analysis, start, here) = self.analysis_at(at);
        let mut spans: Vec<Span> = Vec::new();
        spans.extend(analysis.token_at(here).map(|(_, token)| token.span));
        let mut op = analysis.op_index_at(here);
        let bounds = op.map(|op| analysis.map.ops[op].span);
        let whole = Span { start: 0, end: analysis.text().len() as u32 };
        spans.extend(brackets(&analysis, here, bounds.unwrap_or(whole)));
        while let Some(index) = op {
            spans.push(analysis.map.ops[index].span);
            let mut scope = Some(analysis.map.ops[index].scope);
            while let Some(found) = scope {
                let data = &analysis.map.scopes[found as usize];
                if data.parent.is_some() {
                    spans.push(data.span);
                }
                scope = data.parent;
            }
            op = analysis.parent(index);
        }
        spans.push(whole);
        let mut spans: Vec<Span> = spans.into_iter().map(|span| moved(span, start)).collect();
        spans.push(Span { start: 0, end: self.text().len() as u32 });
        // Each contains the one before.
        spans.sort_by_key(|span| span.end - span.start);
        let mut nested: Vec<Span> = Vec::new();
        for span in spans {
            match nested.last() {
                Some(last) if *last == span => {}
                Some(last) if span.start > last.start || span.end < last.end => {}
                _ => nested.push(span),
            }
        }
        nested
    }
}

/// The insides of brackets around a place and the brackets, within bounds.
fn brackets(analysis: &crate::analysis::Analysis, at: u32, bounds: Span) -> Vec<Span> {
    let first = analysis.token_index(bounds.start);
    let mut open: Vec<Span> = Vec::new();
    let mut found = Vec::new();
    for token in &analysis.tokens()[first..] {
        if token.span.start >= bounds.end {
            break;
        }
        match token.kind {
            TokenKind::Punct(b'{' | b'(' | b'[' | b'<') => open.push(token.span),
            TokenKind::Punct(b'}' | b')' | b']' | b'>') => {
                let Some(start) = open.pop() else { continue };
                if start.start <= at && at <= token.span.end {
                    if start.end <= at && at <= token.span.start {
                        found.push(Span { start: start.end, end: token.span.start });
                    }
                    found.push(Span { start: start.start, end: token.span.end });
                }
            }
            _ => {}
        }
    }
    found
}

/// Runs of at least two lines that satisfy a predicate.
fn runs(text: &str, is_in: impl Fn(&str) -> bool, kind: FoldKind) -> Vec<Fold> {
    let mut folds = Vec::new();
    let mut run: Option<(Span, usize)> = None;
    let mut at = 0;
    let mut end_run = |run: &mut Option<(Span, usize)>| {
        if let Some((span, lines)) = run.take()
            && lines > 1
        {
            folds.push(Fold { span, kind });
        }
    };
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let end = (at + line.trim_end().len()) as u32;
        if is_in(content) && !content.starts_with("// -----") {
            let (span, lines) = run.get_or_insert((Span { start: at as u32, end }, 0));
            span.end = end;
            *lines += 1;
        } else {
            end_run(&mut run);
        }
        at += line.len();
    }
    end_run(&mut run);
    folds
}
