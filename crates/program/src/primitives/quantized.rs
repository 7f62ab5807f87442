//! Primitives on floats with quantized operands or results.

use super::Primitive;
use super::{Blocks, Effects, Kind, Operation};
use crate::UniformQuantization;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;
use std::sync::Arc;

/// A primitive on floats, with quantized operands and results: operands are dequantized before, and
/// results quantized after.
///
/// Source: specification, `dequantize_op_quantize`.
#[derive(Debug, PartialEq)]
pub struct Quantized {
    /// The quantization of each operand that has one.
    pub operands: Vec<Option<Arc<UniformQuantization>>>,
    /// The quantization of each result that has one.
    pub results: Vec<Option<Arc<UniformQuantization>>>,
    /// The primitive on floats.
    pub primitive: Primitive,
}

impl Operation for Quantized {
    fn kind(&self) -> Kind {
        self.primitive.kind()
    }

    fn effects(&self) -> Effects {
        self.primitive.effects()
    }

    fn blocks(&self) -> Blocks {
        self.primitive.blocks()
    }

    fn is_arithmetic(&self) -> bool {
        false
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        self.primitive.arithmetic(shapes, body)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        match self.primitive {
            Primitive::Reshape(_) => 0,
            _ => shapes.all_bytes(),
        }
    }
}
