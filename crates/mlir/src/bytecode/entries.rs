//! Reading the tables of a file: strings, dialects, attributes and types.

use super::builtin::{BUILTIN_BYTECODE, string_number};
use super::cursor::{Cursor, Read, ReadError, check_index};
use super::encoding::{EntryReader, FileRange};
use super::fields::{self, Notes};
use super::{DialectBytecode, Section, version};
use crate::attrs::{Attribute, Name, Resource};
use crate::diag::Diagnostics;
use crate::ir::OpName;
use crate::ods::Registry;
use crate::text::{MAX_NESTING, MAX_PARTS, parse_attribute, parse_type};
use crate::types::Type;
use numerics::Bytes;

/// Strings: their number, their sizes from the last to the first, and their bytes from the first to the last.
pub(super) fn read_strings<'a>(mut cursor: Cursor<'a>, notes: &Notes) -> Read<Vec<&'a [u8]>> {
    let at = cursor.offset();
    let count = cursor.count("strings")?;
    let sizes = (0..count).map(|_| cursor.varint()).collect::<Read<Vec<_>>>()?;
    notes.add(at..cursor.offset(), || format!("{count} strings, and their sizes from the last to the first"));
    let string = |(number, size): (usize, u64)| {
        let at = cursor.offset();
        let [string @ .., 0] = cursor.bytes(size)? else { return cursor.error("a string without its end") };
        notes.add(at..cursor.offset(), || format!("string {number}: {:?}", String::from_utf8_lossy(string)));
        Ok(string)
    };
    sizes.into_iter().rev().enumerate().map(string).collect()
}

/// A dialect that something in the file belongs to.
pub(super) struct ReadDialect {
    pub(super) name: Name,
    bytecode: Option<&'static DialectBytecode>,
}

/// An attribute or type that is read when it is first used.
struct Slot<T> {
    range: FileRange,
    dialect: usize,
    encoded: bool,
    state: State<T>,
}

enum State<T> {
    Unread,
    Reading,
    /// With the number of attributes and types that it holds, counted as often as they would be written.
    Done(T, usize),
}

/// The tables that ops, attributes and types refer to.
pub(super) struct Entries<'a> {
    shared: &'a Bytes,
    pub(super) bytes: &'a [u8],
    pub(super) version: u64,
    pub(super) registry: &'static Registry,
    pub(super) strings: Vec<&'a [u8]>,
    pub(super) dialects: Vec<ReadDialect>,
    attributes: Vec<Slot<Attribute>>,
    types: Vec<Slot<Type>>,
    /// Strings among the attributes as names.
    names: Vec<Option<Name>>,
    pub(super) resources: Vec<Resource>,
    depth: usize,
    pub(super) notes: Notes,
    /// How many attributes and types what is being read holds so far.
    parts: usize,
}

