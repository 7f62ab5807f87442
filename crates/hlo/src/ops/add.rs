//! `stablehlo.add`.

use super::prelude::*;

op! {
    /// Elementwise sum; logical OR of booleans. All of one shape.
    pub AddOp, "stablehlo.add" {
        operands { lhs: single TENSOR_OR_PER_AXIS_QUANTIZED, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        traits [Elementwise, NoMemoryEffect, SpeculatableIfAllInputsStatic, Commutative]
        hooks {
            eval: Some(eval::binary),
            assembly: Assembly::Format(
                "$lhs `,` $rhs attr-dict `:` \
                 custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))",
            ),
            infer: Some(infer),
            infer_label: "add_c1",
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

/// A per-axis and a per-tensor quantized operand make a per-axis quantized sum.
fn infer(op: OpRef<'_>) -> Inferred {
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    let (Some(l), Some(r)) = (quantized::quantized(lhs), quantized::quantized(rhs)) else {
        return infer::merged_operands(op);
    };
    require(op, "add_c3", l.storage == r.storage, || {
        format!("operands must have one storage type; found {lhs} and {rhs}")
    })?;
    require(op, "add_c4", l.expressed == r.expressed, || {
        format!("operands must express one type; found {lhs} and {rhs}")
    })?;
    let element = if quantized::axis(lhs).is_some() { lhs } else { rhs }.element_type().clone();
    let alike = [compat::with_element(lhs, element.clone()), compat::with_element(rhs, element)];
    let fits = compat::types(&alike[0], &alike[1]);
    let merged = compat::most_specific(alike.iter()).filter(|_| fits);
    let merged =
        merged.ok_or_else(|| op.error("add_c1", format!("operands must have one shape; found {lhs} and {rhs}")));
    Ok(vec![merged?])
}

fn verify(op: OpRef<'_>) -> Verdict {
    let result = op.result_type(0);
    for (label, operand) in [("add_c6", op.operand_type(0)), ("add_c7", op.operand_type(1))] {
        let axis = quantized::axis(operand);
        require(op, label, axis.is_none() || axis == quantized::axis(result), || {
            format!("operands and result must be quantized along one dimension; found {operand} and {result}")
        })?;
    }
    Ok(())
}
