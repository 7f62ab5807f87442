//! `stablo update-verify-tests`: makes tests of other tools' diagnostics tests of ours.

use super::check::programs_in;
use super::checked_errors::{CheckedErrors, checked_errors};
use crate::io::{CommandFailure, FAILURE, Io};
use crate::source::{program_name, text};
use stablo::Diagnostic;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo update-verify-tests verify_reduce.mlir
  stablo update-verify-tests tests/

Each `RUN:` line of a file that runs `stablehlo-opt` or `stablehlo-translate` with
-verify-diagnostics runs with --verify-diagnostics=update: `// expected-error {{…}}` comments whose
text no diagnostic of their line has get the rule of one, as in `{{[add_c1]}}`. Comments that fit,
and lines that are expected to have errors, stay as they are. Where FileCheck reads the diagnostics,
as in `not stablehlo-opt %s 2>&1 | FileCheck %s`, CHECK lines whose words are not there get a rule
likewise, as in `error[add_c1]`. Files that change are named.
Exit code: 0 if all tests pass now, 1 if one does not.";

/// The programs whose diagnostics can be verified.
pub(super) const VERIFYING: [&str; 2] = ["stablehlo-opt", "stablehlo-translate"];

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UpdateVerifyTestsArgs {
    /// Test files; a directory stands for the `.mlir` files in it
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read or written, a RUN line cannot be run here, or a test fails after the
/// update.
pub(crate) fn run(options: &UpdateVerifyTestsArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let mut files = Vec::new();
    for file in &options.files {
        if io.path(file).is_dir() {
            let mut programs = Vec::new();
            programs_in(file, io, &mut programs)?;
            let is_text = |path: &PathBuf| path.extension().is_some_and(|e| e == "mlir");
            files.extend(programs.into_iter().filter(is_text));
        } else {
            files.push(file.clone());
        }
    }
    let mut failed = false;
    for file in &files {
        let before = io.read(file)?;
        for (line, command) in run_lines(text(&before, file)?) {
            if let Some(checked) = checked_errors(&command, file) {
                failed |= !update_checks(&checked, file, io)?;
                continue;
            }
            match verifying_command(&command, file) {
                Ok(Some((program, mut argv))) => {
                    argv.push("--verify-diagnostics=update".into());
                    failed |= program(&argv, io) != 0;
                }
                Ok(None) => {}
                Err(message) => {
                    failed = true;
                    let message = format!("{}:{line}: {message}", program_name(file));
                    io.diagnose(&[Diagnostic::error("", message)], None);
                }
            }
        }
        if io.read(file)? != before {
            io.print(format!("updated {}\n", program_name(file)))?;
        }
    }
    if failed {
        Err(CommandFailure { code: FAILURE, ..CommandFailure::reported() })
    } else {
        Ok(())
    }
}

/// Updates CHECK lines about diagnostics. Returns false if one has no diagnostic.
fn update_checks(
    checked: &CheckedErrors,
    file: &Path,
    io: &mut Io<'_>,
) -> Result<bool, CommandFailure> {
    let before = io.read(file)?;
    let before = text(&before, file)?;
    match checked.update(before, io) {
        Ok(after) if after == *before => Ok(true),
        Ok(after) => io.write(file, after.as_bytes()).map(|()| true),
        Err(problems) => {
            for (line, message) in problems {
                let message = format!("{}:{line}: {message}", program_name(file));
                io.diagnose(&[Diagnostic::error("", message)], None);
            }
            Ok(false)
        }
    }
}

/// The commands of the `RUN:` lines, continued lines joined, with their one-based lines.
fn run_lines(text: &str) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (index, line) in text.lines().enumerate() {
        let Some((_, command)) = line.split_once("RUN:") else { continue };
        let command = command.trim();
        let (command, more) = match command.strip_suffix('\\') {
            Some(command) => (command, true),
            None => (command, false),
        };
        match commands.last_mut() {
            Some((_, last)) if continues => {
                last.push(' ');
                last.push_str(command);
            }
            _ => commands.push((index + 1, command.to_string())),
        }
        continues = more;
    }
    commands
}

/// The program of a command that verifies the diagnostics of `file`, with its arguments; `None`
/// for another command.
///
/// # Errors
/// If the command has an unclosed quote, or another tool verifies the diagnostics.
fn verifying_command(
    command: &str,
    file: &Path,
) -> Result<Option<(crate::Program, Vec<OsString>)>, String> {
    let name = program_name(file);
    let words = shlex::split(command).ok_or("a quote is not closed in this RUN line")?;
    let of_shell = |word: &String| word.starts_with(['|', '>', '&', ';']) || word.starts_with("2>");
    let words: Vec<String> = words
        .into_iter()
        .take_while(|word| !of_shell(word))
        // `< %s` reads the file, whose name is needed to update it.
        .filter(|word| word != "<")
        .map(|word| word.replace("%s", &name))
        .collect();
    let verifies = |word: &String| {
        word.starts_with('-') && word.trim_start_matches('-').starts_with("verify-diagnostics")
    };
    let reads = |word: &String| *word == name;
    // Conditional lines (`%if feature %{ … %}`) are about other builds.
    let conditional = words.first().is_some_and(|word| word == "%if");
    if conditional || !words.iter().any(verifies) || !words.iter().any(reads) {
        return Ok(None);
    }
    let tool = words.iter().position(|word| word != "not").unwrap_or_default();
    let Some(program) =
        VERIFYING.iter().find(|&&name| name == words[tool]).and_then(|name| crate::program(name))
    else {
        return Err(format!(
            "`{}` cannot run here; replace it by {}",
            words[tool],
            VERIFYING.join(" or ")
        ));
    };
    Ok(Some((program, words[tool..].iter().map(OsString::from).collect())))
}
