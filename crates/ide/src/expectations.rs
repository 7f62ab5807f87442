//! Comments that expect diagnostics, such as `// expected-error @+1 {{text}}` compared with the
//! reported diagnostics.
//!
//! Besides a part of the message, as in MLIR, a comment may name the violated rule, which does not
//! depend on the wording: `{{[dot_general_c10]}}`, or both: `{{[dot_general_c10] size 3}}`.
//!
//! Source: MLIR documentation, "Diagnostic Infrastructure", section "SourceMgr Diagnostic Verifier
//! Handler".

use regex_lite::Regex;
use stablo::{Diagnostic, Diagnostics, Position, Severity, Source, Span, resolve};

/// The line of an expected diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Number(u32),
    Unknown,
}

/// A pattern for a diagnostic.
enum Pattern {
    /// A part of the message, or a rule in brackets with an optional part of the message.
    Text(String),
    Regex(Regex),
    /// A pattern that does not parse.
    Invalid,
}

struct Expectation {
    severity: Severity,
    line: Line,
    pattern: Pattern,
    shown: String,
    /// Position of the comment.
    span: Span,
    met: bool,
}

/// The diagnostics expected by the comments of a text.
pub struct Expectations(Vec<Expectation>);

impl Expectations {
    /// Parses the comments.
    pub fn read(source: &Source) -> Expectations {
        let mut all: Vec<Expectation> = Vec::new();
        // The last line without a comment, and the comments that refer to the next such line.
        let mut above = 0;
        let mut waiting: Vec<usize> = Vec::new();
        let mut offset = 0usize;
        for line in source.text().split_inclusive('\n') {
            let number = source.line_column(offset as u32).0;
            if let Some(found) = parse_comment(line) {
                let line = match found.place {
                    Place::Offset(by) => Line::Number(number.saturating_add_signed(by)),
                    Place::Unknown => Line::Unknown,
                    Place::Above => Line::Number(above),
                    Place::Below => {
                        waiting.push(all.len());
                        Line::Number(number)
                    }
                };
                let start = (offset + found.start) as u32;
                let span = Span { start, end: start + found.text.len() as u32 };
                let shown = found.text.to_string();
                all.push(Expectation {
                    severity: found.severity,
                    line,
                    pattern: found.pattern,
                    shown,
                    span,
                    met: false,
                });
            } else {
                above = number;
                waiting.drain(..).for_each(|index| all[index].line = Line::Number(number));
            }
            offset += line.len();
        }
        Expectations(all)
    }

    /// Errors about expected diagnostics that were not reported and, if `all`, about reported ones
    /// that were not expected.
    pub fn check(mut self, diagnostics: &Diagnostics, source: &Source, all: bool) -> Diagnostics {
        let unexpected = self.unexpected(diagnostics, source);
        let unexpected = unexpected.into_iter().filter(|_| all).map(|reported| reported.problem());
        let mut problems: Diagnostics = unexpected.collect();
        problems.extend(self.missing());
        problems
    }

    /// Returns the text with comments that state the reported diagnostics: a comment that nothing
    /// fits names the rule (or the message, where there is no rule) of an unexpected diagnostic of
    /// its line and severity. Appends errors about what remains to `problems`.
    pub fn update(
        mut self,
        diagnostics: &Diagnostics,
        source: &Source,
        problems: &mut Diagnostics,
    ) -> String {
        let mut edits: Vec<(Span, String)> = Vec::new();
        for reported in self.unexpected(diagnostics, source) {
            let expectation = self.0.iter_mut().find(|e| {
                !e.met && e.severity == reported.severity && e.line == reported.line(source)
            });
            match expectation.and_then(|e| Some((e.restated(&reported)?, e))) {
                Some((comment, expectation)) => {
                    expectation.met = true;
                    edits.push((expectation.span, comment));
                }
                None => problems.push(reported.problem()),
            }
        }
        problems.extend(self.missing());
        edits.sort_unstable_by_key(|(span, _)| span.start);
        let mut text = String::new();
        let mut copied = 0;
        for (span, comment) in edits {
            text.push_str(&source.text()[copied..span.start as usize]);
            text.push_str(&comment);
            copied = span.end as usize;
        }
        text + &source.text()[copied..]
    }

