//! `hlo-test-broadcast`: broadcasts values with NumPy's rules, for tests.
//!
//! `"hlo_test_broadcast.numpy_broadcast"(%x, …)` becomes a custom call of the broadcast values,
//! unless their shapes are incompatible.

use crate::chlo_legalize::broadcast;
use hlo::ops::CustomCallOp;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};
use mlir::{Attribute, OpId, Type, Value};

/// Makes broadcasts of values explicit.
pub(crate) const PASS: Pass =
    Pass::on_functions("hlo-test-broadcast", "Broadcast values with NumPy's rules, for tests", run);

fn run(cx: &mut PassContext<'_>) {
    cx.rewrite_greedily(&mut PatternSet::new(&[&[RewritePattern::any(
        "numpy-broadcast",
        numpy_broadcast,
    )]]));
}

fn numpy_broadcast(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    if view.name() != "hlo_test_broadcast.numpy_broadcast" {
        return None;
    }
    let results: Vec<Type> = view.result_types().cloned().collect();
    let operands = view.operands().to_vec();
    let sizes = operands.iter().map(|&value| broadcast::sizes(rw, value));
    let sizes = sizes.reduce(|a, b| broadcast::common_sizes(&a?, &b?))??;
    let broadcast = operands.iter().map(|&value| broadcast::broadcast_to(rw, value, &sizes));
    let broadcast: Vec<Value> = broadcast.collect::<Option<_>>()?;
    let call = rw
        .make(CustomCallOp::DEF, broadcast)
        .attr("call_target_name", Attribute::string("numpy_broadcasted"));
    let call = call.attr("has_side_effect", Attribute::bool(true)).results(results);
    rw.replace_with(op, call);
    Some(())
}
