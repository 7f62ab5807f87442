use super::{Blocks, Effects, Kind, Operation};
use crate::ValueType;
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// The first operand with a part replaced by the second, from the start indices that are the
/// others.
pub struct DynamicUpdateSlice;

impl Operation for DynamicUpdateSlice {
    fn kind(&self) -> Kind {
        Kind::Movement
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
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

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        let bytes = |ty: &&ValueType| ty.min_bytes() as u64;
        let update = shapes.operands.get(1).map_or(0, bytes);
        let indices = shapes.operands.iter().skip(2).map(bytes);
        update.saturating_mul(2).saturating_add(indices.fold(0, u64::saturating_add))
    }
}
