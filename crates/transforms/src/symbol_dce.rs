//! `symbol-dce`: removes unreferenced private symbols.

use crate::symbols::SymbolUses;
use mlir::ods::Trait;
use mlir::pass::{Pass, PassContext};
use mlir::{OpId, OpRef};

/// Removes unreferenced private symbols.
pub(crate) const PASS: Pass =
    Pass::on_any("symbol-dce", "Remove unreferenced private symbols", run);

fn run(cx: &mut PassContext<'_>) {
    let root = cx.module.op(cx.root);
    if !root.has_trait(&Trait::SymbolTable) {
        let error = root.error("symbol-dce", format!("{} holds no symbols to remove", root.name()));
        return cx.report(error);
    }
    remove_unused(cx.module, cx.root, |op| op.has_trait(&Trait::Symbol));
}

/// Removes private symbols that satisfy `which` and that nothing reachable refers to.
pub(crate) fn remove_unused(
    module: &mut mlir::Module,
    root: OpId,
    which: impl Fn(OpRef<'_>) -> bool,
) {
    let removable = |op: OpRef<'_>| op.symbol_name().is_some() && op.is_private() && which(op);
    let symbols: Vec<OpId> =
        module.walk(root).skip(1).filter(|&op| removable(op)).map(OpRef::id).collect();
    if symbols.is_empty() {
        return;
    }
    let live = SymbolUses::reachable(module, &symbols);
    let unused: Vec<OpId> = symbols
        .into_iter()
        .filter(|&op| !module.op(op).symbol_name().is_some_and(|name| live.contains(name)))
        .collect();
    for op in unused {
        if module.is_attached(op) {
            module.erase(op);
        }
    }
}
