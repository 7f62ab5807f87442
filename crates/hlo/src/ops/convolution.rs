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
            eval: Some(eval),
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

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [lhs, rhs] = eval::tensors(operands)?;
    eval::refuse_quantized(op)?;
    let convolution = ConvolutionOp(op);
    let dims = convolution.dimension_numbers().and_then(ConvDims::of);
    let dims = dims.ok_or_else(|| eval::missing(op, "dimension_numbers"))?;
    let sizes = dims.kernel_spatial_dimensions.iter().map(|&d| rhs.shape().get(d as usize).map_or(0, |&s| s as i64));
    let window = eval::window_dims(
        &sizes.collect::<Vec<_>>(),
        convolution.window_strides(),
        convolution.padding(),
        convolution.lhs_dilation(),
        convolution.rhs_dilation(),
    )?;
    let reversal = convolution.window_reversal().and_then(|r| r.as_int_array());
    let reversal: Vec<bool> = reversal.map_or(vec![false; window.len()], |r| r.iter().map(|&b| b != 0).collect());
    let convolution = eval::Convolution {
        dims,
        window: &window,
        reversal: &reversal,
        feature_groups: eval::usize_attr(op, "feature_group_count")?,
        batch_groups: eval::usize_attr(op, "batch_group_count")?,
    };
    eval::one(convolution.eval(&lhs, &rhs, eval::storage_dtype(op.result_type(0))?)?)
}
