use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// The elements in another shape.
#[derive(Debug, PartialEq)]
pub struct Reshape {
    /// The shape.
    pub shape: Vec<usize>,
}

impl Operation for Reshape {
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
        operand.reshaped(&self.shape)
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, _: &Shapes<'_>) -> u64 {
        0
    }
}
