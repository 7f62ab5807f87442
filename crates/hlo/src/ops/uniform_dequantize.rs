//! `stablehlo.uniform_dequantize`.

use super::prelude::*;

op! {
    /// Elementwise conversion of quantized values to the floats that they stand for; the shape stays.
    pub UniformDequantizeOp, "stablehlo.uniform_dequantize" {
        operands { operand: single QUANTIZED_TENSOR }
        results { result: single FLOAT_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
        }
    }
}
