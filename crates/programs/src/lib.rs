//! The programs `stablo`, `stablehlo-opt` and `stablehlo-translate` as functions, so that tests can
//! call them in process.
//!
//! Exit codes: 0 for success, 1 for bad input, 2 for a wrong command line.

mod args;
mod array_files;
mod cli;
mod closed_streams;
pub mod device;
pub mod display;
pub mod files;
pub mod folders;
pub mod format;
mod hex;
mod inputs;
pub mod io;
pub mod limits;
mod op_measurement;
mod opt;
pub mod probes;
pub mod profile;
mod recorded;
mod report_folder;
mod results;
pub mod source;
mod timings;
mod trace;
mod translate;
mod trials;
mod units;
mod watch;

pub use io::Io;

use std::ffi::OsString;

/// A program as a function of its arguments, including the program's name, and its input and
/// output. Returns the exit code.
pub type Program = fn(&[OsString], &mut Io<'_>) -> i32;

/// The programs by name.
pub static PROGRAMS: &[(&str, Program)] =
    &[("stablehlo-opt", opt::run), ("stablehlo-translate", translate::run), ("stablo", cli::run)];

/// The name of a program, if it is one.
fn known(name: &str) -> Option<&'static str> {
    PROGRAMS.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// Looks up a program by name.
pub fn program(name: &str) -> Option<Program> {
    PROGRAMS.iter().find(|(n, _)| *n == name).map(|(_, program)| *program)
}
