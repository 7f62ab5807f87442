//! `strip-debuginfo`: forgets where ops and block arguments come from.

use crate::Pass;
use mlir::ir::Loc;
use mlir::{Diagnostics, Module};

/// Replaces all locations by unknown ones.
pub const STRIP_DEBUGINFO: Pass =
    Pass { name: "strip-debuginfo", description: "Replace all locations by unknown ones", run };

fn run(module: &mut Module) -> Diagnostics {
    let ops: Vec<_> = module.walk(module.top().id()).map(|op| op.id()).collect();
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
    Diagnostics::new()
}
