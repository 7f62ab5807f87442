//! `stablo check`: everything that is wrong with programs.

use crate::io::{Failure, Io};
use crate::source::{has_errors, program_name, read_program};
use mlir::diag::{Diagnostic, Diagnostics, Position, Severity, Source, render, resolve};
use mlir::{Module, OpRef};
use serde_json::{Value, json};
use stablo::{Bytes, ParseOptions};
use std::path::PathBuf;

/// The command line.
#[derive(clap::Args)]
pub struct Options {
    /// Programs to check; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How to report errors: for people, or one JSON object a line
    #[arg(long, default_value = "human")]
    format: Format,
    /// Allow ops, types and attributes of unknown dialects
    #[arg(long)]
    allow_unregistered_dialect: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
}

/// Runs the command.
///
/// # Errors
/// If a program cannot be read or is not valid.
pub fn run(options: &Options, io: &mut Io<'_>) -> Result<(), Failure> {
    let mut failed = false;
    for file in &options.files {
        let name = program_name(file);
        let (diagnostics, source) = match read_program(io, file) {
            Ok(bytes) => check(&name, bytes, options.allow_unregistered_dialect),
            Err(failure) => (vec![Diagnostic::error("input", failure.message)], None),
        };
        failed |= has_errors(&diagnostics);
        match options.format {
            Format::Json => {
                for diagnostic in &diagnostics {
                    io.print(format!("{}\n", to_json(diagnostic, &name, source.as_deref())))?;
                }
            }
            Format::Human => {
                diagnostics
                    .iter()
                    .for_each(|d| io.report(format_args!("{}\n", render(d, source.as_deref()))));
                io.print(format!("{name}: {}\n", summary(&diagnostics)))?;
            }
        }
    }
    if failed { Err(Failure::reported()) } else { Ok(()) }
}

fn check(
    name: &str,
    bytes: Bytes,
    allow_unregistered_dialects: bool,
) -> (Diagnostics, Option<std::sync::Arc<Source>>) {
    let parsed = stablo::open(
        name,
        bytes,
        ParseOptions { allow_unregistered_dialects, ..ParseOptions::default() },
    );
    let mut diagnostics = parsed.diagnostics;
    let options = mlir::verify::VerifyOptions { allow_unregistered_dialects, ..Default::default() };
    if !has_errors(&diagnostics) {
        diagnostics.extend(mlir::verify::verify(&parsed.module, &options));
    } else if parsed.module.source().is_some() {
        let unread = unread(&parsed.module, &diagnostics);
        let mut found = mlir::verify::verify(&parsed.module, &options);
        found.retain(|d| unread.says_more(d));
        diagnostics.extend(found);
        diagnostics.sort_by_key(|d| start(d).unwrap_or(u32::MAX));
    }
    (diagnostics, parsed.module.source().cloned())
}

/// Where a diagnostic stands in the text.
fn start(diagnostic: &Diagnostic) -> Option<u32> {
    match diagnostic.position {
        Position::Span(span) => Some(span.start),
        _ => None,
    }
}

/// The ops at the top of a text in which something could not be read: what else is wrong with them
/// may follow from that.
struct Unread {
    /// Where ops at the top start.
    starts: Vec<u32>,
    /// Which of them hold errors, by the number of ops that start before.
    ops: Vec<usize>,
}

fn unread(module: &Module, errors: &Diagnostics) -> Unread {
    let body = module.top().regions().first().and_then(|&region| module.entry(region));
    let ops = body.into_iter().flat_map(|block| module.ops(block));
    let place = |op: OpRef<'_>| match op.position() {
        Position::Span(span) => Some(span.start),
        _ => None,
    };
    let starts: Vec<u32> = ops.filter_map(place).collect();
    let mut unread = Unread { starts, ops: Vec::new() };
    unread.ops = errors.iter().filter_map(start).map(|at| unread.number(at)).collect();
    unread
}

impl Unread {
    fn number(&self, at: u32) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }

    /// Whether an error of the verifier does not follow from what was not read: it stands
    /// elsewhere, and is not about symbols.
    fn says_more(&self, diagnostic: &Diagnostic) -> bool {
        let elsewhere = start(diagnostic).is_some_and(|at| !self.ops.contains(&self.number(at)));
        elsewhere && !diagnostic.message.contains('@')
    }
}

fn summary(diagnostics: &Diagnostics) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => "ok".to_string(),
        (errors, 0) => counted(errors, "error"),
        (0, warnings) => counted(warnings, "warning"),
        (errors, warnings) => {
            format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"))
        }
    }
}

/// `{"severity", "label", "message", "file", "line", "column", "notes"}`; place 0:0 if there is
/// none.
fn to_json(diagnostic: &Diagnostic, name: &str, source: Option<&Source>) -> Value {
    let place = |position: &Position| {
        resolve(position, source).map_or((name.to_string(), 0, 0), |(file, line, column)| {
            (file.to_string(), line, column)
        })
    };
    let note = |(message, position): &(String, Position)| {
        let (file, line, column) = place(position);
        json!({"message": message, "file": file, "line": line, "column": column})
    };
    let (file, line, column) = place(&diagnostic.position);
    json!({
        "severity": diagnostic.severity.name(),
        "label": diagnostic.label,
        "message": diagnostic.message,
        "file": file,
        "line": line,
        "column": column,
        "notes": diagnostic.notes.iter().map(note).collect::<Vec<_>>(),
    })
}
