//! `stablo lint`: warns of what is valid, but probably not meant, or costs for nothing.

use crate::args::ReportStyle;
use crate::format::output_format;
use crate::io::{CommandFailure, Io};
use crate::source::{load, program_name};
use crate::trials::trouble;
use stablo::{Diagnostics, Module, diagnostic_to_json};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stablo lint model.mlir
  stablo lint model.mlir.bc --allow custom-call --format json
  stablo lint model.mlir --fix -o fixed.mlir

`stablo explain LABEL` says more about a lint. Exit code: 0 if there are no warnings, 1 if there are
some, 2 for trouble.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LintArgs {
    /// The program, in any format; `-` is standard input
    file: PathBuf,
    /// Leave out warnings with this label
    #[arg(long, value_name = "LABEL", value_parser = label)]
    allow: Vec<String>,
    /// Mend what can be mended without changing results, write the program, and warn of the rest
    #[arg(long)]
    fix: bool,
    /// The output file of --fix: `.mlir` is text, `.mlirbc` bytecode, `.mlir.bc` and `.stablehlo` a
    /// portable artifact; `-` is standard output
    #[arg(short, default_value = "-", value_name = "OUT", requires = "fix")]
    o: PathBuf,
    /// Output format: readable text on standard error, or one JSON object per line
    #[arg(long, default_value = "human", conflicts_with = "fix")]
    format: ReportStyle,
}

/// Accepts the labels of lints.
fn label(text: &str) -> Result<String, String> {
    let labels: Vec<&str> = stablo::lints().iter().map(|(label, _)| *label).collect();
    match labels.contains(&text) {
        true => Ok(text.to_string()),
        false => Err(format!("the lints are {}", labels.join(", "))),
    }
}

/// Runs the command.
///
/// # Errors
/// If there are warnings, or the program cannot be read, is not valid or cannot be written.
pub(crate) fn run(options: &LintArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    match run_to_end(options, io).map_err(trouble)? {
        0 => Ok(()),
        _ => Err(CommandFailure::reported()),
    }
}

/// Returns the number of warnings.
fn run_to_end(options: &LintArgs, io: &mut Io<'_>) -> Result<usize, CommandFailure> {
    let format = output_format(&options.o, None)?;
    let mut module = load(&options.file, io)?;
    let is_fixed = |label: &str| {
        ["constant-expression", "dead-op", "deprecated-op", "unused-function"].contains(&label)
    };
    let mut findings = findings(&module, options);
    if options.fix {
        if findings.iter().any(|finding| is_fixed(&finding.label)) {
            stablo::fix_lints(&mut module)?;
        }
        io.write(&options.o, &format.write(&module, true)?)?;
        findings = self::findings(&module, options);
    }
    let source = module.source().cloned();
    match options.format {
        ReportStyle::Human => io.diagnose(&findings, source.as_deref()),
        ReportStyle::Json => {
            let name = program_name(&options.file);
            for finding in &findings {
                let json = diagnostic_to_json(finding, &name, source.as_deref());
                io.print(format!("{json}\n"))?;
            }
        }
    }
    Ok(findings.len())
}

fn findings(module: &Module, options: &LintArgs) -> Diagnostics {
    let mut findings = stablo::lint(module);
    findings.retain(|finding| !options.allow.iter().any(|label| *label == finding.label));
    findings
}
