use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// The operand with the second operand around and between its elements.
#[derive(Debug, PartialEq)]
pub struct Pad {
    /// Elements before.
    pub low: Vec<i64>,
    /// Elements after.
    pub high: Vec<i64>,
    /// Elements between.
    pub interior: Vec<i64>,
}

impl Operation for Pad {
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

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
