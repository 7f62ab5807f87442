//! Lazily decoded locations. They make up most attributes of a program, and few are ever used: ops
//! hold their numbers, which are validated when the ops are read. All are decoded when one is first
//! requested.

use super::builtin::{attribute_code, string_number};
use super::cursor::Cursor;
use super::entries::Entries;
use super::fields::Notes;
use super::tables::Tables;
use crate::attrs::Attribute;
use crate::ir::LocationTable;
use std::sync::OnceLock;

/// Maximum nesting of locations that are decoded lazily; below the limit for reading.
const MAX_LEVELS: u8 = 64;

/// The state of validating an attribute that may be part of a location.
#[derive(Clone, Copy)]
pub(super) enum LocationCheck {
    Unchecked,
    /// Being validated, or must be decoded to find out.
    Doubtful,
    /// A valid UTF-8 string.
    Name,
    /// A valid location with its nesting depth.
    Location(u8),
}

/// Validates locations without decoding them.
pub(super) struct Checks<'a> {
    tables: &'a Tables,
    file: &'a [u8],
    /// Results by attribute number.
    known: Vec<LocationCheck>,
}

impl<'a> Checks<'a> {
    /// Starts without results.
    pub(super) fn new(tables: &'a Tables) -> Checks<'a> {
        Checks {
            tables,
            file: tables.file(),
            known: vec![LocationCheck::Unchecked; tables.attributes.len()],
        }
    }

    /// The number of a location that can be decoded lazily; `None` for other attributes, which must
    /// be decoded now.
    pub(super) fn accept(&mut self, number: u64) -> Option<u32> {
        self.location(Some(number), 0)?;
        u32::try_from(number).ok()
    }

    /// All results.
    pub(super) fn finish(self) -> Vec<LocationCheck> {
        self.known
    }

    /// The nesting depth of the location with the given number, itself nested `above` levels deep.
    fn location(&mut self, number: Option<u64>, above: u8) -> Option<u8> {
        let i = usize::try_from(number?).ok()?;
        let check = self.known.get_mut(i)?;
        match *check {
            LocationCheck::Location(levels) => return Some(levels),
            LocationCheck::Unchecked if above < MAX_LEVELS => *check = LocationCheck::Doubtful,
            _ => return None,
        }
        let cursor = self.tables.builtin_attribute(i, self.file)?;
        let levels =
            1 + self.levels_below(cursor, above + 1).filter(|&levels| levels < MAX_LEVELS)?;
        self.known[i] = LocationCheck::Location(levels);
        Some(levels)
    }

    /// The nesting depth below a location; `None` if it is invalid, or of a kind that is not
    /// validated here.
    fn levels_below(&mut self, mut cursor: Cursor<'_>, above: u8) -> Option<u8> {
        let mut number = || cursor.varint().ok();
        let levels = match number()? {
            attribute_code::UNKNOWN => 0,
            attribute_code::CALL_SITE => {
                self.location(number(), above)?.max(self.location(number(), above)?)
            }
            attribute_code::NAMED => {
                self.name(number())?;
                self.location(number(), above)?
            }
            attribute_code::FILE => {
                self.name(number())?;
                let _place = (number()?, number()?);
                0
            }
            attribute_code::FILE_RANGE => {
                self.name(number())?;
                let count = number().filter(|&count| count <= 4)?;
                (0..count).try_for_each(|_| number().map(drop))?;
                0
            }
            attribute_code::FUSED => {
                let count = number()?;
                (0..count).try_fold(0, |levels, _| {
                    self.location(number(), above).map(|l| levels.max(l))
                })?
            }
            _ => return None,
        };
        cursor.is_empty().then_some(levels)
    }

    /// `Some` if an attribute is a valid UTF-8 string.
    fn name(&mut self, number: Option<u64>) -> Option<()> {
        let i = usize::try_from(number?).ok()?;
        if let LocationCheck::Unchecked = self.known.get(i)? {
            let mut cursor = self.tables.builtin_attribute(i, self.file)?;
            let string = string_number(&mut cursor).ok()?.filter(|_| cursor.is_empty())?;
            if !self.tables.is_text(string) {
                return None;
            }
            self.known[i] = LocationCheck::Name;
        }
        matches!(self.known[i], LocationCheck::Name).then_some(())
    }
}

/// The locations of a program that was read from bytecode.
pub(crate) struct Locations {
    tables: Tables,
    checks: Vec<LocationCheck>,
    /// By attribute number; `None` for other attributes. Decoded on first use.
    decoded: OnceLock<Vec<Option<Attribute>>>,
}

impl Locations {
    pub(super) fn new(tables: Tables, checks: Vec<LocationCheck>) -> Locations {
        Locations { tables, checks, decoded: OnceLock::new() }
    }
}

impl LocationTable for Locations {
    fn get(&self, number: u32) -> Option<&Attribute> {
        let decoded = self.decoded.get_or_init(|| {
            let mut entries = Entries::new(&self.tables, Notes::default());
            let decode = |(number, check): (usize, &LocationCheck)| match check {
                LocationCheck::Location(_) => {
                    let location = entries.location(number as u64, 0).ok();
                    debug_assert!(
                        location.is_some(),
                        "location {number} was accepted, and cannot be read"
                    );
                    location
                }
                _ => None,
            };
            self.checks.iter().enumerate().map(decode).collect()
        });
        decoded.get(number as usize)?.as_ref()
    }
}
