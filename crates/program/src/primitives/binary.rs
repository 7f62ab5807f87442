//! Functions of pairs of elements.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::math::BinaryOp;
use numerics::shape::StridedView;

impl Operation for BinaryOp {
    fn kind(&self) -> Kind {
        Kind::Elementwise
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        true
    }

    fn is_by_element(&self) -> bool {
        true
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        let result = shapes.result();
        Some(match self {
            BinaryOp::Atan2 | BinaryOp::Polygamma | BinaryOp::Power | BinaryOp::Zeta => {
                Work::functions(result)
            }
            BinaryOp::Complex => Work::NONE,
            _ => Work::operations(result),
        })
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
