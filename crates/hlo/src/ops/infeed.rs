//! `stablehlo.infeed`.

use super::prelude::*;

op! {
    /// Reads tensors of the result types from the infeed of the device; the last result is a token.
    pub InfeedOp, "stablehlo.infeed" {
        operands { token: single TOKEN }
        results { results: variadic STATIC_TENSOR_OR_TOKEN }
        attributes { infeed_config: default String => DefaultValue::String(""), layout: optional ArrayOf(&Any) }
    }
}
