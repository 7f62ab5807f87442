//! Declarations of the bytecode encodings of dialects, and the reader and writer that they use.

use super::cursor::{Cursor, Read, ReadError};
use super::emitter::Emitter;
use super::entries::Entries;
use super::numbering::{Numbering, Strings};
use crate::attrs::{AttrKind, Attribute, DialectAttr, Name, Resource};
use crate::ods::{AttrDef, EnumDef, TypeDef};
use crate::types::{DialectType, Signedness, Type, TypeKind};
use numerics::Bytes;
use std::ops::Range;

/// The bytecode encodings of a dialect's attributes and types.
pub struct DialectBytecode {
    /// Encodings of attributes. Writing uses the first that applies; reading looks up the code.
    pub attributes: &'static [AttrEncoding],
    /// Encodings of types. Writing uses the first that applies; reading looks up the code.
    pub types: &'static [TypeEncoding],
    /// Encodings that the tables cannot express, tried first.
    pub custom: Option<CustomEncodings>,
}

/// An encoding of an attribute: a code, then fields.
pub struct AttrEncoding {
    /// The code, unique among the dialect's attributes.
    pub code: u64,
    /// The encoded declaration.
    pub target: AttrTarget,
    /// True if the encoding applies to an attribute with these parameters.
    pub when: fn(&[Option<Attribute>]) -> bool,
    /// Indices of the parameters in encoding order; for an enumeration the value is parameter 0.
    pub fields: &'static [(usize, Field)],
}

