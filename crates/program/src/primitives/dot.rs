use super::{Blocks, Effects, Kind, Operation};
use crate::work::product;
use crate::work::{BodyWork, Shapes, Work};
use numerics::DType;
use numerics::shape::StridedView;

/// Sums of products over contracted dimensions.
#[derive(Debug, PartialEq)]
pub struct Dot {
    /// Dimension numbers; `None` for the last dimension of the first operand with the first
    /// one of the second.
    pub dims: Option<Box<DotDims>>,
    /// The element type of the result.
    pub dtype: DType,
}

impl DotDims {
    /// The dimension numbers of `dot`: the last dimension of an operand of rank `lhs` with the
    /// first one of the other.
    pub fn of_dot(lhs: usize) -> DotDims {
        DotDims {
            lhs_contracting_dimensions: vec![lhs as i64 - 1],
            rhs_contracting_dimensions: vec![0],
            ..DotDims::default()
        }
    }
}

impl Operation for Dot {
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
        let contracted = match &self.dims {
            Some(dims) => {
                let sizes = dims.lhs_contracting_dimensions.iter().map(|&d| shapes.size(0, d));
                sizes.fold(1, u64::saturating_mul)
            }
            None => shapes.size(0, -1),
        };
        Some(Work::operations(product([2, shapes.result(), contracted])))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}

/// Dimension numbers of `dot_general`, named as in the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's")]
pub struct DotDims {
    pub lhs_batching_dimensions: Vec<i64>,
    pub rhs_batching_dimensions: Vec<i64>,
    pub lhs_contracting_dimensions: Vec<i64>,
    pub rhs_contracting_dimensions: Vec<i64>,
}
