use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// The `k` largest or smallest elements along the last dimension, and their indices.
#[derive(Debug, PartialEq)]
pub struct TopK {
    /// Number of elements; `None` if given by the second operand.
    pub k: Option<usize>,
    /// The largest ones.
    pub largest: bool,
}

impl Operation for TopK {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        match self.k {
            Some(_) => Effects::None,
            None => Effects::MayFail,
        }
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
        Some(Work::operations(shapes.operand(0)))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
