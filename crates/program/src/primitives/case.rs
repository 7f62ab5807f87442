use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::{BlockId, Callee};
use numerics::shape::StridedView;

/// The block that the operand chooses; the last one if it is out of range.
#[derive(Debug, PartialEq)]
pub struct Case {
    /// The blocks.
    pub branches: Vec<BlockId>,
}

impl Operation for Case {
    fn kind(&self) -> Kind {
        Kind::Control
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        self.branches.iter().copied().map(Callee::Block).collect()
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
