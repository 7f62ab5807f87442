//! The tables of a file: strings, dialects and op names, and the positions of attributes and types.

use super::builtin::BUILTIN_BYTECODE;
use super::cursor::{Cursor, Read, ReadError, check_index};
use super::encoding::FileRange;
use super::fields::Notes;
use super::{DialectBytecode, SectionId, version};
use crate::attrs::{Name, Resource};
use crate::ir::OpName;
use crate::ods::Registry;
use crate::text::ParseOptions;
use numerics::Bytes;

/// A dialect that is referenced in the file.
pub(super) struct ReadDialect {
    pub(super) name: Name,
    pub(super) bytecode: Option<&'static DialectBytecode>,
}

/// Start of an attribute's or type's encoding, which ends where the next one starts.
#[derive(Clone, Copy)]
pub(super) struct EncodingStart {
    start: usize,
    pub(super) dialect: u32,
    pub(super) encoded: bool,
    /// True if it has the builtin dialect's encoding.
    builtin: bool,
}

/// The positions of all attributes, or all types.
#[derive(Default)]
pub(super) struct Places {
    places: Vec<EncodingStart>,
    /// End of the last one.
    end: usize,
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get(&self, i: usize) -> EncodingStart {
        self.places[i]
    }

    pub(super) fn range(&self, i: usize) -> FileRange {
        self.places[i].start..self.places.get(i + 1).map_or(self.end, |next| next.start)
    }
}

/// The tables that ops, attributes and types refer to.
pub(super) struct Tables {
    shared: Bytes,
    pub(super) version: u64,
    pub(super) registry: &'static Registry,
    /// Options for attributes and types stored as text.
    pub(super) text_options: ParseOptions,
    pub(super) strings: Vec<FileRange>,
    /// True if all strings are ASCII.
    ascii: bool,
    pub(super) dialects: Vec<ReadDialect>,
    pub(super) attributes: Places,
    pub(super) types: Places,
    pub(super) resources: Vec<Resource>,
}

impl Tables {
    pub(super) fn new(
        shared: Bytes,
        version: u64,
        registry: &'static Registry,
        text_options: ParseOptions,
    ) -> Tables {
        Tables {
            shared,
            version,
            registry,
            text_options,
            strings: Vec::new(),
            ascii: false,
            dialects: Vec::new(),
            attributes: Places::default(),
            types: Places::default(),
            resources: Vec::new(),
        }
    }

    pub(super) fn file(&self) -> &[u8] {
        &self.shared
    }

    /// A part of the file, sharing its bytes.
    pub(super) fn shared(&self, range: FileRange) -> Bytes {
        self.shared.slice(range).unwrap_or_default()
    }

    /// The string with the given number, which was read at `at`.
    pub(super) fn string(&self, number: u64, at: usize) -> Read<&[u8]> {
        check_index(number, self.strings.len(), "string", at)
            .map(|i| &self.file()[self.strings[i].clone()])
    }

    /// The string with the given number, which must be UTF-8.
    pub(super) fn utf8(&self, number: u64, at: usize) -> Read<&str> {
        let string = self.string(number, at)?;
        std::str::from_utf8(string)
            .map_err(|_| ReadError::new(at, format!("string {number} is not UTF-8")))
    }

