//! Runs the parsed RUN lines of one test: substitutions, pipes, redirections, and the choice
//! between the programs under test and the built-in ones.

use crate::shell::{Pipeline, Redirect, Script, ShellCommand};
use crate::{ProcessOutcome, Tools, builtins, filecheck};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Output shown of one command of a failing pipeline; the rest is elided.
const SHOWN_OUTPUT_BYTES: usize = 8_000;

/// Everything the commands of one test share.
pub(crate) struct TestExecutor<'a> {
    /// The programs under test.
    pub tools: &'a dyn Tools,
    /// Working directory of commands; it exists.
    pub cwd: PathBuf,
    /// The test file, for `%s`, `%S` and `%p`.
    pub source: &'a Path,
    /// A path that only this test uses, for `%t`.
    pub scratch: PathBuf,
    /// Given to each FileCheck before the arguments on the RUN line.
    pub filecheck_args: &'a [String],
}

/// Destination of an output stream of a command.
#[derive(Clone)]
enum Sink {
    /// The next command's input; of the last command, the log.
    Pipe,
    /// Report of a failure.
    Log,
    File {
        path: PathBuf,
        append: bool,
    },
}

impl TestExecutor<'_> {
    /// Runs pipelines until one fails. An error is ready to be shown: it lists the commands of the
    /// failing pipeline with their exit codes and what they wrote.
    pub(crate) fn run(&self, script: &Script) -> Result<(), String> {
        script.iter().try_for_each(|pipeline| self.pipeline(pipeline))
    }

    /// Runs one pipeline. It fails if any of its commands fails.
    fn pipeline(&self, pipeline: &Pipeline) -> Result<(), String> {
        let mut input = Vec::new();
        let mut failed = false;
        let mut log = String::new();
        for command in pipeline {
            let argv: Vec<String> = command.argv.iter().map(|w| self.substitute(w)).collect();
            let _ = writeln!(log, "$ {}", argv.join(" "));
            let (outcome, written) = self
                .command(command, &argv, &mut input)
                .map_err(|problem| format!("{log}{problem}\n"))?;
            if outcome != 0 {
                failed = true;
                let _ = writeln!(log, "exit code {outcome}");
            }
            push_output(&mut log, &written);
        }
        push_output(&mut log, &input);
        if failed { Err(log) } else { Ok(()) }
    }

    /// Runs one command: takes its standard input from `input`, leaves its standard output there,
    /// and returns the exit code and what it wrote for the log.
    fn command(
        &self,
        command: &ShellCommand,
        argv: &[String],
        input: &mut Vec<u8>,
    ) -> Result<(i32, Vec<u8>), String> {
        let (mut stdout, mut stderr) = (Sink::Pipe, Sink::Log);
        for redirect in &command.redirects {
            match redirect {
                Redirect::Input(path) => *input = self.read(path)?,
                Redirect::ErrorToOutput => stderr = stdout.clone(),
                Redirect::Output { stderr: of_stderr, append, path } => {
                    let sink = if *of_stderr { &mut stderr } else { &mut stdout };
                    *sink =
                        Sink::File { path: self.cwd.join(self.substitute(path)), append: *append };
                }
            }
        }
        let outcome = self.program(argv, input)?;
        input.clear();
        let mut log = Vec::new();
        // Programs report errors before they print their result, so if both streams go to the same
        // sink, standard error comes first.
        for (bytes, sink) in [(outcome.stderr, stderr), (outcome.stdout, stdout)] {
            match sink {
                Sink::Pipe => input.extend(bytes),
                Sink::Log => log.extend(bytes),
                Sink::File { path, append } => write(&path, append, &bytes)?,
            }
        }
        Ok((outcome.code, log))
    }

    fn program(&self, argv: &[String], input: &[u8]) -> Result<ProcessOutcome, String> {
        let Some((name, args)) = argv.split_first() else {
            return Err("`not` needs a command".to_owned());
        };
        if name == "not" {
            let mut outcome = self.program(args, input)?;
            outcome.code = i32::from(outcome.code == 0);
            return Ok(outcome);
        }
        if name == "FileCheck" {
            let args: Vec<String> = self.filecheck_args.iter().chain(args).cloned().collect();
            return Ok(filecheck::run(&args, input, &self.cwd));
        }
        if let Some(builtin) = builtins::find(name) {
            return Ok(builtin(args, input, &self.cwd));
        }
        if !self.tools.names().contains(&name.as_str()) {
            return Err(format!("unknown program `{name}` in a RUN line"));
        }
        let run = AssertUnwindSafe(|| self.tools.run(argv, input, &self.cwd));
        catch_unwind(run).map_err(|payload| {
            let message = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("without a message");
            format!("`{name}` panicked: {message}")
        })
    }

    /// Replaces `%s` (the test file), `%S` and `%p` (its directory), `%t` (a scratch path), `%T`
    /// (its directory) and `%%`.
    fn substitute(&self, word: &str) -> String {
        let parent = |path: &Path| path.parent().unwrap_or(path).display().to_string();
        let mut replaced = String::new();
        let mut chars = word.chars().peekable();
        while let Some(c) = chars.next() {
            let value = match (c, chars.peek()) {
                ('%', Some('s')) => self.source.display().to_string(),
                ('%', Some('S' | 'p')) => parent(self.source),
                ('%', Some('t')) => self.scratch.display().to_string(),
                ('%', Some('T')) => parent(&self.scratch),
                ('%', Some('%')) => "%".to_owned(),
                _ => {
                    replaced.push(c);
                    continue;
                }
            };
            replaced.push_str(&value);
            chars.next();
        }
        replaced
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = self.cwd.join(self.substitute(path));
        fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    }
}

fn write(path: &Path, append: bool, bytes: &[u8]) -> Result<(), String> {
    fs::OpenOptions::new()
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn push_output(log: &mut String, bytes: &[u8]) {
    let shown = &bytes[..bytes.len().min(SHOWN_OUTPUT_BYTES)];
    log.push_str(&String::from_utf8_lossy(shown));
    if !shown.is_empty() && !shown.ends_with(b"\n") {
        log.push('\n');
    }
    if shown.len() < bytes.len() {
        let _ = writeln!(log, "… and {} bytes more", bytes.len() - shown.len());
    }
}
