//! `stablehlo.dynamic_pad`.

use super::prelude::*;

op! {
    /// `pad` by the amounts in three vectors.
    pub DynamicPadOp, "stablehlo.dynamic_pad" {
        operands {
            operand: single TENSOR,
            padding_value: single SCALAR_TENSOR,
            edge_padding_low: single STATIC_DIMENSION_TENSOR,
            edge_padding_high: single STATIC_DIMENSION_TENSOR,
            interior_padding: single STATIC_DIMENSION_TENSOR,
        }
        results { result: single TENSOR }
        traits [NoMemoryEffect, ReadsOperands]
        rules include_str!("dynamic_pad.txt");
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
    let (operand, value, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    let same = compat::elements(operand, value) && compat::elements(operand, result);
    require(op, "dynamic_pad_c1", same, || {
        format!(
            "operand, padding_value and result must have one element type; found {operand}, {value} and {result}"
        )
    })?;
    for (i, name) in [(2, "edge_padding_low"), (3, "edge_padding_high"), (4, "interior_padding")] {
        let required = [rank(operand) as i64];
        check::has_shape(op, "dynamic_pad_c2", name, shape(op.operand_type(i)), &required)?;
    }
    if let Some(interior) = check::constant_ints(op, 4) {
        check::at_least(op, "dynamic_pad_c3", "interior_padding", &interior, 0)?;
    }
    check::count(
        op,
        "dynamic_pad_c4",
        "the shape of the result",
        rank(result),
        rank(operand),
        "the rank of operand",
    )?;
    let Some([low, high, interior]) = amounts(op) else { return Ok(()) };
    let sizes = super::pad::padded_shape(
        op,
        "dynamic_pad_c4",
        shape(op.operand_type(0)),
        [&low, &high, &interior],
    )?;
    check::has_shape(op, "dynamic_pad_c4", "the result", shape(result), &sizes)
}

/// The low, high and interior amounts, one of each per dimension, if they are constant.
fn amounts(op: OpRef<'_>) -> Option<[Vec<i64>; 3]> {
    let list =
        |i| check::constant_ints(op, i).filter(|list| list.len() == rank(op.operand_type(0)));
    Some([list(2)?, list(3)?, list(4)?])
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    let [low, high, interior] = amounts(op)?;
    refine::shaped(
        op,
        super::pad::padded_shape(
            op,
            "dynamic_pad_c4",
            shape(op.operand_type(0)),
            [&low, &high, &interior],
        )
        .ok()?,
    )
}

/// Becomes `pad` if the amounts are constant.
fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let [low, high, interior] = amounts(view)?.map(Attribute::i64_array);
    let (operands, ty) = (view.operands()[..2].to_vec(), view.result_type(0).clone());
    let pad = rw.make(super::PadOp::DEF, operands).attributes_of(op).attr("edge_padding_low", low);
    let new = pad.attr("edge_padding_high", high).attr("interior_padding", interior).results([ty]);
    rw.replace_with(op, new);
    Some(())
}

/// As of `stablehlo.pad`.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let mut sizes = reify::dims(rw, op, 0)?;
    for (i, size) in sizes.iter_mut().enumerate() {
        let low = reify::element(rw, op, 2, i)?;
        let high = reify::element(rw, op, 3, i)?;
        let interior = reify::element(rw, op, 4, i)?;
        *size = reify::padded(rw, *size, low, high, interior);
    }
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Dynamic(Box::new(Dynamic::Pad { declared: prepare::declared(op) })))
}

fn speculate(op: OpRef<'_>) -> Speculation {
    Speculation::always_if(
        speculation::has_static_operands(op) && speculation::last_are_constant(op, 3),
    )
}
