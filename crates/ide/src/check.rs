//! All findings of a text without the places of its parts, which cost more than reading it: for
//! large texts, and for threads other than the editor's.

use crate::diagnostics::Finding;
use crate::expectations::Expectations;
use crate::part::ValueTypes;
use stablo::{Diagnostics, LoadOptions, Module, Severity, Source};
use std::ops::Range;

/// Separates the sections of a file: each is a program.
const SEPARATOR: &str = "// -----";

/// The ranges of the sections of a text; at least one.
pub(crate) fn sections(text: &str) -> Vec<Range<usize>> {
    let mut sections = Vec::new();
    let mut start = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), SEPARATOR) {
        let next = at + SEPARATOR.len();
        if !text[next..].starts_with('-') {
            sections.push(start..at);
            start = next;
        }
    }
    sections.push(start..text.len());
    sections
}

/// A version of a text, to be checked on any thread.
pub struct Snapshot {
    name: String,
    text: String,
    allow_unregistered: bool,
}

impl Snapshot {
    pub(crate) fn new(name: &str, text: &str, allow_unregistered: bool) -> Snapshot {
        Snapshot { name: name.to_string(), text: text.to_string(), allow_unregistered }
    }

    /// Reads and verifies the text.
    pub fn check(self) -> Checked {
        Checked::new(&self.name, &self.text, self.allow_unregistered)
    }
}

/// A text that was read and verified.
pub struct Checked(Vec<CheckedSection>);

struct CheckedSection {
    start: u32,
    module: Module,
    diagnostics: Diagnostics,
}

impl Checked {
    /// Reads and verifies a text.
    pub(crate) fn new(name: &str, text: &str, allow_unregistered: bool) -> Checked {
        let options = LoadOptions::default().allow_unregistered_dialects(allow_unregistered);
        let section = |range: Range<usize>| {
            let start = range.start as u32;
            let loaded = options.load_source(Source::new(name, &text[range]));
            CheckedSection { start, module: loaded.module, diagnostics: loaded.diagnostics }
        };
        Checked(sections(text).into_iter().map(section).collect())
    }

    /// The errors and warnings of reading and verifying, without fixes.
    pub fn errors(&self) -> Vec<Finding> {
        self.findings(|_| Diagnostics::new())
    }

    /// All findings, with the lints', without fixes.
    pub fn all(&self) -> Vec<Finding> {
        self.findings(|section| match stablo::has_errors(&section.diagnostics) {
            true => Diagnostics::new(),
            false => stablo::lint(&section.module),
        })
    }

    /// The types of values of large functions.
    pub fn value_types(&self) -> ValueTypes {
        let mut types = ValueTypes::default();
        self.0.iter().for_each(|section| types.add(&section.module));
        types
    }

    fn findings(&self, lints: impl Fn(&CheckedSection) -> Diagnostics) -> Vec<Finding> {
        let mut findings = Vec::new();
        for section in &self.0 {
            let lints = lints(section);
            let all = section.diagnostics.iter().chain(&lints);
            let found = all.map(Finding::new).collect();
            let mut found = mark_expected(found, &section.diagnostics, &lints, &section.module);
            found.sort_by_key(|finding: &Finding| finding.span.start);
            findings.extend(found.into_iter().map(|finding| finding.moved(section.start)));
        }
        findings
    }
}

/// Makes remarks of findings that comments of the text expect, as tests of diagnostics have them.
/// The findings are in the order of the diagnostics.
pub(crate) fn mark_expected(
    mut findings: Vec<Finding>,
    diagnostics: &Diagnostics,
    lints: &Diagnostics,
    module: &Module,
) -> Vec<Finding> {
    let Some(source) = module.source() else { return findings };
    if memchr::memmem::find(source.text().as_bytes(), b"expected-").is_none() {
        return findings;
    }
    let mut expected = Expectations::read(source);
    for (finding, diagnostic) in findings.iter_mut().zip(diagnostics.iter().chain(lints)) {
        if expected.take(diagnostic, source) {
            finding.severity = Severity::Remark;
            finding.message.insert_str(0, "expected: ");
        }
    }
    findings
}
