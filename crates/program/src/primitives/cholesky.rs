use super::{Blocks, Effects, Kind, Operation};
use crate::work::product;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// The Cholesky decomposition of matrices.
#[derive(Debug, PartialEq)]
pub struct Cholesky {
    /// The lower triangle.
    pub lower: bool,
}

impl Operation for Cholesky {
    fn kind(&self) -> Kind {
        Kind::Kernel
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

    fn arithmetic(&self, shapes: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::operations(product([shapes.operand(0), shapes.size(0, -1)]) / 3))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
