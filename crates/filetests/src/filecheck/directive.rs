//! Reads the CHECK lines of a check file.

use super::FileCheckOptions;
use super::pattern::CheckPattern;

/// The constraint of a directive on the position of its match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `CHECK:` and, with a count other than 1, `CHECK-COUNT-n:`.
    Plain { count: usize },
    /// On the line after the previous match.
    Next,
    /// On the same line as the previous match.
    Same,
    /// Not between the previous and the next match.
    Not,
    /// In any order among its neighbours.
    Dag,
    /// Delimits a block; matched before everything else.
    Label,
    /// The line after the previous match is empty.
    Empty,
    /// The end of the input; closes trailing `CHECK-NOT` and `CHECK-DAG`.
    End,
}

/// One CHECK line.
#[derive(Debug)]
pub(super) struct CheckDirective {
    pub kind: Kind,
    /// The name as written, such as `CHECK-NEXT`.
    pub name: String,
    /// One-based line of the check file; zero for what the command line implies.
    pub line: usize,
    /// Text after the colon, trimmed.
    pub text: String,
    pub pattern: CheckPattern,
}

/// A directive with a match of its own and the `NOT` and `DAG` directives before it.
#[derive(Debug)]
pub(super) struct CheckGroup {
    pub before: Vec<CheckDirective>,
    pub directive: CheckDirective,
}

/// A problem of the check file itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invalid {
    /// One-based line; zero when it concerns the whole file.
    pub line: usize,
    pub problem: String,
}

/// Lines with these words instead of a prefix are comments.
const COMMENT_PREFIXES: [&str; 2] = ["COM", "RUN"];

/// Reads the directives with the prefixes of `options` from a canonicalized check file.
pub(super) fn parse(source: &str, options: &FileCheckOptions) -> Result<Vec<CheckGroup>, Invalid> {
    let implicit = || {
        let not = |text: &String| {
            Ok(CheckDirective {
                kind: Kind::Not,
                name: "--implicit-check-not".to_owned(),
                line: 0,
                text: text.clone(),
                pattern: CheckPattern::parse(text, 0, false, options)?,
            })
        };
        let nots: Result<Vec<_>, String> = options.implicit_check_not.iter().map(not).collect();
        nots.map_err(|problem| Invalid { line: 0, problem })
    };
    let mut checks: Vec<CheckGroup> = Vec::new();
    let mut before = implicit()?;
    let mut unused: Vec<&String> = options.prefixes.iter().collect();
    for (index, line) in source.lines().enumerate() {
        let invalid = |problem| Invalid { line: index + 1, problem };
        let line = line.trim_end_matches('\r');
        let Some((prefix, directive)) = parse_line(line, index + 1, options).map_err(invalid)?
        else {
            continue;
        };
        unused.retain(|unused| *unused != prefix);
        match directive.kind {
            Kind::Not | Kind::Dag => {
                before.push(directive);
                continue;
            }
            Kind::Label if directive.pattern.has_variables() => {
                let problem = "a label is matched first, so it cannot use or define variables";
                return Err(invalid(problem.to_owned()));
            }
            Kind::Next | Kind::Same | Kind::Empty if checks.is_empty() => {
                let problem = format!("{} needs a {prefix} line before it", directive.name);
                return Err(invalid(problem));
            }
            _ => {}
        }
        let before = std::mem::replace(&mut before, implicit()?);
        checks.push(CheckGroup { before, directive });
    }
    let none_used = unused.len() == options.prefixes.len();
    // Patterns on the command line may do without a check file's.
    let none_needed = !options.implicit_check_not.is_empty()
        && options.prefixes == FileCheckOptions::default().prefixes;
    if let Some(prefix) = unused.first()
        && (none_used || !options.allow_unused_prefixes)
        && !none_needed
    {
        return Err(Invalid { line: 0, problem: format!("no directive has the prefix {prefix}") });
    }
    if !before.is_empty() {
        checks.push(CheckGroup {
            before,
            directive: CheckDirective {
                kind: Kind::End,
                name: "end of input".to_owned(),
                line: 0,
                text: String::new(),
                pattern: CheckPattern::End,
            },
        });
    }
    Ok(checks)
}

