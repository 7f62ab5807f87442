//! Elementwise ops of two operands whose result has the operands' type.

use super::prelude::*;

macro_rules! binary {
    ($($(#[doc = $doc:literal])+ $view:ident, $name:literal, $set:ident $(, $commutative:ident)?;)+) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { lhs: single $set, rhs: single $set }
                results { result: single $set }
                traits [Elementwise, NoMemoryEffect, SpeculatableIfAllInputsStatic $(, $commutative)?]
                hooks {
            eval: Some(eval::binary),
                    assembly: Assembly::Format(
                        "$lhs `,` $rhs attr-dict `:` \
                         custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))",
                    ),
                }
            }
        })+
    };
}

binary! {
    /// Elementwise sum; logical OR of booleans. All of one shape.
    AddOp, "stablehlo.add", TENSOR_OR_PER_AXIS_QUANTIZED, Commutative;
    /// Elementwise logical AND of booleans, or bitwise AND of integers. All of one shape.
    AndOp, "stablehlo.and", PRED_OR_INT_TENSOR, Commutative;
    /// Elementwise angle of the point with ordinate `lhs` and abscissa `rhs`. All of one shape.
    Atan2Op, "stablehlo.atan2", FLOAT_COMPLEX_OR_QUANTIZED_TENSOR;
    /// Elementwise quotient; of integers, rounded toward zero. All of one shape.
    DivideOp, "stablehlo.divide", INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR;
    /// Elementwise maximum; logical OR of booleans. All of one shape.
    MaximumOp, "stablehlo.maximum", TENSOR, Commutative;
    /// Elementwise minimum; logical AND of booleans. All of one shape.
    MinimumOp, "stablehlo.minimum", TENSOR, Commutative;
    /// Elementwise product; logical AND of booleans. All of one shape.
    MultiplyOp, "stablehlo.multiply", TENSOR, Commutative;
    /// Elementwise logical OR of booleans, or bitwise OR of integers. All of one shape.
    OrOp, "stablehlo.or", PRED_OR_INT_TENSOR, Commutative;
    /// Elementwise power of base `lhs` and exponent `rhs`. All of one shape.
    PowerOp, "stablehlo.power", INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR;
    /// Elementwise remainder of the division that rounds toward zero; it has the sign of `lhs`. All of one shape.
    RemainderOp, "stablehlo.remainder", INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR;
    /// Elementwise shift to the left by `rhs` bits. All of one shape.
    ShiftLeftOp, "stablehlo.shift_left", INT_TENSOR;
    /// Elementwise shift to the right by `rhs` bits that repeats the sign. All of one shape.
    ShiftRightArithmeticOp, "stablehlo.shift_right_arithmetic", INT_TENSOR;
    /// Elementwise shift to the right by `rhs` bits that inserts zeros. All of one shape.
    ShiftRightLogicalOp, "stablehlo.shift_right_logical", INT_TENSOR;
    /// Elementwise difference. All of one shape.
    SubtractOp, "stablehlo.subtract", INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR;
    /// Elementwise logical XOR of booleans, or bitwise XOR of integers. All of one shape.
    XorOp, "stablehlo.xor", PRED_OR_INT_TENSOR, Commutative;
}
