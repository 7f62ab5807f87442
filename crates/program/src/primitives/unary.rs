//! Functions of each element.

use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::math::UnaryOp;
use numerics::shape::StridedView;

impl Operation for UnaryOp {
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
        !matches!(self, UnaryOp::Negate | UnaryOp::Abs)
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
            UnaryOp::Real | UnaryOp::Imag => Work::NONE,
            UnaryOp::Abs
            | UnaryOp::Ceil
            | UnaryOp::CountLeadingZeros
            | UnaryOp::Floor
            | UnaryOp::IsFinite
            | UnaryOp::IsInf
            | UnaryOp::IsNegInf
            | UnaryOp::IsPosInf
            | UnaryOp::Negate
            | UnaryOp::Not
            | UnaryOp::Popcnt
            | UnaryOp::RoundNearestAfz
            | UnaryOp::RoundNearestEven
            | UnaryOp::Sign
            | UnaryOp::Square => Work::operations(result),
            // Hardware computes the others by many operations.
            _ => Work::functions(result),
        })
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
