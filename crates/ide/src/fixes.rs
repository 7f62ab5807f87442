//! Edits that mend findings.

use crate::analysis::Analysis;
use crate::diagnostics::{Finding, Fix};
use crate::file::Edit;
use stablo::Span;
use stablo::syntax::{Defined, OpExtent};

/// More replacements of a name are not offered.
const MAX_NAMES: usize = 3;

/// Longer texts of constants are not offered.
const MAX_CONSTANT: usize = 2000;

impl Analysis {
    /// Edits that mend a finding.
    pub(crate) fn fixes(&self, finding: &Finding) -> Vec<Fix> {
        let Finding { span, label, message, .. } = finding;
        let mut fixes: Vec<Fix> = Vec::new();
        fixes.extend(self.suggestion(message, *span));
        match &**label {
            "parse" => {
                fixes.extend(self.near_values(message, *span));
                fixes.extend(self.type_of_value(message, *span));
                fixes.extend(self.other_name(message, *span));
                if fixes.is_empty() {
                    fixes.extend(self.values_of_enumeration(message, *span));
                }
            }
            "dead-op" => fixes.extend(self.removal("op", *span)),
            "unused-function" => fixes.extend(self.removal("function", *span)),
            "constant-expression" => fixes.extend(self.computed(*span)),
            label => fixes.extend(self.inferred_type(label, *span)),
        }
        fixes
    }

    /// The replacement that a message suggests.
    fn suggestion(&self, message: &str, span: Span) -> Option<Fix> {
        let (_, help) = message.split_once("did you mean ")?;
        let name = help.split_once('?')?.0.trim_matches('`');
        let written = self.slice(span);
        let quoted = written.starts_with('"') && !name.starts_with('"');
        let text = if quoted { format!("\"{name}\"") } else { name.to_string() };
        let title = format!("Replace by `{name}`");
        (!written.is_empty()).then(|| Fix { title, edits: vec![Edit::replace(span, text)] })
    }

    /// Visible values whose names are most like one that is not defined.
    fn near_values(&self, message: &str, span: Span) -> Vec<Fix> {
        if !message.contains("is used but not defined") {
            return Vec::new();
        }
        let written = self.slice(span);
        let name = written.split('#').next().unwrap_or_default();
        let Some(scope) = self.scope_at(span.start) else { return Vec::new() };
        let before = self.map.definitions.iter().filter(|d| d.name.end <= span.start);
        let mut near: Vec<(usize, std::cmp::Reverse<u32>, &str)> = before
            .filter_map(|definition| {
                let other = self.slice(definition.name);
                let distance = distance(name, other);
                let is_near = distance * 2 <= name.len().max(other.len());
                let is_visible = is_near && self.resolve(other, scope).is_some();
                is_visible.then_some((distance, std::cmp::Reverse(definition.name.start), other))
            })
            .collect();
        near.sort_unstable();
        near.dedup_by_key(|(.., other)| *other);
        let end = span.start + name.len() as u32;
        let fix = |(.., other): &(usize, std::cmp::Reverse<u32>, &str)| Fix {
            title: format!("Replace by `{other}`"),
            edits: vec![Edit::replace(Span { start: span.start, end }, *other)],
        };
        near.iter().take(MAX_NAMES).map(fix).collect()
    }

    /// Replaces the type that an op has for a value by the value's type.
    fn type_of_value(&self, message: &str, span: Span) -> Option<Fix> {
        let rest = message.split_once("` is used as ")?.1;
        let (used, actual) = rest.split_once(", but its type is ")?;
        let actual = actual.lines().next()?;
        let end = self.op_at(span.start).map(|op| op.span.end).filter(|&end| end > span.end);
        let line = self.text()[span.end as usize..].find('\n');
        let line = line.map_or(self.text().len(), |line| span.end as usize + line);
        let rest = Span { start: span.end, end: end.unwrap_or(line as u32).max(line as u32) };
        let mut places = self.slice(rest).match_indices(used);
        let (at, _) = places.next()?;
        // With several, it is not known which is this one.
        if places.next().is_some() {
            return None;
        }
        let start = rest.start + at as u32;
        let place = Span { start, end: start + used.len() as u32 };
        let title = format!("Change the type to {actual}");
        Some(Fix { title, edits: vec![Edit::replace(place, actual)] })
    }

