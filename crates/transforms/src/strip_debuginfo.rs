//! `strip-debuginfo`: removes the locations of ops and block arguments.

use mlir::ir::Loc;
use mlir::pass::{Pass, PassContext};

/// Replaces all locations by unknown ones.
pub(crate) const PASS: Pass =
    Pass::on_any("strip-debuginfo", "Replace all locations by unknown ones", run);

fn run(cx: &mut PassContext<'_>) {
    let module = &mut *cx.module;
    let ops: Vec<_> = module.walk(cx.root).map(|op| op.id()).collect();
    for op in ops {
        module.set_loc(op, Loc::Unknown);
        for region in module.op(op).regions().to_vec() {
            for block in module.blocks(region).to_vec() {
                for index in 0..module.arguments(block).len() {
                    module.set_argument_loc(block, index, Loc::Unknown);
                }
            }
        }
    }
}
