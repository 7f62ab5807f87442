use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::work::{positions, product};
use crate::{BlockId, Body, Callee, Window};
use numerics::math::Direction;
use numerics::shape::StridedView;

/// The places that `select` prefers in each window, with sources scattered to them.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectAndScatter {
    /// The window.
    pub window: Window,
    /// Chooses between two elements: true for the first one.
    pub select: BlockId,
    /// The comparison that it is.
    pub relation: Option<Direction>,
    /// Combines elements with sources.
    pub scatter: Box<Body>,
}

impl Operation for SelectAndScatter {
    fn kind(&self) -> Kind {
        Kind::Reduction
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::from_slice(&[Callee::Block(self.select), self.scatter.callee])
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

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        let sources = shapes.operand(1);
        let compared = product([sources, positions(&self.window).saturating_sub(1)]);
        let select = body(Callee::Block(self.select)).times(compared);
        Some(select.plus(self.scatter.once(body).times(sources)))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
