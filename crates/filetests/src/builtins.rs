//! The file utilities RUN lines may use: `diff`, `cat`, `cp`, `rm` and `mkdir`, with the options
//! tests need.

use crate::ProcessOutcome;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Changed lines that `diff` shows of each file.
const SHOWN_LINES: usize = 20;

/// A utility: arguments without the program's name, standard input, current directory.
pub(crate) type Builtin = fn(&[String], &[u8], &Path) -> ProcessOutcome;

/// The utility of this name.
pub(crate) fn find(name: &str) -> Option<Builtin> {
    Some(match name {
        "cat" => |args, stdin, cwd| answer("cat", cat(args, stdin, cwd)),
        "cp" => |args, _, cwd| answer("cp", cp(args, cwd)),
        "diff" => |args, stdin, cwd| answer("diff", diff(args, stdin, cwd)),
        "mkdir" => |args, _, cwd| answer("mkdir", mkdir(args, cwd)),
        "rm" => |args, _, cwd| answer("rm", rm(args, cwd)),
        _ => return None,
    })
}

fn answer(name: &str, result: Result<ProcessOutcome, String>) -> ProcessOutcome {
    result.unwrap_or_else(|problem| ProcessOutcome::failure(2, format_args!("{name}: {problem}")))
}

/// Splits arguments into options, all of which are in `known`, and operands.
fn operands<'a>(
    args: &'a [String],
    known: &[&str],
) -> Result<(Vec<&'a str>, Vec<&'a str>), String> {
    let (options, operands): (Vec<&str>, Vec<&str>) =
        args.iter().map(String::as_str).partition(|arg| arg.len() > 1 && arg.starts_with('-'));
    match options.iter().find(|option| !known.contains(option)) {
        Some(option) => Err(format!("option {option} is not supported in RUN lines")),
        None => Ok((options, operands)),
    }
}

/// The bytes of a file; `-` is the standard input.
fn read(path: &str, stdin: &[u8], cwd: &Path) -> Result<Vec<u8>, String> {
    match path {
        "-" => Ok(stdin.to_vec()),
        _ => fs::read(cwd.join(path)).map_err(|error| format!("{path}: {error}")),
    }
}

fn cat(args: &[String], stdin: &[u8], cwd: &Path) -> Result<ProcessOutcome, String> {
    let (_, files) = operands(args, &[])?;
    let mut stdout = Vec::new();
    for file in if files.is_empty() { vec!["-"] } else { files } {
        stdout.extend(read(file, stdin, cwd)?);
    }
    Ok(ProcessOutcome { stdout, ..ProcessOutcome::default() })
}

fn cp(args: &[String], cwd: &Path) -> Result<ProcessOutcome, String> {
    let (_, files) = operands(args, &["-f"])?;
    let [from, to] = files[..] else {
        return Err("needs a source and a target".to_owned());
    };
    let (from, mut to) = (cwd.join(from), cwd.join(to));
    if let (true, Some(name)) = (to.is_dir(), from.file_name()) {
        to.push(name);
    }
    match fs::copy(&from, &to) {
        Ok(_) => Ok(ProcessOutcome::default()),
        Err(error) => Err(format!("{} to {}: {error}", from.display(), to.display())),
    }
}

fn mkdir(args: &[String], cwd: &Path) -> Result<ProcessOutcome, String> {
    let (options, directories) = operands(args, &["-p"])?;
    for directory in directories {
        let path = cwd.join(directory);
        let made = if options.is_empty() { fs::create_dir(path) } else { fs::create_dir_all(path) };
        made.map_err(|error| format!("{directory}: {error}"))?;
    }
    Ok(ProcessOutcome::default())
}

/// Removes files and, with `-r`, directories. Refuses to leave the current directory's tree, so
/// that a typo in a test cannot remove anything but scratch files.
fn rm(args: &[String], cwd: &Path) -> Result<ProcessOutcome, String> {
    let (options, files) = operands(args, &["-f", "-r", "-rf", "-fr"])?;
    let has = |flag| options.iter().any(|option| option.contains(flag));
    for file in files {
        let path = cwd.join(file);
        let leaves = path.components().any(|part| part.as_os_str() == "..");
        if leaves || !path.starts_with(cwd) || path == cwd {
            return Err(format!("{file}: not below the scratch directory"));
        }
        let removed = match fs::symlink_metadata(&path) {
            Err(_) if has('f') => Ok(()),
            Ok(meta) if meta.is_dir() && has('r') => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        };
        removed.map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(ProcessOutcome::default())
}

/// Compares two files byte by byte. Different files give exit code 1 and the differing lines: the
/// lines between the common start and the common end of the files.
fn diff(args: &[String], stdin: &[u8], cwd: &Path) -> Result<ProcessOutcome, String> {
    let (_, files) = operands(args, &["-u"])?;
    let [left, right] = files[..] else {
        return Err("needs two files".to_owned());
    };
    let old = read(left, stdin, cwd)?;
    let new = read(right, stdin, cwd)?;
    if old == new {
        return Ok(ProcessOutcome::default());
    }
    let report = match (std::str::from_utf8(&old), std::str::from_utf8(&new)) {
        (Ok(old), Ok(new)) => line_difference(left, right, old, new),
        _ => {
            let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            format!(
                "{left} ({} bytes) and {right} ({} bytes) differ from byte {same} on\n",
                old.len(),
                new.len()
            )
        }
    };
    Ok(ProcessOutcome { stdout: report.into_bytes(), stderr: Vec::new(), code: 1 })
}

fn line_difference(left: &str, right: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let pairs = old.iter().zip(&new);
    let start = pairs.take_while(|(a, b)| a == b).count();
    let pairs = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = pairs.take_while(|(a, b)| a == b).count();
    let mut report = format!("--- {left}\n+++ {right}\n@@ line {} @@\n", start + 1);
    for (sign, lines) in [('-', &old), ('+', &new)] {
        let changed = &lines[start..lines.len() - end];
        for line in changed.iter().take(SHOWN_LINES) {
            let note = if line.ends_with('\n') { "" } else { "\n\\ no newline at the end\n" };
            let _ = write!(report, "{sign}{line}{note}");
        }
        if changed.len() > SHOWN_LINES {
            let _ = writeln!(report, "{sign}… and {} lines more", changed.len() - SHOWN_LINES);
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_show_the_changed_lines() {
        let report = line_difference("a", "b", "1\n2\n3\n4\n", "1\n2\nthree\n4\n");
        assert_eq!(report, "--- a\n+++ b\n@@ line 3 @@\n-3\n+three\n");
        let report = line_difference("a", "b", "1\n", "1");
        assert_eq!(report, "--- a\n+++ b\n@@ line 1 @@\n-1\n+1\n\\ no newline at the end\n");
    }

    #[test]
    fn rm_stays_in_the_scratch_directory() {
        let rm =
            find("rm").map(|rm| rm(&["-f".into(), "/etc/none".into()], b"", Path::new("/tmp")));
        assert_eq!(rm.map(|outcome| outcome.code), Some(2));
    }
}
