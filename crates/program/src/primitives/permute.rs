use super::{Blocks, Effects, Kind, Operation};
use crate::collective::{Pairs, Zeros};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Values of other processes, from sources to targets.
#[derive(Debug, PartialEq)]
pub struct Permute {
    /// Sources and targets.
    pub pairs: Pairs,
    /// The channel id; 0 for none.
    pub channel: i64,
    /// Zeros of the result types.
    pub zeros: Vec<Zeros>,
}

impl Operation for Permute {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::External
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

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
