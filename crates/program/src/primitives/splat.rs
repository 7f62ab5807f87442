use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::Tensor;
use numerics::shape::StridedView;

/// A splat. Allocated on each execution, so that it may be overwritten in place.
#[derive(Debug, PartialEq)]
pub struct Splat {
    /// The element, of rank 0.
    pub element: Tensor,
    /// The shape.
    pub shape: Vec<usize>,
}

impl Operation for Splat {
    fn kind(&self) -> Kind {
        Kind::Value
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
        false
    }

    fn as_view(&self, operand: &StridedView) -> Option<StridedView> {
        operand.broadcast(&self.shape, &[]).ok()
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, _: &Shapes<'_>) -> u64 {
        0
    }
}
