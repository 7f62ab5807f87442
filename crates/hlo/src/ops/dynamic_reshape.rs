//! `stablehlo.dynamic_reshape`.

use super::prelude::*;
use mlir::diag::counted;
use mlir::types::num_elements;

op! {
    /// `reshape` to the shape in the vector `output_shape`.
    pub DynamicReshapeOp, "stablehlo.dynamic_reshape" {
        operands {
            operand: single TENSOR_OR_PER_AXIS_QUANTIZED,
            output_shape: single STATIC_DIMENSION_TENSOR,
        }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        traits [NoMemoryEffect, ReadsOperands]
        rules include_str!("dynamic_reshape.txt");
        hooks {
            format: "operands attr-dict `:` functional-type(operands, results)",
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
    require(op, "dynamic_reshape_c1", compat::elements(operand, result), || {
        format!(
            "operand and result must have compatible element types; found {operand} and {result}"
        )
    })?;
    let sizes = num_elements(shape(operand)).zip(num_elements(shape(result)));
    require(op, "dynamic_reshape_c2", sizes.is_none_or(|(a, b)| a == b), || {
        format!("operand and result must have as many elements; found {operand} and {result}")
    })?;
    check::shape_operand(op, "dynamic_reshape_c4", "output_shape", 1)?;
    let wanted = check::constant_ints(op, 1).and_then(|sizes| num_elements(&sizes));
    let sizes = num_elements(shape(operand)).zip(wanted);
    require(op, "dynamic_reshape_c2", sizes.is_none_or(|(a, b)| a == b), || {
        let (a, b) = sizes.unwrap_or_default();
        format!("operand has {}, but output_shape requires {b}", counted(a, "element"))
    })?;
    quantized::reshaped(op, "dynamic_reshape_c1", "dynamic_reshape_c3")
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Dynamic(Box::new(Dynamic::Reshape { declared: prepare::declared(op) })))
}

/// Becomes `reshape` if the result is static.
fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (operand, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
    check::constant_ints(rw.op(op), 1)?;
    if !ty.as_tensor()?.has_static_shape() {
        return None;
    }
    let new = rw.make(super::ReshapeOp::DEF, [operand]).attributes_of(op).results([ty]);
    rw.replace_with(op, new);
    Some(())
}

fn speculate(op: OpRef<'_>) -> Speculation {
    Speculation::always_if(
        speculation::has_static_operands(op) && speculation::last_are_constant(op, 1),
    )
}
