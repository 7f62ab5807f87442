//! Writes the primitives of the format. Large data is referenced, not copied.

use super::{PADDING, SectionId};
use numerics::Bytes;
use std::io;

/// Minimum size in bytes of data that is shared instead of copied.
const SHARED: usize = 256;

/// Bytecode as a sequence of parts.
#[derive(Default)]
pub struct Encoded {
    parts: Vec<Bytes>,
}

impl From<Vec<u8>> for Encoded {
    fn from(bytes: Vec<u8>) -> Encoded {
        Encoded { parts: vec![bytes.into()] }
    }
}

impl Encoded {
    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|p| p.len()).sum()
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.parts.iter().try_for_each(|part| out.write_all(part))
    }

    /// The bytes as one contiguous vector.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        for part in &self.parts {
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

/// Collects bytes.
pub(super) struct Emitter {
    parts: Vec<Bytes>,
    /// Size of `parts`.
    done: usize,
    current: Vec<u8>,
    /// The alignment that the start of this data requires.
    alignment: u64,
}

impl Default for Emitter {
    fn default() -> Emitter {
        Emitter { parts: Vec::new(), done: 0, current: Vec::new(), alignment: 1 }
    }
}

impl Emitter {
    pub(super) fn len(&self) -> usize {
        self.done + self.current.len()
    }

    pub(super) fn finish(mut self) -> Encoded {
        self.flush();
        Encoded { parts: self.parts }
    }

    fn flush(&mut self) {
        if !self.current.is_empty() {
            let part = Bytes::from(std::mem::take(&mut self.current));
            self.done += part.len();
            self.parts.push(part);
        }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.current.push(byte);
    }

    /// Overwrites the byte at `offset`, which must have been written since the last shared part.
    pub(super) fn patch(&mut self, offset: usize, byte: u8) {
        let offset = offset - self.done;
        self.current[offset] = byte;
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.current.extend_from_slice(bytes);
    }

    pub(super) fn shared(&mut self, bytes: &Bytes) {
        if bytes.len() < SHARED {
            return self.bytes(bytes);
        }
        self.flush();
        self.done += bytes.len();
        self.parts.push(bytes.clone());
    }

    pub(super) fn varint(&mut self, value: u64) {
        let bits = 64 - value.leading_zeros();
        match bits.max(1).div_ceil(7) as usize {
            1 => self.byte((value as u8) << 1 | 1),
            n @ 2..=8 => {
                let encoded = (value << 1 | 1) << (n - 1);
                self.bytes(&encoded.to_le_bytes()[..n]);
            }
            _ => {
                self.byte(0);
                self.bytes(&value.to_le_bytes());
            }
        }
    }

    pub(super) fn varint_with_flag(&mut self, value: u64, flag: bool) {
        self.varint(value << 1 | u64::from(flag));
    }

    pub(super) fn signed(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63) as u64);
    }

    pub(super) fn zero_terminated(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
        self.byte(0);
    }

    /// Pads to a multiple of `alignment`.
    pub(super) fn align(&mut self, alignment: u64) {
        self.alignment = self.alignment.max(alignment);
        while !(self.len() as u64).is_multiple_of(alignment) {
            self.byte(PADDING);
        }
    }

    /// Appends a section with the contents of `section`.
    pub(super) fn section(&mut self, kind: SectionId, section: Emitter) {
        let aligned = section.alignment > 1;
        self.byte(kind as u8 | u8::from(aligned) << 7);
        self.varint(section.len() as u64);
        if aligned {
            self.varint(section.alignment);
            self.align(section.alignment);
        }
        for part in &section.parts {
            self.shared(part);
        }
        self.bytes(&section.current);
    }
}
