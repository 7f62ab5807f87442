use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Elements backwards along dimensions.
#[derive(Debug, PartialEq)]
pub struct Reverse {
    /// The dimensions.
    pub dimensions: Vec<usize>,
}

impl Operation for Reverse {
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
        operand.part(|d, size, stride| {
            if self.dimensions.contains(&d) {
                Some((size.saturating_sub(1), size, stride.checked_neg()?))
            } else {
                Some((0, size, stride))
            }
        })
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
