//! `stablehlo.send`.

use super::prelude::*;

op! {
    /// Sends `inputs` over a channel; the result is a token.
    pub SendOp, "stablehlo.send" {
        operands { inputs: variadic TENSOR_OR_PER_AXIS_QUANTIZED, token: single TOKEN }
        results { result: single TOKEN }
        attributes {
            channel_handle: required Def(&CHANNEL_HANDLE),
            is_host_transfer: implied Bool => DefaultValue::Bool(false),
            source_target_pairs: optional IntElements(64),
        }
        rules include_str!("send.txt");
        hooks {
            verify: verify,
            infer: infer::token,
            prepare: prepare,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let labels = ["send_c1", "send_c2", "send_c3", "send_c4"];
    let view = SendOp(op);
    check::source_target_pairs(op, labels, view.source_target_pairs())?;
    check::channel_type(op, "send_c5", view.channel_handle(), view.is_host_transfer(), 2)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let view = SendOp(op);
    let channel = channel_id(view.channel_handle());
    let pairs = prepare::pairs(op, channel, view.source_target_pairs())?;
    let host = view.is_host_transfer() || pairs.ids.is_empty();
    let pairs = if host { None } else { Some(pairs) };
    Ok(Primitive::Send(primitives::Send { channel, pairs }))
}
