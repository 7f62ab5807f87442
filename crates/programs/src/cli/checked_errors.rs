//! CHECK lines about diagnostics on standard error, for `stablo update-verify-tests`.

use super::update_verify_tests::VERIFYING;
use crate::io::Io;
use crate::source::program_name;
use regex_lite::{Regex, escape};
use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

/// A command of a RUN line whose diagnostics FileCheck reads, as in
/// `not stablehlo-opt %s 2>&1 | FileCheck %s`.
pub(super) struct CheckedErrors {
    program: crate::Program,
    argv: Vec<OsString>,
    prefixes: Vec<String>,
}

/// A line of a text that a directive of FileCheck is in.
struct Directive {
    /// Index of the line.
    line: usize,
    /// True for `-NEXT` and `-SAME`, which continue the directive before.
    continues: bool,
    /// Bytes of its pattern within the line.
    pattern: Range<usize>,
}

/// A diagnostic in the output of a program.
struct Printed<'t> {
    /// From the severity to the end of the line.
    range: Range<usize>,
    severity: &'t str,
    label: Option<&'t str>,
}

/// Reads a command of a RUN line. Returns `None` for another command.
pub(super) fn checked_errors(command: &str, file: &Path) -> Option<CheckedErrors> {
    let name = program_name(file);
    let words: Vec<String> =
        shlex::split(command)?.into_iter().map(|word| word.replace("%s", &name)).collect();
    let (failing, check) = words.split_at(words.iter().position(|word| word == "2>&1")?);
    let ["not", tool, ..] = &*failing.iter().map(String::as_str).collect::<Vec<_>>() else {
        return None;
    };
    let program = VERIFYING.contains(tool).then(|| crate::program(tool)).flatten()?;
    let argv = failing[1..].iter().filter(|word| *word != "<").map(OsString::from).collect();
    let ["2>&1", "|", "FileCheck", options @ ..] =
        &*check.iter().map(String::as_str).collect::<Vec<_>>()
    else {
        return None;
    };
    let mut prefixes = Vec::new();
    let mut is_checked = false;
    for &option in options {
        let prefix = option
            .split_once("check-prefix=")
            .or_else(|| option.split_once("check-prefixes="))
            .map(|(_, value)| value.split(',').map(str::to_string));
        match prefix {
            Some(some) => prefixes.extend(some),
            None if option == name => is_checked = true,
            None => return None,
        }
    }
    if prefixes.is_empty() {
        prefixes.push("CHECK".to_string());
    }
    is_checked.then_some(CheckedErrors { program, argv, prefixes })
}

impl CheckedErrors {
    /// Runs the command and returns `test` in which patterns without a match in the output name the
    /// rules of diagnostics instead. Lines that continue a replaced pattern are removed, patterns
    /// with variables kept.
    ///
    /// # Errors
    /// The one-based lines without a diagnostic, with messages.
    pub(super) fn update(&self, test: &str, io: &Io<'_>) -> Result<String, Vec<(usize, String)>> {
        let output = one_blank(&self.output(io));
        let diagnostics: Vec<_> = printed(&output).collect();
        let mut lines: Vec<Option<String>> = test.lines().map(|l| Some(l.to_string())).collect();
        let mut problems = Vec::new();
        let mut at = 0;
        let mut is_replaced = false;
        for directive in directives(test, &self.prefixes) {
            let Some(line) = &lines[directive.line] else { continue };
            let (before, words) = line.split_at(directive.pattern.start);
            if words.contains("[[") {
                is_replaced = false;
                continue;
            }
            let found = matcher(words).and_then(|regex| regex.find(&output[at..]));
            if let Some(found) = found {
                at += found.end();
                is_replaced = false;
                continue;
            }
            if directive.continues {
                // The line before it names a rule now, which stands for all of the words.
                if is_replaced {
                    lines[directive.line] = None;
                }
                continue;
            }
            let severity = ["warning", "note"]
                .into_iter()
                .find(|severity| words.trim_start().starts_with(&format!("{severity}:")))
                .unwrap_or("error");
            let left =
                || diagnostics.iter().filter(|d| d.range.start >= at && d.severity == severity);
            let names = quoted(words);
            let has_names = |d: &&Printed<'_>| {
                let text = &output[d.range.clone()];
                names.iter().all(|name| text.contains(name))
            };
            let Some(diagnostic) = left().find(has_names).or_else(|| left().next()) else {
                let message = format!("no {severity} is left for `{}`", words.trim());
                problems.push((directive.line + 1, message));
                continue;
            };
            let text = &output[diagnostic.range.clone()];
            let mut rule = match diagnostic.label {
                Some(label) => format!(" {severity}[{label}]"),
                None => format!(" {severity}:"),
            };
            for name in names.iter().filter(|name| text.contains(**name)) {
                rule.push_str("{{.*}}");
                rule.push_str(name);
            }
            let line = format!("{before}{rule}");
            at = diagnostic.range.end;
            is_replaced = true;
            lines[directive.line] = Some(line);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut updated: String = lines.into_iter().flatten().map(|line| line + "\n").collect();
        if !test.ends_with('\n') {
            updated.pop();
        }
        Ok(updated)
    }

