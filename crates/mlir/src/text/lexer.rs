//! Tokens of the MLIR textual format, lexed on demand.

use crate::diag::Span;

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    /// Any other single punctuation character.
    Punct(u8),
}

/// A token: its kind and position.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Kind.
    pub kind: Kind,
    /// Position.
    pub span: Span,
}

/// The tokens of a text, without comments and the end of the text.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut pos = 0;
    std::iter::from_fn(move || {
        let token = next_token(text.as_bytes(), pos);
        pos = token.span.end as usize;
        (token.kind != Kind::Eof).then_some(token)
    })
}

/// The next token at or after byte `pos`.
pub(crate) fn next_token(text: &[u8], mut pos: usize) -> Token {
    let rest = loop {
        match text.get(pos..) {
            Some(rest @ &[byte, ..]) if CLASSES[usize::from(byte)] & class::SPACE == 0 => {
                break rest;
            }
            Some([_, ..]) => pos += 1,
            _ => {
                return Token {
                    kind: Kind::Eof,
                    span: Span { start: pos as u32, end: pos as u32 },
                };
            }
        }
    };
    let token = |kind, length: usize| Token {
        kind,
        span: Span { start: pos as u32, end: (pos + length) as u32 },
    };
    // The slow path is a separate function, so that this one can be inlined.
    let first = rest[0];
    let class = CLASSES[usize::from(first)];
    if class & class::PUNCTUATION != 0 {
        return token(Kind::Punct(first), 1);
    }
    if class & (class::LETTER | class::SIGIL) == 0 {
        return rare_token(text, pos);
    }
    let (kind, of) = match first {
        b'%' => (Kind::Percent, class::NAME),
        b'#' => (Kind::Hash, class::NAME),
        b'!' => (Kind::Exclaim, class::NAME),
        b'^' => (Kind::Caret, class::NAME),
        _ => return token(Kind::Word, 1 + length_of(class::WORD, &rest[1..])),
    };
    let next = rest.get(1).map_or(0, |&next| CLASSES[usize::from(next)]);
    if next & class::DIGIT != 0 {
        token(kind, 1 + length_of(class::DIGIT, &rest[1..]))
    } else if next & class::WORD != 0 {
        token(kind, 1 + length_of(of, &rest[1..]))
    } else {
        rare_token(text, pos)
    }
}

/// The position after the comment at `pos` and all that follow it with only white space between.
/// A loop, as texts have any number of comments.
fn after_comments(text: &[u8], mut pos: usize) -> usize {
    while text[pos..].starts_with(b"//") {
        pos = line_end(text, pos);
        let is_space = |byte: &u8| CLASSES[usize::from(*byte)] & class::SPACE != 0;
        pos += text[pos..].iter().take_while(|byte| is_space(byte)).count();
    }
    pos
}

/// Slow path of [`next_token`], after white space.
#[inline(never)]
fn rare_token(text: &[u8], pos: usize) -> Token {
    let rest = &text[pos..];
    let next = rest.get(1).copied().unwrap_or(0);
    let token = |kind, length: usize| Token {
        kind,
        span: Span { start: pos as u32, end: (pos + length) as u32 },
    };
    match rest[0] {
        b'/' if next == b'/' => next_token(text, after_comments(text, pos)),
        b'0'..=b'9' => {
            let (kind, length) = number(rest);
            token(kind, length)
        }
        b'"' => string(Kind::String, text, pos, pos),
        b'@' if next == b'"' => string(Kind::Symbol, text, pos, pos + 1),
        b'@' if next.is_ascii_alphabetic() || next == b'_' => {
            token(Kind::Symbol, 1 + length_of(class::WORD, &rest[1..]))
        }
        b'#' if rest.starts_with(b"#-}") => token(Kind::MetadataEnd, 3),
        b'-' if next == b'>' => token(Kind::Arrow, 2),
        b':' if next == b':' => token(Kind::ColonColon, 2),
        b'.' if rest.starts_with(b"...") => token(Kind::Ellipsis, 3),
        b'{' if rest.starts_with(b"{-#") => token(Kind::MetadataStart, 3),
        b'%' | b'^' if next != b'-' => token(Kind::Invalid, 1),
        b'%' => token(Kind::Percent, 1 + length_of(class::NAME, &rest[1..])),
        b'^' => token(Kind::Caret, 1 + length_of(class::NAME, &rest[1..])),
        b'#' if next == b'-' => token(Kind::Hash, 1 + length_of(class::NAME, &rest[1..])),
        b'!' if next == b'-' => token(Kind::Exclaim, 1 + length_of(class::NAME, &rest[1..])),
        c if c.is_ascii_punctuation() => token(Kind::Punct(c), 1),
        // Consume a whole character, so that spans stay on character boundaries.
        _ => token(Kind::Invalid, 1 + rest[1..].iter().take_while(|&&b| b & 0xc0 == 0x80).count()),
    }
}

