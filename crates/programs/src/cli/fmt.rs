//! `stablo fmt`: writes programs in MLIR text as MLIR prints them.

use crate::files::FileSet;
use crate::io::{CommandFailure, Io};
use crate::source::{program_name, read_program, report, text};
use stablo::{LoadOptions, PrintOptions, is_bytecode};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo fmt model.mlir other.mlir
  stablo fmt model.mlir --check
  stablo fmt - --stdout < model.mlir

Ops get MLIR's syntax, indentation and names of values. Comments before the program stay; others
would be lost, so files that have them are refused without --drop-comments. Either all files are
written, or none. Exit code: 0 for success, 1 for invalid input and for files that --check finds.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FmtArgs {
    /// Programs in MLIR text; `-` is standard input, which needs --stdout or --check
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write nothing, and name the files that are formatted in another way
    #[arg(long, conflicts_with = "stdout")]
    check: bool,
    /// Print the programs instead of writing them to their files
    #[arg(long)]
    stdout: bool,
    /// Write the locations of ops, too
    #[arg(long)]
    debug_info: bool,
    /// Remove the comments after the start of the program
    #[arg(long)]
    drop_comments: bool,
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read or written, is no text or not valid, has comments that would be lost,
/// or is found by `--check`.
pub(crate) fn run(options: &FmtArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let is_input = |path: &PathBuf| path == Path::new("-");
    if options.files.iter().any(is_input) && !options.stdout && !options.check {
        return Err(CommandFailure::usage(
            "standard input has no file to write: use --stdout or --check",
        ));
    }
    let mut others = 0;
    let mut files = FileSet::default();
    for path in &options.files {
        let bytes = read_program(io, path)?;
        if is_bytecode(&bytes) {
            let message = format!("{} is bytecode, not text", program_name(path));
            return Err(CommandFailure::input(message));
        }
        let before = text(&bytes, path)?;
        let after = formatted(options, path, before, io)?;
        if options.stdout {
            io.print(after)?;
        } else if before != after {
            others += 1;
            match options.check {
                true => io.print(format!("{}\n", program_name(path)))?,
                false => io.add_file(&mut files, path, |out| out.write_all(after.as_bytes()))?,
            }
        }
    }
    files.commit().map_err(|e| CommandFailure::input(format!("cannot write the files: {e}")))?;
    if options.check && others > 0 { Err(CommandFailure::reported()) } else { Ok(()) }
}

/// The text of a program as MLIR prints it, after the comments before it.
fn formatted(
    options: &FmtArgs,
    path: &Path,
    text: &str,
    io: &mut Io<'_>,
) -> Result<String, CommandFailure> {
    let (head, program) = text.split_at(end_of_comments(text));
    // A file without a program stays as it is, although it stands for an empty module.
    if program.trim().is_empty() {
        return Ok(text.to_string());
    }
    if !options.drop_comments
        && let Some(at) = comment(program)
    {
        let line = text[..head.len() + at].matches('\n').count() + 1;
        return Err(CommandFailure::input(format!(
            "{}:{line}: there is a comment within the program, which formatting loses: \
             --drop-comments allows that",
            program_name(path)
        )));
    }
    let load = LoadOptions::default().allow_unregistered_dialects(true).convert_vhlo(false);
    let loaded = load.load(&program_name(path), text);
    let module = loaded.module;
    report(loaded.diagnostics, &module, io)?;
    let print = PrintOptions { debug_info: options.debug_info, ..PrintOptions::default() };
    Ok(format!("{head}{}\n", stablo::print(&module, &print)?.trim_end()))
}

/// The end of the lines that hold nothing but comments before a program, with empty lines between
/// and after them; 0 if there are no comments.
fn end_of_comments(text: &str) -> usize {
    let is_head = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with("//");
    let head: usize = text.split_inclusive('\n').take_while(is_head).map(str::len).sum();
    if text[..head].trim().is_empty() { 0 } else { head }
}

/// The position of the first comment: `//` outside of strings.
fn comment(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().peekable();
    let mut in_string = false;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => drop(bytes.next()),
            b'/' if !in_string && bytes.peek().is_some_and(|&(_, next)| next == b'/') => {
                return Some(at);
            }
            _ => {}
        }
    }
    None
}
