//! `stablehlo.get_tuple_element`.

use super::prelude::*;

op! {
    /// Element `index` of a tuple.
    pub GetTupleElementOp, "stablehlo.get_tuple_element" {
        operands { operand: single TUPLE }
        results { result: single ANY_VALUE }
        attributes { index: required NonNegative(32) }
        traits [Pure]
        rules include_str!("get_tuple_element.txt");
        hooks {
            format: "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)",
            infer: infer,
            infer_label: "get_tuple_element_c2",
            prepare: prepare,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let elements = op.operand_type(0).as_tuple().unwrap_or(&[]);
    let index = GetTupleElementOp(op).index();
    check::is_dimension(op, "get_tuple_element_c1", "index", index, elements.len())?;
    Ok(vec![elements[index as usize].clone()])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::TupleElement(primitives::TupleElement {
        index: prepare::to_usize(op, GetTupleElementOp(op).index())?,
    }))
}
