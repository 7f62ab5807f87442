//! The meaning of the labels of diagnostics.

use crate::ir::OpDef;
use crate::{Version, registry};
#[cfg(feature = "run")]
use analysis::lint::LINTS;
use mlir::ods::Rule;
use mlir::verify::{LABELS, Label};

/// The lints, which are among the analyses.
#[cfg(not(feature = "run"))]
const LINTS: &[Label] = &[];

/// The meaning of a label or of the name of an op.
#[derive(Clone)]
pub enum Explanation {
    /// A constraint of the specification: the declaration of the op, and the constraint.
    Constraint(&'static OpDef, Rule),
    /// An op with all its constraints.
    Op(&'static OpDef, Vec<Rule>),
    /// A check of the parser or verifier, or a lint, with its rule as a sentence.
    Check(&'static str, &'static str),
}

/// Explains a label of a diagnostic (`dot_general_c10`, `operand-type`) or an op (`dot_general`,
/// `func.return`), in upper or lower case. Without an explanation, the error is the nearest name.
///
/// ```
/// use stablo::{Explanation, explain};
/// let Ok(Explanation::Constraint(op, rule)) = explain("dot_general_C10") else { panic!() };
/// assert_eq!((op.name, rule.name), ("stablehlo.dot_general", "c10"));
/// assert_eq!(explain("dot_generel_c9").err().flatten().as_deref(), Some("dot_general_c9"));
/// ```
///
/// # Errors
/// If there is no such label or op: the nearest one, unless none is near.
pub fn explain(name: &str) -> Result<Explanation, Option<String>> {
    let name = name.to_ascii_lowercase();
    let mut checks = LABELS.iter().chain(LINTS);
    if let Some(&(label, text)) = checks.find(|(label, _)| *label == name) {
        return Ok(Explanation::Check(label, text));
    }
    // Names of StableHLO may omit the dialect, as its labels do.
    let op =
        |name: &str| registry().op(name).or_else(|| registry().op(&format!("stablehlo.{name}")));
    if let Some(op) = op(&name) {
        return Ok(Explanation::Op(op, op.rules()));
    }
    if let Some((op, rule)) = name.rsplit_once('_').and_then(|(of, rule)| Some((op(of)?, rule)))
        && let Some(rule) = op.rules().into_iter().find(|own| own.name == rule)
    {
        return Ok(Explanation::Constraint(op, rule));
    }
    let labels = constraints().map(|(op, rule)| op.label(&rule));
    let ops = registry().ops().flat_map(|op| [op.name, op.mnemonic()]).map(String::from);
    let checks = LABELS.iter().chain(LINTS).map(|(label, _)| label.to_string());
    let names: Vec<String> = labels.chain(ops).chain(checks).collect();
    Err(mlir::nearest::nearest(&name, names.iter().map(String::as_str)).map(String::from))
}

/// The first version of StableHLO that has an op, by its full name. `None` for ops that no version
/// has.
///
/// ```
/// assert_eq!(stablo::first_version("stablehlo.tan").unwrap().to_string(), "1.4.0");
/// ```
pub fn first_version(op: &str) -> Option<Version> {
    let def = registry().op(op).filter(|def| def.dialect() == hlo::STABLEHLO.namespace)?;
    let rows = vhlo::ops::VERSIONED_OPS.iter().filter(|row| row.family() == def.mnemonic());
    rows.map(|row| row.since).min()
}

/// All constraints of the specification, with the declarations of their ops.
pub fn constraints() -> impl Iterator<Item = (&'static OpDef, Rule)> {
    registry().ops().flat_map(|op| op.rules().into_iter().map(move |rule| (op, rule)))
}

/// The labels of the checks of the parser and verifier.
pub fn checks() -> &'static [Label] {
    LABELS
}

/// The labels of the lints.
pub fn lints() -> &'static [Label] {
    LINTS
}
