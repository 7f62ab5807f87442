//! `stablehlo.set_dimension_size`.

use super::prelude::*;

op! {
    /// `operand` with one dimension made dynamic, with the size in the scalar `size`. A dimension
    /// may grow, up to its bound: no specification says which elements it then has at its end. Here
    /// they are zeros; in XLA, the contents of its memory, such as functions of the elements
    /// before the dimension shrank.
    pub SetDimensionSizeOp, "stablehlo.set_dimension_size" {
        operands { operand: single TENSOR, size: single I32_TENSOR }
        results { result: single TENSOR }
        attributes { dimension: required NonNegative(64) }
        traits [NoMemoryEffect, ReadsOperands]
        hooks {
            format:
                "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` \
                 functional-type(operands, results)",
            infer: infer,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let dimension = SetDimensionSizeOp(op).dimension();
    check::is_dimension(op, "set_dimension_size_c1", "dimension", dimension, rank(operand))?;
    check::scalar(op, "set_dimension_size_i2", "size", 1)?;
    let (d, mut sizes) = (dimension as usize, shape(operand).to_vec());
    let mut limits = bounds_of(operand).map_or_else(|| vec![DYNAMIC; sizes.len()], <[i64]>::to_vec);
    if sizes[d] != DYNAMIC {
        limits[d] = sizes[d];
    }
    sizes[d] = DYNAMIC;
    // A constant size equal to the bound makes the dimension static.
    if limits[d] != DYNAMIC && check::constant_ints(op, 1).is_some_and(|c| c == [limits[d]]) {
        (sizes[d], limits[d]) = (limits[d], DYNAMIC);
    }
    let encoding = limits.iter().any(|&b| b != DYNAMIC).then(|| type_extensions(limits));
    Ok(vec![Type::encoded_tensor(sizes, operand.element_type().clone(), encoding)])
}

fn bounds_of(ty: &Type) -> Option<&[i64]> {
    bounds(ty.as_tensor()?.encoding.as_ref()?)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dimension = prepare::to_usize(op, SetDimensionSizeOp(op).dimension())?;
    let operand = op.operand_type(0);
    let stated = operand.shape().and_then(|sizes| sizes.get(dimension).copied());
    // The bound of a static dimension is its size.
    let bound = match stated.filter(|&size| size != DYNAMIC) {
        Some(size) => Some(size),
        None => bounds_of(operand).and_then(|bounds| bounds.get(dimension).copied()),
    };
    let bound = bound.and_then(|bound| usize::try_from(bound).ok());
    Ok(Primitive::SetDimensionSize(primitives::SetDimensionSize {
        dimension,
        bound,
        declared: prepare::declared(op),
        fits: fits(op),
    }))
}

/// True if the size is a constant that fits static types of operand and result.
fn fits(op: OpRef<'_>) -> bool {
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    let (Some(sizes), Some(found)) = (operand.shape(), result.shape()) else { return false };
    let Some(&[size]) = check::constant_ints(op, 1).as_deref() else { return false };
    let dimension = SetDimensionSizeOp(op).dimension();
    let Some(d) = usize::try_from(dimension).ok().filter(|&d| d < sizes.len()) else {
        return false;
    };
    let mut required = sizes.to_vec();
    required[d] = size;
    !sizes.contains(&DYNAMIC) && (0..=sizes[d]).contains(&size) && required == found
}

/// If the size is not constant, its dimension must be dynamic, and the other dimensions follow from
/// the operand.
fn speculate(op: OpRef<'_>) -> Speculation {
    let set = SetDimensionSizeOp(op).dimension();
    let result = op.result_type(0);
    let mut dims = 0..rank(result) as i64;
    Speculation::always_if(
        (check::constant(op, 1).is_some() || speculation::is_dynamic(result, set))
            && dims.all(|d| d == set || speculation::follows(op, d, 0, d)),
    )
}
