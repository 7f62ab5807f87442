//! `stablehlo.constant`.

use super::prelude::*;

op! {
    /// The tensor that the attribute `value` holds.
    pub ConstantOp, "stablehlo.constant" {
        results { output: single STATIC_TENSOR }
        attributes { value: required Elements }
        traits [ConstantLike, Pure]
    }
}
