//! Input and output of a program: streams and files, of the process or of a test.

use crate::args::Color;
use crate::closed_streams;
use crate::files::{FileSet, WriteSeek, write_whole};
use crate::limits;
use stablo::{Bytes, Diagnostic, Encoded, Source, Styles, render_styled};
use std::ffi::OsString;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The program that all others are part of.
const STABLO: &str = "stablo";

/// Invalid input.
pub const FAILURE: i32 = 1;

/// An invalid command line.
pub const USAGE: i32 = 2;

/// Stack size of the thread that runs a program: parsing, printing and dropping deeply nested
/// programs recurse.
const STACK_BYTES: usize = 64 << 20;

/// The streams and the current directory of a program.
pub struct Io<'a> {
    /// Standard input.
    pub stdin: &'a mut dyn Read,
    /// Standard output.
    pub stdout: &'a mut (dyn Write + Send),
    /// Standard error.
    pub stderr: &'a mut dyn Write,
    /// The directory that relative paths refer to.
    pub cwd: PathBuf,
    /// True if standard error is a terminal, where progress may be shown.
    pub terminal: bool,
    /// How diagnostics are printed.
    pub styles: Styles,
    /// True if the process runs only this program, so that it may be terminated.
    pub own_process: bool,
}

/// The reason why a program fails, and the exit code. Its text is what is reported.
#[derive(Debug)]
pub struct CommandFailure {
    /// The reason.
    pub cause: Cause,
    /// The exit code.
    pub code: i32,
}

/// The reason why a program fails.
#[derive(Debug)]
pub enum Cause {
    /// The errors have been reported already: their labels.
    Reported(Vec<String>),
    /// A message without a trailing newline.
    Message(String),
    /// Diagnostics, and lines to follow them.
    Diagnostics(Box<stablo::Error>, String),
}

impl From<stablo::Error> for CommandFailure {
    fn from(error: stablo::Error) -> CommandFailure {
        CommandFailure { cause: Cause::Diagnostics(Box::new(error), String::new()), code: FAILURE }
    }
}

impl Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Reported(_) => Ok(()),
            Cause::Message(message) => f.write_str(message),
            Cause::Diagnostics(error, after) => write!(f, "{error}{after}"),
        }
    }
}

impl CommandFailure {
    /// Invalid input.
    pub fn input(message: impl Display) -> CommandFailure {
        CommandFailure { cause: Cause::Message(message.to_string()), code: FAILURE }
    }

    /// An invalid command line.
    pub fn usage(message: impl Display) -> CommandFailure {
        CommandFailure { cause: Cause::Message(message.to_string()), code: USAGE }
    }

    /// The errors have been reported already.
    pub fn reported() -> CommandFailure {
        CommandFailure { cause: Cause::Reported(Vec::new()), code: FAILURE }
    }

    /// The labels of the errors.
    pub fn labels(&self) -> Vec<&str> {
        match &self.cause {
            Cause::Reported(labels) => labels.iter().map(String::as_str).collect(),
            Cause::Message(_) => Vec::new(),
            Cause::Diagnostics(error, _) => error.diagnostics().iter().map(|d| &*d.label).collect(),
        }
    }
}

/// The failure to write to standard output.
pub fn cannot_print(error: io::Error) -> CommandFailure {
    CommandFailure::input(format!("cannot write the output: {error}"))
}

