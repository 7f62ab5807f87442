//! `stablehlo.optimization_barrier`.

use super::prelude::*;

op! {
    /// Gives its operands; what makes them is not merged or reordered with what uses the results.
    pub OptimizationBarrierOp, "stablehlo.optimization_barrier" {
        operands { operand: variadic TENSOR_OR_TOKEN }
        results { result: variadic TENSOR_OR_TOKEN }
        traits [Pure]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?",
            ),
            infer: Some(infer::operand_types),
            infer_label: "optimization_barrier_c1",
        }
    }
}

fn eval(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    Ok(operands)
}
