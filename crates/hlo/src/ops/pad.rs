//! `stablehlo.pad`.

use super::prelude::*;

op! {
    /// `operand` with `padding_value` added at the edges and between elements, by the amounts in
    /// three lists with one entry per dimension; negative amounts at the edges crop.
    pub PadOp, "stablehlo.pad" {
        operands { operand: single TENSOR, padding_value: single SCALAR_TENSOR }
        results { result: single TENSOR }
        attributes {
            edge_padding_low: required I64Array,
            edge_padding_high: required I64Array,
            interior_padding: required I64Array,
        }
        traits [NoMemoryEffect]
        rules include_str!("pad.txt");
        hooks {
            format:
                "$operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` \
                 `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding \
                 attr-dict `:` functional-type(operands, results)",
            infer: infer,
            infer_label: "pad_c4",
            reify: reify,
            prepare: prepare,
            speculate: speculation::shaped_as_operand,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let (operand, value) = (op.operand_type(0), op.operand_type(1));
    require(op, "pad_c1", compat::elements(operand, value), || {
        format!("padding_value must have the element type of operand; found {value} and {operand}")
    })?;
    let view = PadOp(op);
    let lists = [view.edge_padding_low(), view.edge_padding_high(), view.interior_padding()];
    let names = ["edge_padding_low", "edge_padding_high", "interior_padding"];
    for (name, list) in names.into_iter().zip(lists) {
        check::count(op, "pad_c2", name, list.len(), rank(operand), "the rank of operand")?;
    }
    check::at_least(op, "pad_c3", "interior_padding", view.interior_padding(), 0)?;
    infer::one_sized(op, operand.element_type(), |operands| {
        padded_shape(op, "pad_c4", operands[0], lists)
    })
}

/// The shape of `operand` padded by low, high and interior amounts, one of each per dimension.
///
/// # Errors
/// If a size is negative or too large.
pub(super) fn padded_shape(
    op: OpRef<'_>,
    label: &'static str,
    operand: &[i64],
    [low, high, interior]: [&[i64]; 3],
) -> Result<Vec<i64>, Diagnostic> {
    let size = |(d, &size): (usize, &i64)| {
        if size == DYNAMIC {
            return Ok(DYNAMIC);
        }
        let padded = i128::from(size)
            + i128::from(low[d])
            + i128::from((size - 1).max(0)) * i128::from(interior[d])
            + i128::from(high[d]);
        let fits = i64::try_from(padded).ok().filter(|&p| p >= 0);
        fits.ok_or_else(|| {
            op.error(label, format!("dimension {d} of the result would have size {padded}"))
        })
    };
    operand.iter().enumerate().map(size).collect()
}

/// The sizes with padding at both sides and between elements.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let pad = PadOp(rw.op(op));
    let amounts = [pad.edge_padding_low(), pad.edge_padding_high(), pad.interior_padding()];
    let amounts = amounts.map(<[i64]>::to_vec);
    let mut sizes = reify::dims(rw, op, 0)?;
    for (i, size) in sizes.iter_mut().enumerate() {
        let [low, high, interior] = &amounts;
        let [low, high, interior] =
            [*low.get(i)?, *high.get(i)?, *interior.get(i)?].map(|n| reify::index(rw, n));
        *size = reify::padded(rw, *size, low, high, interior);
    }
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let pad = PadOp(op);
    Ok(Primitive::Pad(primitives::Pad {
        low: pad.edge_padding_low().to_vec(),
        high: pad.edge_padding_high().to_vec(),
        interior: pad.interior_padding().to_vec(),
    }))
}
