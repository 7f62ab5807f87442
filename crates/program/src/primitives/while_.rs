use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::{BlockId, Callee};
use numerics::shape::StridedView;

/// Replaces the operands by the results of `body` for as long as `cond` is true.
#[derive(Debug, PartialEq)]
pub struct While {
    /// The condition.
    pub cond: BlockId,
    /// The next values.
    pub body: BlockId,
}

impl Operation for While {
    fn kind(&self) -> Kind {
        Kind::Control
    }

    /// It may go on for ever.
    fn effects(&self) -> Effects {
        Effects::MayFail
    }

    fn blocks(&self) -> Blocks {
        Blocks::from_slice(&[self.cond, self.body].map(Callee::Block))
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
