use super::{Blocks, Effects, Kind, Operation};
use crate::Body;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Inputs reduced along dimensions, from initial values.
#[derive(Debug, PartialEq)]
pub struct Reduce {
    /// The dimensions.
    pub dimensions: Vec<usize>,
    /// Combines accumulators with values.
    pub body: Box<Body>,
}

impl Operation for Reduce {
    fn kind(&self) -> Kind {
        Kind::Reduction
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::from_slice(&[self.body.callee])
    }

    fn is_arithmetic(&self) -> bool {
        true
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        let combined = shapes.operand(0).saturating_sub(shapes.result());
        Some(self.body.once(body).times(combined))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
