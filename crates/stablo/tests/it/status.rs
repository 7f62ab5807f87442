//! `docs/status.md`, the table of supported features of each op, is generated from the declarations
//! and up to date.
//!
//! `cargo xtask docs` writes it anew.

use mlir::ods::{OpDef, Trait, ValueSlot};
use std::fmt::Write;

/// Kinds of elements, with an example type of each.
const KINDS: [(&str, &str); 6] = [
    ("boolean", "tensor<2xi1>"),
    ("integer", "tensor<2xi32>"),
    ("float", "tensor<2xf32>"),
    ("complex", "tensor<2xcomplex<f32>>"),
    ("quantized", "tensor<2x!quant.uniform<i8:f32, 2.0>>"),
    ("per-axis quantized", "tensor<2x!quant.uniform<i8:f32:0, {2.0, 1.0}>>"),
];

/// Ops without semantics of their own, and why.
const NOT_INTERPRETED: [(&str, &str); 1] =
    [("stablehlo.return", "ends a region, which gives its operands back")];

/// True if the result types of an op follow from the rest of it.
pub(crate) fn is_inferred(op: &OpDef) -> bool {
    op.infer.is_some() || op.results.is_empty() || op.has_trait(&Trait::SameOperandsAndResultType)
}

/// Verification of an op, beyond that of all ops.
fn verification(op: &OpDef) -> &'static str {
    let hooks = [op.verify, op.verify_regions, op.verify_symbols].iter().any(Option::is_some);
    let shared = op.traits.iter().any(|t| matches!(t, Trait::Check(..)));
    match (hooks || shared, op.infer.is_some()) {
        (true, true) => "checks, inference",
        (true, false) => "checks",
        (false, true) => "inference",
        (false, false) => "declaration",
    }
}

pub(crate) fn interpretation(op: &'static OpDef) -> &'static str {
    match op.prepare {
        Some(_) => "yes",
        None if transforms::has_expansion(op) => "expansion",
        None if NOT_INTERPRETED.iter().any(|(name, _)| *name == op.name) => "not needed",
        None => "no",
    }
}

/// The kinds of elements that a slot accepts.
fn kinds(slot: &ValueSlot) -> String {
    let of = |text: &str| stablo::parse_types(text).ok().and_then(|types| types.into_iter().next());
    // Slots may require another rank.
    let ranks = ["2x", "", "2x2x"];
    let takes = |text: &str| {
        let fits = |rank: &&str| {
            of(&text.replacen("2x", rank, 1)).is_some_and(|ty| slot.constraint.holds(&ty))
        };
        ranks.iter().any(fits)
    };
    let all: Vec<&str> =
        KINDS.iter().filter(|(_, text)| takes(text)).map(|(kind, _)| *kind).collect();
    if all.len() == KINDS.len() { "any".into() } else { all.join(", ") }
}

fn table() -> String {
    let mut text = String::from(
        "# Status of ops\n\n\
         Made from the declarations (`crates/stablo/tests/it/status.rs`). Every op is read, printed and written; its operands, results,\n\
         attributes and regions are verified by its declaration.\n\n\
         - *verified*: what else is verified: by checks of its own, or because its result types are inferred and compared;\n\
         - *inferred*: whether result types follow from the rest of the op;\n\
         - *interpreted*: *expansion* means through StableHLO ops that stand for it;\n\
         - *elements*: of its first operand, or of its first result where there is none.\n",
    );
    for (dialect, title) in [("stablehlo", "StableHLO"), ("chlo", "CHLO")] {
        let ops: Vec<&'static OpDef> =
            stablo::registry().ops().filter(|op| op.dialect() == dialect).collect();
        let inferred = ops.iter().filter(|op| is_inferred(op)).count();
        let interpreted = ops.iter().filter(|op| interpretation(op) != "no").count();
        let _ = write!(
            text,
            "\n## {title}\n\n{} ops: {inferred} inferred, {interpreted} interpreted.\n\n\
             | op | verified | inferred | interpreted | elements |\n| --- | --- | --- | --- | --- |\n",
            ops.len()
        );
        for op in ops {
            let (name, slot) = (op.mnemonic(), op.operands.first().or(op.results.first()));
            let _ = writeln!(
                text,
                "| [{name}](ops/{dialect}/{name}.md) | {} | {} | {} | {} |",
                verification(op),
                if is_inferred(op) { "yes" } else { "no" },
                interpretation(op),
                slot.map(kinds).filter(|kinds| !kinds.is_empty()).unwrap_or_else(|| "-".into()),
            );
        }
    }
    text
}

#[test]
fn the_table_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/status.md");
    let table = table();
    if std::env::var_os("STABLO_BLESS").is_some() {
        std::fs::write(path, &table).expect("the folder of the documentation is there");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == table,
        "docs/status.md is not what the declarations say: `cargo xtask docs` writes it anew"
    );
}

#[test]
fn every_op_of_stablehlo_is_interpreted() {
    let missing: Vec<_> = stablo::registry()
        .ops()
        .filter(|op| op.dialect() == "stablehlo" && interpretation(op) == "no")
        .map(|op| op.name)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (name, why) in NOT_INTERPRETED {
        let op = stablo::registry().op(name).expect("the op is declared");
        assert!(op.prepare.is_none() && !why.is_empty(), "{name} needs no excuse");
    }
}
