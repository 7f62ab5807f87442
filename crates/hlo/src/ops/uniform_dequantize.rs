//! `stablehlo.uniform_dequantize`.

use super::prelude::*;
use crate::eval::quantize::around;

op! {
    /// Elementwise conversion of quantized values to the floats that they stand for; the shape
    /// stays.
    pub UniformDequantizeOp, "stablehlo.uniform_dequantize" {
        operands { operand: single QUANTIZED_TENSOR }
        results { result: single FLOAT_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
            infer: Some(infer),
            infer_label: "uniform_dequantize_c2",
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let expressed =
        quantized::quantized(operand).map_or(operand.element_type(), |view| view.expressed);
    Ok(vec![compat::with_element(operand, expressed.clone())])
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    around(op, operands, Ok)
}
