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
            assembly: Assembly::Format(
                "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
