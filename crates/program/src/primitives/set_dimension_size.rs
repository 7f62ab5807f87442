use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// The first operand up to the size in the second one, or followed by zeros up to it.
#[derive(Debug, PartialEq)]
pub struct SetDimensionSize {
    /// The dimension.
    pub dimension: usize,
    /// The largest size that the dimension may have; `None` if it may not grow.
    pub bound: Option<usize>,
    /// Sizes of the result type; `None` if it has no rank.
    pub declared: Option<Vec<i64>>,
    /// True if the size is a constant that fits static types of operand and result.
    pub fits: bool,
}

impl Operation for SetDimensionSize {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        if self.fits { Effects::None } else { Effects::MayFail }
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
