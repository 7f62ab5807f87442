//! `stablehlo.optimization_barrier`.

use super::prelude::*;

op! {
    /// Returns its operands. Ops before the barrier are not merged or reordered with ops after it.
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
