//! A text that is edited, in sections between `// -----` lines.

use crate::analysis::Analysis;
use crate::check::{self, Checked, Snapshot};
use crate::part::{Part, ValueTypes};
use rustc_hash::FxHashMap;
use stablo::{LoadOptions, Source, Span};
use std::cell::{OnceCell, RefCell};
use std::hash::{BuildHasher, BuildHasherDefault};
use std::rc::Rc;
use std::sync::Arc;

/// Texts of at least this many bytes are large: while they are typed, only the part around an edit
/// is read.
const LARGE: usize = 256 << 10;

/// A replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The part that is replaced.
    pub span: Span,
    /// Its new text.
    pub text: String,
}

impl Edit {
    /// Replaces a part of a text.
    pub fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }

    /// Inserts a text before byte `at`.
    pub fn insert(at: u32, text: impl Into<String>) -> Edit {
        Edit::replace(Span { start: at, end: at }, text)
    }

    /// Removes a part of a text.
    pub fn remove(span: Span) -> Edit {
        Edit::replace(span, "")
    }
}

/// A program in MLIR text, or several between `// -----` lines, as it is edited.
pub struct File {
    name: String,
    /// Analyses of the whole and checks on other threads share it.
    text: Arc<String>,
    allow_unregistered: bool,
    sections: OnceCell<Vec<Section>>,
    /// Analyses of sections by the hash of their text. Those of the last edit but one are dropped,
    /// and those of large sections at once.
    cache: RefCell<FxHashMap<u64, Rc<Analysis>>>,
    /// Types of the values of large functions, as they were when the text was last checked.
    value_types: ValueTypes,
    /// Texts of at least this many bytes are large.
    large: usize,
}

/// A part of a file that is a program.
pub(crate) struct Section {
    /// Where it starts in the file.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    hash: OnceCell<u64>,
    analysis: OnceCell<Rc<Analysis>>,
}

