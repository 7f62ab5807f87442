//! `stablehlo.batch_norm_inference`.

use super::prelude::*;

op! {
    /// `operand` normalized along all dimensions but `feature_index` by given means and variances,
    /// then scaled and shifted.
    pub BatchNormInferenceOp, "stablehlo.batch_norm_inference" {
        operands {
            operand: single FLOAT_OR_QUANTIZED_TENSOR,
            scale: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            offset: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            mean: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            variance: single FLOAT_OR_QUANTIZED_1D_TENSOR,
        }
        results { result: single FLOAT_OR_QUANTIZED_TENSOR }
        attributes { epsilon: required Float(32), feature_index: required NonNegative(64) }
        traits [NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("batch_norm_inference.txt");
        hooks {
            verify: verify,
            infer: infer,
            infer_label: "batch_norm_inference_c7",
            prepare: prepare,
            speculate: speculation::static_operands,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::same_elements(op, "batch_norm_inference_c2")
}

fn infer(op: OpRef<'_>) -> Inferred {
    let features = [
        (1, "batch_norm_inference_c3"),
        (2, "batch_norm_inference_c4"),
        (3, "batch_norm_inference_c5"),
        (4, "batch_norm_inference_c6"),
    ];
    check::features(
        op,
        "batch_norm_inference_c1",
        BatchNormInferenceOp(op).feature_index(),
        &features,
    )?;
    Ok(vec![op.operand_type(0).clone()])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let view = BatchNormInferenceOp(op);
    prepare::batch_norm(op, BatchNormKind::Inference, view.epsilon(), view.feature_index())
}
