//! `stablehlo-legalize-qdq-to-quantized-op`: fuses an op between `uniform_dequantize` and
//! `uniform_quantize` into an op on quantized values.

use hlo::ops::{UniformDequantizeOp, UniformQuantizeOp};
use hlo::quantized::is_quantized;
use mlir::ir::OpParts;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::{PatternSet, RewritePattern};
use mlir::{OpRef, Value};

/// Fuses ops into ops on quantized values.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-legalize-qdq-to-quantized-op",
    "Replace ops between dequantization and quantization by ops on quantized values",
    run,
);

fn run(cx: &mut PassContext<'_>) {
    cx.rewrite_greedily(&mut PatternSet::new(&[PATTERNS]));
}

/// `quantize(f(dequantize(x), …)) = f(x, …)`
static PATTERNS: &[RewritePattern] =
    &[RewritePattern::new("quantized-op", UniformQuantizeOp::DEF, |rw, op| {
        let (quantize, module) = (rw.op(op), &**rw);
        let compute = module.defining_op(quantize.operand(0))?;
        let simple = compute.regions().is_empty()
            && compute.num_results() == 1
            && !compute.operands().is_empty();
        if !simple || compute.operand_types().any(is_quantized) {
            return None;
        }
        let quantized = |&v: &Value| {
            module.defining_op(v).and_then(UniformDequantizeOp::cast).map(|op| op.operand())
        };
        let operands = compute.operands().iter().map(quantized).collect::<Option<_>>()?;
        let parts = OpParts {
            operands,
            result_types: quantize.result_types().cloned().collect(),
            properties: compute.properties().into(),
            attributes: compute.attributes().clone(),
            ..OpParts::new(compute.op_name().clone(), compute.loc().clone())
        };
        let (compute, result) = (compute.id(), quantize.result(0));
        rw.after(compute);
        let new = rw.create(parts);
        let new = OpRef::result(rw.op(new), 0);
        rw.replace_uses(result, new);
        Some(())
    })];
