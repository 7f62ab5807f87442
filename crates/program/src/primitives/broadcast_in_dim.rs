use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Operand dimension `i` becomes dimension `dimensions[i]` of the result.
#[derive(Debug, PartialEq)]
pub struct BroadcastInDim {
    /// The shape of the result.
    pub shape: Vec<usize>,
    /// The dimension of the result of each dimension of the operand.
    pub dimensions: Vec<usize>,
}

impl Operation for BroadcastInDim {
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
        operand.broadcast(&self.shape, &self.dimensions).ok()
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
