//! `stablehlo.unary_einsum`.

use super::prelude::*;

op! {
    /// The sum of `operand` given by `einsum_config` in Einstein notation; deprecated.
    pub UnaryEinsumOp, "stablehlo.unary_einsum" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { einsum_config: required String }
        traits [Pure]
        hooks {
            format:
                "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, \
                 results)",
            verify_strict: verify,
            prepare: prepare,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::einsum(op, UnaryEinsumOp(op).einsum_config())
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let config = UnaryEinsumOp(op).einsum_config().to_string();
    let dtype = prepare::expressed_dtype(op.result_type(0))?;
    let declared = prepare::declared(op);
    prepare::with_floats(op, Primitive::Einsum(primitives::Einsum { config, dtype, declared }))
}
