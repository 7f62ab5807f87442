//! `stablehlo.unary_einsum`.

use super::prelude::*;

op! {
    /// The sum of `operand` that the Einstein notation `einsum_config` says; deprecated.
    pub UnaryEinsumOp, "stablehlo.unary_einsum" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { einsum_config: required String }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