impl Io<'_> {
    /// Writes to standard output.
    ///
    /// # Errors
    /// If the reader has closed it, or the disk is full.
    pub fn print(&mut self, text: impl AsRef<[u8]>) -> Result<(), CommandFailure> {
        self.stdout.write_all(text.as_ref()).map_err(cannot_print)
    }

    /// Writes to standard error, ignoring errors.
    pub fn report(&mut self, text: impl Display) {
        // A failure to report cannot be reported.
        let _ = write!(self.stderr, "{text}");
    }

    /// Writes diagnostics to standard error, in colours if they are wanted.
    pub fn diagnose(&mut self, diagnostics: &[Diagnostic], source: Option<&Source>) {
        for diagnostic in diagnostics {
            self.report(render_styled(diagnostic, source, self.styles));
        }
    }

    /// Reports a failure and returns the exit code.
    pub fn finish(&mut self, result: Result<(), CommandFailure>) -> i32 {
        let result = result.and_then(|()| self.stdout.flush().map_err(cannot_print));
        match result {
            Ok(()) => 0,
            Err(failure) => {
                match &failure.cause {
                    Cause::Reported(_) => {}
                    Cause::Message(message) => {
                        self.diagnose(&[Diagnostic::error("", message)], None);
                    }
                    Cause::Diagnostics(error, after) => {
                        self.diagnose(error.diagnostics(), error.text().map(|text| &**text));
                        if !after.is_empty() {
                            self.report(format_args!("{}\n", after.trim_start()));
                        }
                    }
                }
                failure.code
            }
        }
    }

    /// Resolves a path given by the user.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }

    /// Lets the process have little more memory than what is in use, if it runs only this program.
    pub fn keep_no_free_memory(&self) {
        if self.own_process {
            heap::keep_nothing_free();
        }
    }

    /// Reads a file, or standard input for `-`, within the limit of memory.
    ///
    /// # Errors
    /// If it cannot be read, or is too large.
    pub fn read(&mut self, path: &Path) -> Result<Vec<u8>, CommandFailure> {
        let failed =
            |e: io::Error| CommandFailure::input(format!("cannot read {}: {e}", path.display()));
        if path == Path::new("-") {
            let bytes = Bytes::read(&mut self.stdin, 0, usize::MAX).map_err(failed)?;
            return Ok(bytes.into_vec());
        }
        let full = self.path(path);
        if full.is_dir() {
            return Err(CommandFailure::input(format!(
                "cannot read {}: it is a directory",
                path.display()
            )));
        }
        let file = File::open(full).map_err(failed)?;
        let expected = file.metadata().map_or(0, |metadata| metadata.len());
        let expected = usize::try_from(expected).unwrap_or(0);
        Bytes::read_file(file, expected).map(Bytes::into_vec).map_err(failed)
    }

    /// Reads a file, or standard input for `-`. A large binary file is mapped, so that only the
    /// used parts are read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn map(&mut self, path: &Path) -> Result<Bytes, CommandFailure> {
        if path != Path::new("-")
            && let Ok(mut file) = File::open(self.path(path))
            && file.metadata().is_ok_and(|m| m.is_file() && m.len() >= MAPPED_FROM)
            && !starts_as_text(&mut file)
            && let Some(map) = mapped(&file)
        {
            return Ok(Bytes::from_owner(Arc::new(map)));
        }
        self.read(path).map(Bytes::from)
    }

    /// Writes a file atomically, or to standard output for `-`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), CommandFailure> {
        if path == Path::new("-") {
            self.print(bytes)
        } else {
            self.write_file(path, |file| file.write_all(bytes))
        }
    }

    /// As [`Io::write`], of parts.
    ///
    /// # Errors
    /// As there.
    pub fn write_encoded(&mut self, path: &Path, encoded: &Encoded) -> Result<(), CommandFailure> {
        if path == Path::new("-") {
            self.print(encoded.to_vec())
        } else {
            self.write_file(path, |file| encoded.write_to(file))
        }
    }

    /// Writes a file whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_file(
        &self,
        path: &Path,
        write: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
    ) -> Result<(), CommandFailure> {
        write_whole(&self.path(path), write).map_err(|e| cannot_write(path, &e))
    }

    /// Writes a file of a set, which appears when the set is committed.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add_file(
        &self,
        set: &mut FileSet,
        path: &Path,
        write: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
    ) -> Result<(), CommandFailure> {
        set.add(&self.path(path), write).map_err(|e| cannot_write(path, &e))
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> CommandFailure {
    CommandFailure::input(format!("cannot write {}: {error}", path.display()))
}

/// Exit code of a process that the signal SIGPIPE ends, as shells report it.
const READER_IS_GONE: i32 = 128 + 13;

/// Standard output. If whoever reads it is gone, as after `| head`, the process ends without a
/// message, as other programs do.
struct Stdout(io::Stdout);

impl Stdout {
    fn or_end<T>(result: io::Result<T>) -> io::Result<T> {
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            std::process::exit(READER_IS_GONE);
        }
        result
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Stdout::or_end(self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Stdout::or_end(self.0.flush())
    }
}

/// Standard output if the process was started without one.
struct ClosedOutput;

impl Write for ClosedOutput {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("standard output is closed"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard input if the process was started without one.
struct ClosedInput;

impl Read for ClosedInput {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("standard input is closed"))
    }
}

/// The numbers of standard input and output as files.
const STDIN: usize = 0;
const STDOUT: usize = 1;

/// Minimum size in bytes of files that are mapped.
const MAPPED_FROM: u64 = 1 << 20;

/// True if a file starts with ASCII characters.
fn starts_as_text(file: &mut File) -> bool {
    let mut head = [0; 16];
    let length = file.read(&mut head).unwrap_or(0);
    head[..length].iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

#[allow(
    unsafe_code,
    reason = "mapping a file is unsafe by its interface; the block gives the reason"
)]
fn mapped(file: &File) -> Option<memmap2::Mmap> {
    // SAFETY: the bytes are only read, and every reader of a program validates them as it goes. If
    // the file is modified meanwhile, the result is a wrong program or an error; if it is
    // truncated, the process is terminated, as for every program that maps files.
    unsafe { memmap2::Mmap::map(file) }.ok()
}

