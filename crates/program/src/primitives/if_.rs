use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::{BlockId, Callee};
use numerics::shape::StridedView;

/// The first block if the operand is true, else the second.
#[derive(Debug, PartialEq)]
pub struct If {
    /// The blocks.
    pub branches: [BlockId; 2],
}

impl Operation for If {
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
