//! `stablehlo.reverse`.

use super::prelude::*;

op! {
    /// `operand` with the order of elements along `dimensions` reversed; the shape stays.
    pub ReverseOp, "stablehlo.reverse" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { dimensions: required I64Array }
        traits [NoMemoryEffect]
        rules include_str!("reverse.txt");
        hooks {
            format:
                "$operand `,` `dims` `=` $dimensions \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            verify: verify,
            infer: infer::first_operand,
            infer_label: "reverse_c1",
            reify: reify::shape_of_first,
            prepare: prepare,
            speculate: speculation::shaped_as_operand,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let dimensions = ReverseOp(op).dimensions();
    check::distinct(op, "reverse_c2", "dimensions", dimensions)?;
    check::in_range(op, "reverse_c3", "dimensions", dimensions, rank(op.operand_type(0)))
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Reverse(primitives::Reverse {
        dimensions: prepare::usizes(op, ReverseOp(op).dimensions())?,
    }))
}
