//! `stablehlo.fft`.

use super::prelude::*;

op! {
    /// The discrete Fourier transform, of 1 to 3 last dimensions of lengths `fft_length`, forwards or backwards,
    /// complex or real.
    pub FftOp, "stablehlo.fft" {
        operands { operand: single FLOAT_OR_COMPLEX_TENSOR }
        results { result: single FLOAT_OR_COMPLEX_TENSOR }
        attributes { fft_type: required Enum(&FFT_TYPE), fft_length: required I64Array }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "$operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