    /// A name that is not taken for a second definition.
    fn other_name(&self, message: &str, span: Span) -> Option<Fix> {
        if !message.ends_with("is defined twice") {
            return None;
        }
        let name = self.slice(span);
        let is_number = name[1..].bytes().all(|byte| byte.is_ascii_digit());
        let is_taken = |name: &str| self.map.definitions.iter().any(|d| self.slice(d.name) == name);
        let candidate = |number: u32| match is_number {
            true => format!("%{number}"),
            false => format!("{name}_{number}"),
        };
        let new = (0..).map(candidate).find(|name| !is_taken(name))?;
        let title = format!("Rename this definition to `{new}`");
        Some(Fix { title, edits: vec![Edit::replace(span, new)] })
    }

    /// The values of the enumeration of which another one is written.
    fn values_of_enumeration(&self, message: &str, span: Span) -> Vec<Fix> {
        const MAX_VALUES: usize = 8;
        let Some((_, rest)) = message.split_once("expected one of the ") else { return Vec::new() };
        let Some((_, rest)) = rest.split_once(" values ") else { return Vec::new() };
        let Some((values, _)) = rest.split_once(", found ") else { return Vec::new() };
        let fix = |value: &str| Fix {
            title: format!("Replace by `{value}`"),
            edits: vec![Edit::replace(span, value)],
        };
        values.split(", ").take(MAX_VALUES).map(fix).collect()
    }

    /// Replaces an op on constants by the constant that it computes.
    fn computed(&self, span: Span) -> Option<Fix> {
        let extent = self.op_at(span.start)?;
        let op = self.op(extent)?;
        let is_result =
            |values: &Defined| matches!(values, Defined::Results { op: of, .. } if *of == op.id());
        let definition = self.map.definitions.iter().position(|d| is_result(&d.values))?;
        let text = self.folded(definition, 0).filter(|_| op.num_results() == 1)?.to_string();
        if text.len() > MAX_CONSTANT {
            return None;
        }
        let name = self.slice(self.map.definitions[definition].name);
        let place = Span { start: extent.span.start, end: self.end_of(extent) };
        let constant = format!("{name} = stablehlo.constant {text}");
        let title = "Replace by its value".to_string();
        Some(Fix { title, edits: vec![Edit::replace(place, constant)] })
    }

    /// The end of an op without its location.
    fn end_of(&self, extent: &OpExtent) -> u32 {
        let text = self.slice(extent.span);
        match text.rfind(" loc(").filter(|at| !text[*at..].contains('\n')) {
            Some(at) => extent.span.start + at as u32,
            None => extent.span.end,
        }
    }

    /// Replaces a result type by the one that follows from the operands.
    fn inferred_type(&self, label: &str, span: Span) -> Option<Fix> {
        let extent = self.op_at(span.start)?;
        let op = self.op(extent)?;
        let def = op.def()?;
        // The verifier has inferred types of this op to report that.
        let is_about_it = label == def.infer_label || label == "dynamic-dimension";
        if !is_about_it || op.num_results() != 1 {
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

    /// The removal of something that has no effect.
    fn removal(&self, what: &str, span: Span) -> Option<Fix> {
        let op = self.op_at(span.start)?;
        let title = format!("Remove this {what}");
        Some(Fix { title, edits: vec![Edit::remove(self.with_line(op.span))] })
    }

    /// A span with its line, if nothing else is on that.
    pub(crate) fn with_line(&self, span: Span) -> Span {
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

/// The number of insertions, removals and replacements that make one name of another.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