    /// The bytes of the attribute with the given number, if it has an encoding of the builtin
    /// dialect.
    pub(super) fn builtin_attribute<'a>(&self, i: usize, file: &'a [u8]) -> Option<Cursor<'a>> {
        self.attributes.get(i).builtin.then(|| Cursor::new(file, self.attributes.range(i)))
    }

    /// True if the string with the given number is UTF-8.
    pub(super) fn is_text(&self, number: u64) -> bool {
        if self.ascii { number < self.strings.len() as u64 } else { self.utf8(number, 0).is_ok() }
    }

    /// The resource with the given number.
    pub(super) fn resource(&self, number: u64, at: usize) -> Read<Resource> {
        check_index(number, self.resources.len(), "resource", at).map(|i| self.resources[i].clone())
    }

    /// Reads the strings: their number, their sizes from last to first, and their bytes from first
    /// to last.
    pub(super) fn read_strings(&mut self, range: FileRange, notes: &Notes) -> Read<()> {
        let file = self.shared.clone();
        let mut cursor = Cursor::new(&file, range.clone());
        let at = cursor.offset();
        let count = cursor.count("strings")?;
        let mut sizes = Vec::with_capacity(count);
        for _ in 0..count {
            sizes.push(cursor.varint()?);
        }
        notes.add(at..cursor.offset(), || {
            format!("{count} strings, and their sizes from the last to the first")
        });
        self.ascii = file[cursor.offset()..range.end].is_ascii();
        self.strings.reserve_exact(count);
        for (number, size) in sizes.into_iter().rev().enumerate() {
            let at = cursor.offset();
            let [string @ .., 0] = cursor.bytes(size)? else {
                return cursor.error("a string without its end");
            };
            notes.add(at..cursor.offset(), || {
                format!("string {number}: {:?}", String::from_utf8_lossy(string))
            });
            self.strings.push(at..at + string.len());
        }
        Ok(())
    }

    /// Reads the dialects, and the op names with a flag for those registered at the time of
    /// writing.
    pub(super) fn read_dialects(
        &mut self,
        range: FileRange,
        notes: &Notes,
        versions: &mut Vec<(String, Vec<u64>)>,
    ) -> Read<Vec<(OpName, bool)>> {
        let file = self.shared.clone();
        let mut cursor = Cursor::new(&file, range);
        let at = cursor.offset();
        let count = cursor.count("dialects")?;
        notes.add(at..cursor.offset(), || format!("{count} dialects"));
        for number_of_dialect in 0..count {
            let at = cursor.offset();
            let (number, versioned) = if self.version < version::DIALECT_VERSIONS {
                (cursor.varint()?, false)
            } else {
                cursor.varint_with_flag()?
            };
            let name: Name = self.utf8(number, at)?.into();
            if versioned {
                let range = cursor.expect_section(SectionId::DialectVersions)?;
                let mut section = Cursor::new(&file, range);
                let mut numbers = Vec::new();
                while !section.is_empty() {
                    numbers.push(section.varint()?);
                }
                versions.push((name.to_string(), numbers));
            }
            notes.add(at..cursor.offset(), || format!("dialect {number_of_dialect}: {name}"));
            let bytecode = self.registry.dialect(&name).and_then(|d| d.bytecode);
            self.dialects.push(ReadDialect { name, bytecode });
        }
        if self.version >= version::ELIDED_ARGUMENT_LOCATIONS {
            let at = cursor.offset();
            let count = cursor.varint()?;
            notes.add(at..cursor.offset(), || format!("{count} op names"));
        }
        let mut names = Vec::new();
        while !cursor.is_empty() {
            let at = cursor.offset();
            let dialect = cursor.index(self.dialects.len(), "dialect")?;
            let count = cursor.count("op names")?;
            notes.add(at..cursor.offset(), || {
                format!("{count} op names of {}", self.dialects[dialect].name)
            });
            for _ in 0..count {
                let at = cursor.offset();
                let (number, declared) = if self.version < version::PROPERTIES {
                    (cursor.varint()?, true)
                } else {
                    cursor.varint_with_flag()?
                };
                let mnemonic = self.utf8(number, at)?;
                let dialect = &self.dialects[dialect].name;
                let name = if mnemonic.is_empty() {
                    dialect.to_string()
                } else {
                    format!("{dialect}.{mnemonic}")
                };
                notes.add(at..cursor.offset(), || format!("op name {}: {name}", names.len()));
                let name = match self.registry.op(&name) {
                    Some(def) => OpName::Registered(def),
                    None => OpName::Unregistered(name.into()),
                };
                names.push((name, declared));
            }
        }
        Ok(names)
    }

    /// Reads the positions of attributes and types.
    pub(super) fn read_offsets(
        &mut self,
        mut offsets: Cursor<'_>,
        data: FileRange,
        notes: &Notes,
    ) -> Read<()> {
        let at = offsets.offset();
        let attributes = offsets.count("attributes")?;
        let types = offsets.count("types")?;
        notes.add(at..offsets.offset(), || format!("{attributes} attributes, {types} types"));
        let mut data = Cursor::new(self.file(), data);
        let attributes =
            self.read_places("attribute", attributes, &mut offsets, &mut data, notes)?;
        let types = self.read_places("type", types, &mut offsets, &mut data, notes)?;
        (self.attributes, self.types) = (attributes, types);
        Ok(())
    }

    /// Reads the positions of `total` attributes or types: their sizes, grouped by dialect.
    fn read_places(
        &self,
        kind: &str,
        total: usize,
        offsets: &mut Cursor<'_>,
        data: &mut Cursor<'_>,
        notes: &Notes,
    ) -> Read<Places> {
        let mut places = Vec::with_capacity(total);
        while places.len() < total {
            let start = offsets.offset();
            let dialect = offsets.index(self.dialects.len(), "dialect")?;
            let at = offsets.offset();
            let count = offsets.count("attributes or types")?;
            let ReadDialect { name, bytecode } = &self.dialects[dialect];
            let is_builtin =
                bytecode.is_some_and(|bytecode| std::ptr::eq(bytecode, &BUILTIN_BYTECODE));
            notes.add(start..offsets.offset(), || format!("{count} {kind}s of {name}"));
            let left = total - places.len();
            if count == 0 || count > left {
                return Err(ReadError::new(
                    at,
                    format!("a group of {count}, where {left} are left"),
                ));
            }
            for _ in 0..count {
                let at = offsets.offset();
                let (size, encoded) = offsets.varint_with_flag()?;
                notes.add(at..offsets.offset(), || {
                    format!(
                        "{kind} {}: {size} bytes{}",
                        places.len(),
                        if encoded { "" } else { " of text" }
                    )
                });
                let start = data.range(size)?.start;
                places.push(EncodingStart {
                    start,
                    dialect: dialect as u32,
                    encoded,
                    builtin: encoded && is_builtin,
                });
            }
        }
        Ok(Places { places, end: data.offset() })
    }
}
