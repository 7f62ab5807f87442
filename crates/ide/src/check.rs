//! Checks of a text on any thread: of large ones, which keep an editor waiting.

use crate::analysis::Analysis;
use crate::diagnostics::Finding;
use crate::expectations::Expectations;
use crate::part::ValueTypes;
use stablo::{Diagnostics, Module, Severity, Source};
use std::ops::Range;
use std::sync::Arc;

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

/// Returns a part of a text, which is shared if it is all of it.
pub(crate) fn part(text: &Arc<String>, at: Range<usize>) -> Arc<String> {
    match at == (0..text.len()) {
        true => text.clone(),
        false => Arc::new(text[at].to_string()),
    }
}

/// A version of a text, to be checked on any thread.
pub struct Snapshot {
    name: String,
    text: Arc<String>,
    allow_unregistered: bool,
}

impl Snapshot {
    pub(crate) fn new(name: &str, text: &Arc<String>, allow_unregistered: bool) -> Snapshot {
        Snapshot { name: name.to_string(), text: text.clone(), allow_unregistered }
    }

    /// Reads and verifies the text.
    pub fn check(self) -> Checked {
        let Snapshot { name, text, allow_unregistered } = self;
        let ranges = sections(&text);
        let section = |at: Range<usize>| {
            let start = at.start as u32;
            let source = Source::shared(&*name, part(&text, at));
            CheckedSection { start, analysis: Analysis::new(source, allow_unregistered) }
        };
        Checked(ranges.into_iter().map(section).collect())
    }
}

/// A text that was read and verified.
pub struct Checked(Vec<CheckedSection>);

struct CheckedSection {
    start: u32,
    analysis: Analysis,
}

impl Checked {
    /// Returns the errors and warnings of reading and verifying, without fixes.
    pub fn errors(&self) -> Vec<Finding> {
        const NONE: &Diagnostics = &Diagnostics::new();
        self.findings(|_| NONE)
    }

    /// Returns all findings, with the lints', without fixes.
    pub fn all(&self) -> Vec<Finding> {
        self.findings(Analysis::lints)
    }

    /// Returns the types of values of large functions.
    pub fn value_types(&self) -> ValueTypes {
        let mut types = ValueTypes::default();
        self.0.iter().for_each(|section| types.add(&section.analysis.module));
        types
    }

    /// Returns the analyses of the sections, in order.
    pub(crate) fn into_analyses(self) -> impl Iterator<Item = Analysis> {
        self.0.into_iter().map(|section| section.analysis)
    }

    fn findings<'a>(&'a self, lints: impl Fn(&'a Analysis) -> &'a Diagnostics) -> Vec<Finding> {
        let sections = self.0.iter();
        sections.flat_map(|s| s.analysis.findings(lints(&s.analysis), s.start)).collect()
    }
}

impl Analysis {
    /// Returns the findings of reading and verifying and those of lints, without fixes, in the
    /// order of the text, for a section that starts at `start`.
    pub(crate) fn findings(&self, lints: &Diagnostics, start: u32) -> Vec<Finding> {
        let all = self.diagnostics.iter().chain(lints);
        let found = all.map(Finding::new).collect();
        let mut found = mark_expected(found, &self.diagnostics, lints, &self.module);
        found.sort_by_key(|finding: &Finding| finding.span.start);
        found.into_iter().map(|finding| finding.moved(start)).collect()
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
