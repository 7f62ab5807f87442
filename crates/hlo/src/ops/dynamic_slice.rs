//! `stablehlo.dynamic_slice`.

use super::prelude::*;

op! {
    /// The slice of `operand` of shape `slice_sizes` that starts at `start_indices`, clamped so
    /// that the slice is in bounds.
    pub DynamicSliceOp, "stablehlo.dynamic_slice" {
        operands { operand: single TENSOR, start_indices: variadic SCALAR_INT_TENSOR }
        results { result: single TENSOR }
        attributes { slice_sizes: required I64Array }
        traits [Pure, ASYNC]
        rules include_str!("dynamic_slice.txt");
        hooks {
            format:
                "$operand `,` (custom<VariadicOperandWithAttribute>($start_indices)^)? `sizes` `=` $slice_sizes \
                 attr-dict `:` functional-type(operands, results)",
            infer: infer,
            infer_label: "dynamic_slice_c5",
            prepare: prepare,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let sizes = DynamicSliceOp(op).slice_sizes();
    let of = "the rank of operand";
    check::count(
        op,
        "dynamic_slice_c2",
        "start_indices",
        op.operands().len() - 1,
        rank(operand),
        of,
    )?;
    check::count(op, "dynamic_slice_c2", "slice_sizes", sizes.len(), rank(operand), of)?;
    check::same_index_types(op, "dynamic_slice_c3", 1)?;
    check::sizes_fit(op, "dynamic_slice_c4", "slice_sizes", sizes, shape(operand))?;
    Ok(vec![Type::tensor(sizes, operand.element_type().clone())])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::DynamicSlice(primitives::DynamicSlice {
        sizes: prepare::usizes(op, DynamicSliceOp(op).slice_sizes())?,
    }))
}
