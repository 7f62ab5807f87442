//! Renders a mismatch: the pattern, the searched region, and the input found there instead.

use super::compare::{Mismatch, Problem};
use super::directive::Kind;
use super::pattern::Variables;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

/// Lines of the input compared with a pattern to find the closest one.
const CLOSEST_AMONG: usize = 5_000;

/// Characters shown of one line.
const SHOWN_CHARACTERS: usize = 240;

/// Renders one mismatch. `path` is the check file, `source` its text, both for display.
pub(super) fn render(path: &str, source: &str, input: &str, mismatch: &Mismatch) -> String {
    let directive = mismatch.directive;
    let name = &directive.name;
    let report = CheckReport { input, text: String::new() };
    let searched = &mismatch.searched;
    let (message, report) = match &mismatch.problem {
        Problem::NotFound { found } => {
            let message = match directive.kind {
                Kind::Plain { count } if count > 1 => {
                    format!("only {found} of {count} matches found")
                }
                _ => "no match found".to_owned(),
            };
            let report = report
                .place("looked for a match from here on", searched.start)
                .block_end(searched)
                .elsewhere(mismatch)
                .closest(mismatch);
            (message, report)
        }
        Problem::Forbidden { found } => {
            ("found what must not be there".to_owned(), report.place("it is here", found.start))
        }
        Problem::WrongLine { found, lines } => {
            let message = match directive.kind {
                Kind::Same => "must match on the line of the previous match",
                _ => "must match on the line after the previous match",
            };
            let distance = match lines {
                0 => "the match is on the same line".to_owned(),
                1 => "the match is on the next line".to_owned(),
                n => format!("the match is {n} lines below"),
            };
            let report = report
                .place("the previous match ends here", searched.start)
                .place(&distance, found.start)
                .expected_line(directive.kind, searched.start);
            (message.to_owned(), report)
        }
        Problem::Undefined(variable) => {
            let message = format!("the variable {variable} is not defined here");
            (message, report.place("would match from here on", searched.start))
        }
        Problem::Unmatchable(problem) => (
            format!("cannot be matched: {problem}"),
            report.place("would match from here on", searched.start),
        ),
    };
    let mut text = match directive.line {
        0 => format!("{path}: error: {name}: {message}\n"),
        line => format!("{path}:{line}: error: {name}: {message}\n"),
    };
    let written = directive.line.checked_sub(1).and_then(|l| source.lines().nth(l));
    let _ = writeln!(text, "    {}", shorten(written.unwrap_or(&directive.text)));
    for (variable, value) in &mismatch.values {
        let _ = writeln!(text, "  with {variable} = `{value}`");
    }
    text + &report.text
}

/// Notes about places in the input.
struct CheckReport<'a> {
    input: &'a str,
    text: String,
}

impl CheckReport<'_> {
    /// One-based line of a position, and the line's range.
    fn line_at(&self, at: usize) -> (usize, Range<usize>) {
        let start = self.input[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = self.input[at..].find('\n').map_or(self.input.len(), |end| at + end);
        let number = self.input[..start].matches('\n').count() + 1;
        (number, start..end)
    }

    /// Shows the line of a position with a caret under the position.
    fn place(mut self, note: &str, at: usize) -> Self {
        let (number, line) = self.line_at(at);
        let before = &self.input[line.start..at];
        let column = before.chars().count();
        // Of a long line, show the part around the position.
        let skipped = column.saturating_sub(SHOWN_CHARACTERS / 2);
        let shown: String = self.input[line].chars().skip(skipped).collect();
        let caret = " ".repeat(column - skipped);
        let _ = write!(
            self.text,
            "  input:{number}:{}: {note}\n    {}\n    {caret}^\n",
            column + 1,
            shorten(&shown)
        );
        self
    }

    /// Notes where the search ended, if not at the end of the input.
    fn block_end(mut self, searched: &Range<usize>) -> Self {
        if searched.end < self.input.len() {
            let (number, _) = self.line_at(searched.end);
            let _ = writeln!(self.text, "  up to the next label in input line {number}");
        }
        self
    }

    /// Shows the line on which a `-NEXT` or `-EMPTY` directive should have matched.
    fn expected_line(self, kind: Kind, previous: usize) -> Self {
        let end = self.input[previous..].find('\n').map(|end| previous + end + 1);
        match (kind, end) {
            (Kind::Next | Kind::Empty, Some(at)) => self.place("this line must match", at),
            _ => self,
        }
    }

    /// Notes where the pattern matches outside of the searched part.
    fn elsewhere(self, mismatch: &Mismatch) -> Self {
        if mismatch.directive.pattern.has_variables() {
            return self;
        }
        let find = |region: Range<usize>| {
            let start = region.start;
            let text = self.input.get(region)?;
            let found = mismatch.directive.pattern.find(text, &mut Variables::default());
            found.ok().flatten().map(|found| start + found.start)
        };
        let before = find(0..mismatch.searched.start);
        let after = find(mismatch.searched.end..self.input.len());
        match (before, after) {
            (Some(at), _) => self.place("it matches here, before the previous match", at),
            (None, Some(at)) => self.place("it matches here, after the next label", at),
            (None, None) => self,
        }
    }

    /// Shows the line of the searched part that shares most words with the pattern.
    fn closest(self, mismatch: &Mismatch) -> Self {
        let mut pattern = mismatch.directive.text.clone();
        for (variable, value) in &mismatch.values {
            pattern = pattern.replace(&format!("[[{variable}]]"), value);
        }
        let wanted: HashSet<&str> = words(&pattern).collect();
        let searched = &mismatch.searched;
        let mut start = searched.start;
        let mut best: Option<(usize, usize)> = None;
        for line in self.input[searched.clone()].split('\n').take(CLOSEST_AMONG) {
            let present: HashSet<&str> = words(line).collect();
            let shared = wanted.intersection(&present).count();
            if best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, start));
            }
            start += line.len() + 1;
        }
        match best {
            Some((shared, at)) if shared * 2 > wanted.len() => self.place("the closest line", at),
            _ => self,
        }
    }
}

/// Names, numbers and single other characters.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.split_whitespace().flat_map(move |part| part.split_inclusive(move |c| !in_word(c)))
}

fn shorten(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