/// The declaration that an encoding is for.
pub enum AttrTarget {
    /// An attribute with parameters.
    Def(&'static AttrDef),
    /// A case of an enumeration: its value is an [`Attribute::i64`].
    Enum(&'static EnumDef),
}

/// An encoding of a type: a code, then fields.
pub struct TypeEncoding {
    /// The code, unique among the dialect's types.
    pub code: u64,
    /// The encoded declaration.
    pub def: &'static TypeDef,
    /// True if the encoding applies to a type with these parameters.
    pub when: fn(&[Option<Attribute>]) -> bool,
    /// Indices of the parameters in encoding order.
    pub fields: &'static [(usize, Field)],
}

/// The `when` of encodings that always apply.
pub fn always(_params: &[Option<Attribute>]) -> bool {
    true
}

/// The encoding of one parameter. In memory each is an attribute; absent parameters are encoded as
/// a neutral value.
#[derive(Clone, Copy)]
pub enum Field {
    /// The number of an attribute.
    Attribute,
    /// The number of an attribute, or a marker for none.
    OptionalAttribute,
    /// A list of attributes: `Array`.
    Attributes,
    /// The number of a type: `Type`.
    Type,
    /// A list of types: `Array` of `Type`.
    Types,
    /// An unsigned integer: `Integer` of type i64.
    VarInt,
    /// A signed integer: `Integer` of type i64.
    SignedVarInt,
    /// A list of signed integers: `DenseArray` of i64.
    SignedVarInts,
    /// A list of signed integers, which is empty if the parameter is absent.
    OptionalSignedVarInts,
    /// A presence bit and an unsigned integer: `Integer` of type i64.
    FlaggedVarInt,
    /// One byte: `Integer` of type i1.
    Bool,
    /// The bits of a double: `Float` of type f64.
    F64,
    /// A presence byte and the number of an attribute.
    FlaggedAttribute,
    /// The number of a string: `String`.
    String,
    /// Anything else.
    Custom {
        /// Writes the parameter.
        write: fn(Option<&Attribute>, &mut EntryWriter<'_>),
        /// Reads the parameter.
        read: fn(&mut EntryReader<'_, '_>) -> Read<Option<Attribute>>,
    },
}

/// Encodings as functions. Writing returns false, and writes nothing, if there is no encoding;
/// reading takes the code and returns `None` for an unknown one.
pub struct CustomEncodings {
    /// Writes an attribute with its code.
    pub write_attribute: fn(&Attribute, &mut EntryWriter<'_>) -> bool,
    /// Reads an attribute after its code.
    pub read_attribute: fn(u64, &mut EntryReader<'_, '_>) -> Read<Option<Attribute>>,
    /// Writes a type with its code.
    pub write_type: fn(&Type, &mut EntryWriter<'_>) -> bool,
    /// Reads a type after its code.
    pub read_type: fn(u64, &mut EntryReader<'_, '_>) -> Read<Option<Type>>,
}

impl DialectBytecode {
    /// Writes an attribute; returns false if it has no encoding.
    pub(super) fn write_attribute(&self, attribute: &Attribute, out: &mut EntryWriter<'_>) -> bool {
        if self.custom.as_ref().is_some_and(|c| (c.write_attribute)(attribute, out)) {
            return true;
        }
        let value;
        let (encoding, params): (_, &[Option<Attribute>]) = match &**attribute {
            AttrKind::Dialect(a) => {
                let is = |e: &&AttrEncoding| {
                    matches!(e.target, AttrTarget::Def(d) if std::ptr::eq(d, a.def))
                        && (e.when)(&a.params)
                };
                (self.attributes.iter().find(is), &a.params)
            }
            AttrKind::Enum(e) => {
                value = [Some(Attribute::i64(e.value as i64))];
                let is = |c: &&AttrEncoding| matches!(c.target, AttrTarget::Enum(d) if std::ptr::eq(d, e.def));
                (self.attributes.iter().find(is), &value)
            }
            _ => return false,
        };
        let Some(encoding) = encoding else { return false };
        out.varint(encoding.code);
        write_fields(encoding.fields, params, out);
        true
    }

    /// Writes a type; returns false if it has no encoding.
    pub(super) fn write_type(&self, ty: &Type, out: &mut EntryWriter<'_>) -> bool {
        if self.custom.as_ref().is_some_and(|c| (c.write_type)(ty, out)) {
            return true;
        }
        let TypeKind::Dialect(t) = &**ty else { return false };
        let is = |e: &&TypeEncoding| std::ptr::eq(e.def, t.def) && (e.when)(&t.params);
        let Some(encoding) = self.types.iter().find(is) else { return false };
        out.varint(encoding.code);
        write_fields(encoding.fields, &t.params, out);
        true
    }

    /// Reads an attribute of the dialect with the given number.
    pub(super) fn read_attribute(
        &self,
        dialect: usize,
        entry: &mut EntryReader<'_, '_>,
    ) -> Read<Attribute> {
        let at = entry.offset();
        let code = entry.varint()?;
        let invalid = |message: String| ReadError::new(at, message);
        let attribute = match &self.custom {
            Some(custom) => (custom.read_attribute)(code, entry)?,
            None => None,
        };
        let attribute = match attribute {
            Some(attribute) => attribute,
            None => {
                let Some(encoding) = self.attributes.iter().find(|e| e.code == code) else {
                    return Err(invalid(format!(
                        "{code} is the code of no attribute of {}",
                        entry.dialect_name(dialect)
                    )));
                };
                encoding.read(entry)?
            }
        };
        if let AttrKind::Dialect(DialectAttr { def, params }) = &*attribute {
            let named = |error| format!("#{}.{}: {error}", def.dialect, def.mnemonic);
            def.check(params).map_err(|error| invalid(named(error)))?;
        }
        Ok(attribute)
    }

    /// Reads a type of the dialect with the given number.
    pub(super) fn read_type(&self, dialect: usize, entry: &mut EntryReader<'_, '_>) -> Read<Type> {
        let at = entry.offset();
        let code = entry.varint()?;
        let invalid = |message: String| ReadError::new(at, message);
        let ty = match &self.custom {
            Some(custom) => (custom.read_type)(code, entry)?,
            None => None,
        };
        let ty = match ty {
            Some(ty) => ty,
            None => {
                let Some(TypeEncoding { def, fields, .. }) =
                    self.types.iter().find(|e| e.code == code)
                else {
                    return Err(invalid(format!(
                        "{code} is the code of no type of {}",
                        entry.dialect_name(dialect)
                    )));
                };
                Type::dialect(def, read_fields(fields, def.params.len(), entry)?)
            }
        };
        if let TypeKind::Dialect(DialectType { def, params }) = &*ty {
            let named = |error| format!("!{}.{}: {error}", def.dialect, def.mnemonic);
            def.check(params).map_err(|error| invalid(named(error)))?;
        }
        Ok(ty)
    }
}

impl AttrEncoding {
    /// Reads what follows the code; the parameters are not checked.
    fn read(&self, entry: &mut EntryReader<'_, '_>) -> Read<Attribute> {
        let def = match self.target {
            AttrTarget::Def(def) => {
                let params = read_fields(self.fields, def.params.len(), entry)?;
                return Ok(Attribute::dialect(def, params));
            }
            AttrTarget::Enum(def) => def,
        };
        let value = read_fields(self.fields, 1, entry)?.pop().flatten();
        let value = value.and_then(|value| value.as_i64()).unwrap_or(-1);
        match u64::try_from(value).ok().filter(|&value| def.spelling(value).is_some()) {
            Some(value) => Ok(Attribute::enumeration(def, value)),
            None => {
                entry.error(format!("{value} is not a value of {}.{}", def.dialect, def.mnemonic))
            }
        }
    }
}

fn write_fields(
    fields: &[(usize, Field)],
    params: &[Option<Attribute>],
    out: &mut EntryWriter<'_>,
) {
    for (index, field) in fields {
        let param = params.get(*index).and_then(Option::as_ref);
        let int = || param.and_then(Attribute::as_i64).unwrap_or(0);
        match field {
            Field::Attribute => out.attribute(param.unwrap_or(&Attribute::unit())),
            Field::OptionalAttribute => out.optional_attribute(param),
            Field::Attributes => out.attributes(param.and_then(Attribute::as_array).unwrap_or(&[])),
            Field::Type => out.ty(param.and_then(Attribute::as_type).unwrap_or(&Type::none())),
            Field::Types => {
                let types = param.and_then(Attribute::as_array).unwrap_or(&[]);
                out.varint(types.len() as u64);
                types.iter().for_each(|t| out.ty(t.as_type().unwrap_or(&Type::none())));
            }
            Field::VarInt => out.varint(int() as u64),
            Field::SignedVarInt => out.signed(int()),
            Field::FlaggedVarInt => match param {
                Some(_) => out.varint_with_flag(int() as u64, true),
                None => out.varint(0),
            },
            Field::SignedVarInts | Field::OptionalSignedVarInts => {
                out.signed_list(param.and_then(Attribute::as_int_array).unwrap_or(&[]))
            }
            Field::Bool => out.byte(u8::from(int() != 0)),
            Field::F64 => {
                let bits = if let Some(AttrKind::Float { bits, .. }) = param.map(|p| &**p) {
                    *bits
                } else {
                    0
                };
                out.bits(bits, 64);
            }
            Field::FlaggedAttribute => {
                out.byte(u8::from(param.is_some()));
                param.iter().for_each(|p| out.attribute(p));
            }
            Field::String => match param.map(|p| &**p) {
                Some(AttrKind::String { value, .. }) => out.string(value),
                _ => out.string(b""),
            },
            Field::Custom { write, .. } => write(param, out),
        }
    }
}

fn read_fields(
    fields: &[(usize, Field)],
    len: usize,
    entry: &mut EntryReader<'_, '_>,
) -> Read<Vec<Option<Attribute>>> {
    let mut params = vec![None; len];
    for (index, field) in fields {
        params[*index] = match field {
            Field::Attribute => Some(entry.attribute()?),
            Field::OptionalAttribute => entry.optional_attribute()?,
            Field::Attributes => Some(Attribute::array(entry.attributes()?)),
            Field::Type => Some(entry.type_attribute()?),
            Field::Types => {
                let count = entry.count("types")?;
                let types = (0..count).map(|_| entry.type_attribute()).collect::<Read<_>>()?;
                Some(Attribute::array(types))
            }
            Field::VarInt => Some(Attribute::i64(entry.varint()? as i64)),
            Field::SignedVarInt => Some(Attribute::i64(entry.signed()?)),
            Field::FlaggedVarInt => match entry.varint_with_flag()? {
                (value, true) => Some(Attribute::i64(value as i64)),
                (_, false) => None,
            },
            Field::SignedVarInts => Some(Attribute::i64_array(entry.signed_list()?)),
            Field::OptionalSignedVarInts => match entry.signed_list()? {
                values if values.is_empty() => None,
                values => Some(Attribute::i64_array(values)),
            },
            Field::Bool => Some(Attribute::bool(entry.byte()? != 0)),
            Field::F64 => Some(Attribute::float_bits(entry.bits(64)?, Type::f64())),
            Field::FlaggedAttribute => match entry.byte()? {
                0 => None,
                _ => Some(entry.attribute()?),
            },
            Field::String => Some(Attribute::string(entry.string()?)),
            Field::Custom { read, .. } => read(entry)?,
        };
    }
    Ok(params)
}

/// Target of encodings: the first pass only numbers referenced entities, the second one writes.
pub struct EntryWriter<'a> {
    pub(super) version: u64,
    pub(super) pass: EncodingPass<'a>,
}

pub(super) enum EncodingPass<'a> {
    Number(&'a mut Numbering),
    Write { out: &'a mut Emitter, numbering: &'a Numbering, strings: &'a mut Strings },
}

impl EntryWriter<'_> {
    /// The version of the format.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Writes the number of an attribute.
    pub fn attribute(&mut self, attribute: &Attribute) {
        match &mut self.pass {
            EncodingPass::Number(numbering) => numbering.attribute(attribute),
            EncodingPass::Write { out, numbering, .. } => {
                out.varint(numbering.attribute_number(attribute))
            }
        }
    }

    /// Writes the number of an attribute, or a marker for none.
    pub fn optional_attribute(&mut self, attribute: Option<&Attribute>) {
        match (&mut self.pass, attribute) {
            (EncodingPass::Number(numbering), Some(a)) => numbering.attribute(a),
            (EncodingPass::Number(_), None) => {}
            (EncodingPass::Write { out, numbering, .. }, Some(a)) => {
                out.varint_with_flag(numbering.attribute_number(a), true)
            }
            (EncodingPass::Write { out, .. }, None) => out.varint(0),
        }
    }

    /// Writes a list of attributes.
    pub fn attributes(&mut self, attributes: &[Attribute]) {
        self.varint(attributes.len() as u64);
        attributes.iter().for_each(|a| self.attribute(a));
    }

    /// Writes the number of a type.
    pub fn ty(&mut self, ty: &Type) {
        match &mut self.pass {
            EncodingPass::Number(numbering) => numbering.ty(ty),
            EncodingPass::Write { out, numbering, .. } => out.varint(numbering.type_number(ty)),
        }
    }

    /// Writes a list of types.
    pub fn types<'t>(&mut self, types: impl ExactSizeIterator<Item = &'t Type>) {
        self.varint(types.len() as u64);
        types.for_each(|t| self.ty(t));
    }

    /// Writes the string attribute of a name.
    pub fn name(&mut self, name: &Name) {
        match &mut self.pass {
            EncodingPass::Number(numbering) => numbering.name(name),
            EncodingPass::Write { out, numbering, .. } => out.varint(numbering.name_number(name)),
        }
    }

    /// Writes the number of a resource.
    pub fn resource(&mut self, resource: &Resource) {
        match &mut self.pass {
            EncodingPass::Number(numbering) => numbering.resource(resource),
            EncodingPass::Write { out, numbering, .. } => {
                out.varint(numbering.resource_number(resource))
            }
        }
    }

    /// Writes the number of a string.
    pub fn string(&mut self, string: &[u8]) {
        if let EncodingPass::Write { out, strings, .. } = &mut self.pass {
            let number = strings.number(string);
            out.varint(number);
        }
    }

    /// Writes an unsigned integer.
    pub fn varint(&mut self, value: u64) {
        self.emit(|out| out.varint(value));
    }

    /// Writes an unsigned integer with a flag in its lowest bit.
    pub fn varint_with_flag(&mut self, value: u64, flag: bool) {
        self.emit(|out| out.varint_with_flag(value, flag));
    }

    /// Writes a signed integer.
    pub fn signed(&mut self, value: i64) {
        self.emit(|out| out.signed(value));
    }

    /// Writes a list of signed integers.
    pub fn signed_list(&mut self, values: &[i64]) {
        self.varint(values.len() as u64);
        values.iter().for_each(|&v| self.signed(v));
    }

    /// Writes a byte.
    pub fn byte(&mut self, byte: u8) {
        self.emit(|out| out.byte(byte));
    }

    /// Writes the bits of a number whose width the reader knows.
    pub fn bits(&mut self, bits: u128, width: u32) {
        let low = if width >= 128 { bits } else { bits & ((1 << width) - 1) };
        match width {
            0..=8 => self.byte(low as u8),
            9..=64 => self.signed(low as i64),
            _ => {
                let words = if low >> 64 == 0 { 1 } else { 2 };
                self.varint(words);
                for i in 0..words {
                    self.signed((low >> (64 * i)) as i64);
                }
            }
        }
    }

    /// Writes bytes after their number.
    pub fn blob(&mut self, bytes: &Bytes) {
        self.varint(bytes.len() as u64);
        self.emit(|out| out.shared(bytes));
    }

    fn emit(&mut self, write: impl FnOnce(&mut Emitter)) {
        if let EncodingPass::Write { out, .. } = &mut self.pass {
            write(out);
        }
    }
}

/// Source of encodings: the entry of an attribute or type, or the properties of an op.
pub struct EntryReader<'r, 'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) entries: &'r mut Entries<'a>,
}

impl EntryReader<'_, '_> {
    fn dialect_name(&self, dialect: usize) -> &str {
        &self.entries.tables.dialects[dialect].name
    }

