//! `stablehlo.bitcast_convert`.

use super::prelude::*;

op! {
    /// The bits of `operand` read as another element type. If the widths differ, the last dimension of the side of
    /// narrower elements makes up for it.
    pub BitcastConvertOp, "stablehlo.bitcast_convert" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        traits [NoMemoryEffect]
        hooks { assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)"), eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    eval::one(math::bitcast(&operand, eval::storage_dtype(op.result_type(0))?)?)
}
