//! `stablehlo-aggressive-simplification`: rewrites ops to simpler, equivalent ones.
//!
//! Each pattern is a named function documented by its equation. `arithmetic.rs` has patterns of
//! elementwise ops, `shapes.rs` of ops that move elements, `dynamic.rs` of ops with
//! sizes as operands, and `control.rs` of ops with regions and of tuples.
//!
//! With `optimize-float` (the default, as upstream), the sign of a zero may change: `x + 0.0`
//! becomes `x`.

mod arithmetic;
mod control;
mod dynamic;
mod number;
mod shapes;

pub(crate) use control::{reduce_along_nothing, reduce_to_outside};
pub(crate) use dynamic::size_of_static;
pub(crate) use number::splat_number;
pub(crate) use shapes::{iota_of_one, is_reversed_in_place};

use hlo::ops::ConstantOp;
use mlir::attrs::{Attribute, Dictionary};
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::greedy::Config;
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};
use mlir::{OpId, Value};

/// Rewrites ops to simpler ones.
pub(crate) const PASS: Pass =
    Pass::on_functions("stablehlo-aggressive-simplification", "Simplify StableHLO ops", run)
        .with_options(&[FOLD_OP_ELEMENT_LIMIT, OPTIMIZE_FLOAT]);

pub(crate) const FOLD_OP_ELEMENT_LIMIT: PassOption = PassOption {
    name: "fold-op-element-limit",
    doc: "Maximum number of elements of a folded constant, except splats",
    kind: OptionKind::Int(65536),
};

pub(crate) const OPTIMIZE_FLOAT: PassOption = PassOption {
    name: "optimize-float",
    doc: "Allow float rewrites that may change the last bit or the sign of a zero",
    kind: OptionKind::Bool(true),
};

/// All patterns.
pub(crate) static PATTERNS: &[&[RewritePattern]] = &[
    arithmetic::PATTERNS,
    shapes::PATTERNS,
    dynamic::PATTERNS,
    control::PATTERNS,
    control::EMPTY_TENSORS,
];

/// As upstream, bottom-up: users before their operands, nested ops before their parent.
pub(crate) const LAST_FIRST: Config =
    Config { fold: true, max_iterations: 10, max_rewrites: usize::MAX, top_down: false };

fn run(cx: &mut PassContext<'_>) {
    cx.rewrite_with(&mut PatternSet::new(PATTERNS), LAST_FIRST);
}

/// Maximum number of elements of a folded result.
pub(crate) fn element_limit(rw: &Rewriter<'_>) -> usize {
    usize::try_from(rw.options().int("fold-op-element-limit")).unwrap_or(0)
}

/// Replaces the single result of an op by a value of its type. The value's defining op inherits the
/// discardable attributes of the replaced op, which take precedence over its own.
pub(crate) fn forward(rw: &mut Rewriter<'_>, op: OpId, value: Value) -> Option<()> {
    if rw.ty(value) != rw.op(op).result_type(0) {
        return None;
    }
    merge_attributes(rw, op, value);
    rw.replace(op, &[value]);
    Some(())
}

fn merge_attributes(rw: &mut Rewriter<'_>, op: OpId, value: Value) {
    let from: Dictionary = rw.op(op).attributes().clone();
    // A constant may have other users.
    let Some(to) = rw.defining_op(value).filter(|to| !to.is(ConstantOp::DEF)) else { return };
    let merged: Vec<(String, Attribute)> = from
        .iter()
        .map(|(name, value)| {
            (name.to_string(), merge_attribute(name, to.attributes().get(name), value))
        })
        .collect();
    let to = to.id();
    merged.into_iter().for_each(|(name, value)| rw.set_attr(to, &name, value));
}

/// Merges an attribute. Frontend attributes merge key by key; of `xla_metadata_payload`, the
/// identity of the remaining op is kept.
fn merge_attribute(name: &str, kept: Option<&Attribute>, new: &Attribute) -> Attribute {
    let (Some(kept), Some(entries)) = (kept.and_then(|k| k.as_dictionary()), new.as_dictionary())
    else {
        return new.clone();
    };
    if name != "mhlo.frontend_attributes" {
        return new.clone();
    }
    let mut merged = kept.clone();
    for (name, value) in entries.iter() {
        if &**name != "xla_metadata_payload" || kept.get(name).is_none() {
            merged.set(name.clone(), value.clone());
        }
    }
    mlir::attrs::AttrKind::Dictionary(merged).into()
}
