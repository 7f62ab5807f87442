//! `stablehlo.convert`.

use super::prelude::*;

op! {
    /// Elementwise conversion to another element type; the shape stays.
    pub ConvertOp, "stablehlo.convert" {
        operands { operand: single NON_QUANTIZED_TENSOR }
        results { result: single NON_QUANTIZED_TENSOR }
        traits [Elementwise, NoMemoryEffect]
        hooks {
            prepare: Some(prepare),
            assembly: Assembly::Format(
                "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
            refine: Some(refine::shape_of_operand),
            verify: Some(|op, out| out.extend(check::same_shapes(op, "convert_c1").err())),
        }
    }
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Convert(prepare::storage_dtype(op.result_type(0))?))
}
