//! Ops that cannot be executed.

use super::{Blocks, Effects, Kind, Operation};
use crate::EvalError;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

impl Operation for EvalError {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::MayFail
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
        None
    }

    fn bytes(&self, _: &Shapes<'_>) -> u64 {
        0
    }
}
