use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// A part of the operand.
#[derive(Debug, PartialEq)]
pub struct Slice {
    /// First indices.
    pub starts: Vec<usize>,
    /// Indices after the last.
    pub limits: Vec<usize>,
    /// Steps.
    pub strides: Vec<usize>,
}

impl Operation for Slice {
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

    fn as_view(&self, operand: &StridedView) -> Option<StridedView> {
        operand.part(|d, _, stride| {
            let (&start, &step) = (self.starts.get(d)?, self.strides.get(d)?);
            let size = self.limits.get(d)?.checked_sub(start)?.div_ceil(step.max(1));
            Some((start, size, stride.checked_mul(isize::try_from(step).ok()?)?))
        })
    }

    fn arithmetic(&self, _: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        Some(Work::NONE)
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.bytes_of_part()
    }
}
