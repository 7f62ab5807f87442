//! How `stablehlo-opt` and `stablehlo-translate` run: they are parts of the program `stablo` in the
//! same folder, which they start with their name before their arguments. So all of stablo is
//! linked and installed once.

#[cfg(unix)]
#[path = "closed_streams.rs"]
mod closed_streams;

use std::io::Error;
use std::process::{Command, ExitCode};

/// Exit code if `stablo` cannot be started.
const NOT_STARTED: u8 = 1;

/// Runs the program `name` of `stablo` with the arguments of this process.
pub(crate) fn stablo(name: &str) -> ExitCode {
    let path = match std::env::current_exe() {
        Ok(path) => path.with_file_name(format!("stablo{}", std::env::consts::EXE_SUFFIX)),
        Err(error) => {
            eprintln!("error: cannot find the folder of {name}: {error}");
            return ExitCode::from(NOT_STARTED);
        }
    };
    let mut command = Command::new(&path);
    command.arg(name).args(std::env::args_os().skip(1));
    match run(command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: cannot start {}, which {name} is a part of: {error}", path.display());
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// Becomes the command.
#[cfg(unix)]
fn run(mut command: Command) -> Result<ExitCode, Error> {
    use std::os::unix::process::CommandExt;
    for stream in 0..2 {
        if closed_streams::is_closed(stream) {
            close(stream);
        }
    }
    Err(command.exec())
}

/// Closes a stream again that the standard library has opened.
#[cfg(unix)]
#[allow(unsafe_code, reason = "a function of C")]
fn close(stream: usize) {
    // SAFETY: it is the null device, which nothing in this process uses.
    unsafe { libc::close(stream as libc::c_int) };
}

/// Runs the command and returns its exit code.
#[cfg(not(unix))]
fn run(mut command: Command) -> Result<ExitCode, Error> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
