//! Reads the primitives of the format from a range of a file.

use super::{PADDING, SectionId};
use std::ops::Range;

/// An error in bytecode and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Offset in the file.
    pub offset: usize,
    /// Description of the error: the value found and the one required.
    pub message: String,
}

impl ReadError {
    /// Boxed to keep results small, as errors are rare.
    #[cold]
    pub(super) fn new(offset: usize, message: String) -> Box<ReadError> {
        Box::new(ReadError { offset, message })
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for ReadError {}

/// The result of reading.
pub type Read<T> = Result<T, Box<ReadError>>;

/// A read position in a range of the file.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    /// The file up to the end of the range.
    file: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of `range`, which must be within `file`.
    pub(super) fn new(file: &'a [u8], range: Range<usize>) -> Cursor<'a> {
        Cursor { file: &file[..range.end.min(file.len())], pos: range.start }
    }

    pub(super) fn offset(&self) -> usize {
        self.pos
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pos >= self.file.len()
    }

    /// Number of bytes that are left.
    pub(super) fn remaining(&self) -> usize {
        self.file.len() - self.pos
    }

    /// An error at the current position.
    #[cold]
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(ReadError::new(self.pos, message.into()))
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Read<u8> {
        match self.file.get(self.pos) {
            Some(&byte) => {
                self.pos += 1;
                Ok(byte)
            }
            None => self.error("a byte is missing: the data ends here"),
        }
    }

    /// The range of the next `len` bytes.
    pub(super) fn range(&mut self, len: u64) -> Read<Range<usize>> {
        let left = self.remaining();
        match usize::try_from(len) {
            Ok(len) if len <= left => {
                self.pos += len;
                Ok(self.pos - len..self.pos)
            }
            _ => self.error(format!("{len} bytes are announced; {left} are left")),
        }
    }

    pub(super) fn bytes(&mut self, len: u64) -> Read<&'a [u8]> {
        let range = self.range(len)?;
        Ok(&self.file[range])
    }

    /// An unsigned integer; the number of trailing zeros of the first byte is the number of bytes
    /// that follow.
    #[inline]
    pub(super) fn varint(&mut self) -> Read<u64> {
        match self.file.get(self.pos..) {
            Some(&[first, ..]) if first & 1 == 1 => {
                self.pos += 1;
                Ok(u64::from(first >> 1))
            }
            Some(&[first, second, ..]) if first & 2 == 2 => {
                self.pos += 2;
                Ok(u64::from(second) << 6 | u64::from(first >> 2))
            }
            _ => {
                let first = self.byte()?;
                self.long_varint(first)
            }
        }
    }

    /// An unsigned integer that takes several bytes.
    fn long_varint(&mut self, first: u8) -> Read<u64> {
        let more = if first == 0 { 8 } else { first.trailing_zeros() as usize };
        let bytes = self.bytes(more as u64)?;
        let high = bytes.iter().rev().fold(0, |high, &byte| high << 8 | u64::from(byte));
        Ok(if first == 0 { high } else { (high << (7 - more)) | u64::from(first) >> (more + 1) })
    }

    /// An unsigned integer with a flag in its lowest bit.
    #[inline]
    pub(super) fn varint_with_flag(&mut self) -> Read<(u64, bool)> {
        let value = self.varint()?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// A signed integer, zigzag.
    pub(super) fn signed(&mut self) -> Read<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A count of items of at least one byte each: at most the number of remaining bytes.
    #[inline]
    pub(super) fn count(&mut self, what: &str) -> Read<usize> {
        let at = self.pos;
        let n = self.varint()?;
        self.check_count(n, what, at)
    }

    /// Checks a count of items of at least one byte each that was read at `at`.
    #[inline]
    pub(super) fn check_count(&self, n: u64, what: &str, at: usize) -> Read<usize> {
        let left = self.remaining();
        match usize::try_from(n) {
            Ok(n) if n <= left => Ok(n),
            _ => too_many(n, what, left, at),
        }
    }

    /// An index below `len`.
    #[inline]
    pub(super) fn index(&mut self, len: usize, what: &str) -> Read<usize> {
        let at = self.pos;
        let i = self.varint()?;
        check_index(i, len, what, at)
    }

    /// A string that ends with a zero byte.
    pub(super) fn zero_terminated(&mut self) -> Read<&'a [u8]> {
        match memchr::memchr(0, &self.file[self.pos..]) {
            Some(len) => {
                let bytes = self.bytes(len as u64)?;
                self.pos += 1;
                Ok(bytes)
            }
            None => self.error("a string without its end"),
        }
    }

    /// Skips the padding before data aligned to `alignment`.
    pub(super) fn align(&mut self, alignment: u64) -> Read<()> {
        if !alignment.is_power_of_two() || alignment > 1 << 31 {
            return self
                .error(format!("the alignment {alignment} is not a power of two up to 2^31"));
        }
        while !(self.pos as u64).is_multiple_of(alignment) {
            let byte = self.byte()?;
            if byte != PADDING {
                self.pos -= 1;
                return self.error(format!("padding is {PADDING:#04x}; found {byte:#04x}"));
            }
        }
        Ok(())
    }

    /// A section: its kind, if known, and the range of its contents.
    pub(super) fn section(&mut self) -> Read<(Option<SectionId>, Range<usize>)> {
        let id = self.byte()?;
        let len = self.varint()?;
        if id & 0x80 != 0 {
            let alignment = self.varint()?;
            self.align(alignment)?;
        }
        Ok((SectionId::ALL.get(usize::from(id & 0x7f)).copied(), self.range(len)?))
    }

    /// A section of the given kind.
    pub(super) fn expect_section(&mut self, kind: SectionId) -> Read<Range<usize>> {
        let at = self.pos;
        match self.section()? {
            (Some(found), range) if found == kind => Ok(range),
            (found, _) => {
                let found = found.map_or("an unknown section", SectionId::name);
                Err(ReadError::new(
                    at,
                    format!("a section of {} is required here; found {found}", kind.name()),
                ))
            }
        }
    }
}

/// Checks an index that was read at `at`.
#[inline]
pub(super) fn check_index(i: u64, len: usize, what: &str, at: usize) -> Read<usize> {
    match usize::try_from(i) {
        Ok(i) if i < len => Ok(i),
        _ => no_such(i, len, what, at),
    }
}

// Errors are constructed out of line, to keep the checks small enough to be inlined.

#[cold]
fn too_many(n: u64, what: &str, left: usize, at: usize) -> Read<usize> {
    Err(ReadError::new(at, format!("{n} {what} are announced; {left} bytes are left")))
}

#[cold]
fn no_such(i: u64, len: usize, what: &str, at: usize) -> Read<usize> {
    Err(ReadError::new(at, format!("{what} {i} does not exist; there are {len}")))
}
