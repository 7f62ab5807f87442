use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::DType;
use numerics::shape::StridedView;

/// Bits of the elements as elements of another type.
#[derive(Debug, PartialEq)]
pub struct Bitcast {
    /// The type.
    pub dtype: DType,
}

impl Operation for Bitcast {
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
        false
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
