//! `stablehlo.get_dimension_size`.

use super::prelude::*;

op! {
    /// The size of one dimension: an `i32`.
    pub GetDimensionSizeOp, "stablehlo.get_dimension_size" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single I32_TENSOR }
        attributes { dimension: required NonNegative(64) }
        traits [Pure]
        rules include_str!("get_dimension_size.txt");
        hooks {
            format:
                "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, \
                 results)",
            infer: infer,
            prepare: prepare,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let dimension = GetDimensionSizeOp(op).dimension();
    let rank = rank(op.operand_type(0));
    check::is_dimension(op, "get_dimension_size_c1", "dimension", dimension, rank)?;
    Ok(vec![Type::tensor([], Type::i32())])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::DimensionSize(primitives::DimensionSize {
        dimension: prepare::to_usize(op, GetDimensionSizeOp(op).dimension())?,
    }))
}
