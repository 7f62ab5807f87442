//! A map from names, optimized for those made by printers: a prefix and consecutive numbers.

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Minimum size in bytes of the text that defines a name.
const BYTES_OF_DEFINITION: usize = 16;

/// A map from names to values.
#[derive(Clone)]
pub(super) struct ParserNames<'a, T> {
    prefix: &'static str,
    /// Values of names made of the prefix and a number.
    numbered: Vec<Option<T>>,
    /// Numbers below this are stored in `numbered`.
    max_numbered: usize,
    /// Values of other names.
    others: FxHashMap<&'a str, T>,
    len: usize,
}

impl<'a, T> ParserNames<'a, T> {
    /// An empty map for the names in a text of the given length.
    pub(super) fn new(prefix: &'static str, length: usize) -> ParserNames<'a, T> {
        // A text with consecutive numbers has at most this many.
        let max_numbered = length / BYTES_OF_DEFINITION;
        ParserNames {
            prefix,
            numbered: Vec::new(),
            max_numbered,
            others: FxHashMap::default(),
            len: 0,
        }
    }

    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Reserves space for about this many names.
    pub(super) fn reserve(&mut self, names: usize) {
        self.numbered.reserve(names.min(self.max_numbered));
    }

    fn number(&self, name: &str) -> Option<usize> {
        let digits = name.as_bytes().strip_prefix(self.prefix.as_bytes())?;
        // `%01` and `%1` are different names.
        if digits.is_empty() || digits.len() > 9 || (digits[0] == b'0' && digits.len() > 1) {
            return None;
        }
        let mut number = 0;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + usize::from(digit - b'0');
        }
        (number < self.max_numbered).then_some(number)
    }

    /// The names that are not numbers.
    pub(super) fn written(&self) -> impl Iterator<Item = &'a str> {
        self.others.keys().copied()
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&T> {
        match self.number(name) {
            Some(number) => self.numbered.get(number)?.as_ref(),
            None => self.others.get(name),
        }
    }

    /// Adds a name. If it exists, returns its value instead.
    pub(super) fn insert(&mut self, name: &'a str, value: T) -> Option<&T> {
        let slot = match self.number(name) {
            Some(number) => {
                if self.numbered.len() <= number {
                    self.numbered.resize_with(number + 1, || None);
                }
                &mut self.numbered[number]
            }
            None => match self.others.entry(name) {
                Entry::Occupied(entry) => return Some(entry.into_mut()),
                Entry::Vacant(entry) => {
                    self.len += 1;
                    entry.insert(value);
                    return None;
                }
            },
        };
        if slot.is_some() {
            return slot.as_ref();
        }
        self.len += 1;
        *slot = Some(value);
        None
    }

    /// Removes a name. Returns its value.
    pub(super) fn remove(&mut self, name: &str) -> Option<T> {
        let removed = match self.number(name) {
            Some(number) => self.numbered.get_mut(number).and_then(Option::take),
            None => self.others.remove(name),
        };
        self.len -= usize::from(removed.is_some());
        removed
    }
}
