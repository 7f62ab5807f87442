//! Strings, symbol names and attribute names.

use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute, Name};

impl<'a> Parser<'a> {
    /// Reads a string literal: its bytes, unescaped.
    ///
    /// # Errors
    /// If something else comes next, or an escape is invalid.
    pub fn string_bytes(&mut self) -> Parsed<Vec<u8>> {
        if self.token.kind != Kind::String {
            return self.unexpected("a string");
        }
        let text = self.token_text();
        let bytes = self.unescape(&text[1..text.len() - 1])?;
        self.advance();
        Ok(bytes)
    }

    /// Reads a string literal that must be UTF-8.
    ///
    /// # Errors
    /// As [`Parser::string_bytes`], and for other encodings.
    pub fn string(&mut self) -> Parsed<String> {
        let span = self.here();
        let bytes = self.string_bytes()?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => self.error_at(span, "this string must be UTF-8, but its escapes are not"),
        }
    }

    /// Reads a string literal that must be UTF-8, interned.
    ///
    /// # Errors
    /// As [`Parser::string`].
    pub(super) fn string_name(&mut self) -> Parsed<Name> {
        let text = self.token_text();
        if self.token.kind != Kind::String || memchr::memchr(b'\\', text.as_bytes()).is_some() {
            let text = self.string()?;
            return Ok(self.name(&text));
        }
        self.advance();
        Ok(self.name(&text[1..text.len() - 1]))
    }

    fn unescape(&mut self, raw: &str) -> Parsed<Vec<u8>> {
        let raw = raw.as_bytes();
        if !raw.contains(&b'\\') {
            return Ok(raw.to_vec());
        }
        let hex = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
        let mut out = Vec::with_capacity(raw.len());
        let mut i = 0;
        while i < raw.len() {
            let next = raw.get(i + 1).copied().unwrap_or(0);
            let (byte, length) = match (raw[i], next) {
                (b'\\', b'"' | b'\\') => (next, 2),
                (b'\\', b'n') => (b'\n', 2),
                (b'\\', b't') => (b'\t', 2),
                (b'\\', _) => match (hex(next), raw.get(i + 2).and_then(|&b| hex(b))) {
                    (Some(high), Some(low)) => (high << 4 | low, 3),
                    _ => return self.error(
                        r#"unknown escape in a string; known are \" \\ \n \t and two hex digits"#,
                    ),
                },
                (byte, _) => (byte, 1),
            };
            out.push(byte);
            i += length;
        }
        Ok(out)
    }

    /// Reads `@name`, without the `@`, if one comes next.
    ///
    /// # Errors
    /// If the name is a quoted string with invalid escapes.
    pub fn optional_symbol_name(&mut self) -> Parsed<Option<Name>> {
        if self.token.kind != Kind::Symbol {
            return Ok(None);
        }
        let text = &self.token_text()[1..];
        let name = match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
            None => self.name(text),
            Some(raw) => {
                let bytes = self.unescape(raw)?;
                match String::from_utf8(bytes) {
                    Ok(text) => self.name(&text),
                    Err(_) => return self.error("a symbol name must be UTF-8"),
                }
            }
        };
        self.advance();
        Ok(Some(name))
    }

    /// Reads `@name`, without the `@`.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn symbol_name(&mut self) -> Parsed<Name> {
        match self.optional_symbol_name()? {
            Some(name) => Ok(name),
            None => self.unexpected("a symbol name (@name)"),
        }
    }

    /// Reads `@root::@nested` if it comes next.
    pub(super) fn optional_symbol_ref(&mut self) -> Parsed<Option<Attribute>> {
        let Some(root) = self.optional_symbol_name()? else { return Ok(None) };
        let mut nested = Vec::new();
        while self.token.kind == Kind::ColonColon {
            self.advance();
            nested.push(self.symbol_name()?);
        }
        Ok(Some(AttrKind::Symbol { root, nested }.into()))
    }

    /// Reads the name of an attribute: a word, a string, or an integer type's spelling.
    pub(super) fn attribute_name(&mut self) -> Parsed<Name> {
        match self.token.kind {
            Kind::Word => {
                let text = self.token_text();
                self.advance();
                Ok(self.name(text))
            }
            Kind::String if self.token_text() == "\"\"" => {
                self.error("the name of an attribute cannot be empty")
            }
            Kind::String => self.string_name(),
            _ => self.unexpected("an attribute name"),
        }
    }
}
