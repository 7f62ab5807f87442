//! `stablehlo.optimization_barrier`.

use super::prelude::*;

op! {
    /// Gives its operands; what makes them is not merged or reordered with what uses the results.
    pub OptimizationBarrierOp, "stablehlo.optimization_barrier" {
        operands { operand: variadic TENSOR_OR_TOKEN }
        results { result: variadic TENSOR_OR_TOKEN }
        traits [Pure]
        hooks {
            prepare: Some(prepare),
            assembly: Assembly::Format(
                "attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?",
            ),
            infer: Some(infer::operand_types),
            infer_label: "optimization_barrier_c1",
        }
    }
}

fn prepare(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Identity)
}
