//! `stablehlo-legalize-quantized-op-to-qdq`: replaces an op on quantized values by the op on floats
//! between `uniform_dequantize` and `uniform_quantize`.

use hlo::ops::*;
use hlo::quantized::EXPRESSED;
use hlo::{compat, quantized};
use mlir::ir::OpParts;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter, Root};
use mlir::{OpId, Type, TypeKind, Value};

/// Replaces quantized ops by float ops.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-legalize-quantized-op-to-qdq",
    "Replace ops on quantized values by ops on floats between dequantization and quantization",
    run,
);

fn run(cx: &mut PassContext<'_>) {
    let root = Root::Trait(EXPRESSED);
    let pattern =
        RewritePattern { name: "around-floats", root, benefit: 1, rewrite: around_floats };
    cx.rewrite_greedily(&mut PatternSet::new(&[&[pattern]]));
}

/// The type with the expressed type as its element type.
pub(crate) fn expressed(ty: &Type) -> Type {
    match quantized::quantized(ty) {
        Some(view) => compat::with_element(ty, view.expressed.clone()),
        None => ty.clone(),
    }
}

/// True for tensors of quantized elements.
fn is_quantized(ty: &Type) -> bool {
    quantized::is_quantized(ty)
        && matches!(&**ty, TypeKind::RankedTensor(_) | TypeKind::UnrankedTensor(_))
}

/// `f(x, …) = quantize(f(dequantize(x), …))`
fn around_floats(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    if !view.operand_types().chain(view.result_types()).any(is_quantized) {
        return None;
    }
    let declared: Vec<Type> = view.result_types().cloned().collect();
    let (name, loc) = (view.op_name().clone(), view.loc().clone());
    let (properties, attributes) = (view.properties().into(), view.attributes().clone());
    let operands = view.operands().to_vec();
    let dequantized = |rw: &mut Rewriter<'_>, v: Value| match is_quantized(rw.ty(v)) {
        true => {
            let ty = expressed(rw.ty(v));
            rw.make(UniformDequantizeOp::DEF, [v]).result(ty)
        }
        false => v,
    };
    let operands = operands.into_iter().map(|v| dequantized(rw, v)).collect();
    let result_types = declared.iter().map(expressed).collect();
    let new = rw.create(OpParts {
        operands,
        result_types,
        properties,
        attributes,
        ..OpParts::new(name, loc)
    });
    let results: Vec<Value> = rw.op(new).results().collect();
    let quantized = |rw: &mut Rewriter<'_>, v: Value, ty: Type| match is_quantized(&ty) {
        true => rw.make(UniformQuantizeOp::DEF, [v]).result(ty),
        false => v,
    };
    let values: Vec<Value> =
        results.into_iter().zip(declared).map(|(v, ty)| quantized(rw, v, ty)).collect();
    rw.replace(op, &values);
    Some(())
}