    /// The version of the format.
    pub fn version(&self) -> u64 {
        self.entries.tables.version
    }

    /// The offset in the file of the next byte.
    pub fn offset(&self) -> usize {
        self.cursor.offset()
    }

    /// An error at the next byte.
    ///
    /// # Errors
    /// Always.
    pub fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        self.cursor.error(message)
    }

    /// Reads an attribute.
    ///
    /// # Errors
    /// If the number is out of range, or the attribute is invalid.
    pub fn attribute(&mut self) -> Read<Attribute> {
        let at = self.cursor.offset();
        let number = self.cursor.varint()?;
        self.entries.attribute(number, at)
    }

    /// Reads an optional attribute.
    ///
    /// # Errors
    /// As [`EntryReader::attribute`].
    pub fn optional_attribute(&mut self) -> Read<Option<Attribute>> {
        let at = self.cursor.offset();
        match self.cursor.varint_with_flag()? {
            (number, true) => self.entries.attribute(number, at).map(Some),
            (_, false) => Ok(None),
        }
    }

    /// Reads a list of attributes.
    ///
    /// # Errors
    /// As [`EntryReader::attribute`].
    pub fn attributes(&mut self) -> Read<Vec<Attribute>> {
        let count = self.cursor.count("attributes")?;
        (0..count).map(|_| self.attribute()).collect()
    }