/// Bits of [`CLASSES`].
mod class {
    /// May be in a word after its first letter.
    pub(crate) const WORD: u8 = 1;
    /// May be in the name of a value, block, symbol, type or attribute.
    pub(crate) const NAME: u8 = 2;
    /// A decimal digit.
    pub(crate) const DIGIT: u8 = 4;
    /// The first letter of a word.
    pub(crate) const LETTER: u8 = 8;
    /// Starts the name of a value, block, type or attribute.
    pub(crate) const SIGIL: u8 = 16;
    /// Always a separate token.
    pub(crate) const PUNCTUATION: u8 = 32;
    /// White space.
    pub(crate) const SPACE: u8 = 64;
}

/// The classes of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut i = 0;
    while i < classes.len() {
        classes[i] = match i as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => class::WORD | class::NAME | class::LETTER,
            b'0'..=b'9' => class::WORD | class::NAME | class::DIGIT,
            b'.' | b'$' => class::WORD | class::NAME,
            b'-' => class::NAME,
            b'%' | b'#' | b'!' | b'^' => class::SIGIL,
            b',' | b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'}' | b'=' | b'?' | b'*' | b'+' => {
                class::PUNCTUATION
            }
            b' ' | b'\t' | b'\n' | b'\r' => class::SPACE,
            _ => 0,
        };
        i += 1;
    }
    classes
};

/// Number of leading word characters.
pub(super) fn word_length(text: &[u8]) -> usize {
    length_of(class::WORD, text)
}

/// Length of the value name at the start of `text`, which follows the `%`.
pub(super) fn name_length(text: &[u8]) -> usize {
    let is_number = text.first().is_some_and(u8::is_ascii_digit);
    length_of(if is_number { class::DIGIT } else { class::NAME }, text)
}

/// Number of leading bytes in a class.
fn length_of(class: u8, text: &[u8]) -> usize {
    text.iter().position(|&byte| CLASSES[usize::from(byte)] & class == 0).unwrap_or(text.len())
}

fn line_end(text: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |n| from + n)
}

/// A token from `start` to the end of the string that starts at `quote`; invalid if the string is
/// not closed on its line.
fn string(kind: Kind, text: &[u8], start: usize, quote: usize) -> Token {
    let (kind, end) = match string_end(text, quote) {
        Some(end) => (kind, end),
        None => (Kind::Invalid, line_end(text, start)),
    };
    Token { kind, span: Span { start: start as u32, end: end as u32 } }
}

/// End of the string that starts with the quote at `start`; `None` if it is not closed on its line.
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

/// The kind (integer or float) and length of the number at the start of `text`.
fn number(text: &[u8]) -> (Kind, usize) {
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    let digits = |from: usize| length_of(class::DIGIT, &text[from..]);
    if text.starts_with(b"0x") && at(2).is_ascii_hexdigit() {
        return (Kind::Integer, 2 + text[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count());
    }
    let mut end = digits(0);
    if at(end) != b'.' || at(end + 1) == b'.' {
        return (Kind::Integer, end);
    }
    end += 1 + digits(end + 1);
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        if at(end + 1 + sign).is_ascii_digit() {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    (Kind::Float, end)
}
