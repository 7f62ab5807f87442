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
use std::fmt::Display;

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

/// Attributes or types, which are read when they are first used.
struct Table<T> {
    slots: Vec<Slot<T>>,
    /// Where the bytes of the last one end.
    end: usize,
}

/// The bytes of an entry reach from `start` to where those of the next begin.
struct Slot<T> {
    start: usize,
    dialect: u32,
    encoded: bool,
    state: State<T>,
}

enum State<T> {
    Unread,
    Reading,
    /// With the number of attributes and types that it holds, counted as often as they would be written.
    Done(T, u32),
}

impl<T> Table<T> {
    fn new() -> Table<T> {
        Table { slots: Vec::new(), end: 0 }
    }

    fn range(&self, i: usize) -> FileRange {
        self.slots[i].start..self.slots.get(i + 1).map_or(self.end, |next| next.start)
    }
}

/// What a table holds.
trait Entry: Clone + Display {
    const KIND: &'static str;
    const READ: fn(&DialectBytecode, usize, &mut EntryReader<'_, '_>) -> Read<Self>;
    const PARSE: fn(&str, &'static Registry) -> Result<Self, Diagnostics>;

    fn table<'e>(entries: &'e Entries<'_>) -> &'e Table<Self>;
    fn table_mut<'e>(entries: &'e mut Entries<'_>) -> &'e mut Table<Self>;

    /// Whether what it holds does not count as its parts.
    fn is_whole(&self) -> bool {
        false
    }

    /// As text, for notes.
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Entry for Attribute {
    const KIND: &'static str = "attribute";
    const READ: fn(&DialectBytecode, usize, &mut EntryReader<'_, '_>) -> Read<Self> = DialectBytecode::read_attribute;
    const PARSE: fn(&str, &'static Registry) -> Result<Self, Diagnostics> = parse_attribute;

    fn table<'e>(entries: &'e Entries<'_>) -> &'e Table<Self> {
        &entries.attributes
    }

    fn table_mut<'e>(entries: &'e mut Entries<'_>) -> &'e mut Table<Self> {
        &mut entries.attributes
    }

    fn is_whole(&self) -> bool {
        self.as_location().is_some()
    }

    fn text(&self) -> String {
        fields::text_of(self)
    }
}

impl Entry for Type {
    const KIND: &'static str = "type";
    const READ: fn(&DialectBytecode, usize, &mut EntryReader<'_, '_>) -> Read<Self> = DialectBytecode::read_type;
    const PARSE: fn(&str, &'static Registry) -> Result<Self, Diagnostics> = parse_type;

    fn table<'e>(entries: &'e Entries<'_>) -> &'e Table<Self> {
        &entries.types
    }

    fn table_mut<'e>(entries: &'e mut Entries<'_>) -> &'e mut Table<Self> {
        &mut entries.types
    }
}

/// The tables that ops, attributes and types refer to.
pub(super) struct Entries<'a> {
    shared: &'a Bytes,
    pub(super) bytes: &'a [u8],
    pub(super) version: u64,
    pub(super) registry: &'static Registry,
    pub(super) strings: Vec<&'a [u8]>,
    pub(super) dialects: Vec<ReadDialect>,
    attributes: Table<Attribute>,
    types: Table<Type>,
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
            attributes: Table::new(),
            types: Table::new(),
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
        std::str::from_utf8(string).map_err(|_| ReadError::new(at, format!("string {number} is not UTF-8")))
    }

    /// The resource of that number.
    pub(super) fn resource(&self, number: u64, at: usize) -> Read<Resource> {
        check_index(number, self.resources.len(), "resource", at).map(|i| self.resources[i].clone())
    }

    /// The string attribute of that number as a name.
    pub(super) fn name(&mut self, number: u64, at: usize) -> Read<Name> {
        let i = check_index(number, self.attributes.slots.len(), "attribute", at)?;
        if let Some(name) = &self.names[i] {
            return Ok(name.clone());
        }
        let name: Name = match self.unread_string(i) {
            Some(text) => text.into(),
            None => {
                let attribute = self.attribute(number, at)?;
                let not_text = || ReadError::new(at, format!("a string must stand here; found {attribute}"));
                attribute.as_str().ok_or_else(not_text)?.into()
            }
        };
        self.names[i] = Some(name.clone());
        Ok(name)
    }

    /// The text of a string attribute that was not read yet: most are names, which need not become attributes.
    fn unread_string(&self, i: usize) -> Option<&'a str> {
        let slot = &self.attributes.slots[i];
        let is_builtin = |bytecode: &DialectBytecode| std::ptr::eq(bytecode, &BUILTIN_BYTECODE);
        if !matches!(slot.state, State::Unread) || !slot.encoded {
            return None;
        }
        self.dialects[slot.dialect as usize].bytecode.filter(|bytecode| is_builtin(bytecode))?;
        let mut cursor = Cursor::new(self.bytes, self.attributes.range(i));
        let number = string_number(&mut cursor).ok().flatten().filter(|_| cursor.is_empty())?;
        self.utf8(number, slot.start).ok()
    }

    /// The attribute of that number.
    pub(super) fn attribute(&mut self, number: u64, at: usize) -> Read<Attribute> {
        self.entry(number, at)
    }

    /// The type of that number.
    pub(super) fn ty(&mut self, number: u64, at: usize) -> Read<Type> {
        self.entry(number, at)
    }

    fn entry<T: Entry>(&mut self, number: u64, at: usize) -> Read<T> {
        let slots = &T::table(self).slots;
        let i = check_index(number, slots.len(), T::KIND, at)?;
        match &slots[i].state {
            State::Done(value, parts) => {
                let (value, parts) = (value.clone(), *parts);
                self.parts = self.parts.saturating_add(parts as usize);
                Ok(value)
            }
            State::Unread => self.read_entry(i, at),
            State::Reading => Err(ReadError::new(at, "an attribute or type contains itself".to_string())),
        }
    }

    /// Reads the entry `i`, which is used at `at` for the first time.
    fn read_entry<T: Entry>(&mut self, i: usize, at: usize) -> Read<T> {
        if self.depth >= MAX_NESTING {
            return Err(ReadError::new(at, format!("nesting deeper than {MAX_NESTING} levels cannot be read")));
        }
        let range = T::table(self).range(i);
        let slot = &mut T::table_mut(self).slots[i];
        slot.state = State::Reading;
        let (dialect, encoded) = (slot.dialect as usize, slot.encoded);
        let outer = std::mem::replace(&mut self.parts, 1);
        self.depth += 1;
        let value: T = if encoded { self.decode(range.clone(), dialect)? } else { self.parse(range.clone())? };
        self.depth -= 1;
        self.notes.add(range, || format!("{} {i}: {}", T::KIND, value.text()));
        let parts = if value.is_whole() { 1 } else { self.parts };
        if parts > MAX_PARTS {
            let message = format!(
                "an attribute or type holds more than {MAX_PARTS} others, counted as often as they would be written"
            );
            return Err(ReadError::new(at, message));
        }
        self.parts = outer.saturating_add(parts);
        T::table_mut(self).slots[i].state = State::Done(value.clone(), parts as u32);
        Ok(value)
    }

    /// Notes the entries that nothing refers to.
    pub(super) fn note_unused(&self) {
        fn note<T: Entry>(entries: &Entries<'_>) {
            let table = T::table(entries);
            let unused = table.slots.iter().enumerate().filter(|(_, slot)| matches!(slot.state, State::Unread));
            for (i, _) in unused {
                entries.notes.add(table.range(i), || format!("{} {i}, which nothing uses", T::KIND));
            }
        }
        if self.notes.are_wanted() {
            note::<Attribute>(self);
            note::<Type>(self);
        }
    }

    /// Reads an entry with an encoding of its dialect.
    fn decode<T: Entry>(&mut self, range: FileRange, dialect: usize) -> Read<T> {
        let ReadDialect { name, bytecode } = &self.dialects[dialect];
        let Some(bytecode) = *bytecode else {
            let message = format!("the dialect {name} has no encodings of attributes and types");
            return Err(ReadError::new(range.start, message));
        };
        let mut entry = EntryReader { cursor: Cursor::new(self.bytes, range), entries: self };
        let value = T::READ(bytecode, dialect, &mut entry)?;
        match entry.cursor.remaining() {
            0 => Ok(value),
            left => {
                let name = &entry.entries.dialects[dialect].name;
                entry.error(format!("{left} bytes are left after {name}'s {}", T::KIND))
            }
        }
    }

    /// Reads an entry that is text.
    fn parse<T: Entry>(&mut self, range: FileRange) -> Read<T> {
        let offset = range.start;
        let text = Cursor::new(self.bytes, range).zero_terminated()?;
        let text = std::str::from_utf8(text)
            .map_err(|_| ReadError::new(offset, "the text of an attribute or type is not UTF-8".to_string()))?;
        T::PARSE(text, self.registry).map_err(|errors| {
            let why = errors.first().map_or("", |e| e.message.as_str());
            ReadError::new(offset, format!("`{text}` cannot be read: {why}"))
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
        self.read_table::<Attribute>(attributes, &mut offsets, &mut data)?;
        self.names.resize(attributes, None);
        self.read_table::<Type>(types, &mut offsets, &mut data)
    }

    /// Where `total` attributes or types stand: their sizes, in groups of one dialect.
    fn read_table<T: Entry>(&mut self, total: usize, offsets: &mut Cursor<'_>, data: &mut Cursor<'_>) -> Read<()> {
        let kind = T::KIND;
        let mut slots = Vec::with_capacity(total);
        while slots.len() < total {
            let start = offsets.offset();
            let dialect = offsets.index(self.dialects.len(), "dialect")?;
            let at = offsets.offset();
            let count = offsets.count("attributes or types")?;
            let name = &self.dialects[dialect].name;
            self.notes.add(start..offsets.offset(), || format!("{count} {kind}s of {name}"));
            let left = total - slots.len();
            if count == 0 || count > left {
                return Err(ReadError::new(at, format!("a group of {count}, where {left} are left")));
            }
            for _ in 0..count {
                let at = offsets.offset();
                let (size, encoded) = offsets.varint_with_flag()?;
                self.notes.add(at..offsets.offset(), || {
                    format!("{kind} {}: {size} bytes{}", slots.len(), if encoded { "" } else { " of text" })
                });
                let range = data.range(size)?;
                slots.push(Slot { start: range.start, dialect: dialect as u32, encoded, state: State::Unread });
            }
        }
        *T::table_mut(self) = Table { slots, end: data.offset() };
        Ok(())
    }
}
