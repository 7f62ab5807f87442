//! Runs `.mlir` test files inside one process.
//!
//! A test file says how to run it in `// RUN:` lines and what to expect in `// CHECK` lines:
//!
//! ```text
//! // RUN: stablehlo-opt %s | FileCheck %s
//! // CHECK: stablehlo.add %arg0, %arg1
//! ```
//!
//! No process is spawned: the programs under test are library functions behind [`Tools`], and
//! everything else a RUN line may name (FileCheck, `not`, `diff`, `cat`, `cp`, `rm`, `mkdir`, pipes
//! and redirections) is implemented here. So thousands of files run in seconds, on any platform,
//! under any debugger.
//!
//! [`Suite::new`] takes the folder of the files, one for what they write, and the [`Tools`];
//! `crates/programs/tests/it/files.rs` runs the files of this project.
//!
//! The modules, in the order a test passes through them: [`Suite`] finds the files, `run_lines`
//! reads their RUN lines, `shell` parses a RUN line, `exec` runs it with the `builtins`, and
//! [`filecheck`] compares an output with the CHECK lines.

use std::path::Path;

mod builtins;
mod exec;
pub mod filecheck;
mod run_lines;
mod shell;
mod suite;

pub use suite::{FailedTest, Report, Suite};

/// The programs that RUN lines may call besides those built into this crate.
pub trait Tools: Sync {
    /// Runs the program named by `argv[0]` as if it were a process with this standard input and
    /// this current directory. Relative paths among the arguments are relative to `cwd`.
    ///
    /// Only called with a name among [`Tools::names`]. Several threads call it at the same time. A
    /// panic is caught and reported as a failure of the test.
    fn run(&self, argv: &[String], stdin: &[u8], cwd: &Path) -> ProcessOutcome;

    /// The names `run` accepts as `argv[0]`; any other name in a RUN line is an error of the test.
    fn names(&self) -> &[&str] {
        &["stablehlo-opt", "stablehlo-translate", "stablo"]
    }
}

/// The observable results of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessOutcome {
    /// Everything written to standard output.
    pub stdout: Vec<u8>,
    /// Everything written to standard error.
    pub stderr: Vec<u8>,
    /// The exit code; zero is success.
    pub code: i32,
}

impl ProcessOutcome {
    /// A failure with a message (a line end is added) on standard error.
    pub fn failure(code: i32, message: impl std::fmt::Display) -> ProcessOutcome {
        ProcessOutcome {
            stderr: format!("{message}\n").into_bytes(),
            code,
            ..ProcessOutcome::default()
        }
    }
}