impl File {
    /// A file of a name, which diagnostics and locations have, and a text. Texts of 4 GiB and more
    /// are empty here.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> File {
        let mut text = text.into();
        if u32::try_from(text.len()).is_err() {
            text.clear();
        }
        let allow_unregistered = allows_unregistered(&text);
        File {
            name: name.into(),
            text: Arc::new(text),
            allow_unregistered,
            sections: OnceCell::new(),
            cache: RefCell::default(),
            value_types: ValueTypes::default(),
            large: LARGE,
        }
    }

    /// Sets the number of bytes from which on a text is large.
    #[must_use]
    pub fn with_large(mut self, bytes: usize) -> File {
        self.large = bytes;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the whole text.
    pub fn set_text(&mut self, text: impl Into<String>) {
        let cache = self.reusable();
        let (types, large) = (std::mem::take(&mut self.value_types), self.large);
        *self = File::new(std::mem::take(&mut self.name), text);
        (self.cache, self.value_types, self.large) = (RefCell::new(cache), types, large);
    }

    /// Replaces a part of the text. Returns false, and changes nothing, if the part is not one of
    /// the text: out of range or not on the boundary of characters.
    pub fn edit(&mut self, edit: &Edit) -> bool {
        let range = edit.span.start as usize..edit.span.end as usize;
        if self.text.get(range.clone()).is_none() {
            return false;
        }
        if u32::try_from(self.text.len() + edit.text.len()).is_err() {
            return false;
        }
        let cache = self.reusable();
        self.cache = RefCell::new(cache);
        self.sections = OnceCell::new();
        Arc::make_mut(&mut self.text).replace_range(range, &edit.text);
        self.allow_unregistered = allows_unregistered(&self.text);
        true
    }

    /// The analyses that another version of the text may have, too.
    fn reusable(&mut self) -> FxHashMap<u64, Rc<Analysis>> {
        let sections = self.sections.take().unwrap_or_default();
        let large = self.large as u32;
        let known = sections.into_iter().filter(|s| s.end - s.start < large);
        let known = known.filter_map(|s| Some((s.hash.into_inner()?, s.analysis.into_inner()?)));
        let known: FxHashMap<_, _> = known.collect();
        if known.is_empty() { self.cache.take() } else { known }
    }

    /// The sections in order; at least one.
    pub(crate) fn sections(&self) -> &[Section] {
        self.sections.get_or_init(|| {
            let section = |range: std::ops::Range<usize>| {
                let (start, end) = (range.start as u32, range.end as u32);
                Section { start, end, hash: OnceCell::new(), analysis: OnceCell::new() }
            };
            check::sections(&self.text).into_iter().map(section).collect()
        })
    }

    /// The hash of the text of a section.
    fn hash(&self, section: &Section) -> u64 {
        *section.hash.get_or_init(|| {
            let hasher = BuildHasherDefault::<rustc_hash::FxHasher>::default();
            let text = &self.text[section.start as usize..section.end as usize];
            hasher.hash_one((text, self.allow_unregistered))
        })
    }

    /// True if the text is so large that a server checks it on another thread, and meanwhile the
    /// part around an edit.
    pub fn is_large(&self) -> bool {
        self.text.len() >= self.large
    }

    /// The text as it is, to be checked on any thread.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(&self.name, &self.text, self.allow_unregistered)
    }

    /// True if ops without a declaration are allowed.
    pub(crate) fn allows_unregistered(&self) -> bool {
        self.allow_unregistered
    }

    /// The options by which parts of the text are read.
    pub(crate) fn load_options(&self) -> LoadOptions {
        LoadOptions::default().strict(true).allow_unregistered_dialects(self.allow_unregistered)
    }

    /// The types of values of large functions.
    pub(crate) fn value_types(&self) -> &ValueTypes {
        &self.value_types
    }

    /// True if requests need not read the program: all of it has been read since the last edit.
    pub fn is_analysed(&self) -> bool {
        self.sections().iter().all(|section| section.analysis.get().is_some())
    }

    /// Keeps what a check has read, if it was of the present text.
    pub fn adopt(&self, checked: Checked) {
        for (section, analysis) in self.sections().iter().zip(checked.into_analyses()) {
            if *analysis.text() == self.text[section.start as usize..section.end as usize] {
                // A section that was read meanwhile is as good.
                let _ = section.analysis.set(Rc::new(analysis));
            }
        }
    }

    /// Sets the types of values of large functions, which an edit changes little.
    pub fn set_value_types(&mut self, types: ValueTypes) {
        self.value_types = types;
    }

    pub(crate) fn analyse(&self, text: Arc<String>) -> Analysis {
        Analysis::new(Source::shared(&*self.name, text), self.allow_unregistered)
    }

    /// The section that holds a byte.
    pub(crate) fn section(&self, offset: u32) -> &Section {
        let sections = self.sections();
        let index = sections.partition_point(|section| section.start <= offset);
        &sections[index.saturating_sub(1)]
    }

    /// The analysis of a section, made on first use.
    pub(crate) fn analysis(&self, section: &Section) -> Rc<Analysis> {
        let analysis = section.analysis.get_or_init(|| {
            let range = section.start as usize..section.end as usize;
            let text = &self.text[range.clone()];
            let known = self.cache.borrow().get(&self.hash(section)).cloned();
            match known {
                Some(analysis) if analysis.text() == text => analysis,
                _ => Rc::new(self.analyse(check::part(&self.text, range))),
            }
        });
        analysis.clone()
    }

    /// As [`File::analysis_at`], but in a large program only the part is read that holds the byte:
    /// enough to complete and explain what is local. The start is modulo 2³².
    pub(crate) fn local_analysis_at(&self, offset: u32) -> (Rc<Analysis>, u32, u32) {
        let section = self.section(offset);
        let text = &self.text[section.start as usize..section.end as usize];
        if !self.is_large() || section.analysis.get().is_some() {
            return self.analysis_at(offset);
        }
        let here = self.within(section, offset);
        let part = Part::around(text, here as usize..here as usize, &self.value_types);
        let Some(part) = part else { return self.analysis_at(offset) };
        let distance = part.distance();
        let analysis = self.analyse(Arc::new(part.program));
        (Rc::new(analysis), section.start.wrapping_add(distance), here.wrapping_sub(distance))
    }

    /// The analysis of the section that holds a byte, the start of the section, and the byte in it.
    pub(crate) fn analysis_at(&self, offset: u32) -> (Rc<Analysis>, u32, u32) {
        let section = self.section(offset);
        (self.analysis(section), section.start, self.within(section, offset))
    }

    /// The byte of a section at or before a byte of the file: on the boundary of characters, and
    /// not in the separator after the section.
    pub(crate) fn within(&self, section: &Section, offset: u32) -> u32 {
        let at = offset.clamp(section.start, section.end);
        let is_boundary = |at: &u32| self.text.is_char_boundary(*at as usize);
        (section.start..=at).rev().find(is_boundary).unwrap_or(section.start) - section.start
    }
}

/// True if the command of a test in the text allows ops that have no declaration.
fn allows_unregistered(text: &str) -> bool {
    let head = text.as_bytes();
    let head = &head[..head.len().min(4096)];
    memchr::memmem::find(head, b"-allow-unregistered-dialect").is_some()
}

/// A span moved by the start of its section, modulo 2³².
pub(crate) fn moved(span: Span, start: u32) -> Span {
    Span { start: span.start.wrapping_add(start), end: span.end.wrapping_add(start) }
}