    /// True if a comment expects a diagnostic. Each expects one.
    pub fn take(&mut self, diagnostic: &Diagnostic, source: &Source) -> bool {
        let (label, message) = (&*diagnostic.label, &*diagnostic.message);
        let (severity, position) = (diagnostic.severity, &diagnostic.position);
        self.meets(&Reported { severity, label, message, position }, source)
    }

    /// Marks the expectations that diagnostics meet and returns the diagnostics that meet none.
    fn unexpected<'d>(
        &mut self,
        diagnostics: &'d Diagnostics,
        source: &Source,
    ) -> Vec<Reported<'d>> {
        let mut unexpected = Vec::new();
        for d in diagnostics {
            let main = Reported {
                severity: d.severity,
                label: &d.label,
                message: &d.message,
                position: &d.position,
            };
            let notes = d.notes.iter().map(|(message, position)| Reported {
                severity: Severity::Note,
                label: "",
                message,
                position,
            });
            unexpected
                .extend(std::iter::once(main).chain(notes).filter(|r| !self.meets(r, source)));
            // Help may be expected, but need not: upstream's tests know none.
            if let Some(help) = &d.help {
                self.meets(&Reported { severity: Severity::Help, message: help, ..main }, source);
            }
        }
        unexpected
    }

    /// Marks the first expectation that a diagnostic meets; false if it meets none.
    fn meets(&mut self, reported: &Reported<'_>, source: &Source) -> bool {
        let line = reported.line(source);
        let fits = |e: &&mut Expectation| {
            !e.met
                && e.severity == reported.severity
                && e.line == line
                && e.pattern.fits(reported.label, reported.message)
        };
        let expectation = self.0.iter_mut().find(fits);
        expectation.map(|expectation| expectation.met = true).is_some()
    }

    /// Errors about expectations that no diagnostic met.
    fn missing(&self) -> impl Iterator<Item = Diagnostic> {
        self.0.iter().filter(|e| !e.met).map(|missing| {
            let message = match missing.pattern {
                Pattern::Invalid => format!("cannot read the expectation `{}`", missing.shown),
                Pattern::Text(_) | Pattern::Regex(_) => {
                    format!("no diagnostic for the expectation `{}`", missing.shown)
                }
            };
            Diagnostic::error("verify-diagnostics", message).at(missing.span)
        })
    }
}

impl Expectation {
    /// The comment with the rule, or else the message, of a diagnostic as its pattern; `None` if it
    /// could not be read back.
    fn restated(&self, reported: &Reported<'_>) -> Option<String> {
        let (designator, _) = self.shown.split_once("{{")?;
        let designator = designator.replacen("-re", "", 1);
        let pattern = match reported.label {
            "" => reported.message.to_string(),
            label => format!("[{label}]"),
        };
        let comment = format!("{designator}{{{{{pattern}}}}}");
        let read = parse_comment(&comment)?;
        let fits = read.text == comment && read.pattern.fits(reported.label, reported.message);
        fits.then_some(comment)
    }
}

/// A reported diagnostic, or a note or help of one.
#[derive(Clone, Copy)]
struct Reported<'d> {
    severity: Severity,
    /// The violated rule; empty for notes.
    label: &'d str,
    message: &'d str,
    position: &'d Position,
}

