//! `stablehlo-target-independent-optimization`: simplification and folding in one fixed point,
//! since each enables the other.

use crate::folder::{self, ASSUME_NO_UNDECLARED_SIDE_EFFECTS};
use crate::simplify::{self, FOLD_OP_ELEMENT_LIMIT, LAST_FIRST, OPTIMIZE_FLOAT};
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::PatternSet;

/// Simplifies and folds.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-target-independent-optimization",
    "Simplify and fold StableHLO ops",
    run,
)
.with_options(&[ASSUME_NO_UNDECLARED_SIDE_EFFECTS, FOLD_OP_ELEMENT_LIMIT, OPTIMIZE_FLOAT]);

fn run(cx: &mut PassContext<'_>) {
    let lists: Vec<_> = simplify::PATTERNS.iter().copied().chain([folder::PATTERNS]).collect();
    cx.rewrite_with(&mut PatternSet::new(&lists), LAST_FIRST);
}
