//! Finds the test files below a directory, runs them in parallel and reports what failed.

use crate::exec::TestExecutor;
use crate::run_lines::{resolve_conditions, run_lines};
use crate::{Tools, shell};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The environment variable with a substring of the paths of the tests to run.
const FILTER_VARIABLE: &str = "FILETEST";

/// Stack size of a test thread, that of a program's main thread, so that deep nesting behaves as it
/// does for users.
const STACK_BYTES: usize = 8 << 20;

/// A directory of test files and how to run them.
pub struct Suite<'a> {
    /// Every `.mlir` file below is a test, except in directories named `Inputs`.
    pub root: PathBuf,
    /// A directory for the files that tests write, made as needed. The tree below mirrors that of
    /// `root`; no other running suite may use it.
    pub scratch: PathBuf,
    /// The programs that tests may call.
    pub tools: &'a dyn Tools,
    /// Only run tests whose path below `root` contains this.
    pub filter: Option<String>,
    /// Names for which `%if name %{ … %}` in a RUN line holds.
    pub features: Vec<String>,
    /// Arguments given to each FileCheck before its own.
    pub filecheck_args: Vec<String>,
}

/// The result of running a [`Suite`]; displays as the list of failures and a summary.
#[derive(Debug)]
pub struct Report {
    /// Number of tests that passed.
    pub passed: usize,
    /// The others, by path.
    pub failures: Vec<FailedTest>,
    /// True if a filter excluded some tests.
    pub filtered: bool,
}

/// A test that did not pass.
#[derive(Debug)]
pub struct FailedTest {
    /// The test file.
    pub path: PathBuf,
    /// The line of the file on which the failing RUN line starts and the line itself; `None` if the
    /// file could not be read or has no RUN line.
    pub run_line: Option<(usize, String)>,
    /// The failing commands with what they wrote.
    pub details: String,
}

impl<'a> Suite<'a> {
    /// A suite with upstream's setting for FileCheck (`--enable-var-scope`) and the filter in the
    /// environment variable `FILETEST`, if set.
    pub fn new(
        root: impl Into<PathBuf>,
        scratch: impl Into<PathBuf>,
        tools: &'a dyn Tools,
    ) -> Suite<'a> {
        Suite {
            root: root.into(),
            scratch: scratch.into(),
            tools,
            filter: std::env::var(FILTER_VARIABLE).ok(),
            features: Vec::new(),
            filecheck_args: vec!["--enable-var-scope".to_owned()],
        }
    }

    /// Runs the tests on all processors.
    pub fn run(&self) -> Report {
        let mut report =
            Report { passed: 0, failures: Vec::new(), filtered: self.filter.is_some() };
        let mut names = Vec::new();
        if let Err(details) = discover(&self.root, Path::new(""), &mut names) {
            report.failures.push(FailedTest { path: self.root.clone(), run_line: None, details });
            return report;
        }
        if let Some(filter) = &self.filter {
            names.retain(|name| name.to_string_lossy().contains(filter.as_str()));
        }
        names.sort();
        let failures = self.run_all(&names);
        report.passed = names.len() - failures.len();
        report.failures = failures;
        report
    }

    /// Each thread takes the next test that none has taken yet.
    fn run_all(&self, names: &[PathBuf]) -> Vec<FailedTest> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut failures = Vec::new();
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                failures.extend(self.run_file(name).err());
            }
            failures
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut failures = thread::scope(|scope| {
            let spawn =
                |_| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            let running: Vec<_> = (0..threads.min(names.len())).map(spawn).collect();
            let mut failures = Vec::new();
            for thread in running {
                match thread.map(|thread| thread.join()) {
                    Ok(Ok(found)) => failures.extend(found),
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    // A thread could not be started: this one takes part in the work.
                    Err(_) => failures.extend(work()),
                }
            }
            failures
        });
        failures.sort_by(|a, b| a.path.cmp(&b.path));
        failures
    }

    /// Runs the RUN lines of one test, a path below the root, until one fails.
    fn run_file(&self, name: &Path) -> Result<(), FailedTest> {
        let path = self.root.join(name);
        let failure = |run_line, details| FailedTest { path: path.clone(), run_line, details };
        let prepared = || -> Result<_, String> {
            let shown = |error: std::io::Error| format!("{}: {error}", path.display());
            let source = std::path::absolute(&path).map_err(shown)?;
            let text = fs::read(&source).map_err(shown)?;
            let scratch = std::path::absolute(self.scratch.join(name)).map_err(shown)?;
            let cwd = scratch.parent().unwrap_or(&scratch).to_owned();
            fs::create_dir_all(&cwd).map_err(|error| format!("{}: {error}", cwd.display()))?;
            let lines = run_lines(&String::from_utf8_lossy(&text))?;
            let mut scratch = scratch.into_os_string();
            scratch.push(".tmp");
            Ok((source, PathBuf::from(scratch), cwd, lines))
        };
        let (source, scratch, cwd, lines) = prepared().map_err(|details| failure(None, details))?;
        let executor = TestExecutor {
            tools: self.tools,
            cwd,
            source: &source,
            scratch,
            filecheck_args: &self.filecheck_args,
        };
        for run_line in lines {
            resolve_conditions(&run_line.text, &self.features)
                .and_then(|text| shell::parse(&text))
                .and_then(|script| executor.run(&script))
                .map_err(|details| failure(Some((run_line.line, run_line.text)), details))?;
        }
        Ok(())
    }
}

/// Collects the test files below `root.join(directory)` as paths below `root`.
fn discover(root: &Path, directory: &Path, names: &mut Vec<PathBuf>) -> Result<(), String> {
    let path = root.join(directory);
    let shown = |error: std::io::Error| format!("cannot list {}: {error}", path.display());
    for entry in fs::read_dir(&path).map_err(shown)? {
        let entry = entry.map_err(shown)?;
        let name = directory.join(entry.file_name());
        if entry.file_type().map_err(shown)?.is_dir() {
            if entry.file_name() != "Inputs" {
                discover(root, &name, names)?;
            }
        } else if name.extension().is_some_and(|extension| extension == "mlir") {
            names.push(name);
        }
    }
    Ok(())
}

impl Report {
    /// Prints the report of a suite that passed; otherwise panics with it. A filter that matches no
    /// test and a root without tests count as failures.
    ///
    /// # Panics
    ///
    /// When a test failed or none ran.
    pub fn assert_passed(&self) {
        assert!(self.failures.is_empty() && self.passed > 0, "\n{self}");
        println!("{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(f, "{} passed, {} failed", self.passed, self.failures.len())?;
        if self.filtered {
            write!(f, " ({FILTER_VARIABLE} selects)")?;
        }
        for failure in &self.failures {
            write!(f, "\n  failed: {}", failure.path.display())?;
        }
        Ok(())
    }
}

impl fmt::Display for FailedTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FAIL {}", self.path.display())?;
        match &self.run_line {
            Some((line, text)) => writeln!(f, ":{line}\nRUN: {text}")?,
            None => writeln!(f)?,
        }
        self.details.lines().try_for_each(|line| writeln!(f, "  {line}"))
    }
}