/// The first directive in a line with its prefix; the rest of the line belongs to it.
fn parse_line<'a>(
    line: &str,
    number: usize,
    options: &'a FileCheckOptions,
) -> Result<Option<(&'a str, CheckDirective)>, String> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut rest = line;
    loop {
        // At the leftmost position where any prefix starts, the longest one is chosen.
        let places = options.prefixes.iter().map(String::as_str);
        let places = places.chain(COMMENT_PREFIXES);
        let found = places.filter_map(|prefix| Some((rest.find(prefix)?, prefix)));
        let Some((at, prefix)) = found.min_by_key(|(at, prefix)| (*at, usize::MAX - prefix.len()))
        else {
            return Ok(None);
        };
        let after = &rest[at + prefix.len()..];
        if !rest[..at].ends_with(in_word) {
            if COMMENT_PREFIXES.contains(&prefix) {
                if after.starts_with(':') {
                    return Ok(None);
                }
            } else if let Some((kind, literal, text)) = parse_kind(after)? {
                let name = &rest[at..rest.len() - text.len()];
                let name = name.trim_end_matches(':').to_owned();
                let directive = parse_directive(kind, literal, name, text, number, options)?;
                return Ok(Some((prefix, directive)));
            }
        }
        rest = after.trim_start_matches(in_word);
    }
}

/// Parses what follows the prefix up to the colon: kind, whether `{LITERAL}` is present, the text.
fn parse_kind(after: &str) -> Result<Option<(Kind, bool, &str)>, String> {
    const SUFFIXES: [(&str, Kind); 6] = [
        ("NEXT", Kind::Next),
        ("SAME", Kind::Same),
        ("NOT", Kind::Not),
        ("DAG", Kind::Dag),
        ("LABEL", Kind::Label),
        ("EMPTY", Kind::Empty),
    ];
    let Some(suffix) = after.strip_prefix('-') else {
        let plain = Kind::Plain { count: 1 };
        return Ok(parse_modifiers(after).map(|(literal, text)| (plain, literal, text)));
    };
    if let Some(count) = suffix.strip_prefix("COUNT-") {
        let digits = count.len() - count.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, after) = count.split_at(digits);
        let count = count.parse().ok().filter(|&count: &usize| count > 0);
        return match (count, parse_modifiers(after)) {
            (Some(count), Some((literal, text))) => {
                Ok(Some((Kind::Plain { count }, literal, text)))
            }
            _ => Err("-COUNT- needs a positive number and a colon".to_owned()),
        };
    }
    for (word, kind) in SUFFIXES {
        let Some(after) = suffix.strip_prefix(word) else {
            continue;
        };
        if let Some((literal, text)) = parse_modifiers(after) {
            return Ok(Some((kind, literal, text)));
        }
        let other = |&(other, _): &(&str, Kind)| {
            let after = after.strip_prefix('-');
            after.is_some_and(|after| after.starts_with(&format!("{other}:")))
        };
        if let Some((other, _)) = SUFFIXES.iter().find(|suffix| other(suffix))
            && (word == "NOT" || *other == "NOT")
        {
            return Err(format!("-{word} and -{other} cannot be combined"));
        }
    }
    Ok(None)
}

/// Parses `:` or `{LITERAL}:`, and returns whether `LITERAL` is present, and the text after it.
fn parse_modifiers(after: &str) -> Option<(bool, &str)> {
    if let Some(text) = after.strip_prefix(':') {
        return Some((false, text));
    }
    let (modifiers, text) = after.strip_prefix('{')?.split_once("}:")?;
    let literal = modifiers.split(',').all(|word| word.trim() == "LITERAL");
    literal.then_some((true, text))
}

