//! `stablehlo.infeed`.

use super::prelude::*;

op! {
    /// Reads tensors of the result types from the infeed of the device; the last result is a token.
    pub InfeedOp, "stablehlo.infeed" {
        operands { token: single TOKEN }
        results { results: variadic STATIC_TENSOR_OR_TOKEN }
        attributes { infeed_config: default String => DefaultValue::String(""), layout: optional ArrayOf(&Any) }
        hooks { verify: Some(|op, out| out.extend(verify(op).err())) }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    require(op, "infeed_c1", op.num_results() > 0, || "there must be at least one result; found none".to_string())?;
    check::results_end_with_token(op, "infeed_c2", "infeed_c3")
}
