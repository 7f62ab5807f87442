//! `stablehlo.cholesky`.

use super::prelude::*;

op! {
    /// The Cholesky factor (lower or upper) of each matrix in the last two dimensions of `a`; the
    /// shape stays.
    pub CholeskyOp, "stablehlo.cholesky" {
        operands { a: single FLOAT_COMPLEX_OR_QUANTIZED_TENSOR }
        results { result: single FLOAT_COMPLEX_OR_QUANTIZED_TENSOR }
        attributes { lower: implied Bool => DefaultValue::Bool(false) }
        traits [NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("cholesky.txt");
        hooks {
            format:
                "$a (`,` `lower` `=` $lower^)? \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))",
            infer: infer,
            infer_label: "cholesky_c1",
            prepare: prepare,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let a = op.operand_type(0);
    let [.., rows, columns] = *shape(a) else {
        return Err(
            op.error("cholesky_c2", format!("a must have at least 2 dimensions; found {a}"))
        );
    };
    require(op, "cholesky_c3", compat::dims(rows, columns), || {
        format!("matrices in a must be square; found {a}")
    })?;
    infer::first_operand(op)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    prepare::with_floats(
        op,
        Primitive::Cholesky(primitives::Cholesky { lower: CholeskyOp(op).lower() }),
    )
}