    /// Returns standard error of the command, followed by standard output.
    fn output(&self, io: &Io<'_>) -> String {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut inner = Io {
            stdin: &mut io::empty(),
            stdout: &mut stdout,
            stderr: &mut stderr,
            cwd: io.cwd.clone(),
            terminal: false,
            styles: io.styles,
            own_process: false,
        };
        (self.program)(&self.argv, &mut inner);
        stderr.extend(stdout);
        String::from_utf8_lossy(&stderr).into_owned()
    }
}

/// The plain directives of these prefixes, and the ones that continue them.
fn directives(test: &str, prefixes: &[String]) -> Vec<Directive> {
    let names: Vec<_> = prefixes.iter().map(|prefix| escape(prefix)).collect();
    let pattern = format!(r"(?:^|[^\w-])(?:{})(-NEXT|-SAME)?:", names.join("|"));
    let Ok(regex) = Regex::new(&pattern) else { return Vec::new() };
    let of_line = |(line, text): (usize, &str)| {
        let found = regex.captures(text).filter(|_| !text.contains("RUN:"))?;
        Some(Directive {
            line,
            continues: found.get(1).is_some(),
            pattern: found.get(0)?.end()..text.len(),
        })
    };
    test.lines().enumerate().filter_map(of_line).collect()
}

/// The diagnostics of an output, in order.
fn printed(output: &str) -> impl Iterator<Item = Printed<'_>> {
    static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^(?:[^|\n]*: )?(error|warning|note)(?:\[([^\]\n]+)\])?: .*$").ok()
    });
    HEAD.iter().flat_map(|regex| regex.captures_iter(output)).filter_map(|found| {
        Some(Printed {
            range: found.get(1)?.start()..found.get(0)?.end(),
            severity: found.get(1)?.as_str(),
            label: found.get(2).map(|label| label.as_str()),
        })
    })
}

/// The expression for a pattern of FileCheck without variables.
fn matcher(pattern: &str) -> Option<Regex> {
    let pattern = one_blank(pattern.trim());
    let mut expression = String::new();
    let mut rest = pattern.as_str();
    while let Some((literal, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}")?;
        expression.push_str(&format!("{}(?:{inner})", escape(literal)));
        rest = after;
    }
    expression.push_str(&escape(rest));
    Regex::new(&expression).ok()
}

/// The text with each run of blanks as one, as FileCheck compares.
fn one_blank(text: &str) -> String {
    let mut last = ' ';
    let is_kept = |c: &char| {
        let repeats = matches!(c, ' ' | '\t') && matches!(last, ' ' | '\t');
        last = *c;
        !repeats
    };
    text.chars().filter(is_kept).map(|c| if c == '\t' { ' ' } else { c }).collect()
}

/// The names of ops and types that a message has in quotation marks.
fn quoted(words: &str) -> Vec<&str> {
    static NAME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"['`](\w[\w.]*\.\w+)['`]").ok());
    let captures = NAME.iter().flat_map(|regex| regex.captures_iter(words));
    captures.filter_map(|found| found.get(1)).map(|name| name.as_str()).collect()
}
