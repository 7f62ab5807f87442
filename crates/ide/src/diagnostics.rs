//! Errors, warnings and hints about a text.

use crate::analysis::Analysis;
use crate::expectations::Expectations;
use crate::file::{Edit, File, moved};
use stablo::{Diagnostic, Severity, Span};

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
    /// All errors, warnings and findings of lints, in order.
    pub fn diagnostics(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for section in self.sections() {
            if let Some(found) = self.findings_of_units(section) {
                findings.extend(found.into_iter().map(|finding| finding.moved(section.start)));
                continue;
            }
            let analysis = self.analysis(section);
            let source = analysis.module.source();
            let mut expected = source
                .filter(|source| source.text().contains("expected-"))
                .map(|source| (Expectations::read(source), source));
            for diagnostic in analysis.diagnostics.iter().chain(analysis.lints()) {
                let mut finding = analysis.finding(diagnostic).moved(section.start);
                // Tests of diagnostics have comments that expect them.
                if let Some((expected, source)) = &mut expected
                    && expected.take(diagnostic, source)
                {
                    finding.severity = Severity::Remark;
                    finding.message.insert_str(0, "expected: ");
                }
                findings.push(finding);
            }
        }
        findings.sort_by_key(|finding| finding.span.start);
        findings
    }
}

impl Finding {
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

impl Analysis {
    pub fn finding(&self, diagnostic: &Diagnostic) -> Finding {
        let label = diagnostic.label.to_string();
        let is_unnecessary = UNNECESSARY.contains(&&*label);
        let span = diagnostic.position.span().unwrap_or_default();
        let mut message = diagnostic.message.clone();
        if let Some(help) = &diagnostic.help {
            message.push_str("\nhelp: ");
            message.push_str(help);
        }
        let notes = diagnostic.notes.iter();
        let notes = notes.map(|(text, position)| (text.clone(), position.span())).collect();
        let mut fixes: Vec<Fix> = Vec::new();
        fixes.extend(self.suggestion(diagnostic, span));
        fixes.extend(self.removal(&label, span));
        fixes.extend(self.inferred_type(&label, span));
        Finding {
            span,
            severity: diagnostic.severity,
            is_deprecated: label == "deprecated-op",
            label,
            message,
            notes,
            fixes,
            is_unnecessary,
        }
    }

    /// The replacement that a diagnostic suggests.
    fn suggestion(&self, diagnostic: &Diagnostic, span: Span) -> Option<Fix> {
        let help = diagnostic.help.as_deref()?;
        let name = help.strip_prefix("did you mean `")?.strip_suffix("`?")?;
        let written = self.slice(span);
        let quoted = written.starts_with('"') && !name.starts_with('"');
        let text = if quoted { format!("\"{name}\"") } else { name.to_string() };
        (!written.is_empty()).then(|| Fix {
            title: format!("Replace by `{name}`"),
            edits: vec![Edit::replace(span, text)],
        })
    }

    /// The result type that follows from the operands, in place of another one.
    fn inferred_type(&self, label: &str, span: Span) -> Option<Fix> {
        let extent = self.op_at(span.start)?;
        let op = self.op(extent)?;
        let def = op.def()?;
        // The verifier has inferred types of this op to report that.
        if label != def.infer_label || op.num_results() != 1 {
            return None;
        }
        let inferred = (def.infer?)(op).ok()?;
        let (new, old) = (inferred.first()?.to_string(), op.result_type(0).to_string());
        let at = match self.slice(span) == old {
            true => span,
            false => {
                let last = self.slice(extent.span).rfind(&old)? as u32 + extent.span.start;
                Span { start: last, end: last + old.len() as u32 }
            }
        };
        let title = format!("Change the type of the result to {new}");
        (new != old).then(|| Fix { title, edits: vec![Edit::replace(at, new)] })
    }

    /// The removal of an op that has no effect.
    fn removal(&self, label: &str, span: Span) -> Option<Fix> {
        if !UNNECESSARY.contains(&label) {
            return None;
        }
        let op = self.op_at(span.start)?;
        let title = format!("Remove this {}", if label == "dead-op" { "op" } else { "function" });
        Some(Fix { title, edits: vec![Edit::remove(self.with_line(op.span))] })
    }

    /// A span with its line, if nothing else is on that.
    pub fn with_line(&self, span: Span) -> Span {
        let (before, after) =
            (&self.text()[..span.start as usize], &self.text()[span.end as usize..]);
        let indent = before.len() - before.trim_end_matches([' ', '\t']).len();
        let rest = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
        let starts_line = before.len() == indent || before[..before.len() - indent].ends_with('\n');
        match after[rest..].starts_with('\n') && starts_line {
            true => Span { start: span.start - indent as u32, end: span.end + rest as u32 + 1 },
            false => span,
        }
    }
}
