//! Compares a program's output with the CHECK lines of a file, as LLVM's FileCheck does.
//!
//! Supported: the directives `CHECK`, `-NEXT`, `-SAME`, `-NOT`, `-DAG`, `-LABEL`, `-EMPTY`,
//! `-COUNT-n` and the modifier `{LITERAL}`; in patterns `{{regex}}`, `[[VAR:regex]]`, `[[VAR]]`,
//! `[[@LINE+n]]` and numeric blocks without constraints. The options are those of
//! [`FileCheckOptions`].

mod compare;
mod directive;
mod ere;
mod number;
mod pattern;
mod report;

use crate::ProcessOutcome;
use number::NumberNotation;
use pattern::{Variables, variable_name};
use std::borrow::Cow;
use std::fs;
use std::path::Path;

/// The exit code when the input does not satisfy the directives.
const EXIT_MISMATCH: i32 = 1;

/// The exit code when the arguments or the files cannot be used.
const EXIT_UNUSABLE: i32 = 2;

/// The command line of FileCheck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCheckOptions {
    /// `--check-prefix`, `--check-prefixes`: the words directives start with; `CHECK` by default.
    pub prefixes: Vec<String>,
    /// `--implicit-check-not`: patterns that must not match between the matches.
    pub implicit_check_not: Vec<String>,
    /// `-DVAR=value`: text variables.
    pub defines: Vec<(String, String)>,
    /// `-D#VAR=value`: numeric variables.
    pub numeric_defines: Vec<(String, i64)>,
    /// `--strict-whitespace`: runs of blanks are not the same as one blank.
    pub strict_whitespace: bool,
    /// `--match-full-lines`: patterns match whole lines, `-NOT` excepted.
    pub match_full_lines: bool,
    /// `--ignore-case`.
    pub ignore_case: bool,
    /// `--allow-empty`: an empty input is no error.
    pub allow_empty: bool,
    /// `--allow-unused-prefixes`: a prefix without directives is no error, if another has some.
    pub allow_unused_prefixes: bool,
    /// `--enable-var-scope`: a label forgets the variables that do not start with `$`.
    pub variable_scope: bool,
    /// `--input-file`: the input, instead of the standard input.
    pub input_file: Option<String>,
    /// The file with the directives.
    pub check_file: String,
}

impl Default for FileCheckOptions {
    fn default() -> FileCheckOptions {
        FileCheckOptions {
            prefixes: vec!["CHECK".to_owned()],
            implicit_check_not: Vec::new(),
            defines: Vec::new(),
            numeric_defines: Vec::new(),
            strict_whitespace: false,
            match_full_lines: false,
            ignore_case: false,
            allow_empty: false,
            allow_unused_prefixes: false,
            variable_scope: false,
            input_file: None,
            check_file: String::new(),
        }
    }
}

