//! `stablehlo.broadcast_in_dim`.

use super::prelude::*;

op! {
    /// `operand` with its dimensions placed at `broadcast_dimensions` of the result and repeated along the others and
    /// along those of size 1.
    pub BroadcastInDimOp, "stablehlo.broadcast_in_dim" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single STATIC_OR_BOUNDED_TENSOR }
        attributes { broadcast_dimensions: required I64Array }
        traits [NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
