//! `stablehlo-legalize-composite-to-call`: replaces composites by calls of their decompositions.

use hlo::ops::CompositeOp;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::conversion::{ConversionTarget, Legality};
use mlir::rewrite::{PatternSet, RewritePattern};
use mlir::{Attribute, OpRef, Type};
use side_dialects::func::CallOp;

/// Replaces composites by calls of their decompositions.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-legalize-composite-to-call",
    "Replace composites by calls of their decompositions",
    run,
)
.with_options(&[PassOption {
    name: "except",
    doc: "Names of composites to keep",
    kind: OptionKind::List,
}]);

fn run(cx: &mut PassContext<'_>) {
    let except = cx.options.list("except");
    let legality = |op: OpRef<'_>| match CompositeOp::cast(op) {
        Some(composite) if !except.iter().any(|kept| composite.name() == kept) => Legality::Illegal,
        _ => Legality::Legal,
    };
    cx.convert(
        &mut PatternSet::new(&[PATTERNS]),
        &ConversionTarget { legality: &legality, types: None },
    );
}

/// `composite "name" x {decomposition = @f} = call @f(x)`
static PATTERNS: &[RewritePattern] =
    &[RewritePattern::new("composite-to-call", CompositeOp::DEF, |rw, op| {
        let composite = CompositeOp::cast(rw.op(op))?;
        let callee = Attribute::symbol(composite.decomposition());
        let inputs = composite.inputs().to_vec();
        let results: Vec<Type> = composite.result_types().cloned().collect();
        let call = rw.make(CallOp::DEF, inputs).attr("callee", callee).results(results);
        rw.replace_with(op, call);
        Some(())
    })];
