//! Every constraint of the specification is checked under its label, or listed with a reason in
//! `constraints.txt`.

use hlo::STABLEHLO;
use mlir::ods::{OpDef, Registry};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The table row of an op.
#[derive(Default)]
struct Row {
    /// Numbers of its constraints.
    numbers: BTreeSet<u32>,
    /// Reasons for constraints without a check under their own label, or not for all cases.
    reasons: BTreeMap<u32, String>,
    unspecified: bool,
}

fn table() -> BTreeMap<String, Row> {
    let mut table: BTreeMap<String, Row> = BTreeMap::new();
    let mut last = String::new();
    for line in include_str!("constraints.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(reason) = line.strip_prefix("  ") {
            let (number, reason) = reason.split_once(' ').expect("a number and a reason");
            let row = table.get_mut(&last).expect("a reason stands below its op");
            row.reasons.insert(number.parse().expect("a number"), reason.to_string());
            continue;
        }
        let mut words = line.split(' ');
        last = words.next().expect("an op").to_string();
        let mut row = Row::default();
        for word in words {
            if word == "unspecified" {
                row.unspecified = true;
                continue;
            }
            let (low, high) = word.split_once('-').unwrap_or((word, word));
            row.numbers
                .extend(low.parse::<u32>().expect("a number")..=high.parse().expect("a number"));
        }
        table.insert(last.clone(), row);
    }
    table
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

fn op(name: &str) -> Option<&'static OpDef> {
    Registry::new(&[&STABLEHLO]).op(&format!("stablehlo.{name}"))
}

#[test]
fn every_constraint_is_checked_or_has_a_reason() {
    let mut labels = BTreeSet::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for sources in ["src", "../kernels/src"] {
        cited(&own.join(sources), &mut labels);
    }
    let mut wrong = Vec::new();
    for (name, row) in &table() {
        let Some(def) = op(name) else {
            wrong.push(format!("there is no op {name}"));
            continue;
        };
        for &number in &row.numbers {
            let label = format!("{name}_c{number}");
            let is_cited = labels.contains(&(name.clone(), number));
            let reason = row
                .reasons
                .get(&number)
                .map(|reason| reason.split_once(' ').unwrap_or((reason, "")));
            match reason {
                None if is_cited => {}
                None => wrong.push(format!("nothing checks {label}")),
                Some(("partly:", but)) if is_cited && !but.is_empty() => {}
                Some(_) if is_cited => {
                    wrong.push(format!("{label} is checked: it needs no reason"))
                }
                Some(("inferred", "")) if def.infer.is_some() => {}
                Some(("run", "")) if def.prepare.is_some() => {}
                Some(("declared", slot)) if def.attribute_index(slot).is_some() => {}
                Some(("relaxed:", why)) if !why.is_empty() => {}
                Some(reason) => wrong.push(format!("{label}: {reason:?} is no reason")),
            }
        }
        wrong.extend(
            row.reasons
                .keys()
                .filter(|n| !row.numbers.contains(n))
                .map(|n| format!("{name} has no c{n}")),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_op_is_in_the_table_and_every_label_exists() {
    let table = table();
    let missing: Vec<_> = STABLEHLO
        .ops
        .iter()
        .filter(|op| !table.contains_key(op.mnemonic()))
        .map(|op| op.name)
        .collect();
    assert!(missing.is_empty(), "{missing:?} have no line in constraints.txt");
    let mut labels = BTreeSet::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for sources in ["src", "../kernels/src"] {
        cited(&own.join(sources), &mut labels);
    }
    let known = |(op, number): &&(String, u32)| {
        table.get(op).is_some_and(|row| row.unspecified || row.numbers.contains(number))
    };
    let unknown: Vec<_> = labels.iter().filter(|label| !known(label)).collect();
    assert!(unknown.is_empty(), "the specification has none of {unknown:?}");
}
