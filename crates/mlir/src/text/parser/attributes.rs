//! Attributes.

use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute, Dictionary, Name};
use crate::diag::Span;
use crate::ods::Dialect;
use crate::types::{DYNAMIC, Signedness, Type, TypeKind};

impl<'a> Parser<'a> {
    /// Reads an attribute. `ty` is the type of a number, string or elements if none is written.
    ///
    /// # Errors
    /// If no attribute comes next, or an invalid one.
    pub fn attribute(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        match self.optional_attribute(ty)? {
            Some(attribute) => Ok(attribute),
            None => self.unexpected("an attribute"),
        }
    }

    /// Reads an attribute if one comes next.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn optional_attribute(&mut self, ty: Option<&Type>) -> Parsed<Option<Attribute>> {
        let attribute = match self.token.kind {
            Kind::Word => return self.word_attribute(ty),
            Kind::Integer | Kind::Float | Kind::Punct(b'-') => self.number(ty)?,
            Kind::String => {
                let value = self.string_bytes()?;
                let ty = match ty {
                    Some(ty) => ty.clone(),
                    None if self.eat_punct(b':') => self.ty()?,
                    None => Type::none(),
                };
                AttrKind::String { value: value.into(), ty }.into()
            }
            Kind::Symbol => return self.optional_symbol_ref(),
            Kind::Hash => self.nested(|p| p.dialect_attribute(ty))?,
            Kind::Punct(b'[') => self.nested(Self::array)?,
            Kind::Punct(b'{') => self.nested(Self::dictionary)?.into(),
            Kind::Exclaim | Kind::Punct(b'(') => Attribute::from(self.ty()?),
            _ => return Ok(None),
        };
        Ok(Some(attribute))
    }

    fn word_attribute(&mut self, ty: Option<&Type>) -> Parsed<Option<Attribute>> {
        let word = self.token_text();
        let attribute = match word {
            "true" | "false" => {
                let span = self.here();
                self.advance();
                let ty = match ty {
                    Some(ty) => ty.clone(),
                    None if self.eat_punct(b':') => self.ty()?,
                    None => Type::i1(),
                };
                if !ty.is_integer(Some(1)) {
                    return self.error_at(span, format!("`{word}` has type i1, not {ty}"));
                }
                Attribute::bool(word == "true")
            }
            "unit" => {
                self.advance();
                Attribute::unit()
            }
            "array" => {
                self.advance();
                self.dense_array()?
            }
            "dense" => self.dense(ty)?,
            "dense_resource" => self.dense_resource(ty)?,
            "sparse" => self.nested(|p| p.sparse(ty))?,
            "affine_map" => {
                self.advance();
                self.expect_punct(b'<')?;
                let map = self.affine_map()?;
                self.expect_punct(b'>')?;
                AttrKind::AffineMap(map).into()
            }
            "affine_set" => {
                self.advance();
                self.expect_punct(b'<')?;
                let set = self.integer_set()?;
                self.expect_punct(b'>')?;
                AttrKind::IntegerSet(set).into()
            }
            "strided" => self.strided()?,
            "distinct" => self.nested(Self::distinct)?,
            "loc" => self.location()?,
            _ => return Ok(self.optional_type()?.map(Attribute::from)),
        };
        Ok(Some(attribute))
    }

    fn number(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        let start = self.here();
        let negative = self.eat_punct(b'-');
        let (kind, text) = (self.token.kind, self.token_text());
        if !matches!(kind, Kind::Integer | Kind::Float) {
            return self.unexpected("a number");
        }
        self.advance();
        let span = self.span_from(start);
        let ty = match ty {
            Some(ty) => ty.clone(),
            None if self.eat_punct(b':') => self.ty()?,
            None if kind == Kind::Float => Type::f64(),
            None => Type::i64(),
        };
        self.typed_number(negative, kind, text, &ty, span)
    }

    /// The attribute for a number literal of the given type.
    fn typed_number(
        &mut self,
        negative: bool,
        kind: Kind,
        text: &str,
        ty: &Type,
        span: Span,
    ) -> Parsed<Attribute> {
        if ty.is_float() {
            let bits = self.float_bits(negative, kind, text, ty, span)?;
            return Ok(Attribute::float_bits(bits, ty.clone()));
        }
        if !ty.is_integer(None) && !ty.is_index() {
            let message = format!("a number cannot have type {ty}");
            let sign = if negative { "-" } else { "" };
            let help = ty.shape().map(|_| format!("did you mean `dense<{sign}{text}>`?"));
            return self.error_with_help(span, message, help);
        }
        if kind == Kind::Float {
            return self.error_at(span, format!("a decimal fraction cannot have type {ty}"));
        }
        let value = self.int_value(negative, text, ty, span)?;
        Ok(Attribute::integer(value, ty.clone()))
    }

    /// The value of an integer literal of an integer or index type, sign-extended unless the type
    /// is unsigned.
    pub(super) fn int_value(
        &mut self,
        negative: bool,
        text: &str,
        ty: &Type,
        span: Span,
    ) -> Parsed<i128> {
        let out_of_range = |p: &mut Self| {
            let sign = if negative { "-" } else { "" };
            p.error_at(span, format!("the integer {sign}{text} does not fit {ty}"))
        };
        let magnitude = match text.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16),
            None => text.parse(),
        };
        let Ok(magnitude) = magnitude else { return out_of_range(self) };
        let (width, unsigned, signed) = match **ty {
            TypeKind::Integer { width, signedness } => {
                (width, signedness == Signedness::Unsigned, signedness == Signedness::Signed)
            }
            _ => (64, false, false),
        };
        if negative && unsigned && magnitude != 0 {
            return out_of_range(self);
        }
        if width == 0 {
            return if magnitude == 0 { Ok(0) } else { out_of_range(self) };
        }
        // A signless literal may use all bits of the width (`255 : i8` is -1); a negative one and a
        // signed one keep the sign.
        let bits = width.min(127);
        let limit = 1u128 << bits;
        let half = 1u128 << (bits - 1);
        if negative {
            return if magnitude <= half { Ok(-(magnitude as i128)) } else { out_of_range(self) };
        }
        if magnitude >= if signed { half } else { limit } {
            return out_of_range(self);
        }
        let value = magnitude as i128;
        let wraps = !unsigned && width > 1 && width <= 127 && magnitude >= half;
        Ok(if wraps { value - (1i128 << bits) } else { value })
    }

    /// The bits of a number literal of a float type: a decimal number, or the bits in hexadecimal.
    pub(super) fn float_bits(
        &mut self,
        negative: bool,
        kind: Kind,
        text: &str,
        ty: &Type,
        span: Span,
    ) -> Parsed<u128> {
        if let (Kind::Integer, Some(hex)) = (kind, text.strip_prefix("0x")) {
            let width = ty.bit_width().unwrap_or(0);
            let bits = u128::from_str_radix(hex, 16).ok();
            if negative {
                return self.error_at(span, "hexadecimal bits of a float have no sign");
            }
            return match bits.filter(|&b| width >= 128 || b >> width == 0) {
                Some(bits) => Ok(bits),
                None => {
                    self.error_at(span, format!("{text} has more than the {width} bits of {ty}"))
                }
            };
        }
        if kind == Kind::Integer {
            let message =
                format!("a value of type {ty} needs a decimal point, or hexadecimal bits");
            return self.error_with_help(span, message, Some(format!("did you mean `{text}.0`?")));
        }
        let Some(dtype) = ty.dtype() else {
            return self.error_at(
                span,
                format!("decimal literals of type {ty} are not supported; write its bits in hex"),
            );
        };
        let bits = if negative {
            numerics::text::parse_float(&format!("-{text}"), dtype)
        } else {
            numerics::text::parse_float(text, dtype)
        };
        match bits {
            Some(bits) => Ok(u128::from(bits)),
            None => self.error_at(span, format!("`{text}` is not a number of type {ty}")),
        }
    }

    fn array(&mut self) -> Parsed<Attribute> {
        self.advance();
        let mut elements = Vec::new();
        self.list_until("]", |p| {
            elements.push(p.attribute(None)?);
            Ok(())
        })?;
        Ok(Attribute::array(elements))
    }

    /// Reads `{name = value, unit}`.
    ///
    /// # Errors
    /// If something else comes next, or a name occurs twice.
    pub fn dictionary(&mut self) -> Parsed<Dictionary> {
        let span = self.here();
        let entries = self.dictionary_entries()?;
        match Dictionary::new(entries) {
            Ok(dictionary) => Ok(dictionary),
            Err(name) => self.error_at(span, format!("the attribute `{name}` is given twice")),
        }
    }

    pub(super) fn dictionary_entries(&mut self) -> Parsed<Vec<(Name, Attribute)>> {
        self.expect_punct(b'{')?;
        let mut entries: Vec<(Name, Attribute)> = Vec::new();
        self.list_until("}", |p| {
            let name = p.attribute_name()?;
            let value = match p.eat_punct(b'=') {
                true => {
                    let start = p.here();
                    let value = p.attribute(None)?;
                    p.note_attribute(&name, start);
                    value
                }
                false => Attribute::unit(),
            };
            entries.push((name, value));
            Ok(())
        })?;
        Ok(entries)
    }

    /// Reads `<i64: 1, 2>` after `array`.
    fn dense_array(&mut self) -> Parsed<Attribute> {
        self.expect_punct(b'<')?;
        let span = self.here();
        let element = self.ty()?;
        let whole_bytes = |w: u32| w == 1 || (w.is_multiple_of(8) && (8..=64).contains(&w));
        if element.is_index() || !element.bit_width().is_some_and(whole_bytes) {
            let message = format!(
                "an array holds i1, or integers or floats of whole bytes up to 64 bits, not {element}"
            );
            return self.error_at(span, message);
        }
        let mut values = Vec::new();
        if self.eat_punct(b'>') {
            return Ok(AttrKind::DenseArray { element, values }.into());
        }
        self.expect_punct(b':')?;
        self.list_until(">", |p| {
            values.push(p.array_element(&element)?);
            Ok(())
        })?;
        Ok(AttrKind::DenseArray { element, values }.into())
    }

    /// Reads an array element: integers are extended to 64 bits, floats are their bits.
    pub(super) fn array_element(&mut self, element: &Type) -> Parsed<i64> {
        if element.is_integer(Some(1)) {
            if !(self.at("true") || self.at("false")) {
                return self.unexpected("`true` or `false`");
            }
            return Ok(i64::from(self.eat_word() == Some("true")));
        }
        if element.is_integer(Some(64))
            && let Some(value) = self.eat_small_integer()
        {
            return Ok(value);
        }
        let number = self.number(Some(element))?;
        Ok(match &*number {
            AttrKind::Integer { value, .. } => *value as i64,
            AttrKind::Float { bits, .. } => *bits as i64,
            _ => 0,
        })
    }

    fn strided(&mut self) -> Parsed<Attribute> {
        self.advance();
        self.expect_punct(b'<')?;
        self.expect_punct(b'[')?;
        let size = |p: &mut Self| if p.eat_punct(b'?') { Ok(DYNAMIC) } else { p.integer() };
        let mut strides = Vec::new();
        self.list_until("]", |p| {
            strides.push(size(p)?);
            Ok(())
        })?;
        let mut offset = 0;
        if self.eat_punct(b',') {
            self.expect("offset")?;
            self.expect_punct(b':')?;
            offset = size(self)?;
        }
        self.expect_punct(b'>')?;
        Ok(AttrKind::StridedLayout { strides, offset }.into())
    }

    fn distinct(&mut self) -> Parsed<Attribute> {
        self.advance();
        self.expect_punct(b'[')?;
        let span = self.here();
        let id = self.integer()?;
        self.expect_punct(b']')?;
        self.expect_punct(b'<')?;
        let value = if self.at_punct(b'>') { Attribute::unit() } else { self.attribute(None)? };
        self.expect_punct(b'>')?;
        let distinct = Attribute::from(AttrKind::Distinct { id: id as u64, value });
        let first = self.distinct.entry(id).or_insert_with(|| distinct.clone());
        if *first != distinct {
            let message = format!(
                "distinct[{id}] must always have the same attribute, but it had {first} before"
            );
            return self.error_at(span, message);
        }
        Ok(distinct)
    }

    /// Reads `#alias`, `#dialect.mnemonic<…>` or `#dialect<…>`.
    fn dialect_attribute(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        let span = self.here();
        let text = &self.token_text()[1..];
        let Some((namespace, mnemonic)) = self.dialect_symbol(text) else {
            self.advance();
            let Some(attribute) = self.attribute_aliases.get(text).cloned() else {
                return self
                    .error_at(span, format!("the attribute alias `#{text}` is not defined"));
            };
            self.check_alias(span, attribute.extent())?;
            return Ok(attribute);
        };
        let is_known = |dialect: &&Dialect| {
            let mnemonic = mnemonic.unwrap_or_else(|| self.word_in_brackets());
            !dialect.partial
                || dialect.attribute(mnemonic).is_some()
                || dialect.enumeration(mnemonic).is_some()
        };
        let Some(dialect) = self.registry.dialect(namespace).filter(is_known) else {
            let body = self.opaque_body("attribute", span, namespace, mnemonic)?;
            let ty = match ty {
                Some(ty) => ty.clone(),
                None if self.eat_punct(b':') => self.ty()?,
                None => Type::none(),
            };
            return Ok(AttrKind::Opaque { dialect: namespace.into(), body: body.into(), ty }.into());
        };
        self.advance();
        let (mnemonic, in_brackets) = self.mnemonic(mnemonic)?;
        let attribute = if let Some(def) = dialect.attribute(mnemonic) {
            let params = self.nested(|p| p.params(def.params, &def.assembly))?;
            if let Err(message) = def.check(&params) {
                return self.error_at(self.span_from(span), message);
            }
            Attribute::dialect(def.becomes.unwrap_or(def), params)
        } else if let Some(def) = dialect.enumeration(mnemonic) {
            if in_brackets {
                Attribute::enumeration(def, self.enum_value(def)?)
            } else {
                self.expect_punct(b'<')?;
                let value = self.enum_value(def)?;
                self.expect_punct(b'>')?;
                Attribute::enumeration(def, value)
            }
        } else {
            let known = dialect
                .attributes
                .iter()
                .map(|a| a.mnemonic)
                .chain(dialect.enums.iter().map(|e| e.mnemonic));
            let known: Vec<_> = known.collect();
            let message = format!(
                "dialect `{namespace}` has no attribute `{mnemonic}`; it has {}",
                known.join(", ")
            );
            return self.error_at(span, message);
        };
        if in_brackets {
            self.expect_punct(b'>')?;
        }
        Ok(attribute)
    }
}
