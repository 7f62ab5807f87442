//! `stablehlo.after_all`.

use super::prelude::*;

op! {
    /// A token that orders what follows it after all that gave the tokens `inputs`.
    pub AfterAllOp, "stablehlo.after_all" {
        operands { inputs: variadic TOKEN }
        results { result: single TOKEN }
        traits [Pure]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$inputs \
                 attr-dict `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))",
            ),
            infer: Some(infer::token),
        }
    }
}

fn eval(_: OpRef<'_>, _: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    Ok(vec![RuntimeValue::Token])
}