fn parse_directive(
    kind: Kind,
    literal: bool,
    name: String,
    text: &str,
    line: usize,
    options: &FileCheckOptions,
) -> Result<CheckDirective, String> {
    let text = match options.strict_whitespace && options.match_full_lines {
        true => text,
        false => text.trim_matches([' ', '\t']),
    };
    let full_lines = options.match_full_lines && kind != Kind::Not;
    let pattern = match (kind, text.is_empty()) {
        (Kind::Empty, true) => CheckPattern::empty_line(),
        (Kind::Empty, false) => return Err(format!("{name} takes no text, found `{text}`")),
        (_, true) => return Err(format!("{name} needs a text after the colon")),
        _ if literal => CheckPattern::literal(text, options),
        _ => CheckPattern::parse(text, line, full_lines, options)
            .map_err(|problem| format!("{name}: {problem}"))?,
    };
    Ok(CheckDirective { kind, name, line, text: text.to_owned(), pattern })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(prefixes: &[&str]) -> FileCheckOptions {
        FileCheckOptions {
            prefixes: prefixes.iter().map(|&prefix| prefix.to_owned()).collect(),
            ..FileCheckOptions::default()
        }
    }

    fn kinds(source: &str, prefixes: &[&str]) -> Result<Vec<(Kind, String)>, Invalid> {
        let checks = parse(source, &options(prefixes))?.into_iter();
        let directives = checks.flat_map(|check| {
            let mut directives = check.before;
            directives.push(check.directive);
            directives
        });
        Ok(directives.map(|d| (d.kind, d.text)).collect())
    }

    #[test]
    fn every_kind() {
        let source = "CHECK: a\n; CHECK-NEXT:b\nCHECK-SAME{LITERAL}: [[c\nCHECK-NOT: d\nCHECK-DAG: e\n\
             CHECK-LABEL: f\nCHECK-EMPTY:\nCHECK-COUNT-3: g\nCHECK-NOT: h\n";
        let expected = [
            (Kind::Plain { count: 1 }, "a"),
            (Kind::Next, "b"),
            (Kind::Same, "[[c"),
            (Kind::Not, "d"),
            (Kind::Dag, "e"),
            (Kind::Label, "f"),
            (Kind::Empty, ""),
            (Kind::Plain { count: 3 }, "g"),
            (Kind::Not, "h"),
            (Kind::End, ""),
        ];
        let expected = expected.map(|(kind, text)| (kind, text.to_owned()));
        assert_eq!(kinds(source, &["CHECK"]), Ok(expected.to_vec()));
    }

    #[test]
    fn words_that_are_no_directives() {
        let source = "DISABLED-CHECK: a\nCHECK-FOO: b\nCHECKS: c\nCOM: CHECK: d\nRUN: CHECK: e\n\
             CHECK_X: f\nCHECK-NEXT-FOO: g\nCHECK : h\nCHECK: i\n";
        let expected = vec![(Kind::Plain { count: 1 }, "i".to_owned())];
        assert_eq!(kinds(source, &["CHECK"]), Ok(expected));
    }

    #[test]
    fn the_longest_prefix_counts() {
        let source = "A-B: x\nA: y\n";
        let expected = ["x", "y"].map(|text| (Kind::Plain { count: 1 }, text.to_owned()));
        assert_eq!(kinds(source, &["A", "A-B"]), Ok(expected.to_vec()));
    }

    #[test]
    fn invalid_files() {
        for (source, line) in [
            ("text", 0),
            ("CHECK-NEXT: a", 1),
            ("\nCHECK:", 2),
            ("CHECK: a\nCHECK-EMPTY: a", 2),
            ("CHECK-LABEL: [[A:a]]", 1),
            ("CHECK-DAG-NOT: a", 1),
            ("CHECK-COUNT-0: a", 1),
            ("CHECK-COUNT-a: a", 1),
            ("CHECK: {{a", 1),
            ("CHECK: [[a", 1),
            ("CHECK: {{a**}}", 1),
        ] {
            assert_eq!(kinds(source, &["CHECK"]).map_err(|e| e.line), Err(line), "{source}");
        }
    }
}
