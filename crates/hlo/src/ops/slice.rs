//! `stablehlo.slice`.

use super::prelude::*;

op! {
    /// The elements of `operand` from `start_indices` (inclusive) to `limit_indices` (exclusive) by
    /// `strides`, each with one entry per dimension.
    pub SliceOp, "stablehlo.slice" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes {
            start_indices: required I64Array,
            limit_indices: required I64Array,
            strides: required I64Array,
        }
        traits [NoMemoryEffect, ASYNC]
        rules include_str!("slice.txt");
        hooks {
            format:
                "$operand custom<SliceRanges>($start_indices, $limit_indices, $strides) \
                 attr-dict `:` functional-type(operands, results)",
            infer: infer,
            infer_label: "slice_c5",
            prepare: prepare,
            speculate: speculation::shaped_as_operand,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let view = SliceOp(op);
    let lists = [view.start_indices(), view.limit_indices(), view.strides()];
    for (name, list) in ["start_indices", "limit_indices", "strides"].into_iter().zip(lists) {
        check::count(op, "slice_c2", name, list.len(), rank(operand), "the rank of operand")?;
    }
    infer::one_sized(op, operand.element_type(), |operands| sliced_shape(op, operands[0], lists))
}

/// The shape of a slice of `operand` by starts, limits and strides, one of each per dimension.
///
/// # Errors
/// If a stride is not positive, or the slice is out of bounds.
pub(super) fn sliced_shape(
    op: OpRef<'_>,
    operand: &[i64],
    [starts, limits, strides]: [&[i64]; 3],
) -> Result<Vec<i64>, Diagnostic> {
    check::at_least(op, "slice_c4", "strides", strides, 1)?;
    let mut sizes = Vec::new();
    for (d, &size) in operand.iter().enumerate() {
        let (start, limit) = (starts[d], limits[d]);
        require(op, "slice_c3", size == DYNAMIC || limit <= size, || {
            format!("limit_indices has {limit} for dimension {d} of operand, which has size {size}")
        })?;
        require(op, "slice_c3", 0 <= start && start <= limit, || {
            format!(
                "start_indices has {start} for dimension {d}; it must be 0 to {limit}, the limit"
            )
        })?;
        // Start and limit are in order, so the difference cannot overflow.
        sizes.push((limit - start) / strides[d] + i64::from((limit - start) % strides[d] != 0));
    }
    Ok(sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let starts = prepare::usizes(op, SliceOp(op).start_indices())?;
    let limits = prepare::usizes(op, SliceOp(op).limit_indices())?;
    Ok(Primitive::Slice(primitives::Slice {
        starts,
        limits,
        strides: prepare::usizes(op, SliceOp(op).strides())?,
    }))
}
