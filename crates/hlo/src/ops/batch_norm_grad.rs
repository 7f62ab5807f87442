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
        attributes { epsilon: required Float(32), feature_index: required NonNegative(64) }
        traits [NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("batch_norm_grad.txt");
        hooks {
            verify: verify,
            infer: infer,
            infer_label: "batch_norm_grad_c3",
            prepare: prepare,
            speculate: speculation::static_operands,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::same_elements(op, "batch_norm_grad_c2")
}

fn infer(op: OpRef<'_>) -> Inferred {
    let (operand, grad_output) = (op.operand_type(0), op.operand_type(4));
    check::has_shape(op, "batch_norm_grad_c3", "grad_output", shape(grad_output), shape(operand))?;
    let feature = check::features(
        op,
        "batch_norm_grad_c1",
        BatchNormGradOp(op).feature_index(),
        &[(1, "batch_norm_grad_c5"), (2, "batch_norm_grad_c4"), (3, "batch_norm_grad_c4")],
    )?;
    Ok(vec![operand.clone(), feature.clone(), feature])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let view = BatchNormGradOp(op);
    prepare::batch_norm(op, BatchNormKind::Grad, view.epsilon(), view.feature_index())
}
