//! `stablehlo.dynamic_conv`.

use super::convolution::{Attributes, convolution, refine_convolution, verify_convolution};
use super::prelude::*;
use crate::window::WindowAttrs;

op! {
    /// `convolution` with the padding in the matrix `padding`.
    pub DynamicConvOp, "stablehlo.dynamic_conv" {
        operands { lhs: single TENSOR, rhs: single TENSOR, padding: single STATIC_2D_INT_TENSOR }
        results { result: single TENSOR }
        attributes {
            window_strides: optional I64Array,
            lhs_dilation: optional I64Array,
            rhs_dilation: optional I64Array,
            window_reversal: optional BoolArray,
            dimension_numbers: required Def(ConvDims),
            feature_group_count: required Positive(64),
            batch_group_count: required Positive(64),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
        }
        traits [NoMemoryEffect, ReadsOperands]
        rules include_str!("dynamic_conv.txt");
        hooks {
            verify: verify,
            verify_strict: verify_strict,
            refine: refine,
            to_static: to_static,
            prepare: prepare,
            speculate: speculate,
        }
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
    verify_convolution(op, &attributes(op, None))
}

/// Checks the result against a constant padding, too, at which upstream's verifier does not look.
fn verify_strict(op: OpRef<'_>) -> Verdict {
    verify_convolution(op, &attributes(op, constant_padding(op).as_ref()))
}

fn attributes<'m>(op: OpRef<'m>, padding: Option<&'m Attribute>) -> Attributes<'m> {
    let view = DynamicConvOp(op);
    Attributes {
        labels: &LABELS,
        dims: view.dimension_numbers(),
        window: WindowAttrs {
            strides: view.window_strides(),
            padding,
            base_dilations: view.lhs_dilation(),
            window_dilations: view.rhs_dilation(),
        },
        reversal: view.window_reversal(),
        feature_groups: view.feature_group_count(),
        batch_groups: view.batch_group_count(),
        precision: view.precision_config(),
    }
}

/// The padding as the attribute of a convolution, if it is constant.
fn constant_padding(op: OpRef<'_>) -> Option<Attribute> {
    let sizes = shape(op.operand_type(2));
    Attribute::i64_elements(sizes, &check::constant_ints(op, 2)?)
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    refine_convolution(op, &attributes(op, Some(&constant_padding(op)?)))
}

/// Becomes `convolution` if the padding is constant.
fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let padding = constant_padding(view)?;
    let (operands, ty) = (view.operands()[..2].to_vec(), view.result_type(0).clone());
    let new = rw
        .make(super::ConvolutionOp::DEF, operands)
        .attributes_of(op)
        .attr("padding", padding)
        .results([ty]);
    rw.replace_with(op, new);
    Some(())
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let convolution = convolution(op, &attributes(op, None))?;
    let dynamic = Primitive::Dynamic(Box::new(Dynamic::Convolution(convolution)));
    prepare::with_floats(op, dynamic)
}

fn speculate(op: OpRef<'_>) -> Speculation {
    Speculation::always_if(
        speculation::has_static_operands(op) && speculation::last_are_constant(op, 1),
    )
}
