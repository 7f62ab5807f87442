//! FlatBuffers: tables of numbered fields, located by offsets.
//!
//! Source: FlatBuffers, "FlatBuffers internals".

use std::cell::Cell;
use std::ops::Range;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// A buffer may reference its parts many times; the total number of bytes visited is limited to
/// this multiple of its size.
const LOOKS_PER_BYTE: usize = 64;

/// Maximum number of tables counted by [`Table::depth`].
const MAX_DEPTH: usize = 100;

/// The number of bytes that the reading of a buffer may still visit.
pub struct VisitBudget(Cell<usize>);

impl VisitBudget {
    /// The budget for a buffer.
    pub fn of(bytes: &[u8]) -> VisitBudget {
        VisitBudget(Cell::new(bytes.len().saturating_mul(LOOKS_PER_BYTE)))
    }
}

/// A table. Absent fields read as `None` or empty vectors; all methods return `None` if the buffer
/// is truncated.
pub struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Shared by all tables.
    budget: &'a VisitBudget,
}

impl<'a> Table<'a> {
    /// The root table of a buffer.
    pub fn root(bytes: &'a [u8], budget: &'a VisitBudget) -> Option<Table<'a>> {
        Some(Table { bytes, at: u32_at(bytes, 0)? as usize, budget })
    }

    /// Offset of a field, if present.
    pub fn field(&self, number: usize) -> Option<usize> {
        // A table begins with the relative offset of its vtable.
        let back = u32_at(self.bytes, self.at)? as i32;
        let fields = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        let entry = 4 + 2 * number;
        if entry + 2 > usize::from(u16_at(self.bytes, fields)?) {
            return None;
        }
        match u16_at(self.bytes, fields.checked_add(entry)?)? {
            0 => None,
            offset => Some(self.at + usize::from(offset)),
        }
    }

    /// The table at an offset.
    fn table_at(&self, at: usize) -> Option<Table<'a>> {
        self.look(4)?;
        Some(Table { at, ..*self })
    }

    /// Takes `bytes` from the budget; `None` if it is exhausted.
    fn look(&self, bytes: usize) -> Option<()> {
        self.budget.0.set(self.budget.0.get().checked_sub(bytes)?);
        Some(())
    }

    /// A field of one byte.
    pub fn u8(&self, number: usize) -> Option<u8> {
        self.bytes.get(self.field(number)?).copied()
    }

    /// An unsigned integer.
    pub fn u16(&self, number: usize) -> Option<u16> {
        u16_at(self.bytes, self.field(number)?)
    }

    /// An unsigned integer.
    pub fn u32(&self, number: usize) -> Option<u32> {
        u32_at(self.bytes, self.field(number)?)
    }

    /// The target of the offset stored at `at`.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(u32_at(self.bytes, at)? as usize)
    }

    /// A nested table.
    pub fn table(&self, number: usize) -> Option<Table<'a>> {
        self.table_at(self.follow(self.field(number)?)?)
    }

    /// Depth of nested tables, starting from the given field.
    pub fn depth(&self, number: usize) -> usize {
        std::iter::successors(self.table(number), |table| table.table(number))
            .take(MAX_DEPTH)
            .count()
    }

    /// Byte range of a vector's elements, each `size` bytes long.
    pub fn vector(&self, number: usize, size: usize) -> Option<Range<usize>> {
        let Some(field) = self.field(number) else { return Some(0..0) };
        let range = self.elements(self.follow(field)?, size)?;
        self.look(range.len())?;
        Some(range)
    }

    fn elements(&self, at: usize, size: usize) -> Option<Range<usize>> {
        let length = (u32_at(self.bytes, at)? as usize).checked_mul(size)?;
        let range = at + 4..(at + 4).checked_add(length)?;
        (range.end <= self.bytes.len()).then_some(range)
    }

    /// A vector of bytes.
    pub fn bytes(&self, number: usize) -> Option<&'a [u8]> {
        self.bytes.get(self.vector(number, 1)?)
    }

    /// A vector of unsigned integers.
    pub fn u16s(&self, number: usize) -> Option<Vec<u16>> {
        self.vector(number, 2)?.step_by(2).map(|at| u16_at(self.bytes, at)).collect()
    }

    /// A vector of unsigned integers.
    pub fn u32s(&self, number: usize) -> Option<Vec<u32>> {
        self.vector(number, 4)?.step_by(4).map(|at| u32_at(self.bytes, at)).collect()
    }

    /// A vector of tables.
    pub fn tables(&self, number: usize) -> Option<Vec<Table<'a>>> {
        let tables = self.vector(number, 4)?.step_by(4);
        tables.map(|at| self.table_at(self.follow(at)?)).collect()
    }

    fn text(&self, at: usize) -> Option<&'a str> {
        let range = self.elements(at, 1)?;
        self.look(4 + range.len())?;
        std::str::from_utf8(&self.bytes[range]).ok()
    }

    /// A string.
    pub fn string(&self, number: usize) -> Option<&'a str> {
        self.text(self.follow(self.field(number)?)?)
    }

    /// A vector of strings.
    pub fn strings(&self, number: usize) -> Option<Vec<&'a str>> {
        self.vector(number, 4)?.step_by(4).map(|at| self.text(self.follow(at)?)).collect()
    }
}
