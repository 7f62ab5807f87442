//! Errors, warnings and hints about a text.

use crate::check;
use crate::file::{Edit, File, moved};
use crate::part::{Part, placed};
use stablo::{Diagnostic, Severity, Source, Span};

/// A message about a place in a text.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The place.
    pub span: Span,
    /// Severity.
    pub severity: Severity,
    /// The violated rule or lint.
    pub label: String,
    /// Description.
    pub message: String,
    /// Notes, with their places in the text if they have one.
    pub notes: Vec<(String, Option<Span>)>,
    /// Edits that mend it.
    pub fixes: Vec<Fix>,
    /// True if the place could be left out.
    pub is_unnecessary: bool,
    /// True if the place uses something deprecated.
    pub is_deprecated: bool,
}

/// Edits with a purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The purpose, in the imperative.
    pub title: String,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
}

/// Lints about what has no effect.
const UNNECESSARY: [&str; 2] = ["dead-op", "unused-function"];

impl File {
    /// All errors, warnings and findings of lints, in order. In a large text they have no fixes,
    /// which [`File::fixes`] computes.
    pub fn diagnostics(&self) -> Vec<Finding> {
        if self.is_large() {
            let of = |section| self.analysis(section);
            let found = self.sections().iter().map(|section| {
                let analysis = of(section);
                analysis.findings(analysis.lints(), section.start)
            });
            return found.flatten().collect();
        }
        let mut findings = Vec::new();
        for section in self.sections() {
            let analysis = self.analysis(section);
            let (errors, lints) = (&analysis.diagnostics, analysis.lints());
            let with_fixes = |diagnostic| {
                let mut finding = Finding::new(diagnostic);
                finding.fixes = analysis.fixes(&finding);
                finding
            };
            let found = errors.iter().chain(lints).map(with_fixes).collect();
            let found = check::mark_expected(found, errors, lints, &analysis.module);
            findings.extend(found.into_iter().map(|finding| finding.moved(section.start)));
        }
        findings.sort_by_key(|finding| finding.span.start);
        findings
    }

    /// The errors in a part of a large text around a range that was edited, and the place of that
    /// part: what changes at once while a text is typed. `None` if there is no such part.
    pub fn diagnostics_around(&self, edited: Span) -> Option<(Span, Vec<Finding>)> {
        let section = self.section(edited.start);
        let text = &self.text()[section.start as usize..section.end as usize];
        let is_within = edited.start >= section.start && edited.end <= section.end;
        if !is_within || memchr::memmem::find(text.as_bytes(), b"expected-").is_some() {
            return None;
        }
        let within = (edited.start - section.start) as usize..(edited.end - section.start) as usize;
        let part = Part::around(text, within, self.value_types())?;
        let loaded = self.load_options().load_source(Source::new(self.name(), &*part.program));
        let mut findings = Vec::new();
        for diagnostic in &loaded.diagnostics {
            let mut finding = Finding::new(diagnostic);
            let Some(span) = placed(&part, finding.span) else { continue };
            finding.span = span;
            for (_, note) in &mut finding.notes {
                *note = note.and_then(|note| placed(&part, note));
            }
            findings.push(finding.moved(section.start));
        }
        findings.sort_by_key(|finding| finding.span.start);
        let span = Span { start: part.range.start as u32, end: part.range.end as u32 };
        Some((moved(span, section.start), findings))
    }

    /// Edits that mend a finding.
    pub fn fixes(&self, finding: &Finding) -> Vec<Fix> {
        if !finding.fixes.is_empty() {
            return finding.fixes.clone();
        }
        let (analysis, start, _) = self.local_analysis_at(finding.span.start);
        let mut fixes = analysis.fixes(&finding.clone().moved(start.wrapping_neg()));
        for edit in fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = moved(edit.span, start);
        }
        fixes
    }
}

impl Finding {
    /// The finding of a diagnostic, without fixes.
    pub(crate) fn new(diagnostic: &Diagnostic) -> Finding {
        let label = diagnostic.label.to_string();
        let mut message = diagnostic.message.clone();
        if let Some(help) = &diagnostic.help {
            message.push_str("\nhelp: ");
            message.push_str(help);
        }
        let notes = diagnostic.notes.iter();
        Finding {
            span: diagnostic.position.span().unwrap_or_default(),
            severity: diagnostic.severity,
            is_unnecessary: UNNECESSARY.contains(&&*label),
            is_deprecated: label == "deprecated-op",
            label,
            message,
            notes: notes.map(|(text, position)| (text.clone(), position.span())).collect(),
            fixes: Vec::new(),
        }
    }

    /// Moves the places by an edit of the text. Returns false if the place is part of what the edit
    /// replaces.
    pub fn follow(&mut self, edit: &Edit) -> bool {
        let by = (edit.text.len() as u32).wrapping_sub(edit.span.end - edit.span.start);
        let to = |at: u32| if at >= edit.span.end { at.wrapping_add(by) } else { at };
        if self.span.start < edit.span.end && self.span.end > edit.span.start {
            return false;
        }
        self.map_spans(|span| {
            let start = to(span.start);
            Span { start, end: to(span.end).max(start) }
        });
        true
    }

    /// Replaces all places.
    pub(crate) fn map_spans(&mut self, to: impl Fn(Span) -> Span) {
        self.span = to(self.span);
        for (_, span) in &mut self.notes {
            *span = span.map(&to);
        }
        for edit in self.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = to(edit.span);
        }
    }

    /// The finding with all places moved.
    pub(crate) fn moved(mut self, start: u32) -> Finding {
        self.map_spans(|span| moved(span, start));
        self
    }
}
