//! `stablehlo.dynamic_iota`.

use super::prelude::*;

op! {
    /// `iota` of the shape in the vector `output_shape`.
    pub DynamicIotaOp, "stablehlo.dynamic_iota" {
        operands { output_shape: single STATIC_DIMENSION_TENSOR }
        results { result: single TENSOR }
        attributes { iota_dimension: required Int(64) }
        traits [NoMemoryEffect, ReadsOperands]
        rules include_str!("dynamic_iota.txt");
        hooks {
            format:
                "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` \
                 functional-type(operands, results)",
            verify: verify,
            refine: refine,
            to_static: to_static,
            reify: |rw, op| reify::given(rw, op, 0),
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    refine::by_operand(op, 0)
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::shape_operand(op, "dynamic_iota_c2", "output_shape", 0)?;
    let dimension = DynamicIotaOp(op).iota_dimension();
    check::is_dimension(op, "dynamic_iota_c1", "iota_dimension", dimension, rank(op.result_type(0)))
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dtype = prepare::storage_dtype(op.result_type(0))?;
    let dimension = prepare::to_usize(op, DynamicIotaOp(op).iota_dimension())?;
    let declared = prepare::declared(op);
    Ok(Primitive::Dynamic(Box::new(Dynamic::Iota { dtype, dimension, declared })))
}

/// Becomes `iota` if the result is static.
fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let ty = rw.op(op).result_type(0).clone();
    check::constant_ints(rw.op(op), 0)?;
    if !ty.as_tensor()?.has_static_shape() {
        return None;
    }
    let new = rw.make(super::IotaOp::DEF, []).attributes_of(op).results([ty]);
    rw.replace_with(op, new);
    Some(())
}

fn speculate(op: OpRef<'_>) -> Speculation {
    let known = speculation::last_are_constant(op, 1);
    Speculation::always_if(known || speculation::is_all_dynamic(op.result_type(0)))
}
