//! `stablehlo.iota`.

use super::prelude::*;

op! {
    /// Values that count up from zero along `iota_dimension` and repeat along the others.
    pub IotaOp, "stablehlo.iota" {
        results { output: single STATIC_INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR }
        attributes { iota_dimension: required Int(64) }
        traits [Pure]
        rules include_str!("iota.txt");
        hooks {
            format: "`dim` `=` $iota_dimension attr-dict `:` type($output)",
            verify: verify,
            prepare: prepare,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (dimension, output) = (IotaOp(op).iota_dimension(), op.result_type(0));
    require(op, "iota_c1", rank(output) > 0, || {
        format!("the result must have a dimension to count along; found the scalar {output}")
    })?;
    check::is_dimension(op, "iota_c1", "iota_dimension", dimension, rank(output))
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let shape = prepare::expect_static(op, 0)?;
    let dtype = prepare::storage_dtype(op.result_type(0))?;
    Ok(Primitive::Iota(primitives::Iota {
        dtype,
        shape,
        dimension: prepare::to_usize(op, IotaOp(op).iota_dimension())?,
    }))
}
