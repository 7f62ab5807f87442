use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Slices of the first operand along a dimension, at indices in the second one.
#[derive(Debug, PartialEq)]
pub struct IndexSelect {
    /// The dimension; from the end if negative.
    pub dimension: i64,
    /// Number of leading dimensions that both operands have; the rank of the indices is added
    /// to a negative one.
    pub batch_dims: i64,
    /// Sizes of the result type; `None` if it has no rank.
    pub declared: Option<Vec<i64>>,
}

impl Operation for IndexSelect {
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
        shapes.bytes_of_part()
    }
}
