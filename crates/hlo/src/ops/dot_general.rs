//! `stablehlo.dot_general`.

use super::prelude::*;

op! {
    /// Dot products of slices of `lhs` and `rhs` along the contracting dimensions, for each index of the batching
    /// dimensions. The result has the batching dimensions, then the others of `lhs`, then those of `rhs`.
    pub DotGeneralOp, "stablehlo.dot_general" {
        operands { lhs: single TENSOR, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes {
            dot_dimension_numbers: required Def(&DOT_DIMENSION_NUMBERS),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
            algorithm: optional Def(&DOT_ALGORITHM),
        }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) `` \
                 custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm) \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [lhs, rhs] = eval::tensors(operands)?;
    let dims = DotGeneralOp(op).dot_dimension_numbers().and_then(DotDims::of);
    let dims = dims.ok_or_else(|| eval::missing(op, "dot_dimension_numbers"))?;
    eval::refuse_quantized(op)?;
    eval::one(eval::dot_general(&lhs, &rhs, dims, eval::storage_dtype(op.result_type(0))?)?)
}
