//! `stablehlo.get_dimension_size`.

use super::prelude::*;

op! {
    /// The size of one dimension: an `i32`.
    pub GetDimensionSizeOp, "stablehlo.get_dimension_size" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single I32_TENSOR }
        attributes { dimension: required NonNegative(64) }
        traits [Pure]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
            ),
            infer: Some(infer),
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let dimension = [integer(op.attr("dimension"))];
    check::in_range(
        op,
        "get_dimension_size_c1",
        "dimension",
        &dimension,
        rank(op.operand_type(0)),
    )?;
    Ok(vec![Type::tensor([], Type::i32())])
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let dimension = eval::usize_attr(op, "dimension")?;
    let size = operand.shape().get(dimension).and_then(|&size| i32::try_from(size).ok());
    let size = size.ok_or_else(|| {
        EvalError::new("get_dimension_size_c1", format!("no size of dimension {dimension}"))
    })?;
    eval::one(Tensor::scalar(size))
}
