//! Every constraint of the specification is declared with its op, and checked under its label or
//! has a reason; its example violates it and nothing else.

use crate::common;

use hlo::STABLEHLO;
use mlir::ods::{Checked, OpDef, Rule};
use mlir::verify::{VerifyOptions, verify};
use std::collections::BTreeSet;
use std::path::Path;

/// The ops that the specification does not list, or lists without constraints.
const WITHOUT: [&str; 15] = [
    "after_all",
    "broadcast",
    "create_token",
    "cross-replica-sum",
    "custom_call",
    "dot",
    "einsum",
    "outfeed",
    "partition_id",
    "real_dynamic_slice",
    "replica_id",
    "return",
    "set_dimension_size",
    "torch_index_select",
    "unary_einsum",
];

/// All constraints with their ops.
fn rules() -> impl Iterator<Item = (&'static OpDef, Rule)> {
    STABLEHLO.ops.iter().flat_map(|op| op.rules().into_iter().map(|rule| (*op, rule)))
}

/// The labels `"op_cN"` that occur in the sources of the crate as string literals.
fn cited(folder: &Path, labels: &mut BTreeSet<(String, u32)>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            cited(&path, labels);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        for literal in text.split('"') {
            let label = literal
                .rsplit_once("_c")
                .and_then(|(op, n)| Some((op.to_string(), n.parse().ok()?)));
            let is_name = |op: &str| {
                op.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            };
            labels.extend(label.filter(|(op, _)| is_name(op)));
        }
    }
}

fn all_cited() -> BTreeSet<(String, u32)> {
    let mut labels = BTreeSet::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for sources in ["src", "../kernels/src"] {
        cited(&own.join(sources), &mut labels);
    }
    labels
}

#[test]
fn every_constraint_is_checked_or_has_a_reason() {
    let labels = all_cited();
    let mut wrong = Vec::new();
    for (op, rule) in rules() {
        let Some(number) = rule.name.strip_prefix('c') else { continue };
        let number = number.parse().expect("a number follows the letter");
        let is_cited = labels.contains(&(op.mnemonic().to_string(), number));
        let is_fine = match rule.checked {
            Checked::Verified => is_cited,
            Checked::Partly(but) => is_cited && !but.is_empty(),
            Checked::Inferred => !is_cited && op.infer.is_some(),
            Checked::Run => op.prepare.is_some(),
            Checked::Declared(slot) => op.attribute_index(slot).is_some(),
            Checked::Typed => true,
            Checked::Relaxed(why) => !is_cited && !why.is_empty(),
        };
        if !is_fine {
            wrong.push(format!("{}: {:?}, cited: {is_cited}", op.label(&rule), rule.checked));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The specification numbers constraints from 1; `i1` and so on are inputs that declarations do
/// not check.
#[test]
fn constraints_are_numbered_and_labels_are_declared() {
    let declared: BTreeSet<(String, u32)> = rules()
        .filter_map(|(op, rule)| {
            Some((op.mnemonic().to_string(), rule.name.strip_prefix('c')?.parse().ok()?))
        })
        .collect();
    for op in STABLEHLO.ops {
        let numbers: Vec<u32> =
            declared.iter().filter(|(name, _)| name == op.mnemonic()).map(|(_, n)| *n).collect();
        let expected: Vec<u32> = (1..=numbers.len() as u32).collect();
        assert_eq!(numbers, expected, "{}", op.name);
        assert_eq!(numbers.is_empty(), WITHOUT.contains(&op.mnemonic()), "{}", op.name);
    }
    assert_eq!(declared.len(), 453, "the number of constraints in the specification");
    let unknown: Vec<_> = all_cited()
        .into_iter()
        .filter(|label| !declared.contains(label) && !WITHOUT.contains(&label.0.as_str()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?} are not declared");
}

/// Labels of the errors in a program.
fn labels(text: &str) -> Vec<String> {
    let module = match common::read(text) {
        Ok(module) => module,
        Err(errors) => {
            return errors.into_iter().map(|d| format!("parse: {}", d.message)).collect();
        }
    };
    let options = VerifyOptions { strict: true, ..VerifyOptions::default() };
    verify(&module, &options).into_iter().map(|d| d.label.into_owned()).collect()
}

#[test]
fn examples_violate_their_constraint_only() {
    let mut wrong = Vec::new();
    for (op, rule) in rules() {
        let label = op.label(&rule);
        match (&rule.example, rule.checked) {
            (Some(program), _) => {
                let found = labels(program);
                if found != [label.as_str()] {
                    wrong.push(format!("{label}: {found:?}\n{program}"));
                }
            }
            (None, Checked::Verified | Checked::Partly(_)) => {
                wrong.push(format!("{label} has no example"));
            }
            (None, _) => {}
        }
    }
    for op in STABLEHLO.ops {
        if let Some(program) = op.valid_example() {
            let found = labels(&program);
            if !found.is_empty() {
                wrong.push(format!("{} is invalid: {found:?}\n{program}", op.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
