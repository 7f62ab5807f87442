//! `stablehlo.dot`.

use super::prelude::*;

op! {
    /// The product of two vectors, a matrix and a vector, or two matrices; deprecated in favour of
    /// `dot_general`.
    pub DotOp, "stablehlo.dot" {
        operands { lhs: single TENSOR, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes { precision_config: optional ArrayOf(&Enum(&PRECISION)) }
        traits [Pure, quantized::EXPRESSED]
        hooks {
            format:
                "$lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) \
                 attr-dict `:` functional-type(operands, results)",
            verify: verify,
            refine: refine,
            prepare: prepare,
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    refine::sized(op, |operands| Some(result_shape(operands[0], operands[1])))
}

/// Checks vectors and matrices; the last dimension of lhs and the first of rhs are contracted.
fn verify(op: OpRef<'_>) -> Verdict {
    check::precision_config(op, "dot_precision", DotOp(op).precision_config())?;
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    let (l, r) = (shape(lhs), shape(rhs));
    let fits = matches!((l.len(), r.len()), (1 | 2, 1 | 2)) && compat::dims(l[l.len() - 1], r[0]);
    require(op, "dot_shapes", fits, || {
        format!(
            "lhs and rhs must be vectors or matrices whose inner dimensions agree; found {lhs} and {rhs}"
        )
    })?;
    check::has_shape(op, "dot_shapes", "the result", shape(op.result_type(0)), &result_shape(l, r))
}

/// The dimensions that are not contracted. Both operands have rank 1 or 2.
fn result_shape(lhs: &[i64], rhs: &[i64]) -> Vec<i64> {
    [&lhs[..lhs.len().saturating_sub(1)], rhs.get(1..).unwrap_or(&[])].concat()
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dtype = prepare::expressed_dtype(op.result_type(0))?;
    prepare::with_floats(op, Primitive::Dot(primitives::Dot { dims: None, dtype }))
}
