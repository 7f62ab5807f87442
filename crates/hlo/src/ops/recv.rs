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
        hooks { eval: Some(eval), verify: Some(|op, out| out.extend(verify(op).err())) }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::results_end_with_token(op, "recv_i1", "recv_i1")?;
    check::source_target_pairs(
        op,
        ["recv_c1", "recv_c2", "recv_c3", "recv_c4"],
        op.attr("source_target_pairs"),
    )?;
    check::channel_type(op, "recv_c5", 3)
}

fn eval(op: OpRef<'_>, _: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let world = env.world()?;
    let (me, grid, id) = (world.process(), world.grid(), collective::channel(op));
    let pairs = collective::source_target_pairs(op, me, grid)?;
    let host = flag(op.attr_or_default("is_host_transfer").as_deref()) || pairs.is_empty();
    let between = pairs.into_iter().find(|&(_, target)| target == me);
    let mut values = match (host, between) {
        (true, _) => world.receive(op, Channel { id, between: None })?,
        (false, Some(pair)) => world.receive(op, Channel { id, between: Some(pair) })?,
        // Nobody sends to this process.
        (false, None) => {
            let zeros = |ty: &Type| {
                let shape = ty.as_tensor().and_then(|t| t.static_shape()).unwrap_or_default();
                Ok(collective::zeros(ty, &shape)?.into())
            };
            op.result_types()
                .filter(|ty| ty.as_tensor().is_some())
                .map(zeros)
                .collect::<Result<_, EvalError>>()?
        }
    };
    collective::expect_results(op, &values)?;
    values.push(RuntimeValue::Token);
    Ok(values)
}
