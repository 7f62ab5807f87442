//! `stablehlo.reshape`.

use super::prelude::*;

op! {
    /// The elements of `operand` in row-major order under another shape.
    pub ReshapeOp, "stablehlo.reshape" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single STATIC_OR_BOUNDED_TENSOR }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)"),
            eval: Some(eval),
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::same_elements(op, "reshape_c1")?;
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    let sizes = check::num_elements(shape(operand)).zip(check::num_elements(shape(result)));
    require(op, "reshape_c2", sizes.is_none_or(|(a, b)| a == b), || {
        let (a, b) = sizes.unwrap_or_default();
        format!(
            "operand and result must have as many elements; {operand} has {a}, {result} has {b}"
        )
    })?;
    quantized::reshaped(op, "reshape_c1", "reshape_c3")
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let shape = eval::static_result_shape(op, 0);
    let shape = shape.ok_or_else(|| EvalError::new("reshape", "the result must be static"))?;
    eval::one(operand.into_shape(shape)?)
}
