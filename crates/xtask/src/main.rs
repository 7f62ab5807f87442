//! Tasks for developers. `cargo xtask ci` checks everything that a change must satisfy; `cargo
//! xtask docs` generates the reference part of the book from the declarations; `cargo xtask
//! upstream` runs upstream's tests.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

#[cfg(test)]
mod floors;
mod idioms;
#[cfg(test)]
mod modules;
mod names;
#[cfg(test)]
mod profiles;
#[cfg(test)]
mod unit_tests;

/// A command of `cargo xtask ci`.
struct CiStep {
    /// Arguments of cargo.
    cargo: &'static [&'static str],
    /// Variables added to the environment.
    environment: &'static [(&'static str, &'static str)],
    /// An optional cargo subcommand; the step is skipped if it is not installed.
    optional: Option<&'static str>,
}

/// The steps of `cargo xtask ci`, run in this order up to the first failure.
const STEPS: [CiStep; 6] = [
    CiStep { cargo: &["fmt", "--all", "--check"], environment: &[], optional: None },
    CiStep {
        cargo: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        environment: &[],
        optional: None,
    },
    CiStep {
        cargo: &["check", "--package", "stablo", "--no-default-features"],
        environment: &[],
        optional: None,
    },
    CiStep { cargo: &["test", "--workspace"], environment: &[], optional: None },
    CiStep {
        cargo: &["doc", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
        optional: None,
    },
    CiStep { cargo: &["deny", "check"], environment: &[], optional: Some("deny") },
];

const USAGE: &str = "\
usage: cargo xtask TASK

tasks:
  ci    check formatting, lints, tests, documentation and licences
  docs  write docs/status.md, docs/ops/, docs/passes/ and the outputs in docs/tutorial.md
  idioms
        count idioms in comments by crate, which a test holds below ceilings
  names list names of types that are defined more than once, which a test holds below a ceiling
  upstream [CLONE]
        run the tests of openxla/stablehlo, from a clone or from one that git fetches";

/// The repository with upstream's tests, and the commit that they are of: StableHLO 1.20.0.
const UPSTREAM: (&str, &str) =
    ("https://github.com/openxla/stablehlo", "3c9301c116f97fbaf696959a0ede32712aec587b");

/// The tests that compare the generated pages with the declarations write them when they find
/// `STABLO_BLESS`.
const DOCS: CiStep = CiStep {
    cargo: &[
        "test",
        "-p",
        "stablo",
        "-p",
        "stablo-cli",
        "--test",
        "it",
        "--",
        "is_current",
        "are_current",
    ],
    environment: &[("STABLO_BLESS", "1")],
    optional: None,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["ci"] => exit(STEPS.iter().try_for_each(CiStep::run)),
        ["docs"] => exit(DOCS.run()),
        ["names"] => {
            names::print();
            ExitCode::SUCCESS
        }
        ["idioms"] => {
            idioms::print();
            ExitCode::SUCCESS
        }
        ["upstream"] => exit(fetch().and_then(|clone| upstream(&clone))),
        ["upstream", clone] => exit(upstream(Path::new(clone))),
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

fn exit(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

impl CiStep {
    fn run(&self) -> Result<(), String> {
        let shown = format!("cargo {}", self.cargo.join(" "));
        if let Some(subcommand) = self.optional
            && !installed(subcommand)
        {
            println!("== {shown}: left out, cargo-{subcommand} is not installed");
            return Ok(());
        }
        println!("== {shown}");
        let start = Instant::now();
        let status = cargo()
            .args(self.cargo)
            .envs(self.environment.iter().copied())
            .status()
            .map_err(|error| format!("cannot run {shown}: {error}"))?;
        if !status.success() {
            return Err(format!("{shown} failed ({status})"));
        }
        println!("== ok, {:.1} s", start.elapsed().as_secs_f64());
        Ok(())
    }
}

fn git(folder: &Path, args: &[&str]) -> Result<(), String> {
    let status = Command::new("git").arg("-C").arg(folder).args(args).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("git {} failed ({status})", args.join(" "))),
        Err(error) => Err(format!("cannot run git: {error}")),
    }
}

/// The files of upstream's commit, fetched below `target/` unless they are there.
fn fetch() -> Result<PathBuf, String> {
    let (url, commit) = UPSTREAM;
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/upstream").join(commit);
    if !clone.join("stablehlo").is_dir() {
        std::fs::create_dir_all(&clone)
            .map_err(|error| format!("cannot make {}: {error}", clone.display()))?;
        git(&clone, &["init", "--quiet"])?;
        git(&clone, &["fetch", "--quiet", "--depth", "1", url, commit])?;
        git(&clone, &["checkout", "--quiet", commit])?;
    }
    Ok(clone)
}

/// Runs upstream's tests from a clone.
fn upstream(clone: &Path) -> Result<(), String> {
    let clone = clone
        .canonicalize()
        .map_err(|error| format!("there is no clone at {}: {error}", clone.display()))?;
    let args = ["test", "--release", "--package", "stablo-cli", "--test", "it", "--"];
    let status = cargo()
        .args(args)
        .args(["--ignored", "--nocapture", "upstream"])
        .env("STABLO_UPSTREAM", clone)
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("upstream's tests failed ({status})")) }
}

fn installed(subcommand: &str) -> bool {
    let output = cargo().args([subcommand, "--version"]).output();
    output.is_ok_and(|output| output.status.success())
}
