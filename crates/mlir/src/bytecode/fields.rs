//! What each part of a file means, as the reader finds it: notes for annotated dumps.

use super::ReadOptions;
use crate::attrs::Attribute;
use crate::text::{PrintOptions, print_attribute};
use std::cell::RefCell;
use std::fmt::Display;
use std::ops::Range;
use std::rc::Rc;

/// A part of a file and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileField {
    /// Its bytes.
    pub range: Range<usize>,
    /// How many regions of ops it lies in.
    pub depth: usize,
    /// What it means, in one line.
    pub meaning: String,
}

/// Collects fields, if somebody wants them.
#[derive(Clone, Default)]
pub(super) struct Notes(Option<Rc<RefCell<Vec<FileField>>>>);

/// Meanings are cut to that many characters.
const MAX_CHARS: usize = 120;

impl Notes {
    pub(super) fn new(options: ReadOptions) -> Notes {
        Notes(options.note_fields.then(Default::default))
    }

    pub(super) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Notes what a part means.
    pub(super) fn add(&self, range: Range<usize>, meaning: impl FnOnce() -> String) {
        self.add_at(0, range, meaning);
    }

    /// Notes what a part means that lies in so many regions.
    #[inline]
    pub(super) fn add_at(
        &self,
        depth: usize,
        range: Range<usize>,
        meaning: impl FnOnce() -> String,
    ) {
        if let Some(fields) = &self.0 {
            let meaning = short(&meaning());
            fields.borrow_mut().push(FileField { range, depth, meaning });
        }
    }

    /// The fields in the order of the file, each part once.
    pub(super) fn finish(self) -> Vec<FileField> {
        let mut fields = self.0.map(|fields| fields.take()).unwrap_or_default();
        fields.sort_by_key(|field| field.range.start);
        fields.dedup_by(|later, first| later.range == first.range);
        fields
    }
}

/// An attribute as text, without many elements.
pub(super) fn text_of(attribute: &Attribute) -> String {
    let elided = Some(16);
    let options = PrintOptions {
        elide_elements_if_larger: elided,
        elide_resources_if_larger: elided,
        ..PrintOptions::default()
    };
    print_attribute(attribute, &options)
}

/// The entries of a list.
pub(super) fn list_of<T: Display>(entries: &[T]) -> String {
    entries.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// One line of a text, not too long.
fn short(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = chars.by_ref().take(MAX_CHARS).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}
