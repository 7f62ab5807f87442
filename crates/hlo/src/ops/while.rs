//! `stablehlo.while`.

use super::prelude::*;

op! {
    /// The last values of a loop that starts from `operand` and replaces the values by those that `body` returns for as
    /// long as `cond` returns true. Both regions take the values as arguments.
    pub WhileOp, "stablehlo.while" {
        operands { operand: variadic ANY_TENSOR_TOKEN_OR_BUFFER }
        results { results: variadic ANY_TENSOR_TOKEN_OR_BUFFER }
        regions { cond: one, body: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        hooks { argument_name: Some(|_, _, _| Some("iterArg".to_string())) }
    }
}
