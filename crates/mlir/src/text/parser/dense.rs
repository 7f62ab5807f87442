//! `dense<…>` and `sparse<…>` elements.
//!
//! The type follows the literal, so the literal is first skipped, and then parsed with its type
//! known, directly into the storage of the elements.

use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute, DenseElements};
use crate::diag::Span;
use crate::diag::counted;
use crate::types::{Type, TypeKind, num_elements};
use numerics::{Bytes, DType};

/// Elements parsed so far, with the shape of their nested lists.
struct ParsedElements {
    /// Stored numbers: in the form of [`crate::raw`] if there is no `dtype`.
    bytes: Vec<u8>,
    strings: Vec<Box<[u8]>>,
}

impl<'a> Parser<'a> {
    pub(super) fn dense(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        self.advance();
        if !self.at_punct(b'<') {
            return self.unexpected("`<`");
        }
        let start = self.token.span.end as usize;
        let end = self.literal_end(start)?;
        self.jump(end);
        self.expect_punct(b'>')?;
        let ty = self.elements_type(ty)?;
        let after = self.checkpoint();
        self.jump(start);
        let attribute = self.dense_literal(&ty)?;
        if self.token.span.start as usize != end {
            return self.unexpected("`>`");
        }
        self.rewind(after);
        Ok(attribute)
    }

    /// The position of the `>` that ends the literal.
    fn literal_end(&mut self, start: usize) -> Parsed<usize> {
        let bytes = self.text.as_bytes();
        let mut pos = start;
        loop {
            let Some(n) = memchr::memchr2(b'>', b'"', &bytes[pos..]) else {
                let at = Span { start: start as u32 - 1, end: start as u32 };
                return self.error_at(at, "this bracket is not closed");
            };
            pos += n;
            if bytes[pos] == b'>' {
                return Ok(pos);
            }
            let string = super::next_token(bytes, pos);
            if string.kind != Kind::String {
                return self.error_at(string.span, "unclosed string");
            }
            pos = string.span.end as usize;
        }
    }

    fn elements_type(&mut self, given: Option<&Type>) -> Parsed<Type> {
        if let Some(ty) = given {
            return Ok(ty.clone());
        }
        self.expect_punct(b':')?;
        let span = self.here();
        let ty = self.ty()?;
        let is_static = matches!(&*ty, TypeKind::RankedTensor(_) | TypeKind::Vector { .. })
            && ty.shape().is_some_and(|s| s.iter().all(|&d| d >= 0));
        if !is_static {
            return self.error_at(
                span,
                format!("elements have a tensor or vector type of static shape, not {ty}"),
            );
        }
        Ok(ty)
    }

    fn dense_literal(&mut self, ty: &Type) -> Parsed<Attribute> {
        let span = self.here();
        let shape = ty.shape().unwrap_or(&[]).to_vec();
        let element = ty.element_type().clone();
        let Some(count) = num_elements(&shape) else {
            return self.error_at(span, format!("{ty} has more elements than can be counted"));
        };
        let dtype = element.dtype();
        if self.at_punct(b'>') {
            if count != 0 {
                return self.error_at(
                    span,
                    format!("the literal is empty, but {ty} has {}", counted(count, "element")),
                );
            }
            return match dtype.is_some() || crate::raw::element_size(&element).is_some() {
                true => self.dense_elements(ty, Vec::new(), span),
                false => Ok(AttrKind::DenseStrings { ty: ty.clone(), values: Vec::new() }.into()),
            };
        }
        let is_number = crate::raw::element_size(&element).is_some() || dtype.is_some();
        if self.token.kind == Kind::String && is_number {
            return self.dense_hex(ty, count, span);
        }
        let mut elements = ParsedElements { bytes: Vec::new(), strings: Vec::new() };
        if self.at_punct(b'[') {
            self.dense_list(&shape, &element, dtype, &mut elements)?;
        } else {
            self.dense_element(&element, dtype, &mut elements)?;
        }
        if is_number {
            return self.dense_elements(ty, elements.bytes, span);
        }
        if elements.strings.windows(2).all(|w| w[0] == w[1]) {
            elements.strings.truncate(1);
        }
        Ok(AttrKind::DenseStrings { ty: ty.clone(), values: elements.strings }.into())
    }