/// Options of glibc's allocator.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "functions of C; each block gives the reason")]
mod heap {
    fn set(options: &[(i32, i32)]) {
        for &(option, value) in options {
            // SAFETY: `mallopt` may be called at any time, and rejects unknown values.
            unsafe { libc::mallopt(option, value) };
        }
    }

    /// Enlarges the initial heap of a thread. By default the allocator extends it page by page,
    /// which took a tenth of the time of reading an artifact. Untouched pages take no memory.
    pub(crate) fn begin_large() {
        const SIZE: i32 = 32 << 20;
        // Setting these ends their dynamic adjustment, so they are set to its maximum values.
        const LARGEST_IN_HEAP: i32 = 32 << 20;
        const KEPT_FREE: i32 = 2 * LARGEST_IN_HEAP;
        set(&[
            (libc::M_TOP_PAD, SIZE),
            (libc::M_MMAP_THRESHOLD, LARGEST_IN_HEAP),
            (libc::M_TRIM_THRESHOLD, KEPT_FREE),
        ]);
    }

    /// Gives large blocks back to the system when they are freed: a server waits most of the time,
    /// and has the memory of the largest program that it has read, not of all messages and copies.
    pub(crate) fn begin_waiting() {
        const PADDING: i32 = 1 << 20;
        const LARGEST_IN_HEAP: i32 = 1 << 20;
        const KEPT_FREE: i32 = 4 << 20;
        set(&[
            (libc::M_TOP_PAD, PADDING),
            (libc::M_MMAP_THRESHOLD, LARGEST_IN_HEAP),
            (libc::M_TRIM_THRESHOLD, KEPT_FREE),
        ]);
    }

    /// Gives memory back to the system that is free, and when it is freed, so that the process has
    /// little more than what is in use, which is what a limit counts.
    pub(crate) fn keep_nothing_free() {
        const PADDING: i32 = 64 << 10;
        const LARGEST_IN_HEAP: i32 = 256 << 10;
        set(&[
            (libc::M_TOP_PAD, PADDING),
            (libc::M_MMAP_THRESHOLD, LARGEST_IN_HEAP),
            (libc::M_TRIM_THRESHOLD, LARGEST_IN_HEAP),
        ]);
        // SAFETY: the function may be called at any time.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod heap {
    pub fn begin_large() {}
    pub fn begin_waiting() {}
    pub fn keep_nothing_free() {}
}

/// Prepares the memory of the process for a server.
pub fn begin_waiting() {
    heap::begin_waiting();
}

/// Runs this process as one of the programs: the one that its first argument names, as
/// `stablehlo-opt` passes its name on, or that its own file name is, as that of a link. Others are
/// `stablo`.
pub fn main() -> ExitCode {
    heap::begin_large();
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let named = |arg: &OsString| crate::known(Path::new(arg).file_stem()?.to_str()?);
    let part = |name: &&str| *name != STABLO;
    let own = args.first().and_then(named).filter(part);
    let passed = args.get(1).and_then(|arg| crate::known(arg.to_str()?)).filter(part);
    let name = match (own, passed) {
        (None, Some(passed)) => {
            args.remove(0);
            passed
        }
        (own, _) => own.unwrap_or(STABLO),
    };
    let code = run_as_process(name, args);
    // Exit codes of programs are 0, 1, 2 and that of a panic.
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Runs the program `name` on the streams of this process, which it may terminate. Returns the exit
/// code.
pub fn run_as_process(name: &'static str, args: Vec<OsString>) -> i32 {
    let run = move || {
        let Some(program) = crate::program(name) else { return USAGE };
        let stdout: Box<dyn Write + Send> = match closed_streams::is_closed(STDOUT) {
            true => Box::new(ClosedOutput),
            false => Box::new(Stdout(io::stdout())),
        };
        let mut stdin: Box<dyn Read> = match closed_streams::is_closed(STDIN) {
            true => Box::new(ClosedInput),
            false => Box::new(io::stdin().lock()),
        };
        let mut io = Io {
            stdin: &mut stdin,
            // Not locked, as a run prints there from another thread.
            stdout: &mut BufWriter::new(stdout),
            terminal: io::stderr().is_terminal(),
            styles: Color::Auto.styles(),
            own_process: true,
            // Not locked, as a progress bar draws there from another thread.
            stderr: &mut io::stderr(),
            cwd: PathBuf::new(),
        };
        let _entered = limits::enter(limits::default_memory());
        program(&args, &mut io)
    };
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run) {
        Ok(thread) => thread.join().unwrap_or(101),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            FAILURE
        }
    }
}
