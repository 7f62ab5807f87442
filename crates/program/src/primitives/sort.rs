use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::work::{log2_ceiling, product};
use crate::{Callee, Comparator};
use numerics::shape::StridedView;

/// Inputs sorted together along a dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    /// The dimension; from the end if negative.
    pub dimension: i64,
    /// The order.
    pub comparator: Box<Comparator>,
    /// The number of elements along the dimension, the first ones, that are the results; `None` for
    /// all.
    pub limit: Option<usize>,
}

impl Operation for Sort {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::from_slice(&[Callee::Block(self.comparator.block)])
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
        let rounds = log2_ceiling(shapes.size(0, self.dimension));
        let compared = product([shapes.operand(0), rounds]);
        Some(body(Callee::Block(self.comparator.block)).times(compared))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
