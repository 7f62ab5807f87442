//! `stablehlo.broadcast_in_dim`.

use super::prelude::*;

op! {
    /// `operand` with its dimensions placed at `broadcast_dimensions` of the result and repeated
    /// along the others and along those of size 1.
    pub BroadcastInDimOp, "stablehlo.broadcast_in_dim" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single STATIC_OR_BOUNDED_TENSOR }
        attributes { broadcast_dimensions: required I64Array }
        traits [NoMemoryEffect]
        rules include_str!("broadcast_in_dim.txt");
        hooks {
            format:
                "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` \
                 functional-type(operands, results)",
            verify: verify,
            prepare: prepare,
            speculate: speculation::static_operands,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::same_elements(op, "broadcast_in_dim_c1")?;
    let labels = [
        "broadcast_in_dim_c2",
        "broadcast_in_dim_c3",
        "broadcast_in_dim_c4",
        "broadcast_in_dim_c5",
    ];
    verify_dimensions(op, labels)?;
    quantized::same_scales(op, "broadcast_in_dim_c1", false)?;
    quantized::broadcast(op, "broadcast_in_dim_c6", BroadcastInDimOp(op).broadcast_dimensions())
}

/// Checks that each operand dimension maps to its own result dimension, and has size 1 or the size
/// of that. Labels: number, range, uniqueness, sizes.
pub(super) fn verify_dimensions(op: OpRef<'_>, labels: [&'static str; 4]) -> Verdict {
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    let dimensions = BroadcastInDimOp(op).broadcast_dimensions();
    check::count(
        op,
        labels[0],
        "broadcast_dimensions",
        dimensions.len(),
        rank(operand),
        "the rank of operand",
    )?;
    check::in_range(op, labels[1], "broadcast_dimensions", dimensions, rank(result))?;
    check::distinct(op, labels[2], "broadcast_dimensions", dimensions)?;
    for (d, (&size, &to)) in shape(operand).iter().zip(dimensions).enumerate() {
        let target = shape(result)[to as usize];
        require(op, labels[3], size == 1 || compat::dims(size, target), || {
            format!(
                "dimension {d} of the operand has size {size}; it must be 1 or {target}, the size of dimension {to} of the result"
            )
        })?;
    }
    Ok(())
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let shape = prepare::expect_static(op, 0)?;
    let dimensions = prepare::usizes(op, BroadcastInDimOp(op).broadcast_dimensions())?;
    Ok(Primitive::BroadcastInDim(primitives::BroadcastInDim { shape, dimensions }))
}
