use super::{Blocks, Effects, Kind, Operation};
use crate::collective::Pairs;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Sends the operands, without the last one, a token.
#[derive(Debug, PartialEq)]
pub struct Send {
    /// The channel.
    pub channel: i64,
    /// Sources and targets; `None` through the host.
    pub pairs: Option<Pairs>,
}

impl Operation for Send {
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
