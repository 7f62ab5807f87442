//! What a program reads and writes: streams and files, of the process or of a test.

use stablo::Bytes;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::Duration;

/// Bad input.
pub const FAILURE: i32 = 1;

/// A wrong command line.
pub const USAGE: i32 = 2;

/// Bytes of stack of the thread that runs a program: parsing, printing and freeing deeply nested
/// text recurse.
const STACK_BYTES: usize = 64 << 20;

/// The streams and the current directory of a program.
pub struct Io<'a> {
    /// Standard input.
    pub stdin: &'a mut dyn Read,
    /// Standard output.
    pub stdout: &'a mut dyn Write,
    /// Standard error.
    pub stderr: &'a mut dyn Write,
    /// What relative paths are relative to.
    pub cwd: PathBuf,
    /// Whether standard error is a terminal, on which progress may be shown.
    pub terminal: bool,
    /// Whether the process runs nothing but this program, so that it may be ended.
    pub own_process: bool,
}

/// Ends the process unless it is dropped in time: for what cannot be interrupted.
pub struct Deadline {
    _dropped: Option<Sender<()>>,
}

impl Deadline {
    /// How much longer than allowed something may take before the process is ended.
    const GRACE: Duration = Duration::from_secs(1);

    /// Nothing happens until `time` and a grace are over; then the process ends with a message.
    pub fn new(io: &Io<'_>, time: Option<Duration>) -> Deadline {
        let time = time.filter(|_| io.own_process);
        let watch = |time: Duration| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let wait = move || {
                if receiver.recv_timeout(time + Deadline::GRACE) == Err(RecvTimeoutError::Timeout) {
                    eprintln!(
                        "error[limit]: an op takes longer than {time:?}, which is the limit of the run"
                    );
                    std::process::exit(FAILURE);
                }
            };
            // Without a thread to spare, only the ops look at the clock.
            std::thread::Builder::new().spawn(wait).ok().map(|_| sender)
        };
        Deadline { _dropped: time.and_then(watch) }
    }
}

/// Why a program cannot go on: a message, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// What is wrong, without a trailing newline; empty if it was reported already.
    pub message: String,
    /// True if the message consists of rendered diagnostics, which need no introduction.
    pub is_rendered: bool,
    /// The exit code.
    pub code: i32,
}

/// Diagnostics, rendered; they say themselves that they are errors.
impl From<stablo::Error> for Failure {
    fn from(error: stablo::Error) -> Failure {
        Failure { message: error.to_string(), is_rendered: true, code: FAILURE }
    }
}

impl Failure {
    /// Bad input.
    pub fn input(message: impl Display) -> Failure {
        Failure { message: message.to_string(), is_rendered: false, code: FAILURE }
    }

    /// A wrong command line.
    pub fn usage(message: impl Display) -> Failure {
        Failure { message: message.to_string(), is_rendered: false, code: USAGE }
    }

    /// What is wrong has been reported.
    pub fn reported() -> Failure {
        Failure { message: String::new(), is_rendered: true, code: FAILURE }
    }
}

impl Io<'_> {
    /// Writes to standard output.
    ///
    /// # Errors
    /// If nobody reads it, or the disk is full.
    pub fn print(&mut self, text: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.stdout
            .write_all(text.as_ref())
            .map_err(|e| Failure::input(format!("cannot write the output: {e}")))
    }

    /// Writes to standard error, if anybody reads it.
    pub fn report(&mut self, text: impl Display) {
        // There is nowhere left to tell that this failed.
        let _ = write!(self.stderr, "{text}");
    }

    /// The exit code of a program, after reporting why it failed.
    pub fn finish(&mut self, result: Result<(), Failure>) -> i32 {
        let result = result.and_then(|()| {
            self.stdout.flush().map_err(|e| Failure::input(format!("cannot write the output: {e}")))
        });
        match result {
            Ok(()) => 0,
            Err(failure) => {
                match failure.is_rendered {
                    _ if failure.message.is_empty() => {}
                    true => self.report(format_args!("{}\n", failure.message)),
                    false => self.report(format_args!("error: {}\n", failure.message)),
                }
                failure.code
            }
        }
    }

    /// A path that the user gave.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.cwd.join(path)
    }

    /// The bytes of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&mut self, path: &Path) -> Result<Vec<u8>, Failure> {
        let failed = |e: io::Error| Failure::input(format!("cannot read {}: {e}", path.display()));
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            self.stdin.read_to_end(&mut bytes).map_err(failed)?;
            return Ok(bytes);
        }
        let full = self.path(path);
        if full.is_dir() {
            return Err(Failure::input(format!(
                "cannot read {}: it is a directory",
                path.display()
            )));
        }
        fs::read(full).map_err(failed)
    }

    /// The bytes of a file, or of standard input for `-`. A large file that is not text is mapped:
    /// only what is used of it is read.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn map(&mut self, path: &Path) -> Result<Bytes, Failure> {
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

    /// Writes a file whole, or to standard output for `-`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        if path == Path::new("-") {
            self.print(bytes)
        } else {
            self.write_file(path, |file| file.write_all(bytes))
        }
    }

    /// Writes a file whole: under another name first, so that nobody sees half of it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_file(
        &self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write_whole(&self.path(path), write)
            .map_err(|e| Failure::input(format!("cannot write {}: {e}", path.display())))
    }
}

