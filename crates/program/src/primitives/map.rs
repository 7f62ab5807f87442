use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::{BlockId, Callee};
use numerics::shape::StridedView;

/// A block at each index of the inputs.
#[derive(Debug, PartialEq)]
pub struct Map {
    /// The block.
    pub block: BlockId,
}

impl Operation for Map {
    fn kind(&self) -> Kind {
        Kind::Kernel
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
        true
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        Some(body(Callee::Block(self.block)).times(shapes.result()))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
