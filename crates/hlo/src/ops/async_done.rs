//! `stablehlo.async_done`.

use super::prelude::*;

op! {
    /// Waits for a started operation and gives its results.
    pub AsyncDoneOp, "stablehlo.async_done" {
        operands { operand: single FUTURE_VALUE }
        results { result: single TENSOR }
    }
}
