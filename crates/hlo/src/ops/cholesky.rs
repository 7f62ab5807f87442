//! `stablehlo.cholesky`.

use super::prelude::*;

op! {
    /// The Cholesky factor (lower or upper) of each matrix in the last two dimensions of `a`; the shape stays.
    pub CholeskyOp, "stablehlo.cholesky" {
        operands { a: single FLOAT_COMPLEX_OR_QUANTIZED_TENSOR }
        results { result: single FLOAT_COMPLEX_OR_QUANTIZED_TENSOR }
        attributes { lower: implied Bool => DefaultValue::Bool(false) }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$a (`,` `lower` `=` $lower^)? \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($a), type($result))",
            ),
        }
    }
}
