//! `stablehlo.async_start`.

use super::prelude::*;

op! {
    /// Starts a collective operation in `body`; the result stands for its pending results.
    pub AsyncStartOp, "stablehlo.async_start" {
        operands { operands: variadic TENSOR }
        results { result: single FUTURE_VALUE }
        regions { body: one }
        traits [IsolatedFromAbove, SingleBlock, ImplicitTerminator("stablehlo.return")]
    }
}
