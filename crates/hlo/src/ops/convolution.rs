//! `stablehlo.convolution`.

use super::prelude::*;

op! {
    /// Dot products of windows of `lhs` with slices of the kernel `rhs`; `dimension_numbers` says which dimensions are
    /// batch, feature and spatial ones.
    pub ConvolutionOp, "stablehlo.convolution" {
        operands { lhs: single TENSOR, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes {
            window_strides: optional I64Array,
            padding: optional IntElements(64),
            lhs_dilation: optional I64Array,
            rhs_dilation: optional I64Array,
            window_reversal: optional BoolArray,
            dimension_numbers: required Def(&CONV_DIMENSION_NUMBERS),
            feature_group_count: required Int(64),
            batch_group_count: required Int(64),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
        }
        traits [NoMemoryEffect]
        hooks {
            assembly: Assembly::Format(
                "`(`operands`)` `dim_numbers` `=` \
                 custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=` `{` \
                 custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, \
                 $window_reversal) `}` \
                 attr-dict `:` functional-type(operands, results)",
            ),
        }
    }
}
