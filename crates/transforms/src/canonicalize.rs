//! `canonicalize`: applies the fold and canonicalization hooks of op declarations to a fixed point.

use mlir::Diagnostic;
use mlir::nearest::suggestion;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::greedy::{self, Config};
use mlir::rewrite::{PatternSet, RewritePattern};

/// Canonicalizes ops.
pub(crate) const PASS: Pass = Pass::on_any(
    "canonicalize",
    "Canonicalize ops: fold them, simplify them and remove dead code",
    run,
)
.with_options(&[
    PassOption { name: "disable-patterns", doc: "Patterns to disable", kind: OptionKind::List },
    PassOption {
        name: "enable-patterns",
        doc: "Patterns to enable; all if empty",
        kind: OptionKind::List,
    },
    PassOption {
        name: "max-iterations",
        doc: "Maximum number of passes over all ops; -1 for no limit",
        kind: OptionKind::Int(10),
    },
    PassOption {
        name: "max-num-rewrites",
        doc: "Maximum number of rewrites in a pass over all ops; -1 for no limit",
        kind: OptionKind::Int(-1),
    },
    PassOption {
        name: "test-convergence",
        doc: "Fail if no fixed point is reached",
        kind: OptionKind::Bool(false),
    },
    PassOption { name: "top-down", doc: "Visit ops top-down", kind: OptionKind::Bool(true) },
]);

fn run(cx: &mut PassContext<'_>) {
    let limit = |name| usize::try_from(cx.options.int(name)).unwrap_or(usize::MAX);
    let config = Config {
        max_iterations: limit("max-iterations"),
        max_rewrites: limit("max-num-rewrites"),
        top_down: cx.options.bool("top-down"),
        ..Config::default()
    };
    let patterns = PatternSet::canonicalization(cx.module.registry());
    let (enabled, disabled) =
        (cx.options.list("enable-patterns"), cx.options.list("disable-patterns"));
    let has = |list: &[String], name: &str| list.iter().any(|pattern| pattern == name);
    for name in enabled.iter().chain(disabled) {
        if patterns.patterns().iter().all(|pattern| pattern.name != name) {
            let help = suggestion(name, patterns.patterns().iter().map(|pattern| pattern.name));
            let message = format!("there is no pattern `{name}`");
            return cx.report(Diagnostic::error("patterns", message).help(help));
        }
    }
    let applies = |pattern: &RewritePattern| {
        (enabled.is_empty() || has(enabled, pattern.name)) && !has(disabled, pattern.name)
    };
    let mut patterns: PatternSet = patterns.patterns().iter().copied().filter(applies).collect();
    let outcome = greedy::rewrite(cx.module, cx.root, &mut patterns, cx.options, config);
    cx.diagnostics.extend(outcome.diagnostics);
    cx.statistics.merge(&outcome.statistics);
    if !outcome.converged && cx.options.bool("test-convergence") {
        let position = cx.module.op(cx.root).position();
        cx.report(
            Diagnostic::error("convergence", "ops still change after the last pass over them")
                .at(position),
        );
    }
}
