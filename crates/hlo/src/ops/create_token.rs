//! `stablehlo.create_token`.

use super::prelude::*;

op! {
    /// A new token; same as `after_all` without operands.
    pub CreateTokenOp, "stablehlo.create_token" {
        results { output: single TOKEN }
        traits [Pure]
        hooks {
            assembly: Assembly::Format("attr-dict `:` type(results)"),
            prepare: Some(prepare),
            infer: Some(infer::token),
        }
    }
}

fn prepare(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Token)
}
