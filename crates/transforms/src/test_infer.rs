//! `hlo-test-infer`: shows inferred result types and shapes, for tests.
//!
//! `"hlo_test_infer.get_return_types"(%x)` becomes `"hlo_test_infer.return_types"(%x) {types0 = …}`
//! with the inferred result types of the op that defines `%x`; `get_return_type_components`
//! likewise, with shapes only where no element types are inferred; and `reify_return_type_shapes`
//! becomes the reified shape.
//!
//! Source: StableHLO, `stablehlo/tests/TestUtils.td`.

use hlo::compat::with_element;
use hlo::reify;
use mlir::ir::{OpName, OpParts};
use mlir::ods::RefineFn;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};
use mlir::{Attribute, OpId, OpRef, Type};

/// Shows inferred types.
pub(crate) const PASS: Pass =
    Pass::on_functions("hlo-test-infer", "Show inferred types, for tests", run);

fn run(cx: &mut PassContext<'_>) {
    cx.rewrite_greedily(&mut PatternSet::new(&[PATTERNS]));
}

static PATTERNS: &[RewritePattern] = &[
    RewritePattern::any("types", |rw, op| {
        show(rw, op, "get_return_types", "return_types", inferred)
    }),
    RewritePattern::any("components", |rw, op| {
        show(rw, op, "get_return_type_components", "return_type_components", inferred_components)
    }),
    RewritePattern::any("shapes", reified),
];

/// Replaces the query by its answer.
fn show(
    rw: &mut Rewriter<'_>,
    op: OpId,
    question: &str,
    answer: &str,
    inferred: RefineFn,
) -> Option<()> {
    let view = rw.op(op);
    if view.name().strip_prefix("hlo_test_infer.")? != question {
        return None;
    }
    let &[value] = view.operands() else { return None };
    let types = inferred(rw.defining_op(value)?)?;
    let mut parts = OpParts::new(
        OpName::Unregistered(format!("hlo_test_infer.{answer}").into()),
        view.loc().clone(),
    );
    parts.operands.push(value);
    parts.result_types = view.result_types().cloned().collect();
    parts.attributes = view.attributes().clone();
    for (i, ty) in types.into_iter().enumerate() {
        parts.attributes.set(format!("types{i}"), Attribute::from(ty));
    }
    let new = rw.create(parts);
    rw.replace_with(op, new);
    Some(())
}

/// The inferred result types of an op.
fn inferred(op: OpRef<'_>) -> Option<Vec<Type>> {
    match op.def()?.infer {
        Some(infer) => infer(op).ok(),
        None => op.def()?.refine?(op),
    }
}

/// The inferred result types of an op, with `index` elements where only shapes are inferred.
fn inferred_components(op: OpRef<'_>) -> Option<Vec<Type>> {
    let types = inferred(op)?;
    match op.def()?.infer {
        Some(_) => Some(types),
        None => Some(types.iter().map(|ty| with_element(ty, Type::index())).collect()),
    }
}

/// `reify_return_type_shapes(op)` becomes the reified shape of the result.
fn reified(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    if view.name() != "hlo_test_infer.reify_return_type_shapes" {
        return None;
    }
    let &[value] = view.operands() else { return None };
    let made = rw.defining_op(value)?.id();
    let shape = reify::result_shape(rw, made)?;
    rw.replace(op, &[shape]);
    Some(())
}
