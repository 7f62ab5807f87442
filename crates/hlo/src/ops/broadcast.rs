//! `stablehlo.broadcast`.

use super::prelude::*;
use numerics::shape::StridedView;

op! {
    /// `operand` repeated along new leading dimensions of sizes `broadcast_sizes`; deprecated in
    /// favour of `broadcast_in_dim`.
    pub BroadcastOp, "stablehlo.broadcast" {
        operands { operand: single TENSOR }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes { broadcast_sizes: required I64Array }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)",
            ),
            eval: Some(eval),
            infer: Some(infer),
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let sizes = ints(op.attr("broadcast_sizes"));
    check::at_least(op, "broadcast_c1", "broadcast_sizes", sizes, 0)?;
    Ok(vec![Type::tensor([sizes, shape(operand)].concat(), operand.element_type().clone())])
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let sizes = eval::usizes(op, "broadcast_sizes")?;
    let shape = [&sizes, operand.shape()].concat();
    let dimensions: Vec<usize> = (sizes.len()..shape.len()).collect();
    let view = StridedView::dense(operand.shape())?.broadcast(&shape, &dimensions)?;
    eval::one(operand.gather(&view)?)
}
