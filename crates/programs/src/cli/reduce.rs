//! `stablo reduce`: makes a program as small as possible while a test passes.

use crate::files::FileSet;
use crate::format::output_format;
use crate::io::{CommandFailure, Io};
use crate::limits::seconds;
use crate::source::load;
use stablo::{Format, Module, Reduced, counted};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const EXAMPLES: &str = "\
Examples:
  stablo reduce model.mlir --test 'my-compiler {} 2>&1 | grep -q \"Assertion failed\"' -o small.mlir
  stablo reduce model.mlir.bc --test '! stablo diff --run {} {}.optimized' -o small.mlir.bc

The test is a command of the shell that succeeds for programs that still show what is searched for;
{} is the file of a program, in the format of the output. The result depends on the program and on
what the test says, and is valid.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReduceArgs {
    /// The program, in any format; `-` is standard input
    file: PathBuf,
    /// The test: a command, in which {} is the file to test; without {}, the file follows
    #[arg(long, value_name = "COMMAND")]
    test: String,
    /// Largest number of tests
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_tests: usize,
    /// A test that takes longer than this many seconds fails
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    timeout: Duration,
    /// The output file: `.mlir` is text, `.mlirbc` bytecode, `.mlir.bc` and `.stablehlo` a portable
    /// artifact; `-` is standard output
    #[arg(short, default_value = "-", value_name = "OUT")]
    o: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If the program cannot be read or is not valid, does not pass the test, or the test cannot run.
pub(crate) fn run(options: &ReduceArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let format = output_format(&options.o, None)?;
    let module = load(&options.file, io)?;
    let count = |module: &Module| stablo::walk(module).count();
    let before = count(&module);
    let directory = Directory::new()?;
    let cwd = io.path(Path::new("."));
    let mut is_first = true;
    let mut test = |module: &Module| {
        let is_first = std::mem::take(&mut is_first);
        directory.test(module, format, options, &cwd, is_first)
    };
    if !test(&module)? {
        return Err(CommandFailure::input(format!(
            "the program itself does not pass the test `{}`: there is nothing to keep",
            options.test
        )));
    }
    let reduced = stablo::reduce(module, options.max_tests, &mut test)?;
    let Reduced { module, tests, is_limited, .. } = reduced;
    io.write(&options.o, &format.write(&module, true)?)?;
    let why = if is_limited { "; --max-tests ended it" } else { "" };
    let (after, tests) = (counted(count(&module) as u64, "op"), counted(tests as u64, "test"));
    io.report(format!("reduced from {before} to {after} by {tests}{why}\n"));
    Ok(())
}

/// A directory for the programs to test, which is removed with all that tests put there.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Result<Directory, CommandFailure> {
        let base = std::env::temp_dir();
        let failed = |e| {
            CommandFailure::input(format!("cannot make a directory in {}: {e}", base.display()))
        };
        // Directories of other processes, and of former ones of the same number, may exist.
        for number in 0..1000 {
            let path = base.join(format!("stablo-reduce-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Directory(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(std::io::Error::other("too many are left there")))
    }

    /// Writes a program and runs the test on it.
    fn test(
        &self,
        module: &Module,
        format: Format,
        options: &ReduceArgs,
        cwd: &Path,
        is_first: bool,
    ) -> Result<bool, CommandFailure> {
        let extension = match format {
            Format::Text => "mlir",
            Format::Bytecode => "mlirbc",
            _ => "mlir.bc",
        };
        let path = self.0.join(format!("candidate.{extension}"));
        // A module that the format cannot express is no candidate.
        let Ok(bytes) = format.write(module, true) else { return Ok(false) };
        let failed = |e: std::io::Error| {
            CommandFailure::input(format!("cannot write {}: {e}", path.display()))
        };
        let mut files = FileSet::default();
        files.add(&path, |out| out.write_all(&bytes)).map_err(failed)?;
        files.commit().map_err(failed)?;
        let name = format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        let command = match options.test.contains("{}") {
            true => options.test.replace("{}", &name),
            false => format!("{} {name}", options.test),
        };
        let status = exit_status(&command, cwd, options.timeout);
        let status =
            status.map_err(|e| CommandFailure::input(format!("cannot run the test: {e}")))?;
        // The shell's way of saying so; later on, a command of the test itself may be missing.
        if is_first && status.and_then(|status| status.code()) == Some(127) {
            let message = format!("cannot run the test: there is no such command: {command}");
            return Err(CommandFailure::input(message));
        }
        Ok(status.is_some_and(|status| status.success()))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Files that cannot be removed stay in the directory of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How a command of the shell ends; `None` if it does not in time.
fn exit_status(
    command: &str,
    cwd: &Path,
    timeout: Duration,
) -> std::io::Result<Option<ExitStatus>> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .args([flag, command])
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    // Short tests are many: the interval grows with the time that one takes.
    let mut interval = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > timeout {
            // It may have ended meanwhile.
            let _ = child.kill();
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(interval);
        interval = (interval * 2).min(Duration::from_millis(20));
    }
}
