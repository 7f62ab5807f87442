//! `stablehlo.recv`.

use super::prelude::*;

op! {
    /// Receives tensors of the result types over a channel; the last result is a token.
    pub RecvOp, "stablehlo.recv" {
        operands { token: single TOKEN }
        results { results: variadic STATIC_TENSOR_OR_TOKEN }
        attributes {
            channel_handle: required Def(&CHANNEL_HANDLE),
            is_host_transfer: implied Bool => DefaultValue::Bool(false),
            source_target_pairs: optional IntElements(64),
        }
        rules include_str!("recv.txt");
        hooks {
            verify: verify,
            prepare: prepare,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::results_end_with_token(op, "recv_i1", "recv_i1")?;
    let labels = ["recv_c1", "recv_c2", "recv_c3", "recv_c4"];
    let view = RecvOp(op);
    check::source_target_pairs(op, labels, view.source_target_pairs())?;
    check::channel_type(op, "recv_c5", view.channel_handle(), view.is_host_transfer(), 3)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let view = RecvOp(op);
    let channel = channel_id(view.channel_handle());
    let pairs = prepare::pairs(op, channel, view.source_target_pairs())?;
    let host = view.is_host_transfer() || pairs.ids.is_empty();
    let zeros = op.result_types().filter(|ty| ty.as_tensor().is_some()).map(|ty| {
        let shape = ty.as_tensor().and_then(|t| t.static_shape()).unwrap_or_default();
        Ok((prepare::zeros(ty)?, shape))
    });
    let zeros = zeros.collect::<Result<_, EvalError>>()?;
    let pairs = if host { None } else { Some(pairs) };
    Ok(Primitive::Receive(primitives::Receive { channel, pairs, zeros }))
}
