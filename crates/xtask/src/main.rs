//! Tasks for developers. `cargo xtask ci` checks everything that a change must satisfy.

use std::process::{Command, ExitCode};
use std::time::Instant;

#[cfg(test)]
mod floors;
#[cfg(test)]
mod modules;

/// A command of `cargo xtask ci`.
struct Step {
    /// Arguments of cargo.
    cargo: &'static [&'static str],
    /// Variables added to the environment.
    environment: &'static [(&'static str, &'static str)],
    /// An optional cargo subcommand; the step is skipped if it is not installed.
    optional: Option<&'static str>,
}

/// The steps of `cargo xtask ci`, run in this order up to the first failure.
const STEPS: [Step; 5] = [
    Step { cargo: &["fmt", "--all", "--check"], environment: &[], optional: None },
    Step {
        cargo: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        environment: &[],
        optional: None,
    },
    Step { cargo: &["test", "--workspace"], environment: &[], optional: None },
    Step {
        cargo: &["doc", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
        optional: None,
    },
    Step { cargo: &["deny", "check"], environment: &[], optional: Some("deny") },
];

const USAGE: &str = "\
usage: cargo xtask TASK

tasks:
  ci    check formatting, lints, tests, documentation and licences";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["ci"] => match ci() {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("xtask: {problem}");
                ExitCode::FAILURE
            }
        },
        ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn ci() -> Result<(), String> {
    for step in &STEPS {
        let shown = format!("cargo {}", step.cargo.join(" "));
        if let Some(subcommand) = step.optional
            && !installed(subcommand)
        {
            println!("== {shown}: left out, cargo-{subcommand} is not installed");
            continue;
        }
        println!("== {shown}");
        let start = Instant::now();
        let status = cargo()
            .args(step.cargo)
            .envs(step.environment.iter().copied())
            .status()
            .map_err(|error| format!("cannot run {shown}: {error}"))?;
        if !status.success() {
            return Err(format!("{shown} failed ({status})"));
        }
        println!("== ok, {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn installed(subcommand: &str) -> bool {
    let output = cargo().args([subcommand, "--version"]).output();
    output.is_ok_and(|output| output.status.success())
}
