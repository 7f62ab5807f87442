//! `stablehlo.create_token`.

use super::prelude::*;

op! {
    /// A new token; same as `after_all` without operands.
    pub CreateTokenOp, "stablehlo.create_token" {
        results { output: single TOKEN }
        traits [Pure]
        hooks {
            assembly: Assembly::Format("attr-dict `:` type(results)"),
            eval: Some(eval),
            infer: Some(infer::token),
        }
    }
}

fn eval(_: OpRef<'_>, _: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    Ok(vec![RuntimeValue::Token])
}
