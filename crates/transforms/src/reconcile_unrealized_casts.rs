//! `reconcile-unrealized-casts`: removes conversion casts that cancel out.

use mlir::pass::{Pass, PassContext};
use mlir::rewrite::Rewriter;
use mlir::rewrite::conversion::reconcile_casts;

/// Removes casts that cancel out.
pub(crate) const PASS: Pass = Pass::on_any(
    "reconcile-unrealized-casts",
    "Remove unrealized conversion casts that cancel out",
    run,
);

fn run(cx: &mut PassContext<'_>) {
    reconcile_casts(&mut Rewriter::new(cx.module, cx.options), cx.root);
}
