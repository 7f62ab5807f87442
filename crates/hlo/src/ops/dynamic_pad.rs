//! `stablehlo.dynamic_pad`.

use super::prelude::*;

op! {
    /// `pad` by the amounts that three vectors hold.
    pub DynamicPadOp, "stablehlo.dynamic_pad" {
        operands {
            operand: single TENSOR,
            padding_value: single SCALAR_TENSOR,
            edge_padding_low: single STATIC_DIMENSION_TENSOR,
            edge_padding_high: single STATIC_DIMENSION_TENSOR,
            interior_padding: single STATIC_DIMENSION_TENSOR,
        }
        results { result: single TENSOR }
        traits [NoMemoryEffect]
        hooks { assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)") }
    }
}
