//! `stablehlo.real_dynamic_slice`.

use super::prelude::*;

op! {
    /// `slice` by the start indices, limit indices and strides in three vectors.
    pub RealDynamicSliceOp, "stablehlo.real_dynamic_slice" {
        operands {
            operand: single TENSOR,
            start_indices: single DIMENSION_TENSOR,
            limit_indices: single DIMENSION_TENSOR,
            strides: single DIMENSION_TENSOR,
        }
        results { result: single TENSOR }
        traits [NoMemoryEffect, ReadsOperands]
        hooks {
            format: "operands attr-dict `:` functional-type(operands, results)",
            verify: verify,
            refine: refine,
            to_static: to_static,
            reify: reify,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    require(op, "real_dynamic_slice_types", compat::elements(operand, result), || {
        format!("operand and result must have one element type; found {operand} and {result}")
    })?;
    check::count(
        op,
        "real_dynamic_slice_shapes",
        "the shape of the result",
        rank(result),
        rank(operand),
        "the rank of operand",
    )?;
    for (i, name) in [(1, "start_indices"), (2, "limit_indices"), (3, "strides")] {
        check::has_type(
            op,
            "real_dynamic_slice_types",
            name,
            op.operand_type(i),
            op.operand_type(1),
        )?;
        let required = [rank(operand) as i64];
        check::has_shape(
            op,
            "real_dynamic_slice_shapes",
            name,
            shape(op.operand_type(i)),
            &required,
        )?;
    }
    Ok(())
}

/// `(limit - start + stride - 1) / stride`
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let rank = rw.op(op).result_type(0).as_tensor()?.rank();
    let mut sizes = Vec::with_capacity(rank);
    for i in 0..rank {
        let start = reify::element(rw, op, 1, i)?;
        let limit = reify::element(rw, op, 2, i)?;
        let stride = reify::element(rw, op, 3, i)?;
        let one = reify::index(rw, 1);
        let length = reify::sub(rw, limit, start);
        let length = reify::add(rw, stride, length);
        let length = reify::sub(rw, length, one);
        sizes.push(reify::binary(rw, side_dialects::arith::DivSIOp::DEF, length, stride));
    }
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Dynamic(Box::new(Dynamic::Slice { declared: prepare::declared(op) })))
}

/// Starts, limits and strides, one of each per dimension, if they are constant.
fn constant_ranges(op: OpRef<'_>) -> Option<[Vec<i64>; 3]> {
    let list =
        |i| check::constant_ints(op, i).filter(|list| list.len() == rank(op.operand_type(0)));
    Some([list(1)?, list(2)?, list(3)?])
}

/// The sizes of a slice whose limits are its starts plus constants, with strides of 1.
fn constant_sizes(op: OpRef<'_>) -> Option<Vec<i64>> {
    let limits = op.module().defining_op(op.operand(2)).filter(|op| op.is(super::AddOp::DEF))?;
    let added =
        limits.operands().iter().position(|&v| v == op.operand(1)).map(|start| 1 - start)?;
    let sizes = check::constant_ints(limits, added)?;
    let strides = check::constant_ints(op, 3)?;
    let valid = sizes.len() == rank(op.operand_type(0))
        && check::compatible_sizes(&sizes, shape(op.operand_type(0)));
    (valid && strides.iter().all(|&stride| stride == 1)).then_some(sizes)
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    match constant_ranges(op) {
        Some([starts, limits, strides]) => refine::shaped(
            op,
            super::slice::sliced_shape(op, shape(op.operand_type(0)), [&starts, &limits, &strides])
                .ok()?,
        ),
        None => refine::shaped(op, constant_sizes(op)?),
    }
}

/// Becomes `slice` if the ranges are constant, or `dynamic_slice` if the sizes are.
fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let (operand, starts, ty) = (view.operand(0), view.operand(1), view.result_type(0).clone());
    if let Some(ranges) = constant_ranges(view) {
        let [from, to, by] = ranges.map(Attribute::i64_array);
        let slice =
            rw.make(super::SliceOp::DEF, [operand]).attributes_of(op).attr("start_indices", from);
        let new = slice.attr("limit_indices", to).attr("strides", by).results([ty]);
        rw.replace_with(op, new);
        return Some(());
    }
    let sizes = constant_sizes(view)?;
    let index = rw.ty(starts).element_type().clone();
    let mut operands = vec![operand];
    for d in 0..sizes.len() as i64 {
        let slice =
            rw.make(super::SliceOp::DEF, [starts]).attr("start_indices", Attribute::i64_array([d]));
        let slice = slice.attr("limit_indices", Attribute::i64_array([d + 1]));
        let one = slice
            .attr("strides", Attribute::i64_array([1]))
            .result(Type::tensor([1], index.clone()));
        operands
            .push(rw.make(super::ReshapeOp::DEF, [one]).result(Type::tensor([], index.clone())));
    }
    let slice = rw.make(super::DynamicSliceOp::DEF, operands).attributes_of(op);
    let new = slice.attr("slice_sizes", Attribute::i64_array(sizes)).results([ty]);
    rw.replace_with(op, new);
    Some(())
}

fn speculate(op: OpRef<'_>) -> Speculation {
    Speculation::always_if(
        speculation::has_static_operands(op) && speculation::last_are_constant(op, 3),
    )
}
