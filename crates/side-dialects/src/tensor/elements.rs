//! Construction of tensors, their elements and sizes.

use super::{ANY_TENSOR, INDEX, INDICES, RANKED, STATIC, UNRANKED_OR_NOT_SCALAR, fold, prepare};
use mlir::diag::counted;
use mlir::ods::{Assembly, TypeConstraint};
use mlir::types::DYNAMIC;
use mlir::{Diagnostics, OpRef, op};

/// Checks that there is one index for each dynamic dimension.
fn check_dynamic_sizes(op: OpRef<'_>, given: usize, errors: &mut Diagnostics) {
    let shape = op.result_type(0).shape().unwrap_or(&[]);
    let needed = shape.iter().filter(|&&d| d == DYNAMIC).count();
    if given != needed {
        let message = format!(
            "{} for the {} of {}",
            counted(given, "size"),
            counted(needed, "dynamic dimension"),
            op.result_type(0)
        );
        errors.push(op.error("operands", message));
    }
}

/// Checks that there is one index for each dimension of operand `tensor`.
fn check_indices(op: OpRef<'_>, tensor: usize, errors: &mut Diagnostics) {
    let ty = op.operand_type(tensor);
    let given = op.operands().len() - tensor - 1;
    if let Some(shape) = ty.shape().filter(|s| s.len() != given) {
        errors.push(op.error(
            "operands",
            format!(
                "the number of indices must be the rank of {ty}, {}; found {given}",
                shape.len()
            ),
        ));
    }
}

op! {
    /// The size of one dimension.
    pub DimOp, "tensor.dim" {
        operands { source: single UNRANKED_OR_NOT_SCALAR, index: single INDEX }
        results { result: single INDEX }
        traits [NoMemoryEffect]
        hooks { prepare: Some(prepare::dim), fold: Some(fold::dim),
            assembly: Assembly::Format("attr-dict $source `,` $index `:` type($source)"),
            result_name: Some(|_| "dim".into()),
        }
    }
}

op! {
    /// A tensor of unspecified elements.
    pub EmptyOp, "tensor.empty" {
        operands { dynamicSizes: variadic INDEX }
        results { result: single RANKED }
        traits [Pure]
        hooks { prepare: Some(prepare::empty),
            assembly: Assembly::Format("`(` $dynamicSizes `)` attr-dict `:` type($result)"),
            verify: Some(|op, errors| check_dynamic_sizes(op, op.operands().len(), errors)),
        }
    }
}

op! {
    /// One element.
    pub ExtractOp, "tensor.extract" {
        operands { tensor: single RANKED, indices: variadic INDEX }
        results { result: single TypeConstraint::ANY }
        traits [Pure]
        hooks { prepare: Some(prepare::extract), fold: Some(fold::extract),
            canonicalize: &[("extract-of-shape", fold::extract_of_shape)],
            assembly: Assembly::Format("$tensor `[` $indices `]` attr-dict `:` type($tensor)"),
            infer: Some(|op| Ok(vec![op.operand_type(0).element_type().clone()])),
            verify: Some(|op, errors| check_indices(op, 0, errors)),
            result_name: Some(|_| "extracted".into()),
        }
    }
}

op! {
    /// A tensor of those elements.
    pub FromElementsOp, "tensor.from_elements" {
        operands { elements: variadic TypeConstraint::ANY }
        results { result: single STATIC }
        traits [Pure]
        hooks { prepare: Some(prepare::from_elements), fold: Some(fold::evaluate),
            assembly: Assembly::Format("$elements attr-dict `:` type($result)"),
            verify: Some(verify_from_elements),
            result_name: Some(|_| "from_elements".into()),
        }
    }
}

fn verify_from_elements(op: OpRef<'_>, errors: &mut Diagnostics) {
    let result = op.result_type(0);
    let Some(count) = result.as_tensor().and_then(|t| t.num_elements()) else { return };
    if op.operands().len() != count {
        errors.push(op.error(
            "operands",
            format!("{} for {result}", counted(op.operands().len(), "element")),
        ));
    } else if let Some(other) = op.operand_types().find(|t| *t != result.element_type()) {
        errors.push(op.error(
            "operand-type",
            format!("an element has type {other}, but the result is {result}"),
        ));
    }
}

