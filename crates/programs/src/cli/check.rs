//! `stablo check`: reports all errors in programs.

use crate::args::ReportStyle;
use crate::io::{Cause, CommandFailure, FAILURE, Io};
use crate::source::{program_name, read_program};
use stablo::{
    Diagnostic, Diagnostics, LoadOptions, Severity, counted, diagnostic_to_json, has_errors,
};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo check model.mlir other.mlir.bc
  stablo check programs --format json";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Programs to check; `-` is standard input, and a directory stands for the programs in it and
    /// its subdirectories
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Output format: readable text, or one JSON object per line
    #[arg(long, default_value = "human")]
    format: ReportStyle,
    /// Allow ops, types and attributes of unknown dialects
    #[arg(long)]
    allow_unregistered_dialect: bool,
}

/// Runs the command.
///
/// # Errors
/// If a program cannot be read or is not valid.
pub(crate) fn run(options: &CheckArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let mut failed = false;
    let mut labels = Vec::new();
    let load = LoadOptions::default()
        .strict(true)
        .allow_unregistered_dialects(options.allow_unregistered_dialect);
    let mut files = Vec::new();
    for file in &options.files {
        match io.path(file).is_dir() {
            true if stablo::program_in_folder(io.path(file)).is_ok() => files.push(file.clone()),
            true => programs_in(file, io, &mut files)?,
            false => files.push(file.clone()),
        }
    }
    for file in &files {
        let name = program_name(file);
        let (diagnostics, source) = match read_program(io, file) {
            Ok(bytes) => {
                let loaded = load.load(&name, bytes);
                (loaded.diagnostics, loaded.module.source().cloned())
            }
            Err(failure) => (vec![Diagnostic::error("input", failure.to_string())], None),
        };
        failed |= has_errors(&diagnostics);
        labels.extend(diagnostics.iter().map(|d| d.label.to_string()));
        match options.format {
            ReportStyle::Json => {
                for diagnostic in &diagnostics {
                    let json = diagnostic_to_json(diagnostic, &name, source.as_deref());
                    io.print(format!("{json}\n"))?;
                }
            }
            ReportStyle::Human => {
                for diagnostic in &diagnostics {
                    io.diagnose(std::slice::from_ref(diagnostic), source.as_deref());
                    io.report("\n");
                }
                io.print(format!("{name}: {}\n", summary(&diagnostics)))?;
            }
        }
    }
    if options.format == ReportStyle::Json {
        labels.clear();
    }
    if failed {
        Err(CommandFailure { cause: Cause::Reported(labels), code: FAILURE })
    } else {
        Ok(())
    }
}

/// Adds the programs in a directory and its subdirectories, in alphabetical order.
pub(super) fn programs_in(
    root: &Path,
    io: &Io<'_>,
    files: &mut Vec<PathBuf>,
) -> Result<(), CommandFailure> {
    let before = files.len();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        let failed = |e| {
            CommandFailure::input(format!("cannot read the directory {}: {e}", directory.display()))
        };
        for entry in std::fs::read_dir(io.path(&directory)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = directory.join(entry.file_name());
            // Links to directories are not followed: they may lead back.
            match entry.file_type().map_err(failed)? {
                kind if kind.is_dir() => directories.push(path),
                _ if io.path(&path).is_file() && is_program(&path) => files.push(path),
                _ => {}
            }
        }
    }
    if files.len() == before {
        let message = format!(
            "there are no programs in {}: no file ends in .mlir, .mlirbc, .bc, .stablehlo or .vhlo",
            root.display()
        );
        return Err(CommandFailure::input(message));
    }
    files[before..].sort_unstable();
    Ok(())
}

fn is_program(path: &Path) -> bool {
    let is_text = path.extension().is_some_and(|extension| extension == "txt");
    !is_text && stablo::Format::from_path(path).is_some()
}

fn summary(diagnostics: &Diagnostics) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count() as u64;
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => "ok".to_string(),
        (errors, 0) => counted(errors, "error"),
        (0, warnings) => counted(warnings, "warning"),
        (errors, warnings) => {
            format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"))
        }
    }
}
