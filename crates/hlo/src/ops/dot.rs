//! `stablehlo.dot`.

use super::prelude::*;

op! {
    /// The product of two vectors, a matrix and a vector, or two matrices; deprecated in favour of `dot_general`.
    pub DotOp, "stablehlo.dot" {
        operands { lhs: single TENSOR, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes { precision_config: optional ArrayOf(&Enum(&PRECISION)) }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
