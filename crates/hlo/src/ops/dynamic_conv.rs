//! `stablehlo.dynamic_conv`.

use super::prelude::*;

op! {
    /// `convolution` with the padding that the matrix `padding` holds.
    pub DynamicConvOp, "stablehlo.dynamic_conv" {
        operands { lhs: single TENSOR, rhs: single TENSOR, padding: single STATIC_2D_INT_TENSOR }
        results { result: single TENSOR }
        attributes {
            window_strides: optional I64Array,
            lhs_dilation: optional I64Array,
            rhs_dilation: optional I64Array,
            window_reversal: optional BoolArray,
            dimension_numbers: required Def(&CONV_DIMENSION_NUMBERS),
            feature_group_count: required Int(64),
            batch_group_count: required Int(64),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
        }
        traits [NoMemoryEffect]
    }
}
