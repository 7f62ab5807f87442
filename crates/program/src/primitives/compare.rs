//! Comparisons of pairs of elements.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::DType;
use numerics::math::Direction;
use numerics::shape::StridedView;

/// The relation of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The relation.
    pub direction: Direction,
    /// In IEEE 754's total order of floats.
    pub total_order: bool,
    /// The type as which the bits of operands are read, if that is another than theirs.
    pub read_as: Option<DType>,
}

impl Operation for Comparison {
    fn kind(&self) -> Kind {
        Kind::Elementwise
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        true
    }

    fn is_by_element(&self) -> bool {
        true
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::operations(shapes.result()))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
