//! `stablehlo.convert`.

use super::prelude::*;

op! {
    /// Elementwise conversion to another element type; the shape stays.
    pub ConvertOp, "stablehlo.convert" {
        operands { operand: single NON_QUANTIZED_TENSOR }
        results { result: single NON_QUANTIZED_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
        }
    }
}
