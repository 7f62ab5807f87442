use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// New dimensions in front.
#[derive(Debug, PartialEq)]
pub struct Broadcast {
    /// Their sizes.
    pub sizes: Vec<usize>,
}

impl Operation for Broadcast {
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
        let shape = [&self.sizes, operand.shape()].concat();
        let dimensions: Vec<usize> = (self.sizes.len()..shape.len()).collect();
        operand.broadcast(&shape, &dimensions).ok()
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