    fn dense_elements(&mut self, ty: &Type, bytes: Vec<u8>, span: Span) -> Parsed<Attribute> {
        let elements = match ty.element_type().dtype() {
            Some(_) => DenseElements::new(ty.clone(), Bytes::from_vec(bytes)).map(Attribute::from),
            None => crate::raw::elements(ty.clone(), bytes),
        };
        match elements {
            Some(elements) => Ok(elements),
            None => self.error_at(
                span,
                format!("elements of type {ty} cannot be written as a dense literal"),
            ),
        }
    }

    /// Reads `"0x…"`: the bytes of all elements, or of one.
    fn dense_hex(&mut self, ty: &Type, count: usize, span: Span) -> Parsed<Attribute> {
        let text = self.token_text();
        self.advance();
        let digits = text[1..text.len() - 1].strip_prefix("0x");
        let Some(raw) = digits.and_then(|d| decode_hex(d.as_bytes())) else {
            return self.error_at(
                span,
                "elements in a string are `0x` and an even number of hexadecimal digits",
            );
        };
        let dtype = ty.element_type().dtype();
        let Some(size) =
            dtype.map(DType::dense_bytes).or_else(|| crate::raw::element_size(ty.element_type()))
        else {
            return self.error_at(
                span,
                format!("elements of type {ty} cannot be written in hexadecimal digits"),
            );
        };
        let found = raw.len();
        // Older exporters packed eight i1 into a byte.
        let packed = dtype == Some(DType::I1) && count > 1 && found == count.div_ceil(8);
        if !packed && found != size && Some(found) != count.checked_mul(size) {
            let message = format!(
                "{ty} has {} of {}, but the literal has {}: neither all elements nor one",
                counted(count, "element"),
                counted(size, "byte"),
                counted(found, "byte")
            );
            return self.error_at(span, message);
        }
        let Some(dtype) = dtype else { return self.dense_elements(ty, raw, span) };
        let bytes = match dtype {
            DType::I1 if packed => (0..count).map(|i| raw[i / 8] >> (i % 8) & 1).collect(),
            DType::I1 => raw.iter().map(|b| u8::from(*b != 0)).collect(),
            DType::I2 => raw.iter().map(|b| (((b << 6) as i8) >> 6) as u8).collect(),
            DType::I4 => raw.iter().map(|b| (((b << 4) as i8) >> 4) as u8).collect(),
            DType::U2 => raw.iter().map(|b| b & 3).collect(),
            DType::U4 => raw.iter().map(|b| b & 15).collect(),
            DType::TF32 => {
                let element = |b: &[u8]| {
                    let bits = u32::from_le_bytes([b[0], b[1], b[2], 0]);
                    (bits << (32 - DType::TF32.bits())).to_le_bytes()
                };
                raw.chunks_exact(size).flat_map(element).collect()
            }
            _ => raw,
        };
        self.dense_elements(ty, bytes, span)
    }

    /// Parses `[…]` of the given shape.
    fn dense_list(
        &mut self,
        shape: &[i64],
        element: &Type,
        dtype: Option<DType>,
        elements: &mut ParsedElements,
    ) -> Parsed<()> {
        let span = self.here();
        let Some((&size, inner)) = shape.split_first() else {
            return self.error("a list is nested deeper than the rank of the type");
        };
        self.expect_punct(b'[')?;
        let mut found = 0i64;
        if inner.is_empty() {
            self.list_until("]", |p| {
                found += 1;
                p.dense_element(element, dtype, elements)
            })?;
        } else {
            self.list_until("]", |p| {
                found += 1;
                if !p.at_punct(b'[') {
                    return p.unexpected("a nested list: the type has more dimensions");
                }
                p.nested(|p| p.dense_list(inner, element, dtype, elements))
            })?;
        }
        if found != size {
            let message = format!(
                "this list has {}, but the dimension has size {size}",
                counted(found, "entry")
            );
            return self.error_at(self.span_from(span), message);
        }
        Ok(())
    }

