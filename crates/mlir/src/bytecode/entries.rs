//! Attributes and types of a file, decoded lazily on first reference.

use super::DialectBytecode;
use super::builtin::string_number;
use super::cursor::{Cursor, Read, ReadError, check_index};
use super::encoding::{EntryReader, FileRange};
use super::fields::{self, Notes};
use super::sparse::Sparse;
use super::tables::{Places, ReadDialect, Tables};
use crate::attrs::{Attribute, Name};
use crate::diag::Diagnostics;
use crate::diag::counted;
use crate::node::{Extent, MAX_NESTING};
use crate::ods::Registry;
use crate::text::{ParseOptions, parse_attribute, parse_type};
use crate::types::Type;
use std::fmt::Display;

/// The state of a referenced attribute or type.
pub(super) enum EntryState<T> {
    Reading,
    /// Decoded.
    Done(T),
}

/// Attributes or types.
trait LazyEntry: Clone + Display {
    const KIND: &'static str;
    const READ: fn(&DialectBytecode, usize, &mut EntryReader<'_, '_>) -> Read<Self>;
    const PARSE: fn(&str, &'static Registry, ParseOptions) -> Result<Self, Diagnostics>;

    fn places(tables: &Tables) -> &Places;
    fn states<'e>(entries: &'e mut Entries<'_>) -> &'e mut Sparse<EntryState<Self>>;

    /// The size with everything nested.
    fn extent(&self) -> Extent;
}

impl LazyEntry for Attribute {
    const KIND: &'static str = "attribute";
    const READ: fn(&DialectBytecode, usize, &mut EntryReader<'_, '_>) -> Read<Self> =
        DialectBytecode::read_attribute;
    const PARSE: fn(&str, &'static Registry, ParseOptions) -> Result<Self, Diagnostics> =
        parse_attribute;

    fn places(tables: &Tables) -> &Places {
        &tables.attributes
    }

    fn states<'e>(entries: &'e mut Entries<'_>) -> &'e mut Sparse<EntryState<Self>> {
        &mut entries.attributes
    }

    fn extent(&self) -> Extent {
        self.extent()
    }
}

impl LazyEntry for Type {
    const KIND: &'static str = "type";
    const READ: fn(&DialectBytecode, usize, &mut EntryReader<'_, '_>) -> Read<Self> =
        DialectBytecode::read_type;
    const PARSE: fn(&str, &'static Registry, ParseOptions) -> Result<Self, Diagnostics> =
        parse_type;

    fn places(tables: &Tables) -> &Places {
        &tables.types
    }

    fn states<'e>(entries: &'e mut Entries<'_>) -> &'e mut Sparse<EntryState<Self>> {
        &mut entries.types
    }

    fn extent(&self) -> Extent {
        self.extent()
    }
}

/// Cache of the entries decoded so far.
pub(super) struct Entries<'a> {
    pub(super) tables: &'a Tables,
    attributes: Sparse<EntryState<Attribute>>,
    types: Sparse<EntryState<Type>>,
    /// Cache of types as attributes.
    type_attributes: Sparse<Attribute>,
    /// Cache of string attributes as names.
    names: Sparse<Name>,
    depth: usize,
    pub(super) notes: Notes,
}

impl<'a> Entries<'a> {
    pub(super) fn new(tables: &'a Tables, notes: Notes) -> Entries<'a> {
        Entries {
            tables,
            attributes: Sparse::new(tables.attributes.len()),
            types: Sparse::new(tables.types.len()),
            type_attributes: Sparse::new(tables.types.len()),
            names: Sparse::new(tables.attributes.len()),
            depth: 0,
            notes,
        }
    }

    pub(super) fn file(&self) -> &'a [u8] {
        self.tables.file()
    }

    /// The string attribute with the given number as a name.
    pub(super) fn name(&mut self, number: u64, at: usize) -> Read<Name> {
        let i = check_index(number, self.attributes.len(), "attribute", at)?;
        if let Some(name) = self.names.get(i) {
            return Ok(name.clone());
        }
        let name: Name = match self.unread_string(i) {
            Some(text) => text.into(),
            None => {
                let attribute = self.attribute(number, at)?;
                let not_text =
                    || ReadError::new(at, format!("a string is required here; found {attribute}"));
                attribute.as_str().ok_or_else(not_text)?.into()
            }
        };
        self.names.set(i, name.clone());
        Ok(name)
    }

    /// The text of a string attribute that was not decoded yet: most are names, for which no
    /// attribute is needed.
    fn unread_string(&self, i: usize) -> Option<&'a str> {
        if self.attributes.get(i).is_some() {
            return None;
        }
        let mut cursor = self.tables.builtin_attribute(i, self.file())?;
        let at = cursor.offset();
        let number = string_number(&mut cursor).ok().flatten().filter(|_| cursor.is_empty())?;
        self.tables.utf8(number, at).ok()
    }

