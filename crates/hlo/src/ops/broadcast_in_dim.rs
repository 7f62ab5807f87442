//! `stablehlo.broadcast_in_dim`.

use super::prelude::*;

op! {
    /// `operand` with its dimensions placed at `broadcast_dimensions` of the result and repeated along the others and
    /// along those of size 1.
    pub BroadcastInDimOp, "stablehlo.broadcast_in_dim" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single STATIC_OR_BOUNDED_TENSOR }
        attributes { broadcast_dimensions: required I64Array }
        traits [NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let shape = eval::static_result_shape(op, 0);
    let shape = shape.ok_or_else(|| EvalError::new("broadcast_in_dim", "the result must be static"))?;
    let view = StridedView::dense(operand.shape())?.broadcast(&shape, &eval::usizes(op, "broadcast_dimensions")?)?;
    eval::one(operand.gather(&view)?)
}
