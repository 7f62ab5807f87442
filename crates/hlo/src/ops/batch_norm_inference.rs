//! `stablehlo.batch_norm_inference`.

use super::prelude::*;

op! {
    /// `operand` normalized along all dimensions but `feature_index` by given means and variances, then scaled and
    /// shifted.
    pub BatchNormInferenceOp, "stablehlo.batch_norm_inference" {
        operands {
            operand: single FLOAT_OR_QUANTIZED_TENSOR,
            scale: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            offset: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            mean: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            variance: single FLOAT_OR_QUANTIZED_1D_TENSOR,
        }
        results { result: single FLOAT_OR_QUANTIZED_TENSOR }
        attributes { epsilon: required Float(32), feature_index: required Int(64) }
        traits [NoMemoryEffect, SpeculatableIfAllInputsStatic]
    }
}
