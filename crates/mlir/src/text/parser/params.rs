//! Parameters of dialect attributes and types, and bodies of those of unknown dialects.

use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute};
use crate::diag::Span;
use crate::ods::{AttrDef, EnumDef, EnumStyle, ParamAssembly, ParamDef, ParamKind};

impl<'a> Parser<'a> {
    /// Splits the text after `#` or `!` into dialect and mnemonic; `None` if it is an alias.
    pub(super) fn dialect_symbol(&self, text: &'a str) -> Option<(&'a str, Option<&'a str>)> {
        if let Some((namespace, mnemonic)) = text.split_once('.') {
            return Some((namespace, Some(mnemonic)));
        }
        let next = self.text.as_bytes().get(self.token.span.end as usize);
        (next == Some(&b'<')).then_some((text, None))
    }

    /// The word after the bracket that follows the token, as `b` in `#a<b c>`; empty if none does.
    pub(super) fn word_in_brackets(&self) -> &'a str {
        let rest = &self.text[self.token.span.end as usize..];
        let Some(rest) = rest.strip_prefix('<').map(str::trim_start) else { return "" };
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
    }

    /// The mnemonic: the given one, or the word in `<mnemonic …`; and true if its closing bracket
    /// must still be consumed.
    pub(super) fn mnemonic(&mut self, given: Option<&'a str>) -> Parsed<(&'a str, bool)> {
        match given {
            Some(mnemonic) => Ok((mnemonic, false)),
            None => {
                self.expect_punct(b'<')?;
                Ok((self.word("the name of an attribute or type")?, true))
            }
        }
    }

    /// Reads the rest of an attribute or type of an unregistered dialect as raw text.
    pub(super) fn opaque_body(
        &mut self,
        what: &str,
        span: Span,
        namespace: &str,
        mnemonic: Option<&str>,
    ) -> Parsed<&'a str> {
        if !self.options.allow_unregistered_dialects {
            let message = match self.registry.dialect(namespace) {
                Some(_) => format!("unknown {what}: dialect `{namespace}` is known only in part"),
                None => format!("{what} of the unknown dialect `{namespace}`"),
            };
            return self.error_at(span, message);
        }
        let start = self.token.span.end as usize - mnemonic.map_or(0, str::len);
        let end = if self.text.as_bytes().get(self.token.span.end as usize) == Some(&b'<') {
            self.balanced_end(self.token.span.end as usize)?
        } else {
            self.token.span.end as usize
        };
        self.jump(end);
        Ok(&self.text[start..end])
    }

    /// The position after the bracket that matches the one at `start`; strings are skipped.
    fn balanced_end(&mut self, start: usize) -> Parsed<usize> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let mut pos = start;
        while pos < bytes.len() {
            match bytes[pos] {
                b @ (b'<' | b'(' | b'[' | b'{') => open.push(b),
                b'-' if bytes.get(pos + 1) == Some(&b'>') => pos += 1,
                b @ (b'>' | b')' | b']' | b'}') => {
                    let opening = match b {
                        b'>' => b'<',
                        b')' => b'(',
                        b']' => b'[',
                        _ => b'{',
                    };
                    if open.pop() != Some(opening) {
                        let at = Span { start: pos as u32, end: pos as u32 + 1 };
                        return self.error_at(at, format!("unbalanced `{}`", b as char));
                    }
                    if open.is_empty() {
                        return Ok(pos + 1);
                    }
                }
                b'"' => {
                    let string = super::next_token(bytes, pos);
                    if string.kind != Kind::String {
                        return self.error_at(string.span, "unclosed string");
                    }
                    pos = string.span.end as usize - 1;
                }
                _ => {}
            }
            pos += 1;
        }
        let at = Span { start: start as u32, end: start as u32 + 1 };
        self.error_at(at, "this bracket is not closed")
    }

    /// Reads the parameters of an attribute or type after its mnemonic.
    ///
    /// # Errors
    /// If they do not follow the declaration.
    pub fn params(
        &mut self,
        params: &'static [ParamDef],
        assembly: &ParamAssembly,
    ) -> Parsed<Vec<Option<Attribute>>> {
        match assembly {
            ParamAssembly::None => Ok(Vec::new()),
            ParamAssembly::Custom { parse, .. } => parse(self),
            ParamAssembly::List => {
                self.expect_punct(b'<')?;
                let mut values = Vec::new();
                for (i, param) in params.iter().enumerate() {
                    if i > 0 && !self.eat_punct(b',') {
                        break;
                    }
                    values.push(Some(self.param(param.kind)?));
                }
                self.missing_param(params, &mut values)?;
                self.expect_punct(b'>')?;
                Ok(values)
            }
            ParamAssembly::Struct => {
                self.expect_punct(b'<')?;
                let values = self.struct_params(params, ">")?;
                Ok(values)
            }
        }
    }

    /// Reads `name = value, …` up to the closing token, in any order.
    ///
    /// # Errors
    /// If a name is unknown, given twice or missing.
    pub fn struct_params(
        &mut self,
        params: &'static [ParamDef],
        close: &str,
    ) -> Parsed<Vec<Option<Attribute>>> {
        let mut values = vec![None; params.len()];
        self.list_until(close, |p| {
            let span = p.here();
            // Upstream accepts a trailing comma.
            if p.at(close) && values.iter().any(Option::is_some) {
                return Ok(());
            }
            let name = p.word("the name of a parameter")?;
            let Some(i) = params.iter().position(|param| param.name == name) else {
                let known: Vec<_> = params.iter().map(|p| p.name).collect();
                return p.error_at(
                    span,
                    format!("unknown parameter `{name}`; known are {}", known.join(", ")),
                );
            };
            if values[i].is_some() {
                return p.error_at(span, format!("the parameter `{name}` is given twice"));
            }
            p.expect_punct(b'=')?;
            values[i] = Some(p.param(params[i].kind)?);
            Ok(())
        })?;
        self.missing_param(params, &mut values)?;
        Ok(values)
    }

    fn missing_param(
        &mut self,
        params: &'static [ParamDef],
        values: &mut Vec<Option<Attribute>>,
    ) -> Parsed<()> {
        values.resize(params.len(), None);
        match params.iter().zip(values.iter()).find(|(p, v)| v.is_none() && !p.optional) {
            Some((param, _)) => self.error(format!("the parameter `{}` is missing", param.name)),
            None => Ok(()),
        }
    }

    /// Reads one parameter of the given kind.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn param(&mut self, kind: ParamKind) -> Parsed<Attribute> {
        Ok(match kind {
            ParamKind::I64 => Attribute::i64(self.integer()?),
            ParamKind::Bool => match self.eat_word() {
                Some("true") => Attribute::bool(true),
                Some("false") => Attribute::bool(false),
                _ => return self.unexpected("`true` or `false`"),
            },
            ParamKind::F64 => self.attribute(Some(&crate::types::Type::f64()))?,
            ParamKind::I64s => {
                let values = self.i64_list()?;
                self.i64_array(&values)
            }
            ParamKind::String => Attribute::string(self.string_bytes()?),
            ParamKind::Type => self.ty()?.into(),
            ParamKind::Types => {
                let mut types = Vec::new();
                self.expect_punct(b'[')?;
                self.list_until("]", |p| {
                    types.push(p.ty()?.into());
                    Ok(())
                })?;
                Attribute::array(types)
            }
            ParamKind::Attribute => self.attribute(None)?,
            ParamKind::AffineMap => AttrKind::AffineMap(self.affine_map()?).into(),
            ParamKind::Def(def) => self.bare_attribute(def)?,
            ParamKind::Defs(def) => {
                let mut elements = Vec::new();
                self.expect_punct(b'[')?;
                self.list_until("]", |p| {
                    elements.push(p.bare_attribute(def)?);
                    Ok(())
                })?;
                Attribute::array(elements)
            }
            ParamKind::Enum(def) => Attribute::enumeration(def, self.enum_value(def)?),
        })
    }

    /// Reads an attribute of the given declaration, with or without its dialect and mnemonic.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn bare_attribute(&mut self, def: &'static AttrDef) -> Parsed<Attribute> {
        let span = self.here();
        if self.token.kind == Kind::Hash {
            let attribute = self.attribute(None)?;
            return match attribute.as_dialect(def) {
                Some(_) => Ok(attribute),
                None => self.error_at(
                    span,
                    format!("expected a #{}.{} attribute", def.dialect, def.mnemonic),
                ),
            };
        }
        let params = self.nested(|p| p.params(def.params, &def.assembly))?;
        match def.check(&params) {
            Ok(()) => Ok(Attribute::dialect(def, params)),
            Err(message) => self.error_at(self.span_from(span), message),
        }
    }

    /// Reads the case of an enumeration, or several for a set of bits.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn enum_value(&mut self, def: &'static EnumDef) -> Parsed<u64> {
        let mut value = self.enum_case(def)?;
        while matches!(def.style, EnumStyle::Bits(_))
            && (self.eat_punct(b',') || self.eat_punct(b'|'))
        {
            value |= self.enum_case(def)?;
        }
        Ok(value)
    }

    fn enum_case(&mut self, def: &'static EnumDef) -> Parsed<u64> {
        let quoted = self.token.kind == Kind::String;
        let text = self.token_text();
        let case = if quoted { &text[1..text.len() - 1] } else { text };
        match def.value(case) {
            Some(value) => {
                self.advance();
                Ok(value)
            }
            None => {
                let cases: Vec<_> = def.cases.iter().map(|c| c.1).collect();
                let expected = format!("one of the {} values {}", def.mnemonic, cases.join(", "));
                self.unexpected_name(&expected, &cases)
            }
        }
    }
}
