use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::{BlockId, Callee};
use numerics::shape::StridedView;

/// A block on the operands.
#[derive(Debug, PartialEq)]
pub struct Block {
    /// The block.
    pub block: BlockId,
}

impl Operation for Block {
    fn kind(&self) -> Kind {
        Kind::Control
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::from_slice(&[Callee::Block(self.block)])
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
