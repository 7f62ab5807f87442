//! `stablehlo.real_dynamic_slice`.

use super::prelude::*;

op! {
    /// `slice` by the start indices, limit indices and strides that three vectors hold.
    pub RealDynamicSliceOp, "stablehlo.real_dynamic_slice" {
        operands {
            operand: single TENSOR,
            start_indices: single DIMENSION_TENSOR,
            limit_indices: single DIMENSION_TENSOR,
            strides: single DIMENSION_TENSOR,
        }
        results { result: single TENSOR }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)"),
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    require(op, "real_dynamic_slice_types", compat::elements(operand, result), || {
        format!("operand and result must have one element type; found {operand} and {result}")
    })?;
    check::count(
        op,
        "real_dynamic_slice_shapes",
        "the shape of the result",
        rank(result),
        rank(operand),
        "the rank of operand",
    )?;
    for (i, name) in [(1, "start_indices"), (2, "limit_indices"), (3, "strides")] {
        check::has_type(op, "real_dynamic_slice_types", name, op.operand_type(i), op.operand_type(1))?;
        let required = [rank(operand) as i64];
        check::has_shape(op, "real_dynamic_slice_shapes", name, shape(op.operand_type(i)), &required)?;
    }
    Ok(())
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand, starts, limits, strides] = eval::tensors(operands)?;
    let (starts, limits) = (eval::sizes(&starts)?, eval::sizes(&limits)?);
    let result = eval::slice(&operand, &starts, &limits, &eval::sizes(&strides)?)?;
    eval::fits_result(op, result.shape())?;
    eval::one(result)
}
