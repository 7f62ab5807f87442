//! `stablehlo.dynamic_broadcast_in_dim`.

use super::prelude::*;

op! {
    /// `broadcast_in_dim` to the shape in the vector `output_dimensions`.
    pub DynamicBroadcastInDimOp, "stablehlo.dynamic_broadcast_in_dim" {
        operands {
            operand: single TENSOR_OR_PER_AXIS_QUANTIZED,
            output_dimensions: single STATIC_DIMENSION_TENSOR,
        }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes {
            broadcast_dimensions: required I64Array,
            known_expanding_dimensions: optional I64Array,
            known_nonexpanding_dimensions: optional I64Array,
        }
        traits [NoMemoryEffect, ReadsOperands]
        rules include_str!("dynamic_broadcast_in_dim.txt");
        hooks {
            format:
                "$operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions \
                 attr-dict `:` functional-type(operands, results)",
            verify: verify,
            refine: refine,
            to_static: to_static,
            reify: |rw, op| reify::given(rw, op, 1),
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    refine::by_operand(op, 1)
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    require(op, "dynamic_broadcast_in_dim_c1", compat::elements(operand, result), || {
        format!(
            "operand and result must have compatible element types; found {operand} and {result}"
        )
    })?;
    super::broadcast_in_dim::verify_dimensions(
        op,
        [
            "dynamic_broadcast_in_dim_c2",
            "dynamic_broadcast_in_dim_c3",
            "dynamic_broadcast_in_dim_c4",
            "dynamic_broadcast_in_dim_c5",
        ],
    )?;
    quantized::same_scales(op, "dynamic_broadcast_in_dim_c1", false)?;
    let view = DynamicBroadcastInDimOp(op);
    let dimensions = view.broadcast_dimensions();
    quantized::broadcast(op, "dynamic_broadcast_in_dim_c6", dimensions)?;
    check::shape_operand(op, "dynamic_broadcast_in_dim_c7", "output_dimensions", 1)?;
    if let Some(sizes) = check::constant_ints(op, 1) {
        for (d, (&size, &to)) in shape(operand).iter().zip(dimensions).enumerate() {
            let target = sizes.get(to as usize).copied().unwrap_or(DYNAMIC);
            require(
                op,
                "dynamic_broadcast_in_dim_c5",
                size == 1 || compat::dims(size, target),
                || {
                    format!(
                        "dimension {d} of the operand has size {size}; it must be 1 or {target}, entry {to} of output_dimensions"
                    )
                },
            )?;
        }
    }
    let expanding = view.known_expanding_dimensions().unwrap_or(&[]);
    let others = view.known_nonexpanding_dimensions().unwrap_or(&[]);
    check::distinct_together(
        op,
        "dynamic_broadcast_in_dim_c8",
        ("known_expanding_dimensions", expanding),
        ("known_nonexpanding_dimensions", others),
    )?;
    let n = rank(operand);
    check::in_range(op, "dynamic_broadcast_in_dim_c9", "known_expanding_dimensions", expanding, n)?;
    check::in_range(op, "dynamic_broadcast_in_dim_c10", "known_nonexpanding_dimensions", others, n)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dimensions = prepare::usizes(op, DynamicBroadcastInDimOp(op).broadcast_dimensions())?;
    let declared = prepare::declared(op);
    Ok(Primitive::Dynamic(Box::new(Dynamic::BroadcastInDim { dimensions, declared })))
}

/// Becomes `broadcast_in_dim` if the result is static.
fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    check::constant_ints(view, 1)?;
    let (operand, ty) = (view.operand(0), view.result_type(0).clone());
    if !rw.ty(operand).as_tensor()?.has_static_shape() || !ty.as_tensor()?.has_static_shape() {
        return None;
    }
    let new = rw.make(super::BroadcastInDimOp::DEF, [operand]).attributes_of(op).results([ty]);
    rw.replace_with(op, new);
    Some(())
}

/// The sizes must be constants, or the operand a single element.
fn speculate(op: OpRef<'_>) -> Speculation {
    let operand = op.operand_type(0);
    let single = shape(operand).iter().all(|&size| size == 1);
    Speculation::always_if(
        !shape(operand).contains(&DYNAMIC)
            && (check::constant(op, 1).is_some()
                || single && speculation::is_all_dynamic(op.result_type(0))),
    )
}
