//! Formatting: indentation and spaces. Comments, names and the order of everything stay, so it is
//! also possible while the text has errors.

use crate::file::{Edit, File};
use stablo::Span;
use stablo::syntax::TokenKind;

/// Spaces by which the inside of brackets is indented.
const INDENT: usize = 2;

impl File {
    /// The edits that indent lines by the brackets around them, and remove spaces at their ends and
    /// all but one of the empty lines between them.
    pub fn format(&self) -> Vec<Edit> {
        self.format_range(Span { start: 0, end: self.text().len() as u32 })
    }

    /// As [`File::format`], for the lines that a range touches.
    pub fn format_range(&self, range: Span) -> Vec<Edit> {
        let text = self.text();
        let mut edits = Vec::new();
        let mut lines = Lines::new(text);
        let mut empty = 0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']);
            let (start, end) = (at, at + content.len());
            at += line.len();
            let depth = lines.depth(start, end);
            if (end as u32) < range.start || start as u32 > range.end {
                empty = if content.trim().is_empty() { empty + 1 } else { 0 };
                continue;
            }
            if content.trim().is_empty() {
                empty += 1;
                let surplus = if empty > 1 { at } else { end };
                push(&mut edits, text, start, surplus, "");
                continue;
            }
            empty = 0;
            let indent = content.len() - content.trim_start().len();
            // The separator of sections stands at the start of its line.
            let depth = if content.trim_start().starts_with("// -----") { 0 } else { depth };
            push(&mut edits, text, start, start + indent, &" ".repeat(depth * INDENT));
            let kept = start + content.trim_end().len();
            push(&mut edits, text, kept, end, "");
        }
        edits
    }
}

/// Adds an edit unless it changes nothing.
fn push(edits: &mut Vec<Edit>, text: &str, start: usize, end: usize, new: &str) {
    if &text[start..end] != new {
        edits.push(Edit::replace(Span { start: start as u32, end: end as u32 }, new));
    }
}

/// The depth of brackets at the start of each line.
struct Lines<'t> {
    tokens: Box<dyn Iterator<Item = stablo::syntax::Token> + 't>,
    next: Option<stablo::syntax::Token>,
    /// Lines in which the open brackets were opened: those of one line indent once.
    open: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Lines<'t> {
        let mut tokens = Box::new(stablo::syntax::tokens(text));
        let next = tokens.next();
        Lines { tokens, next, open: Vec::new() }
    }

    /// The depth of the line from `start` to `end`. Lines must be given in order.
    fn depth(&mut self, start: usize, end: usize) -> usize {
        let mut depth = None;
        // The line of the bracket that the first ones of this line close: this line is at its
        // depth, and what is opened here is as if it were opened there.
        let mut closed: Option<usize> = None;
        while let Some(token) = self.next.filter(|token| (token.span.start as usize) < end) {
            match token.kind {
                TokenKind::Punct(b'{' | b'(' | b'[') | TokenKind::MetadataStart => {
                    depth.get_or_insert(self.depth_after(closed));
                    self.open.push(closed.unwrap_or(start));
                }
                TokenKind::Punct(b'}' | b')' | b']') | TokenKind::MetadataEnd => {
                    let opened = self.open.pop();
                    if let (None, Some(line)) = (depth, opened) {
                        closed = Some(line);
                    }
                }
                // Names of blocks stand at the depth of the op around them.
                TokenKind::Caret if depth.is_none() && !self.open.is_empty() => {
                    depth = Some(self.depth_after(None) - 1);
                }
                _ => {
                    depth.get_or_insert(self.depth_after(closed));
                }
            }
            self.next = self.tokens.next();
        }
        depth.unwrap_or_else(|| self.depth_after(closed))
    }

    /// The depth of a line of which the first brackets close one that was opened in the line
    /// `closed`.
    fn depth_after(&self, closed: Option<usize>) -> usize {
        let around =
            closed.map_or(self.open.len(), |line| self.open.partition_point(|&l| l < line));
        let mut lines = self.open[..around].to_vec();
        lines.dedup();
        lines.len()
    }
}
