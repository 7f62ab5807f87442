//! `canonicalize`: brings ops to their simplest form, by the folders and rewrites that their declarations hold.

use mlir::Diagnostic;
use mlir::pass::{Context, OptionKind, Pass, PassOption};
use mlir::rewrite::PatternSet;
use mlir::rewrite::greedy::{self, Config};

/// Brings ops to their simplest form.
pub const PASS: Pass = Pass::on_any(
    "canonicalize",
    "Fold ops, remove dead code and bring ops to their simplest form",
    run,
)
.with_options(&[
    PassOption { name: "max-iterations", doc: "Passes over all ops; -1 for any number", kind: OptionKind::Int(10) },
    PassOption {
        name: "max-num-rewrites",
        doc: "Rewrites in a pass over all ops; -1 for any",
        kind: OptionKind::Int(-1),
    },
    PassOption { name: "test-convergence", doc: "Fail if ops still change at the end", kind: OptionKind::Bool(false) },
    PassOption { name: "top-down", doc: "Visit ops in order", kind: OptionKind::Bool(true) },
]);

fn run(cx: &mut Context<'_>) {
    let limit = |name| usize::try_from(cx.options.int(name)).unwrap_or(usize::MAX);
    let config = Config {
        max_iterations: limit("max-iterations"),
        max_rewrites: limit("max-num-rewrites"),
        top_down: cx.options.bool("top-down"),
        ..Config::default()
    };
    let mut patterns = PatternSet::canonicalization(cx.module.registry());
    let outcome = greedy::rewrite(cx.module, cx.root, &mut patterns, cx.options, config);
    cx.diagnostics.extend(outcome.diagnostics);
    cx.statistics.merge(&outcome.statistics);
    if !outcome.converged && cx.options.bool("test-convergence") {
        let position = cx.module.op(cx.root).position();
        cx.report(Diagnostic::error("convergence", "ops still change after the last pass over them").at(position));
    }
}
