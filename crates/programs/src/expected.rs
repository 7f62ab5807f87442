//! `--verify-diagnostics`: comments such as `// expected-error @+1 {{text}}` compared with the
//! reported diagnostics.
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

/// A pattern for its message.
enum Pattern {
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
        let mut problems = Diagnostics::new();
        for d in diagnostics {
            self.take(d.severity, &d.message, &d.position, source, &mut problems);
            for (message, position) in &d.notes {
                self.take(Severity::Note, message, position, source, &mut problems);
            }
            // Help may be expected, but need not: upstream's tests know none.
            if let Some(help) = &d.help {
                self.take(Severity::Help, help, &d.position, source, &mut Diagnostics::new());
            }
        }
        if !all {
            problems.clear();
        }
        for missing in self.0.iter().filter(|e| !e.met) {
            let message = match missing.pattern {
                Pattern::Invalid => format!("cannot read the expectation `{}`", missing.shown),
                _ => format!("no diagnostic for the expectation `{}`", missing.shown),
            };
            problems.push(Diagnostic::error("verify-diagnostics", message).at(missing.span));
        }
        problems
    }

    fn take(
        &mut self,
        severity: Severity,
        message: &str,
        at: &Position,
        source: &Source,
        problems: &mut Diagnostics,
    ) {
        let line =
            resolve(at, Some(source)).and_then(|(file, line, _)| source.line_of(&file, line));
        let line = line.map_or(Line::Unknown, Line::Number);
        let fits = |e: &&mut Expectation| {
            !e.met && e.severity == severity && e.line == line && e.pattern.fits(message)
        };
        match self.0.iter_mut().find(fits) {
            Some(expectation) => expectation.met = true,
            None => {
                let text = format!("unexpected {}: {message}", severity.name());
                problems.push(Diagnostic::error("verify-diagnostics", text).at(at.clone()));
            }
        }
    }
}

impl Pattern {
    fn fits(&self, message: &str) -> bool {
        match self {
            Pattern::Text(text) => message.contains(text),
            Pattern::Regex(regex) => regex.is_match(message),
            Pattern::Invalid => false,
        }
    }
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
