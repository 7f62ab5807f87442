//! `stablehlo.dynamic_broadcast_in_dim`.

use super::prelude::*;

op! {
    /// `broadcast_in_dim` to the shape that the vector `output_dimensions` holds.
    pub DynamicBroadcastInDimOp, "stablehlo.dynamic_broadcast_in_dim" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED, output_dimensions: single STATIC_DIMENSION_TENSOR }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes {
            broadcast_dimensions: required I64Array,
            known_expanding_dimensions: optional I64Array,
            known_nonexpanding_dimensions: optional I64Array,
        }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
