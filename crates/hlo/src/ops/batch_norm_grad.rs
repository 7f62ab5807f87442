//! `stablehlo.batch_norm_grad`.

use super::prelude::*;

op! {
    /// Gradients of `batch_norm_training` with respect to its operand, scale and offset.
    pub BatchNormGradOp, "stablehlo.batch_norm_grad" {
        operands {
            operand: single FLOAT_OR_QUANTIZED_TENSOR,
            scale: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            mean: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            variance: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            grad_output: single FLOAT_OR_QUANTIZED_TENSOR,
        }
        results {
            grad_operand: single FLOAT_OR_QUANTIZED_TENSOR,
            grad_scale: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            grad_offset: single FLOAT_OR_QUANTIZED_1D_TENSOR,
        }
        attributes { epsilon: required Float(32), feature_index: required Int(64) }
        traits [NoMemoryEffect, SpeculatableIfAllInputsStatic]
    }
}
