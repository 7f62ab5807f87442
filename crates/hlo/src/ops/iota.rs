//! `stablehlo.iota`.

use super::prelude::*;

op! {
    /// Values that count up from zero along `iota_dimension` and repeat along the others.
    pub IotaOp, "stablehlo.iota" {
        results { output: single STATIC_INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR }
        attributes { iota_dimension: required Int(64) }
        traits [Pure]
        hooks { assembly: Assembly::Format("`dim` `=` $iota_dimension attr-dict `:` type($output)") }
    }
}