    fn dense_element(
        &mut self,
        element: &Type,
        dtype: Option<DType>,
        elements: &mut ParsedElements,
    ) -> Parsed<()> {
        if self.at_punct(b'[') {
            return self.error("a list is nested deeper than the rank of the type");
        }
        if self.token.kind == Kind::String
            && dtype.is_none()
            && crate::raw::element_size(element).is_none()
        {
            let value = self.string_bytes()?;
            elements.strings.push(value.into());
            return Ok(());
        }
        let TypeKind::Complex(part) = &**element else {
            return self.number_bytes(element, dtype, &mut elements.bytes);
        };
        let part_dtype = dtype.map(DType::part);
        self.expect_punct(b'(')?;
        self.number_bytes(part, part_dtype, &mut elements.bytes)?;
        self.expect_punct(b',')?;
        self.number_bytes(part, part_dtype, &mut elements.bytes)?;
        self.expect_punct(b')')
    }

    /// Appends the stored bytes of one number of a scalar type: those of `dtype`, or raw ones.
    fn number_bytes(&mut self, ty: &Type, dtype: Option<DType>, out: &mut Vec<u8>) -> Parsed<()> {
        let start = self.here();
        if crate::raw::element_size(ty).is_none() {
            return self
                .error(format!("elements of type {ty} cannot be written as a dense literal"));
        }
        let is_bool = ty.is_integer(Some(1));
        let bits = if is_bool && self.token.kind == Kind::Word {
            match self.eat_word() {
                Some("true") => 1,
                Some("false") => 0,
                other => {
                    let name = other.unwrap_or_default().to_ascii_lowercase();
                    let help = matches!(&*name, "true" | "false");
                    let help = help.then(|| format!("did you mean `{name}`?"));
                    return self.error_with_help(start, "expected `true` or `false`", help);
                }
            }
        } else {
            let negative = self.eat_punct(b'-');
            let (kind, text) = (self.token.kind, self.token_text());
            if !matches!(kind, Kind::Integer | Kind::Float) {
                return self.no_number(negative, start, ty);
            }
            self.advance();
            let span = self.span_from(start);
            if ty.is_float() {
                self.float_bits(negative, kind, text, ty, span)?
            } else if kind == Kind::Float {
                return self.error_at(span, format!("a decimal fraction cannot have type {ty}"));
            } else {
                self.int_value(negative, text, ty, span)? as u128
            }
        };
        match dtype {
            None => out.extend(crate::raw::to_bytes(bits, ty)),
            Some(DType::I1) => out.push(bits as u8 & 1),
            Some(dtype) => {
                let stored =
                    if dtype == DType::TF32 { bits << (32 - DType::TF32.bits()) } else { bits };
                out.extend_from_slice(&stored.to_le_bytes()[..dtype.bytes()]);
            }
        }
        Ok(())
    }

    /// An error about what is in place of a number: such as an infinity, which has no literal.
    #[cold]
    fn no_number<T>(&mut self, negative: bool, start: Span, ty: &Type) -> Parsed<T> {
        let value = match &*self.token_text().to_ascii_lowercase() {
            "inf" | "infinity" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => return self.unexpected(&format!("a number of type {ty}")),
        };
        let Some(format) = ty.dtype().and_then(DType::float_format) else {
            return self.unexpected(&format!("a number of type {ty}"));
        };
        let digits = ty.bit_width().unwrap_or(0).div_ceil(4) as usize;
        let bits = format.encode(if negative { -value } else { value });
        let message = "infinities and NaNs are written as their bits";
        let help = format!("did you mean `0x{bits:0digits$X}`?");
        self.advance();
        self.error_with_help(self.span_from(start), message, Some(help))
    }