op! {
    /// Slices at positions that a tensor lists.
    pub GatherOp, "tensor.gather" {
        operands { source: single RANKED, indices: single INDICES }
        results { result: single RANKED }
        attributes { gather_dims: required I64Array, unique: optional Unit }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$source `[` $indices `]` `gather_dims` `(` $gather_dims `)` (`unique` $unique^)? attr-dict \
                 `:` functional-type(operands, results)",
            ),
            result_name: Some(|_| "gather".into()),
        }
    }
}

op! {
    /// A tensor whose elements the region computes from their indices.
    pub GenerateOp, "tensor.generate" {
        operands { dynamicExtents: variadic INDEX }
        results { result: single RANKED }
        regions { body: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("tensor.yield")]
        hooks { prepare: Some(prepare::generate),
            assembly: Assembly::Format("$dynamicExtents $body attr-dict `:` type($result)"),
            verify: Some(|op, errors| check_dynamic_sizes(op, op.operands().len(), errors)),
            verify_regions: Some(|op, errors| check_body(op, op.result_type(0), errors)),
            result_name: Some(|_| "generated".into()),
        }
    }
}

/// Checks the region that computes an element of a tensor of type `tensor` from its indices.
pub(super) fn check_body(op: OpRef<'_>, tensor: &mlir::Type, errors: &mut Diagnostics) {
    let module = op.module();
    let Some(block) = op.regions().first().and_then(|&r| module.entry(r)) else { return };
    let arguments = module.arguments(block);
    let rank = tensor.shape().map_or(0, <[i64]>::len);
    if arguments.len() != rank || arguments.iter().any(|&a| !module.ty(a).is_index()) {
        errors.push(op.error(
            "region",
            format!("the region must have {} of type index", counted(rank, "argument")),
        ));
        return;
    }
    let Some(last) = module.terminator(block) else { return };
    let element = tensor.element_type();
    if last.operand_types().next() != Some(element) {
        errors.push(
            last.error("terminator", format!("the region must yield an element of type {element}")),
        );
    }
}

op! {
    /// A tensor with one element replaced.
    pub InsertOp, "tensor.insert" {
        operands { scalar: single TypeConstraint::ANY, dest: single RANKED, indices: variadic INDEX }
        results { result: single RANKED }
        traits [Pure, AllTypesMatch(&["dest", "result"])]
        hooks { prepare: Some(prepare::insert), fold: Some(fold::evaluate),
            assembly: Assembly::Format("$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)"),
            verify: Some(|op, errors| check_indices(op, 1, errors)),
            result_name: Some(|_| "inserted".into()),
        }
    }
}

op! {
    /// The number of dimensions.
    pub RankOp, "tensor.rank" {
        operands { tensor: single ANY_TENSOR }
        results { result: single INDEX }
        traits [Pure]
        hooks { prepare: Some(prepare::rank), fold: Some(fold::rank),
            assembly: Assembly::Format("$tensor attr-dict `:` type($tensor)"),
            result_name: Some(|_| "rank".into()),
        }
    }
}

op! {
    /// A tensor with slices replaced at positions that a tensor lists.
    pub ScatterOp, "tensor.scatter" {
        operands { source: single RANKED, dest: single RANKED, indices: single INDICES }
        results { result: single RANKED }
        attributes { scatter_dims: required I64Array, unique: optional Unit }
        traits [Pure]
        hooks {
            assembly: Assembly::Format(
                "$source `into` $dest `[` $indices `]` `scatter_dims` `(` $scatter_dims `)` (`unique` $unique^)? attr-dict \
                 `:` functional-type(operands, results)",
            ),
            result_name: Some(|_| "scatter".into()),
        }
    }
}

op! {
    /// A tensor whose elements are all equal.
    pub SplatOp, "tensor.splat" {
        operands { input: single TypeConstraint::ANY, dynamicSizes: variadic INDEX }
        results { aggregate: single RANKED }
        traits [Pure]
        hooks { prepare: Some(prepare::splat), fold: Some(fold::evaluate),
            assembly: Assembly::Format("$input (`[` $dynamicSizes^ `]`)? attr-dict `:` type($aggregate)"),
            verify: Some(|op, errors| check_dynamic_sizes(op, op.operands().len() - 1, errors)),
            result_name: Some(|_| "splat".into()),
        }
    }
}

op! {
    /// Ends the region of `tensor.generate` or `tensor.pad` with an element.
    pub YieldOp, "tensor.yield" {
        operands { value: single TypeConstraint::ANY }
        traits [Pure, Terminator, ReturnLike, HasParent(&["tensor.generate", "tensor.pad"])]
        hooks { assembly: Assembly::Format("$value attr-dict `:` type($value)") }
    }
}
