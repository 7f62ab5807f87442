//! `stablehlo-canonicalize-dynamism`: replaces dynamic ops, whose parameters are operands, by
//! static ones, whose parameters are attributes, where the operands are constants.
//!
//! The replacement of each op is the `to_static` hook of its declaration.

use hlo::ops::{CustomCallOp, shape_operands};
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::{PatternSet, RewritePattern};

/// Replaces dynamic ops by static ones.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-canonicalize-dynamism",
    "Replace dynamic ops by static ones where their shape operands are constants",
    run,
);

fn run(cx: &mut PassContext<'_>) {
    let registry = cx.module.registry();
    let pattern = |def: &'static mlir::ods::OpDef| {
        def.to_static.map(|rewrite| RewritePattern::new("to-static", def, rewrite))
    };
    let mut patterns: PatternSet = registry.ops().filter_map(pattern).collect();
    cx.rewrite_greedily(&mut patterns);
    let errors: Vec<_> = cx
        .module
        .walk(cx.root)
        .filter_map(CustomCallOp::cast)
        .filter_map(|op| shape_operands(*op).err())
        .collect();
    cx.diagnostics.extend(errors);
}
