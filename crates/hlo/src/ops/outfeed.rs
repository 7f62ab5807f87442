//! `stablehlo.outfeed`.

use super::prelude::*;

op! {
    /// Writes `inputs` to the outfeed of the device; the result orders what follows.
    pub OutfeedOp, "stablehlo.outfeed" {
        operands { inputs: variadic TENSOR_OR_PER_AXIS_QUANTIZED, token: single TOKEN }
        results { result: single TOKEN }
        attributes { outfeed_config: default String => DefaultValue::String("") }
        hooks { eval: Some(eval), infer: Some(infer::token) }
    }
}

fn eval(_: OpRef<'_>, mut operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    // The token comes last.
    operands.pop();
    env.world()?.outfeed(operands)?;
    Ok(vec![RuntimeValue::Token])
}
