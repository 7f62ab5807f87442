//! `stablehlo.transpose`.

use super::prelude::*;

op! {
    /// `operand` with its dimensions in the order `permutation`: dimension `i` of the result is
    /// dimension `permutation[i]` of the operand.
    pub TransposeOp, "stablehlo.transpose" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes { permutation: required I64Array }
        traits [NoMemoryEffect]
        rules include_str!("transpose.txt");
        hooks {
            format:
                "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, \
                 results)",
            verify: verify,
            infer: infer,
            infer_label: "transpose_c3",
            reify: reify,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    quantized::same_scales(op, "transpose_c1", true)?;
    let (Some(from), Some(to)) =
        (quantized::axis(op.operand_type(0)), quantized::axis(op.result_type(0)))
    else {
        return Ok(());
    };
    let permutation = TransposeOp(op).permutation();
    require(op, "transpose_c4", permutation.get(to) == Some(&(from as i64)), || {
        format!(
            "the quantized dimension {from} of the operand must become dimension {to} of the result"
        )
    })
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let permutation = TransposeOp(op).permutation();
    let n = rank(operand);
    check::count(op, "transpose_c2", "permutation", permutation.len(), n, "the rank of operand")?;
    check::in_range(op, "transpose_c2", "permutation", permutation, n)?;
    check::distinct(op, "transpose_c2", "permutation", permutation)?;
    let permuted =
        |list: &[i64]| -> Vec<i64> { permutation.iter().map(|&d| list[d as usize]).collect() };
    let known = operand.as_tensor().and_then(|t| t.encoding.as_ref()).and_then(bounds);
    let encoding = known.filter(|b| b.len() == n).map(|b| type_extensions(permuted(b)));
    Ok(vec![Type::encoded_tensor(
        permuted(shape(operand)),
        operand.element_type().clone(),
        encoding,
    )])
}

/// The sizes in the order of the permutation.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let permutation = TransposeOp(rw.op(op)).permutation().to_vec();
    let sizes = reify::dims(rw, op, 0)?;
    let permuted = permutation.into_iter().map(|d| sizes.get(usize::try_from(d).ok()?).copied());
    let permuted = permuted.collect::<Option<Vec<_>>>()?;
    reify::vector(rw, op, permuted)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Transpose(primitives::Transpose {
        permutation: prepare::usizes(op, TransposeOp(op).permutation())?,
    }))
}

fn speculate(op: OpRef<'_>) -> Speculation {
    let mut pairs = (0..).zip(TransposeOp(op).permutation());
    Speculation::always_if(pairs.all(|(to, &from)| speculation::follows(op, to, 0, from)))
}
