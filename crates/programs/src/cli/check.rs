//! `stablo check`: reports all errors in programs.

use crate::io::{Failure, Io};
use crate::source::{program_name, read_program};
use stablo::{
    Diagnostic, Diagnostics, LoadOptions, Severity, diagnostic_to_json, has_errors, render,
};
use std::path::PathBuf;

/// The command line.
#[derive(clap::Args)]
pub struct Options {
    /// Programs to check; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Output format: readable text, or one JSON object per line
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
    let load =
        LoadOptions::default().allow_unregistered_dialects(options.allow_unregistered_dialect);
    for file in &options.files {
        let name = program_name(file);
        let (diagnostics, source) = match read_program(io, file) {
            Ok(bytes) => {
                let loaded = load.load(&name, bytes);
                (loaded.diagnostics, loaded.module.source().cloned())
            }
            Err(failure) => (vec![Diagnostic::error("input", failure.message)], None),
        };
        failed |= has_errors(&diagnostics);
        match options.format {
            Format::Json => {
                for diagnostic in &diagnostics {
                    let json = diagnostic_to_json(diagnostic, &name, source.as_deref());
                    io.print(format!("{json}\n"))?;
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
