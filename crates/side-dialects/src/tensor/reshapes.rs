//! Casts and other views of the same elements.

use super::{ANY_TENSOR, INDEX, INDICES, RANKED, REASSOCIATION, fold, prepare};
use mlir::diag::counted;
use mlir::ods::Assembly;
use mlir::verify::have_compatible_shapes;
use mlir::{Diagnostics, OpRef, Type, op};

op! {
    /// Reinterprets the bits as elements of another type of the same width.
    pub BitcastOp, "tensor.bitcast" {
        operands { source: single ANY_TENSOR }
        results { dest: single ANY_TENSOR }
        traits [Pure, SameOperandsAndResultShape]
        hooks { prepare: Some(prepare::bitcast), assembly: Assembly::Format("$source attr-dict `:` type($source) `to` type($dest)") }
    }
}

op! {
    /// The same tensor with a more or less specific shape.
    pub CastOp, "tensor.cast" {
        operands { source: single ANY_TENSOR }
        results { dest: single ANY_TENSOR }
        traits [Pure]
        hooks { prepare: Some(prepare::cast), fold: Some(fold::cast),
            assembly: Assembly::Format("$source attr-dict `:` type($source) `to` type($dest)"),
            verify: Some(verify_cast),
            result_name: Some(|_| "cast".into()),
        }
    }
}

fn verify_cast(op: OpRef<'_>, errors: &mut Diagnostics) {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    if from.element_type() != to.element_type() || !have_compatible_shapes(from, to) {
        errors.push(op.error("cast", format!("{from} cannot be cast to {to}")));
    }
}

/// Checks the reassociation: each dimension of the type of higher rank belongs to one group, in
/// order, and there is one group for each dimension of the other type.
fn check_groups(
    op: OpRef<'_>,
    groups: Option<&[mlir::Attribute]>,
    wide: &Type,
    narrow: &Type,
    errors: &mut Diagnostics,
) {
    let (Some(wide), Some(narrow)) = (wide.shape(), narrow.shape()) else { return };
    let groups = groups.unwrap_or(&[]);
    let listed = groups.iter().flat_map(|g| g.as_array().unwrap_or(&[])).filter_map(|d| d.as_i64());
    let complete = groups.is_empty() || listed.eq((0..wide.len()).map(|d| d as i64));
    if groups.len() != narrow.len() || !complete {
        let message = format!(
            "`reassociation` must assign {}, in order, to {}",
            counted(wide.len(), "dimension"),
            counted(narrow.len(), "group")
        );
        errors.push(op.error("attribute", message));
    }
}

op! {
    /// Collapses groups of adjacent dimensions into one each.
    pub CollapseShapeOp, "tensor.collapse_shape" {
        operands { src: single RANKED }
        results { result: single RANKED }
        attributes { reassociation: required REASSOCIATION }
        traits [Pure]
        hooks { prepare: Some(prepare::regroup),
            assembly: Assembly::Format("$src $reassociation attr-dict `:` type($src) `into` type($result)"),
            verify: Some(|op, errors| {
                let groups = CollapseShapeOp(op).reassociation().and_then(|r| r.as_array());
                check_groups(op, groups, op.operand_type(0), op.result_type(0), errors);
            }),
            result_name: Some(|_| "collapsed".into()),
        }
    }
}

op! {
    /// Expands dimensions into groups of adjacent ones.
    pub ExpandShapeOp, "tensor.expand_shape" {
        operands { src: single RANKED, output_shape: variadic INDEX }
        results { result: single RANKED }
        attributes { reassociation: required REASSOCIATION, static_output_shape: required I64Array }
        traits [Pure]
        hooks { prepare: Some(prepare::regroup),
            assembly: Assembly::Format(
                "$src $reassociation `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape) attr-dict \
                 `:` type($src) `into` type($result)",
            ),
            verify: Some(|op, errors| {
                let groups = ExpandShapeOp(op).reassociation().and_then(|r| r.as_array());
                check_groups(op, groups, op.result_type(0), op.operand_type(0), errors);
            }),
            result_name: Some(|_| "expanded".into()),
        }
    }
}

op! {
    /// The same elements in a shape that a tensor lists.
    pub ReshapeOp, "tensor.reshape" {
        operands { source: single ANY_TENSOR, shape: single INDICES }
        results { result: single ANY_TENSOR }
        traits [Pure]
        hooks { prepare: Some(prepare::reshape),
            assembly: Assembly::Format("$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"),
            result_name: Some(|_| "reshape".into()),
        }
    }
}
