use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// An element of a tuple.
#[derive(Debug, PartialEq)]
pub struct TupleElement {
    /// Its index.
    pub index: usize,
}

impl Operation for TupleElement {
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

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, _: &Shapes<'_>) -> u64 {
        0
    }
}
