//! `trivial-dce`: removes dead ops.

use mlir::pass::{Pass, PassContext};
use mlir::rewrite::effects::is_dead;

/// Removes ops that nothing uses.
pub(crate) const PASS: Pass =
    Pass::on_any("trivial-dce", "Remove unused ops without side effects", run);

fn run(cx: &mut PassContext<'_>) {
    cx.module.build_uses();
    // Users before their operands.
    for op in cx.module.post_order(cx.root).into_iter().rev() {
        if op != cx.root && cx.module.is_attached(op) && is_dead(cx.module, op) {
            cx.module.erase(op);
            cx.statistics.count("dead-code", true);
        }
    }
}