impl Reported<'_> {
    fn line(&self, source: &Source) -> Line {
        let line = resolve(self.position, Some(source))
            .and_then(|(file, line, _)| source.line_of(&file, line));
        line.map_or(Line::Unknown, Line::Number)
    }

    /// The error that reports it as unexpected, with the rule that a comment would name.
    fn problem(&self) -> Diagnostic {
        let (severity, message) = (self.severity.name(), self.message);
        let text = match self.label {
            "" => format!("unexpected {severity}: {message}"),
            label => format!("unexpected {severity}: [{label}] {message}"),
        };
        Diagnostic::error("verify-diagnostics", text).at(self.position.clone())
    }
}

impl Pattern {
    fn fits(&self, label: &str, message: &str) -> bool {
        match self {
            Pattern::Text(text) => {
                message.contains(text)
                    || rule(text)
                        .is_some_and(|(rule, rest)| rule == label && message.contains(rest))
            }
            Pattern::Regex(regex) => regex.is_match(message),
            Pattern::Invalid => false,
        }
    }
}

/// Splits `[rule] text`.
fn rule(text: &str) -> Option<(&str, &str)> {
    let (rule, rest) = text.strip_prefix('[')?.split_once(']')?;
    (!rule.is_empty()).then(|| (rule, rest.trim_start()))
}

enum Place {
    Offset(i32),
    Above,
    Below,
    Unknown,
}

struct Comment<'a> {
    severity: Severity,
    place: Place,
    pattern: Pattern,
    /// From `expected` to `}}`, and its position in the line.
    text: &'a str,
    start: usize,
}

/// `expected-(error|warning|remark|note|help)(-re)? *(@([+-]N|above|below|unknown))? *{{…}}`
fn parse_comment(line: &str) -> Option<Comment<'_>> {
    let start = line.find("expected-")?;
    let text = &line[start..];
    let mut rest = &text["expected-".len()..];
    let severities =
        [Severity::Error, Severity::Warning, Severity::Remark, Severity::Note, Severity::Help];
    let severity = severities.into_iter().find(|s| rest.starts_with(s.name()))?;
    rest = &rest[severity.name().len()..];
    let is_regex = rest.starts_with("-re");
    rest = rest.strip_prefix("-re").unwrap_or(rest).trim_start_matches(' ');
    let mut place = Place::Offset(0);
    if let Some(designator) = rest.strip_prefix('@') {
        let end = designator.find([' ', '{']).unwrap_or(designator.len());
        place = match &designator[..end] {
            "above" => Place::Above,
            "below" => Place::Below,
            "unknown" => Place::Unknown,
            offset if offset.starts_with(['+', '-']) => Place::Offset(offset.parse().ok()?),
            _ => return None,
        };
        rest = designator[end..].trim_start_matches(' ');
    }
    let body = up_to_closing(rest.strip_prefix("{{")?)?;
    let end = text.len() - rest.len() + body.len() + "{{}}".len();
    let pattern = if is_regex { regex(body) } else { Pattern::Text(body.to_string()) };
    Some(Comment { severity, place, pattern, text: &text[..end], start })
}

/// The text up to the matching `}}` if braces are balanced, otherwise up to the last one. Of more
/// than two braces in a row, the last two close.
fn up_to_closing(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with("{{") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("}}") {
            let run = rest.bytes().take_while(|&b| b == b'}').count();
            let Some(inner) = depth.checked_sub(run / 2) else {
                return Some(&text[..at + run - 2]);
            };
            depth = inner;
            at += run;
        } else {
            match rest.chars().next() {
                Some(c) => at += c.len_utf8(),
                None => return text.rfind("}}").map(|end| &text[..end]),
            }
        }
    }
}

/// Literal text with regular expressions in `{{…}}`.
fn regex(text: &str) -> Pattern {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some((literal, tail)) = rest.split_once("{{") {
        let Some((expression, tail)) = tail.split_once("}}") else { return Pattern::Invalid };
        pattern.push_str(&regex_lite::escape(literal));
        pattern.push_str(&format!("({expression})"));
        rest = tail;
    }
    pattern.push_str(&regex_lite::escape(rest));
    Regex::new(&pattern).map_or(Pattern::Invalid, Pattern::Regex)
}
