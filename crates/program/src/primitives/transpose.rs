use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Dimension `i` of the result is dimension `permutation[i]` of the operand.
#[derive(Debug, PartialEq)]
pub struct Transpose {
    /// The permutation.
    pub permutation: Vec<usize>,
}

impl Operation for Transpose {
    fn kind(&self) -> Kind {
        Kind::Movement
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        false
    }

    fn is_by_element(&self) -> bool {
        true
    }

    fn as_view(&self, operand: &StridedView) -> Option<StridedView> {
        operand.permute(&self.permutation).ok()
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
