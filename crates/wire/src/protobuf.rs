//! Protocol Buffers: messages as sequences of numbered fields.
//!
//! Source: Protocol Buffers, "Encoding".

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// An integer, flag or enum case.
    Number(u64),
    /// The bits of a number of four or eight bytes.
    Fixed(u64),
    /// A string, bytes, or a nested message.
    Bytes(&'a [u8]),
}

/// The fields of a message in the order of the file, up to the first that is malformed.
#[derive(Clone, Copy, Debug)]
pub struct ProtobufMessage<'a>(pub &'a [u8]);

impl<'a> Iterator for ProtobufMessage<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Fixed(self.fixed(8)?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed(self.fixed(4)?),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> ProtobufMessage<'a> {
    /// The bytes of each field of a number.
    pub fn all(self, number: u64) -> impl Iterator<Item = &'a [u8]> {
        self.filter_map(move |field| match field {
            (n, Value::Bytes(bytes)) if n == number => Some(bytes),
            _ => None,
        })
    }

    /// The nested messages of a number.
    pub fn messages(self, number: u64) -> impl Iterator<Item = ProtobufMessage<'a>> {
        self.all(number).map(ProtobufMessage)
    }

    /// The last string of a number; empty if it is absent.
    pub fn string(self, number: u64) -> &'a str {
        self.all(number).last().and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or("")
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn fixed(&mut self, size: usize) -> Option<u64> {
        let bytes = self.take(size)?;
        Some(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let &[byte] = self.take(1)? else { return None };
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}
