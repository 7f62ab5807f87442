//! `stablehlo.einsum`.

use super::prelude::*;

op! {
    /// The sum of products of `lhs` and `rhs` that the Einstein notation `einsum_config` says; deprecated in favour of
    /// `dot_general`.
    pub EinsumOp, "stablehlo.einsum" {
        operands { lhs: single TENSOR, rhs: single TENSOR }
        results { result: single TENSOR }
        attributes { einsum_config: required String }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