impl FileCheckOptions {
    /// Reads a command line without the program's name. Options start with one or two dashes; the
    /// value of one follows `=` or is the next argument.
    pub fn parse(args: &[String]) -> Result<FileCheckOptions, String> {
        let mut options = FileCheckOptions::default();
        let mut prefixes: Vec<String> = Vec::new();
        let mut check_file = None;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let Some(option) = arg.strip_prefix('-').filter(|option| !option.is_empty()) else {
                if let Some(other) = check_file.replace(arg.clone()) {
                    return Err(format!("two check files: {other} and {arg}"));
                }
                continue;
            };
            if let Some(definition) = option.strip_prefix('D') {
                match definition {
                    "" => options.define(args.next().ok_or("-D needs VAR=value")?)?,
                    _ => options.define(definition)?,
                }
                continue;
            }
            let option = option.strip_prefix('-').unwrap_or(option);
            let (name, inline) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let mut value = || {
                let value = inline.clone().or_else(|| args.next().cloned());
                value.ok_or_else(|| format!("--{name} needs a value"))
            };
            match name {
                "check-prefix" | "check-prefixes" => {
                    prefixes.extend(value()?.split(',').map(str::to_owned));
                }
                "implicit-check-not" => options.implicit_check_not.push(value()?),
                "input-file" => options.input_file = Some(value()?),
                "strict-whitespace" => options.strict_whitespace = flag(inline)?,
                "match-full-lines" => options.match_full_lines = flag(inline)?,
                "ignore-case" => options.ignore_case = flag(inline)?,
                "allow-empty" => options.allow_empty = flag(inline)?,
                "allow-unused-prefixes" => options.allow_unused_prefixes = flag(inline)?,
                "enable-var-scope" => options.variable_scope = flag(inline)?,
                // Options for upstream's verbosity: ignored.
                "dump-input" | "dump-input-filter" | "dump-input-context" => drop(value()?),
                "v" | "vv" | "color" => {}
                _ => return Err(format!("unknown option {arg}")),
            }
        }
        options.check_file = check_file.ok_or("no check file is given")?;
        if !prefixes.is_empty() {
            options.prefixes = prefixes;
        }
        for (index, prefix) in options.prefixes.iter().enumerate() {
            let valid = prefix.starts_with(|c: char| c.is_ascii_alphabetic())
                && prefix.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            if !valid || options.prefixes[..index].contains(prefix) {
                return Err(format!("`{prefix}` is not a valid prefix or given twice"));
            }
        }
        Ok(options)
    }

    /// Reads `VAR=value` or `#VAR=number`.
    fn define(&mut self, definition: &str) -> Result<(), String> {
        let (name, value) =
            definition.split_once('=').ok_or_else(|| format!("-D{definition} needs a `=`"))?;
        if let Some(name) = name.strip_prefix('#') {
            let number = value.trim().parse();
            let number = number.map_err(|_| format!("`{value}` is not a 64-bit number"))?;
            self.numeric_defines.push((variable_name(name)?.to_owned(), number));
        } else {
            self.defines.push((variable_name(name)?.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    fn variables(&self) -> Variables {
        let number =
            |(name, value): &(String, i64)| (name.clone(), (*value, NumberNotation::Unsigned));
        Variables {
            texts: self.defines.iter().cloned().collect(),
            numbers: self.numeric_defines.iter().map(number).collect(),
        }
    }
}

fn flag(value: Option<String>) -> Result<bool, String> {
    match value.as_deref() {
        None | Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some(other) => Err(format!("`{other}` is neither true nor false")),
    }
}

/// Runs FileCheck as a program: arguments without its name, standard input, current directory. The
/// exit code is 0 when the input satisfies the directives, 1 when not, 2 when something else is
/// wrong.
pub fn run(args: &[String], stdin: &[u8], cwd: &Path) -> ProcessOutcome {
    let unusable =
        |problem| ProcessOutcome::failure(EXIT_UNUSABLE, format_args!("FileCheck: {problem}"));
    let read = |path: &str| fs::read(cwd.join(path)).map_err(|error| format!("{path}: {error}"));
    let prepared = || {
        let options = FileCheckOptions::parse(args)?;
        let source = read(&options.check_file)?;
        let input = match options.input_file.as_deref() {
            None | Some("-") => Cow::Borrowed(stdin),
            Some(path) => Cow::Owned(read(path)?),
        };
        Ok((options, source, input))
    };
    let (options, source, input) = match prepared() {
        Ok(prepared) => prepared,
        Err(problem) => return unusable(problem),
    };
    let source = String::from_utf8_lossy(&source);
    match check(&source, &String::from_utf8_lossy(&input), &options) {
        Ok(()) => ProcessOutcome::default(),
        Err(CheckError::Unusable(problem)) => unusable(problem),
        Err(CheckError::Mismatch(report)) => ProcessOutcome {
            stderr: report.into_bytes(),
            code: EXIT_MISMATCH,
            ..ProcessOutcome::default()
        },
    }
}

/// The reason why an input was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The directives are invalid or missing, or the input is empty.
    Unusable(String),
    /// The input does not satisfy the directives; the report says which, with their places.
    Mismatch(String),
}

/// Compares `input` with the directives in `source`, the text of the check file.
pub fn check(source: &str, input: &str, options: &FileCheckOptions) -> Result<(), CheckError> {
    let path = &options.check_file;
    let checks = directive::parse(&canonicalize(source, options), options).map_err(|invalid| {
        CheckError::Unusable(match invalid.line {
            0 => format!("{path}: {}", invalid.problem),
            line => format!("{path}:{line}: {}", invalid.problem),
        })
    })?;
    if input.is_empty() && !options.allow_empty {
        return Err(CheckError::Unusable("the input is empty".to_owned()));
    }
    let input = canonicalize(input, options);
    let mismatches = compare::compare(&checks, &input, options.variables(), options.variable_scope);
    if mismatches.is_empty() {
        return Ok(());
    }
    let rendered = mismatches.iter().map(|m| report::render(path, source, &input, m));
    Err(CheckError::Mismatch(rendered.collect()))
}

/// Drops the carriage return of line ends and makes one blank of each run of blanks and tabs.
fn canonicalize(text: &str, options: &FileCheckOptions) -> String {
    let mut canonical = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            ' ' | '\t' if !options.strict_whitespace => {
                canonical.push(' ');
                while chars.next_if(|&c| c == ' ' || c == '\t').is_some() {}
            }
            c => canonical.push(c),
        }
    }
    canonical
}
