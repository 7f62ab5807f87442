//! `stablehlo.broadcast`.

use super::prelude::*;

op! {
    /// `operand` repeated along new leading dimensions of sizes `broadcast_sizes`; deprecated in
    /// favour of `broadcast_in_dim`.
    pub BroadcastOp, "stablehlo.broadcast" {
        operands { operand: single TENSOR }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes { broadcast_sizes: required I64Array }
        traits [Pure]
        hooks {
            format:
                "$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` \
                 functional-type(operands, results)",
            infer: infer,
            reify: reify,
            prepare: prepare,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let sizes = BroadcastOp(op).broadcast_sizes();
    check::at_least(op, "broadcast_c1", "broadcast_sizes", sizes, 0)?;
    Ok(vec![Type::tensor([sizes, shape(operand)].concat(), operand.element_type().clone())])
}

/// New dimensions come first.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let new = BroadcastOp(rw.op(op)).broadcast_sizes().to_vec();
    let mut sizes: Vec<Value> = new.into_iter().map(|size| reify::index(rw, size)).collect();
    sizes.extend(reify::dims(rw, op, 0)?);
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Broadcast(primitives::Broadcast {
        sizes: prepare::usizes(op, BroadcastOp(op).broadcast_sizes())?,
    }))
}
