//! `stablehlo.pad`.

use super::prelude::*;

op! {
    /// `operand` with `padding_value` at the edges and between elements, as many a dimension as the three lists say;
    /// negative edges cut.
    pub PadOp, "stablehlo.pad" {
        operands { operand: single TENSOR, padding_value: single SCALAR_TENSOR }
        results { result: single TENSOR }
        attributes {
            edge_padding_low: required I64Array,
            edge_padding_high: required I64Array,
            interior_padding: required I64Array,
        }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` \
                 `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
