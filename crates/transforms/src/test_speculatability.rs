//! `hlo-test-speculatability`: checks which ops may be executed speculatively, for tests.
//!
//! `"hlo_test_speculatability.is_speculatable"(%x)` is erased, together with the op that defines
//! `%x`, if that op is speculatable; likewise `is_not_speculatable` if it is not, and
//! `is_recursively_speculatable` if it is whenever its nested ops are.

use mlir::OpId;
use mlir::ods::Speculation;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::effects::speculation;
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};

/// Removes the claims that hold.
pub(crate) const PASS: Pass = Pass::on_functions(
    "hlo-test-speculatability",
    "Check which ops may be executed speculatively, for tests",
    run,
);

fn run(cx: &mut PassContext<'_>) {
    cx.rewrite_greedily(&mut PatternSet::new(&[&[RewritePattern::any("claim", remove_if_true)]]));
}

fn remove_if_true(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let claimed = match view.name().strip_prefix("hlo_test_speculatability.")? {
        "is_speculatable" => Speculation::Always,
        "is_not_speculatable" => Speculation::Never,
        "is_recursively_speculatable" => Speculation::AsItsRegions,
        _ => return None,
    };
    let &[value] = view.operands() else { return None };
    let made_by = rw.defining_op(value)?;
    let holds = rw.has_one_use(value) && speculation(made_by) == Some(claimed);
    let made_by = holds.then(|| made_by.id())?;
    rw.erase(op);
    rw.erase(made_by);
    Some(())
}