/// Writes a file whole: under another name first, so that nobody sees half of it. What is there
/// already and is no plain file, such as a device or a pipe, is written to in place: to take its
/// place would destroy it.
///
/// # Errors
/// If it cannot be written.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let mut file = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut file)?;
        return file.flush();
    }
    // A link stays, and what it leads to is written.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush()?;
        fs::rename(&temporary, path)
    });
    // After a failure the file may never have been made.
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Files of at least this many bytes are mapped.
const MAPPED_FROM: u64 = 1 << 20;

/// Whether a file starts with characters of ASCII.
fn starts_as_text(file: &mut File) -> bool {
    let mut head = [0; 16];
    let length = file.read(&mut head).unwrap_or(0);
    head[..length].iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

#[allow(unsafe_code)] // mapping a file is unsafe by its interface; the block gives the reason
fn mapped(file: &File) -> Option<memmap2::Mmap> {
    // SAFETY: the bytes are only read, and every reader of a program checks them as it goes. A file
    // that somebody changes meanwhile gives a wrong program or an error; one that somebody cuts
    // short ends the process, as it does to every program that maps files.
    unsafe { memmap2::Mmap::map(file) }.ok()
}

/// Lets the heap of a thread begin large. The allocator of glibc asks the system for each further
/// page of it, which took a tenth of the time of reading an artifact. Pages that are never touched
/// take no memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)] // a function of C; the block gives the reason
fn begin_with_large_heap() {
    const SIZE: i32 = 32 << 20;
    // To set the size ends the adjustment of these two; it would end at these values, the largest
    // that there are.
    const LARGEST_IN_HEAP: i32 = 32 << 20;
    const KEPT_FREE: i32 = 2 * LARGEST_IN_HEAP;
    for (option, value) in [
        (libc::M_TOP_PAD, SIZE),
        (libc::M_MMAP_THRESHOLD, LARGEST_IN_HEAP),
        (libc::M_TRIM_THRESHOLD, KEPT_FREE),
    ] {
        // SAFETY: `mallopt` may be called at any time, and refuses values that it does not know.
        unsafe { libc::mallopt(option, value) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn begin_with_large_heap() {}

/// Runs the program `name` as this process.
pub fn main(name: &'static str) -> ExitCode {
    begin_with_large_heap();
    let run = move || {
        let Some(program) = crate::program(name) else { return USAGE };
        let args: Vec<OsString> = std::env::args_os().collect();
        let mut io = Io {
            stdin: &mut io::stdin().lock(),
            stdout: &mut BufWriter::new(io::stdout().lock()),
            terminal: io::stderr().is_terminal(),
            own_process: true,
            // Not locked: a progress bar draws there from another thread.
            stderr: &mut io::stderr(),
            cwd: PathBuf::new(),
        };
        program(&args, &mut io)
    };
    let code = match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run) {
        Ok(thread) => thread.join().unwrap_or(101),
        Err(_) => FAILURE,
    };
    // The codes of programs are 0, 1, 2 and that of a panic.
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

#[cfg(all(test, unix))]
mod tests {
    use super::write_whole;
    use std::fs;
    use std::process::Command;

    #[test]
    fn pipes_and_links_stay() {
        let directory = std::env::temp_dir().join(format!("stablo-io-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let [pipe, file, link] = ["pipe", "file", "link"].map(|name| directory.join(name));

        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_whole(&pipe, |out| out.write_all(b"through")).unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!fs::metadata(&pipe).unwrap().is_file());

        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");

        let failed = write_whole(&file, |_| Err(std::io::Error::other("no")));
        assert!(failed.is_err());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
        fs::remove_dir_all(&directory).unwrap();
    }
}
