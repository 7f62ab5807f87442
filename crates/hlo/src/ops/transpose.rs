//! `stablehlo.transpose`.

use super::prelude::*;

op! {
    /// `operand` with its dimensions in the order `permutation`: dimension `i` of the result is dimension
    /// `permutation[i]` of the operand.
    pub TransposeOp, "stablehlo.transpose" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes { permutation: required I64Array }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let view = StridedView::dense(operand.shape())?.permute(&eval::usizes(op, "permutation")?)?;
    eval::one(operand.gather(&view)?)
}
