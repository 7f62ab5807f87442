//! Positions of the protocol: lines, and columns in code units of the negotiated encoding.

use ide::{Edit, Span};
use ls_types::{Position, Range};

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// Code units of UTF-16, the default of the protocol.
    Utf16,
}

/// The starts of the lines of a text.
pub(crate) struct LineIndex {
    starts: Vec<u32>,
    encoding: Encoding,
}

impl LineIndex {
    /// The index of a text.
    pub(crate) fn new(text: &str, encoding: Encoding) -> LineIndex {
        let starts = std::iter::once(0).chain(line_starts(text.as_bytes())).collect();
        LineIndex { starts, encoding }
    }

    /// Follows an edit, after which the text is `text`.
    pub(crate) fn edit(&mut self, text: &str, edit: &Edit) {
        let by = (edit.text.len() as u32).wrapping_sub(edit.span.end - edit.span.start);
        // Lines from the one before the edit to the one after it are read again: carriage returns
        // and line feeds may have met or parted.
        let first = self.starts.partition_point(|&start| start < edit.span.start).saturating_sub(1);
        let after = self.starts.partition_point(|&start| start <= edit.span.end + 1);
        for start in &mut self.starts[after..] {
            *start = start.wrapping_add(by);
        }
        let from = self.starts.get(first).copied().unwrap_or_default();
        let to = self.starts.get(after).map_or(text.len(), |&start| start as usize);
        let part = &text.as_bytes()[from as usize..to];
        let mut starts: Vec<u32> =
            std::iter::once(from).chain(line_starts(part).map(|at| at + from)).collect();
        // The end of the part is the start of the next line, which stands already.
        if after < self.starts.len() {
            starts.pop_if(|last| *last as usize == to);
        }
        self.starts.splice(first..after, starts);
    }

    /// The range of a line without its end.
    fn line<'t>(&self, text: &'t str, line: usize) -> (usize, &'t str) {
        let start = self.starts.get(line).map_or(text.len(), |&start| start as usize);
        let end = self.starts.get(line + 1).map_or(text.len(), |&end| end as usize);
        (start, text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']))
    }

    /// The byte at a position. A column past the end of its line is its end, a line past the end of
    /// the text is that.
    pub(crate) fn offset(&self, text: &str, position: Position) -> u32 {
        let (start, line) = self.line(text, position.line as usize);
        let column = position.character as usize;
        let within = match self.encoding {
            Encoding::Utf8 => floor(line, column.min(line.len())),
            Encoding::Utf16 if line.is_ascii() => column.min(line.len()),
            Encoding::Utf16 => {
                let mut units = 0;
                let next = |(_, c): &(usize, char)| {
                    units += c.len_utf16();
                    units > column
                };
                line.char_indices().find(next).map_or(line.len(), |(at, _)| at)
            }
        };
        (start + within) as u32
    }

    /// The position of a byte.
    pub(crate) fn position(&self, text: &str, offset: u32) -> Position {
        let offset = (offset as usize).min(text.len());
        let line = self.starts.partition_point(|&start| start as usize <= offset) - 1;
        let start = self.starts[line] as usize;
        let before = &text[start..floor(text, offset).max(start)];
        let character = match self.encoding {
            Encoding::Utf16 if !before.is_ascii() => before.encode_utf16().count(),
            Encoding::Utf8 | Encoding::Utf16 => before.len(),
        };
        Position { line: line as u32, character: character as u32 }
    }

    /// The range of a span.
    pub(crate) fn range(&self, text: &str, span: Span) -> Range {
        Range { start: self.position(text, span.start), end: self.position(text, span.end) }
    }

    /// The span of a range.
    pub(crate) fn span(&self, text: &str, range: Range) -> Span {
        let start = self.offset(text, range.start);
        Span { start, end: self.offset(text, range.end).max(start) }
    }

    /// The length of a text in units of the encoding.
    pub(crate) fn length(&self, text: &str) -> u32 {
        let length = match self.encoding {
            Encoding::Utf16 if !text.is_ascii() => text.encode_utf16().count(),
            Encoding::Utf8 | Encoding::Utf16 => text.len(),
        };
        length as u32
    }
}

/// The starts of lines but for the first. A carriage return ends a line unless a line feed follows.
fn line_starts(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let is_end = |&at: &usize| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
    memchr::memchr2_iter(b'\n', b'\r', bytes).filter(is_end).map(|at| at as u32 + 1)
}

/// The boundary of characters at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