    /// Reads `sparse<indices, values> : type`.
    pub(super) fn sparse(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        self.advance();
        if !self.at_punct(b'<') {
            return self.unexpected("`<`");
        }
        let start = self.token.span.end as usize;
        let end = self.literal_end(start)?;
        self.jump(end);
        self.expect_punct(b'>')?;
        let span = self.here();
        let ty = self.elements_type(ty)?;
        let after = self.checkpoint();
        self.jump(start);
        let rank = ty.shape().unwrap_or(&[]).len() as i64;
        let is_empty = self.at_punct(b'>');
        let no_list = self.checkpoint();
        // The number of entries follows from the indices: one per row, or one per number in one
        // dimension.
        let shape = if is_empty { vec![0] } else { self.list_shape()? };
        self.rewind(no_list);
        let (rows, indices_shape) = match shape[..] {
            [] => (1, vec![1, rank]),
            [0] => (0, vec![0, rank]),
            [rows] if rank == 1 => (rows, vec![rows]),
            [rows, columns] if columns == rank => (rows, vec![rows, rank]),
            _ => {
                return self.error_at(
                    span,
                    format!("the indices of elements of type {ty} are rows of {rank} numbers"),
                );
            }
        };
        let (indices_type, values_type) = (
            Type::tensor(indices_shape, Type::i64()),
            Type::tensor([rows], ty.element_type().clone()),
        );
        let (indices, values) = if is_empty {
            (
                self.dense_elements(&indices_type, Vec::new(), span)?,
                self.dense_literal(&values_type)?,
            )
        } else {
            let indices = self.dense_literal(&indices_type)?;
            self.expect_punct(b',')?;
            (indices, self.dense_literal(&values_type)?)
        };
        if self.token.span.start as usize != end {
            return self.unexpected("`>`");
        }
        let positions = indices.as_dense().and_then(DenseElements::int_values).unwrap_or_default();
        let mut sizes = ty.shape().unwrap_or(&[]).iter().cycle().zip(&positions);
        if let Some((size, index)) = sizes.find(|(size, index)| !(0..**size).contains(index)) {
            let message =
                format!("the index {index} is not within the dimension of size {size} of {ty}");
            return self.error_at(span, message);
        }
        self.rewind(after);
        Ok(AttrKind::Sparse { ty, indices, values }.into())
    }

    /// The shape of the nested lists that come next; empty for a number.
    fn list_shape(&mut self) -> Parsed<Vec<i64>> {
        let mut shape = Vec::new();
        while self.at_punct(b'[') {
            let start = self.checkpoint();
            shape.push(self.list_length()?);
            self.rewind(start);
            self.advance();
        }
        Ok(shape)
    }

    /// Parses a list of numbers or lists; returns the number of its entries.
    fn list_length(&mut self) -> Parsed<i64> {
        let (mut commas, mut depth) = (0i64, 0usize);
        self.advance();
        let is_empty = self.at_punct(b']');
        loop {
            match self.token.kind {
                Kind::Punct(b'[') => depth += 1,
                Kind::Punct(b']') if depth == 0 => {
                    return Ok(if is_empty { 0 } else { commas + 1 });
                }
                Kind::Punct(b']') => depth -= 1,
                Kind::Punct(b',') => commas += i64::from(depth == 0),
                Kind::Eof => return self.unexpected("`]`"),
                _ => {}
            }
            self.advance();
        }
    }
}

/// Decodes pairs of hexadecimal digits; `None` for other characters or an odd number of digits.
pub(super) fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    /// Values of hexadecimal digits by character; 0x80 for others.
    static VALUES: [u8; 256] = {
        let mut table = [0x80; 256];
        let mut i = 0;
        while i < 10 {
            table[b'0' as usize + i as usize] = i;
            i += 1;
        }
        let mut i = 0;
        while i < 6 {
            table[b'a' as usize + i as usize] = 10 + i;
            table[b'A' as usize + i as usize] = 10 + i;
            i += 1;
        }
        table
    };
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut invalid = 0;
    let bytes = pairs
        .iter()
        .map(|&[high, low]| {
            let (high, low) = (VALUES[high as usize], VALUES[low as usize]);
            invalid |= high | low;
            high << 4 | (low & 15)
        })
        .collect();
    (invalid < 0x80).then_some(bytes)
}
