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
        hooks { eval: Some(eval), verify: Some(|op, out| out.extend(verify(op).err())) }
    }
}

const LABELS: [&str; 34] = [
    "dynamic_conv_c1",
    "dynamic_conv_c2",
    "dynamic_conv_c3",
    "dynamic_conv_c4",
    "dynamic_conv_c5",
    "dynamic_conv_c6",
    "dynamic_conv_c7",
    "dynamic_conv_c8",
    "dynamic_conv_c9",
    "dynamic_conv_c10",
    "dynamic_conv_c11",
    "dynamic_conv_c12",
    "dynamic_conv_c13",
    "dynamic_conv_c14",
    "dynamic_conv_c15",
    "dynamic_conv_c16",
    "dynamic_conv_c17",
    "dynamic_conv_c18",
    "dynamic_conv_c19",
    "dynamic_conv_c20",
    "dynamic_conv_c21",
    "dynamic_conv_c22",
    "dynamic_conv_c23",
    "dynamic_conv_c24",
    "dynamic_conv_c25",
    "dynamic_conv_c26",
    "dynamic_conv_c27",
    "dynamic_conv_c28",
    "dynamic_conv_c29",
    "dynamic_conv_c30",
    "dynamic_conv_c31",
    "dynamic_conv_c32",
    "dynamic_conv_c33",
    "dynamic_conv_c34",
];

fn verify(op: OpRef<'_>) -> Verdict {
    let spatial = rank(op.operand_type(0)).saturating_sub(2) as i64;
    check::has_shape(op, "dynamic_conv_c4", "padding", shape(op.operand_type(2)), &[spatial, 2])?;
    let padding = check::constant(op, 2).filter(|p| *p.ty().element_type() == Type::i64());
    super::convolution::verify_convolution(op, padding, &LABELS)
}

fn eval(op: OpRef<'_>, mut operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [padding] = eval::tensors(operands.split_off(operands.len().min(2)))?;
    let padding = Attribute::from_tensor(&math::convert(padding, numerics::DType::I64)?);
    super::convolution::eval_convolution(op, operands, Some(&padding))
}
