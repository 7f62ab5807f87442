//! `stablehlo.real`.

use super::prelude::*;

op! {
    /// Elementwise real part; the identity on floats. The shape stays.
    pub RealOp, "stablehlo.real" {
        operands { operand: single FLOAT_OR_COMPLEX_TENSOR }
        results { result: single FLOAT_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            prepare: Some(prepare::unary),
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
            infer: Some(infer::real_part),
            infer_label: "real_c2",
        }
    }
}
