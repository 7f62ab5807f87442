//! `stablehlo.clamp`.

use super::prelude::*;

op! {
    /// Elementwise limitation of `operand` to at least `min` and at most `max`, each of the same shape or
    /// 0-dimensional.
    pub ClampOp, "stablehlo.clamp" {
        operands { min: single TENSOR, operand: single TENSOR, max: single TENSOR }
        results { result: single TENSOR }
        traits [Elementwise, NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$min `,` $operand `,` $max \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))",
            ),
        }
    }
}

fn eval(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [min, operand, max] = eval::tensors(operands)?;
    eval::one(math::clamp(&min, operand, &max)?)
}
