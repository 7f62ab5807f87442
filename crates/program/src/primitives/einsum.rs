use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use numerics::DType;
use numerics::shape::StridedView;

/// Sums of products over labelled dimensions.
#[derive(Debug, PartialEq)]
pub struct Einsum {
    /// `lhs,rhs->result`
    pub config: String,
    /// The element type of the result.
    pub dtype: DType,
    /// Sizes of the result type; `None` if it has no rank.
    pub declared: Option<Vec<i64>>,
}

impl Operation for Einsum {
    fn kind(&self) -> Kind {
        Kind::Product
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
        Some(Work::operations(self.products(shapes).saturating_mul(2)))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}

impl Einsum {
    /// Number of products: of the sizes of all labels.
    fn products(&self, shapes: &Shapes<'_>) -> u64 {
        let inputs = self.config.split("->").next().unwrap_or_default();
        let mut seen: Vec<(char, u64)> = Vec::new();
        for (operand, labels) in inputs.split(',').enumerate() {
            for (dimension, label) in labels.chars().filter(|c| c.is_alphabetic()).enumerate() {
                if !seen.iter().any(|&(known, _)| known == label) {
                    seen.push((label, shapes.size(operand, dimension as i64)));
                }
            }
        }
        seen.iter().map(|&(_, size)| size).fold(1, u64::saturating_mul)
    }
}