    /// Reads a type.
    ///
    /// # Errors
    /// If the number is out of range, or the type is invalid.
    pub fn ty(&mut self) -> Read<Type> {
        let at = self.cursor.offset();
        let number = self.cursor.varint()?;
        self.entries.ty(number, at)
    }

    /// Reads a list of types.
    ///
    /// # Errors
    /// As [`EntryReader::ty`].
    pub fn types(&mut self) -> Read<Vec<Type>> {
        let count = self.cursor.count("types")?;
        (0..count).map(|_| self.ty()).collect()
    }

    /// Reads a type as an attribute.
    fn type_attribute(&mut self) -> Read<Attribute> {
        let at = self.cursor.offset();
        let number = self.cursor.varint()?;
        self.entries.type_attribute(number, at)
    }

    /// Reads a string attribute as a name.
    ///
    /// # Errors
    /// If it is not a string of valid UTF-8.
    pub fn name(&mut self) -> Read<Name> {
        let at = self.cursor.offset();
        let number = self.cursor.varint()?;
        self.entries.name(number, at)
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// If the number is out of range.
    pub fn resource(&mut self) -> Read<Resource> {
        let at = self.cursor.offset();
        let number = self.cursor.varint()?;
        self.entries.tables.resource(number, at)
    }

    /// Reads a string.
    ///
    /// # Errors
    /// If the number is out of range.
    pub fn string(&mut self) -> Read<Vec<u8>> {
        let at = self.cursor.offset();
        let number = self.cursor.varint()?;
        self.entries.tables.string(number, at).map(<[u8]>::to_vec)
    }

    /// Reads an unsigned integer.
    ///
    /// # Errors
    /// If the data ends.
    pub fn varint(&mut self) -> Read<u64> {
        self.cursor.varint()
    }

    /// Reads an unsigned integer with a flag in its lowest bit.
    ///
    /// # Errors
    /// If the data ends.
    pub fn varint_with_flag(&mut self) -> Read<(u64, bool)> {
        self.cursor.varint_with_flag()
    }

    /// Reads a signed integer.
    ///
    /// # Errors
    /// If the data ends.
    pub fn signed(&mut self) -> Read<i64> {
        self.cursor.signed()
    }

    /// Reads a list of signed integers.
    ///
    /// # Errors
    /// If the data ends.
    pub fn signed_list(&mut self) -> Read<Vec<i64>> {
        let count = self.cursor.count("integers")?;
        (0..count).map(|_| self.signed()).collect()
    }

    /// Reads a count of items that take at least a byte each.
    ///
    /// # Errors
    /// If fewer bytes are left.
    pub fn count(&mut self, what: &str) -> Read<usize> {
        self.cursor.count(what)
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// If the data ends.
    pub fn byte(&mut self) -> Read<u8> {
        self.cursor.byte()
    }

    /// Reads the bits of a number of the given width.
    ///
    /// # Errors
    /// If the data ends, or the number is wider than 128 bits.
    pub fn bits(&mut self, width: u32) -> Read<u128> {
        let value = match width {
            0..=8 => u128::from(self.byte()?),
            9..=64 => u128::from(self.signed()? as u64),
            _ => {
                let words = self.varint()?;
                if words > 2 {
                    return self
                        .error(format!("numbers of {words} words of 64 bits are not supported"));
                }
                let mut value = 0;
                for i in 0..words {
                    value |= u128::from(self.signed()? as u64) << (64 * i);
                }
                value
            }
        };
        Ok(if width < 128 { value & ((1 << width) - 1) } else { value })
    }

    /// Reads an integer of an integer or index type, extended as [`AttrKind::Integer`] holds it.
    ///
    /// # Errors
    /// As [`EntryReader::bits`].
    pub fn integer(&mut self, ty: &Type) -> Read<i128> {
        let width = if ty.is_index() { 64 } else { ty.bit_width().unwrap_or(64) };
        let bits = self.bits(width)?;
        let unsigned = matches!(**ty, TypeKind::Integer { signedness: Signedness::Unsigned, .. });
        if unsigned || width <= 1 || width >= 128 {
            return Ok(bits as i128);
        }
        Ok((bits << (128 - width)) as i128 >> (128 - width))
    }

    /// Reads a length and that many bytes, which are shared with the file.
    ///
    /// # Errors
    /// If the data ends.
    pub fn blob(&mut self) -> Read<Bytes> {
        let len = self.cursor.varint()?;
        let range = self.cursor.range(len)?;
        Ok(self.entries.tables.shared(range))
    }
}

/// The range of a part of the file.
pub(super) type FileRange = Range<usize>;
