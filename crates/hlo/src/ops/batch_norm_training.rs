//! `stablehlo.batch_norm_training`.

use super::prelude::*;

op! {
    /// `operand` normalized along all dimensions but `feature_index`, then scaled and shifted; with
    /// the means and variances.
    pub BatchNormTrainingOp, "stablehlo.batch_norm_training" {
        operands {
            operand: single FLOAT_OR_QUANTIZED_TENSOR,
            scale: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            offset: single FLOAT_OR_QUANTIZED_1D_TENSOR,
        }
        results {
            output: single FLOAT_OR_QUANTIZED_TENSOR,
            batch_mean: single FLOAT_OR_QUANTIZED_1D_TENSOR,
            batch_var: single FLOAT_OR_QUANTIZED_1D_TENSOR,
        }
        attributes { epsilon: required Float(32), feature_index: required NonNegative(64) }
        traits [NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("batch_norm_training.txt");
        hooks {
            verify: verify,
            infer: infer,
            infer_label: "batch_norm_training_c7",
            prepare: prepare,
            speculate: speculation::static_operands,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::same_elements(op, "batch_norm_training_c2")
}

fn infer(op: OpRef<'_>) -> Inferred {
    let features = [(1, "batch_norm_training_c3"), (2, "batch_norm_training_c4")];
    let feature = check::features(
        op,
        "batch_norm_training_c1",
        BatchNormTrainingOp(op).feature_index(),
        &features,
    )?;
    Ok(vec![op.operand_type(0).clone(), feature.clone(), feature])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let view = BatchNormTrainingOp(op);
    prepare::batch_norm(op, BatchNormKind::Training, view.epsilon(), view.feature_index())
}
