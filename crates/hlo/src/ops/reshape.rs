//! `stablehlo.reshape`.

use super::prelude::*;
use mlir::types::num_elements;

op! {
    /// The elements of `operand` in row-major order under another shape.
    pub ReshapeOp, "stablehlo.reshape" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single STATIC_OR_BOUNDED_TENSOR }
        traits [NoMemoryEffect]
        rules include_str!("reshape.txt");
        hooks {
            format: "operands attr-dict `:` functional-type(operands, results)",
            verify: verify,
            prepare: prepare,
            speculate: speculation::static_operands,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::same_elements(op, "reshape_c1")?;
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    let sizes = num_elements(shape(operand)).zip(num_elements(shape(result)));
    require(op, "reshape_c2", sizes.is_none_or(|(a, b)| a == b), || {
        let (a, b) = sizes.unwrap_or_default();
        format!(
            "operand and result must have as many elements; {operand} has {a}, {result} has {b}"
        )
    })?;
    quantized::reshaped(op, "reshape_c1", "reshape_c3")
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Reshape(primitives::Reshape { shape: prepare::expect_static(op, 0)? }))
}
