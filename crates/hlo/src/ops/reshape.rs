//! `stablehlo.reshape`.

use super::prelude::*;

op! {
    /// The elements of `operand` in row-major order under another shape.
    pub ReshapeOp, "stablehlo.reshape" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single STATIC_OR_BOUNDED_TENSOR }
        traits [NoMemoryEffect]
        hooks { assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)"), eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let shape = eval::static_result_shape(op, 0);
    let shape = shape.ok_or_else(|| EvalError::new("reshape", "the result must be static"))?;
    eval::one(operand.into_shape(shape)?)
}
