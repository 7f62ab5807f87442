//! Tokens of the MLIR textual format, lexed on demand.

use crate::diag::Span;

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// End of the text.
    Eof,
    /// Characters that start no token, or an unclosed string.
    Invalid,
    /// `word`, with dots and dollars after the first letter.
    Word,
    /// `@symbol` or `@"symbol"`
    Symbol,
    /// `#name`
    Hash,
    /// `!name`
    Exclaim,
    /// `%name`
    Percent,
    /// `^name`
    Caret,
    /// `12` or `0x1F`
    Integer,
    /// `1.5e3`
    Float,
    /// `"text"`
    String,
    /// `->`
    Arrow,
    /// `::`
    ColonColon,
    /// `...`
    Ellipsis,
    /// `{-#`
    MetadataStart,
    /// `#-}`
    MetadataEnd,
    /// Any other single character of punctuation.
    Punct(u8),
}

/// A token: its kind and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// The token that starts at or after byte `pos`.
pub(crate) fn next_token(text: &[u8], mut pos: usize) -> Token {
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    // White space and comments.
    loop {
        match at(pos) {
            b' ' | b'\t' | b'\n' | b'\r' => pos += 1,
            b'/' if at(pos + 1) == b'/' => {
                pos = memchr::memchr(b'\n', &text[pos..]).map_or(text.len(), |n| pos + n);
            }
            _ => break,
        }
    }
    let start = pos;
    let token = |kind, end: usize| Token { kind, span: Span { start: start as u32, end: end as u32 } };
    if pos >= text.len() {
        return token(Kind::Eof, pos);
    }
    match text[pos] {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => token(Kind::Word, word_end(text, pos + 1, false)),
        b'0'..=b'9' => number(text, start),
        b'"' => match string_end(text, pos) {
            Some(end) => token(Kind::String, end),
            None => token(Kind::Invalid, line_end(text, pos)),
        },
        b'@' if at(pos + 1) == b'"' => match string_end(text, pos + 1) {
            Some(end) => token(Kind::Symbol, end),
            None => token(Kind::Invalid, line_end(text, pos)),
        },
        b'@' if at(pos + 1).is_ascii_alphabetic() || at(pos + 1) == b'_' => {
            token(Kind::Symbol, word_end(text, pos + 2, true))
        }
        b'#' if at(pos + 1) == b'-' && at(pos + 2) == b'}' => token(Kind::MetadataEnd, pos + 3),
        c @ (b'#' | b'!' | b'%' | b'^') => {
            let kind = match c {
                b'#' => Kind::Hash,
                b'!' => Kind::Exclaim,
                b'%' => Kind::Percent,
                _ => Kind::Caret,
            };
            let end = if at(pos + 1).is_ascii_digit() {
                end_of(class::DIGIT, text, pos + 1)
            } else {
                word_end(text, pos + 1, true)
            };
            if end > pos + 1 {
                token(kind, end)
            } else if c == b'!' || c == b'#' {
                token(Kind::Punct(c), pos + 1)
            } else {
                token(Kind::Invalid, pos + 1)
            }
        }
        b'-' if at(pos + 1) == b'>' => token(Kind::Arrow, pos + 2),
        b':' if at(pos + 1) == b':' => token(Kind::ColonColon, pos + 2),
        b'.' if at(pos + 1) == b'.' && at(pos + 2) == b'.' => token(Kind::Ellipsis, pos + 3),
        b'{' if at(pos + 1) == b'-' && at(pos + 2) == b'#' => token(Kind::MetadataStart, pos + 3),
        c if c.is_ascii_punctuation() => token(Kind::Punct(c), pos + 1),
        _ => {
            // One whole character, so that spans stay on character boundaries.
            let end = (pos + 1..text.len()).find(|&i| text[i] & 0xc0 != 0x80).unwrap_or(text.len());
            token(Kind::Invalid, end)
        }
    }
}

/// Bits of [`CLASSES`].
mod class {
    /// May stand in a word after its first letter.
    pub const WORD: u8 = 1;
    /// May stand in the name of a value, block, symbol, type or attribute.
    pub const NAME: u8 = 2;
    /// A decimal digit.
    pub const DIGIT: u8 = 4;
}

/// What each byte may be part of.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut i = 0;
    while i < classes.len() {
        let byte = i as u8;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') {
            classes[i] |= class::WORD | class::NAME;
        }
        if byte == b'-' {
            classes[i] |= class::NAME;
        }
        if byte.is_ascii_digit() {
            classes[i] |= class::DIGIT;
        }
        i += 1;
    }
    classes
};

/// Where the bytes of a class end that stand at `from` and after.
fn end_of(class: u8, text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or(&[]);
    from + rest.iter().position(|&b| CLASSES[usize::from(b)] & class == 0).unwrap_or(rest.len())
}

fn word_end(text: &[u8], from: usize, dash: bool) -> usize {
    end_of(if dash { class::NAME } else { class::WORD }, text, from)
}

fn line_end(text: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |n| from + n)
}

/// End of the string that starts with the quote at `start`; none if it is not closed on its line.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut pos = start + 1;
    loop {
        pos += memchr::memchr3(b'"', b'\\', b'\n', text.get(pos..)?)?;
        match text[pos] {
            b'"' => return Some(pos + 1),
            b'\\' => pos += 2,
            _ => return None,
        }
    }
}

fn number(text: &[u8], start: usize) -> Token {
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    let digits = |from: usize| end_of(class::DIGIT, text, from);
    let token = |kind, end: usize| Token { kind, span: Span { start: start as u32, end: end as u32 } };
    if at(start) == b'0' && at(start + 1) == b'x' && at(start + 2).is_ascii_hexdigit() {
        let end = start + 2 + text[start + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        return token(Kind::Integer, end);
    }
    let mut end = digits(start);
    if at(end) != b'.' || (at(end + 1) == b'.') {
        return token(Kind::Integer, end);
    }
    end = digits(end + 1);
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        if at(end + 1 + sign).is_ascii_digit() {
            end = digits(end + 1 + sign);
        }
    }
    token(Kind::Float, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        let mut out = Vec::new();
        let mut pos = 0;
        loop {
            let t = next_token(text.as_bytes(), pos);
            if t.kind == Kind::Eof {
                return out;
            }
            pos = t.span.end as usize;
            out.push((t.kind, &text[t.span.start as usize..pos]));
        }
    }

    #[test]
    fn tokens_of_an_op() {
        let expected = [
            (Kind::Percent, "%0"),
            (Kind::Punct(b'='), "="),
            (Kind::Word, "stablehlo.add"),
            (Kind::Percent, "%arg-0"),
            (Kind::Punct(b','), ","),
            (Kind::Percent, "%1"),
            (Kind::Punct(b'#'), "#"),
            (Kind::Integer, "0"),
            (Kind::Arrow, "->"),
            (Kind::Float, "1.5e-3"),
            (Kind::String, r#""a\"b""#),
            (Kind::Integer, "0xfF"),
        ];
        assert_eq!(kinds("%0 = stablehlo.add %arg-0, %1 # 0 -> 1.5e-3 \"a\\\"b\" 0xfF // end")[..6], expected[..6]);
        assert_eq!(kinds("-> 1.5e-3 \"a\\\"b\" 0xfF // end")[..], expected[8..]);
    }

    #[test]
    fn an_unclosed_string_is_invalid_up_to_its_line() {
        assert_eq!(kinds("\"abc\nx"), [(Kind::Invalid, "\"abc"), (Kind::Word, "x")]);
    }
}
