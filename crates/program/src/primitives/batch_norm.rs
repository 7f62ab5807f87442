use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::shape::StridedView;

/// Batch normalization.
#[derive(Debug)]
pub struct BatchNorm {
    /// The op.
    pub kind: BatchNormKind,
    /// Added to variances.
    pub epsilon: f64,
    /// The dimension of the features.
    pub feature_index: usize,
}

/// Zeros of different signs are not the same epsilon.
impl PartialEq for BatchNorm {
    fn eq(&self, other: &BatchNorm) -> bool {
        let key = |op: &BatchNorm| (op.kind, op.epsilon.to_bits(), op.feature_index);
        key(self) == key(other)
    }
}

impl Operation for BatchNorm {
    fn kind(&self) -> Kind {
        Kind::Kernel
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
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        // The equations of the specification, for each element.
        let operations = match self.kind {
            BatchNormKind::Inference => 4,
            BatchNormKind::Training => 8,
            BatchNormKind::Grad => 11,
        };
        Some(Work::operations(shapes.result().saturating_mul(operations)))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}

/// The ops of batch normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchNormKind {
    /// With means and variances given.
    Inference,
    /// With means and variances computed.
    Training,
    /// Gradients.
    Grad,
}