    /// The attribute with the given number.
    pub(super) fn attribute(&mut self, number: u64, at: usize) -> Read<Attribute> {
        self.entry(number, at)
    }

    /// The location with the given number.
    pub(super) fn location(&mut self, number: u64, at: usize) -> Read<Attribute> {
        let location = self.attribute(number, at)?;
        if location.as_location().is_none() {
            return Err(ReadError::new(
                at,
                format!("a location is required here; found {location}"),
            ));
        }
        Ok(location)
    }

    /// The type with the given number.
    pub(super) fn ty(&mut self, number: u64, at: usize) -> Read<Type> {
        self.entry(number, at)
    }

    /// The type with the given number as an attribute.
    pub(super) fn type_attribute(&mut self, number: u64, at: usize) -> Read<Attribute> {
        let ty = self.ty(number, at)?;
        let i = number as usize;
        if let Some(attribute) = self.type_attributes.get(i) {
            return Ok(attribute.clone());
        }
        let attribute = Attribute::from(ty);
        self.type_attributes.set(i, attribute.clone());
        Ok(attribute)
    }

    fn entry<T: LazyEntry>(&mut self, number: u64, at: usize) -> Read<T> {
        let states = T::states(self);
        let i = check_index(number, states.len(), T::KIND, at)?;
        match states.get(i) {
            Some(EntryState::Done(value)) => Ok(value.clone()),
            None => self.read_entry(i, at),
            Some(EntryState::Reading) => {
                Err(ReadError::new(at, "an attribute or type contains itself".to_string()))
            }
        }
    }

    /// Decodes the entry `i`, first referenced at `at`.
    fn read_entry<T: LazyEntry>(&mut self, i: usize, at: usize) -> Read<T> {
        if self.depth >= MAX_NESTING {
            return Err(ReadError::new(
                at,
                format!("nesting deeper than {MAX_NESTING} levels cannot be read"),
            ));
        }
        T::states(self).set(i, EntryState::Reading);
        let (place, range) = (T::places(self.tables).get(i), T::places(self.tables).range(i));
        self.depth += 1;
        let value: T = match place.encoded {
            true => self.decode(range.clone(), place.dialect as usize)?,
            false => self.parse(range.clone())?,
        };
        self.depth -= 1;
        self.notes.add(range, || format!("{} {i}: {}", T::KIND, fields::text_of(&value)));
        // Entries that were decoded before may make this one larger than the recursion.
        value.extent().check(0).map_err(|message| ReadError::new(at, message))?;
        T::states(self).set(i, EntryState::Done(value.clone()));
        Ok(value)
    }

    /// Annotates unreferenced entries.
    pub(super) fn note_unused(&mut self) {
        fn note<T: LazyEntry>(entries: &mut Entries<'_>) {
            let states = T::states(entries);
            let unused: Vec<usize> =
                (0..states.len()).filter(|&i| states.get(i).is_none()).collect();
            for i in unused {
                entries.notes.add(T::places(entries.tables).range(i), || {
                    format!("{} {i}, which nothing uses", T::KIND)
                });
            }
        }
        if self.notes.are_wanted() {
            note::<Attribute>(self);
            note::<Type>(self);
        }
    }

    /// Decodes an entry with its dialect's encoding.
    fn decode<T: LazyEntry>(&mut self, range: FileRange, dialect: usize) -> Read<T> {
        let ReadDialect { name, bytecode } = &self.tables.dialects[dialect];
        let Some(bytecode) = *bytecode else {
            let message = format!("the dialect {name} has no encodings of attributes and types");
            return Err(ReadError::new(range.start, message));
        };
        let mut entry = EntryReader { cursor: Cursor::new(self.file(), range), entries: self };
        let value = T::READ(bytecode, dialect, &mut entry)?;
        match entry.cursor.remaining() {
            0 => Ok(value),
            left => {
                let name = &entry.entries.tables.dialects[dialect].name;
                entry.error(format!(
                    "{name}'s {} is followed by {}",
                    T::KIND,
                    counted(left, "byte")
                ))
            }
        }
    }

    /// Parses an entry stored as text.
    fn parse<T: LazyEntry>(&mut self, range: FileRange) -> Read<T> {
        let offset = range.start;
        let text = Cursor::new(self.file(), range).zero_terminated()?;
        let text = std::str::from_utf8(text).map_err(|_| {
            ReadError::new(offset, "the text of an attribute or type is not UTF-8".to_string())
        })?;
        T::PARSE(text, self.tables.registry, self.tables.text_options).map_err(|errors| {
            let why = errors.first().map_or("", |e| e.message.as_str());
            ReadError::new(offset, format!("`{text}` cannot be read: {why}"))
        })
    }
}
