//! `stablehlo.return`.

use super::prelude::*;

op! {
    /// Ends a region and gives its results.
    pub ReturnOp, "stablehlo.return" {
        operands { results: variadic ANY_VALUE }
        traits [Pure, Terminator, ReturnLike]
        hooks { assembly: Assembly::Format("$results attr-dict (`:` type($results)^)?") }
    }
}