impl<'a> Entries<'a> {
    pub(super) fn new(
        shared: &'a Bytes,
        bytes: &'a [u8],
        version: u64,
        registry: &'static Registry,
        notes: Notes,
    ) -> Entries<'a> {
        Entries {
            shared,
            bytes,
            version,
            registry,
            strings: Vec::new(),
            dialects: Vec::new(),
            attributes: Vec::new(),
            types: Vec::new(),
            names: Vec::new(),
            resources: Vec::new(),
            depth: 0,
            notes,
            parts: 0,
        }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn file(&self) -> &'a [u8] {
        self.bytes
    }

    /// A part of the file, shared.
    pub(super) fn shared(&self, range: FileRange) -> Bytes {
        self.shared.slice(range).unwrap_or_default()
    }

    pub(super) fn num_dialects(&self) -> usize {
        self.dialects.len()
    }

    /// The string of that number, which was read at `at`.
    pub(super) fn string(&self, number: u64, at: usize) -> Read<&'a [u8]> {
        check_index(number, self.strings.len(), "string", at).map(|i| self.strings[i])
    }

    /// The string of that number, which is text.
    pub(super) fn utf8(&self, number: u64, at: usize) -> Read<&'a str> {
        let string = self.string(number, at)?;
        std::str::from_utf8(string)
            .map_err(|_| ReadError { offset: at, message: format!("string {number} is not UTF-8") })
    }

    /// The resource of that number.
    pub(super) fn resource(&self, number: u64, at: usize) -> Read<Resource> {
        check_index(number, self.resources.len(), "resource", at).map(|i| self.resources[i].clone())
    }

    /// The string attribute of that number as a name.
    pub(super) fn name(&mut self, number: u64, at: usize) -> Read<Name> {
        let i = check_index(number, self.attributes.len(), "attribute", at)?;
        if let Some(name) = &self.names[i] {
            return Ok(name.clone());
        }
        let name: Name = match self.unread_string(i) {
            Some(text) => text.into(),
            None => {
                let attribute = self.attribute(number, at)?;
                let not_text =
                    || ReadError { offset: at, message: format!("a string must stand here; found {attribute}") };
                attribute.as_str().ok_or_else(not_text)?.into()
            }
        };
        self.names[i] = Some(name.clone());
        Ok(name)
    }

    /// The text of a string attribute that was not read yet: most are names, which need not become attributes.
    fn unread_string(&self, i: usize) -> Option<&'a str> {
        let slot = &self.attributes[i];
        let is_builtin = |bytecode: &DialectBytecode| std::ptr::eq(bytecode, &BUILTIN_BYTECODE);
        if !matches!(slot.state, State::Unread) || !slot.encoded {
            return None;
        }
        self.dialects[slot.dialect].bytecode.filter(|bytecode| is_builtin(bytecode))?;
        let mut cursor = Cursor::new(self.bytes, slot.range.clone());
        let number = string_number(&mut cursor).ok().flatten().filter(|_| cursor.is_empty())?;
        self.utf8(number, slot.range.start).ok()
    }

    /// The attribute of that number.
    pub(super) fn attribute(&mut self, number: u64, at: usize) -> Read<Attribute> {
        let i = check_index(number, self.attributes.len(), "attribute", at)?;
        if let State::Done(attribute, parts) = &self.attributes[i].state {
            self.parts = self.parts.saturating_add(*parts);
            return Ok(attribute.clone());
        }
        let outer = std::mem::replace(&mut self.parts, 1);
        self.enter(&self.attributes[i], at)?;
        self.attributes[i].state = State::Reading;
        let slot = &self.attributes[i];
        let (range, dialect, encoded) = (slot.range.clone(), slot.dialect, slot.encoded);
        let attribute = if encoded {
            self.decode(range.clone(), dialect, DialectBytecode::read_attribute)?
        } else {
            self.parse(range.clone(), parse_attribute)?
        };
        self.depth -= 1;
        self.notes.add(range, || format!("attribute {i}: {}", fields::text_of(&attribute)));
        let parts = if attribute.as_location().is_some() { 1 } else { self.parts };
        self.leave(outer, parts, at)?;
        self.attributes[i].state = State::Done(attribute.clone(), parts);
        Ok(attribute)
    }

    /// The type of that number.
    pub(super) fn ty(&mut self, number: u64, at: usize) -> Read<Type> {
        let i = check_index(number, self.types.len(), "type", at)?;
        if let State::Done(ty, parts) = &self.types[i].state {
            self.parts = self.parts.saturating_add(*parts);
            return Ok(ty.clone());
        }
        let outer = std::mem::replace(&mut self.parts, 1);
        self.enter(&self.types[i], at)?;
        self.types[i].state = State::Reading;
        let slot = &self.types[i];
        let (range, dialect, encoded) = (slot.range.clone(), slot.dialect, slot.encoded);
        let ty = if encoded {
            self.decode(range.clone(), dialect, DialectBytecode::read_type)?
        } else {
            self.parse(range.clone(), parse_type)?
        };
        self.depth -= 1;
        self.notes.add(range, || format!("type {i}: {ty}"));
        let parts = self.parts;
        self.leave(outer, parts, at)?;
        self.types[i].state = State::Done(ty.clone(), parts);
        Ok(ty)
    }

    /// Notes the entries that nothing refers to.
    pub(super) fn note_unused(&self) {
        fn note<T>(what: &str, slots: &[Slot<T>], notes: &Notes) {
            for (number, slot) in slots.iter().enumerate().filter(|(_, slot)| matches!(slot.state, State::Unread)) {
                notes.add(slot.range.clone(), || format!("{what} {number}, which nothing uses"));
            }
        }
        if self.notes.are_wanted() {
            note("attribute", &self.attributes, &self.notes);
            note("type", &self.types, &self.notes);
        }
    }

    fn enter<T>(&self, slot: &Slot<T>, at: usize) -> Read<()> {
        if matches!(slot.state, State::Reading) {
            return Err(ReadError { offset: at, message: "an attribute or type contains itself".to_string() });
        }
        if self.depth >= MAX_NESTING {
            let message = format!("nesting deeper than {MAX_NESTING} levels cannot be read");
            return Err(ReadError { offset: at, message });
        }
        Ok(())
    }

    /// Goes on with what holds an attribute or type that was read.
    fn leave(&mut self, outer: usize, parts: usize, at: usize) -> Read<()> {
        self.parts = outer.saturating_add(parts);
        if parts > MAX_PARTS {
            let message = format!(
                "an attribute or type holds more than {MAX_PARTS} others, counted as often as they would be written"
            );
            return Err(ReadError { offset: at, message });
        }
        Ok(())
    }

    /// Reads an entry with an encoding of its dialect.
    pub(super) fn decode<T>(
        &mut self,
        range: FileRange,
        dialect: usize,
        read: fn(&DialectBytecode, &str, &mut EntryReader<'_, 'a>) -> Read<T>,
    ) -> Read<T> {
        self.depth += 1;
        let name = self.dialects[dialect].name.clone();
        let Some(bytecode) = self.dialects[dialect].bytecode else {
            let message = format!("the dialect {name} has no encodings of attributes and types");
            return Err(ReadError { offset: range.start, message });
        };
        let mut entry = EntryReader { cursor: Cursor::new(self.bytes, range), entries: self };
        let value = read(bytecode, &name, &mut entry)?;
        if !entry.cursor.is_empty() {
            return entry
                .error(format!("{} bytes are left after {name}'s attribute or type", entry.cursor.remaining()));
        }
        Ok(value)
    }

    /// Reads an entry that is text.
    pub(super) fn parse<T>(
        &mut self,
        range: FileRange,
        parse: fn(&str, &'static Registry) -> Result<T, Diagnostics>,
    ) -> Read<T> {
        self.depth += 1;
        let offset = range.start;
        let text = Cursor::new(self.bytes, range).zero_terminated()?;
        let text = std::str::from_utf8(text)
            .map_err(|_| ReadError { offset, message: "the text of an attribute or type is not UTF-8".to_string() })?;
        parse(text, self.registry).map_err(|errors| {
            let why = errors.first().map_or("", |e| e.message.as_str());
            ReadError { offset, message: format!("`{text}` cannot be read: {why}") }
        })
    }

    /// Dialects, and the names of ops with whether they were declared when this was written.
    pub(super) fn read_dialects(
        &mut self,
        range: FileRange,
        versions: &mut Vec<(String, Vec<u64>)>,
    ) -> Read<Vec<(OpName, bool)>> {
        let mut cursor = Cursor::new(self.bytes, range);
        let at = cursor.offset();
        let count = cursor.count("dialects")?;
        self.notes.add(at..cursor.offset(), || format!("{count} dialects"));
        for number_of_dialect in 0..count {
            let at = cursor.offset();
            let (number, versioned) = if self.version < version::DIALECT_VERSIONS {
                (cursor.varint()?, false)
            } else {
                cursor.varint_with_flag()?
            };
            let name: Name = self.utf8(number, at)?.into();
            if versioned {
                let range = cursor.expect_section(Section::DialectVersions)?;
                let mut section = Cursor::new(self.bytes, range);
                let mut numbers = Vec::new();
                while !section.is_empty() {
                    numbers.push(section.varint()?);
                }
                versions.push((name.to_string(), numbers));
            }
            self.notes.add(at..cursor.offset(), || format!("dialect {number_of_dialect}: {name}"));
            let bytecode = self.registry.dialect(&name).and_then(|d| d.bytecode);
            self.dialects.push(ReadDialect { name, bytecode });
        }
        if self.version >= version::ELIDED_ARGUMENT_LOCATIONS {
            let at = cursor.offset();
            let count = cursor.varint()?;
            self.notes.add(at..cursor.offset(), || format!("{count} op names"));
        }
        let mut names = Vec::new();
        while !cursor.is_empty() {
            let at = cursor.offset();
            let dialect = cursor.index(self.dialects.len(), "dialect")?;
            let count = cursor.count("op names")?;
            self.notes.add(at..cursor.offset(), || format!("{count} op names of {}", self.dialects[dialect].name));
            for _ in 0..count {
                let at = cursor.offset();
                let (number, declared) = if self.version < version::PROPERTIES {
                    (cursor.varint()?, true)
                } else {
                    cursor.varint_with_flag()?
                };
                let mnemonic = self.utf8(number, at)?;
                let dialect = &self.dialects[dialect].name;
                let name = if mnemonic.is_empty() { dialect.to_string() } else { format!("{dialect}.{mnemonic}") };
                self.notes.add(at..cursor.offset(), || format!("op name {}: {name}", names.len()));
                let name = match self.registry.op(&name) {
                    Some(def) => OpName::Registered(def),
                    None => OpName::Unregistered(name.into()),
                };
                names.push((name, declared));
            }
        }
        Ok(names)
    }

    /// Where the attributes and types stand.
    pub(super) fn read_offsets(&mut self, mut offsets: Cursor<'_>, data: FileRange) -> Read<()> {
        let at = offsets.offset();
        let attributes = offsets.count("attributes")?;
        let types = offsets.count("types")?;
        self.notes.add(at..offsets.offset(), || format!("{attributes} attributes, {types} types"));
        let mut data = Cursor::new(self.bytes, data);
        while self.attributes.len() < attributes {
            self.read_group("attribute", &mut offsets, &mut data, attributes, |e| &mut e.attributes)?;
        }
        self.names.resize(self.attributes.len(), None);
        while self.types.len() < types {
            self.read_group("type", &mut offsets, &mut data, types, |e| &mut e.types)?;
        }
        Ok(())
    }

    fn read_group<T>(
        &mut self,
        what: &str,
        offsets: &mut Cursor<'_>,
        data: &mut Cursor<'_>,
        total: usize,
        table: for<'e> fn(&'e mut Entries<'a>) -> &'e mut Vec<Slot<T>>,
    ) -> Read<()> {
        let start = offsets.offset();
        let dialect = offsets.index(self.dialects.len(), "dialect")?;
        let at = offsets.offset();
        let count = offsets.count("attributes or types")?;
        let notes = self.notes.clone();
        notes.add(start..offsets.offset(), || format!("{count} {what}s of {}", self.dialects[dialect].name));
        let slots = table(self);
        if count == 0 || slots.len() + count > total {
            let message = format!("a group of {count}, where {} are left", total - slots.len());
            return Err(ReadError { offset: at, message });
        }
        for _ in 0..count {
            let at = offsets.offset();
            let (size, encoded) = offsets.varint_with_flag()?;
            notes.add(at..offsets.offset(), || {
                format!("{what} {}: {size} bytes{}", slots.len(), if encoded { "" } else { " of text" })
            });
            slots.push(Slot { range: data.range(size)?, dialect, encoded, state: State::Unread });
        }
        Ok(())
    }
}
