//! `symbol-privatize`: makes symbols private.

use mlir::ods::Trait;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::{Attribute, OpId};

/// Makes symbols private.
pub(crate) const PASS: Pass =
    Pass::on_any("symbol-privatize", "Make the symbols of a module private", run).with_options(&[
        PassOption { name: "exclude", doc: "Symbols to keep public", kind: OptionKind::List },
    ]);

fn run(cx: &mut PassContext<'_>) {
    let root = cx.module.op(cx.root);
    if !root.has_trait(&Trait::SymbolTable) {
        let error = root.error("symbol-privatize", format!("{} holds no symbols", root.name()));
        return cx.report(error);
    }
    let excluded = cx.options.list("exclude");
    let blocks = root.regions().iter().flat_map(|&region| cx.module.blocks(region));
    let ops = blocks.flat_map(|&block| cx.module.ops(block));
    let is_kept =
        |name: &str| excluded.iter().any(|excluded| excluded.trim_start_matches('@') == name);
    let symbols: Vec<OpId> = ops
        .filter(|op| {
            op.has_trait(&Trait::Symbol) && op.symbol_name().is_some_and(|name| !is_kept(name))
        })
        .map(|op| op.id())
        .collect();
    for symbol in symbols {
        cx.module.set_attr(symbol, "sym_visibility", Attribute::string("private"));
    }
}
