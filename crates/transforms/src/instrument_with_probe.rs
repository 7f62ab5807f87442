//! `interpreter-instrument-with-probe`: adds probes, with which the interpreter writes the results
//! of all ops to files.

use hlo::ops::{AsyncStartOp, ConstantOp};
use mlir::attrs::{Attribute, LocationKind};
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::Rewriter;
use mlir::{OpRef, Type, TypeKind, Value};
use side_dialects::interpreter::ProbeOp;

/// Adds a probe after each result.
pub(crate) const PASS: Pass = Pass::on_modules(
    "interpreter-instrument-with-probe",
    "Add a probe after each op with tensor results, except constants",
    run,
)
.with_options(&[PassOption {
    name: "useDebugInfo",
    doc: "Name probes after locations",
    kind: OptionKind::Bool(false),
}]);

fn run(cx: &mut PassContext<'_>) {
    let named = cx.options.bool("useDebugInfo");
    let ops = cx.module.post_order(cx.root);
    let mut rw = Rewriter::new(cx.module, cx.options);
    let mut count = 0;
    for op in ops.into_iter().filter(|&op| op != cx.root) {
        // The body of an `async_start` is a single op.
        let alone = rw.op(op).parent().is_some_and(|parent| parent.is(AsyncStartOp::DEF));
        if alone || rw.op(op).is(ConstantOp::DEF) {
            continue;
        }
        let results: Vec<Value> = rw.op(op).results().filter(|&v| has_values(rw.ty(v))).collect();
        for value in results {
            count += 1;
            let id = if named { name(rw.op(op)) } else { None };
            let id = id.map_or_else(|| format!("probe{count}"), |name| format!("{name}.{count}"));
            rw.set_root(op);
            rw.after(op);
            let ty = rw.ty(value).clone();
            let probe = rw
                .make(ProbeOp::DEF, [value])
                .attr("probe_id", Attribute::string(id))
                .results([ty]);
            let probed = rw.op(probe).result(0);
            rw.module_mut().replace_uses_if(value, probed, |user| user != probe);
        }
    }
}

/// True for tensor types of static shape with numeric elements.
fn has_values(ty: &Type) -> bool {
    let number = |ty: &Type| {
        matches!(**ty, TypeKind::Integer { .. } | TypeKind::Float(_) | TypeKind::Complex(_))
    };
    ty.as_tensor().is_some_and(|tensor| tensor.has_static_shape() && number(&tensor.element))
}

/// The name of an op's location, up to an `@`.
fn name(op: OpRef<'_>) -> Option<String> {
    match op.location().as_location() {
        Some(LocationKind::Named { name, .. }) => {
            Some(name.split('@').next().unwrap_or("").to_string())
        }
        _ => None,
    }
}
