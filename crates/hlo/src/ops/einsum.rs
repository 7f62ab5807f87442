//! `stablehlo.einsum`.

use super::prelude::*;
use crate::eval::quantize::{around, expressed_dtype};

op! {
    /// The sum of products of `lhs` and `rhs` that the Einstein notation `einsum_config` says;
    /// deprecated in favour of `dot_general`.
    pub EinsumOp, "stablehlo.einsum" {
        operands { lhs: single TENSOR, rhs: single TENSOR }
        results { result: single TENSOR }
        attributes { einsum_config: required String }
        traits [Pure]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let config = EinsumOp(op)
        .einsum_config()
        .and_then(Attribute::as_str)
        .ok_or_else(|| eval::missing(op, "einsum_config"))?;
    let dtype = expressed_dtype(op.result_type(0))?;
    around(op, operands, |operands| {
        let result = eval::einsum(config, operands, dtype)?;
        eval::fits_result(op, result.shape())?;
        Ok(vec![result])
    })
}
