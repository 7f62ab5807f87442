//! `stablehlo.convert`.

use super::prelude::*;

op! {
    /// Elementwise conversion to another element type; the shape stays.
    pub ConvertOp, "stablehlo.convert" {
        operands { operand: single NON_QUANTIZED_TENSOR }
        results { result: single NON_QUANTIZED_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
            refine: Some(refine::shape_of_operand),
            verify: Some(|op, out| out.extend(check::same_shapes(op, "convert_c1").err())),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    eval::one(math::convert(operand, eval::storage_dtype(op.result_type(0))?)?)
}
