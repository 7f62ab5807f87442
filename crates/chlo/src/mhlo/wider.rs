//! Ops of MHLO that accept more than the ops of StableHLO or CHLO with their name. They become the
//! latter where possible, and stay in MHLO otherwise.

use crate::constraints::TENSOR;
use crate::enums;
use crate::ragged_dot::{RAGGED_DOT_DIMENSION_NUMBERS, RaggedDotOp as ChloRaggedDotOp};
use hlo::attrs::{CHANNEL_HANDLE, ConvDims, REPLICA_GROUP_MESH_AXES};
use hlo::constraints::TENSOR_OR_PER_AXIS_QUANTIZED;
use hlo::enums::PRECISION;
use hlo::ops;
use mlir::ods::{OpDef, TypeConstraint};
use mlir::rewrite::Rewriter;
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpId, OpRef, Type, Verdict, op};

op! {
    /// As in StableHLO, or without `split_dimension`, `concat_dimension` and `split_count`: sends
    /// each operand to the process of the group that has its index.
    pub AllToAllOp, "mhlo.all_to_all" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            split_dimension: optional Int(64),
            concat_dimension: optional Int(64),
            split_count: optional Int(64),
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
        }
        hooks {
            verify: verify_all_to_all,
        }
    }
}

op! {
    /// As in StableHLO, or with dimensions that no dimension number names.
    pub ConvolutionOp, "mhlo.convolution" {
        operands { lhs: single TENSOR, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes {
            window_strides: optional I64Array,
            padding: optional IntElements(64),
            lhs_dilation: optional I64Array,
            rhs_dilation: optional I64Array,
            window_reversal: optional BoolArray,
            dimension_numbers: required Def(ConvDims),
            feature_group_count: required Positive(64),
            batch_group_count: required Positive(64),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
        }
        traits [NoMemoryEffect]
        hooks {
            format: ops::CONVOLUTION_FORMAT,
        }
    }
}

op! {
    /// As in StableHLO, or with a shape of unknown length.
    pub DynamicReshapeOp, "mhlo.dynamic_reshape" {
        operands { operand: single TENSOR, output_shape: single TypeConstraint::ANY }
        results { result: single TENSOR }
        traits [NoMemoryEffect]
        hooks {
            format: "operands attr-dict `:` functional-type(operands, results)",
            verify: verify_dynamic_reshape,
        }
    }
}

op! {
    /// As in CHLO, with the precisions of `dot_general`.
    pub RaggedDotOp, "mhlo.ragged_dot" {
        operands { lhs: single TENSOR, rhs: single TENSOR, group_sizes: single TENSOR }
        results { result: single TENSOR }
        attributes {
            ragged_dot_dimension_numbers: required Def(&RAGGED_DOT_DIMENSION_NUMBERS),
            precision_config: optional ArrayOf(&AnyOf(&[&Enum(&PRECISION), &Enum(&enums::PRECISION)])),
        }
        traits [Pure]
    }
}

/// Replaces one of these ops by its counterpart in StableHLO or CHLO. `None` if it has none.
pub(super) fn replace_wider(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let (successor, precision): (&'static OpDef, _) = if view.is(AllToAllOp::DEF) {
        if is_of_tuple(view) {
            return None;
        }
        (ops::AllToAllOp::DEF, None)
    } else if view.is(ConvolutionOp::DEF) {
        if has_unnamed_dimensions(view)? {
            return None;
        }
        (ops::ConvolutionOp::DEF, None)
    } else if view.is(DynamicReshapeOp::DEF) {
        if view.operand_types().nth(1)?.shape() == Some(&[DYNAMIC]) {
            return None;
        }
        (ops::DynamicReshapeOp::DEF, None)
    } else if view.is(RaggedDotOp::DEF) {
        (ChloRaggedDotOp::DEF, view.attr("precision_config").and_then(of_chlo))
    } else {
        return None;
    };
    let operands = view.operands().to_vec();
    let types: Vec<Type> = view.result_types().cloned().collect();
    let mut new = rw.make(successor, operands).attributes_of(op);
    if let Some(precision) = precision {
        new = new.attr("precision_config", precision);
    }
    let new = new.results(types);
    rw.replace_with(op, new);
    Some(())
}

/// True if the tensors of a convolution have more dimensions than the numbers of its attribute, all
/// of which name a different one.
pub(super) fn has_unnamed_dimensions(op: OpRef<'_>) -> Option<bool> {
    let dims = ConvDims::of(op.attr("dimension_numbers")?)?;
    // The third operand of `dynamic_conv` is its padding.
    let mut types = op.operand_types().take(2).chain(op.result_types()).map(|ty| ty.shape());
    let rank = types.next()??.len();
    let named = dims.input_spatial_dimensions.len() + 2;
    let is_subset = |first: i64, second: i64, spatial: &[i64]| {
        let mut all = [&[first, second], spatial].concat();
        all.sort_unstable();
        all.len() == named
            && all.windows(2).all(|pair| pair[0] < pair[1])
            && all.iter().all(|&d| usize::try_from(d).is_ok_and(|d| d < rank))
    };
    Some(
        rank > named
            && types.all(|shape| shape.is_some_and(|shape| shape.len() == rank))
            && is_subset(
                dims.input_batch_dimension,
                dims.input_feature_dimension,
                dims.input_spatial_dimensions,
            )
            && is_subset(
                dims.kernel_input_feature_dimension,
                dims.kernel_output_feature_dimension,
                dims.kernel_spatial_dimensions,
            )
            && is_subset(
                dims.output_batch_dimension,
                dims.output_feature_dimension,
                dims.output_spatial_dimensions,
            ),
    )
}

/// The precisions as attributes of CHLO.
fn of_chlo(precisions: &Attribute) -> Option<Attribute> {
    let of = |precision: &Attribute| match precision.as_enum(&PRECISION) {
        Some(value) => Attribute::enumeration(&enums::PRECISION, value),
        None => precision.clone(),
    };
    Some(Attribute::array(precisions.as_array()?.iter().map(of).collect()))
}

/// True if each operand as a whole is for another process.
fn is_of_tuple(op: OpRef<'_>) -> bool {
    ["split_dimension", "concat_dimension", "split_count"]
        .iter()
        .all(|name| op.attr(name).is_none())
}

fn verify_all_to_all(op: OpRef<'_>) -> Verdict {
    if op.operands().is_empty() || !op.operand_types().eq(op.result_types()) {
        let message = "an `all_to_all` of several operands has one result of the type of each";
        return Err(op.error("all_to_all", message));
    }
    Ok(())
}

fn verify_dynamic_reshape(op: OpRef<'_>) -> Verdict {
    match op.operand_types().nth(1).and_then(Type::shape) {
        Some([_]) => Ok(()),
        _ => Err(op.error("dynamic_reshape", "the shape must be a vector of sizes")),
    }
}
