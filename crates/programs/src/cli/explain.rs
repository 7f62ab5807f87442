//! `stablo explain`: prints what the label of a diagnostic stands for.

use crate::io::{CommandFailure, Io};
use stablo::ir::{OpDef, Rule};
use stablo::{Explanation, LoadOptions, render};

const EXAMPLES: &str = "\
Examples:
  stablo explain dot_general_c10
  stablo explain dot_general
  stablo explain --list";

/// Where the specification of an op begins.
const SPECIFICATION: &str = "https://github.com/openxla/stablehlo/blob/main/docs/spec.md";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// A label, such as `dot_general_c10`, or an op, such as `dot_general`
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    label: Option<String>,
    /// List all labels
    #[arg(long)]
    list: bool,
}

/// Runs the command.
///
/// # Errors
/// If there is no such label.
pub(crate) fn run(options: &ExplainArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    let Some(label) = options.label.as_deref() else {
        stablo::constraints().try_for_each(|(op, rule)| io.print(line(op, &rule)))?;
        return stablo::checks()
            .iter()
            .chain(stablo::lints())
            .try_for_each(|(label, text)| io.print(format!("{label}: {text}\n")));
    };
    match stablo::explain(label) {
        Ok(Explanation::Constraint(op, rule)) => io.print(constraint(op, &rule)),
        Ok(Explanation::Op(op, rules)) => {
            let doc = op.doc.trim().replace("\n ", "\n");
            io.print(format!("{}\n\n{doc}\n", op.name))?;
            if rules.is_empty() {
                return io.print("\nThe specification lists no constraints of this op.\n");
            }
            io.print("\n")?;
            rules.iter().try_for_each(|rule| io.print(line(op, rule)))
        }
        Ok(Explanation::Check(label, text)) => {
            io.print(format!("{label}: a check of every op\n\n{text}\n"))
        }
        Err(nearest) => {
            let hint = nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
            Err(CommandFailure::usage(format!("there is no label or op `{label}`{hint}")))
        }
    }
}

fn line(op: &OpDef, rule: &Rule) -> String {
    let remark = rule.checked.remark(op).map_or(String::new(), |remark| format!(" ({remark})"));
    format!("{}: {}{remark}\n", op.label(rule), rule.text)
}

/// A constraint with an invalid example and the diagnostics of that.
fn constraint(op: &OpDef, rule: &Rule) -> String {
    let label = op.label(rule);
    let remark = rule.checked.remark(op).map_or(String::new(), |remark| format!(" ({remark})"));
    let mut page = format!("{label}: a constraint of {}\n\n{}{remark}\n", op.name, rule.text);
    if let Some(example) = &rule.example {
        let loaded = LoadOptions::default().load("example.mlir", example.clone().into_bytes());
        let source = loaded.module.source().cloned();
        let errors = loaded.diagnostics.iter().map(|d| render(d, source.as_deref()));
        page.push_str("\nThis program violates it:\n\n");
        example.lines().for_each(|line| page.push_str(&format!("    {line}\n")));
        page.push_str(&format!("\n{}", errors.collect::<String>()));
    }
    page.push_str(&format!("\nSpecification: {SPECIFICATION}#{}\n", op.mnemonic()));
    page
}

/// Says how to learn more about the first label that is of a constraint.
pub(crate) fn hint(labels: Vec<&str>) -> Option<String> {
    let is_constraint = |label: &&str| {
        label.contains('_') && matches!(stablo::explain(label), Ok(Explanation::Constraint(..)))
    };
    let label = labels.into_iter().find(is_constraint)?;
    Some(format!("For more about `{label}`, try `stablo explain {label}`.\n"))
}
