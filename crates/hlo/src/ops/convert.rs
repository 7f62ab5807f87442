//! `stablehlo.convert`.

use super::prelude::*;

op! {
    /// Elementwise conversion to another element type; the shape stays.
    pub ConvertOp, "stablehlo.convert" {
        operands { operand: single NON_QUANTIZED_TENSOR }
        results { result: single NON_QUANTIZED_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        rules include_str!("convert.txt");
        hooks {
            format:
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), \
                 type($result))",
            verify: verify,
            refine: refine::shape_of_operand,
            prepare: prepare,
            speculate: speculation::shaped_as_operand,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    check::same_shapes(op, "convert_c1")
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Convert(primitives::Convert {
        dtype: prepare::storage_dtype(op.result_type(0))?,
    }))
}
