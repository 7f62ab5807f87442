//! `stablehlo.dynamic_iota`.

use super::prelude::*;

op! {
    /// `iota` of the shape that the vector `output_shape` holds.
    pub DynamicIotaOp, "stablehlo.dynamic_iota" {
        operands { output_shape: single STATIC_DIMENSION_TENSOR }
        results { result: single TENSOR }
        attributes { iota_dimension: required Int(64) }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)",
            ),
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::shape_operand(op, "dynamic_iota_c2", "output_shape", 0)?;
    let dimension = [integer(op.attr("iota_dimension"))];
    check::in_range(op, "dynamic_iota_c1", "iota_dimension", &dimension, rank(op.result_type(0)))
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [output_shape] = eval::tensors(operands)?;
    let shape = eval::runtime_shape(op, &output_shape)?;
    let dtype = eval::storage_dtype(op.result_type(0))?;
    eval::one(eval::iota(&shape, dtype, eval::usize_attr(op, "iota_dimension")?)?)
}
