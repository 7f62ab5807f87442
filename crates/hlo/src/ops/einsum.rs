//! `stablehlo.einsum`.

use super::prelude::*;

op! {
    /// The sum of products of `lhs` and `rhs` given by `einsum_config` in Einstein notation;
    /// deprecated in favour of `dot_general`.
    pub EinsumOp, "stablehlo.einsum" {
        operands { lhs: single TENSOR, rhs: single TENSOR }
        results { result: single TENSOR }
        attributes { einsum_config: required String }
        traits [Pure]
        hooks {
            format:
                "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` \
                 functional-type(operands, results)",
            verify_strict: verify,
            prepare: prepare,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::einsum(op, EinsumOp(op).einsum_config())
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let config = EinsumOp(op).einsum_config().to_string();
    let dtype = prepare::expressed_dtype(op.result_type(0))?;
    let declared = prepare::declared(op);
    prepare::with_floats(op, Primitive::Einsum(primitives::Einsum { config, dtype, declared }))
}
