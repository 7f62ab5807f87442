//! `stablehlo.complex`.

use super::prelude::*;

op! {
    /// Elementwise complex numbers from real parts `lhs` and imaginary parts `rhs`, all of one
    /// shape.
    pub ComplexOp, "stablehlo.complex" {
        operands { lhs: single FLOAT32_OR_64_TENSOR, rhs: single FLOAT32_OR_64_TENSOR }
        results { result: single COMPLEX_TENSOR }
        traits [Elementwise, NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            prepare: Some(prepare::binary),
            assembly: Assembly::Format(
                "operands attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))",
            ),
            infer: Some(infer),
            infer_label: "complex_c3",
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let part = infer::merged(op, "complex_c1", 0)?;
    let element = Type::complex(part.element_type().clone());
    Ok(vec![compat::with_element(&part, element)])
}
